"""The forms of an answer, as Pydantic models: indices out of what was shown, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

MOST_RELATIONS = 30
"""Relations that are taken of one visit. A server that holds a model to the schema lets a list grow
no further; without a bound a weak model fills its whole answer with one number again and again."""

MOST_CONTEXT = 6
"""Events beside a relation at most (arXiv 2605.30637)."""


@cache
def pair_schema(statements: int) -> Mapping[str, Any]:
    """JSON Schema of the answer to a ``pair`` question; made once for each number of statements.

    Args:
        statements: how many were shown; only their numbers are allowed.

    >>> pair_schema(2)["properties"]["holds"]["items"]["enum"]
    [0, 1]
    >>> pair_schema(2)["properties"]["holds"]["maxItems"]
    2
    """
    number = Literal[tuple(range(statements))]  # type: ignore[valid-type]
    return _schema("Holds", holds=(_at_most(statements, number), ...))


@cache
def visit_schema(events: int, predicates: tuple[str, ...]) -> Mapping[str, Any]:
    """JSON Schema of the answer to a ``visit`` question; made once for each number of events.

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
        context=(_at_most(MOST_CONTEXT, number), ...),
    )
    return _schema("Relations", relations=(_at_most(MOST_RELATIONS, relation), ...))


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


def _at_most(length: int, kind: Any) -> Any:
    return Annotated[list[kind], Field(max_length=length)]


def _model(name: str, **fields: Any) -> type[BaseModel]:
    made: type[BaseModel] = create_model(name, __config__=ConfigDict(extra="forbid"), **fields)
    return made


def _schema(name: str, **fields: Any) -> Mapping[str, Any]:
    return _model(name, **fields).model_json_schema()
