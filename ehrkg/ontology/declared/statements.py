"""From a batch of rows to concepts, synonyms, mappings and edges, as a table's declaration says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.ontology.categories import kind_of, kind_of_curie
from ehrkg.ontology.curies import normalise
from ehrkg.ontology.declared.cells import TRUE, Lookups, holds, lists, texts
from ehrkg.ontology.declared.declaration import (
    Cell,
    ConceptSpec,
    Condition,
    Declaration,
    EdgeSpec,
    MappingSpec,
)
from ehrkg.ontology.formats.sssom import match_predicates
from ehrkg.ontology.predicates import UNKNOWN, Reading, reading
from ehrkg.ontology.schema import CONCEPTS, EDGES, MAPPINGS, SYNONYMS
from ehrkg.ontology.sources import Source
from ehrkg.ontology.sql import mapped
from ehrkg.ontology.tables import with_edge_ids

KINDS = ("disease", "finding", "drug", "drug_class", "procedure", "grouping")


@dataclass
class Found:
    """What the batches of a table gave so far.

    Attributes:
        tables: pieces by table of Knowledge.
        candidates: how many of the table's unit the rows could have given.
        dropped: how many of them they did not, by reason.
        refused: the rows at fault, with their reason.
    """

    tables: dict[str, list[pa.Table]] = field(default_factory=dict)
    candidates: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    refused: list[pa.Table] = field(default_factory=list)

    def add(self, name: str, table: pa.Table) -> None:
        """Keep a piece of a table."""
        self.tables.setdefault(name, []).append(table)

    def drop(self, batch: pa.Table, mask: pa.Array, reason: str, *, kept: bool = True) -> None:
        """Count rows out under a reason; ``kept`` puts them into quarantine too."""
        count = pc.sum(mask).as_py() or 0
        if count:
            self.dropped[reason] = self.dropped.get(reason, 0) + count
            if kept:
                rows = batch.filter(mask)
                told = pa.repeat(pa.scalar(reason, pa.string()), rows.num_rows)
                self.refused.append(rows.append_column("reason", told))


@dataclass(frozen=True)
class Context:
    """What is the same for all batches of a table."""

    declaration: Declaration
    lookups: Lookups
    sources: Mapping[str, Source]

    @property
    def infores(self) -> str:
        """The declaration's own source."""
        return self.declaration.source.infores


def concepts(batch: pa.Table, spec: ConceptSpec, context: Context, found: Found) -> None:
    """A concept a row, its synonyms and its mappings."""
    batch = _where(batch, spec.where)
    ids = lists(batch, spec.id, context.lookups)
    count = pc.fill_null(pc.list_value_length(ids), 0)
    place = pc.list_parent_indices(ids)
    alone = pc.equal(count, 1).take(place)  # a name belongs to one concept, not to each of a list
    empty = pa.scalar("", pa.string())

    def told(cell: Cell | None) -> pa.Array:
        return pc.if_else(alone, texts(batch, cell, context.lookups).take(place), empty)

    curies = _normalised(pc.list_flatten(ids))
    source = pa.repeat(pa.scalar(context.infores, pa.string()), len(curies))
    found.add(
        "concepts",
        pa.table(
            [
                curies,
                told(spec.name),
                _kinds(curies, texts(batch, spec.kind, context.lookups).take(place)),
                told(spec.definition),
                source,
            ],
            schema=CONCEPTS,
        ),
    )
    single = batch.filter(pc.equal(count, 1))
    subjects = curies.filter(alone)
    for synonyms in spec.synonyms:
        several = lists(single, synonyms.cell, context.lookups)
        parents = pc.list_parent_indices(several)
        names = pc.list_flatten(several)
        found.add(
            "synonyms",
            pa.table(
                [
                    subjects.take(parents),
                    names,
                    pa.repeat(pa.scalar(synonyms.scope, pa.string()), len(names)),
                    pa.repeat(pa.scalar(context.infores, pa.string()), len(names)),
                ],
                schema=SYNONYMS,
            ),
        )
    for mapping in spec.mappings:
        _mappings(single, subjects, mapping, context, found)


