"""Search every file of a build for names, whatever the file's form."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ehrkg.graph import GraphStore
from ehrkg.graph.schema import EDGES, NODES

LEAST_LENGTH = 5
"""Characters of a name from which it is looked for in any text; shorter ones ("7") stand in every
text by chance, and are looked for only in columns that hold ids."""

ID_COLUMNS = frozenset(
    {"id", "patient", "visit", "target_visit", "template", "template_id", "from"}
)

_BEFORE = "(?:^|[^0-9A-Za-z:]|[^0-9A-Za-z.]:)"
"""What stands before a name: no letter, no digit, and no prefix of a vocabulary, whose codes can be
the very digits of a patient's id ("SNOMEDCT:10001005")."""

_SHOWN = 3


@dataclass(frozen=True)
class Found:
    """A name that stands somewhere.

    Attributes:
        place: the file, and within it the column or kind.
        count: how often.
    """

    place: str
    count: int


class Names:
    """Names to look for.

    Args:
        names: ids of a patient, visits, templates.
    """

    def __init__(self, names: frozenset[str]) -> None:
        self._all = pa.array(sorted(names), pa.string())
        long = sorted((name for name in names if len(name) >= LEAST_LENGTH), key=len, reverse=True)
        self._text = "|".join(map(re.escape, long))
        self.short = len(names) - len(long)

    def in_table(self, table: pa.Table) -> dict[str, int]:
        """By column, how many values are a name or hold one."""
        found = {}
        for field in table.schema:
            column = table[field.name]
            while pa.types.is_list(column.type):
                column = pc.list_flatten(column)
            if not pa.types.is_string(column.type):
                continue
            hits = (
                pc.is_in(column, value_set=self._all)
                if field.name in ID_COLUMNS
                else pa.array([False] * len(column), pa.bool_())
            )
            if self._text:
                pattern = f"{_BEFORE}({self._text})($|[^0-9A-Za-z])"
                hits = pc.or_(hits, pc.fill_null(pc.match_substring_regex(column, pattern), False))
            if count := pc.sum(hits).as_py() or 0:
                found[field.name] = count
        return found

    def in_bytes(self, data: bytes) -> int:
        """How often a name stands in a text.

        >>> Names(frozenset({"10001005"})).in_bytes(b'SNOMEDCT:10001005 {"patient":10001005}')
        1
        """
        if not self._text:
            return 0
        before = "(?:(?<![0-9A-Za-z:])|(?<=[^0-9A-Za-z.]:))"  # _BEFORE, taking nothing with it
        pattern = f"{before}({self._text})(?![0-9A-Za-z])".encode()
        return sum(1 for _ in re.finditer(pattern, data))

    def as_keys(self, data: bytes) -> int:
        """How often a name stands in a graph's file as a node's key ("BUILD|ID").

        The engine writes texts one behind the other with nothing between, so that only the sign
        before the id tells where one begins.
        """
        if not self._text:
            return 0
        pattern = f"\\|({self._text})(?![0-9])".encode()
        return sum(1 for _ in re.finditer(pattern, data))


def _parquet(path: Path, names: Names) -> Mapping[str, int]:
    return names.in_table(pq.read_table(path))


def _arrow(path: Path, names: Names) -> Mapping[str, int]:
    with pa.memory_map(str(path)) as source:
        return names.in_table(pa.ipc.open_file(source).read_all())


def _graph(path: Path, names: Names) -> Mapping[str, int]:
    count = names.as_keys(path.read_bytes())
    return {"keys": count} if count else {}


def _text(path: Path, names: Names) -> Mapping[str, int]:
    count = names.in_bytes(path.read_bytes())
    return {"": count} if count else {}


READERS: Mapping[str, Callable[[Path, Names], Mapping[str, int]]] = {
    ".parquet": _parquet,
    ".arrow": _arrow,
    ".lbug": _graph,
}
"""How a file is searched, by its suffix; any other as text."""


def search_files(out: Path, names: Names) -> tuple[int, list[Found]]:
    """Search every file below a folder.

    Args:
        out: the folder.
        names: what to look for.

    Returns:
        How many files were searched, and where something stands.
    """
    found: list[Found] = []
    paths = [path for path in sorted(out.rglob("*")) if path.is_file()]
    for path in paths:
        place = path.relative_to(out).as_posix()
        if count := names.in_bytes(place.encode()):
            found.append(Found(f"the name of {place}", count))
        for part, count in READERS.get(path.suffix, _text)(path, names).items():
            found.append(Found(f"{place}, {part}" if part else place, count))
    return len(paths), found


def search_graph(store: GraphStore, names: Names) -> Iterator[Found]:
    """Where something stands in a graph, by label or type and property."""
    for name in (*NODES, *EDGES):
        tables = store.scan_nodes(name) if name in NODES else store.scan_edges(name)
        for table in tables:
            for column, count in names.in_table(table).items():
                yield Found(f"graph, {name}.{column}", count)


def told(found: list[Found]) -> str:
    """The first places, in words."""
    shown = "; ".join(f"{one.place}: {one.count}" for one in found[:_SHOWN])
    return shown + (f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else "")
