"""What ships under ontologies/: enough, well-formed, sourced, licensed, and no measure of ours."""

from __future__ import annotations

import csv
import gzip
import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import yaml

ONTOLOGIES = Path(__file__).resolve().parents[2] / "ontologies"
FOLDERS = sorted(path for path in ONTOLOGIES.iterdir() if path.is_dir())
CLINICAL = {
    "biolink:treats",
    "biolink:preventative_for_condition",
    "biolink:contraindicated_in",
    "biolink:causes",
    "biolink:predisposes_to_condition",
    "biolink:has_phenotype",
    "biolink:diagnoses",
}
CURIE = re.compile(
    r"^(MONDO:\d{7}|HP:\d{7}|MAXO:\d{7}|DRUGBANK:DB\d{5}|ATC:[A-Z]\d\d[A-Z][A-Z]?"
    r"|EHRKG:[a-z0-9]+(-[a-z0-9]+)*)$"
)
Row = dict[str, str]


def rows(path: Path, delimiter: str = "\t") -> Iterator[Row]:
    csv.field_size_limit(2**31)
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8-sig", errors="replace", newline="") as stream:
        yield from csv.DictReader((line for line in stream if line[0] != "#"), delimiter=delimiter)


def tables(name: str) -> list[Path]:
    return [path for folder in FOLDERS for path in sorted(folder.glob(f"{name}*.tsv*"))]


@cache
def nodes() -> dict[str, Row]:
    return {row["id"]: row for row in rows(ONTOLOGIES / "core" / "nodes.tsv")}


@cache
def edges() -> list[Row]:
    return [row | {"file": path.parent.name} for path in tables("edges") for row in rows(path)]


@cache
def mappings() -> list[Row]:
    return [row for path in tables("mappings") for row in rows(path)]


def words(text: str) -> set[str]:
    """Words without what British and American spelling differ in."""
    plain = text.lower().replace("ae", "e").replace("oe", "e").replace("our", "or")
    return {word[:5] for word in re.findall(r"[a-z0-9]+", plain)}


def all_names(row: Row) -> str:
    return row["name"] + "|" + re.sub(r"\b(brand|abbreviation|exact|related):", "", row["synonym"])


def test_the_core_has_enough_concepts_each_with_a_definition() -> None:
    assert len(nodes()) >= 400
    kinds = Counter(row["category"] for row in nodes().values())
    assert kinds["biolink:Drug"] >= 260
    assert kinds["biolink:Disease"] >= 200
    short = {row["name"] for row in nodes().values() if len(row["description"].split()) < 8}
    assert not short


def test_no_two_concepts_share_a_definition() -> None:
    counts = Counter(row["description"] for row in nodes().values())
    assert [text for text, number in counts.items() if number > 1] == []


@pytest.mark.parametrize(
    ("predicate", "least"),
    [
        ("biolink:treats", 400),
        ("biolink:contraindicated_in", 150),
        ("biolink:causes", 150),
        ("biolink:predisposes_to_condition", 150),
        ("biolink:has_phenotype", 150),
        ("biolink:diagnoses", 40),
        ("biolink:preventative_for_condition", 60),
    ],
)
def test_the_core_says_enough(predicate: str, least: int) -> None:
    said = {
        (row["subject"], row["object"])
        for row in edges()
        if row["file"] == "core" and row["predicate"] == predicate and row["negated"] == "false"
    }
    assert len(said) >= least


def test_there_are_enough_clinical_edges_besides_the_hierarchy() -> None:
    clinical = {
        (row["subject"], row["predicate"], row["object"])
        for row in edges()
        if row["file"] == "core" and row["predicate"] in CLINICAL
    }
    assert len(clinical) >= 1200


def test_ids_are_well_formed_and_unique() -> None:
    assert [name for name in nodes() if not CURIE.match(name)] == []
    counts = Counter(row["id"] for row in rows(ONTOLOGIES / "core" / "nodes.tsv"))
    assert [name for name, number in counts.items() if number > 1] == []
    counts = Counter(row["id"] for row in edges())
    assert [name for name, number in counts.items() if number > 1] == []
    assert [row["id"] for row in edges() if not re.fullmatch(r"e[0-9a-f]{16}", row["id"])] == []