def mappings(batch: pa.Table, spec: MappingSpec, context: Context, found: Found) -> None:
    """A mapping a row, for tables that hold nothing else; rows without an end are dropped."""
    batch = _where(batch, spec.where)
    subject = _normalised(texts(batch, spec.subject, context.lookups))
    objects = lists(batch, spec.object, context.lookups)
    sizes = pc.fill_null(pc.list_value_length(objects), 0)
    stated = texts(batch, spec.predicate, context.lookups)
    known = pc.is_in(stated, value_set=match_predicates()["name"].combine_chunks())
    no_subject = pc.equal(subject, "")
    no_object = pc.and_(pc.equal(sizes, 0), pc.invert(no_subject))
    usable = pc.and_(pc.invert(no_subject), pc.greater(sizes, 0))
    no_match = pc.and_(usable, pc.invert(known))
    for mask, reason in (
        (no_subject, "no_subject"),
        (no_object, "no_object"),
        (no_match, "no_match_predicate"),
    ):
        found.candidates += pc.sum(mask).as_py() or 0
        found.drop(batch, mask, reason)
    kept = pc.and_(usable, known)
    found.candidates += _mappings(batch.filter(kept), subject.filter(kept), spec, context, found)


def _mappings(
    batch: pa.Table, subjects: pa.Array, spec: MappingSpec, context: Context, found: Found
) -> int:
    """Add the mappings of rows that are usable, and say how many there are."""
    held = holds(batch, spec.where)
    batch, subjects = batch.filter(held), subjects.filter(held)
    objects = lists(batch, spec.object, context.lookups)
    parents = pc.list_parent_indices(objects)
    stated = texts(batch, spec.predicate, context.lookups).take(parents)
    table = match_predicates()
    rows = pc.index_in(stated, value_set=table["name"].combine_chunks())
    usual = table["confidence"].combine_chunks().take(rows)
    given = spec.confidence
    found.add(
        "mappings",
        pa.table(
            [
                subjects.take(parents),
                table["predicate"].combine_chunks().take(rows),
                _normalised(pc.list_flatten(objects)),
                usual if given is None else pa.repeat(pa.scalar(given), len(parents)),
                pa.repeat(pa.scalar(context.infores, pa.string()), len(parents)),
            ],
            schema=MAPPINGS,
        ),
    )
    return len(parents)


def edges(batch: pa.Table, spec: EdgeSpec, context: Context, found: Found) -> None:
    """The statements of each row; those without an end, or left out on demand, are counted."""
    batch = _where(batch, spec.where)
    subjects, objects = (
        lists(batch, cell, context.lookups) for cell in (spec.subject, spec.object)
    )
    sizes = [pc.fill_null(pc.list_value_length(ends), 0) for ends in (subjects, objects)]
    no_subject = pc.equal(sizes[0], 0)
    no_object = pc.and_(pc.equal(sizes[1], 0), pc.invert(no_subject))
    found.candidates += pc.sum(pc.or_(no_subject, no_object)).as_py() or 0
    found.drop(batch, no_subject, "unresolved" if spec.subject.lookup else "no_subject")
    found.drop(batch, no_object, "unresolved" if spec.object.lookup else "no_object")
    rows, subject, target = _pairs(subjects, objects)
    found.candidates += len(rows)
    stated = _stated(batch, spec, context).take(rows)
    stated = stated.append_column("subject", subject).append_column("object", target)
    left = _left_out(stated, context.declaration.without)
    found.drop(stated, left, "left_out", kept=False)
    stated = stated.filter(pc.invert(left))
    made = with_edge_ids(_directed(stated).select([n for n in EDGES.names if n != "id"]))
    found.add("edges", made)
    if spec.bare_ends:
        ends = pa.concat_arrays(
            [made[name].combine_chunks().unique() for name in ("subject", "object")]
        ).unique()
        found.add("concepts", _bare(ends, context.infores))


def _pairs(subjects: pa.ListArray, objects: pa.ListArray) -> tuple[pa.Array, pa.Array, pa.Array]:
    """All pairs of a row's subjects and objects: (row, subject, object)."""
    rows = pc.list_parent_indices(subjects)
    first = _normalised(pc.list_flatten(subjects))
    others = objects.take(rows)
    place = pc.list_parent_indices(others)
    return rows.take(place), first.take(place), _normalised(pc.list_flatten(others))


