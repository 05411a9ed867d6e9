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
    """The core's, which were written by hand."""
    return {row["id"]: row for row in rows(ONTOLOGIES / "core" / "nodes.tsv")}


@cache
def derived() -> list[Row]:
    """Rows of the other folders; one without a name only adds synonyms."""
    paths = [path for path in tables("nodes") if path.parent.name != "core"]
    return [row | {"file": path.parent.name} for path in paths for row in rows(path)]


@cache
def every_node() -> dict[str, Row]:
    named = {row["id"]: row for row in derived() if row["name"]}
    return named | nodes()


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
    assert [name for name in every_node() if not CURIE.match(name)] == []
    counts = Counter(row["id"] for row in rows(ONTOLOGIES / "core" / "nodes.tsv"))
    assert [name for name, number in counts.items() if number > 1] == []
    counts = Counter(row["id"] for row in edges())
    assert [name for name, number in counts.items() if number > 1] == []
    assert [row["id"] for row in edges() if not re.fullmatch(r"e[0-9a-f]{16}", row["id"])] == []


def test_every_derived_node_has_a_name_somewhere_and_stands_once_a_folder() -> None:
    assert [row["id"] for row in derived() if row["id"] not in every_node()] == []
    counts = Counter((row["file"], row["id"]) for row in derived())
    assert [place for place, number in counts.items() if number > 1] == []


def test_names_and_synonyms_are_short_and_clean() -> None:
    """A name is a name: no sentence, no cell of several, nothing that a table left over."""
    for row in derived():
        texts = [row["name"], *row["synonym"].split("|")]
        for text in filter(None, texts):
            assert text == text.strip(), row
            assert len(text) <= 250, row
            assert not re.search(r"[\t\r\n]|^\{'|'\}$|^\['|^nan$|\(TN\)", text), row


def test_a_derived_concept_is_of_the_kind_that_its_id_says() -> None:
    from ehrkg.ontology.categories import kind_of, kind_of_curie

    wrong = [
        row
        for row in derived()
        if kind_of(row["category"]) != kind_of_curie(row["id"]) and row["id"] not in nodes()
    ]
    assert wrong == []


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

    kinds = {name: kind_of(row["category"]) for name, row in every_node().items()}
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
                assert state[upper] == 2, f"a circle through {every_node()[upper]['name']}"


def test_a_plain_install_says_what_enough_drugs_treat_and_must_not_be_given_in() -> None:
    """Distinct pairs, under one id a drug, a disease and a finding."""
    said: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for row in edges():
        if row["negated"] == "false":
            said[row["predicate"]].add((row["subject"], row["object"]))
    assert len(said["biolink:treats"]) >= 12_000
    assert len(said["biolink:contraindicated_in"]) >= 2_500


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
    assert {row["subject_id"] for row in mappings()} <= every_node().keys()


REFERENCE = {
    "ATC": r"[A-Z]\d\d[A-Z]{2}\d\d",
    "CAS": r"\d{2,7}-\d\d-\d",
    "CHEBI": r"\d+",
    "DOID": r"\d+",
    "DRUGCENTRAL": r"\d+",
    "HP": r"\d{7}",
    "ICD10CM": r"[A-Z][0-9A-Z]{2}(\.[0-9A-Z]{1,4})?",
    "ICD10PCS": r"[0-9A-Z]{1,7}",
    "ICD9CM": r"[EV0-9]\d\d\d?(\.\d{1,2})?",
    "ICD9PROC": r"\d\d(\.\d{1,2})?",
    "MESH": r"[CD]\d{6,9}",
    "RXCUI": r"\d+",
    "SNOMEDCT": r"\d{6,18}",
    "UMLS": r"C[NX]?\d{6,7}",
    "UNII": r"[0-9A-Z]{10}",
}


