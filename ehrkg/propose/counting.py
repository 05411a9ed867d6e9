"""Exact counts of pairs of codes, within visits and from a visit to the next."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.ehr.schema import Hospital
from ehrkg.propose.meetings import Counts, Holdings, Met, Stays, meet
from ehrkg.propose.tasks import ACROSS

if TYPE_CHECKING:
    from ibis.backends import BaseBackend

PIECE = 4_000_000
"""So many meetings of two codes, about, are counted at a time."""

PAIRS = pa.schema(
    [(name, pa.string()) for name in ("head", "route", "tail")]
    + [
        (name, pa.int32())
        for name in (
            "n_within", "n_across", "n_patients", "n_head", "n_tail", "n_tail_held",
            "n_head_free", "n_tail_new",
        )
    ]
)  # fmt: skip
"""The columns of ``PairCounts.pairs``."""

_KEYS = ("head", "route", "tail")


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
        con: an Ibis connection whose engine counts (see ``pair_expression``); by default they are
            counted here, with the same result.

    Returns:
        Integer counts for every pair seen at least once, in whatever span.
    """
    numbered = _numbered(hospital, head_kind, tail_kind)
    if con is None:
        parts = [each.pairs for each in _pieces(numbered)]
        pairs = pa.concat_tables(parts) if parts else _no_pairs()
    else:
        import ibis

        plain = numbered.occurrences.set_column(
            2, "kind", numbered.occurrences["kind"].cast(pa.string())
        )
        visits, occurrences = ibis.memtable(numbered.visits), ibis.memtable(plain)
        counted = pair_expression(visits, occurrences, head_kind=head_kind, tail_kind=tail_kind)
        found = con.to_pyarrow(counted)
        pairs = found.select(PAIRS.names)
        for name, values in numbered.names.items():
            at = PAIRS.names.index(name)
            pairs = pairs.set_column(at, name, values.take(pairs[name].combine_chunks()))
    pairs = pairs.cast(PAIRS).sort_by([(name, "ascending") for name in _KEYS])
    return PairCounts(pairs, hospital.visits.num_rows, numbered.transitions)


def pair_pieces(hospital: Hospital, *, head_kind: str, tail_kind: str) -> Iterator[PairCounts]:
    """What ``count_pairs`` counts, a piece of the heads at a time, its names as dictionaries.

    Args:
        hospital: as for ``count_pairs``.
        head_kind: likewise.
        tail_kind: likewise.
    """
    yield from _pieces(_numbered(hospital, head_kind, tail_kind))


@dataclass(frozen=True)
class _Numbered:
    """What is counted, with numbers in the place of names: a tenth of the memory, and faster.

    Attributes:
        visits: id, patient, ordinal; sorted by the last two.
        occurrences: visit, code, kind, route.
        codes, routes: the names by number, in the alphabet's order.
        head_kind, tail_kind: what is counted with what.
    """

    visits: pa.Table
    occurrences: pa.Table
    codes: pa.Array
    routes: pa.Array
    head_kind: str
    tail_kind: str

    @property
    def names(self) -> dict[str, pa.Array]:
        """The names by column of pairs."""
        return {"head": self.codes, "route": self.routes, "tail": self.codes}

    @property
    def transitions(self) -> int:
        """How many visits are not their patient's first."""
        return int(np.count_nonzero(self.visits["ordinal"].to_numpy() > 1))

    def of_kind(self, kind: str) -> pa.Table:
        """The occurrences of one kind."""
        kinds = self.occurrences["kind"].combine_chunks()
        place = pc.index(kinds.dictionary, kind).as_py()
        return self.occurrences.filter(pc.equal(kinds.indices, place))


def _numbered(hospital: Hospital, head_kind: str, tail_kind: str) -> _Numbered:
    visits = hospital.visits.select(["id", "patient", "ordinal"])
    visits = visits.sort_by([("patient", "ascending"), ("ordinal", "ascending")])
    rows = _recorded(hospital, {head_kind, tail_kind})
    visit = rows["visit"].combine_chunks()
    place = pc.index_in(visit.dictionary, value_set=visits["id"].combine_chunks())
    at = place.take(visit.indices)
    rows, at = rows.filter(pc.is_valid(at)), pc.drop_null(at)
    code, codes = _in_alphabet(rows["code"])
    route, routes = _in_alphabet(rows["route"])
    return _Numbered(
        pa.table(
            {
                "id": pa.array(np.arange(visits.num_rows, dtype=np.int32)),
                "patient": visits["patient"].combine_chunks().dictionary_encode().indices,
                "ordinal": visits["ordinal"],
            }
        ),
        pa.table({"visit": at, "code": code, "kind": rows["kind"], "route": route}),
        codes,
        routes,
        head_kind,
        tail_kind,
    )


