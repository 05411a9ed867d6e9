"""Declared tables: what the YAML says is what is read, and what is wrong is said with its place."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from ehrkg import ontology
from ehrkg.foundation.errors import InputError, UsageError
from ehrkg.foundation.ledger import Ledger
from ehrkg.ontology.sources import reliability

HEAD = """name: own
source: {infores: "infores:own", name: Own, origin: labels, licence: CC0-1.0, reliability: 0.9}
"""
TABLES = """tables:
  - files: "own*"
    drop:
      - {column: status, equals: [Withdrawn], reason: withdrawn}
    concepts:
      - id: {column: drug, prefix: RXCUI}
        name: name
        kind: {text: drug}
        synonyms:
          - {column: brands, several: "|", scope: brand}
        mappings:
          - {object: {column: others, several: python}}
      - {id: {column: disease, prefix: MESH}, kind: {text: disease}}
    edges:
      - subject: {column: drug, prefix: RXCUI}
        predicate: status
        object: {column: disease, prefix: MESH}
        negated: {column: status, values: {failed: "yes"}, otherwise: ""}
        provenance: note
predicates: {approved: TREATS, failed: TREATS}
"""
COLUMNS = ("drug", "name", "brands", "others", "disease", "status", "note")
OTHERS = "['UNII:R16CO5Y76E', 'MSH:D001241']"
ROWS = [
    ("1191", "aspirin", "Bayer|Ecotrin", OTHERS, "D005334", "approved", "p. 3"),
    ("1191", "aspirin", "", "[]", "D006073", "failed", ""),
    ("1191", "aspirin", "", "[]", "D006973", "withdrawn ", ""),
    ("2683", "colchicine", "", "", "D006073", "under study", ""),
    ("2683", "colchicine", "", "", "", "approved", ""),
]  # fmt: skip


def tsv(rows: list[tuple[str, ...]] = ROWS) -> str:
    return "".join("\t".join(row) + "\n" for row in [COLUMNS, *rows])


def declared(folder: Path, text: str = HEAD + TABLES) -> Path:
    path = folder / "own.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def edges(known: Any) -> set[tuple[str, str, str, bool, str]]:
    return {
        (e["subject"], e["predicate"], e["object"], e["negated"], e["original_predicate"])
        for e in known.edges.to_pylist()
    }


WANTED = {
    ("RXCUI:1191", "TREATS", "MESH:D005334", False, ""),
    ("RXCUI:1191", "TREATS", "MESH:D006073", True, ""),
    ("RXCUI:2683", "RELATED_TO", "MESH:D006073", False, "under study"),
}


def test_a_row_becomes_what_the_declaration_says(tmp_path: Path) -> None:
    declared(tmp_path)
    (tmp_path / "own.tsv").write_text(tsv())
    ledger = Ledger()
    known = ontology.load(tmp_path / "own.tsv", ledger=ledger)
    assert edges(known) == WANTED
    first = next(e for e in known.edges.to_pylist() if e["object"] == "MESH:D005334")
    assert (first["source"], first["origin"], first["licence"], first["provenance"]) == (
        "infores:own",
        "labels",
        "CC0-1.0",
        "p. 3",
    )
    assert {(s["text"], s["scope"]) for s in known.synonyms.to_pylist()} == {
        ("Bayer", "brand"),
        ("Ecotrin", "brand"),
    }
    assert {m["object"] for m in known.mappings.to_pylist()} == {"UNII:R16CO5Y76E", "MESH:D001241"}
    assert ledger.dropped("know", "edges") == {"no_object": 1, "withdrawn": 1}
    assert sorted(ledger.quarantine["know-own"]["reason"].to_pylist()) == ["no_object", "withdrawn"]
    assert reliability("infores:own") == 0.9


def test_the_order_of_rows_decides_nothing(tmp_path: Path) -> None:
    declared(tmp_path)
    (tmp_path / "own.tsv").write_text(tsv())
    first = ontology.load(tmp_path / "own.tsv")
    (tmp_path / "own.tsv").write_text(tsv(ROWS[::-1]))
    assert ontology.load(tmp_path / "own.tsv") == first


def _csv(folder: Path) -> Path:
    path = folder / "own.csv"
    quoted = [",".join(f'"{cell}"' for cell in row) + "\r\n" for row in [COLUMNS, *ROWS]]
    path.write_text("\ufeff# made by hand\r\n" + "".join(quoted), encoding="utf-8", newline="")
    return path


def _gzip(folder: Path) -> Path:
    path = folder / "own.tsv.gz"
    path.write_bytes(gzip.compress(tsv().encode()))
    return path


def _jsonl(folder: Path) -> Path:
    path = folder / "own.jsonl"
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in ROWS]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def _json(folder: Path) -> Path:
    path = folder / "own.json"
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in ROWS]
    path.write_text(json.dumps(rows))
    return path


def _zip(folder: Path) -> Path:
    path = folder / "tables.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a/own.tsv", tsv())
        archive.writestr("a/README.md", "words")
    return path


def _tar(folder: Path, name: str = "a/own.tsv") -> Path:
    path = folder / "tables.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        info = tarfile.TarInfo(name)
        info.size = len(tsv().encode())
        archive.addfile(info, io.BytesIO(tsv().encode()))
    return path


@pytest.mark.parametrize("write", [_csv, _gzip, _jsonl, _json, _zip, _tar])
def test_the_same_rows_are_read_from_any_kind_of_file(tmp_path: Path, write: Any) -> None:
    own = declared(tmp_path)
    assert edges(ontology.load(write(tmp_path), format=str(own))) == WANTED


def test_a_declaration_is_found_beside_its_tables_and_read_by_itself(tmp_path: Path) -> None:
    own = declared(tmp_path)
    (tmp_path / "own.tsv").write_text(tsv())
    assert edges(ontology.load(own)) == WANTED
    own.rename(tmp_path / "declaration.yaml")
    assert edges(ontology.load(tmp_path)) == WANTED


def test_a_yaml_of_another_kind_beside_a_file_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("settings: {a: b}\n")
    (tmp_path / "own.sssom.tsv").write_text(
        "subject_id\tpredicate_id\tobject_id\nMONDO:0005393\tskos:exactMatch\tICD10CM:M10\n"
    )
    assert ontology.load(tmp_path / "own.sssom.tsv").mappings.num_rows == 1


def test_another_declaration_stands_on_it_and_leaves_out(tmp_path: Path) -> None:
    declared(tmp_path)
    (tmp_path / "own.tsv").write_text(tsv())
    more = tmp_path / "less.yaml"
    more.write_text("extends: own.yaml\nname: less\nwithout: [failed, RELATED_TO]\n")
    ledger = Ledger()
    known = ontology.load(tmp_path / "own.tsv", format=str(more), ledger=ledger)
    assert {e[2] for e in edges(known)} == {"MESH:D005334"}
    assert ledger.dropped("know", "edges")["left_out"] == 2
    more.write_text("extends: own.yaml\nname: less\nwithout: labels\n")  # an origin
    assert ontology.load(tmp_path / "own.tsv", format=str(more)).edges.num_rows == 0


def test_lookups_resolve_by_another_column_or_are_counted(tmp_path: Path) -> None:
    text = (
        HEAD
        + """tables:
  - files: "*.tsv"
    concepts: {id: id, name: label}
    edges:
      subject: id
      predicate: {text: is_a}
      object: {column: parent, lookup: {key: label, value: id}}