def test_names_are_unique_within_a_kind() -> None:
    seen = Counter((row["category"], row["name"].lower()) for row in nodes().values())
    assert [place for place, number in seen.items() if number > 1] == []


def test_no_synonym_is_the_name_of_another_concept_of_its_kind() -> None:
    names = {(row["category"], row["name"].lower()): row["id"] for row in nodes().values()}
    wrong = [
        (row["name"], text)
        for row in nodes().values()
        for text in all_names(row).split("|")[1:]
        if names.get((row["category"], text.lower()), row["id"]) != row["id"]
    ]
    assert wrong == []


def test_both_ends_of_every_edge_exist_and_are_of_the_predicates_kinds() -> None:
    from ehrkg.ontology.categories import kind_of
    from ehrkg.ontology.predicates import PREDICATES, from_biolink

    kinds = {name: kind_of(row["category"]) for name, row in nodes().items()}
    wrong = []
    for row in edges():
        subject, target = kinds.get(row["subject"]), kinds.get(row["object"])
        predicate = PREDICATES[from_biolink(row["predicate"]) or "RELATED_TO"]
        if subject not in predicate.subject or target not in predicate.object:
            wrong.append((row["file"], row["subject"], row["predicate"], row["object"]))
    assert wrong == []


def test_every_edge_says_its_source_origin_and_licence_as_its_folder_does() -> None:
    for folder in FOLDERS:
        source = yaml.safe_load((folder / "source.yaml").read_text(encoding="utf-8"))
        for row in (row for row in edges() if row["file"] == folder.name):
            assert row["primary_knowledge_source"] == source["infores"]
            assert row["origin"] == source["origin"]
            assert row["license"] == source["licence"]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_every_folder_has_a_licence_and_describes_its_source(folder: Path) -> None:
    source = yaml.safe_load((folder / "source.yaml").read_text(encoding="utf-8"))
    fields = ("infores", "name", "origin", "licence", "url", "version", "reliability", "text")
    assert [field for field in fields if not source.get(field)] == []
    assert source["infores"].startswith("infores:")
    assert 0 < source["reliability"] <= 1
    assert source["licence"] in (folder / "LICENSE").read_text(encoding="utf-8")


def test_a_drug_is_not_said_to_treat_what_it_must_not_be_given_in() -> None:
    said: dict[str, set[tuple[str, str, str]]] = defaultdict(set)
    for row in edges():
        predicate = "not " * (row["negated"] == "true") + row["predicate"]
        said[predicate].add((row["subject"], row["object"], row["route"]))
    treats = said["biolink:treats"] | said["biolink:preventative_for_condition"]
    assert treats & said["biolink:contraindicated_in"] == set()
    assert said["biolink:treats"] & said["not biolink:treats"] == set()


def test_routes_are_route_classes() -> None:
    from ehrkg.ehr.routes import ROUTES

    assert {part for row in edges() for part in row["route"].split("|") if part} <= set(ROUTES)


def test_a_drugs_route_is_part_of_what_it_treats() -> None:
    names = {row["name"]: name for name, row in nodes().items()}

    def routes(drug: str, condition: str) -> set[str]:
        return {
            part
            for row in edges()
            if (row["subject"], row["object"]) == (names[drug], names[condition])
            and row["predicate"] in ("biolink:treats", "biolink:preventative_for_condition")
            and row["negated"] == "false"
            for part in row["route"].split("|")
        }

    assert routes("vancomycin", "Clostridioides difficile colitis") == {"oral", "rectal"}
    assert "oral" not in routes("vancomycin", "bacteraemia")
    assert routes("timolol", "open-angle glaucoma") == {"ophthalmic"}
    assert routes("nystatin", "oral candidiasis") == {"oral"}


def test_the_hierarchy_has_no_circle() -> None:
    above: dict[str, set[str]] = defaultdict(set)
    for row in edges():
        if row["predicate"] == "biolink:subclass_of":
            above[row["subject"]].add(row["object"])
    state: dict[str, int] = {}
    for start in sorted(above):
        stack = [(start, iter(sorted(above[start])))]
        state.setdefault(start, 1)
        while stack:
            here, upward = stack[-1]
            upper = next(upward, None)
            if upper is None:
                state[here] = 2
                stack.pop()
            elif state.get(upper, 0) == 0:
                state[upper] = 1
                stack.append((upper, iter(sorted(above.get(upper, ())))))
            else:
                assert state[upper] == 2, f"a circle through {nodes()[upper]['name']}"


