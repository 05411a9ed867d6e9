"""The forms of an answer, as Pydantic models: indices out of what was shown, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError, create_model


def pair_schema(statements: int) -> dict[str, Any]:
    """JSON Schema of the answer to a ``pair`` question.

    Args:
        statements: how many were shown; only their numbers are allowed.

    >>> pair_schema(2)["properties"]["holds"]["items"]["enum"]
    [0, 1]
    """
    number = Literal[tuple(range(statements))]  # type: ignore[valid-type]
    return _schema("Holds", holds=(list[number], ...))  # type: ignore[valid-type]


def visit_schema(events: int, predicates: Sequence[str]) -> dict[str, Any]:
    """JSON Schema of the answer to a ``visit`` question.

    Args:
        events: how many were shown, of this visit and the next.
        predicates: those that may be named.
    """
    number = Literal[tuple(range(events))]  # type: ignore[valid-type]
    word = Literal[tuple(predicates)]  # type: ignore[valid-type]
    relation = _model(
        "Relation",
        head=(number, ...),
        predicate=(word, ...),
        tail=(number, ...),
        context=(list[number], ...),  # type: ignore[valid-type]
    )
    return _schema("Relations", relations=(list[relation], ...))  # type: ignore[valid-type]


class Holds(BaseModel):
    """The answer to a ``pair`` question, as it comes from any model; numbers are checked later."""

    model_config = ConfigDict(strict=True)
    holds: list[int]


class StatedRelation(BaseModel):
    """One relation of an answer to a ``visit`` question."""

    model_config = ConfigDict(strict=True)
    head: int
    predicate: str
    tail: int
    context: list[int]


class StatedRelations(BaseModel):
    """The answer to a ``visit`` question."""

    model_config = ConfigDict(strict=True)
    relations: list[StatedRelation]


FORMS: dict[str, type[Holds] | type[StatedRelations]] = {"pair": Holds, "visit": StatedRelations}
"""What an answer is read as, by the question's scope."""


def read_answer(scope: str, text: str) -> dict[str, Any] | None:
    """An answer's text as plain values; ``None`` where it is not in the form.

    >>> read_answer("pair", '{"holds": [1]}')
    {'holds': [1]}
    >>> read_answer("pair", "I think the second") is None
    True
    """
    try:
        return FORMS[scope].model_validate_json(text).model_dump()
    except ValidationError:
        return None


def _model(name: str, **fields: Any) -> type[BaseModel]:
    made: type[BaseModel] = create_model(name, __config__=ConfigDict(extra="forbid"), **fields)
    return made


def _schema(name: str, **fields: Any) -> dict[str, Any]:
    return _model(name, **fields).model_json_schema()
