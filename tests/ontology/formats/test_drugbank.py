# ruff: noqa: E501 (elements as they are written)
"""DrugBank's XML and vocabulary. The layouts are the documented ones, the content is made up."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from ehrkg import ontology
from ehrkg.foundation.errors import InputError
from ehrkg.foundation.ledger import Ledger

XML = """<?xml version="1.0" encoding="UTF-8"?>
<drugbank xmlns="http://www.drugbank.ca" version="5.1" exported-on="2031-01-01">
<drug type="small molecule" created="2031-01-01">
  <drugbank-id primary="true">DB99901</drugbank-id><drugbank-id>APRD99901</drugbank-id>
  <name>Medlarine</name><description>A sentence under licence.</description>
  <cas-number>1-2-3</cas-number><unii>ABC123</unii>
  <indication>For quince fever.</indication>
  <salts><salt><drugbank-id primary="true">DBSALT1</drugbank-id><name>Medlarine citrate</name></salt></salts>
  <synonyms><synonym language="english" coder="">Medlarin</synonym><synonym language="spanish" coder="">Medlarina</synonym></synonyms>
  <products><product><name>Medlarex</name></product><product><name>Medlarex</name></product></products>
  <international-brands><international-brand><name>Medlor</name><company/></international-brand></international-brands>
  <categories>
    <category><category>Febrifuges</category><mesh-id>D999001</mesh-id></category>
    <category><category>Without number</category><mesh-id/></category>
  </categories>
  <atc-codes><atc-code code="C99XX01"><level code="C99XX">Other febrifuges</level><level code="C99X">Febrifuges</level></atc-code></atc-codes>
  <external-identifiers>
    <external-identifier><resource>ChEBI</resource><identifier>99999</identifier></external-identifier>
    <external-identifier><resource>Wikipedia</resource><identifier>Medlarine</identifier></external-identifier>
  </external-identifiers>
  <pathways><pathway><drugs><drug><drugbank-id>DB99902</drugbank-id><name>Not a record</name></drug></drugs></pathway></pathways>
</drug>
<drug type="biotech"><drugbank-id primary="true">DB99903</drugbank-id><name>Damsonate</name>
  <atc-codes><atc-code code="C99XX02"><level code="C99XX">Other febrifuges</level><level code="C99X">Febrifuges</level></atc-code></atc-codes>
</drug>
</drugbank>
"""
VOCABULARY = """\
DrugBank ID,Accession Numbers,Common name,CAS,UNII,Synonyms,Standard InChI Key
DB99901,APRD99901 | X9,Medlarine,1-2-3,ABC123,"Medlarin | Medlarine, pure",
DB99903,,Damsonate,,,,
"""
BOMB = """<?xml version="1.0"?>
<!DOCTYPE drugbank [<!ENTITY a "boom"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<drugbank xmlns="http://www.drugbank.ca"><drug><name>&b;</name></drug></drugbank>
"""
OUTSIDE = """<?xml version="1.0"?>
<!DOCTYPE drugbank [<!ENTITY a SYSTEM "file:///etc/passwd">]>
<drugbank xmlns="http://www.drugbank.ca"><drug><name>&a;</name></drug></drugbank>
"""


def test_structured_facts_are_read_and_sentences_are_not(tmp_path: Path) -> None:
    path = tmp_path / "full database.xml"
    path.write_text(XML)
    ledger = Ledger()
    known = ontology.load(path, ledger=ledger)
    assert {
        (r["id"], r["name"], r["kind"], r["definition"]) for r in known.concepts.to_pylist()
    } == {
        ("DRUGBANK:DB99901", "Medlarine", "drug", ""),
        ("DRUGBANK:DB99903", "Damsonate", "drug", ""),
        ("ATC:C99XX", "Other febrifuges", "drug_class", ""),
        ("ATC:C99X", "Febrifuges", "drug_class", ""),
        ("MESH:D999001", "Febrifuges", "drug_class", ""),
    }
    assert {(r["text"], r["scope"]) for r in known.synonyms.to_pylist()} == {
        ("Medlarin", "exact"),
        ("Medlarex", "brand"),
        ("Medlor", "brand"),
        ("Medlarine citrate", "related"),
    }
    assert {(r["subject"], r["predicate"], r["object"]) for r in known.edges.to_pylist()} == {
        ("DRUGBANK:DB99901", "SUBCLASS_OF", "ATC:C99XX"),
        ("DRUGBANK:DB99903", "SUBCLASS_OF", "ATC:C99XX"),
        ("ATC:C99XX", "SUBCLASS_OF", "ATC:C99X"),
        ("DRUGBANK:DB99901", "RELATED_TO", "MESH:D999001"),
    }
    assert {r["object"] for r in known.mappings.to_pylist()} == {
        "DRUGBANK:APRD99901",
        "CAS:1-2-3",
        "UNII:ABC123",
        "CHEBI:99999",
        "ATC:C99XX01",
        "ATC:C99XX02",
    }
    edge = known.edges.to_pylist()[0]
    assert (edge["provenance"], edge["licence"]) == ("DrugBank 5.1", "CC-BY-NC-4.0")
    assert edge["origin"] == "infores:drugbank"
    assert ledger.dropped("know", "edges") == {"duplicate": 1}
    assert ledger.dropped("know", "identifiers") == {"other_resource": 2}


@pytest.mark.parametrize("text", [BOMB, OUTSIDE])
def test_entities_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bomb.xml"
    path.write_text(text)
    with pytest.raises(InputError, match="entities, which is refused"):
        ontology.load(path)


def test_truncated_xml_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "cut.xml"
    path.write_text(XML[: XML.index("<unii>")])
    with pytest.raises(InputError, match="line 6: the XML is broken or ends too early"):
        ontology.load(path)


def test_the_archive_is_read_as_it_is_and_one_that_climbs_out_is_refused(tmp_path: Path) -> None:
    plain = tmp_path / "a.xml"
    plain.write_text(XML)
    packed = tmp_path / "drugbank_all_full_database.xml.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("full database.xml", XML)
    assert ontology.load(packed) == ontology.load(plain)
    for name in ("../full database.xml", "/tmp/full database.xml", "a/../../b.xml", "..\\b.xml"):
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr(name, XML)
        with pytest.raises(InputError, match="climbs out"):
            ontology.load(packed)
    packed.write_bytes(packed.read_bytes()[:-40])
    with pytest.raises(InputError, match="damaged or ends too early"):
        ontology.load(packed)


def test_the_open_vocabulary(tmp_path: Path) -> None:
    path = tmp_path / "v.csv"
    path.write_text("\ufeff" + VOCABULARY.replace("\n", "\r\n"))
    known = ontology.load(path)
    assert known.concepts["name"].to_pylist() == ["Medlarine", "Damsonate"]
    assert known.synonyms["text"].to_pylist() == ["Medlarin", "Medlarine, pure"]
    assert {r["object"] for r in known.mappings.to_pylist()} == {
        "CAS:1-2-3",
        "UNII:ABC123",
        "DRUGBANK:APRD99901",
        "DRUGBANK:X9",
    }


def test_the_real_vocabulary_loads(shared_data: Path) -> None:
    ledger = Ledger()
    known = ontology.load(shared_data / "drugbank-vocabulary", ledger=ledger)
    assert known.concepts.num_rows == 13_339
    assert ledger.dropped("know", "nodes") == {}
