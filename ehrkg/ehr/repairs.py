"""What can be mended without guessing: each repair, when it applies, what it makes of a value.

A repair is looked for in every column of its types. Where it is found, it is carried out and
counted in the ledger under its name, with the place of the first row; where a value could mean two
things it stays as it is, and the row is unusable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from ehrkg.ehr.codes import CODE_SYSTEMS
from ehrkg.ehr.fields import Laid
from ehrkg.ehr.sources import RawTable
from ehrkg.foundation.errors import InputError

if TYPE_CHECKING:
    from ibis.expr.types import BooleanValue, StringValue, Table

IDS = frozenset({"id", "key"})

_ZONE = r"^(.*\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(?:Z|[+-]\d\d(?::?\d\d)?)$"
_SLASHES = r"^(\d{1,2})/(\d{1,2})/(\d{4})(.*)$"
_SHORT = 2  # characters; a longer code without a dot has none of the shapes below
_DAMAGED = r"^-?\d(?:\.\d+)?[eE]\+?\d+$"
_FLOATED = {"icd9cm": r"^\d{4,5}\.0+$", "icd9proc": r"^\d{3,4}\.0+$", "plain": r"^\d+\.0+$"}
"""By the layout of codes: what only a column of floats writes. (401.0 alone may be a true code.)"""
_TOO_SHORT = {"icd9cm": r"^\d{1,2}(?:\.0+)?$", "icd9proc": r"^\d(?:\.0+)?$"}
"""By the layout of codes: numbers that no code is; their leading zeros are lost."""


@dataclass(frozen=True)
class Repair:
    """One repair.

    Attributes:
        name: what the ledger calls it.
        types: the types of fields it is looked for in.
        found: whether a value (text, trimmed) needs it.
        mend: what becomes of such a value.
    """

    name: str
    types: frozenset[str]
    found: Callable[[StringValue], BooleanValue]
    mend: Callable[[StringValue], StringValue | str]


@cache
def _empty_words() -> tuple[str, ...]:
    text = Path(__file__).with_name("empty_words.yaml").read_text(encoding="utf-8")
    return tuple(yaml.safe_load(text))


_LONGEST_EMPTY = max(map(len, _empty_words()))


def _where(likely: BooleanValue, test: BooleanValue) -> BooleanValue:
    """A test that is costly, made only where a cheap one says that it may hold."""
    import ibis

    return ibis.ifelse(likely, test, False)


def _beyond_minutes(value: StringValue) -> BooleanValue:
    """Whether something other than seconds may follow the minutes of a time."""
    seconds = (value.length() == 19) & (value.substr(16, 1) == ":")
    return (value.length() > 16) & ~seconds


def _pad(value: StringValue, order: str) -> StringValue:
    """A date with slashes as YYYY-MM-DD; ``order`` names the groups of month and day."""
    month, day = (value.re_extract(_SLASHES, int(group)).lpad(2, "0") for group in order)
    rest = value.re_extract(_SLASHES, 4)
    return value.re_extract(_SLASHES, 3) + "-" + month + "-" + day + rest


REPAIRS: tuple[Repair, ...] = (
    Repair(
        "empty_word",
        frozenset({"text", "id", "key", "int", "time", "code"}),
        lambda value: _where(value.length() <= _LONGEST_EMPTY, value.isin(_empty_words())),
        lambda _: "",
    ),
    Repair(
        "float_number",
        IDS | {"int"},
        lambda value: _where(value.contains("."), value.re_search(r"^-?\d+\.0+$")),
        lambda value: _cut_float(value),
    ),
    Repair(
        "compact_date",
        frozenset({"time"}),
        lambda value: _where(value.length() == 8, value.re_search(r"^\d{8}$")),
        lambda value: value.left(4) + "-" + value.substr(4, 2) + "-" + value.substr(6, 2),
    ),
    Repair(
        "time_zone_left_out",
        frozenset({"time"}),
        lambda value: _where(_beyond_minutes(value), value.re_search(_ZONE)),
        lambda value: value.re_extract(_ZONE, 1),
    ),
)
"""Those of a single value. Slashes in dates and floats among codes are judged by whole columns."""


@dataclass(frozen=True)
class Mended:
    """A repair that was carried out: its name, how many values, and where the first stands."""

    name: str
    rows: int
    example: str


def mend(laid: Laid) -> tuple[Table, list[Mended]]:
    """Carry out every repair that a table needs.

    Returns:
        The table with each field trimmed, "" for nothing, and mended; what was done.

    Raises:
        InputError: the codes of a column have lost their leading zeros.
    """
    import ibis

    columns = laid.unit.columns
    types = {key: "code" if key == "code" else field.type for key, field in columns.items()}
    text = laid.text.mutate(**{key: laid.text[key].fill_null("").strip() for key in types})
    wanted = _wanted(text, types)
    judged = _judged(laid, text, types)
    counts = _count(text, {name: found for name, (_, found, _) in wanted.items()} | judged)
    _check_zeros(laid, text, counts)
    wanted |= _floats(text, counts) | _slashed(text, types, counts)
    values: dict[str, StringValue] = {}
    done = []
    for name, (key, found, change) in wanted.items():
        if counts[name]:
            value = values.get(key, text[key])
            values[key] = ibis.ifelse(found, change(value), value)
            done.append(Mended(name, counts[name], _first_place(laid.raw, text, found)))
    return (text.mutate(**values) if values else text), done


def damaged(value: StringValue) -> BooleanValue:
    """Whether an identifier lost digits to a column of floats (1.2345678901234568e+16)."""
    return _where(value.contains("+"), value.re_search(_DAMAGED))


def too_short(laid: Laid, text: Table) -> BooleanValue | None:
    """Whether a code is a number that lost its leading zeros; None where none can be."""
    return _by_layout(laid, text, _TOO_SHORT)


_Wanted = dict[str, tuple[str, "BooleanValue", "Callable[[StringValue], StringValue | str]"]]
"""By a repair's name: the field, the condition over the table as it stood, the change."""


