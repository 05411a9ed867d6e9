"""Cutting a benchmark by what readers said of its questions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ehrkg.benchmark import Benchmark, example
from ehrkg.benchmark.exports import datasheet
from ehrkg.benchmark.opened.reviews import ANSWER, QUESTION, RATINGS, Mark, shown_as
from ehrkg.foundation.errors import InputError, UsageError
from ehrkg.foundation.storage import write_parquet

SOUND = {"answerable": True, "single_answer": True, "plausible": True, "harmful": False}


def said_of(item: dict, reader: str, **ratings: bool) -> str:
    """The two lines of one whole review."""
    about = (QUESTION, item["item_id"], reader)
    shown = shown_as(item["stem"], item["options"])
    lines = [
        Mark(*about, ANSWER, "2026-01-01T00:00:00Z", (item["answer_index"],), shown=shown),
        Mark(*about, RATINGS, "2026-01-01T00:00:09Z", ratings=SOUND | ratings),
    ]
    return "".join(f"{one.as_line()}\n" for one in lines)


@pytest.fixture
def marked(tmp_path: Path) -> Benchmark:
    """The example in a folder; of its choices A read the first four, B the first two.

    B finds the second harmful.
    """
    bench = example()
    write_parquet(bench.to_arrow(), tmp_path / "items.parquet")
    write_parquet(bench.templates(), tmp_path / "templates.parquet")
    items = list(bench.filter(format="mcq"))
    (tmp_path / "review").mkdir()
    (tmp_path / "review" / "marks.jsonl").write_text(
        "".join(said_of(item, "A") for item in items[:4])
        + said_of(items[0], "B")
        + said_of(items[1], "B", harmful=True)
    )
    return Benchmark.open(tmp_path)


def marks_of(bench: Benchmark) -> Path:
    assert bench.folder is not None
    return bench.folder / "review" / "marks.jsonl"


@pytest.mark.parametrize(
    ("word", "many"), [(True, 4), (False, 20), ("twice", 2), ("sound", 3), ("unsound", 1)]
)
def test_questions_are_kept_by_what_was_said_of_them(
    marked: Benchmark, word: bool | str, many: int
) -> None:
    assert len(marked.filter(reviewed=word)) == many
    assert len(marked.filter(format="mcq").filter(reviewed=word, split="test")) <= many


def test_a_recipe_gives_the_same_questions_though_more_was_marked_since(marked: Benchmark) -> None:
    part = marked.filter(reviewed="sound", format="mcq")
    more = list(marked.filter(format="mcq"))[8]
    with marks_of(marked).open("a") as file:
        file.write(said_of(more, "A"))
    assert len(marked.filter(reviewed="sound")) == len(part) + 1
    said = json.loads(json.dumps(part.recipe.as_json()))
    again = Benchmark.from_recipe(said, marked)
    assert again.fingerprint == part.fingerprint


def test_a_recipe_says_that_its_marks_are_gone(marked: Benchmark) -> None:
    part = marked.filter(reviewed=True)
    file = marks_of(marked)
    file.write_text(file.read_text().replace('"harmful": true', '"harmful": false'))
    with pytest.raises(InputError, match="the marks of readers that this recipe was made with"):
        Benchmark.from_recipe(part.recipe, marked)


def test_a_wrong_word_and_a_benchmark_without_a_folder_are_told(marked: Benchmark) -> None:
    with pytest.raises(UsageError, match=r"no such kind of review: 'good'\n  do: use True, False"):
        marked.filter(reviewed="good")
    with pytest.raises(UsageError, match="has no marks of readers"):
        example().filter(reviewed=True)


def test_a_datasheet_says_what_readers_found_or_that_there_were_none(marked: Benchmark) -> None:
    text = datasheet(marked)
    assert "Read blind by 2 readers: 4 questions, 2 of them by two or more." in text
    assert "Not reviewed by clinicians" not in text
    marks_of(marked).unlink()
    assert "Not reviewed by clinicians" in datasheet(marked)
