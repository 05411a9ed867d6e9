"""For each audit, the fault that it is for, planted in a sound graph, and the rows that show it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.cypher.cypher_world import AKI, AKI10, DRUG, FURO, HF, HF9, HF10, A, B, Plot, sound


@dataclass(frozen=True)
class Fault:
    """What is planted and what is seen.

    Attributes:
        plant: adds the fault to a sound graph.
        rows: parts of rows that must be among the answer.
        parameters: what is asked.
        silent: whether a sound graph gives no row for the same question.
    """

    plant: Callable[[Plot], None]
    rows: tuple[dict[str, Any], ...]
    parameters: dict[str, Any] = field(default_factory=dict)
    silent: bool = True


FAULTS: dict[str, Fault] = {}


def fault(*rows: dict[str, Any], silent: bool = True, **parameters: Any) -> Callable[..., None]:
    def keep(plant: Callable[[Plot], None]) -> None:
        FAULTS[plant.__name__] = Fault(plant, rows, parameters, silent)

    return keep


@fault({"relation": "r2", "origins": ["a"], "templates": 2})
def supported_by_one_origin(plot: Plot) -> None:
    plot.node("Relation", "r2", origins=["a"], sources=[A, B])


@fault({"relation": "r1", "origin": "a", "sources": [A, B]})
def several_sources_one_origin(plot: Plot) -> None:
    plot.node("Relation", "r1", origins=["a"], sources=[A, B])


@fault({"relation": "r2", "source": B, "reliability": 0.8, "licence": "CC0-1.0"}, source=B)
def supported_by_one_source(plot: Plot) -> None:
    plot.node("Relation", "r2", sources=[B])
    plot.node("Relation", "r4", sources=[A])


@fault(
    {"relation": "r5_4", "definitions": 0, "coding_rules": 2},
    {"relation": "r6_4", "definitions": 1, "coding_rules": 0},
)
def definitions_or_rules_only(plot: Plot) -> None:
    plot.relation("r5_4", HF10, "CAUSES", HF9, n_path=0, n_coding_rule=2, verdict="unsupported")
    plot.relation("r6_4", AKI10, "CAUSES", HF9, n_path=0, n_definition=1, verdict="supported")


@fault({"relation": "r1", "supported_by": A, "contradicted_by": B})
def supported_and_contradicted(plot: Plot) -> None:
    plot.evidence("against", "r1", FURO, HF, source=B, polarity="contradicts")
    plot.evidence(
        "against itself", "r2", HF, source="infores:c", kind="statistic", polarity="neutral"
    )


@fault(
    {
        "predicate": "CAUSES",
        "head_system": "ICD10CM",
        "tail_system": "ICD10CM",
        "verdict": "supported",
        "relations": 1,
        "mean_score": 0.8,
    },
    {
        "predicate": "CAUSES",
        "head_system": "ICD9CM",
        "verdict": "ambiguous",
        "relations": 2,
        "mean_score": 0.3,
    },
    silent=False,
)
def verdicts_by_predicate_and_system(plot: Plot) -> None:
    plot.relation("r5_6", HF9, "CAUSES", AKI10, verdict="ambiguous", score=0.2)
    plot.relation("r6_6", HF9, "CAUSES", HF10, verdict="ambiguous", score=0.4)


@fault(
    {"source": A, "supports": 3, "supports_alone": 0, "questions": 4, "questions_alone": 0},
    {"source": B, "supports": 4, "supports_alone": 1, "questions": 5, "questions_alone": 1},
    silent=False,
)
def source_contribution(plot: Plot) -> None:
    plot.relation("r5_7", DRUG, "TREATS", AKI10, sources=[B])
    plot.template("t5_7", "treatment", "r5_7", "v2", AKI10, DRUG)


@fault(
    {"source": B, "predicate": "PREVENTS", "statements": 2, "alone": 1},
    {"source": A, "predicate": "PREVENTS", "statements": 1, "alone": 0},
    silent=False,
)
def statements_by_source(plot: Plot) -> None:
    plot.says(FURO, "PREVENTS", HF, A)
    plot.says(FURO, "PREVENTS", HF, B)
    plot.says(FURO, "PREVENTS", AKI, B)


@fault({"source": A, "relation": "r2", "templates": 2}, source=A)
def lost_without_source(plot: Plot) -> None:
    plot.node("Relation", "r2", depends_on=[A])
    plot.edge("DEPENDS_ON", "r2", A)
    plot.edge("DEPENDS_ON", "r1", B)


@fault({"code": "ICD10CM:R99", "name": "nobody knows", "kind": "diagnosis", "visits": 2})
def unmapped_codes(plot: Plot) -> None:
    plot.code("ICD10CM:R99", "nobody knows", None)
    plot.edge("DIAGNOSED", "v1", "ICD10CM:R99", route="")
    plot.edge("DIAGNOSED", "v3", "ICD10CM:R99", route="")


@fault(
    {"code": HF10, "concept": HF, "levels": 0, "visits": 2},
    {"code": HF10, "concept": AKI, "levels": 0},
)
def codes_with_several_mappings(plot: Plot) -> None:
    plot.link(HF10, AKI)
    plot.link(AKI10, HF, levels=2)


@fault({"relation": "r2", "code": AKI10, "concept": "MONDO:0005240", "levels": 2}, levels=2)
def broad_mappings_in_verdicts(plot: Plot) -> None:
    plot.link(AKI10, "MONDO:0005240", levels=2)
    plot.link(AKI10, "MONDO:0005240", levels=3, method="synonym")
    plot.node("Relation", "r2", tail_concept="MONDO:0005240")


@fault(
    {"length": 1, "concept": "MONDO:0005044"},
    {"length": 2, "concept": "MONDO:0000001"},
    {"length": 3, "concept": "x1"},
    {"length": 4, "concept": "y1"},
)
def hierarchy_cycles(plot: Plot) -> None:
    plot.says("MONDO:0005044", "SUBCLASS_OF", "MONDO:0005044")
    plot.says("MONDO:0000001", "SUBCLASS_OF", "MONDO:0005267")
    for letter, length in (("x", 3), ("y", 4)):
        for place in range(1, length + 1):
            plot.concept(f"{letter}{place}", f"{letter}{place}")
            plot.says(f"{letter}{place}", "SUBCLASS_OF", f"{letter}{place % length + 1}")


@fault({"concept": "MONDO:lone", "codes": 1})
def hierarchy_orphans(plot: Plot) -> None:
    plot.concept("MONDO:lone", "a lone disease")
    plot.code("ICD10CM:X00", "lone", "MONDO:lone")


@fault(
    {"drug": FURO, "condition": HF, "through": "", "against_source": B},
    {"drug": FURO, "condition": HF, "through": "ATC:C03CA", "against_source": A},
)
def treats_and_contraindicated(plot: Plot) -> None:
    plot.says(FURO, "CONTRAINDICATED_IN", HF, B)
    plot.says("ATC:C03CA", "CONTRAINDICATED_IN", HF, A)
    plot.says(FURO, "CONTRAINDICATED_IN", "MONDO:0005267", A)


@fault({"predicate": "CAUSES", "subject": HF, "object": AKI, "stated_by": A, "denied_by": B})
def stated_and_denied(plot: Plot) -> None:
    plot.says(HF, "CAUSES", AKI, B, negated=True)


@fault(
    {"ancestor": "MONDO:0005240", "template": "t2", "answer": AKI10},
    {"ancestor": "MONDO:0005240", "template": "t3", "answer": AKI10},
    silent=False,
    code="ICD10CM:N18.9",
    up=1,
)
def answers_under_ancestor(plot: Plot) -> None:
    plot.concept("MONDO:ckd", "chronic kidney disease", "MONDO:0005240")
    plot.code("ICD10CM:N18.9", "Chronic kidney disease", "MONDO:ckd")


@fault({"concept": HF, "relations": 3, "share": 1.0, "templates": 4}, silent=False, share=0.9)
def hubs(plot: Plot) -> None:
    plot.relation("r5_18", AKI10, "CAUSES", HF9, verdict="unsupported")
    plot.evidence("seen together", "r5_18", HF, kind="statistic", polarity="neutral")


@fault(
    {
        "evidence": "nay",
        "kind": "path",
        "polarity": "contradicts",
        "weight": 0.25,
        "text": 'It\'s "not" so;\n{no} \\ 寒',
        "source": B,
        "origin": "b",
    },
    {"evidence": f"r1 {A}", "polarity": "supports"},
    silent=False,
    relation="r1",
)
def relation_evidence(plot: Plot) -> None:
    plot.evidence(
        "nay",
        "r1",
        FURO,
        text='It\'s "not" so;\n{no} \\ 寒',
        source=B,
        origin="b",
        polarity="contradicts",
        weight=0.25,
    )


@fault(
    {"how": "maps to", "other": HF, "detail": "label"},
    {"how": "is below", "other": "MONDO:0005267", "detail": A},
    {"how": "heads", "predicate": "CAUSES", "other": AKI10, "detail": "supported"},
    {"how": "ends", "predicate": "TREATS", "other": DRUG, "detail": "supported"},
    {"how": "ends", "predicate": "PREDISPOSES_TO", "other": HF9, "detail": "ambiguous"},
    silent=False,
    code=HF10,
)
def code_neighbourhood(plot: Plot) -> None:
    plot.relation("r5_20", HF9, "PREDISPOSES_TO", HF10, verdict="ambiguous")


@fault(
    {
        "predicate": "CAUSES",
        "age_band": "65-79",
        "sex": "F",
        "relations": 1,
        "templates": 2,
        "patients": 1,
    },
    {
        "predicate": "CAUSES",
        "age_band": "40-64",
        "sex": "M",
        "relations": 1,
        "templates": 1,
        "patients": 1,
    },
    silent=False,
)
def relations_by_age_and_sex(plot: Plot) -> None:
    plot.template("t5_21", "diagnosis", "r2", "v3", HF9, AKI10, age_band="40-64")


@fault(
    {"role": "answer", "template": "t5_22", "via": "ICD10CM:E87.6"},
    {"role": "context", "template": "t6_22", "via": "ICD10CM:E87.6"},
    {"role": "evidence", "template": "t1", "via": "through it"},
    concept="HP:0002900",
)
def questions_touching_concept(plot: Plot) -> None:
    plot.concept("HP:0002900", "hypokalaemia", "MONDO:0000001", kind="finding")
    plot.code("ICD10CM:E87.6", "Hypokalemia", "HP:0002900")
    plot.link("ICD10CM:E87.6", "HP:0002900", method="synonym")
    plot.relation("r5_22", HF10, "CAUSES", "ICD10CM:E87.6")
    plot.template("t5_22", "diagnosis", "r5_22", "v2", HF10, "ICD10CM:E87.6")
    plot.template("t6_22", "treatment", "r1", "v2", "ICD10CM:E87.6", DRUG)
    plot.evidence("through it", "r1", "HP:0002900", "HP:0002900")


@fault({"code": "DRUGNAME:bumetanide", "concept": "DRUGBANK:DB00887", "statements": 1, "visits": 1})
def thin_distractors(plot: Plot) -> None:
    for drug, concept in (("bumetanide", "DRUGBANK:DB00887"), ("water", "DRUGBANK:DB09145")):
        plot.concept(concept, drug, "ATC:C03CA", kind="drug")
        plot.code(f"DRUGNAME:{drug}", drug, concept)
        plot.edge("PRESCRIBED", "v1", f"DRUGNAME:{drug}", route="oral")
    plot.says("DRUGBANK:DB00887", "TREATS", HF)


@fault(
    {
        "meta_path": "class_contraindicated",
        "polarity": "contradicts",
        "predicate": "TREATS",
        "relations": 2,
        "paths": 3,
        "mean_weight": 0.3,
    },
    silent=False,
)
def meta_paths_in_use(plot: Plot) -> None:
    for number, (relation, weight) in enumerate((("r1", 0.2), ("r1", 0.3), ("r4", 0.4))):
        plot.evidence(
            f"x{number}",
            relation,
            FURO,
            meta_path="class_contraindicated",
            polarity="contradicts",
            weight=weight,
        )


@fault(
    {"predicate": "TREATS", "reason": "unlinked: tail", "relations": 2},
    {"predicate": "TREATS", "reason": "unlinked: head", "relations": 1},
    silent=False,
)
def why_unsupported(plot: Plot) -> None:
    both = ["unlinked: head", "unlinked: tail"]
    plot.relation("r5_25", DRUG, "TREATS", AKI10, verdict="unsupported", reasons=both)
    plot.relation(
        "r6_25", DRUG, "TREATS", AKI10, route="x", verdict="unsupported", reasons=both[1:]
    )


@fault(
    {"concept": HF, "name": "heart failure", "relations": 3},
    {"concept": AKI, "name": "acute kidney injury", "relations": 1},
)
def concepts_without_definition(plot: Plot) -> None:
    plot.node("Concept", HF, definition="")
    plot.node("Concept", AKI, definition=None)
    plot.node("Concept", "MONDO:0005044", definition="")


@fault({"concept": "MONDO:gone", "statements": 2})
def undeclared_concepts(plot: Plot) -> None:
    plot.node("Concept", "MONDO:gone")
    plot.node("Concept", "MONDO:unused", declared=False)
    plot.says(FURO, "TREATS", "MONDO:gone")
    plot.says("MONDO:gone", "CAUSES", HF)


@fault(
    {"name": "heart failure", "kind": "disease", "concepts": 2, "first": HF, "last": "MONDO:twin"}
)
def shared_names(plot: Plot) -> None:
    plot.concept("MONDO:twin", "Heart Failure", "MONDO:0005267")
    plot.concept("HP:twin", "heart failure", "MONDO:0005267", kind="finding")


@fault(
    {"template": "t2", "given": HF10, "answer": AKI10, "source": "infores:icd10cm"},
    {"template": "t3", "given": HF10, "answer": AKI10},
)
def coding_rule_binds_answer(plot: Plot) -> None:
    plot.says(HF10, "USE_ADDITIONAL_CODE", AKI10, "infores:icd10cm")


@fault({"code": AKI10, "excluded": HF10, "visits": 1})
def excludes1_in_one_visit(plot: Plot) -> None:
    plot.says(AKI10, "EXCLUDES1", HF10)
    plot.says(AKI10, "EXCLUDES1", HF9)


@fault(
    {
        "template": "t3",
        "answer": AKI10,
        "earlier_code": "ICD9CM:584.9",
        "earlier_visit": "v1",
        "concept": AKI,
    }
)
def answer_in_earlier_visit(plot: Plot) -> None:
    plot.code("ICD9CM:584.9", "Acute kidney failure", AKI)
    plot.edge("DIAGNOSED", "v1", "ICD9CM:584.9", route="")
    plot.edge("DIAGNOSED", "v3", "ICD9CM:584.9", route="")


@fault(
    {"task": "treatment", "answer": DRUG, "templates": 3, "patients": 2, "share": 0.75},
    {"task": "treatment", "answer": "DRUGNAME:bumetanide", "templates": 1, "share": 0.25},
    silent=False,
)
def answers_asked_most(plot: Plot) -> None:
    plot.concept("DRUGBANK:DB00887", "bumetanide", "ATC:C03CA", kind="drug")
    plot.code("DRUGNAME:bumetanide", "Bumetanide", "DRUGBANK:DB00887")
    plot.relation("r5_32", "DRUGNAME:bumetanide", "TREATS", HF10)
    plot.template("t5_32", "treatment", "r1", "v2", HF10, DRUG)
    plot.template("t6_32", "treatment", "r5_32", "v2", HF10, "DRUGNAME:bumetanide")


@fault(
    {"given": HF10, "answer": DRUG, "visits": 4, "both": 3, "share": 0.75, "templates": 1},
    visits=4,
    share=0.7,
)
def context_reveals_answer(plot: Plot) -> None:
    for number in (4, 5):
        plot.patient(f"p{number}", "F", "train")
        plot.visit(f"v{number}", f"p{number}", 1, HF10, DRUG)


@fault({"relation": "r3", "lift": 9.5, "patients": 20})
def strong_association_without_path(plot: Plot) -> None:
    plot.node("Relation", "r3", lift=9.5)
    plot.relation(
        "r5_34", HF9, "CAUSES", AKI10, verdict="unsupported", n_path=0, lift=9.5, tail_concept=""
    )


@fault({"relation": "r2", "lift": 0.4, "templates": 2})
def supported_against_the_data(plot: Plot) -> None:
    plot.node("Relation", "r2", lift=0.4)
    plot.node("Relation", "r3", lift=0.1)


@fault({"relation": "r5_36", "route": "oral", "statement_route": "intravenous", "source": B})
def route_mismatch(plot: Plot) -> None:
    said = plot.says(FURO, "TREATS", AKI, B, route="intravenous")
    plot.relation("r5_36", DRUG, "TREATS", AKI10)
    plot.evidence("by vein", "r5_36", FURO, AKI, source=B, edges=[said])


@fault(
    {
        "head_concept": FURO,
        "predicate": "TREATS",
        "tail_concept": HF,
        "relations": 2,
        "verdicts": 2,
        "supported": 1,
    }
)
def same_concepts_other_verdict(plot: Plot) -> None:
    plot.node("Relation", "r4", verdict="ambiguous")


@fault(
    {"role": "context", "code": HF10, "visit": "v1", "file": "hosp/a.csv", "row": 1},
    {"role": "answer", "code": AKI10, "visit": "v2", "row": 77, "written": "N17\n9"},
    silent=False,
    template="t3",
)
def trace_template(plot: Plot) -> None:
    for edge in plot.edges["DIAGNOSED"]:
        if edge["to"] == AKI10:
            edge.update(row=77, raw_code="N17\n9")


@fault({"relation": "r2", "patients": 3, "templates": 2})
def few_patients_behind(plot: Plot) -> None:
    plot.node("Relation", "r2", n_patients=3)
    plot.node("Relation", "r3", n_patients=2)


@fault({"relation": "r2", "train": 2, "dev": 0, "test": 1})
def relations_across_splits(plot: Plot) -> None:
    plot.template("t5_40", "diagnosis", "r2", "v3", HF9, AKI10)


@fault(
    {
        "task": "diagnosis",
        "visit": "v2",
        "answer": AKI10,
        "templates": 2,
        "relations": 2,
        "first": "t2",
    }
)
def same_question_twice(plot: Plot) -> None:
    plot.relation("r5_41", HF9, "CAUSES", AKI10)
    plot.template("t9_41", "diagnosis", "r5_41", "v2", HF9, AKI10)


def everything() -> Plot:
    """The sound graph with every fault in it."""
    plot = sound()
    for one in FAULTS.values():
        one.plant(plot)
    for name, edges in plot.edges.items():
        plot.edges[name] = list({str(sorted(edge.items())): edge for edge in edges}.values())
    return plot


@fault(
    {"one": AKI, "other": HF, "shared": "MONDO:both", "source": A},
    {"one": "MONDO:0005044", "other": "MONDO:0000001", "shared": "", "source": B},
    {"one": "MONDO:0005267", "other": "MONDO:part", "shared": ""},
)
def disjoint_terms_meet(plot: Plot) -> None:
    plot.concept("MONDO:both", "cardiorenal syndrome", HF)
    plot.says("MONDO:both", "SUBCLASS_OF", AKI)
    plot.says(AKI, "DISJOINT_WITH", HF)
    plot.says("MONDO:0005044", "DISJOINT_WITH", "MONDO:0000001", B)
    plot.concept("MONDO:part", "a heart disorder", "MONDO:0005267")
    plot.says("MONDO:0005267", "DISJOINT_WITH", "MONDO:part")
    plot.says(AKI, "DISJOINT_WITH", "MONDO:0005267")


@fault({"code": AKI10, "replaced": "MONDO:old", "replaced_by": AKI, "name": "acute kidney injury"})
def replaced_terms_in_use(plot: Plot) -> None:
    plot.node("Concept", "MONDO:old")
    plot.link(AKI10, "MONDO:old")
    plot.says(AKI, "EXACT_MATCH", "MONDO:old")
    plot.node("Concept", "DOID:other")
    plot.says(AKI, "EXACT_MATCH", "DOID:other")