def test_every_drug_has_a_class() -> None:
    classed = {
        row["subject"]
        for row in edges()
        if row["predicate"] == "biolink:subclass_of" and row["object"].startswith("ATC:")
    }
    drugs = {name for name, row in nodes().items() if row["category"] == "biolink:Drug"}
    assert drugs - classed == set()


def test_every_mapped_code_is_in_its_code_system() -> None:
    import simple_icd_10_cm

    from ehrkg.ontology.code_tables import icd9_tree, titles

    nine, procedures = icd9_tree(), titles("ICD9PROC")
    starts = {code[:length] for code in titles("ICD10PCS") for length in range(3, 8)}
    starts9 = {code[:length] for code in procedures for length in range(2, 5)}
    wrong = []
    for target in sorted({row["object_id"] for row in mappings()}):
        system, _, code = target.partition(":")
        plain = code.replace(".", "")
        known = {
            "ICD10CM": lambda code=code: simple_icd_10_cm.is_valid_item(code),
            "ICD9CM": lambda plain=plain: plain in nine,
            "ICD9PROC": lambda plain=plain: plain in starts9,
            "ICD10PCS": lambda plain=plain: plain in starts,
        }.get(system, lambda: True)
        if not known():
            wrong.append(target)
    assert wrong == []
    assert {row["subject_id"] for row in mappings()} <= set(nodes())


def test_a_mapping_names_its_predicate_and_confidence() -> None:
    kinds = {"skos:exactMatch", "skos:closeMatch", "skos:narrowMatch", "skos:broadMatch"}
    assert {row["predicate_id"] for row in mappings()} <= kinds
    assert all(0 < float(row["confidence"]) <= 1 for row in mappings())


def test_drugbank_ids_name_what_drugbank_names_so(shared_data: Path) -> None:
    vocabulary = {
        f"DRUGBANK:{row['DrugBank ID']}": row["Common name"] + "|" + row["Synonyms"]
        for row in rows(shared_data / "drugbank-vocabulary" / "drugbank_vocabulary.csv", ",")
    }
    later: dict[str, str] = {}  # ids given after the vocabulary was made
    for row in rows(shared_data / "everycure" / "drugs.csv.gz", ","):
        for name in re.findall(r"DRUGBANK:DB\d{5}", row["alternate_ids"]):
            later.setdefault(name, row["curie_label"])
    drugs = [row for name, row in nodes().items() if name.startswith("DRUGBANK:")]
    assert len(drugs) > 260
    wrong = [
        (row["id"], row["name"])
        for row in drugs
        if not words(all_names(row)) & words(vocabulary.get(row["id"], later.get(row["id"], "")))
    ]
    assert wrong == []


def test_mondo_hp_and_maxo_ids_are_theirs(shared_data: Path) -> None:
    labels: dict[str, set[str]] = defaultdict(set)
    for path in sorted((shared_data / "mondo").glob("*.sssom.tsv")):
        for row in rows(path):
            labels[row["subject_id"]] |= words(row["subject_label"])
            labels[row["subject_id"]] |= words(row.get("object_label") or "")
    for row in rows(shared_data / "maxo" / "maxo_diagnostic_annotations.tsv"):
        labels[row["hpo_id"]] |= words(row["hpo_label"])
        labels[row["maxo_id"]] |= words(row["maxo_label"])
    for row in rows(shared_data / "maxo" / "maxo-annotations.tsv"):
        labels[row["maxo_id"].strip()] |= words(row["maxo_name"])
    for name in ("contraindications", "fda_indications"):
        for row in rows(shared_data / "everycure" / f"{name}.tsv"):
            labels[row["disease id nameres"]] |= words(row["disease label nameres"])
    own = [row for name, row in nodes().items() if name.startswith(("MONDO:", "HP:", "MAXO:"))]
    assert [row["id"] for row in own if row["id"] not in labels] == []
    strange = [
        (row["id"], row["name"]) for row in own if not words(all_names(row)) & labels[row["id"]]
    ]
    assert strange == []