def _stated(batch: pa.Table, spec: EdgeSpec, context: Context) -> pa.Table:
    """What each row says of its statement, beside the two ends."""
    known = context.lookups
    predicate = texts(batch, spec.predicate, known)
    unknown = Reading(UNKNOWN, known=False)
    words = {word: reading(word) or unknown for word in predicate.unique().to_pylist()}
    encoded = predicate.dictionary_encode()
    read = [words[word] for word in encoded.dictionary.to_pylist()]

    def column(values: Sequence[object], kind: pa.DataType) -> pa.Array:
        return pa.array(values, kind).take(encoded.indices)

    said = pc.is_in(
        pc.utf8_lower(texts(batch, spec.negated, known)), value_set=pa.array(TRUE, pa.string())
    )
    source = _or(texts(batch, spec.source, known), context.infores)
    origins = {infores: item.origin for infores, item in context.sources.items()}
    licences = {infores: item.licence for infores, item in context.sources.items()}
    origin = texts(batch, spec.origin, known)
    owner = _each(source, lambda infores: origins.get(infores, infores))
    turned = column([r.turned for r in read], pa.bool_())
    if spec.turned is not None:
        turned = pc.xor(turned, holds(batch, spec.turned))
    symmetric = (
        pa.repeat(False, batch.num_rows) if spec.symmetric is None else holds(batch, spec.symmetric)
    )
    return pa.table(
        {
            "stated": predicate,
            "predicate": column([r.predicate for r in read], pa.string()),
            "original_predicate": column(
                ["" if words[word].known else word for word in encoded.dictionary.to_pylist()],
                pa.string(),
            ),
            "negated": pc.xor(said, column([r.negated for r in read], pa.bool_())),
            "route": _each(texts(batch, spec.route, known), _routes),
            "source": source,
            "origin": pc.if_else(pc.equal(origin, ""), owner, origin),
            "licence": _each(source, lambda infores: licences.get(infores, "")),
            "provenance": texts(batch, spec.provenance, known, between="; "),
            "turned": turned,
            "symmetric": symmetric,
        }
    )


def _left_out(stated: pa.Table, without: Sequence[str]) -> pa.Array:
    """Edges that the declaration leaves out by predicate, in either spelling, or by origin."""
    wanted = pa.array(without, pa.string())
    masks = [pc.is_in(stated[name], value_set=wanted) for name in ("stated", "predicate", "origin")]
    either = pc.or_(pc.or_(masks[0], masks[1]), masks[2])
    return either.combine_chunks() if isinstance(either, pa.ChunkedArray) else either


def _directed(stated: pa.Table) -> pa.Table:
    """Subject and object changed where the row stands the other way round, or has no way."""
    subject, target = stated["subject"], stated["object"]
    swap = pc.or_(stated["turned"], pc.and_(stated["symmetric"], pc.less(target, subject)))
    stated = stated.set_column(
        stated.schema.get_field_index("subject"), "subject", pc.if_else(swap, target, subject)
    )
    return stated.set_column(
        stated.schema.get_field_index("object"), "object", pc.if_else(swap, subject, target)
    )


def _bare(ids: pa.Array, infores: str) -> pa.Table:
    """Concepts of which only the identifier is known."""
    empty = pa.repeat(pa.scalar("", pa.string()), len(ids))
    source = pa.repeat(pa.scalar(infores, pa.string()), len(ids))
    return pa.table([ids, empty, _each(ids, kind_of_curie), empty, source], schema=CONCEPTS)


def _kinds(curies: pa.Array, stated: pa.Array) -> pa.Array:
    """The kind that the row says, else the one that the identifier's prefix says."""
    own = _each(stated, lambda word: word if word in KINDS else kind_of(word) if word else "")
    return pc.if_else(pc.equal(own, ""), _each(curies, kind_of_curie), own)


def _where(batch: pa.Table, conditions: Sequence[Condition]) -> pa.Table:
    return batch.filter(holds(batch, conditions)) if conditions else batch


def _or(column: pa.Array, default: str) -> pa.Array:
    return pc.if_else(pc.equal(column, ""), pa.scalar(default, pa.string()), column)


def _normalised(column: pa.Array) -> pa.Array:
    return _each(column, lambda text: normalise(text) if text else "")


def _each(column: pa.Array, function: object) -> pa.Array:
    whole = mapped(pa.chunked_array([column]), function)  # type: ignore[arg-type]
    return whole.combine_chunks()


def _routes(cell: str) -> str:
    return "|".join(sorted({part.strip().lower() for part in cell.split("|") if part.strip()}))
