"""From the sorted events, as they come, to one row for each (visit, code, route)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.ehr.schema import EVENTS, VISIT_CODES

PIECE = 500_000
"""About so many events are worked on at a time; a visit is never cut."""

Ints = npt.NDArray[np.int64]


def whole_visits(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Sorted events in pieces that hold all events of their visits, as EVENTS."""
    waiting = EVENTS.empty_table()
    for batch in batches:
        rows = pa.Table.from_batches([batch]).select(EVENTS.names).cast(EVENTS)
        waiting = pa.concat_tables([waiting, rows])
        if waiting.num_rows >= PIECE:
            visits = waiting["visit"]
            cut = pc.index(visits, visits[-1]).as_py()
            if cut:
                yield waiting.slice(0, cut).combine_chunks()
                waiting = waiting.slice(cut)
    if waiting.num_rows:
        yield waiting.combine_chunks()


def visit_codes(events: pa.Table) -> pa.Table:
    """VISIT_CODES of sorted EVENTS: rows of one visit, code and route follow each other there."""
    if not events.num_rows:
        return VISIT_CODES.empty_table()
    keys = {name: _places(events[name]) for name in ("visit", "code", "route", "kind")}
    begins = _begins(list(keys.values()))
    order = np.lexsort([keys[name][begins] for name in ("kind", "route", "code", "visit")])
    firsts = events.take(pa.array(begins[order]))
    columns = {name: firsts[name] for name in VISIT_CODES.names if name in firsts.column_names}
    for name, least in (("seq", True), ("start", True), ("stop", False)):
        columns[name] = _extreme(events[name], begins, least=least).take(pa.array(order))
    columns["drug_type"] = _drug_type(events["drug_type"], begins).take(pa.array(order))
    columns["n"] = pa.array(np.diff(np.append(begins, events.num_rows))[order], pa.int32())
    return pa.table({name: columns[name] for name in VISIT_CODES.names}).cast(VISIT_CODES)


def _places(column: pa.ChunkedArray) -> Ints:
    """The place of each text among the different ones in the alphabet."""
    coded = column.combine_chunks().dictionary_encode()
    order = pc.sort_indices(coded.dictionary).to_numpy()
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    places: Ints = place[coded.indices.to_numpy()]
    return places


def _begins(keys: list[Ints]) -> Ints:
    """Where a run of equal keys begins."""
    differs = np.ones(len(keys[0]), bool)
    differs[1:] = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    return np.flatnonzero(differs)


def _extreme(column: pa.ChunkedArray, begins: Ints, *, least: bool) -> pa.Array:
    """The least or greatest value of each run, null where it has none."""
    none = np.iinfo(np.int64).max if least else np.iinfo(np.int64).min
    numbers = pc.fill_null(column.combine_chunks().cast(pa.int64()), none).to_numpy()
    found = (np.minimum if least else np.maximum).reduceat(numbers, begins)
    return pa.array(found, mask=found == none).cast(column.type)


def _drug_type(column: pa.ChunkedArray, begins: Ints) -> pa.Array:
    """MAIN if any row of a run is MAIN, else the least in the alphabet."""
    coded = column.combine_chunks().dictionary_encode()
    words = coded.dictionary.to_pylist()
    order = sorted(range(len(words)), key=lambda at: (words[at] != "MAIN", words[at]))
    place = np.empty(len(words), np.int64)
    place[order] = np.arange(len(words))
    first = np.minimum.reduceat(place[coded.indices.to_numpy()], begins)
    return coded.dictionary.take(pa.array(np.array(order)[first]))