FORBIDDEN = re.compile(r"pharmacotherapy|hetionet|rephetio|\bgold\b", re.IGNORECASE)


def test_nothing_comes_from_what_we_are_measured_by() -> None:
    for folder in FOLDERS:
        for path in sorted(folder.iterdir()):
            assert not FORBIDDEN.search(path.name)
        described = (folder / "source.yaml").read_text(encoding="utf-8")
        licence = (folder / "LICENSE").read_text(encoding="utf-8")
        assert not FORBIDDEN.search(described + licence)
    for row in edges():
        said = " ".join((row["primary_knowledge_source"], row["origin"], row["provenance"]))
        assert not FORBIDDEN.search(said), row


def test_no_derivation_reads_what_we_are_measured_by() -> None:
    package = ONTOLOGIES.parent / "ehrkg" / "ontology"
    for path in sorted(package.glob("derive*")):
        assert not FORBIDDEN.search(path.read_text(encoding="utf-8")), path.name


def test_no_open_table_is_shipped_as_it_is(shared_data: Path) -> None:
    def digest(path: Path) -> str:
        return hashlib.sha256(path.read_bytes()).hexdigest()

    shipped = [path for folder in FOLDERS for path in sorted(folder.iterdir())]
    sizes = {path.stat().st_size for path in shipped}
    theirs = {
        digest(path)
        for path in sorted(shared_data.rglob("*"))
        if path.is_file() and path.stat().st_size in sizes
    }
    assert [path.name for path in shipped if digest(path) in theirs] == []


def test_what_ships_is_small() -> None:
    total = sum(path.stat().st_size for path in ONTOLOGIES.rglob("*") if path.is_file())
    assert total < 12 * 2**20


def test_deriving_again_gives_the_same_bytes(shared_data: Path, tmp_path: Path) -> None:
    import shutil

    from ehrkg.ontology.derive import derive

    shutil.copytree(ONTOLOGIES / "core", tmp_path / "core")
    derive(shared_data, tmp_path)
    made = {
        path.relative_to(tmp_path): path.read_bytes()
        for path in sorted(tmp_path.rglob("*"))
        if path.is_file()
    }
    assert {
        path.relative_to(ONTOLOGIES): path.read_bytes()
        for path in sorted(ONTOLOGIES.rglob("*"))
        if path.is_file()
    } == made


CORE_NODES = """id\tcategory\tname\tdescription\tsynonym\txref\tprovided_by
DRUGBANK:DB00695\tbiolink:Drug\tfurosemide\tA loop diuretic.\tfrusemide|brand:Lasix\tUNII:7L\t
DRUGBANK:DB00512\tbiolink:Drug\tvancomycin\tA glycopeptide.\t\t\t
DRUGBANK:DB00373\tbiolink:Drug\ttimolol\tA beta blocker.\t\t\t
ATC:S01ED\tbiolink:ChemicalRole\tophthalmic beta blockers\tEye drops.\t\t\t
MONDO:0005009\tbiolink:Disease\theart failure\tA weak heart.\tcongestive heart failure\t\t
MONDO:0005155\tbiolink:Disease\tcirrhosis of liver\tA scarred liver.\thepatic cirrhosis\t\t
MONDO:0000705\tbiolink:Disease\tClostridioides difficile colitis\tA colitis.\t\t\t
MONDO:0005041\tbiolink:Disease\tglaucoma\tDamage of the optic nerve.\t\t\t
MONDO:0001106\tbiolink:Disease\tkidney failure\tLost kidney function.\t\t\t
HP:0000969\tbiolink:PhenotypicFeature\toedema\tSwelling.\tedema\t\t
"""
CORE_EDGES = """subject\tpredicate\tobject\tnegated\troute
DRUGBANK:DB00512\tbiolink:treats\tMONDO:0000705\tfalse\toral|rectal
DRUGBANK:DB00373\tbiolink:subclass_of\tATC:S01ED\tfalse\t
"""
SSSOM = "subject_id\tsubject_label\tpredicate_id\tobject_id\n"
LABEL = (
    "drug name\tindications text\tdisease name\tllm_nameres_correct\tllm_nameres_correct_drug\t"
    "final normalized disease id\tfinal normalized disease label\tfinal normalized drug id\t"
    "final normalized drug label\n"
)
BAR = (
    "active ingredient\tcontraindications\tdisease contraindicated\tllm_nameres_correct\t"
    "llm_nameres_correct_drug\tfinal normalized disease id\tfinal normalized disease label\t"
    "final normalized drug id\tfinal normalized drug label\tis_allergen\tis_diagnostic_agent\n"
)


