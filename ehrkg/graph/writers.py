"""From the tables between stages to nodes and edges: plain tables in, a fuller graph out.

Writing the same tables again changes nothing. Writing other tables for the same codes, relations or
templates replaces what stood there for them: a relation never keeps evidence of an earlier verdict.
An id that only an edge names becomes a bare node (``declared`` and ``recorded`` stay null), so that
no edge is lost and none of these is taken for something an ontology or a hospital stated.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.ehr.schema import VISIT_CODES, Hospital
from ehrkg.foundation.errors import InputError
from ehrkg.foundation.hashing import short_id
from ehrkg.graph import rows
from ehrkg.graph.schema import EDGES, MAPPING_PREDICATES, NODES, RECORDED_AS
from ehrkg.graph.store import GraphStore
from ehrkg.ontology.schema import Knowledge

MAPPING_ID = "m"
"""Prefix of the ids given to rows of MAPPINGS; edges of EDGES have ids that begin with "e"."""
_IDS_PIECE = 100_000

_EDGES_PIECE = 3_000_000
"""Edges handed to the engine at a time; pieces much smaller slow it down, larger take memory."""


def write_hospital(store: GraphStore, hospital: Hospital) -> None:
    """Patients, their visits in order, the codes and one edge for each (visit, code, route).

    Args:
        store: where to.
        hospital: of its events only the first of each (visit, code, route) stands in the graph.

    Raises:
        InputError: a visit names no patient of the table, or a visit code no visit or code.
    """
    store.write_nodes("Build", pa.table({"id": [store.build], "ehr_format": [hospital.format]}))
    store.write_nodes("Patient", hospital.patients)
    store.write_nodes("Visit", hospital.visits)
    store.write_edges("HAS_VISIT", _edges(hospital.visits, "patient", "id"))
    _replace_edges(store, "NEXT", hospital.visits.column("id"), _next_visits(hospital.visits))
    store.write_nodes("Code", _with(hospital.codes, "recorded", True))
    kinds: set[str] = set()
    for piece in hospital.scan("visit_codes", ["kind"], coded=["kind"]):
        kinds.update(pc.unique(piece["kind"]).to_pylist())
    if strange := sorted(kinds - set(RECORDED_AS)):
        raise InputError(
            "a code of an unknown kind",
            column="kind",
            found=strange[0],
            expected=", ".join(RECORDED_AS),
        )
    for kind, edge_type in RECORDED_AS.items():
        store.write_edge_pieces(edge_type, _recorded(hospital, kind, edge_type))
    _join_tree(store)


def write_knowledge(store: GraphStore, knowledge: Knowledge) -> None:
    """Concepts, synonyms, statements, mappings, passages, and what code systems say of their codes.

    Raises:
        InputError: a predicate that the schema does not know.
    """
    edges, mappings, synonyms = knowledge.edges, knowledge.mappings, knowledge.synonyms
    passages = knowledge.passages
    store.write_nodes("Concept", _with(knowledge.concepts, "declared", True))
    named = [
        edges.column("subject"),
        edges.column("object"),
        mappings.column("subject"),
        mappings.column("object"),
        synonyms.column("concept"),
        passages.column("concept"),
    ]
    _bare(store, "Concept", *named)
    stated = (knowledge.concepts, synonyms, edges, mappings, passages)
    _write_sources(store, *(table.column("source") for table in stated))
    _write_synonyms(store, synonyms)
    _write_statements(store, edges)
    _write_mappings(store, mappings)
    store.write_nodes("Passage", passages)
    store.write_edges("HAS_PASSAGE", _edges(passages, "concept", "id"))
    _write_attributes(store, knowledge.attributes)
    _join_tree(store)


def write_links(store: GraphStore, links: pa.Table, mapped: pa.ChunkedArray | None = None) -> None:
    """Links from codes to concepts (LINKS); a code's earlier links are replaced.

    Args:
        store: an open graph.
        links: the links.
        mapped: the codes that were mapped; those among them that have no link now lose the links
            they had. The codes of ``links`` by default.
    """
    _bare_codes(store, links.column("code"))
    _bare(store, "Concept", links.column("concept"))
    table = links.rename_columns({"code": "from", "concept": "to"})
    _replace_edges(store, "MAPS_TO", links.column("code") if mapped is None else mapped, table)


def write_relations(store: GraphStore, relations: pa.Table, evidence: pa.Table) -> None:
    """Relations with verdicts (RELATIONS) and the evidence for each (EVIDENCE).

    Ends that are codes of the graph join its codes, others its concepts. A relation's earlier
    evidence is replaced.

    Raises:
        InputError: evidence for a relation that is not there.
    """
    ids = relations.column("id")
    store.write_nodes("Relation", relations)
    codes = store.read_nodes("Code").column("id")
    for end, edge_type in (("head", "HEAD"), ("tail", "TAIL")):
        other = relations.column(end)
        is_code = pc.is_in(other, value_set=_array(codes))
        _bare(store, "Concept", other.filter(pc.invert(is_code)))
        table = pa.table(
            {
                "from": ids,
                "to": other,
                "from_label": pa.array(["Relation"] * len(other), pa.string()),
                "to_label": pc.if_else(is_code, "Code", "Concept"),
            }
        )
        _replace_edges(store, edge_type, ids, table)
    proposers = _exploded(relations, "id", "proposers")
    _bare(store, "Proposer", proposers.column("to"))
    _replace_edges(store, "PROPOSED_BY", ids, proposers.drop_columns(["position"]))
    depends = _exploded(relations, "id", "depends_on")
    _write_sources(store, depends.column("to"))
    _replace_edges(store, "DEPENDS_ON", ids, depends.drop_columns(["position"]))
    _write_evidence(store, ids, evidence)


def write_templates(store: GraphStore, templates: pa.Table) -> None:
    """Templates (TEMPLATES) at their visits; one written again under its id is replaced.

    Raises:
        InputError: a visit, a code or a relation that is not in the graph.
    """
    ids = templates.column("id")
    store.write_nodes("Template", templates)
    for edge_type, column in (("ASSERTS", "relation"), ("AT", "visit"), ("TARGET", "target_visit")):
        named = templates.filter(pc.not_equal(templates.column(column), ""))
        _replace_edges(store, edge_type, ids, _edges(named, "id", column))
    given = _exploded(templates, "id", "context")
    routes = _exploded(templates, "id", "context_routes")
    if given.num_rows != routes.num_rows:
        raise InputError(
            "context and context_routes differ in length",
            column="context_routes",
            found=routes.num_rows,
            expected=str(given.num_rows),
        )
    given = given.append_column("route", routes.column("to"))
    _replace_edges(store, "GIVEN", ids, given)
    _replace_edges(store, "ANSWER", ids, _exploded(templates, "id", "answer"))


# -- parts ---------------------------------------------------------------------------------


def _recorded(hospital: Hospital, kind: str, edge_type: str) -> Iterator[pa.Table]:
    """The edges from visits to codes of a kind, in pieces; the edges of a visit stay together."""
    names = VISIT_CODES.names
    texts = [field.name for field in VISIT_CODES if pa.types.is_string(field.type)]
    times = {"start": "time"} if edge_type == "PERFORMED" else {}
    waiting: list[pa.Table] = []

    def edges(rows: pa.Table) -> pa.Table:
        table = rows.drop_columns(["kind"]).unify_dictionaries()
        renamed = {"visit": "from", "code": "to"} | times
        return table.rename_columns([renamed.get(name, name) for name in table.column_names])

    for piece in hospital.scan("visit_codes", names, coded=texts):
        part = piece.filter(pc.equal(piece["kind"].cast(pa.string()), kind))
        if not part.num_rows:
            continue
        if sum(each.num_rows for each in waiting) >= _EDGES_PIECE:
            # the new rows begin with what is left of the last visit
            same = pc.equal(part["visit"].cast(pa.string()), waiting[-1]["visit"][-1].as_py())
            rest = int(pc.sum(same).as_py() or 0)
            yield edges(pa.concat_tables([*waiting, part.slice(0, rest)]))
            waiting, part = [], part.slice(rest)
        if part.num_rows:
            waiting.append(part)
    if waiting:
        yield edges(pa.concat_tables(waiting))


def _write_synonyms(store: GraphStore, synonyms: pa.Table) -> None:
    ids = _content_ids("y", synonyms.select(["concept", "text", "scope", "source"]))
    table = synonyms.append_column("id", ids)
    store.write_nodes("Synonym", table)
    store.write_edges("HAS_SYNONYM", _unique(_edges(table, "concept", "id")))


def _content_ids(prefix: str, table: pa.Table) -> pa.ChunkedArray:
    """An id a row out of its content, a piece at a time: rows as Python values are large."""
    pieces = [
        pa.array([short_id(prefix, *row) for row in zip(*columns, strict=True)], pa.string())
        for batch in table.to_batches(max_chunksize=_IDS_PIECE)
        for columns in [[column.to_pylist() for column in batch.columns]]
    ]
    return pa.chunked_array(pieces, pa.string())


def _write_statements(store: GraphStore, edges: pa.Table) -> None:
    table = edges.rename_columns({"subject": "from", "object": "to"})
    for predicate in _sorted_unique(edges.column("predicate")):
        if predicate not in EDGES:
            raise InputError(
                "an edge with an unknown predicate",
                column="predicate",
                found=predicate,
                expected="a predicate of ehrkg/ontology/predicates.yaml",
            )
        part = table.filter(pc.equal(table.column("predicate"), predicate))
        store.write_edges(predicate, part.drop_columns(["predicate"]))


def _write_mappings(store: GraphStore, mappings: pa.Table) -> None:
    keys = mappings.select(["subject", "predicate", "object", "source", "confidence"])
    table = mappings.append_column("id", _content_ids(MAPPING_ID, keys))
    table = table.rename_columns({"subject": "from", "object": "to"})
    for predicate in _sorted_unique(mappings.column("predicate")):
        if predicate not in MAPPING_PREDICATES:
            raise InputError(
                "a mapping with an unknown predicate",
                column="predicate",
                found=predicate,
                expected=", ".join(MAPPING_PREDICATES),
            )
        part = table.filter(pc.equal(table.column("predicate"), predicate))
        store.write_edges(MAPPING_PREDICATES[predicate], part.drop_columns(["predicate"]))


def _write_attributes(store: GraphStore, attributes: pa.Table) -> None:
    _bare_codes(store, attributes.column("code"))
    table = attributes.rename_columns({"code": "id", "name": "tree_name"})
    store.write_nodes("Code", _with(table, "described", True))


def _write_evidence(store: GraphStore, relations: pa.ChunkedArray, evidence: pa.Table) -> None:
    there = store.read_nodes("Evidence")
    stale = pc.and_(
        pc.is_in(there.column("relation"), value_set=_array(relations)),
        pc.invert(pc.is_in(there.column("id"), value_set=_array(evidence.column("id")))),
    )
    store.delete_nodes("Evidence", there.column("id").filter(stale).to_pylist())
    store.write_nodes("Evidence", evidence)
    backed = _edges(evidence, "relation", "id").append_column(
        "polarity", evidence.column("polarity")
    )
    store.write_edges("BACKED_BY", backed)
    cited = _exploded(evidence, "id", "concepts")
    _bare(store, "Concept", cited.column("to"))
    edges = _exploded(evidence, "id", "edges").rename_columns({"to": "edge_id"})
    joined = cited.join(edges, ["from", "position"], join_type="left outer")
    filled = pc.fill_null(joined.column("edge_id"), "")
    joined = joined.set_column(joined.schema.get_field_index("edge_id"), "edge_id", filled)
    _replace_edges(store, "CITES", evidence.column("id"), joined)


def _write_sources(store: GraphStore, *columns: pa.ChunkedArray) -> None:
    """A node for each source named, with what is known of it."""
    from ehrkg.ontology.sources import SOURCES

    names = NODES["Source"].properties.names
    found = []
    for infores in _sorted_unique(*columns):
        source = SOURCES.get(infores)
        known = {name: getattr(source, name) for name in names[1:]} if source else {}
        found.append({"id": infores, **dict.fromkeys(names[1:]), **known})
    store.write_nodes("Source", pa.Table.from_pylist(found, schema=NODES["Source"].properties))


def _bare(store: GraphStore, label: str, *columns: pa.ChunkedArray) -> None:
    """Nodes of which only the id is known, where there are none yet."""
    ids = _sorted_unique(*columns)
    if ids:
        store.write_nodes(label, pa.table({"id": pa.array(ids, pa.string())}))


def _bare_codes(store: GraphStore, column: pa.ChunkedArray) -> None:
    """Codes that no table recorded, with what their id says; recorded ones stay as they are."""
    from ehrkg.ehr.codes import CODE_SYSTEMS

    there = set(store.read_nodes("Code").column("id").to_pylist())
    found = []
    for one in _sorted_unique(column):
        if one not in there:
            system, _, code = one.partition(":")
            known = CODE_SYSTEMS.get(system)
            found.append(
                {"id": one, "system": system, "code": code, "kind": known.kind if known else None}
            )
    if found:
        store.write_nodes("Code", pa.Table.from_pylist(found))


def _join_tree(store: GraphStore) -> None:
    """Join each code to the concept that stands for it in its code system's tree."""
    codes = store.read_nodes("Code").column("id")
    concepts = store.read_nodes("Concept").column("id")
    both = codes.filter(pc.is_in(codes, value_set=_array(concepts)))
    store.write_edges("IN_TREE", pa.table({"from": both, "to": both}))


