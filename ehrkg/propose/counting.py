"""Exact counts of pairs of codes, within visits and from a visit to the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.ehr.schema import Hospital
from ehrkg.propose.tasks import ACROSS

if TYPE_CHECKING:
    from ibis.backends import BaseBackend

Counts = npt.NDArray[np.int64]

PIECE = 20_000_000
"""So many meetings of two codes in a visit, about, are counted at a time."""


@dataclass(frozen=True)
class PairCounts:
    """Pairs of one kind of head and one kind of tail.

    Attributes:
        pairs: head, route, tail, n_within, n_across, n_head, n_tail, n_patients and, for the
            margins across visits: n_tail_new, visits where the tail is new; n_tail_held, visits
            with a next that hold the tail; n_head_free, visits with a next that hold the head and
            not the tail. Sorted by head, route, tail.
        visits: how many visits there are.
        transitions: how many pairs of consecutive visits.
    """

    pairs: pa.Table
    visits: int
    transitions: int

    def margins(self, span: str) -> tuple[Counts, Counts, Counts, Counts]:
        """For each pair: sightings, of the head, of the tail, and the number of places to look.

        Across visits a tail counts only where the earlier visit did not hold it: codes that are
        copied forward would make everything seem to lead to everything chronic. So the places to
        look are, for each tail, the pairs of consecutive visits whose earlier one lacks it, and a
        head counts in these only; where the tail is held already, it could never become new.
        """

        def column(name: str) -> Counts:
            values: Counts = self.pairs[name].to_numpy().astype(np.int64)
            return values

        if span == ACROSS:
            places = self.transitions - column("n_tail_held")
            return column("n_across"), column("n_head_free"), column("n_tail_new"), places
        places = np.full(self.pairs.num_rows, self.visits, np.int64)
        return column("n_within"), column("n_head"), column("n_tail"), places


def count_pairs(
    hospital: Hospital, *, head_kind: str, tail_kind: str, con: BaseBackend | None = None
) -> PairCounts:
    """Count all pairs (head, tail) of two kinds of codes.

    Args:
        hospital: what was read; a drug's route is part of the head.
        head_kind: the kind of the head: diagnosis, drug, procedure.
        tail_kind: the kind of the tail. Tails carry no route.
        con: the Ibis connection whose engine counts; a DuckDB of its own by default.

    Returns:
        Integer counts for every pair seen at least once, in whatever span.
    """
    import ibis

    numbered = _numbered(hospital, head_kind, tail_kind)
    connection = ibis.duckdb.connect() if con is None else con
    visits, occurrences = ibis.memtable(numbered.visits), ibis.memtable(numbered.occurrences)
    parts = []
    for piece in range(numbered.pieces):
        counted = pair_expression(
            visits,
            occurrences,
            head_kind=head_kind,
            tail_kind=tail_kind,
            heads=occurrences.filter(occurrences.code % numbered.pieces == piece),
        )
        parts.append(connection.to_pyarrow(counted))
    if con is None:
        connection.disconnect()
    pairs = _named(pa.concat_tables(parts), numbered).sort_by(
        [("head", "ascending"), ("route", "ascending"), ("tail", "ascending")]
    )
    ordinals = hospital.visits["ordinal"]
    later = int(pc.sum(pc.cast(pc.greater(ordinals, 1), pa.int64())).as_py() or 0)
    return PairCounts(pairs, hospital.visits.num_rows, later)


@dataclass(frozen=True)
class _Numbered:
    """What is counted, with numbers in the place of names: a tenth of the memory, and faster.

    Attributes:
        visits: id, patient, ordinal.
        occurrences: visit, code, kind, route.
        codes, routes: the names by number.
        pieces: in how many pieces the heads are best taken.
    """

    visits: pa.Table
    occurrences: pa.Table
    codes: pa.Array
    routes: pa.Array
    pieces: int


def _numbered(hospital: Hospital, head_kind: str, tail_kind: str) -> _Numbered:
    visits, rows = hospital.visits, hospital.visit_codes.select(["visit", "code", "kind", "route"])
    kinds = pa.array(sorted({head_kind, tail_kind}))
    rows = rows.filter(pc.is_in(rows["kind"], value_set=kinds))
    ids = visits["id"].combine_chunks()
    at = pc.index_in(rows["visit"], value_set=ids)
    rows, at = rows.filter(pc.is_valid(at)), pc.drop_null(at)
    code, route = (rows[name].combine_chunks().dictionary_encode() for name in ("code", "route"))
    occurrences = pa.table(
        {"visit": at, "code": code.indices, "kind": rows["kind"], "route": route.indices}
    )
    met = np.ones(len(ids), np.int64)
    for kind in (head_kind, tail_kind):
        places = at.filter(pc.equal(rows["kind"], kind)).to_numpy()
        met *= np.bincount(places, minlength=len(ids))
    return _Numbered(
        pa.table(
            {
                "id": pa.array(np.arange(len(ids), dtype=np.int32)),
                "patient": visits["patient"].combine_chunks().dictionary_encode().indices,
                "ordinal": visits["ordinal"],
            }
        ),
        occurrences,
        code.dictionary,
        route.dictionary,
        1 + int(met.sum()) // PIECE,
    )


def _named(pairs: pa.Table, numbered: _Numbered) -> pa.Table:
    """The pairs under their names again."""
    names = {"head": numbered.codes, "route": numbered.routes, "tail": numbered.codes}
    for column, values in names.items():
        at = pairs.column_names.index(column)
        pairs = pairs.set_column(at, column, values.take(pairs[column].combine_chunks()))
    return pairs


def pair_expression(
    visits: Any, occurrences: Any, *, head_kind: str, tail_kind: str, heads: Any = None
) -> Any:
    """The counting as one Ibis expression over two tables, for any engine that Ibis speaks.

    Args:
        visits: id, patient, ordinal.
        occurrences: visit, code, kind, route.
        head_kind: the kind of the head.
        tail_kind: the kind of the tail.
        heads: the occurrences of the heads that are counted; all by default.
    """
    import ibis

    last = visits.group_by("patient").agg(last=visits.ordinal.max())
    stays = visits.join(last, "patient").select(
        "id", "patient", "ordinal", followed=(ibis._.ordinal < ibis._["last"]).cast("int32")
    )
    heads = (
        _distinct(occurrences if heads is None else heads, head_kind, route=True)
        .join(stays, ibis._.visit == stays.id)
        .select("visit", "patient", "ordinal", "followed", head="code", route="route")
    )
    tails = (
        _distinct(occurrences, tail_kind, route=False)
        .join(stays, ibis._.visit == stays.id)
        .select("visit", "patient", "ordinal", "followed", tail="code")
    )
    before = tails.select("patient", "tail", ordinal=tails.ordinal + 1)
    fresh = tails.filter(tails.ordinal > 1).anti_join(before, ["patient", "tail", "ordinal"])

    within = (
        heads.join(tails, "visit", rname="{name}_tail")
        .filter(ibis._["head"] != ibis._["tail"])
        .select("head", "route", "tail", "patient", "followed", within=1, across=0)
    )
    shifted = heads.select("head", "route", "patient", ordinal=heads.ordinal + 1)
    across = (
        shifted.join(fresh, ["patient", "ordinal"], rname="{name}_tail")
        .filter(ibis._["head"] != ibis._["tail"])
        .select(
            "head",
            "route",
            "tail",
            "patient",
            followed=ibis.literal(0, "int32"),
            within=0,
            across=1,
        )
    )

    pairs = (
        within.union(across)
        .group_by("head", "route", "tail")
        .agg(
            n_within=ibis._.within.sum().cast("int32"),
            n_across=ibis._.across.sum().cast("int32"),
            n_together_before=ibis._.followed.sum().cast("int32"),
            n_patients=ibis._.patient.nunique().cast("int32"),
        )
    )
    head_visits = heads.group_by("head", "route").agg(
        n_head=ibis._.visit.count().cast("int32"),
        n_head_before=ibis._.followed.sum().cast("int32"),
    )
    tail_visits = tails.group_by("tail").agg(
        n_tail=ibis._.visit.count().cast("int32"),
        n_tail_held=ibis._.followed.sum().cast("int32"),
    )
    tail_new = fresh.group_by("tail").agg(n_tail_new=ibis._.visit.count().cast("int32"))
    joined = pairs.join(head_visits, ["head", "route"]).join(tail_visits, "tail")
    joined = joined.left_join(tail_new, "tail")
    return joined.select(
        "head",
        "route",
        "tail",
        "n_within",
        "n_across",
        "n_patients",
        "n_head",
        "n_tail",
        "n_tail_held",
        n_head_free=ibis._.n_head_before - ibis._.n_together_before,
        n_tail_new=ibis._.n_tail_new.fill_null(0),
    )


def _distinct(occurrences: Any, kind: str, *, route: bool) -> Any:
    columns = ["visit", "code", "route"] if route else ["visit", "code"]
    return occurrences.filter(occurrences.kind == kind).select(*columns).distinct()