def test_every_reference_is_of_its_vocabularys_form() -> None:
    wrong = set()
    for row in mappings():
        prefix, _, local = row["object_id"].partition(":")
        if not re.fullmatch(REFERENCE.get(prefix, "-"), local):
            wrong.add(row["object_id"])
    assert sorted(wrong) == []


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
    files = [path for path in sorted((package / "derive").rglob("*")) if path.suffix != ".pyc"]
    files = [path for path in files if path.is_file()]
    assert len(files) > 8
    for path in files:
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
    """Of what is packed, the content is compared: another zlib may pack it otherwise."""
    import shutil

    from ehrkg.ontology.derive import derive

    def content(folder: Path) -> dict[str, bytes]:
        return {
            str(path.relative_to(folder)): gzip.decompress(path.read_bytes())
            if path.suffix == ".gz"
            else path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }

    shutil.copytree(ONTOLOGIES / "core", tmp_path / "core")
    derive(shared_data, tmp_path)
    shipped, made = content(ONTOLOGIES), content(tmp_path)
    assert made.keys() == shipped.keys()
    assert [name for name in made if made[name] != shipped[name]] == []


def test_packed_files_carry_no_time_and_no_name() -> None:
    for path in sorted(ONTOLOGIES.rglob("*.gz")):
        head = path.read_bytes()[:10]
        assert head[3:8] == bytes(5), path.name  # no flags, no modification time


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
            "5\todd spelling\tSevere heart failure\t\t\t\n"
            "1\tfurosemide\tEye pressure of another name\t\t23986001\t\n"
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
        "everycure/drugs.csv": (
            "curie,curie_label,is_combination_therapy,alternate_ids,atc_codes\n"
            "CHEBI:1,Frusemide,FALSE,\"['CHEBI:1', 'DRUGBANK:DB00695']\",['C03CA01']\n"
            "UNII:9,Newolone,FALSE,\"['UNII:9', 'DRUGBANK:DB99999']\",['S01ED09']\n"
        ),
        "drugcentral/drugcentral.obo": (
            "format-version: 1.2\n\n[Term]\nid: drugcentral:1\nname: furosemide\n\n"
            "[Term]\nid: drugcentral:5\nname: odd spelling\nxref: cas:54-31-9\n"
        ),
        "drugbank-vocabulary/drugbank_vocabulary.csv": (
            "DrugBank ID,Common name,CAS,UNII,Synonyms,Standard InChI Key\n"
            "DB00695,Furosemide,54-31-9,7LXU5N7ZO5,Frusemide | Furosemid,\n"
        ),
        "hdo/allXREFinDO.tsv": (
            '"id"\t"label"\t"xref"\n"DOID:1686"\t"glaucoma"\t"SNOMEDCT_US_2025_09_01:23986001"\n'
        ),
        "hdo/doid-simple_2016-09-01.obo": (
            "format-version: 1.2\n\n[Term]\nid: DOID:1686\nname: glaucoma\n"
            'synonym: "raised eye pressure" EXACT []\n'
        ),
        "pharmgkb/pharmgkb.drug.tsv": "identifier\tname\nPA1\tfurosemide\n",
        "pharmgkb/pharmgkb.drug.sssom.tsv": (
            "subject_id\tobject_id\npharmgkb.drug:PA1\trxnorm:4603\n"
        ),
        "openfda-ndc/openfda_single.csv": (
            "brand_name,generic_name,substance_name,unii\n"
            "LASIX,FUROSEMIDE,['FUROSEMIDE'],['7LXU5N7ZO5']\n"
            "FUROSEMIDE TABLETS,FUROSEMIDE,['FUROSEMIDE'],['7LXU5N7ZO5']\n"
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
        "maxo/maxo-annotations.tsv": (
            "disease_id\tsource_id\tmaxo_id\tmaxo_name\thpo_id\trelation\n"
        ),
    }
    for name in ("narrowmatch_icd10cm", "closematch_icd10cm", "hasdbxref_icd9", "exactmatch_mesh"):
        files[f"mondo/mondo_{name}.sssom.tsv"] = SSSOM
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if name == "everycure/drugs.csv":
            (folder / f"{name}.gz").write_bytes(gzip.compress(content.encode()))
        (folder / name).write_text(content, encoding="utf-8")