def small_tables(folder: Path) -> None:
    """A few rows of every open table, in their layout."""
    text = "Indicated for the treatment of edema associated with heart failure, hepatic cirrhosis."
    frusemide = "CHEBI:1\tFrusemide"
    files = {
        "core/nodes.tsv": CORE_NODES,
        "core/edges.tsv": CORE_EDGES,
        "drugcentral/indications_2018-10-12.tsv": (
            "DRUG_ID\tDRUG_NAME\tINDICATION_FDB\tUMLS_CUI\tSNOMEDCT_CUI\tDOID\n"
            "1\tfurosemide\tCongestive heart failure\t\t\t\n"
            "2\tvancomycin hydrochloride\tClostridioides difficile colitis\t\t\t\n"
            "2\tvancomycin hydrochloride\tHeart failure\t\t\t\n"
            "3\ttimolol maleate\tGlaucoma\t\t\tDOID:1686\n"
            "4\tno such drug\tGlaucoma\t\t\t\n"
        ),
        "everycure/fda_indications.tsv": LABEL
        + f"{{'X'}}\t{text}\tedema\tTRUE\tTrue\tHP:0000969\tEdema\t{frusemide}\n"
        + f"{{'X'}}\t{text}\thepatic cirrhosis\tTRUE\tTrue\tMONDO:0005155\tcirrhosis\t{frusemide}\n"
        + f"{{'X; Y'}}\t{text}\tedema\tTRUE\tTrue\tHP:0000969\tEdema\t{frusemide}\n",
        "everycure/contraindications.tsv": BAR
        + "x\tAvoid in severe renal failure.\trenal failure\tTRUE\tTrue\tMONDO:0001106\t"
        + f"kidney failure\t{frusemide}\tFALSE\tFALSE\n"
        + "x\tGlaucoma.\tglaucoma\tTRUE\tTrue\tMONDO:0005041\t"
        + f"glaucoma\t{frusemide}\t TRUE \tFALSE\n"
        + "x\tGlaucoma.\tglaucoma\tTRUE\tTrue\tMONDO:0005041\t"
        + f"glaucoma\t{frusemide}\tFALSE \tFALSE\n",
        "drugbank-vocabulary/drugbank_vocabulary.csv": (
            "DrugBank ID,Common name,Synonyms\nDB00695,Furosemide,Frusemide | Furosemid\n"
        ),
        "mondo/mondo_exactmatch_icd10cm.sssom.tsv": SSSOM
        + "MONDO:0005009\tcongestive heart failure\tskos:exactMatch\tICD10CM:I50\n"
        + "MONDO:0005009\tcongestive heart failure\tskos:exactMatch\tICD10CM:I00-I99\n"
        + "MONDO:0005005\tclear cell carcinoma\tskos:exactMatch\tICD10CM:C64\n",
        "mondo/mondo_exactmatch_doid.sssom.tsv": SSSOM
        + "MONDO:0005041\tglaucoma\tskos:exactMatch\tDOID:1686\n",
        "mondo/edges_2023-08-01.tsv": (
            "x\tp\ty\nMONDO:0000705\trdfs:subClassOf\tMONDO:0000001\n"
            "MONDO:0000001\trdfs:subClassOf\tMONDO:0005041\n"
            "MONDO:0005041\trdfs:subClassOf\tMONDO:0000705\n"
        ),
        "maxo/maxo_diagnostic_annotations.tsv": "#\nhpo_id\thpo_label\tpredicate_id\tmaxo_id\n",
        "maxo/maxo-annotations.tsv": "disease_id\tsource_id\tmaxo_id\thpo_id\trelation\n",
    }
    for name in ("narrowmatch_icd10cm", "closematch_icd10cm", "hasdbxref_icd9", "exactmatch_mesh"):
        files[f"mondo/mondo_{name}.sssom.tsv"] = SSSOM
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")