def _recorded(hospital: Hospital, kinds: Collection[str]) -> pa.Table:
    """Visit, code, kind and route of what is recorded of some kinds, all as dictionaries."""
    names = ["visit", "code", "kind", "route"]
    wanted = pa.array(sorted(kinds))
    parts = [
        piece.filter(pc.is_in(piece["kind"].cast(pa.string()), value_set=wanted))
        for piece in hospital.scan("visit_codes", names, coded=names)
    ]
    coded = pa.dictionary(pa.int32(), pa.string())
    empty = pa.schema([(name, coded) for name in names]).empty_table()
    return pa.concat_tables([empty, *parts]).unify_dictionaries().combine_chunks()


def _in_alphabet(column: pa.ChunkedArray) -> tuple[pa.Array, pa.Array]:
    """A column as numbers, and the names by number, sorted."""
    coded = column.combine_chunks().dictionary_encode()
    order = pc.sort_indices(coded.dictionary)
    place = np.empty(len(order), np.int32)
    place[order.to_numpy()] = np.arange(len(order), dtype=np.int32)
    numbers = place[coded.indices.to_numpy()]
    return pa.array(numbers, pa.int32()), coded.dictionary.take(order)


def _pieces(numbered: _Numbered) -> Iterator[PairCounts]:
    visits = numbered.visits.num_rows
    stays = Stays(
        *(numbered.visits[name].to_numpy().astype(np.int64) for name in ("patient", "ordinal"))
    )
    heads, tails = (numbered.of_kind(kind) for kind in (numbered.head_kind, numbered.tail_kind))
    # a head is a code and a route; those that occur are numbered anew
    routes = max(len(numbered.routes), 1)
    named, head = np.unique(
        _integers(heads, "code") * routes + _integers(heads, "route"), return_inverse=True
    )
    code, route = np.divmod(named, routes)
    own, tail = np.unique(_integers(tails, "code"), return_inverse=True)
    head_in = Holdings.of(_integers(heads, "visit"), head, visits, len(named))
    tail_in = Holdings.of(_integers(tails, "visit"), tail, visits, len(own))
    many = {
        "n_head": head_in.many(),
        "n_tail": tail_in.many(),
        "n_tail_held": tail_in.many(stays.followed),
        "n_tail_new": tail_in.new(stays).many(),
        "n_head_before": head_in.many(stays.followed),
    }
    for met in meet(head_in, tail_in, stays, PIECE):
        pairs = _table(met, numbered, code, route, own, many)
        yield PairCounts(pairs, visits, numbered.transitions)


def _integers(table: pa.Table, column: str) -> Counts:
    numbers: Counts = table[column].to_numpy().astype(np.int64)
    return numbers


def _table(
    met: Met,
    numbered: _Numbered,
    code: Counts,
    route: Counts,
    own: Counts,
    many: Mapping[str, Counts],
) -> pa.Table:
    """Pairs of different codes with all their counts; names as dictionaries."""
    apart = np.flatnonzero(code[met.head] != own[met.tail])
    head, tail = met.head[apart], met.tail[apart]
    numbers = {"head": code[head], "route": route[head], "tail": own[tail]}
    columns: dict[str, pa.Array] = {
        name: pa.DictionaryArray.from_arrays(pa.array(each.astype(np.int32)), numbered.names[name])
        for name, each in numbers.items()
    }
    counts = {
        "n_within": met.within[apart],
        "n_across": met.across[apart],
        "n_patients": met.patients[apart],
        "n_head": many["n_head"][head],
        "n_tail": many["n_tail"][tail],
        "n_tail_held": many["n_tail_held"][tail],
        "n_head_free": many["n_head_before"][head] - met.followed[apart],
        "n_tail_new": many["n_tail_new"][tail],
    }
    columns |= {name: pa.array(each.astype(np.int32)) for name, each in counts.items()}
    return pa.table(columns)


def _no_pairs() -> pa.Table:
    return PAIRS.empty_table()


def pair_expression(visits: Any, occurrences: Any, *, head_kind: str, tail_kind: str) -> Any:
    """The counting as one Ibis expression over two tables, for any engine that Ibis speaks.

    Args:
        visits: id, patient, ordinal.
        occurrences: visit, code, kind, route.
        head_kind: the kind of the head.
        tail_kind: the kind of the tail.
    """
    import ibis

    last = visits.group_by("patient").agg(last=visits.ordinal.max())
    stays = visits.join(last, "patient").select(
        "id", "patient", "ordinal", followed=(ibis._.ordinal < ibis._["last"]).cast("int32")
    )
    heads = (
        _distinct(occurrences, head_kind, route=True)
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
