"""What a question can be found by: the fields of the page, each as a condition in SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ehrkg.benchmark.opened.conditions import Condition, condition
from ehrkg.benchmark.opened.reviews import kinds_of, read_marks, standing
from ehrkg.benchmark.opened.source import Source
from ehrkg.foundation.replacing import WORK
from ehrkg.foundation.workspace import load_result
from ehrkg.session.view.pages import Refusal

COLUMNS: Mapping[str, str] = {
    "task": "task",
    "format": "format",
    "options": "n_options",
    "strategy": "strategy",
    "split": "split",
    "timing": "timing",
    "predicate": "predicate",
    "flag": "flags",
}
"""Fields that choose one value of a column, and the column."""

RIGHT: Mapping[str, str] = {
    "right": "coalesce(correct, coverage) >= 0.999",
    "wrong": "coalesce(correct, coverage) <= 0.001",
    "in part": "coalesce(correct, coverage) > 0.001 AND coalesce(correct, coverage) < 0.999",
}
"""What a model can have been; a baseline between equal options is right in part."""

FIELDS = (*COLUMNS, "relation", "score", "text", "fails", "reviewed", "model", "answered")
"""The names of all fields, as they stand in an address."""

Asked = Mapping[str, str]
"""The fields that are filled in."""


@dataclass(frozen=True)
class Places:
    """Where what is asked of lies."""

    out: Path
    source: Source


def asked_of(query: Mapping[str, str]) -> Asked:
    """The fields of an address that are filled in, in the order of ``FIELDS``.

    >>> asked_of({"task": "treatment", "text": " ", "page": "2"})
    {'task': 'treatment'}
    """
    return {name: query[name].strip()[:200] for name in FIELDS if query.get(name, "").strip()}


def conditions(places: Places, asked: Asked) -> tuple[set[str], list[Condition]]:
    """The columns that are named, and what must hold.

    Raises:
        Refusal: a value is none that the field can have.
    """
    columns, found = set(), []
    for name, value in asked.items():
        if name in COLUMNS:
            column = COLUMNS[name]
            columns.add(column)
            kind = places.source.type(column)
            said = _number(name, value, int) if name == "options" else value
            found.append(condition(places.source.place(column), kind, column, said, bounds=False))
        elif name in _OTHERS:
            named, made = _OTHERS[name](places, value, asked)
            columns |= named
            found.append(made)
    return columns, found


def _number(name: str, value: str, kind: type[int] | type[float]) -> float:
    try:
        return kind(value)
    except ValueError as error:
        raise Refusal(400, "No such filter", f"{name} takes a number, not {value!r}.") from error


Made = tuple[set[str], Condition]


def _relation(_places: Places, value: str, _asked: Asked) -> Made:
    return set(), Condition("i.relation_id = ?", (value,))


def _score(places: Places, value: str, _asked: Asked) -> Made:
    least = _number("score", value, float)
    return {"score"}, Condition(f"coalesce({places.source.place('score')} >= ?, false)", (least,))


def _text(_places: Places, value: str, _asked: Asked) -> Made:
    word = value.lower()
    sql = "contains(lower(i.stem), ?) OR contains(lower(array_to_string(i.options, ' ')), ?)"
    return set(), Condition(f"{sql} OR contains(i.item_id, ?)", (word, word, word))


def _fails(places: Places, value: str, _asked: Asked) -> Made:
    return set(), _among(failing(places.out).get(value, ()))


def _reviewed(places: Places, value: str, _asked: Asked) -> Made:
    kinds = kinds_of(standing(read_marks(places.out), places.out / "items.parquet"))
    if value == "not reviewed":
        among = _among(kinds["reviewed"])
        return set(), Condition(f"NOT ({among.sql})", among.values)
    return set(), _among(kinds.get(value, ()))


def _model(places: Places, value: str, asked: Asked) -> Made:
    how = asked.get("answered", "")
    if how and how not in RIGHT:
        raise Refusal(400, "No such filter", f"A model can be {', '.join(RIGHT)}.")
    return set(), Condition(
        "i.item_id IN (SELECT item_id FROM read_parquet(?) WHERE model = ? "  # noqa: S608
        f"AND setting = 'plain' AND {RIGHT.get(how, 'true')})",
        (pattern_of(places.out / "scores.parquet"), value),
    )


def _among(ids: Iterable[str]) -> Condition:
    """The questions that are named, by their own ids or by their templates'."""
    named = sorted(ids)
    inside = "IN (SELECT unnest(?::VARCHAR[]))"
    return Condition(f"i.item_id {inside} OR i.template_id {inside}", (named, named))


_OTHERS: Mapping[str, Callable[[Places, str, Asked], Made]] = {
    "relation": _relation,
    "score": _score,
    "text": _text,
    "fails": _fails,
    "reviewed": _reviewed,
    "model": _model,
}


def failing(out: Path) -> dict[str, list[str]]:
    """By rule of ``ehrkg check``, the questions or templates that broke it when this was built."""
    folder = out / WORK / "check"
    if not folder.is_dir():
        return {}
    found: dict[str, list[str]] = {}
    for row in load_result(folder).to_pylist():
        if row["items"]:
            found.setdefault(row["rule"], []).extend(row["items"])
    return found


def pattern_of(path: Path) -> str:
    """A path for ``read_parquet``, which takes some signs of it for wildcards."""
    return "".join(f"[{sign}]" if sign in "[*?" else sign for sign in str(path))
