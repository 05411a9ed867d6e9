"""The chain behind a template, walked by fixed-length patterns that every engine answers fast."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from ehrkg.foundation.errors import UsageError
from ehrkg.graph.explanation import (
    Cited,
    Claim,
    EvidencePiece,
    Explanation,
    Link,
    PathEdge,
    Recorded,
    SourceRow,
    VisitPoint,
)
from ehrkg.graph.schema import NODES, RECORDED_AS
from ehrkg.graph.store import GraphStore
from ehrkg.ontology.predicates import PREDICATES

_THIS = "WHERE t.id = $id AND t.build = $build"
_TEMPLATE = "MATCH (t:Template) {where} RETURN " + ", ".join(
    f"t.{name} AS {name}" for name in NODES["Template"].properties.names
)
_VISIT = (
    "MATCH (t:Template)-[:{edge}]->(v:Visit) {where} "
    "RETURN v.id AS id, v.ordinal AS ordinal, v.admitted AS admitted, v.kind AS kind, v.age AS age"
)
# Two MATCHes: within one, Neo4j walks no edge twice, and so would not find the visit itself.
_ROWS = (
    "MATCH (t:Template)-[:AT]->(:Visit)<-[:HAS_VISIT]-(p:Patient) {where} "
    f"MATCH (p)-[:HAS_VISIT]->(v:Visit)-[d:{'|'.join(RECORDED_AS.values())}]->(c:Code) "
    "WHERE c.id IN $codes "
    "RETURN v.id AS visit, v.ordinal AS ordinal, c.id AS code, d.route AS route, "
    "d.source AS source, d.row AS row, d.raw_code AS raw_code, d.n AS n"
)
_NAMES = (
    "MATCH (c:Code) WHERE c.build = $build AND c.id IN $ids "
    "RETURN c.id AS id, c.name AS name, c.tree_name AS tree_name"
)
_RELATION = (
    "MATCH (t:Template)-[:ASSERTS]->(r:Relation) {where} RETURN r.id AS id, r.head AS head, "
    "r.route AS route, r.predicate AS predicate, r.tail AS tail, r.verdict AS verdict, "
    "r.score AS score, r.reasons AS reasons, r.depends_on AS depends_on"
)
_CONCEPT_END = (
    "MATCH (t:Template)-[:ASSERTS]->(r:Relation)-[:HEAD|TAIL]->(c:Concept) {where} "
    "RETURN c.id AS id, c.name AS name"
)
_EVIDENCE = (
    "MATCH (t:Template)-[:ASSERTS]->(r:Relation)-[b:BACKED_BY]->(e:Evidence) {where} "
    "RETURN e.id AS id, e.kind AS kind, b.polarity AS polarity, e.text AS text, "
    "e.source AS source, e.origin AS origin, e.weight AS weight, e.edges AS edges"
)
_CITED = (
    "MATCH (t:Template)-[:ASSERTS]->(r:Relation)-[:BACKED_BY]->(e:Evidence)-[c:CITES]->(k:Concept) "
    "{where} RETURN e.id AS evidence, c.position AS position, k.id AS id, k.name AS name, "
    "k.definition AS definition ORDER BY evidence, position"
)
_EDGES = (
    "MATCH (t:Template)-[:ASSERTS]->(r:Relation)-[:BACKED_BY]->(e:Evidence)-[:CITES]->(a:Concept)"
    f"-[s:{'|'.join(PREDICATES)}]->(b:Concept) {{where}} AND s.id IN e.edges "
    "RETURN DISTINCT s.id AS id, a.id AS subject, a.name AS subject_name, type(s) AS predicate, "
    "b.id AS object, b.name AS object_name, s.negated AS negated, s.route AS route, "
    "s.source AS source, s.origin AS origin, s.licence AS licence"
)
_LINKS = (
    "MATCH (t:Template)-[:ASSERTS]->(r:Relation)-[:HEAD|TAIL]->(c:Code)-[m:MAPS_TO]->(k:Concept) "
    "{where} RETURN DISTINCT c.id AS code, k.id AS concept, k.name AS concept_name, "
    "m.predicate AS predicate, m.method AS method, m.levels AS levels, "
    "m.confidence AS confidence, m.explanation AS explanation "
    "ORDER BY code, levels, concept, method"
)


def explain_template(store: GraphStore, template_id: str) -> Explanation:
    """Everything that stands behind a template.

    Args:
        store: the graph that holds it.
        template_id: as in templates.parquet; an item's is its ``template_id``.

    Raises:
        UsageError: there is no such template.
    """
    found = _ask(store, _TEMPLATE, template_id)
    if not found:
        raise UsageError(
            f"no template {template_id!r} in this graph",
            todo="give an id of templates.parquet, and the graph of the same build",
        )
    template = found[0]
    relation = _ask(store, _RELATION, template_id)
    names = _names(store, template, relation)
    rows = _rows(store, template)
    context = zip(template["context"], template["context_routes"], strict=True)
    return Explanation(
        template=template,
        visit=_visit(store, "AT", template_id),
        target=_visit(store, "TARGET", template_id),
        context=tuple(
            _recorded(code, route, [template["visit"]], rows, names) for code, route in context
        ),
        history=tuple(_recorded(code, "", list(rows), rows, names) for code in template["history"]),
        answer=tuple(
            _recorded(code, template["answer_route"], [template["target_visit"]], rows, names)
            for code in template["answer"]
        ),
        claim=_claim(relation, names),
        evidence=_evidence(store, template_id),
        links=tuple(Link(**row) for row in _ask(store, _LINKS, template_id)),
    )


def _ask(
    store: GraphStore, query: str, template_id: str, **parameters: Any
) -> list[dict[str, Any]]:
    text = query.replace("{where}", _THIS)
    found = store.query(text, id=template_id, build=store.build, **parameters)
    rows: list[dict[str, Any]] = found.to_pylist()
    return rows


def _visit(store: GraphStore, edge: str, template_id: str) -> VisitPoint | None:
    found = _ask(store, _VISIT.replace("{edge}", edge), template_id)
    return VisitPoint(**found[0]) if found else None


Rows = dict[str, dict[str, dict[str, SourceRow]]]
"""visit, code and route to the first row; visits in the patient's order."""


