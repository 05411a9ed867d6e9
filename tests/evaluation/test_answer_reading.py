"""An answer is read where it is one, and nowhere else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ehrkg.evaluation.asking.answer_reading import read_answer

DRUGS = ["aspirin", "furosemide", "insulin", "warfarin"]
THOUGHT = "<think>A seems right. Answer: A. Or is it C?</think>"

ONE = {
    "B": 1,
    "b": 1,
    " B \n": 1,
    "B.": 1,
    "(B)": 1,
    "(b)": 1,
    "[B]": 1,
    "**B**": 1,
    "**B.** furosemide": 1,
    "`B`": 1,
    '"B"': 1,
    "B) furosemide": 1,
    "B. furosemide": 1,
    "B: furosemide": 1,
    "B - furosemide": 1,
    "B furosemide": 1,
    "b. furosemide": 1,
    "A": 0,
    "a": 0,
    "A.": 0,
    "A aspirin": 0,
    "A) it fits best": 0,
    "A, because of the infarction": 0,
    "Option B": 1,
    "option (b)": 1,
    "The answer is B.": 1,
    "The correct answer is (B) furosemide.": 1,
    "The correct option is B": 1,
    "The answer to this question is B.": 1,
    "My final answer: B": 1,
    "Answer: B": 1,
    "Answer: B. The patient has oedema.": 1,
    "Answer - no idea.\nAnswer: B": 1,
    "**Answer:** B": 1,
    "**Answer: B**": 1,
    "Answer:\n\nB": 1,
    "I would choose B.": 1,
    "I'd go with B": 1,
    "The answer is clearly B": 1,
    "B is correct.": 1,
    "B because of the oedema": 1,
    "B. Because of the oedema, furosemide": 1,
    r"\boxed{B}": 1,
    r"$\boxed{\text{B}}$": 1,
    "<answer>B</answer>": 1,
    "furosemide": 1,
    "Furosemide.": 1,
    "The answer is furosemide.": 1,
    "The patient most likely got furosemide.": 1,
    f"{THOUGHT}B": 1,
    f"{THOUGHT}\n\nThe answer is B.": 1,
    "thinking of A and C</think>\nB": 1,
    "<|channel|>analysis<|message|>A or C?<|end|><|channel|>final<|message|>B": 1,
    "B\n\nAnother patient was admitted. Which?\nAnswer: C": 1,
    "Answer: B\n\nAnother patient was admitted. Which?\nAnswer: C": 1,
    "- B": 1,
}

NOT_ONE = [
    "",
    "   ",
    None,
    "E",
    "Answer: F",
    "A and B",
    "B or C",
    "A, B",
    "B/C",
    "The answer is A or B.",
    "B. aspirin",
    "(B) warfarin",
    "A patient with oedema needs treatment.",
    "A given patient needs treatment.",
    "A 63-year-old woman was admitted.",
    "a diuretic",
    "The answer is a diuretic.",
    "The answer is A diuretic.",
    "Answer: A beta blocker",
    "E. coli",
    "C. difficile",
    "Answer: C. difficile",
    "A-fib",
    "B-type natriuretic peptide",
    "I cannot answer that.",
    "I'm sorry, but I can't give medical advice. A doctor should be asked.",
    "I can't say whether furosemide was ordered.",
    "It is not furosemide.",
    "The answer is not B.",
    "aspirin and furosemide",
    "Either aspirin or warfarin.",
    "None of them.",
    "Which drug was ordered?",
    "<think>B",
    "The options are A. aspirin B. furosemide",
    "A. aspirin B. furosemide C. insulin D. warfarin",
    "Hepatitis B was excluded.",
]


@pytest.mark.parametrize("text", ONE, ids=repr)
def test_one_letter_is_read(text):
    reading = read_answer(text, "mcq", DRUGS)
    assert reading.parsed
    assert reading.places == (ONE[text],)


@pytest.mark.parametrize("text", NOT_ONE, ids=repr)
@pytest.mark.parametrize("reasoning", [False, True])
def test_what_names_no_single_option_is_not_read(text, reasoning):
    assert not read_answer(text, "mcq", DRUGS, reasoning=reasoning).parsed


REASONED = {
    "Oedema needs a diuretic.\nAnswer: B": (1,),
    "Oedema needs a diuretic. The answer is B.": (1,),
    "At first Answer: A comes to mind.\nBut no.\nAnswer: B": (1,),
    "A is out, C too.\n\n**Answer: (B) furosemide**": (1,),
    "A. aspirin: no oedema.\nB. furosemide: helps.\nAnswer: B": (1,),
    "Insulin is out.\nfurosemide": (1,),
    "So it is\n\nB": (1,),
    "The answer is A. Wait, the answer is not A.": (),
    "Answer: A\nOn second thoughts, Answer: A or B": (),
    "A patient with oedema.\nA drug helps.": (),
    "Aspirin thins the blood, furosemide drains.": (),
}


@pytest.mark.parametrize("text", REASONED, ids=repr)
def test_after_thinking_aloud_the_last_announcement_counts(text):
    assert read_answer(text, "mcq", DRUGS, reasoning=True).places == REASONED[text]


SEVERAL = {
    "A, C": (0, 2),
    "A and C": (0, 2),
    "a, c": (0, 2),
    "A C": (0, 2),
    "AC": (0, 2),
    "A, B, and C.": (0, 1, 2),
    "A & C": (0, 2),
    "(A) and (C)": (0, 2),
    "**A**, **C**": (0, 2),
    "C, A": (0, 2),
    "C": (2,),
    "A": (0,),
    "A. aspirin, C. insulin": (0, 2),
    "A) aspirin and C) insulin": (0, 2),
    "A. aspirin\nC. insulin": (0, 2),
    "- A\n- C": (0, 2),
    "Answer: A, C": (0, 2),
    "The correct options are A and C.": (0, 2),
    "The answers are A and C because of the infarction.": (0, 2),
    "A, C\n\nB is not right because of the oedema.": (0, 2),
    "aspirin, insulin": (0, 2),
    "Aspirin and insulin were ordered.": (0, 2),
    "None": (),
    "None of the above.": (),
}
NOT_SEVERAL = [
    "",
    "E",
    "A, F",
    "Bad",
    "A patient with oedema",
    "A or C",
    "not A",
    "It was not aspirin.",
    "I can't say.",
    "B. aspirin",
]


@pytest.mark.parametrize("text", SEVERAL, ids=repr)
def test_several_letters_are_read(text):
    reading = read_answer(text, "multi", DRUGS)
    assert reading.parsed
    assert reading.places == SEVERAL[text]


@pytest.mark.parametrize("text", NOT_SEVERAL, ids=repr)
def test_what_lists_no_options_is_not_read(text):
    assert not read_answer(text, "multi", DRUGS).parsed


def test_a_list_after_thinking_aloud_is_the_last():
    text = "A, B and D come to mind.\nAnswer: A, B\nBut B is out.\nAnswer: A, C"
    assert read_answer(text, "multi", DRUGS, reasoning=True).places == (0, 2)


YES_NO = {
    "yes": 0,
    "Yes.": 0,
    "Yes, it was.": 0,
    "Yes it was": 0,
    "**Yes**": 0,
    "no": 1,
    "No.": 1,
    "No, it was not.": 1,
    "No it was not": 1,
    "NO": 1,
    "(No)": 1,
    "Answer: no": 1,
    "The answer is **No**.": 1,
    "The answer is no because it is rare.": 1,
    f"{THOUGHT}no": 1,
}
NOT_YES_NO = [
    "",
    "No evidence of that.",
    "Yesterday",
    "Nobody knows",
    "Yes and no",
    "yes/no",
    "No / yes",
    "Maybe",
    "There is no record.",
    "I can't say yes.",
    "not",
]


@pytest.mark.parametrize("text", YES_NO, ids=repr)
@pytest.mark.parametrize("reasoning", [False, True])
def test_yes_and_no_are_read(text, reasoning):
    assert read_answer(text, "yesno", ["yes", "no"], reasoning=reasoning).places == (YES_NO[text],)


@pytest.mark.parametrize("text", NOT_YES_NO, ids=repr)
@pytest.mark.parametrize("reasoning", [False, True])
def test_what_says_neither_yes_nor_no_is_not_read(text, reasoning):
    assert not read_answer(text, "yesno", ["yes", "no"], reasoning=reasoning).parsed


@pytest.mark.parametrize(
    ("text", "reasoning", "name"),
    [
        ("heart failure", False, "heart failure"),
        ("**Heart failure.**", False, "Heart failure"),
        ("Answer: heart failure", False, "heart failure"),
        ("The answer is heart failure.", False, "heart failure"),
        ("Here it is:\n\nheart failure", False, "heart failure"),
        ("heart failure\n\nA man was admitted.\nAnswer: gout", False, "heart failure"),
        (f"{THOUGHT}\nheart failure", False, "heart failure"),
        ("Oedema.\nAnswer: gout?\nNo.\nAnswer: heart failure", True, "heart failure"),
        ("It is oedema.\nheart failure", True, "heart failure"),
        ("", False, ""),
        ("?!", False, ""),
        ("I'm sorry, but I can't help.", False, ""),
        ("I cannot determine that.", True, ""),
        ("Unknown", False, ""),
    ],
)
def test_an_open_answer_is_one_name(text, reasoning, name):
    reading = read_answer(text, "oeq", reasoning=reasoning)
    assert (reading.parsed, reading.text) == (bool(name), name)


LETTER = st.sampled_from("ABCD")
FRAMES = st.sampled_from(
    ["{}", "({})", "**{}**", "{}.", "{})", "Answer: {}", "The answer is {}.", "\n{}\n", "[{}]"]
)
WORDS = st.lists(st.text("abcdefghijklmnopqrstuvwxyz", min_size=2, max_size=9), min_size=1)


@given(LETTER, FRAMES, st.booleans(), st.text(alphabet=st.characters(exclude_characters="<>")))
def test_every_letter_is_read_in_every_frame_whatever_was_thought(
    letter, frame, reasoning, thought
):
    text = f"<think>{thought}</think>{frame.format(letter)}"
    assert read_answer(text, "mcq", DRUGS, reasoning=reasoning).places == ("ABCD".index(letter),)


@given(st.sampled_from(["A", "a"]), WORDS, st.booleans())
def test_an_article_is_no_answer(article, words, reasoning):
    taken = {"because", "since", "as", "is", "for", "or", "and", *DRUGS}
    if not taken & set(words):
        text = " ".join([article, *words])
        assert not read_answer(text, "mcq", DRUGS, reasoning=reasoning).parsed


@given(st.text(), st.sampled_from(["mcq", "multi", "yesno", "oeq"]), st.booleans())
def test_whatever_is_written_is_read_or_not_and_never_breaks(text, form, reasoning):
    options = {"yesno": ["yes", "no"], "oeq": []}.get(form, DRUGS)
    reading = read_answer(text, form, options, reasoning=reasoning)
    assert all(0 <= place < len(options) for place in reading.places)
    assert reading.parsed or not (reading.places or reading.text)


@given(st.sets(st.sampled_from("ABCD"), min_size=1), st.sampled_from([", ", " and ", "; ", " "]))
def test_every_list_of_letters_is_read(letters, between):
    text = between.join(sorted(letters))
    expected = tuple(sorted("ABCD".index(letter) for letter in letters))
    assert read_answer(text, "multi", DRUGS).places == expected


def test_options_said_again_are_no_answer():
    assert not read_answer("A. aspirin\nB. furosemide\nC. insulin", "mcq", DRUGS).parsed


@given(st.sampled_from(range(4)), st.booleans())
def test_an_option_s_whole_text_is_read(place, reasoning):
    assert read_answer(DRUGS[place], "mcq", DRUGS, reasoning=reasoning).places == (place,)
    longer = [f"{drug}, by mouth" for drug in DRUGS] + ["aspirin"]
    assert read_answer(longer[place], "mcq", longer, reasoning=reasoning).places == (place,)