def _wanted(text: Table, types: Mapping[str, str]) -> _Wanted:
    """The repairs of single values."""
    return {
        f"{repair.name}.{key}": (key, repair.found(text[key]), repair.mend)
        for key, kind in types.items()
        for repair in REPAIRS
        if kind in repair.types
    }


def _judged(laid: Laid, text: Table, types: Mapping[str, str]) -> dict[str, BooleanValue]:
    """What must be counted before whole columns can be judged."""
    found: dict[str, BooleanValue] = {}
    shaped, short = _by_layout(laid, text, _FLOATED), too_short(laid, text)
    if shaped is not None:
        found |= {"float_shape": shaped, "float_code.code": _floated(text.code)}
    if short is not None:
        found |= {"short": short, "zeros": text.code.startswith("0")}
    for key in (key for key, kind in types.items() if kind == "time"):
        slashed = _has_slashes(text[key])
        first, second = (text[key].re_extract(_SLASHES, group) for group in (1, 2))
        found[f"day_first_date.{key}"] = found[f"month_first_date.{key}"] = slashed
        found[f"day_first.{key}"] = _where(slashed, first.lpad(2, "0") > "12")
        found[f"month_first.{key}"] = _where(slashed, second.lpad(2, "0") > "12")
    return found


def _floats(text: Table, counts: Mapping[str, int]) -> _Wanted:
    """Codes that end in .0, where the column shows that it went through floats."""
    if not counts.get("float_shape"):
        return {}
    return {"float_code.code": ("code", _floated(text.code), _cut_float)}


def _slashed(text: Table, types: Mapping[str, str], counts: Mapping[str, int]) -> _Wanted:
    """Dates with slashes: a column says itself whether day or month stands first, or nothing."""
    found: _Wanted = {}
    for key in (key for key, kind in types.items() if kind == "time"):
        orders = [each for each in ("day_first", "month_first") if counts[f"{each}.{key}"]]
        if len(orders) == 1:
            change = _day_first if orders == ["day_first"] else _month_first
            found[f"{orders[0]}_date.{key}"] = (key, _has_slashes(text[key]), change)
    return found


def _cut_float(value: StringValue) -> StringValue:
    return value.re_replace(r"\.0+$", "")


def _day_first(value: StringValue) -> StringValue:
    return _pad(value, "21")


def _month_first(value: StringValue) -> StringValue:
    return _pad(value, "12")


def _has_slashes(value: StringValue) -> BooleanValue:
    return _where(value.contains("/"), value.re_search(_SLASHES))


def _floated(code: StringValue) -> BooleanValue:
    return _where(code.contains("."), code.re_search(r"^\d+\.0+$"))


def _count(text: Table, conditions: Mapping[str, BooleanValue]) -> dict[str, int]:
    """How many rows each condition holds for, in one pass."""
    if not conditions:
        return {}
    names = {f"n{place}": name for place, name in enumerate(conditions)}
    sums = {short: conditions[name].sum() for short, name in names.items()}
    found = text.aggregate(**sums).to_pyarrow().to_pylist()[0]
    return {name: int(found[short] or 0) for short, name in names.items()}


def _first_place(raw: RawTable, text: Table, found: BooleanValue) -> str:
    row = text.filter(found).order_by(["source", "row"]).limit(1).select("source", "row")
    first = row.to_pyarrow().to_pylist()[0]
    line = raw.where(first["source"], first["row"]).get("line")
    return f"{first['source']}, line {line}" if line else f"{first['source']}, row {first['row']}"


def _by_layout(laid: Laid, text: Table, shapes: Mapping[str, str]) -> BooleanValue | None:
    """Whether a code has the shape that is listed for its system's layout."""
    if "code" not in laid.unit.columns:
        return None
    found: BooleanValue | None = None
    for version, system in laid.unit.systems.items():
        shape = shapes.get(CODE_SYSTEMS[system].layout)
        if shape is not None:
            likely = text.code.contains(".") | (text.code.length() <= _SHORT)
            fits = _where(likely, text.code.re_search(shape))
            condition = fits & (text.version == version) if version else fits
            found = condition if found is None else found | condition
    return found


def _check_zeros(laid: Laid, text: Table, counts: Mapping[str, int]) -> None:
    """Raise where a column of codes was read as numbers: then no code of it can be trusted."""
    short = too_short(laid, text)
    if short is None or not counts["short"] or counts["zeros"]:
        return
    first = text.filter(short).order_by(["source", "row"]).limit(1).to_pyarrow().to_pylist()[0]
    raise InputError(
        "the codes of this column have lost their leading zeros",
        **laid.raw.where(first["source"], first["row"]),
        column=laid.columns_of("code"),
        found=first["code"],
        expected="codes as text: 0088, not 88",
        todo="export the table again with its codes as text; which zeros were lost can't be told",
    )
