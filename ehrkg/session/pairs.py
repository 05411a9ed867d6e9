"""Verdicts for a user's own pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg import ontology
from ehrkg import verify as verification
from ehrkg.foundation.errors import InputError, UsageError
from ehrkg.graph import open_store, readers
from ehrkg.graph.store import GraphStore
from ehrkg.session.pair_files import read_pairs
from ehrkg.verify.judge import Judge
from ehrkg.verify.pairs import relation_ids
from ehrkg.verify.schema import EVIDENCE, Verified

ADDED = ("verdict", "score", "reasons", "origins", "sources", "depends_on")
"""Columns that verdicts add to a user's own."""


def as_pairs(given: object) -> pa.Table:
    """A table of pairs out of what a user has: a file, an Arrow, pandas or polars table, rows.

    Raises:
        UsageError: it is none of these.
        InputError: the file can't be used, or a row of it.
    """
    if isinstance(given, pa.Table):
        return given
    if isinstance(given, str | Path):
        file = read_pairs(Path(given))
        if complaint := file.complaint():
            raise InputError(
                complaint,
                file=given,
                todo="mend them, or read the file yourself and give the rows that you mean",
            )
        return file.table
    if isinstance(given, Sequence) and all(isinstance(row, Mapping) for row in given):
        return pa.Table.from_pylist([dict(row) for row in given])
    try:
        return pa.table(given)
    except (TypeError, ValueError, pa.ArrowException) as error:
        raise UsageError(
            f"no table of pairs: {type(given).__name__}",
            todo="give a table (Arrow, pandas, polars), a list of dicts, or a TSV file, with the "
            "columns head, predicate, tail",
        ) from error


def verify_table(
    table: pa.Table,
    graph_path: Path | None,
    *,
    knowledge: Sequence[str] = (),
    model: str | None = None,
    judge: str | None = None,
    cache: Path | None = None,
) -> Verified:
    """Verify pairs against a graph's knowledge, or against what ships with the package.

    Args:
        table: head, predicate, tail (and route), as codes, CURIEs or names.
        graph_path: a graph with knowledge; its hospital's statistics are shown too.
        knowledge: further knowledge and texts, PATH or FORMAT=PATH.
        model: the embedding model, by name or folder.
        judge: a folder with a model of natural language inference that grades sentences.
        cache: a folder where embedded sentences are kept.
    """
    embedder = verification.SentenceTransformerEmbedder(model)
    grader = _judge(judge)
    if graph_path is None:
        return _verified(table, ontology.shipped(), knowledge, embedder, grader, cache)
    with open_store(graph_path, read_only=True) as store:
        known = readers.read_knowledge(store)
        found = _verified(table, known, knowledge, embedder, grader, cache)
        return with_statistics(found, store)


def _judge(folder: str | None) -> Judge | None:
    if folder is None:
        return None
    from ehrkg.verify.judge import NliJudge

    return NliJudge(folder)


def _verified(
    table: pa.Table,
    known: ontology.Knowledge,
    further: Sequence[str],
    embedder: verification.Embedder,
    judge: Judge | None,
    cache: Path | None,
) -> Verified:
    if further:
        known = ontology.merge(known, *(ontology.load(path) for path in further))
    candidates, links = verification.resolve_pairs(table, known)
    return verification.verify(
        candidates, links, known, embedder=embedder, judge=judge, cache=cache
    )


def with_statistics(verified: Verified, store: GraphStore) -> Verified:
    """The verdicts on a user's pairs, with what the graph's hospital counted of the same pairs.

    The counts are shown as evidence of their own kind; neither verdict nor score heeds them. A pair
    given without a route gets those of all its routes.
    """
    stored = readers.read_relations(store).select(["id", "head", "predicate", "tail", "route"])
    mine: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
    rows = verified.relations.select(["id", "head", "predicate", "tail", "route"]).to_pylist()
    for row in rows:
        pair = (row["head"], row["predicate"], row["tail"])
        mine.setdefault(pair, []).append((row["id"], row["route"]))
    asked: dict[str, list[tuple[str, str]]] = {}
    for row in stored.to_pylist():
        for relation, route in mine.get((row["head"], row["predicate"], row["tail"]), ()):
            if route in ("", row["route"]):
                asked.setdefault(row["id"], []).append((relation, row["route"]))
    if not asked:
        return verified
    evidence = readers.read_evidence(store)
    counted = evidence.filter(pc.equal(evidence.column("kind"), "statistic")).to_pylist()
    added = [
        {**row, "relation": relation, "text": f"{route}: {row['text']}" if route else row["text"]}
        for row in counted
        for relation, route in asked.get(row["relation"], ())
    ]
    table = pa.Table.from_pylist(added, schema=EVIDENCE)
    has = pc.is_in(
        verified.relations.column("id"), value_set=table.column("relation").combine_chunks()
    )
    place = verified.relations.schema.get_field_index("n_statistic")
    relations = verified.relations.set_column(
        place, verified.relations.schema.field(place), has.cast(pa.int32())
    )
    order = [(name, "ascending") for name in ("relation", "kind", "id")]
    return Verified(relations, pa.concat_tables([verified.evidence, table]).sort_by(order))


def beside_rows(table: pa.Table, verified: Verified) -> pa.Table:
    """The user's rows in their order and with all their columns, each with its verdict.

    Args:
        table: the user's pairs; a column that is named as one of ``ADDED`` gives way to it.
        verified: what came of them.
    """
    own = table.select([name for name in table.column_names if name not in ADDED])
    ids = verified.relations.column("id").combine_chunks()
    place = pc.index_in(pa.array(relation_ids(table), pa.string()), value_set=ids)
    found = verified.relations.select(ADDED).take(place)
    for name in ADDED:
        own = own.append_column(name, found.column(name))
    return own
