"""Without a model every baseline answers that the benchmark can teach, and the rest are named."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.benchmark import Benchmark, example
from ehrkg.evaluation import evaluate
from ehrkg.foundation.storage import read_parquet

ALONE = {"chance", "embedding similarity", "logistic model on codes"}
OF_A_BUILD = ("co-occurrence", "knowledge graph", "most frequent option")


def names(scores: pa.Table) -> set[str]:
    return set(scores["model"].to_pylist())


def test_questions_alone_teach_three_and_the_others_are_said_to_need_a_build():
    results = evaluate(example())
    assert names(results.scores) == ALONE
    (note,) = results.notes
    assert all(name in note for name in OF_A_BUILD)
    assert "Benchmark.open(OUT)" in note
    assert note in repr(results)


def test_a_build_teaches_them_all_and_they_say_what_they_said_when_it_was_made(built_demo: Path):
    build = built_demo / "benchmark"
    results = evaluate(Benchmark.open(build))
    assert names(results.scores) == ALONE | set(OF_A_BUILD)
    assert results.scores.equals(read_parquet(build / "scores.parquet"))


def test_of_a_cut_each_question_is_answered_as_in_the_whole(built_demo: Path):
    build = built_demo / "benchmark"
    part = Benchmark.open(build).filter(split="test", format="mcq")
    found, whole = (
        plain_of(scores, part)
        for scores in (
            evaluate(part, embedded_templates=1).scores,
            read_parquet(build / "scores.parquet"),
        )
    )
    assert found.num_rows == len(part) * 5, "all but embedding similarity"
    assert found.equals(whole)


def plain_of(scores: pa.Table, part: Benchmark) -> pa.Table:
    """What was answered to some questions as they are, by who works on arrays."""
    wanted = pc.and_(
        pc.equal(scores["setting"], "plain"),
        pc.not_equal(scores["model"], "embedding similarity"),
    )
    ids = part.column("item_id")
    return scores.filter(pc.and_(wanted, pc.is_in(scores["item_id"], value_set=ids)))


def test_similarity_is_asked_of_as_many_templates_as_was_said():
    results = evaluate(example(), embedded_templates=1)
    asked = results.scores.filter(pc.equal(results.scores["model"], "embedding similarity"))
    by_task = asked.group_by("task").aggregate([("template_id", "count_distinct")])
    assert set(by_task["template_id_count_distinct"].to_pylist()) == {1}
    n = pc.count_distinct(asked["item_id"]).as_py()
    assert any(f"{n} of {len(example())} questions" in note for note in results.notes)