def _next_visits(visits: pa.Table) -> pa.Table:
    """(visit, the same patient's next visit) by ordinal."""
    ordered = visits.sort_by([("patient", "ascending"), ("ordinal", "ascending")])
    patient, visit = ordered.column("patient"), ordered.column("id")
    same = pc.equal(patient.slice(0, max(len(patient) - 1, 0)), patient.slice(1))
    pairs = pa.table({"from": visit.slice(0, max(len(visit) - 1, 0)), "to": visit.slice(1)})
    return pairs.filter(same)


def _replace_edges(
    store: GraphStore, edge_type: str, sources: pa.ChunkedArray, table: pa.Table
) -> None:
    """Write edges; those that left the same sources before and are not among them go."""
    there = store.read_edges(edge_type)
    there = there.filter(pc.is_in(there.column("from"), value_set=_array(sources)))
    names = [name for name in there.column_names if name in table.column_names]
    wanted = table.select(names).cast(pa.schema([there.schema.field(n) for n in names]))
    kept = pc.is_in(rows.row_texts(there, names), value_set=rows.row_texts(wanted, names))
    stale = there.filter(pc.invert(kept)).column("from")
    if len(stale):
        store.delete_edges(edge_type, pc.unique(stale).to_pylist())
    store.write_edges(edge_type, table)


