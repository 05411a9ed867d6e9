# ruff: noqa: E501 (rows of tables)
"""Reading knowledge: what a file says is there afterwards, and what is wrong is said with its line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from ehrkg import ontology
from ehrkg.foundation.errors import InputError, UsageError
from ehrkg.foundation.ledger import Ledger

NODES = """id\tcategory\tname\tdescription\tsynonym\txref\tprovided_by
DRUGBANK:DB00695\tbiolink:Drug\tfurosemide\tA loop diuretic.\tbrand:Lasix|frusemide|abbreviation:FUR\t\tinfores:x
MONDO:0005252\tbiolink:Disease\theart failure\tThe heart pumps too little.\tcardiac failure\tICD9:4280\tinfores:x
HP:0000969\tbiolink:PhenotypicFeature\toedema\t\t\t\t
"""
EDGES = """id\tsubject\tpredicate\tobject\tnegated\troute\tprimary_knowledge_source\torigin\tlicense\tprovenance
1\tDRUGBANK:DB00695\tbiolink:treats\tMONDO:0005252\tfalse\t\tinfores:x\tinfores:label\tCC0-1.0\tlabel 3
2\tDRUGBANK:DB00695\tbiolink:treats\tHP:0000969\tTrue\toral|intravenous\t\t\t\t
3\tDRUGBANK:DB00695\tbiolink:regulates\tHP:0000969\tfalse\t\tinfores:x\t\t\t
4\tDRUGBANK:DB00695\tbiolink:treats\tMONDO:0000001\tfalse\t\tinfores:x\t\t\t
1\tDRUGBANK:DB00695\tbiolink:treats\tMONDO:0005252\tfalse\t\tinfores:x\tinfores:label\tCC0-1.0\tlabel 3
"""
SSSOM = """# mapping_set_id: test
subject_id\tsubject_label\tpredicate_id\tpredicate_modifier\tobject_id\tmapping_justification\tconfidence
MONDO:0005252\theart failure\tskos:exactMatch\t\tICD10CM:I50\tsemapv:X\t0.9
MONDO:0005252\theart failure\tskos:exactMatch\tNot\tICD10CM:I51\tsemapv:X\t
MONDO:0005252\theart failure\toboInOwl:hasDbXref\t\tICD9:4280\tsemapv:X\t
ICD10CM:I50.9\t\tskos:broadMatch\t\tMONDO:0005252\tsemapv:X\t
MONDO:0005252\theart failure\tskos:relatedMatch\t\tICD10CM:I52\tsemapv:X\t
"""
OBO = """format-version: 1.2

[Term]
id: DOID:1
name: gout
def: "Painful \\"crystal\\" arthritis." [ISBN:1]
synonym: "podagra" EXACT []
synonym: "GT" EXACT ABBREVIATION []
synonym: "joint trouble" BROAD []
xref: ICD9CM:274.9
alt_id: DOID:9
is_a: DOID:2 ! arthritis

[Term]
id: DOID:2
name: arthritis
relationship: has_symptom HP:0002829 ! joint pain

[Term]
id: DOID:3
name: old gout
is_obsolete: true
replaced_by: DOID:1

