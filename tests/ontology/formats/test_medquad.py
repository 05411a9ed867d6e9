"""MedQuAD: each answer is a passage that can be cited, with question, owner and place."""

from __future__ import annotations

import io
import tarfile
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

import pytest

from ehrkg import ontology
from ehrkg.foundation.errors import InputError
from ehrkg.foundation.ledger import Ledger

DOCUMENT = """<?xml version="1.0" encoding="UTF-8"?>
<Document id="1" source="CDC" url="https://example.org/gout"><Focus>Gout</Focus>
<FocusAnnotations><UMLS><CUIs><CUI>C0018099</CUI>{more}</CUIs>
<SemanticTypes><SemanticType>T047</SemanticType></SemanticTypes></UMLS>
<Synonyms><Synonym>podagra</Synonym></Synonyms></FocusAnnotations>
<QAPairs><QAPair pid="1"><Question qid="1-1" qtype="information">What is gout?</Question>
<Answer>  Crystals   in
 joints. </Answer></QAPair>
<QAPair pid="2"><Question qid="1-2" qtype="exams and tests">How?</Question><Answer/></QAPair>
</QAPairs></Document>
"""
OLDER = """<doc docid="2" corpus="NINDS" url="u"><doctitle-focus>Holmes-Adie</doctitle-focus>
<umls><cui/></umls><qaPairs><pair pid="1"><question qid="2-1" qtype="treatment">How?</question>
<answer>Glasses.</answer></pair></qaPairs></doc>"""


def tar(folder: Path, **documents: str) -> Path:
    path = folder / "medquad.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, text in documents.items():
            info = tarfile.TarInfo(name.replace("__", "/") + ".xml")
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    return path


def test_answers_become_passages_about_their_cuis(tmp_path: Path) -> None:
    ledger = Ledger()
    path = tar(tmp_path, a__1=DOCUMENT.format(more=""), b__2=OLDER)
    known = ontology.load(path, ledger=ledger)
    (first, second) = known.passages.to_pylist()
    assert (second["concept"], second["kind"], second["text"]) == (
        "UMLS:C0018099",
        "definition",
        "Crystals in joints.",
    )
    assert (second["origin"], second["licence"], second["url"]) == (
        "CDC",
        "CC-BY-4.0",
        "https://example.org/gout",
    )
    assert (second["title"], second["provenance"]) == ("What is gout?", "a/1.xml#1")
    assert (first["concept"], first["origin"]) == ("MEDQUAD:holmes_adie", "NINDS")
    names = {c["id"]: (c["name"], c["kind"]) for c in known.concepts.to_pylist()}
    assert names["UMLS:C0018099"] == ("Gout", "disease")
    assert known.synonyms["text"].to_pylist() == ["podagra"]
    assert ledger.dropped("know", "passages") == {"no_answer": 1}
    assert ledger.quarantine["know-medquad"]["kind"].to_pylist() == ["diagnosis"]


def test_of_several_cuis_none_is_named_after_the_focus(tmp_path: Path) -> None:
    path = tar(tmp_path, a=DOCUMENT.format(more="<CUI>C0003868</CUI>"))
    known = ontology.load(path)
    assert known.passages["concept"].to_pylist() == ["UMLS:C0003868", "UMLS:C0018099"]
    assert set(known.concepts["name"].to_pylist()) == {""}
    assert known.synonyms.num_rows == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (DOCUMENT[:200], "broken or ends too early"),
        ('<!DOCTYPE a [<!ENTITY b "c">]>' + OLDER.replace("Glasses", "&b;"), "refused"),
        ('<!DOCTYPE a SYSTEM "http://127.0.0.1:9/a.dtd">' + OLDER, "refused"),
        ("<html><QAPairs/></html>", "no document of MedQuAD"),
    ],
)
def test_broken_and_dangerous_documents_are_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        ontology.load(tar(tmp_path, a=text), format="medquad")


def test_a_path_that_climbs_out_and_a_cut_archive_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="climbs out"):
        ontology.load(tar(tmp_path, **{"..__a": OLDER}), format="medquad")
    whole = tar(tmp_path, **{f"a{n}": DOCUMENT.format(more=n) for n in range(60)}).read_bytes()
    (tmp_path / "medquad.tar.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="too early"):
        ontology.load(tmp_path / "medquad.tar.gz", format="medquad")


def test_the_real_archive_gives_every_answer(shared_data: Path) -> None:
    path = shared_data / "medquad" / "medquad-9-public-sources.tar.gz"
    answers: Counter[str] = Counter()
    with tarfile.open(path, "r|*") as archive:
        for info in archive:
            document = archive.extractfile(info) if info.isfile() else None
            if document is not None:
                root = ElementTree.fromstring(document.read())
                cuis = {cui.text for cui in root.iter() if cui.tag.lower() == "cui" and cui.text}
                for answer in root.iter():
                    if answer.tag.lower() == "answer":
                        key = "answered" if (answer.text or "").strip() else "silent"
                        answers[key] += max(len(cuis), 1) if key == "answered" else 1
                        answers["pairs"] += 1
    ledger = Ledger()
    known = ontology.load(path, ledger=ledger)
    assert answers["pairs"] == 16_412 + 16  # in the older layout
    assert known.passages.num_rows == answers["answered"]
    assert ledger.dropped("know", "passages") == {"no_answer": answers["silent"]}
    assert min(len(text) for text in known.passages["text"].to_pylist()) > 0
    assert len(set(known.passages["id"].to_pylist())) == known.passages.num_rows