def _exploded(table: pa.Table, key: str, column: str) -> pa.Table:
    """A row for each element of a list column: from (the key), to (the element), position."""
    lists = _array(table.column(column))
    parents = pc.list_parent_indices(lists)
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    starts = np.cumsum(lengths) - lengths
    at = np.arange(len(parents)) - starts[parents.to_numpy(zero_copy_only=False)]
    return pa.table(
        {
            "from": table.column(key).take(parents),
            "to": pc.list_flatten(lists),
            "position": pa.array(at, pa.int32()),
        }
    )


def _edges(table: pa.Table, start: str, end: str) -> pa.Table:
    return pa.table({"from": table.column(start), "to": table.column(end)})


def _unique(table: pa.Table) -> pa.Table:
    return table.group_by(table.column_names).aggregate([])


def _with(table: pa.Table, name: str, value: bool) -> pa.Table:
    return table.append_column(name, pa.array([value] * table.num_rows, pa.bool_()))


def _array(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    return (
        pa.table({"x": column}).combine_chunks().column("x").chunk(0)
        if len(column)
        else (pa.nulls(0, column.type))
    )


def _sorted_unique(*columns: pa.ChunkedArray) -> list[str]:
    found: set[str] = set()
    for column in columns:
        found.update(value for value in pc.unique(column).to_pylist() if value)
    return sorted(found)
