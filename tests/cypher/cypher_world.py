"""Small graphs, written by hand: a sound one, and a builder for what tests add to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from ehrkg.graph.schema import EDGES, NODES, RECORDED_AS
from ehrkg.graph.store import GraphStore

HF, AKI, FURO = "MONDO:0005252", "MONDO:0002492", "DRUGBANK:DB00695"
HF10, HF9, AKI10, DRUG = "ICD10CM:I50.9", "ICD9CM:428.0", "ICD10CM:N17.9", "DRUGNAME:furosemide"
A, B = "infores:a", "infores:b"


class Plot:
    """Nodes and edges to be written; later words about a node win."""

    def __init__(self) -> None:
        self.nodes: dict[str, dict[str, dict[str, Any]]] = {label: {} for label in NODES}
        self.edges: dict[str, list[dict[str, Any]]] = {name: [] for name in EDGES}

    def node(self, label: str, own: str, **properties: Any) -> None:
        self.nodes[label][own] = self.nodes[label].get(own, {}) | {"id": own, **properties}

    def edge(self, name: str, start: str, end: str, **properties: Any) -> None:
        self.edges[name].append({"from": start, "to": end, **properties})

    def patient(self, own: str, sex: str, split: str) -> None:
        self.node("Patient", own, sex=sex, split=split)

    def visit(self, own: str, patient: str, ordinal: int, *codes: str, **more: Any) -> None:
        self.node("Visit", own, patient=patient, ordinal=ordinal, **more)
        self.edge("HAS_VISIT", patient, own)
        for row, code in enumerate(codes, 1):
            self.edge(
                RECORDED_AS[kind(code)],
                own,
                code,
                route="oral" if kind(code) == "drug" else "",
                source="hosp/a.csv",
                row=row,
                raw_code=code,
                n=1,
            )

    def code(self, own: str, name: str, concept: str | None, levels: int = 0, **more: Any) -> None:
        system, _, code = own.partition(":")
        self.node(
            "Code",
            own,
            system=system,
            code=code,
            name=name,
            kind=kind(own),
            **{"recorded": True, "described": True, **more},
        )
        if concept:
            self.link(own, concept, levels)

    def link(self, code: str, concept: str, levels: int = 0, method: str = "label") -> None:
        self.edge(
            "MAPS_TO",
            code,
            concept,
            predicate="skos:exactMatch",
            method=method,
            levels=levels,
            source=A,
            confidence=1.0,
        )

    def concept(self, own: str, name: str, parent: str | None = None, **more: Any) -> None:
        known = {
            "kind": "disease",
            "definition": f"{name}, defined.",
            "source": A,
            "declared": True,
        }
        self.node("Concept", own, name=name, **known | more)
        if parent:
            self.says(own, "SUBCLASS_OF", parent)

    def says(self, subject: str, predicate: str, target: str, source: str = A, **more: Any) -> str:
        edge = f"e {subject} {predicate} {target} {source} {sorted(more.items())}"
        known = {"negated": False, "route": "", "origin": source.partition(":")[2]}
        self.edge(predicate, subject, target, id=edge, source=source, **known | more)
        return edge

    def relation(self, own: str, head: str, predicate: str, tail: str, **more: Any) -> None:
        """A relation that two sources support, unless told otherwise."""
        known: dict[str, Any] = {
            "route": "oral" if kind(head) == "drug" else "",
            "verdict": "supported",
            "score": 0.8,
            "head_concept": self._concept(head),
            "tail_concept": self._concept(tail),
            "n_path": 2,
            "n_definition": 0,
            "n_coding_rule": 0,
            "n_contradicting": 0,
            "origins": ["a", "b"],
            "sources": [A, B],
            "depends_on": [],
            "reasons": ["said so"],
            "lift": 3.0,
            "n_patients": 20,
        }
        self.node("Relation", own, head=head, predicate=predicate, tail=tail, **known | more)
        self.edge("HEAD", own, head, from_label="Relation", to_label="Code")
        self.edge("TAIL", own, tail, from_label="Relation", to_label="Code")

    def _concept(self, code: str) -> str:
        return next((e["to"] for e in self.edges["MAPS_TO"] if e["from"] == code), "")

    def evidence(self, own: str, relation: str, *cites: str, **more: Any) -> None:
        known: dict[str, Any] = {
            "kind": "path",
            "polarity": "supports",
            "text": f"{own} says so",
            "source": A,
            "origin": "a",
            "weight": 0.5,
            "meta_path": "stated",
            "edges": [],
        }
        self.node("Evidence", own, relation=relation, concepts=list(cites), **known | more)
        self.edge("BACKED_BY", relation, own, polarity=(known | more)["polarity"])
        for position, concept in enumerate(cites):
            self.edge("CITES", own, concept, position=position, edge_id="")

    def template(
        self,
        own: str,
        task: str,
        relation: str,
        visit: str,
        given: str,
        answer: str,
        target: str = "",
        **more: Any,
    ) -> None:
        held = self.nodes["Visit"].get(visit, {})
        patient = held.get("patient", "")
        who = self.nodes["Patient"].get(patient, {})
        known = {
            "predicate": self.nodes["Relation"][relation]["predicate"],
            "patient": patient,
            "age": held.get("age"),
            "age_band": "65-79",
            "sex": who.get("sex"),
            "split": who.get("split"),
            "context": [given],
            "answer": [answer],
            "flags": [],
            "history": [],
            "context_routes": [""],
            "answer_route": "",
            "anchor_position": 0,
        }
        self.node(
            "Template",
            own,
            task=task,
            relation=relation,
            visit=visit,
            target_visit=target or visit,
            **known | more,
        )
        self.edge("ASSERTS", own, relation)
        self.edge("AT", own, visit)
        self.edge("TARGET", own, target or visit)
        self.edge("GIVEN", own, given, position=0, route="")
        self.edge("ANSWER", own, answer, position=0)

    def write(self, store: GraphStore) -> None:
        for label, nodes in self.nodes.items():
            if nodes:
                schema = NODES[label].properties
                store.write_nodes(label, pa.Table.from_pylist(list(nodes.values()), schema=schema))
        for name, edges in self.edges.items():
            if edges:
                ends = [("from", pa.string()), ("to", pa.string())]
                if len(EDGES[name].joins) > 1:
                    ends += [("from_label", pa.string()), ("to_label", pa.string())]
                schema = pa.schema([*ends, *EDGES[name].properties])
                store.write_edges(name, pa.Table.from_pylist(edges, schema=schema))


def kind(code: str) -> str:
    """The kind of a code, by its system."""
    system = code.partition(":")[0]
    return (
        "drug"
        if system == "DRUGNAME"
        else ("procedure" if system in ("ICD9PROC", "ICD10PCS") else "diagnosis")
    )


def sound() -> Plot:
    """A graph in which no audit finds a fault."""
    plot = Plot()
    for source, reliability in ((A, 0.9), (B, 0.8)):
        plot.node("Source", source, name=source, licence="CC0-1.0", reliability=reliability)
    plot.concept("MONDO:0000001", "disease")
    plot.concept("MONDO:0005267", "heart disorder", "MONDO:0000001")
    plot.concept("MONDO:0005240", "kidney disorder", "MONDO:0000001")
    plot.concept(HF, "heart failure", "MONDO:0005267")
    plot.concept(AKI, "acute kidney injury", "MONDO:0005240")
    plot.concept("MONDO:0005044", "hypertension", "MONDO:0000001")
    plot.concept("ATC:C03CA", "sulfonamides, plain", kind="drug_class")
    plot.concept(FURO, "furosemide", "ATC:C03CA", kind="drug")
    plot.concept("ATC:C03CX", "other high-ceiling diuretics", kind="drug_class")
    plot.code(
        HF10,
        "Heart failure, unspecified",
        HF,
        ccsr=["CIR019"],
        chapter_name="Diseases of the circulatory system",
    )
    plot.code(
        HF9,
        "Congestive heart failure",
        HF,
        ccsr=["CIR019"],
        chapter_name="Diseases Of The Circulatory System",
    )
    plot.code(
        AKI10,
        "Acute kidney failure",
        AKI,
        ccsr=["GEN002"],
        chapter_name="Diseases of the genitourinary system",
    )
    plot.code(DRUG, "Furosemide", FURO)
    for code in (HF10, HF9, AKI10):
        plot.concept(code, f"{code}, as the tree has it", "MONDO:0000001")
        plot.edge("IN_TREE", code, code)
    plot.patient("p1", "F", "train")
    plot.patient("p2", "M", "test")
    plot.visit("v1", "p1", 1, HF10, DRUG, kind="URGENT", age=70)
    plot.visit("v2", "p1", 2, AKI10, HF10, kind="URGENT", age=71, gap_days=40)
    plot.visit("v3", "p2", 1, HF9, DRUG, kind="ELECTIVE", age=50)
    plot.edge("NEXT", "v1", "v2")
    stated = [plot.says(FURO, "TREATS", HF, source, route="oral|intravenous") for source in (A, B)]
    caused = [plot.says(HF, "CAUSES", AKI, source) for source in (A, B)]
    for source in (A, B):
        plot.says(FURO, "CONTRAINDICATED_IN", AKI, source)
        plot.says("ATC:C03CX", "CONTRAINDICATED_IN", HF, source)
    plot.relation("r1", DRUG, "TREATS", HF10)
    plot.relation("r2", HF10, "CAUSES", AKI10)
    plot.relation(
        "r3",
        AKI10,
        "CAUSES",
        HF10,
        verdict="unsupported",
        score=0.0,
        n_path=0,
        reasons=["no path joins the two ends"],
        lift=1.1,
        origins=[],
        sources=[],
    )
    plot.relation("r4", DRUG, "TREATS", HF9)
    for relation, edges, ends in (
        ("r1", stated, (FURO, HF)),
        ("r2", caused, (HF, AKI)),
        ("r4", stated, (FURO, HF)),
    ):
        for edge, source in zip(edges, (A, B), strict=True):
            plot.evidence(
                f"{relation} {source}",
                relation,
                *ends,
                source=source,
                origin=source.partition(":")[2],
                edges=[edge],
            )
    plot.template("t1", "treatment", "r1", "v1", HF10, DRUG)
    plot.template("t2", "diagnosis", "r2", "v2", HF10, AKI10)
    plot.template("t3", "prognosis", "r2", "v1", HF10, AKI10, "v2", gap_days=40)
    plot.template("t4", "treatment", "r4", "v3", HF9, DRUG, age_band="40-64")
    return plot


Write = Callable[[str, Plot], GraphStore]
"""Writes a plot as a build of its own beside all others, and gives the store that asks it."""
