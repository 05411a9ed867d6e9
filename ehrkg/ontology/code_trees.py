"""What the code systems themselves say of the codes a hospital uses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import pyarrow as pa

from ehrkg.foundation.ledger import Ledger
from ehrkg.ontology import coding_rules, groups, icd9cm, icd10cm, procedures
from ehrkg.ontology.code_tables import GemRow
from ehrkg.ontology.curies import dotted
from ehrkg.ontology.schema import Knowledge
from ehrkg.ontology.sources import SOURCES
from ehrkg.ontology.spellings import respelt
from ehrkg.ontology.tables import build, knowledge, ordered, with_edge_ids
from ehrkg.ontology.trees import Node

TREES: Mapping[str, Callable[[str], Node]] = {
    "ICD10CM": icd10cm.node,
    "ICD9CM": icd9cm.node,
    "ICD9PROC": procedures.icd9_node,
    "ICD10PCS": procedures.pcs_node,
}
"""The code systems with a tree; codes of others (drug strings) are passed over."""

OWNERS = {
    "ICD10CM": "infores:icd10cm",
    "ICD9CM": "infores:icd9cm",
    "ICD9PROC": "infores:icd9cm",
    "ICD10PCS": "infores:icd10pcs",
}
GEM_EXACT, GEM_APPROXIMATE, GEM_COMBINATION = 0.95, 0.75, 0.6
"""Confidence of a GEM row; one of a combination says only a part of what the code says."""


def node_of(code_id: str) -> Node | None:
    """The tree node of a Code id; None where its system has no tree.

    >>> node_of("ICD10CM:I50.23").parent
    'ICD10CM:I50.2'
    """
    system, _, code = code_id.partition(":")
    tree = TREES.get(system)
    return tree(code) if tree and code else None


def ancestors(code_id: str) -> list[str]:
    """The CURIEs above a code, nearest first, up to the category.

    >>> ancestors("ICD9CM:428.23")
    ['ICD9CM:428.2', 'ICD9CM:428']
    """
    above: list[str] = []
    node = node_of(code_id)
    while node is not None and node.parent:
        above.append(node.parent)
        node = node_of(node.parent)
    return above


def for_codes(codes: pa.Table, ledger: Ledger | None = None) -> Knowledge:
    """What ICD trees, instructions, GEMs and groups say of the codes given.

    Args:
        codes: the schema CODES (``id`` and ``name`` are read); drug codes are passed over.
        ledger: gets a line: codes with a tree, codes without.

    Returns:
        Concepts for the codes, for what mistyped ones stand for (``spellings``), for what their
        GEMs lead to, and for all that stands above, up to the category; SUBCLASS_OF; inclusion
        terms as synonyms; coding-rule edges between the codes given (see ``coding_rules.edges``);
        GEM rows as mappings; CODE_ATTRIBUTES.

    >>> table = pa.table({"id": ["ICD10CM:I50.23"], "name": ["Acute on chronic systolic failure"]})
    >>> for_codes(table).concepts["id"].to_pylist()[:3]
    ['ICD10CM:I50', 'ICD10CM:I50.2', 'ICD10CM:I50.23']
    """
    names = dict(zip(codes["id"].to_pylist(), codes["name"].to_pylist(), strict=True))
    given = sorted(code for code in names if node_of(code) is not None)
    asked = _with_ancestors(given)
    meant = sorted({*given, *(other for code in given if (other := respelt(code)))})
    reached = _with_ancestors(
        [
            *meant,
            *(
                f"{other}:{dotted(other, row.target)}"
                for code in meant
                for other, row in _gem_rows(code)
            ),
        ]
    )
    nodes = [node for code in sorted(asked | reached) if (node := node_of(code)) is not None]
    if ledger is not None:
        without = len(names) - len(given)
        ledger.record(
            "know", "codes", rows_in=len(names), rows_out=len(given), dropped={"no_tree": without}
        )
    diagnoses = [code for code in given if code.startswith(("ICD10CM:", "ICD9CM:"))]
    edges = pa.concat_tables([_hierarchy(nodes), coding_rules.edges(diagnoses)])
    return knowledge(
        concepts=build("concepts", [_concept(node, names) for node in nodes]),
        synonyms=build("synonyms", [row for node in nodes for row in _synonyms(node)]),
        edges=ordered("edges", edges),
        mappings=build("mappings", [row for code in meant for row in _mappings(code)]),
        attributes=build("attributes", [_attributes(code) for code in sorted(asked)]),
    )


def _with_ancestors(codes: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for code in codes:
        if code not in found:
            found.add(code)
            found.update(ancestors(code))
    return found


def _owner(curie: str) -> str:
    return OWNERS[curie.partition(":")[0]]


def _concept(node: Node, names: Mapping[str, str]) -> tuple[str, ...]:
    return (node.id, node.name or names.get(node.id) or "", node.kind, "", _owner(node.id))


def _synonyms(node: Node) -> list[tuple[str, ...]]:
    return [(node.id, term, "inclusion_term", _owner(node.id)) for term in node.terms]


def _hierarchy(nodes: Iterable[Node]) -> pa.Table:
    below = [node for node in nodes if node.parent]
    owners = [_owner(node.id) for node in below]
    count = len(below)
    return with_edge_ids(
        pa.table(
            {
                "subject": pa.array([node.id for node in below], pa.string()),
                "predicate": pa.array(["SUBCLASS_OF"] * count, pa.string()),
                "object": pa.array([node.parent for node in below], pa.string()),
                "negated": pa.array([False] * count, pa.bool_()),
                "route": pa.array([""] * count, pa.string()),
                "source": pa.array(owners, pa.string()),
                "origin": pa.array(owners, pa.string()),
                "licence": pa.array([SOURCES[owner].licence for owner in owners], pa.string()),
                "provenance": pa.array([""] * count, pa.string()),
            }
        )
    )


def _gem_rows(code_id: str) -> list[tuple[str, GemRow]]:
    system, _, code = code_id.partition(":")
    if system not in groups.DIRECTIONS:
        return []
    return [(groups.DIRECTIONS[system][1], row) for row in groups.targets(system, code)]


def _mappings(code_id: str) -> list[tuple[str, str, str, float, str]]:
    """GEM rows: exact only where they are so both ways and one to one."""
    rows = _gem_rows(code_id)
    found = []
    for other, row in rows:
        back = groups.targets(other, row.target)
        returns = len(back) == 1 and not back[0].approximate
        here = code_id.partition(":")[2].replace(".", "")
        if row.combination:
            predicate, confidence = "skos:broadMatch", GEM_COMBINATION
        elif not row.approximate and len(rows) == 1 and returns and back[0].target == here:
            predicate, confidence = "skos:exactMatch", GEM_EXACT
        else:
            predicate, confidence = "skos:closeMatch", GEM_APPROXIMATE
        target = f"{other}:{dotted(other, row.target)}"
        found.append((code_id, predicate, target, confidence, "infores:gem"))
    return found


def _attributes(code_id: str) -> tuple[object, ...]:
    node = node_of(code_id)
    if node is None:
        raise LookupError(code_id)
    system, _, code = code_id.partition(":")
    return (
        node.id,
        node.name,
        node.parent,
        node.category,
        node.chapter,
        node.chapter_name,
        groups.ccsr_groups(system, code),
        groups.is_chronic(system, code),
        groups.equivalents(system, code),
    )
