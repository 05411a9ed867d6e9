"""Agreement of readers: the coefficients, and what is told of a build that was read."""

from __future__ import annotations

from math import isnan
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from ehrkg.benchmark import example
from ehrkg.benchmark.opened.reviews import ANSWER, QUESTION, RATINGS, Mark, read_marks, shown_as
from ehrkg.evaluation.readers.agreement import agreement, coefficients, review_summary
from ehrkg.foundation.errors import InputError
from ehrkg.foundation.storage import write_parquet

SOUND = {"answerable": True, "single_answer": True, "plausible": True, "harmful": False}


def test_kappa_is_that_of_scikit_learn() -> None:
    draw = np.random.default_rng(3)
    for classes in (2, 4, 7):
        first = draw.integers(0, classes, 150)
        second = np.where(draw.random(150) < 0.6, first, draw.integers(0, classes, 150))
        found = agreement("answer", first.tolist(), second.tolist(), list(range(classes)))
        assert found.kappa.value == pytest.approx(cohen_kappa_score(first, second))
        assert found.kappa.low < found.kappa.value < found.kappa.high
        assert found.percent.value == pytest.approx((first == second).mean())


def test_ac1_is_gwets_formula_worked_by_hand() -> None:
    # Three classes, 20 things. Readers use the first 11 and 10 times, the second 5 and 6, the
    # third 4 and 4; they agree on 9 + 4 + 3 = 16. q = (.525, .275, .2), so that
    # p_e = (.525 * .475 + .275 * .725 + .2 * .8) / 2 = .3043750 and AC1 = (.8 - p_e) / (1 - p_e).
    cells = np.array([[9.0, 1.0, 1.0], [1.0, 4.0, 0.0], [0.0, 1.0, 3.0]])
    observed, _, ac1 = coefficients(cells)
    assert observed == pytest.approx(0.8)
    assert ac1 == pytest.approx((0.8 - 0.304375) / (1 - 0.304375))


def test_of_one_class_alone_kappa_is_undefined_and_ac1_is_one() -> None:
    found = agreement("harmful", [False] * 30, [False] * 30, [True, False])
    assert isnan(found.kappa.value)
    assert found.ac1.value == 1.0
    assert found.percent.low < 0.9 < found.percent.high == 1.0  # thirty prove no more


@pytest.fixture
def read_by_two(tmp_path: Path) -> Path:
    """The example's build; A read all twelve questions of choice, B eight, two answers wrong."""
    bench = example()
    write_parquet(bench.to_arrow(), tmp_path / "items.parquet")
    choices = bench.filter(format="mcq")
    lines = []
    for n, item in enumerate(choices):
        for reader in ("A", "B")[: 1 + (n < 8)]:
            right = item["answer_index"]
            answered = (right + 1) % 4 if reader == "B" and n < 2 else right
            ratings = SOUND | {"plausible": n != 5, "harmful": reader == "B" and n == 6}
            said = (QUESTION, item["item_id"], reader)
            shown = shown_as(item["stem"], item["options"])
            lines.append(Mark(*said, ANSWER, "2026-01-01T00:00:00Z", (answered,), shown=shown))
            lines.append(Mark(*said, RATINGS, "2026-01-01T00:00:09Z", ratings=ratings))
    folder = tmp_path / "review"
    folder.mkdir()
    (folder / "marks.jsonl").write_text("".join(f"{one.as_line()}\n" for one in lines))
    return tmp_path


def test_a_build_that_was_read_says_how_and_what_was_found(read_by_two: Path) -> None:
    found = review_summary(read_by_two)
    assert found is not None
    assert (found.questions, found.twice) == (12, 8)
    assert [one.accuracy.value for one in found.readers] == [1.0, 0.75]
    assert found.bad.value == pytest.approx(2 / 12)  # 5 by both, 6 by one
    assert found.bad_for_all.value == pytest.approx(1 / 8)
    on = {one.on: one for one in found.agreements[1, 2]}
    assert on["answer"].percent.value == 0.75
    assert on["harmful"].percent.value == pytest.approx(7 / 8)
    assert not found.is_full
    assert any(line.startswith("This is part of a review") for line in found.sentences())
    assert any("2 readers: 12 questions, 8 of them by two" in line for line in found.sentences())


def test_reviews_of_other_words_do_not_count(read_by_two: Path) -> None:
    items = example().to_arrow()
    stems = [stem.replace("gout", "podagra") for stem in items["stem"].to_pylist()]
    changed = items.set_column(items.column_names.index("stem"), "stem", [stems])
    write_parquet(changed, read_by_two / "items.parquet")
    found = review_summary(read_by_two)
    assert found is not None
    assert found.questions == 9
    assert found.other_words == 5


def test_a_line_cut_off_by_a_kill_costs_that_line_only(read_by_two: Path) -> None:
    path = read_by_two / "review" / "marks.jsonl"
    whole = read_marks(read_by_two)
    path.write_bytes(path.read_bytes()[:-20])
    cut = read_marks(read_by_two)
    assert cut.torn == 1
    assert cut.lines == whole.lines[:-1]


def test_a_line_that_is_no_mark_is_named(read_by_two: Path) -> None:
    path = read_by_two / "review" / "marks.jsonl"
    path.write_text('{"what": "question"}\n' + path.read_text())
    with pytest.raises(InputError, match=r"marks.jsonl, line 1: this line is no mark"):
        read_marks(read_by_two)


def test_without_marks_nothing_is_told(tmp_path: Path) -> None:
    assert review_summary(tmp_path) is None