def _codes(template: dict[str, Any]) -> list[str]:
    return sorted({*template["context"], *template["history"], *template["answer"]})


def _rows(store: GraphStore, template: dict[str, Any]) -> Rows:
    found = _ask(store, _ROWS, template["id"], codes=_codes(template))
    rows: Rows = defaultdict(lambda: defaultdict(dict))
    for row in sorted(found, key=lambda r: (r["ordinal"] or 0, r["visit"], r["source"], r["row"])):
        rows[row["visit"]][row["code"]][row["route"]] = SourceRow(
            row["source"], row["row"], row["raw_code"], row["n"]
        )
    return rows


def _recorded(
    code: str, route: str, visits: Iterable[str], rows: Rows, names: dict[str, str]
) -> Recorded:
    """The code with its row at the first of the visits that has it; the named route's, if there."""
    for visit in visits:
        by_route = rows[visit][code] if visit in rows and code in rows[visit] else {}
        if by_route:
            row = by_route.get(route) or next(iter(by_route.values()))
            return Recorded(code, names.get(code, code), route, visit, row)
    return Recorded(code, names.get(code, code), route, "", None)


def _names(
    store: GraphStore, template: dict[str, Any], relation: list[dict[str, Any]]
) -> dict[str, str]:
    """What people call the codes and concepts that the template and its relation name."""
    ids = set(_codes(template)) | {row[end] for row in relation for end in ("head", "tail")}
    found = store.query(_NAMES, ids=sorted(ids), build=store.build).to_pylist()
    names = {row["id"]: row["name"] or row["tree_name"] or row["id"] for row in found}
    ends = _ask(store, _CONCEPT_END, template["id"])
    return {row["id"]: row["name"] or row["id"] for row in ends} | names


def _claim(relation: list[dict[str, Any]], names: dict[str, str]) -> Claim | None:
    if not relation:
        return None
    row = relation[0]
    return Claim(
        id=row["id"],
        head=row["head"],
        head_name=names.get(row["head"], row["head"]),
        route=row["route"],
        predicate=row["predicate"],
        tail=row["tail"],
        tail_name=names.get(row["tail"], row["tail"]),
        verdict=row["verdict"],
        score=row["score"],
        reasons=tuple(row["reasons"] or ()),
        depends_on=tuple(row["depends_on"] or ()),
    )


def _evidence(store: GraphStore, template_id: str) -> tuple[EvidencePiece, ...]:
    edges = {row["id"]: _edge(row) for row in _ask(store, _EDGES, template_id)}
    cited: dict[str, list[Cited]] = defaultdict(list)
    for row in _ask(store, _CITED, template_id):
        name = row["name"] or row["id"]
        cited[row["evidence"]].append(Cited(row["id"], name, row["definition"] or ""))
    order = {"supports": 0, "contradicts": 1}
    pieces = [
        EvidencePiece(
            id=row["id"],
            kind=row["kind"],
            polarity=row["polarity"],
            text=row["text"],
            source=row["source"],
            origin=row["origin"],
            weight=row["weight"],
            edges=tuple(edges[one] for one in row["edges"] if one in edges),
            cited=tuple(cited[row["id"]]),
        )
        for row in _ask(store, _EVIDENCE, template_id)
    ]
    return tuple(
        sorted(pieces, key=lambda p: (order.get(p.polarity, 2), -(p.weight or 0.0), p.kind, p.id))
    )


def _edge(row: dict[str, Any]) -> PathEdge:
    texts = {key: value or "" for key, value in row.items() if key != "negated"}
    texts["subject_name"] = texts["subject_name"] or texts["subject"]
    texts["object_name"] = texts["object_name"] or texts["object"]
    return PathEdge(negated=bool(row["negated"]), **texts)