def test_deriving_keeps_what_a_table_says_of_the_core_and_drops_the_rest(tmp_path: Path) -> None:
    from ehrkg.ontology.derive import derive

    small_tables(tmp_path)
    counts = derive(tmp_path, tmp_path)

    def said(folder: str) -> set[tuple[str, str, str, str]]:
        return {
            (row["subject"], row["predicate"].removeprefix("biolink:"), row["object"], row["route"])
            for row in rows(tmp_path / folder / "edges.tsv")
        }

    assert said("drugcentral") == {
        ("DRUGBANK:DB00695", "treats", "MONDO:0005009", ""),
        ("DRUGBANK:DB00512", "treats", "MONDO:0000705", "oral|rectal"),  # the core's routes
        ("DRUGBANK:DB00373", "treats", "MONDO:0005041", "ophthalmic"),  # the drug's class
    }
    assert counts["left out: route unknown"] == 1  # vancomycin for anything else
    assert said("everycure") == {
        ("DRUGBANK:DB00695", "treats", "HP:0000969", ""),
        ("DRUGBANK:DB00695", "contraindicated_in", "MONDO:0005041", ""),
    }
    assert counts["left out: named beside the indication"] == 1  # cirrhosis, a cause of oedema
    assert counts["left out: only at some severity"] == 1
    assert counts["left out: several ingredients"] == 1
    assert counts["left out: allergen or diagnostic agent"] == 1


def test_deriving_makes_no_circle_and_maps_only_codes_that_exist(tmp_path: Path) -> None:
    from ehrkg.ontology.derive import derive

    small_tables(tmp_path)
    derive(tmp_path, tmp_path)
    assert [(row["subject"], row["object"]) for row in rows(tmp_path / "mondo" / "edges.tsv")] == [
        ("MONDO:0000705", "MONDO:0005041")
    ]
    mapped = {row["object_id"] for row in rows(tmp_path / "mondo" / "mappings.sssom.tsv")}
    assert mapped == {"ICD10CM:I50", "DOID:1686"}


def test_deriving_says_which_table_is_missing(tmp_path: Path) -> None:
    from ehrkg.foundation.errors import InputError
    from ehrkg.ontology.derive import derive

    with pytest.raises(InputError, match=r"no such table[\s\S]*folder of open tables"):
        derive(tmp_path, tmp_path)


def test_every_concept_that_the_derivation_rules_name_is_in_the_core() -> None:
    from ehrkg.ontology.derive_core import rules

    names = {row["name"] for row in nodes().values()}
    named = set(rules()["too_broad"]) | set(rules()["refused"]) | set(rules()["wrong_synonyms"])
    for conditions in rules()["refused"].values():
        named |= set(conditions)
    for disease, parents in rules()["refused_parents"].items():
        named |= {disease, *parents}
    for rule in rules()["local_routes"]:
        named |= set(rule["names"]) | set(rule["ancestors"])
    assert sorted(named - names) == []


@pytest.mark.parametrize(
    ("kind", "genus"),
    [
        ("pulmonary hypertension", "hypertension"),
        ("gestational hypertension", "hypertension"),
        ("bronchiectasis", "chronic obstructive pulmonary disease"),
        ("scabies", "dermatitis"),
        ("priapism", "erectile dysfunction"),
        ("Clostridioides difficile colitis", "inflammatory bowel disease"),
        ("oesophageal candidiasis", "oesophagitis"),
        ("diabetic ketoacidosis", "diabetes mellitus"),
        ("post-traumatic stress disorder", "anxiety disorder"),
        ("tuberculous meningitis", "bacterial meningitis"),
        ("septic pulmonary embolism", "pulmonary embolism"),
    ],
)
def test_no_disease_stands_under_one_whose_treatment_it_does_not_share(
    kind: str, genus: str
) -> None:
    ids = {row["name"]: name for name, row in nodes().items()}
    above: dict[str, set[str]] = defaultdict(set)
    for row in edges():
        if row["predicate"] == "biolink:subclass_of":
            above[row["subject"]].add(row["object"])
    found, front = set(), [ids[kind]]
    while front:
        for upper in above[front.pop()] - found:
            found.add(upper)
            front.append(upper)
    assert ids[genus] not in found