[Typedef]
id: has_symptom
name: has symptom
"""


def kgx(folder: Path, nodes: str = NODES, edges: str = EDGES) -> Path:
    (folder / "nodes.tsv").write_text(nodes, encoding="utf-8")
    (folder / "edges.tsv").write_text(edges, encoding="utf-8")
    return folder


def test_a_kgx_folder_gives_concepts_scoped_synonyms_and_edges(tmp_path: Path) -> None:
    ledger = Ledger()
    known = ontology.load(kgx(tmp_path), ledger=ledger)
    kinds = {row["id"]: row["kind"] for row in known.concepts.to_pylist()}
    assert kinds == {
        "DRUGBANK:DB00695": "drug",
        "HP:0000969": "finding",
        "MONDO:0005252": "disease",
    }
    scopes = {(r["text"], r["scope"]) for r in known.synonyms.to_pylist()}
    assert scopes == {
        ("Lasix", "brand"),
        ("frusemide", "exact"),
        ("FUR", "abbreviation"),
        ("cardiac failure", "exact"),
    }
    edges = {(r["predicate"], r["object"]): r for r in known.edges.to_pylist()}
    assert edges["TREATS", "MONDO:0005252"]["origin"] == "infores:label"
    assert edges["TREATS", "HP:0000969"]["negated"]
    assert edges["TREATS", "HP:0000969"]["route"] == "intravenous|oral"
    assert edges["RELATED_TO", "HP:0000969"]["original_predicate"] == "biolink:regulates"
    assert edges["TREATS", "HP:0000969"]["original_predicate"] == ""
    mapping = known.mappings.to_pylist()[0]
    assert (mapping["predicate"], mapping["object"]) == ("skos:closeMatch", "ICD9CM:428.0")


def test_a_word_that_turns_or_denies_is_read_as_it_is_meant(tmp_path: Path) -> None:
    header = EDGES.splitlines()[0] + "\n"
    rest = "\tinfores:x\t\t\t\n"
    rows = (
        f"1\tMONDO:0005252\tbiolink:treated_by\tDRUGBANK:DB00695\tfalse\t{rest}"
        f"2\tDRUGBANK:DB00695\tNEG_TREATS\tHP:0000969\tfalse\t{rest}"
        f"3\tDRUGBANK:DB00695\tNEG_CAUSES\tHP:0000969\ttrue\t{rest}"
    )
    known = ontology.load(kgx(tmp_path, edges=header + rows))
    edges = {(r["subject"], r["predicate"], r["object"]): r for r in known.edges.to_pylist()}
    assert not edges["DRUGBANK:DB00695", "TREATS", "MONDO:0005252"]["negated"]
    assert edges["DRUGBANK:DB00695", "TREATS", "HP:0000969"]["negated"]
    assert not edges["DRUGBANK:DB00695", "CAUSES", "HP:0000969"]["negated"]


def test_an_edge_to_an_absent_node_is_counted_and_kept_apart(tmp_path: Path) -> None:
    ledger = Ledger()
    known = ontology.load(kgx(tmp_path), ledger=ledger)
    assert known.edges.num_rows == 3
    assert ledger.dropped("know", "edges") == {"absent_node": 1, "duplicate": 1}
    assert ledger.quarantine["know-edges"]["absent"].to_pylist() == ["MONDO:0000001"]


def test_an_id_with_two_names_keeps_one_and_is_counted(tmp_path: Path) -> None:
    ledger = Ledger()
    more = NODES + "HP:0000969\tbiolink:PhenotypicFeature\tswelling\t\t\t\t\n"
    known = ontology.load(kgx(tmp_path, nodes=more), ledger=ledger)
    assert known.concepts["id"].to_pylist().count("HP:0000969") == 1
    assert {"oedema", "swelling"} <= {
        *known.concepts["name"].to_pylist(),
        *known.synonyms["text"].to_pylist(),
    }
    assert ledger.dropped("know", "nodes") == {"name_conflict": 1}


def test_loading_twice_or_in_another_order_changes_nothing(tmp_path: Path) -> None:
    first = ontology.load(kgx(tmp_path))
    lines = EDGES.splitlines(keepends=True)
    again = ontology.load(kgx(tmp_path, edges=lines[0] + "".join(reversed(lines[1:]))))
    assert first == again == ontology.merge(first, again)


def test_windows_line_ends_and_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    plain = ontology.load(kgx(tmp_path))
    windows = "\ufeff" + NODES.replace("\n", "\r\n")
    assert ontology.load(kgx(tmp_path, nodes=windows)).concepts == plain.concepts


def test_gzip_is_known_by_its_content(tmp_path: Path) -> None:
    plain = ontology.load(kgx(tmp_path))
    (tmp_path / "nodes.tsv").unlink()
    (tmp_path / "nodes.tsv.gz").write_bytes(gzip.compress(NODES.encode()))
    assert ontology.load(tmp_path) == plain


def test_a_truncated_gzip_is_refused(tmp_path: Path) -> None:
    kgx(tmp_path)
    whole = gzip.compress((NODES + NODES[len("id\tcategory") :] * 200).encode())
    (tmp_path / "nodes.tsv").unlink()
    (tmp_path / "nodes.tsv.gz").write_bytes(whole[: len(whole) - 20])
    with pytest.raises(InputError, match=r"nodes\.tsv\.gz.*ends too early"):
        ontology.load(tmp_path)


def test_a_wrong_number_of_columns_is_named_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"(?s)nodes\.tsv, line 5.*found: 2.*expected: 7"):
        ontology.load(kgx(tmp_path, nodes=NODES + "X:1\tbiolink:Disease\n"))


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    (tmp_path / "edges.tsv").write_text("subject\tobject\nA:1\tB:1\n")
    with pytest.raises(InputError, match="predicate"):
        ontology.load(tmp_path)


def test_bytes_that_are_no_utf8_are_named_with_their_line(tmp_path: Path) -> None:
    kgx(tmp_path)
    (tmp_path / "nodes.tsv").write_bytes(
        NODES.encode() + "X:1\tY\tMénière\t\t\t\t\n".encode("latin-1")
    )
    with pytest.raises(InputError, match="line 5: not UTF-8"):
        ontology.load(tmp_path)


def test_unknown_formats_and_paths_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello")
    with pytest.raises(InputError, match="format"):
        ontology.load(tmp_path / "a.txt")
    with pytest.raises(InputError, match="no such"):
        ontology.load(tmp_path / "b.txt")
    with pytest.raises(UsageError, match="kgx"):
        ontology.load(tmp_path / "a.txt", format="xls")


def test_sssom_keeps_matches_and_turns_codes_round(tmp_path: Path) -> None:
    path = tmp_path / "m.sssom.tsv"
    path.write_text(SSSOM)
    ledger = Ledger()
    known = ontology.load(path, ledger=ledger)
    rows = {(r["predicate"], r["object"], r["confidence"]) for r in known.mappings.to_pylist()}
    assert rows == {
        ("skos:exactMatch", "ICD10CM:I50", 0.9),
        ("skos:closeMatch", "ICD9CM:428.0", 0.6),
        ("skos:narrowMatch", "ICD10CM:I50.9", 0.9),
    }
    assert ledger.dropped("know", "mappings") == {"negated": 1, "no_match_predicate": 1}
    assert known.concepts["name"].to_pylist() == ["heart failure"]


def test_what_a_row_denies_is_no_mapping(tmp_path: Path) -> None:
    path = tmp_path / "m.sssom.tsv"
    denied = "ICD10CM:I50\t\tskos:exactMatch\tNot\tMONDO:0005252\tsemapv:X\t\n"
    path.write_text(SSSOM + denied)
    ledger = Ledger()
    known = ontology.load(path, ledger=ledger)
    assert "ICD10CM:I50" not in known.mappings["object"].to_pylist()
    assert ledger.dropped("know", "mappings")["denied"] == 1


def test_a_confidence_that_is_none_is_named(tmp_path: Path) -> None:
    path = tmp_path / "m.sssom.tsv"
    path.write_text(SSSOM.replace("0.9", "high"))
    with pytest.raises(InputError, match="line 3, column confidence"):
        ontology.load(path)


def test_obo_terms_with_scopes_obsoletes_and_relationships(tmp_path: Path) -> None:
    path = tmp_path / "d.obo"
    path.write_text(OBO)
    ledger = Ledger()
    known = ontology.load(path, ledger=ledger)
    concepts = {r["id"]: r for r in known.concepts.to_pylist()}
    assert set(concepts) == {"DOID:1", "DOID:2"}
    assert concepts["DOID:1"]["definition"] == 'Painful "crystal" arthritis.'
    scopes = {(r["text"], r["scope"]) for r in known.synonyms.to_pylist()}
    assert scopes == {("podagra", "exact"), ("GT", "abbreviation"), ("joint trouble", "related")}
    assert known.edges["predicate"].to_pylist() == ["SUBCLASS_OF"]
    matches = {(r["predicate"], r["object"]) for r in known.mappings.to_pylist()}
    assert matches == {
        ("skos:closeMatch", "ICD9CM:274.9"),
        ("skos:exactMatch", "DOID:9"),
        ("skos:exactMatch", "DOID:3"),
    }
    assert ledger.dropped("know") == {"absent_node": 1, "obsolete": 1}


def test_an_obo_line_that_is_broken_is_named(tmp_path: Path) -> None:
    path = tmp_path / "d.obo"
    path.write_text(OBO.replace('synonym: "podagra"', "synonym: podagra"))
    with pytest.raises(InputError, match="line 7"):
        ontology.load(path)


def test_real_mondo_mappings_load(shared_data: Path) -> None:
    known = ontology.load(shared_data / "mondo" / "mondo_exactmatch_icd10cm.sssom.tsv")
    assert known.mappings.num_rows == 2038
    assert known.mappings["object"].to_pylist().count("ICD10CM:I50") <= 2
