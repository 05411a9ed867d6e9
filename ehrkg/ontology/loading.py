"""Reading knowledge from files: find the format, read, fold, and account for every row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.foundation.ledger import Ledger
from ehrkg.foundation.resources import shipped as shipped_folder
from ehrkg.ontology.formats import choose
from ehrkg.ontology.formats.parts import Parts
from ehrkg.ontology.merging import merge
from ehrkg.ontology.places import Place, place_of
from ehrkg.ontology.schema import Knowledge
from ehrkg.ontology.sql import run
from ehrkg.ontology.tables import FIELDS, knowledge

STAGE = "know"


def load(
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002 (the word of the public interface)
    ledger: Ledger | None = None,
) -> Knowledge:
    """Read knowledge from a file or folder.

    Args:
        path: a KGX folder or nodes/edges file, an SSSOM file, OBO, OWL or RDF; plain or gzip; a
            release of UMLS or RxNorm, OMOP vocabularies, SemMedDB's predications, DrugBank: as
            their owners ship them, folder or zip; or tables with a declaration
            (``ehrkg.ontology.declared``). "FORMAT=PATH" names both.
        format: a name of ``ehrkg.ontology.formats.FORMATS``, of a declaration that ships, or the
            path of one; found from the content by default.
        ledger: gets the account: what was read, folded, dropped; edges to nodes that are not in
            ``path`` go to its quarantine.

    Raises:
        UsageError: there is no such format.
        InputError: the file is not there, not in the format, or broken (file, line, what is
            expected).

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "mine.obo"
    >>> terms = ("[Term]", "id: MINE:1", "name: cold"), ("[Term]", "id: MINE:2", "is_a: MINE:1")
    >>> _ = file.write_text("".join(f"{line}{chr(10)}" for term in terms for line in term))
    >>> load(file).edges.select(["subject", "predicate", "object"]).to_pylist()
    [{'subject': 'MINE:2', 'predicate': 'SUBCLASS_OF', 'object': 'MINE:1'}]
    """
    place = place_of(path) if format is None else Place(Path(path), format)
    return settle([choose(place.path, place.format).read(place.path)], ledger)


def shipped(ledger: Ledger | None = None) -> Knowledge:
    """All knowledge that comes with the package: every folder under ontologies/, as one.

    Edges of one folder may join nodes of another; only an end that no folder knows is absent.

    >>> known = shipped()
    >>> known.concepts.num_rows > 10_000, "TREATS" in known.edges["predicate"].unique().to_pylist()
    (True, True)
    """
    folders = sorted(path for path in shipped_folder("ontologies").iterdir() if path.is_dir())
    parts = [
        choose(folder, "kgx").read(folder)
        for folder in folders
        if any(folder.glob("*.tsv")) or any(folder.glob("*.tsv.gz"))
    ]
    return settle(parts, ledger)


def settle(parts: Sequence[Parts], ledger: Ledger | None) -> Knowledge:
    """Fold what readers gave, take out edges without ends, and balance the ledger."""
    if not parts:
        return knowledge()
    raw = {
        field: sum(getattr(part.knowledge, field).num_rows for part in parts) for field in FIELDS
    }
    merged = merge(*(part.knowledge for part in parts))
    kept, absent = _split_edges(merged)
    result = replace(merged, edges=kept)
    if ledger is not None:
        _account(parts, raw, merged, absent, ledger)
    return result


def _split_edges(merged: Knowledge) -> tuple[pa.Table, pa.Table]:
    """Edges with both ends among the concepts, and the rest with the ids that are absent."""
    edges = merged.edges
    ids = merged.concepts["id"].combine_chunks()
    lost = [pc.invert(pc.is_in(edges[end], value_set=ids)) for end in ("subject", "object")]
    either = pc.or_(*lost)
    if not pc.any(either).as_py():
        return edges, edges.slice(0, 0)
    absent = edges.filter(either)
    names = [
        pc.if_else(gone.filter(either), absent[end], pa.scalar(None, pa.string()))
        for gone, end in zip(lost, ("subject", "object"), strict=True)
    ]
    both = pc.binary_join_element_wise(*names, ", ", null_handling="skip")
    absent = absent.append_column("absent", both).sort_by("id")
    return edges.filter(pc.invert(either)), absent


def _account(
    parts: Sequence[Parts],
    raw: dict[str, int],
    merged: Knowledge,
    absent: pa.Table,
    ledger: Ledger,
) -> None:
    dropped: dict[str, dict[str, int]] = {"nodes": {}, "edges": {}, "mappings": {}}
    rows_in = dict.fromkeys(dropped, 0)
    for part in parts:
        for unit, count, reasons in part.rows:
            if unit not in dropped:  # rows of no table here: definitions, imports
                left = count - sum(reasons.values())
                ledger.record(STAGE, unit, rows_in=count, rows_out=left, dropped=reasons)
                continue
            rows_in[unit] += count
            for reason, number in reasons.items():
                dropped[unit][reason] = dropped[unit].get(reason, 0) + number
        for name, table in part.quarantine.items():
            held = ledger.quarantine.get(f"{STAGE}-{name}")
            both = [table] if held is None else [held, table]
            ledger.quarantine[f"{STAGE}-{name}"] = pa.concat_tables(
                both, promote_options="permissive"
            )
    if absent.num_rows:
        held = ledger.quarantine.get(f"{STAGE}-edges")
        ledger.quarantine[f"{STAGE}-edges"] = (
            absent if held is None else pa.concat_tables([held, absent])
        )
    again = raw["concepts"] > merged.concepts.num_rows
    _record_nodes(rows_in, dropped, merged, _conflicts(parts) if again else 0, ledger)
    gone = raw["edges"] - merged.edges.num_rows
    gone += dropped["edges"].pop("duplicate", 0)  # those that a reader folded already
    reasons = {**dropped["edges"], "duplicate": gone, "absent_node": absent.num_rows}
    ledger.record(
        STAGE,
        "edges",
        rows_in=rows_in["edges"],
        rows_out=merged.edges.num_rows - absent.num_rows,
        dropped=reasons,
    )
    # cross-references in node rows are mappings too, without a row of their own
    again = dropped["mappings"].pop("duplicate", 0)
    kept_rows = rows_in["mappings"] - sum(dropped["mappings"].values()) - again
    inner = raw["mappings"] - kept_rows
    ledger.record(
        STAGE,
        "mappings",
        rows_in=rows_in["mappings"] + inner,
        rows_out=merged.mappings.num_rows,
        dropped={
            **dropped["mappings"],
            "duplicate": raw["mappings"] - merged.mappings.num_rows + again,
        },
    )


def _conflicts(parts: Sequence[Parts]) -> int:
    """How many further names came with ids that already had one."""
    rows = pa.concat_tables([part.knowledge.concepts for part in parts])
    counted = run(
        "SELECT count(*) AS names, count(DISTINCT id) AS ids FROM "
        "(SELECT DISTINCT id, name FROM rows WHERE name <> '')",
        rows=rows,
    )
    return int(counted["names"][0].as_py() - counted["ids"][0].as_py())


def _record_nodes(
    rows_in: dict[str, int],
    dropped: dict[str, dict[str, int]],
    merged: Knowledge,
    conflicts: int,
    ledger: Ledger,
) -> None:
    """Duplicate ids are folded; those whose names differ are counted apart."""
    labels = merged.concepts.num_rows
    kept = rows_in["nodes"] - sum(dropped["nodes"].values())
    if labels > kept:  # names given only by the label columns of mapping files
        rows_in["nodes"] += labels - kept
        kept = labels
    conflicts = min(conflicts, kept - labels)
    again = dropped["nodes"].pop("duplicate_id", 0)  # those that a reader folded already
    ledger.record(
        STAGE,
        "nodes",
        rows_in=rows_in["nodes"],
        rows_out=labels,
        dropped={
            **dropped["nodes"],
            "duplicate_id": kept - labels - conflicts + again,
            "name_conflict": conflicts,
        },
    )
