"""Questions with several right answers: nothing but medicine tells which are right."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from ehrkg.benchmark import Benchmark, CheckReport, Facts, check, make_questions, make_templates
from ehrkg.benchmark.distractors.several_balance import Sets, level, slack_of
from ehrkg.benchmark.distractors.shortlists import Shortlist
from ehrkg.benchmark.questions.items import write_questions
from ehrkg.foundation.ledger import Ledger
from ehrkg.foundation.storage import write_parquet
from tests.benchmark.worlds import many_pairs, many_sets

WORLD = many_sets()
PARTS = (WORLD.hospital, WORLD.knowledge, WORLD.mapping, WORLD.verified)
TEMPLATES = make_templates(*PARTS)
GUESSES = (
    "position",
    "most frequent option",
    "least frequent option",
    "highest degree",
    "lowest degree",
    "name style",
    "options-only embedding",
    "boosted trees",
)


@cache
def several() -> tuple[Benchmark, Ledger]:
    """A benchmark of questions with several right answers, and its ledger."""
    ledger = Ledger()
    made = make_questions(TEMPLATES, *PARTS, formats=["multi"], ledger=ledger)
    beside = {
        "relations": WORLD.verified.relations,
        "events": WORLD.hospital.events,
        "pool": made.pool,
    }
    return Benchmark.from_tables(templates=TEMPLATES, items=made.items, **beside), ledger


def with_items(items: pa.Table) -> CheckReport:
    """The check of the same benchmark with other items."""
    bench, _ = several()
    beside = {name: bench.beside(name) for name in ("relations", "events", "pool")}
    return check(Benchmark.from_tables(templates=bench.templates(), items=items, **beside))


def found(report: CheckReport, rule: str) -> str:
    [row] = [row for row in report if row.rule == rule]
    return row.status


def test_no_way_to_guess_beats_chance_where_several_are_right() -> None:
    bench, _ = several()
    report = check(bench, facts=Facts(WORLD.cohort, WORLD.knowledge, WORLD.verified))
    assert report.ok, report.as_text()
    rows = {row.rule: row for row in report}
    assert rows["balance, several right"].status == "ok"
    for name in GUESSES:
        row = rows[f"{name}, several right"]
        assert row.n > 200
        assert 0.7 < row.value < 1.3, row.text


Row = Mapping[str, Any]


def of_pool(column: str) -> dict[str, float]:
    pool = several()[0].beside("pool")
    assert pool is not None
    return dict(zip(pool["code"].to_pylist(), pool[column].to_pylist(), strict=True))


def tops(row: Row, column: str) -> bool:
    """Whether of the options that are greatest by a column one is right."""
    values = of_pool(column)
    shown = [values[code] for code in row["option_codes"]]
    right = [
        value
        for value, why in zip(shown, row["distractor_reasons"], strict=True)
        if why == "answer"
    ]
    return max(shown) == max(right)


def right_or_absent(row: Row) -> bool:
    """Whether the code that is right oftenest of all is not wrong."""
    told = [
        (code, why)
        for one in several()[0].to_arrow().to_pylist()
        for code, why in zip(one["option_codes"], one["distractor_reasons"], strict=True)
    ]
    counts = pc.value_counts(pa.array([code for code, why in told if why == "answer"])).to_pylist()
    often = max(counts, key=lambda one: (one["counts"], one["values"]))["values"]
    return all(
        code != often or why == "answer"
        for code, why in zip(row["option_codes"], row["distractor_reasons"], strict=True)
    )


@pytest.mark.parametrize(
    ("keep", "rule"),
    [
        (lambda row: tops(row, "degree"), "highest degree, several right"),
        (lambda row: tops(row, "n_visits"), "most frequent option, several right"),
        (right_or_absent, "balance, several right"),
    ],
)
def test_what_stands_out_among_right_ones_is_found(keep: Callable[[Row], bool], rule: str) -> None:
    items = several()[0].to_arrow()
    kept = items.filter(pa.array([keep(row) for row in items.to_pylist()]))
    assert kept.num_rows > 50
    assert found(with_items(kept), rule) == "failed"


def test_every_template_without_such_a_question_has_its_reason() -> None:
    bench, ledger = several()
    [entry] = [entry for entry in ledger if entry.unit == "multi"]
    assert entry.rows_in == TEMPLATES.num_rows
    assert entry.rows_out == len(bench)
    assert entry.rows_in == entry.rows_out + sum(entry.dropped.values())
    assert entry.dropped["single_answer"] > 0
    assert set(entry.dropped) <= {"single_answer", "balance", "too_few_distractors", "same_name"}


def test_neither_order_nor_pieces_nor_processes_change_a_question(tmp_path: Path) -> None:
    shuffled = TEMPLATES.take(pa.array(np.random.default_rng(1).permutation(TEMPLATES.num_rows)))
    backwards = pa.array(np.arange(WORLD.hospital.events.num_rows)[::-1])
    hospital = replace(WORLD.hospital, events=WORLD.hospital.events.take(backwards))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ehrkg.benchmark.questions.writing.PIECE", 100)
        patch.setattr("ehrkg.benchmark.distractors.draws.PIECE", 100)
        write_questions(
            tmp_path / "pieces.parquet",
            shuffled,
            hospital,
            *PARTS[1:],
            formats=["multi"],
            workers=2,
        )
    write_parquet(several()[0].to_arrow(), tmp_path / "whole.parquet")
    whole = (tmp_path / "whole.parquet").read_bytes()
    assert (tmp_path / "pieces.parquet").read_bytes() == whole


def test_where_nothing_else_is_right_there_is_no_such_question() -> None:
    world = many_pairs(8, 30)
    parts = (world.hospital, world.knowledge, world.mapping, world.verified)
    templates, ledger = make_templates(*parts), Ledger()
    made = make_questions(templates, *parts, formats=["multi"], ledger=ledger)
    assert made.items.num_rows == 0
    [entry] = [entry for entry in ledger if entry.unit == "multi"]
    assert entry.dropped == {"single_answer": templates.num_rows}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_levelled_codes_are_right_as_often_as_their_questions_have_it(seed: int) -> None:
    draw = np.random.default_rng(seed)
    n, size, k = 120, 30, 6
    rights = np.array([draw.choice(10 + size // 2, 3, replace=False) for _ in range(n)])
    rights[: n // 2, 2] = -1
    n_right = (rights >= 0).sum(axis=1)
    members = np.full((n, 32), -1, np.int32)
    for at in range(n):
        others = draw.permutation(np.setdiff1d(np.arange(size), rights[at]))[:20]
        members[at, : len(others)] = others
    matched = (np.arange(32) % n_right[:, None]).astype(np.int8)
    luck = np.where(members >= 0, 0.0, -np.inf).astype(np.float32)
    lists = Shortlist(members, luck, np.zeros((n, 32), np.int16), np.zeros((n, 32), np.uint32))
    axis = draw.permutation(size)
    made = level(Sets(lists, matched, rights, size, k, (axis,)))
    assert made.kept.sum() > n / 3
    surplus, expected = np.zeros(size), np.zeros(size)
    for at in np.flatnonzero(made.kept).tolist():
        places = made.chosen[at][made.chosen[at] >= 0]
        wrong = members[at, places].tolist()
        assert len(set(wrong)) == len(wrong) == k - n_right[at]
        assert np.bincount(matched[at, places]).tolist() == [k // n_right[at] - 1] * n_right[at]
        right = rights[at][rights[at] >= 0]
        surplus[right] += k - n_right[at]
        surplus[wrong] -= n_right[at]
        expected[[*right, *wrong]] += n_right[at]
    for off, often in zip(surplus.tolist(), expected.tolist(), strict=True):
        assert abs(off) <= slack_of(often, k)
