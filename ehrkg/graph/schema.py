"""The property graph as data: which labels and edge types there are, with their properties.

Both engines make their tables, constraints and indexes from this module; nothing else names them.

A node is identified by (build, id). Engines that need one column for that hold ``key``, which is
``"<build>|<id>"``; callers never see it. Several edges of one type may join the same two nodes: an
edge's identity is its type, its two ends, and the properties that ``EdgeType.key`` names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import pyarrow as pa

from ehrkg.ehr.schema import PATIENTS, VISITS
from ehrkg.ontology.predicates import PREDICATES
from ehrkg.ontology.schema import CONCEPTS, PASSAGES

SCHEMA_VERSION = 3
"""Raised whenever a label, a type, a property or an identity changes."""

TEXT = pa.string()
TEXTS = pa.list_(pa.string())
TIME = pa.timestamp("s")
INT = pa.int32()
REAL = pa.float64()
BOOL = pa.bool_()


@dataclass(frozen=True)
class NodeType:
    """A node label.

    Attributes:
        label: its name.
        properties: names and types, ``id`` first; every node carries ``build`` besides.
    """

    label: str
    properties: pa.Schema


@dataclass(frozen=True)
class EdgeType:
    """An edge type.

    Attributes:
        type: its name.
        joins: the (from, to) label pairs it may join.
        properties: names and types.
        key: the properties that, with both ends, tell parallel edges apart; never null.
    """

    type: str
    joins: tuple[tuple[str, str], ...]
    properties: pa.Schema
    key: tuple[str, ...] = ()


def _node(label: str, *fields: tuple[str, pa.DataType]) -> NodeType:
    return NodeType(label, pa.schema([("id", TEXT), *fields]))


def _edge(
    name: str,
    joins: Iterable[tuple[str, str]],
    *fields: tuple[str, pa.DataType],
    key: tuple[str, ...] = (),
) -> EdgeType:
    return EdgeType(name, tuple(joins), pa.schema(list(fields)), key)


CODE_ATTRIBUTES: tuple[tuple[str, pa.DataType], ...] = (
    ("tree_name", TEXT),  # the code system's own name; Code.name is what the hospital wrote
    ("parent", TEXT),
    ("category", TEXT),
    ("chapter", TEXT),
    ("chapter_name", TEXT),
    ("ccsr", TEXTS),
    ("chronic", BOOL),
    ("equivalents", TEXTS),
)
"""What the code system says of a code, kept on its Code node."""

_NODES = (
    _node("Build", ("schema_version", INT), ("ehr_format", TEXT)),
    _node(
        "Source",
        ("name", TEXT),
        ("origin", TEXT),
        ("licence", TEXT),
        ("url", TEXT),
        ("version", TEXT),
        ("reliability", REAL),
        ("text", TEXT),
    ),
    NodeType("Patient", PATIENTS),
    NodeType("Visit", VISITS),
    _node(
        "Code",
        ("system", TEXT),
        ("code", TEXT),
        ("name", TEXT),
        ("kind", TEXT),
        ("recorded", BOOL),  # true where the hospital's tables hold it; else the tree alone does
        ("described", BOOL),  # true where the code system described it: the attributes below
        *CODE_ATTRIBUTES,
    ),
    NodeType(
        "Concept",
        CONCEPTS.append(pa.field("declared", BOOL)),  # null where only an edge names it
    ),
    _node("Synonym", ("concept", TEXT), ("text", TEXT), ("scope", TEXT), ("source", TEXT)),
    NodeType("Passage", PASSAGES),
    _node("Proposer"),
    _node(
        "Relation",
        ("head", TEXT),
        ("route", TEXT),
        ("predicate", TEXT),
        ("tail", TEXT),
        ("head_concept", TEXT),
        ("tail_concept", TEXT),
        ("verdict", TEXT),
        ("score", REAL),
        ("score_calibrated", BOOL),
        ("score_path", REAL),
        ("score_definition", REAL),
        ("score_contradiction", REAL),
        ("score_coding_rule", REAL),
        ("reasons", TEXTS),
        ("n_path", INT),
        ("n_definition", INT),
        ("n_coding_rule", INT),
        ("n_statistic", INT),
        ("n_contradicting", INT),
        ("origins", TEXTS),
        ("sources", TEXTS),
        ("depends_on", TEXTS),
        ("tasks", TEXTS),
        ("proposers", TEXTS),
        ("n_within", INT),
        ("n_across", INT),
        ("n_patients", INT),
        ("lift", REAL),
        ("p_value", REAL),
    ),
    _node(
        "Evidence",
        ("relation", TEXT),
        ("kind", TEXT),
        ("polarity", TEXT),
        ("text", TEXT),
        ("source", TEXT),
        ("origin", TEXT),
        ("weight", REAL),
        ("meta_path", TEXT),
        ("edges", TEXTS),
        ("concepts", TEXTS),
        ("passage", TEXT),
        ("judged", TEXT),
    ),
    _node(
        "Template",
        ("task", TEXT),
        ("patient", TEXT),
        ("visit", TEXT),
        ("target_visit", TEXT),
        ("context", TEXTS),
        ("context_routes", TEXTS),
        ("anchor_position", INT),
        ("history", TEXTS),
        ("answer", TEXTS),
        ("answer_route", TEXT),
        ("answer_concept", TEXT),
        ("relation", TEXT),
        ("predicate", TEXT),
        ("cluster", TEXT),
        ("split", TEXT),
        ("age", INT),
        ("age_band", TEXT),
        ("sex", TEXT),
        ("gap_days", INT),
        ("visit_kind", TEXT),
        ("icd_version", TEXT),
        ("timing", TEXT),
        ("n_context", INT),
        ("n_related", INT),
        ("score", REAL),
        ("sole_indication", BOOL),
        ("flags", TEXTS),
    ),
)


def _recorded(start: str) -> tuple[tuple[str, pa.DataType], ...]:
    """What a visit's edge to a code holds; ``start`` is the name of its first time."""
    return (
        ("route", TEXT),
        ("seq", INT),
        (start, TIME),
        ("stop", TIME),
        ("drug_type", TEXT),
        ("n", INT),
        ("raw_code", TEXT),
        ("source", TEXT),
        ("row", pa.int64()),
    )


