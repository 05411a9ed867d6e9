"""A small knowledge for the tests of mapping, and codes as a hospital's tables give them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import pyarrow as pa

from ehrkg.mapping import Mapping, map_codes
from ehrkg.mapping.links import Link
from ehrkg.ontology import for_codes, merge
from ehrkg.ontology.schema import Knowledge
from ehrkg.ontology.tables import build, knowledge, with_edge_ids

SOURCE = "infores:test"

DRUGS = {
    # id: name, synonyms ("brand:" where it is one)
    "D:furosemide": ("furosemide", ["brand:Lasix", "frusemide"]),
    "D:morphine": ("morphine", []),
    "D:metoprolol": ("metoprolol", []),
    "D:ertapenem": ("ertapenem", []),
    "D:gentamicin": ("gentamicin", []),
    "D:piperacillin": ("piperacillin", []),
    "D:tazobactam": ("tazobactam", []),
    "D:oxycodone": ("oxycodone", ["brand:OxyContin"]),
    "D:acetaminophen": ("acetaminophen", ["paracetamol"]),
    "D:hydromorphone": ("hydromorphone", ["brand:Dilaudid"]),
    "D:sulfamethoxazole": ("sulfamethoxazole", ["brand:Bactrim"]),
    "D:trimethoprim": ("trimethoprim", ["brand:Bactrim"]),
    "D:sodium-chloride": ("sodium chloride", []),
    "D:potassium-chloride": ("potassium chloride", []),
    "D:magnesium-sulfate": ("magnesium sulfate", []),
    "D:calcium-gluconate": ("calcium gluconate", []),
    "D:sodium-bicarbonate": ("sodium bicarbonate", []),
    "D:ferrous-sulfate": ("ferrous sulfate", []),
    "D:lithium-carbonate": ("lithium carbonate", []),
    "D:dextrose": ("dextrose", ["glucose"]),
    "D:heparin": ("heparin", []),
    "D:losartan": ("losartan", []),
    "D:insulin": ("insulin", []),
    "D:insulin-glargine": ("insulin glargine", ["brand:Lantus"]),
    "D:insulin-human": ("insulin human", ["insulin regular"]),
    "D:salbutamol": ("salbutamol", ["albuterol"]),
    "D:levosalbutamol": ("levosalbutamol", ["albuterol", "brand:Xopenex"]),
    "D:fluticasone": ("fluticasone", []),
    "D:fluticasone-propionate": ("fluticasone propionate", []),
    "D:hydrochlorothiazide": ("hydrochlorothiazide", []),
    "D:levothyroxine": ("levothyroxine", []),
    "D:cefepime": ("cefepime", []),
    "D:cefazolin": ("cefazolin", []),
    "D:camphor": ("camphor", []),
    "D:menthol": ("menthol", []),
    "D:petrolatum": ("petrolatum", []),
    "D:mineral-oil": ("mineral oil", []),
    "D:neomycin": ("neomycin", []),
    "D:polymyxin-b": ("polymyxin B", []),
    "D:bacitracin": ("bacitracin", []),
    "D:emtricitabine": ("emtricitabine", []),
    "D:tenofovir": ("tenofovir", []),
    "D:tenofovir-disoproxil": ("tenofovir disoproxil", []),
    "D:sodium-phosphate": ("sodium phosphate", []),
    "D:dexamethasone": ("dexamethasone", []),
    "D:benzocaine": ("benzocaine", ["brand:Cepacol"]),
    "D:digoxin": ("digoxin", ["digoxinum"]),
    "D:butalbital": ("butalbital", []),
    "D:caffeine": ("caffeine", []),
}
DISEASES = {
    "X:heart-failure": ("heart failure", ["cardiac failure"]),
    "X:systolic-hf": ("systolic heart failure", []),
    "X:hypertension": ("essential hypertension", []),
    "X:af": ("atrial fibrillation", []),
    "X:anaemia": ("anaemia", []),
    "X:breast-cancer": ("breast cancer", []),
    "X:asthma": ("asthma", []),
    "X:rare-kidney-disease": ("rare kidney disease", []),
    "X:disease": ("disease", []),
}
MAPPINGS = [
    ("X:heart-failure", "skos:exactMatch", "ICD10CM:I50", 0.95, SOURCE),
    ("X:systolic-hf", "skos:exactMatch", "ICD10CM:I50.2", 0.95, SOURCE),
    ("X:heart-failure", "skos:narrowMatch", "ICD9CM:4280", 0.9, SOURCE),
    ("X:hypertension", "skos:exactMatch", "ICD10:I10", 0.95, SOURCE),
    ("X:af", "skos:exactMatch", "ICD10CM:I48.91", 0.95, SOURCE),
    ("X:disease", "skos:exactMatch", "ICD10CM:R69", 0.95, SOURCE),
    ("X:rare-kidney-disease", "skos:broadMatch", "ICD10CM:N28.9", 0.95, SOURCE),
    ("X:anaemia", "skos:exactMatch", "ICD10CM:D50-D64", 0.95, SOURCE),
]


def kb(mappings: Iterable[tuple[str, str, str, float, str]] = MAPPINGS) -> Knowledge:
    """The small knowledge."""
    concepts = [(i, name, "drug", "", SOURCE) for i, (name, _) in DRUGS.items()]
    concepts += [(i, name, "disease", "", SOURCE) for i, (name, _) in DISEASES.items()]
    concepts.append(("X:dialysis", "hemodialysis", "procedure", "", SOURCE))
    synonyms = []
    for concept, (_, texts) in {**DRUGS, **DISEASES}.items():
        for text in texts:
            scope = "brand" if text.startswith("brand:") else "exact"
            synonyms.append((concept, text.removeprefix("brand:"), scope, SOURCE))
    return knowledge(
        concepts=build("concepts", concepts),
        synonyms=build("synonyms", synonyms),
        mappings=build("mappings", list(mappings)),
    )


def subclass(child: str, parent: str) -> Knowledge:
    """A Knowledge of one SUBCLASS_OF edge."""
    row = {
        "subject": child,
        "predicate": "SUBCLASS_OF",
        "object": parent,
        "negated": False,
        "route": "",
        "source": SOURCE,
        "origin": SOURCE,
        "licence": "",
        "provenance": "",
    }
    return knowledge(edges=with_edge_ids(pa.Table.from_pylist([row])))


def codes(*ids: str, name: str = "") -> pa.Table:
    """CODES rows for some Code ids."""
    kinds = {"DRUGNAME": "drug", "ICD10PCS": "procedure", "ICD9PROC": "procedure"}
    systems = [each.partition(":")[0] for each in ids]
    return pa.table(
        {
            "id": list(ids),
            "system": systems,
            "code": [each.partition(":")[2] for each in ids],
            "name": [name] * len(ids),
            "kind": [kinds.get(system, "diagnosis") for system in systems],
        }
    )


@cache
def trees(*ids: str) -> Knowledge:
    """The code trees of some codes."""
    return for_codes(codes(*ids))


def mapped(*ids: str, extra: Knowledge | None = None) -> Mapping:
    """The codes mapped against the small knowledge (and more)."""
    parts = [kb(), trees(*ids)] + ([extra] if extra else [])
    return map_codes(codes(*ids), merge(*parts))


def links(mapping: Mapping, code: str) -> dict[str, Link]:
    """A code's links by concept."""
    rows = [row for row in mapping.links.to_pylist() if row["code"] == code]
    return {row["concept"]: Link(**row) for row in rows}


def drug(text: str) -> tuple[str, set[str]]:
    """Kind and ingredients of a drug string."""
    code = f"DRUGNAME:{' '.join(text.lower().split())}"
    row = map_codes(codes(code), kb()).drug_strings.to_pylist()[0]
    return row["drug_kind"], set(row["ingredients"])
