"""What a model reads: each setting shows what it names and nothing else."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from ehrkg.benchmark import Benchmark, example
from ehrkg.evaluation.asking.few_shot import KINDS, SENTENCES, Examples, sentences_of, shares
from ehrkg.evaluation.asking.prompting import CUE, FORMATS, applies, in_words
from ehrkg.evaluation.asking.questions import in_setting, questions_of
from ehrkg.evaluation.models.questioning import Questioning, with_controls
from ehrkg.evaluation.settings import CONTROLS, READINGS, Setting
from ehrkg.foundation.errors import UsageError
from tests.evaluation.questions import question

SETTINGS = [
    Setting(control, reading, shots, reasoning, evidence)
    for control, reading, shots, reasoning, evidence in product(
        CONTROLS, READINGS, (0, 2), (False, True), (False, True)
    )
    if not (reasoning and reading == "likelihood")
]
SENTENCE = "insulin treats type 1 diabetes"


def put(form: str, setting: Setting):
    """A question under a setting, with examples of two other patients."""
    others = [question(n, form, split="train") for n in (2, 3)][: setting.shots]
    asked = in_setting([question(1, form), question(4, form)], setting.control)[0]
    return asked, others, in_words(asked, setting, examples=others, evidence=[SENTENCE])


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_a_prompt_shows_what_its_setting_names(form, setting):
    if not applies(form, setting):
        with pytest.raises(UsageError, match="can't be asked in"):
            put(form, setting)
        return
    asked, others, words = put(form, setting)
    shown = {"plain": "patient 1.", "other_stem": "patient 4.", "no_stem": ""}[setting.control]
    for number in (1, 2, 3, 4):
        stem = f"patient {number}."
        expected = stem == shown or (
            setting.control != "no_stem" and number in (2, 3) and setting.shots > 0
        )
        assert (stem in words.text) == expected
        assert (f"t{number}" in words.templates) == expected
    assert (SENTENCE in words.text) == setting.evidence
    assert ("source of this benchmark's answer key" in words.text) == setting.evidence
    assert words.text.endswith(CUE) != setting.reasoning
    assert words.choices == (asked.options if setting.reading == "likelihood" else ())
    assert words.text.count(f"\n{CUE} ") + words.text.startswith(f"{CUE} ") == len(others)


@pytest.mark.parametrize(
    ("form", "shown"),
    [("mcq", "C"), ("multi", "A, C"), ("yesno", "yes"), ("oeq", "insulin")],
)
def test_an_example_is_answered_as_the_model_shall_answer(form, shown):
    _asked, _others, words = put(form, Setting(shots=2))
    assert words.text.count(f"Answer: {shown}\n") == 2


def test_an_example_of_likelihoods_is_answered_in_words():
    assert "Answer: insulin\n" in put("mcq", Setting(reading="likelihood", shots=2))[2].text


def test_the_messages_hold_the_whole_prompt():
    words = put("mcq", Setting())[2]
    assert "\n\n".join(message["content"] for message in words.messages) == words.whole
    assert [message["role"] for message in words.messages] == ["system", "user"]


def test_examples_share_neither_relation_nor_answer_nor_patient():
    asked = question(1)
    pool = [
        question(2, split="train", relation_id="r1", right=(0,)),
        question(3, split="train"),
        question(4, split="train", cluster="c1", right=(1,)),
        question(5, split="test", right=(1,)),
        question(6, "oeq", split="train"),
        question(7, split="train", right=(3,)),
    ]
    examples = Examples(pool)
    assert [one.item_id for one in examples.of(asked, 1)] == ["t7.mcq"]
    assert examples.of(asked, 0) == []
    with pytest.raises(UsageError, match="only 1 of 2 examples"):
        examples.of(asked, 2)


def test_a_drug_by_another_route_is_the_same_answer():
    one = question(1, "oeq", answers=("heparin, by mouth",))
    assert shares(one, question(2, "oeq", answers=("heparin, subcutaneous",)))
    assert not shares(one, question(2, "oeq", answers=("aspirin, by mouth",)))


def test_yes_or_no_share_what_is_asked_about_and_not_the_word():
    one = question(1, "yesno")
    assert shares(one, question(2, "yesno", right=(1,)))
    assert not shares(one, question(2, "yesno", option_codes=("DRUGNAME:aspirin",) * 2))


def test_a_cut_to_the_test_split_takes_its_examples_from_the_whole_that_it_was_cut_from():
    part = example().filter(split="test", format="mcq")
    assert "train" not in part.column("split").to_pylist()
    few = with_controls(["few_shot1"], controls=False)
    put = Questioning(part, few).put
    assert len(put) == len(part)
    of_whole = {one.question.item_id: one.prompted for one in Questioning(example(), few).put}
    train = set(example().filter(split="train").column("template_id").to_pylist())
    for one in put:
        assert one.prompted == of_whole[one.question.item_id]
        (shown,) = set(one.prompted.templates) - {one.question.template_id}
        assert shown in train
    alone = Benchmark.from_tables(templates=part.templates(), items=part.to_arrow())
    with pytest.raises(UsageError, match="only 0 of 1 examples"):
        _ = Questioning(alone, few).put


def test_a_cut_that_holds_examples_keeps_to_them():
    cut = [question(n, split="train", right=(n % 2,)) for n in range(2, 9)]
    further = [question(n, split="train", right=(n % 2,)) for n in range(20, 90)]
    asked = question(1)
    assert Examples(cut, further=further).of(asked, 2) == Examples(cut).of(asked, 2)
    some = Examples(cut[:1], further=further).of(asked, 3)
    assert len(some) == 3
    assert some[0] == cut[0]


def test_examples_do_not_depend_on_the_order_of_the_questions():
    pool = [question(n, split="train", right=(n % 2,)) for n in range(2, 40)]
    chosen = Examples(pool).of(question(1), 5)
    assert chosen == Examples(pool[::-1]).of(question(1), 5)
    assert len({one.template_id for one in chosen}) == 5
    assert chosen != Examples(pool).of(question(50), 5)


def test_on_a_build_every_prompt_can_be_written_and_examples_keep_apart(built_demo: Path):
    bench = Benchmark.open(built_demo / "benchmark")
    questions = questions_of(bench.to_arrow())
    evidence = sentences_of(bench.beside("evidence"))
    assert all(0 < len(told) <= SENTENCES for told in evidence.values())
    examples, setting = Examples(questions), Setting(shots=3, evidence=True)
    asked = [one for one in questions if one.split == "test"][:200]
    for one in asked:
        chosen = examples.of(one, 3)
        assert not any(shares(one, other) or other.split != "train" for other in chosen)
        told = evidence.get(one.relation_id, [])
        words = in_words(one, setting, examples=chosen, evidence=told)
        assert all(sentence in words.text for sentence in told)
        assert len(words.templates) == 4


def test_no_count_of_patients_is_told(built_demo: Path):
    bench = Benchmark.open(built_demo / "benchmark")
    assert "statistic" not in KINDS
    told = sentences_of(bench.beside("evidence"))
    assert not any("patients" in text and "visits" in text for one in told.values() for text in one)
