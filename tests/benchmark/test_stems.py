"""Stems are grammatical, name age and sex, and claim no more than the record does."""

from __future__ import annotations

from typing import Any

import pytest

from ehrkg.benchmark.questions.stems import choose_phrasing, n_phrasings, phrasings, render_stem
from ehrkg.foundation.errors import UsageError
from ehrkg.propose.tasks import tasks
from tests.benchmark.builders import World

NAMES = {
    "ICD10CM:I50.9": "Heart failure, unspecified",
    "ICD10CM:N18.3": "Chronic kidney disease, stage 3 (moderate)",
    "ICD10CM:M10.9": "Gout, unspecified",
    "ICD10CM:D64.9": "Anemia, unspecified",
    "ICD10CM:B20": "Human immunodeficiency virus [HIV] disease",
}


@pytest.fixture(scope="module")
def world() -> World:
    world = World()
    for code, name in NAMES.items():
        world.diagnosis(code, name)
    world.diagnosis("ICD9PROC:39.95", "Hemodialysis")
    world.drug("furosemide")
    person = world.patient("p", sex="F")
    person.visit(["ICD10CM:M10.9", "ICD10CM:B20"], age=62)
    person.visit(list(NAMES), [("furosemide", "intravenous")], ["ICD9PROC:39.95"], age=63)
    return world


def template(task: str, context: list[str], **more: Any) -> dict[str, Any]:
    row = {
        "id": "t1",
        "task": task,
        "visit": "pv2",
        "context": context,
        "context_routes": ["intravenous" if code.startswith("DRUG") else "" for code in context],
        "anchor_position": 0,
        "history": ["ICD10CM:B20", "ICD10CM:M10.9"],
        "age": 63,
        "sex": "F",
        "gap_days": 63 if task == "prognosis" else None,
        "sole_indication": False,
    }
    return row | more


ONE = ["ICD10CM:I50.9"]
SIX = [
    "ICD10CM:I50.9",
    "DRUGNAME:furosemide",
    "ICD10CM:N18.3",
    "ICD9PROC:39.95",
    "ICD10CM:M10.9",
    "ICD10CM:B20",
]


@pytest.mark.parametrize("task", list(tasks()))
@pytest.mark.parametrize("form", ["mcq", "oeq"])
@pytest.mark.parametrize("context", [ONE, SIX, ["ICD9PROC:39.95", "DRUGNAME:furosemide"]])
def test_every_phrasing_reads_for_one_event_and_for_six(
    world: World, task: str, form: str, context: list[str]
) -> None:
    assert n_phrasings(task) >= 3
    for phrasing in range(n_phrasings(task)):
        stem = render_stem(template(task, context), world.cohort, format=form, phrasing=phrasing)
        assert "63-year-old woman" in stem
        assert stem[0].isupper()
        assert stem[-1] in ".?"
        for fault in ("  ", " .", " ,", "..", ":.", ";;", "None", "{", "\n", "; ;", "[]"):
            assert fault not in stem, stem
        for fault in ("will develop", "best", "most likely"):
            assert fault not in stem.lower()


def test_all_words_of_the_questions_claim_no_more_than_the_record() -> None:
    text = str(phrasings()).lower()
    for claim in ("will develop", "best", "likely", "should", "correct"):
        assert claim not in text


def test_the_words_of_the_record(world: World) -> None:
    cohort = world.cohort
    assert render_stem(template("diagnosis", SIX), cohort) == (
        "A 63-year-old woman was admitted to hospital. The discharge record lists heart failure; "
        "chronic kidney disease, stage 3; gout; and HIV disease. Procedure performed: "
        "hemodialysis. Drug ordered: intravenous furosemide. "
        "Which of these was also recorded at this admission?"
    )
    assert render_stem(template("prognosis", ONE), cohort).endswith(
        "The patient was readmitted 63 days later. Which diagnosis was newly recorded?"
    )


def test_a_reason_is_named_only_where_it_is_the_sole_one(world: World) -> None:
    sole = template("treatment", ["ICD10CM:I50.9", "ICD10CM:M10.9"], sole_indication=True)
    shared = template("treatment", ["ICD10CM:I50.9", "ICD10CM:M10.9"])
    for phrasing in range(n_phrasings("treatment")):
        for form in ("mcq", "oeq"):
            named = render_stem(sole, world.cohort, format=form, phrasing=phrasing)
            given = render_stem(shared, world.cohort, format=form, phrasing=phrasing)
            assert "indicated for heart failure" in named
            assert "indicated" not in given
            assert "iven these conditions" in given


def test_history_is_a_trajectory_in_time_order(world: World) -> None:
    row = template("diagnosis", ONE)
    told = render_stem(row, world.cohort, history=3)
    assert (
        "Earlier admissions, the oldest first: (1) HIV disease and gout, readmitted 30 days later."
        in told
    )
    assert "Earlier" not in render_stem(row, world.cohort)
    assert "Earlier" not in render_stem(row | {"history": []}, world.cohort, history=3)


def test_the_oldest_are_ninety_or_older(world: World) -> None:
    stem = render_stem(template("diagnosis", ONE, age=91, sex="M"), world.cohort)
    assert stem.startswith("A man aged 90 or older was admitted")


def test_phrasings_are_chosen_by_hash_and_all_are_used() -> None:
    rows = [template("diagnosis", ONE, id=f"t{number}") for number in range(60)]
    assert {choose_phrasing(row, 7) for row in rows} == set(range(n_phrasings("diagnosis")))


def test_an_unknown_format_is_refused(world: World) -> None:
    with pytest.raises(UsageError, match="no such format"):
        render_stem(template("diagnosis", ONE), world.cohort, format="essay")
