"""Where sentences come from, when one is about both ends, and what a judge's grade does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import tiny
import tiny_models

from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.hashing import hash64
from ehrkg.ontology.schema import Knowledge
from ehrkg.propose.models.asking import ANSWERED, UNREADABLE, Question, Reply
from ehrkg.verify import Policy, verify
from ehrkg.verify.judge import Claim, ModelJudge, NliJudge

CONCEPTS = [
    ("D:furosemide", "furosemide", "drug", ""),
    ("D:class", "diuretics", "drug_class", ""),
    ("M:hf", "heart failure", "disease", ""),
    ("M:shf", "systolic heart failure", "disease", ""),
]
KEEN = Policy(definition_similarity=0.0, default_reliability=0.8)


class Words:
    """Words hashed into 32 dimensions."""

    name, dimension = "hashed-words", 32

    def encode(self, texts: list[str]) -> np.ndarray:
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                vectors[row, hash64(word) % self.dimension] += 1
        return vectors


def world(
    concepts: Sequence[tuple[str, str, str, str]] = (),
    passages: Sequence[tuple[str, str, str]] = (),
    mappings: Sequence[tuple[str, str, str]] = (),
    head: str = "D:furosemide",
) -> Knowledge:
    rows = {row[0]: row for row in (*CONCEPTS, *concepts)}
    edges = [
        tiny.edge(head, "TREATS", "M:hf"),
        tiny.edge("D:furosemide", "SUBCLASS_OF", "D:class"),
        tiny.edge("M:shf", "SUBCLASS_OF", "M:hf"),
    ]
    return tiny.knowledge(edges, rows.values(), mappings=mappings, passages=passages)


def told(
    knowledge: Knowledge, head: str = "D:furosemide", tail: str = "M:hf", **options: object
) -> list[dict[str, object]]:
    claims = tiny.candidates([tiny.candidate(head, "TREATS", tail)])
    found = verify(
        claims, tiny.same([head, tail]), knowledge, policy=KEEN, embedder=Words(), **options
    )
    return [row for row in found.evidence.to_pylist() if row["kind"] == "definition"]


def test_a_passage_about_one_end_that_names_the_other_is_kept_with_its_source() -> None:
    passages = [("M:hf", "What is done?", "Water is lost. Often furosemide is taken.")]
    (row,) = told(world(passages=passages))
    assert row["text"] == "What is done? Often furosemide is taken."
    assert row["source"] == "infores:texts"
    assert row["origin"] == "texts"
    assert row["passage"].startswith("p")


def test_a_passage_is_reached_through_an_exact_mapping_only() -> None:
    passages = [("UMLS:C1", "", "Often furosemide is taken.")]
    for predicate, many in (("skos:exactMatch", 1), ("skos:broadMatch", 0)):
        knowledge = world(passages=passages, mappings=[("M:hf", predicate, "UMLS:C1")])
        assert len(told(knowledge)) == many


def test_a_passage_under_several_concepts_must_name_both_ends() -> None:
    text = "Often furosemide is taken."
    passages = [("M:hf", "", text), ("M:shf", "", text)]
    assert told(world(passages=passages)) == []
    named = "Furosemide is taken in heart failure."
    (row,) = told(world(passages=[("M:hf", "", named), ("M:shf", "", named)]))
    assert row["text"] == named


def test_the_definition_of_a_neighbour_counts_if_it_names_both() -> None:
    third = ("M:oedema", "oedema", "finding", "Water in heart failure, lost by furosemide. It is.")
    (row,) = told(world([third]))
    assert row["text"] == "oedema: Water in heart failure, lost by furosemide."


def test_the_definition_of_a_parent_is_of_its_child_and_not_the_other_way_round() -> None:
    parent = ("D:class", "diuretics", "drug_class", "They are used in heart failure.")
    assert [row["text"] for row in told(world([parent]))] == [
        "diuretics: They are used in heart failure."
    ]
    child = ("D:furosemide", "furosemide", "drug", "It is used in heart failure.")
    assert told(world([child], head="D:class"), head="D:class") == []


def test_a_name_inside_a_longer_name_is_no_mention() -> None:
    """Who speaks of systolic heart failure does not by that speak of heart failure too."""
    text = ("D:furosemide", "furosemide", "drug", "It is used in systolic heart failure.")
    assert told(world([text])) == []


def test_sentences_do_not_depend_on_the_order_of_rows() -> None:
    passages = [
        ("M:hf", "", "Furosemide is taken. Furosemide helps."),
        ("M:shf", "", "Furosemide helps."),
    ]
    forward = world(passages=passages)
    backward = Knowledge(
        *(
            table.take(pa.array(range(len(table))[::-1], pa.int64()))
            for table in (
                forward.concepts,
                forward.synonyms,
                forward.edges,
                forward.mappings,
                forward.attributes,
                forward.passages,
            )
        )
    )
    assert told(forward) == told(backward) != []


SAID = world(passages=[("M:hf", "", "Furosemide is taken. Often furosemide.")])


@pytest.fixture(scope="module")
def nli(tmp_path_factory: pytest.TempPathFactory) -> Path:
    labels = ["CONTRADICTION", "NEUTRAL", "ENTAILMENT"]
    return tiny_models.classifier(tmp_path_factory.mktemp("models") / "tiny-nli", labels)


def test_an_nli_model_grades_in_a_column_of_its_own(nli: Path) -> None:
    judge = NliJudge(nli)
    assert judge.name == "tiny-nli"
    rows = told(SAID, judge=judge)
    assert len(rows) == 2
    claim = Claim("furosemide", "treats", "heart failure")
    for row in rows:
        (grade,) = judge.grade([(row["text"], claim)])
        assert row["judged"] == grade in ("entailment", "contradiction", "neither")
    assert {row["judged"] for row in told(SAID)} == {""}


@pytest.mark.parametrize("labels", [["good", "bad"], ["entailment", "not_entailment"]])
def test_a_classifier_of_something_else_is_refused(tmp_path: Path, labels: list[str]) -> None:
    with pytest.raises(UsageError, match="has the labels"):
        NliJudge(tiny_models.classifier(tmp_path / "other", labels))


def test_a_judge_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="can't be loaded"):
        NliJudge(tmp_path)


class Answering:
    """A language model that gives one answer."""

    name, remote, workers = "answering", False, 1

    def __init__(self, holds: list[int] | None) -> None:
        self.holds = holds
        self.asked: list[Question] = []

    def answer(self, question: Question) -> Reply:
        self.asked.append(question)
        if self.holds is None:
            return Reply(UNREADABLE)
        return Reply(ANSWERED, {"holds": self.holds})


@pytest.mark.parametrize(
    ("holds", "grade", "polarity"),
    [
        ([0], "entailment", "supports"),
        ([1], "contradiction", "neutral"),
        ([], "neither", "supports"),
        ([0, 1], "neither", "supports"),
        ([7], "neither", "supports"),
        (None, "neither", "supports"),
    ],
)
def test_a_language_model_grades_too_and_a_contradiction_no_longer_counts(
    holds: list[int] | None, grade: str, polarity: str
) -> None:
    rows = told(SAID, judge=ModelJudge(Answering(holds)))
    assert {(row["judged"], row["polarity"]) for row in rows} == {(grade, polarity)}


def test_no_judge_makes_a_claim_supported() -> None:
    claims = tiny.candidates([tiny.candidate("D:furosemide", "TREATS", "M:shf")])
    knowledge = tiny.knowledge(
        [tiny.edge("D:furosemide", "CAUSES", "M:hf")],
        CONCEPTS,
        passages=[("M:shf", "", "Furosemide is taken.")],
    )
    found = verify(
        claims,
        tiny.same(["D:furosemide", "M:shf"]),
        knowledge,
        policy=Policy(definition_bonus=1.0, definition_similarity=0.0),
        embedder=Words(),
        judge=ModelJudge(Answering([0])),
    )
    assert found.relations["verdict"].to_pylist() == ["unsupported"]


def test_a_recorded_grade_is_not_asked_for_again(tmp_path: Path) -> None:
    first, second = Answering([0]), Answering([1])
    told(SAID, judge=ModelJudge(first, answers=tmp_path / "answers.jsonl"))
    rows = told(SAID, judge=ModelJudge(second, answers=tmp_path / "answers.jsonl"))
    assert len(first.asked) == 2
    assert second.asked == []
    assert {row["judged"] for row in rows} == {"entailment"}


def test_a_judge_elsewhere_is_refused() -> None:
    """Claims come from a hospital's pairs: they stay on this machine."""

    class Far(Answering):
        remote = True

    with pytest.raises(UsageError, match="not on this machine"):
        ModelJudge(Far([0]))
