"""Turning the columns of a batch into values: each distinct input is worked out once."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.foundation.errors import InputError
from ehrkg.ontology.declared.declaration import Cell, Condition

Row = Mapping[str, str]
Lookups = Mapping[tuple[str, str], Mapping[str, str]]
"""By (key, value) columns: what each key becomes; keys that are not resolved are not in it."""
_PART = "\x1f"
_SLOT = re.compile(r"\{([^{}]+)\}")
_JOINED_LISTS = re.compile(r"(?<=[\]})])\s*\|\s*(?=[\[{(])")
TRUE = ("true", "t", "yes", "y", "1", "not")


def columns_of(cell: Cell) -> set[str]:
    """The columns that a cell reads."""
    found = {cell.column} if cell.column is not None else set(cell.first_of)
    found |= set(_SLOT.findall(cell.join or ""))
    return found | (columns_of(cell.prefix) if isinstance(cell.prefix, Cell) else set())


def lists(batch: pa.Table, cell: Cell, lookups: Lookups | None = None) -> pa.ListArray:
    """The values of each row, without empty ones; none, one or several."""
    known = lookups or {}
    return _distinct(
        batch, columns_of(cell), lambda row: values(cell, row, known), pa.list_(pa.string())
    )


def texts(
    batch: pa.Table, cell: Cell | None, lookups: Lookups | None = None, *, between: str = "|"
) -> pa.Array:
    """The value of each row as one text: "" where there is none, several joined by ``between``."""
    if cell is None:
        return pa.repeat(pa.scalar("", pa.string()), batch.num_rows)
    known = lookups or {}
    return _distinct(
        batch, columns_of(cell), lambda row: between.join(values(cell, row, known)), pa.string()
    )


def holds(batch: pa.Table, conditions: Sequence[Condition]) -> pa.Array:
    """Whether each row meets all conditions."""
    columns = {name for one in conditions for name in columns_of(one.cell)}
    return _distinct(
        batch, columns, lambda row: all(_meets(one, row) for one in conditions), pa.bool_()
    )


def _meets(condition: Condition, row: Row) -> bool:
    found = values(condition.cell, row, {})
    text = "|".join(found)
    plain = text.casefold().strip()
    tests = (
        condition.empty is None or condition.empty == (not text),
        condition.equals is None or plain in _folded(condition.equals),
        condition.differs is None or plain not in _folded(condition.differs),
        condition.matches is None or _pattern(condition.matches).fullmatch(text) is not None,
    )
    return all(tests)


@lru_cache(maxsize=512)
def _folded(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(word.casefold().strip() for word in words)


def _distinct(
    batch: pa.Table, columns: Iterable[str], work: Callable[[Row], Any], kind: pa.DataType
) -> pa.Array:
    """``work`` for each row, done once for each distinct choice of the columns' values."""
    names = sorted(columns)
    if not names:
        value = pa.array([work({})], kind)
        return value.take(pa.repeat(pa.scalar(0, pa.int32()), batch.num_rows))
    arrays = [batch.column(name).combine_chunks() for name in names]
    arrays = [a.chunk(0) if isinstance(a, pa.ChunkedArray) else a for a in arrays]
    key = arrays[0] if len(arrays) == 1 else pc.binary_join_element_wise(*arrays, _PART)
    encoded = key.dictionary_encode()
    results = [
        work(dict(zip(names, text.split(_PART) if len(names) > 1 else [text], strict=True)))
        for text in encoded.dictionary.to_pylist()
    ]
    return pa.array(results, kind).take(encoded.indices)


def values(cell: Cell, row: Row, lookups: Lookups) -> list[str]:
    r"""The values of one row.

    >>> values(Cell(column="id", rewrite={"Compound::(.+)": r"DRUGBANK:\1"}),
    ...        {"id": "Compound::DB00945"}, {})
    ['DRUGBANK:DB00945']
    >>> values(Cell(column="ids", several="python", prefix="NDC"), {"ids": "['1-2', '3-4']"}, {})
    ['NDC:1-2', 'NDC:3-4']
    """
    found = _split(_start(cell, row), cell.several)
    if cell.rewrite:
        found = [_rewritten(text, cell.rewrite) for text in found]
    if cell.values or cell.otherwise is not None:
        table = {key.casefold().strip(): value for key, value in cell.values.items()}
        found = [_valued(text, table, cell.otherwise) for text in found]
    if cell.lookup is not None:
        known = lookups.get((cell.lookup.key, cell.lookup.value), {})
        found = [known.get(text, "") for text in found]
    if cell.slug:
        found = [re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_") for text in found]
    found = [text.zfill(cell.pad) if text else "" for text in found]
    if cell.prefix is not None:
        found = [_prefixed(text, _prefix(cell.prefix, row)) for text in found]
    return [text for text in found if text]


def _start(cell: Cell, row: Row) -> str:
    if cell.column is not None:
        return row[cell.column].strip()
    if cell.first_of:
        return next((row[name].strip() for name in cell.first_of if row[name].strip()), "")
    if cell.join is not None:
        return _SLOT.sub(lambda slot: row[slot.group(1)].strip(), cell.join)
    return cell.text or ""


def _split(text: str, several: str | None) -> list[str]:
    if not text:
        return []
    if several is None:
        return [text]
    if several == "json":
        return _plain(_parsed(text, json.loads))
    if several == "python":
        parts = _JOINED_LISTS.split(text)  # "['a']| ['b']": lists joined by a stroke
        return [item for part in parts for item in _plain(_parsed(part, ast.literal_eval))]
    return [part.strip() for part in text.split(several)]


def _parsed(text: str, parse: Callable[[str], Any]) -> Any:
    """The literal; the text itself where it is none, for such cells hold plain words too."""
    try:
        return parse(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def _plain(found: Any) -> list[str]:
    if isinstance(found, set | frozenset):  # a set has no order of its own
        return sorted(str(item).strip() for item in found)
    if isinstance(found, list | tuple):
        return [str(item).strip() for item in found if item is not None]
    return [str(found).strip()]


@cache
def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise InputError(
            "not a regular expression", found=text, expected=str(error), todo="mend the declaration"
        ) from error


def _rewritten(text: str, rules: Mapping[str, str]) -> str:
    for pattern, replacement in rules.items():
        # unlike Match.expand, this keeps the replacement it has parsed
        found, fits = _pattern(rf"\A(?:{pattern})\Z").subn(replacement, text)
        if fits:
            return found
    return text


def _valued(text: str, table: Mapping[str, str], otherwise: str | None) -> str:
    found = table.get(text.casefold().strip())
    if found is not None:
        return found
    return text if otherwise is None else otherwise


def _prefix(prefix: Cell | str, row: Row) -> str:
    return prefix if isinstance(prefix, str) else "".join(values(prefix, row, {}))


def _prefixed(text: str, prefix: str) -> str:
    return text if not text or not prefix or ":" in text else f"{prefix}:{text}"