def said(folder: Path) -> set[tuple[str, str, str, str]]:
    return {
        (row["subject"], row["predicate"].removeprefix("biolink:"), row["object"], row["route"])
        for row in rows(folder / "edges.tsv.gz")
    }


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from ehrkg.ontology.derive import derive

    folder = tmp_path_factory.mktemp("small")
    small_tables(folder)
    derived = derive(folder, folder)
    left = "\n".join(f"{reason}\t{number}" for (_, reason), number in derived.left.items())
    (folder / "left.txt").write_text(left, encoding="utf-8")
    return folder


def test_deriving_keeps_what_a_table_says_and_drops_the_rest(small: Path) -> None:
    furosemide, vancomycin, timolol = (f"DRUGBANK:DB00{n}" for n in ("695", "512", "373"))
    assert said(small / "drugcentral") == {
        (furosemide, "treats", "MONDO:0005009", ""),
        (furosemide, "treats", "MONDO:0005041", ""),  # by its SNOMED CT code, through DO
        (vancomycin, "treats", "MONDO:0000705", "oral|rectal"),  # the core's routes
        (timolol, "treats", "MONDO:0005041", "ophthalmic"),  # the drug's class
    }
    assert said(small / "everycure") == {
        (furosemide, "treats", "HP:0000969", ""),
        ("DRUGBANK:DB99999", "subclass_of", "ATC:S01ED", ""),
    }
    left = dict(line.split("\t") for line in (small / "left.txt").read_text().splitlines())
    assert left["route unknown"] == "1"  # vancomycin for anything else
    assert left["named beside the indication"] == "1"  # cirrhosis, a cause of oedema
    assert left["several ingredients"] == "1"
    assert left["allergen or diagnostic agent"] == "1"
    assert left["an indication elsewhere"] == "1"  # glaucoma, which DrugCentral lists


def test_deriving_sets_apart_what_is_said_with_reserve(small: Path) -> None:
    severe = ("DRUGBANK:DB00695", "contraindicated_in", "MONDO:0001106", "")
    assert said(small / "everycure-doubtful") == {severe}


def test_deriving_knows_a_drug_by_its_number_and_gives_it_its_names(small: Path) -> None:
    names = {row["id"]: row for row in rows(small / "drugbank" / "nodes.tsv.gz")}
    assert "Furosemid" in names["DRUGBANK:DB00695"]["synonym"]
    brands = {row["id"]: row["synonym"] for row in rows(small / "openfda" / "nodes.tsv.gz")}
    assert brands == {}  # Lasix is the core's already; the other name only repeats the drug's
    equal = {row["object_id"] for row in rows(small / "pharmgkb" / "mappings.sssom.tsv.gz")}
    assert equal == {"RXCUI:4603"}


def test_deriving_makes_no_circle_and_maps_only_codes_that_exist(small: Path) -> None:
    assert said(small / "mondo") == {("MONDO:0000705", "subclass_of", "MONDO:0005041", "")}
    mapped = {row["object_id"] for row in rows(small / "mondo" / "mappings.sssom.tsv.gz")}
    assert mapped == {"ICD10CM:I50", "ICD10CM:C64", "DOID:1686"}  # no block of codes
    carried = {row["object_id"] for row in rows(small / "doid" / "mappings.sssom.tsv.gz")}
    assert carried == {"SNOMEDCT:23986001"}


def test_deriving_says_which_table_is_missing(tmp_path: Path) -> None:
    from ehrkg.foundation.errors import InputError
    from ehrkg.ontology.derive import derive

    with pytest.raises(InputError, match=r"no such table[\s\S]*folder of open tables"):
        derive(tmp_path, tmp_path)


def test_every_concept_that_the_derivation_rules_name_is_in_the_core() -> None:
    from ehrkg.ontology.derive.reading import rules

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