"""
    )
    own = declared(tmp_path, text)
    rows = ["id\tlabel\tparent", "X:1\tgout\tarthritis", "X:2\tarthritis\tdisease"]
    (tmp_path / "t.tsv").write_text("\n".join([*rows, "X:3\tjoint\t", "X:4\tjoint\tjoint"]))
    ledger = Ledger()
    known = ontology.load(tmp_path / "t.tsv", format=str(own), ledger=ledger)
    assert edges(known) == {("X:1", "SUBCLASS_OF", "X:2", False, "")}
    assert ledger.dropped("know", "edges") == {"unresolved": 3}  # "joint" stands beside two ids


def test_symmetric_and_turned_rows_fold_into_one_direction(tmp_path: Path) -> None:
    text = (
        HEAD
        + """tables:
  - files: "*.tsv"
    edges:
      subject: a
      predicate: what
      object: b
      turned: {column: kind, equals: back}
      symmetric: {column: what, equals: resembles}
      bare_ends: true
"""
    )
    own = declared(tmp_path, text)
    rows = ["a\tb\twhat\tkind", "X:1\tX:2\ttreats\t", "X:2\tX:1\ttreats\tback"]
    rows += ["X:4\tX:3\tresembles\t", "X:3\tX:4\tresembles\t"]
    (tmp_path / "t.tsv").write_text("\n".join(rows))
    ledger = Ledger()
    known = ontology.load(tmp_path / "t.tsv", format=str(own), ledger=ledger)
    assert edges(known) == {
        ("X:1", "TREATS", "X:2", False, ""),
        ("X:3", "RELATED_TO", "X:4", False, "resembles"),
    }
    assert ledger.dropped("know", "edges") == {"duplicate": 2}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- a\n- b\n", "no declaration"),
        ("name: [\n", r"own\.yaml, line"),
        (HEAD, "tables"),
        (HEAD.replace("name: own", "name: Own Name") + TABLES, "name"),
        (HEAD + TABLES.replace("provenance: note", "provenence: note"), "provenence"),
        (HEAD + TABLES.replace("column: drug, prefix", "colum: drug, prefix"), "colum"),
        (HEAD + TABLES.replace("reason: withdrawn", "because: x"), "reason"),
        (HEAD + TABLES.replace("reason: withdrawn", "reason: Not A Word"), "pattern"),
        (HEAD.replace("0.9", "high") + TABLES, "reliability"),
        (HEAD + TABLES.replace("approved: TREATS", "approved: HEALS"), "no such predicate"),
        ("extends: nothing\n" + HEAD + TABLES, "extends"),
        ("name: x\n" + TABLES, "no fields"),
    ],
)
def test_a_mistake_in_a_declaration_is_named(tmp_path: Path, text: str, said: str) -> None:
    own = declared(tmp_path, text)
    (tmp_path / "own.tsv").write_text(tsv())
    with pytest.raises(InputError, match=f"(?s){said}"):
        ontology.load(tmp_path / "own.tsv", format=str(own))


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (tsv() + "a\tb\n", r"own\.tsv, line 7: wrong number.*found: 2.*expected: 7"),
        (tsv().replace("\tstatus\t", "\tstate\t"), "lacks the column status"),
        ("", "column"),
        (tsv() + "1\tM\xe9ni\xe8re\t\t\t\tapproved\t\n", r"own\.tsv, line 7: not utf-8"),
    ],
)
def test_what_is_wrong_in_a_table_is_named_with_its_line(
    tmp_path: Path, broken: str, said: str
) -> None:
    own = declared(tmp_path)
    (tmp_path / "own.tsv").write_bytes(broken.encode("latin-1"))
    with pytest.raises(InputError, match=f"(?s){said}"):
        ontology.load(tmp_path / "own.tsv", format=str(own))


def test_another_encoding_may_be_said(tmp_path: Path) -> None:
    own = declared(
        tmp_path, HEAD + TABLES.replace('files: "own*"', 'files: "own*"\n    encoding: latin-1')
    )
    (tmp_path / "own.tsv").write_bytes(
        tsv([("1", "Ménière", "", "", "", "", "")]).encode("latin-1")
    )
    known = ontology.load(tmp_path / "own.tsv", format=str(own))
    assert "Ménière" in known.concepts["name"].to_pylist()


def test_broken_archives_and_paths_that_climb_out_are_refused(tmp_path: Path) -> None:
    own = declared(tmp_path)
    packed = gzip.compress(tsv(ROWS * 500).encode())
    (tmp_path / "own.tsv.gz").write_bytes(packed[:-20])
    with pytest.raises(InputError, match="too early"):
        ontology.load(tmp_path / "own.tsv.gz", format=str(own))
    with pytest.raises(InputError, match="climbs out"):
        ontology.load(_tar(tmp_path, "../own.tsv"), format=str(own))
    (tmp_path / "tables.tar.gz").write_bytes(packed[:-20])
    with pytest.raises(InputError, match="too early"):
        ontology.load(tmp_path / "tables.tar.gz", format=str(own))


def test_bad_json_is_named(tmp_path: Path) -> None:
    own = declared(tmp_path)
    (tmp_path / "own.jsonl").write_text('{"drug": "1"}\n{"drug": \n')
    with pytest.raises(InputError, match=r"lacks|line 2"):
        ontology.load(tmp_path / "own.jsonl", format=str(own))
    (tmp_path / "own.json").write_text('{"rows": [')
    with pytest.raises(InputError, match="no JSON"):
        ontology.load(tmp_path / "own.json", format=str(own))


def test_an_unknown_format_lists_the_declared_ones(tmp_path: Path) -> None:
    (tmp_path / "own.tsv").write_text(tsv())
    with pytest.raises(UsageError, match="hetionet"):
        ontology.load(tmp_path / "own.tsv", format="nothing")
    with pytest.raises(InputError, match="no such declaration"):
        ontology.load(tmp_path / "own.tsv", format="nothing.yaml")


def test_words_for_predicates_may_lie_beside_any_ontology(tmp_path: Path) -> None:
    (tmp_path / "nodes.tsv").write_text("id\tcategory\tname\nX:1\tbiolink:Drug\ta\nX:2\t\tb\n")
    (tmp_path / "edges.tsv").write_text("subject\tpredicate\tobject\nX:1\tmy:heals\tX:2\n")
    assert edges(ontology.load(tmp_path)) == {("X:1", "RELATED_TO", "X:2", False, "my:heals")}
    (tmp_path / "predicate_aliases.yaml").write_text('"my:heals": TREATS\n')
    assert edges(ontology.load(tmp_path)) == {("X:1", "TREATS", "X:2", False, "")}