_STATED = (
    ("id", TEXT),
    ("negated", BOOL),
    ("route", TEXT),
    ("source", TEXT),
    ("origin", TEXT),
    ("licence", TEXT),
    ("provenance", TEXT),
    ("original_predicate", TEXT),
)
_CONCEPTS = (("Concept", "Concept"),)
_VISIT_CODE = (("Visit", "Code"),)

RECORDED_AS: Mapping[str, str] = MappingProxyType(
    {"diagnosis": "DIAGNOSED", "drug": "PRESCRIBED", "procedure": "PERFORMED"}
)
"""The edge type by which a visit holds a code of each kind."""

MAPPING_PREDICATES: Mapping[str, str] = MappingProxyType(
    {p.biolink: name for name, p in PREDICATES.items() if p.group == "mapping"}
)
"""The edge type of each SSSOM mapping predicate."""


def _predicate_edges() -> list[EdgeType]:
    """One edge type a predicate; mappings carry their confidence too."""
    edges = []
    for name, predicate in PREDICATES.items():
        more = (("confidence", REAL),) if predicate.group == "mapping" else ()
        edges.append(_edge(name, _CONCEPTS, *_STATED, *more, key=("id",)))
    return edges


_EDGES = (
    _edge("HAS_VISIT", [("Patient", "Visit")]),
    _edge("NEXT", [("Visit", "Visit")]),
    _edge("DIAGNOSED", _VISIT_CODE, *_recorded("start"), key=("route",)),
    _edge("PRESCRIBED", _VISIT_CODE, *_recorded("start"), key=("route",)),
    _edge("PERFORMED", _VISIT_CODE, *_recorded("time"), key=("route",)),
    _edge("HAS_SYNONYM", [("Concept", "Synonym")]),
    _edge("HAS_PASSAGE", [("Concept", "Passage")]),
    _edge("IN_TREE", [("Code", "Concept")]),  # from a code to the tree's concept of the same id
    _edge(
        "MAPS_TO",
        [("Code", "Concept")],
        ("predicate", TEXT),
        ("method", TEXT),
        ("levels", INT),
        ("confidence", REAL),
        ("source", TEXT),
        ("explanation", TEXT),
        key=("predicate", "method", "levels", "source"),
    ),
    *_predicate_edges(),
    _edge("HEAD", [("Relation", "Code"), ("Relation", "Concept")]),
    _edge("TAIL", [("Relation", "Code"), ("Relation", "Concept")]),
    _edge("PROPOSED_BY", [("Relation", "Proposer")]),
    _edge("DEPENDS_ON", [("Relation", "Source")]),
    _edge("BACKED_BY", [("Relation", "Evidence")], ("polarity", TEXT)),
    _edge(
        "CITES",
        [("Evidence", "Concept")],
        ("position", INT),
        ("edge_id", TEXT),
        key=("position",),
    ),
    _edge("ASSERTS", [("Template", "Relation")]),
    _edge("AT", [("Template", "Visit")]),
    _edge("TARGET", [("Template", "Visit")]),
    _edge("GIVEN", [("Template", "Code")], ("position", INT), ("route", TEXT), key=("position",)),
    _edge("ANSWER", [("Template", "Code")], ("position", INT), key=("position",)),
)

NODES: Mapping[str, NodeType] = MappingProxyType({node.label: node for node in _NODES})
"""Every node label, in an order in which no edge type is needed before its labels."""

EDGES: Mapping[str, EdgeType] = MappingProxyType({edge.type: edge for edge in _EDGES})
"""Every edge type."""

CLINICAL = tuple(name for name, p in PREDICATES.items() if p.group == "clinical")
"""The edge types that state something about patients' conditions, drugs and procedures."""
