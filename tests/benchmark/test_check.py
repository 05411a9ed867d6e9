"""`check` finds each fault that is planted, and passes a sound benchmark."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import sklearn.ensemble  # noqa: F401 - limits of threads hold for libraries that are loaded by then
from threadpoolctl import threadpool_limits

from ehrkg.benchmark import (
    ITEMS,
    POOL,
    Benchmark,
    CheckReport,
    Facts,
    TrueShare,
    check,
    hidden_edges,
    make_questions,
    make_templates,
)
from ehrkg.benchmark.checking.adversaries import Guesser
from ehrkg.benchmark.checking.adversary_options import FROM_POOL, STYLE, Options
from ehrkg.benchmark.checking.checks import over_chance
from ehrkg.benchmark.checking.hiding import SEVERAL, hide
from ehrkg.benchmark.checking.page import fifty, write_failing, write_page
from ehrkg.benchmark.facts.giveaways import context_rules
from ehrkg.benchmark.facts.intervals import clustered_mean, holm, wilson
from ehrkg.benchmark.rules import rule_table
from ehrkg.foundation.hashing import hash64
from tests.benchmark.builders import World
from tests.benchmark.test_templates import ASTHMA, GOUT, HEART, STROKE, base
from tests.benchmark.worlds import drug_world, many_pairs, many_sets, sound

Row = dict[str, Any]


def beside(bench: Benchmark, name: str) -> pa.Table:
    table = bench.beside(name)
    assert table is not None
    return table


def changed(change: Callable[[Row], None], **beside: pa.Table) -> Benchmark:
    """The sound benchmark with every item changed."""
    bench = sound()
    rows = bench.to_arrow().to_pylist()
    for row in rows:
        change(row)
    held = {name: bench.beside(name) for name in ("relations", "events", "pool")} | beside
    return Benchmark.from_tables(
        templates=bench.templates(), items=pa.Table.from_pylist(rows, schema=ITEMS), **held
    )


def status(report: CheckReport, rule: str) -> set[str]:
    found = {row.status for row in report if row.rule == rule}
    assert found, f"no rule {rule}"
    return found


def facts_of(world: World) -> Facts:
    return Facts(world.cohort, world.knowledge, world.verified)


def test_a_sound_benchmark_fails_nothing() -> None:
    report = check(sound(), facts=facts_of(many_pairs()))
    assert report.ok, report.as_text()
    assert {"position", "boosted trees", "balance_4", "recorded_in_patient"} <= {
        row.rule for row in report
    }


def test_a_context_of_another_size_than_the_rules_say_is_found() -> None:
    bench = sound()
    size = context_rules()["size"]
    for wrong in (size["least"] - 1, size["most"] + 1):
        rows = bench.templates().to_pylist()
        rows[0]["context"] = ["ICD10CM:A00.1"] * wrong
        templates = pa.Table.from_pylist(rows, schema=bench.templates().schema)
        items = bench.filter(template_id=rows[0]["id"], format="oeq").to_arrow()
        assert items.num_rows
        report = check(Benchmark.from_tables(templates=templates, items=items))
        assert status(report, "context_size") == {"failed"}


def test_what_was_not_measured_is_not_ok() -> None:
    report = check(sound())
    assert not {"seen in history", "not in history"} & {row.rule for row in report}


def test_without_questions_of_choice_nothing_is_shown_of_giveaways() -> None:
    report = check(sound().filter(format="oeq"), facts=facts_of(many_pairs()))
    assert report.ok
    assert not report.green
    assert status(report, "adversaries") == {"too few to tell"}


def test_without_events_or_pool_it_is_not_green() -> None:
    bench = sound()
    report = check(Benchmark.from_tables(templates=bench.templates(), items=bench.to_arrow()))
    assert report.ok
    assert not report.green
    assert status(report, "recorded_in_patient") == {"too few to tell"}
    assert status(report, "most frequent option") == {"too few to tell"}


def reordered(row: Row, order: list[int]) -> None:
    answer = row["option_codes"][row["answer_index"]]
    for name in ("options", "option_codes", "distractor_reasons"):
        row[name] = [row[name][at] for at in order]
    row["answer_index"] = row["option_codes"].index(answer)


def answer_first(row: Row) -> None:
    if row["format"] == "mcq":
        at = row["answer_index"]
        reordered(row, [at, *(place for place in range(row["n_options"]) if place != at)])


def answer_last(row: Row) -> None:
    if row["format"] == "mcq":
        at = row["answer_index"]
        reordered(row, [*(place for place in range(row["n_options"]) if place != at), at])


def answer_longest(row: Row) -> None:
    if row["format"] == "mcq":
        row["options"][row["answer_index"]] += " of some longer kind"
        row["answer"] = [row["options"][row["answer_index"]]]


def answer_echoed(row: Row) -> None:
    if row["format"] == "mcq":
        row["stem"] += " Think of " + row["answer"][0].split()[1] + "."


def answer_twice(row: Row) -> None:
    if row["format"] == "mcq":
        row["options"][(row["answer_index"] + 1) % row["n_options"]] = row["answer"][0]


def answer_elsewhere(row: Row) -> None:
    if row["format"] == "mcq":
        row["answer_index"] = (row["answer_index"] + 1) % row["n_options"]


def answer_in_stem(row: Row) -> None:
    row["stem"] = f"It was {row['answer'][0].lower()}. " + row["stem"]


def other_system(row: Row) -> None:
    if row["format"] == "mcq":
        row["option_codes"][(row["answer_index"] + 1) % row["n_options"]] = "ICD9CM:401.9"


def symptom(row: Row) -> None:
    if row["format"] == "mcq":
        row["option_codes"][(row["answer_index"] + 1) % row["n_options"]] = "ICD10CM:R05.1"


def markup(row: Row) -> None:
    if row["format"] == "mcq":
        row["options"][0] = "<b>" + row["options"][0] + "</b>"


def too_long(row: Row) -> None:
    row["answer"] = ["x" * 61]


def nothing_accepted(row: Row) -> None:
    row["accepted_codes"] = []


def older(row: Row) -> None:
    row["stem"] = row["stem"].replace("-year-old", "1-year-old")


def foretold(row: Row) -> None:
    row["stem"] += " Which of these will develop?"


def timeless(row: Row) -> None:
    row["timing"] = ""


def unexplained(row: Row) -> None:
    row["distractor_reasons"] = ["" for _ in row["options"]]


def plain_no(row: Row) -> None:
    row |= {"format": "yesno", "options": ["yes", "no"], "answer": ["no"], "answer_index": 1}
    row["option_codes"] = ["ICD10CM:B00.1"] * 2
    row["distractor_reasons"] = ["seldom", "answer"]


def one_of_several(row: Row) -> None:
    row["format"] = "multi"


def no_template(row: Row) -> None:
    row["template_id"] = "t0"


@pytest.mark.parametrize(
    ("fault", "rule"),
    [
        (answer_first, "position"),
        (answer_longest, "longest option"),
        (answer_longest, "name style"),
        (answer_longest, "boosted trees"),
        (answer_echoed, "lexical overlap"),
        (answer_twice, "answer_among_options"),
        (answer_twice, "options_distinct"),
        (answer_elsewhere, "answer_among_options"),
        (answer_elsewhere, "answer_is_the_templates"),
        (answer_in_stem, "answer_not_in_stem"),
        (other_system, "one_code_system"),
        (symptom, "answers_are_diseases"),
        (markup, "names_well_formed"),
        (too_long, "names_well_formed"),
        (nothing_accepted, "accepted_holds_answer"),
        (no_template, "template_there"),
        (older, "person_in_stem"),
        (foretold, "claims_no_more"),
        (timeless, "says_timing"),
        (unexplained, "reasons_told"),
        (plain_no, "no_is_founded"),
        (one_of_several, "several_are_right"),
    ],
)
def test_a_planted_fault_is_found(fault: Callable[[Row], None], rule: str) -> None:
    report = check(changed(fault))
    assert status(report, rule) == {"failed"}
    assert not report.ok
    line = next(row for row in report if row.rule == rule)
    assert report.as_text().startswith("failed")
    assert line.as_json()["status"] == "failed"


@pytest.mark.parametrize(
    ("column", "sign", "rule"),
    [
        ("n_visits", 1, "most frequent option"),
        ("n_visits", -1, "least frequent option"),
        ("degree", 1, "highest degree"),
        ("degree", -1, "lowest degree"),
        ("confidence", 1, "mapping confidence"),
    ],
)
def test_an_answer_that_the_pool_betrays_is_found(column: str, sign: int, rule: str) -> None:
    bench = sound()
    answers = {row["answer"][0] for row in bench.templates().to_pylist()}
    # Half of the codes are answers only, the others distractors only: the worst of all balances.
    right = {code for code in answers if hash64(code) % 2}
    rows = beside(bench, "pool").to_pylist()
    for row in rows:
        row[column] = 50 + sign * (10 if row["code"] in right else -10)
    pool = pa.Table.from_pylist(rows, schema=beside(bench, "pool").schema)

    def swap(row: Row) -> None:
        if row["format"] == "mcq":
            for at in range(row["n_options"]):
                wanted = right if at == row["answer_index"] else answers - right
                row["option_codes"][at] = sorted(wanted)[hash64(row["item_id"], at) % len(wanted)]

    report = check(changed(swap, pool=pool))
    assert status(report, rule) == {"failed"}
    assert "failed" in status(report, "balance_4")


def test_distractors_that_no_question_asks_for_are_found() -> None:
    never = [f"ICD10CM:N{at:02d}.1" for at in range(30)]

    def swap(row: Row) -> None:
        if row["format"] == "mcq":
            for at in range(row["n_options"]):
                if at != row["answer_index"]:
                    row["option_codes"][at] = never[hash64(row["item_id"], at) % len(never)]

    assert status(check(sound()), "asked for elsewhere") <= {"ok", "too few to tell"}
    assert status(check(changed(swap)), "asked for elsewhere") == {"failed"}


# ---- yes or no, and several right --------------------------------------------------------------


def asked_whether(row: Row, yes: bool, code: str = "") -> None:
    """A question of choice made into one whether the answer, or a distractor, is right."""
    if row["format"] == "mcq":
        at = row["answer_index"] if yes else (row["answer_index"] + 1) % row["n_options"]
        row["option_codes"] = [code or row["option_codes"][at]] * 2
        row |= {"format": "yesno", "n_options": 2, "options": ["yes", "no"]}
        row |= {"answer": ["yes" if yes else "no"], "answer_index": 0 if yes else 1}
        row["distractor_reasons"] = ["answer", ""] if yes else ["contradicted", "answer"]


def several_asked(row: Row, right: list[int]) -> None:
    """A question of choice made into one with several right answers."""
    if row["format"] == "mcq":
        row |= {"format": "multi", "answer_index": -1}
        row["answer"] = [row["options"][at] for at in right]


def by_coin(row: Row) -> bool:
    return hash64("coin", row["item_id"]) % 2 == 0


def two_of_four(row: Row) -> list[int]:
    order = sorted(range(4), key=lambda at: hash64("place", row["item_id"], at))
    return order[:2]


@pytest.mark.parametrize(
    ("fault", "rule", "found"),
    [
        (lambda row: asked_whether(row, by_coin(row)), "position, yes/no", False),
        (lambda row: asked_whether(row, yes=True), "position, yes/no", True),
        (lambda row: asked_whether(row, yes=False), "position, yes/no", True),
        (lambda row: several_asked(row, two_of_four(row)), "position, several right", False),
        (lambda row: several_asked(row, [0, 1]), "position, several right", True),
    ],
)
def test_always_the_same_word_or_place_is_found(
    fault: Callable[[Row], None], rule: str, found: bool
) -> None:
    report = check(changed(fault))
    assert ("failed" in status(report, rule)) == found


@pytest.mark.parametrize("form", ["yes/no", "several right"])
@pytest.mark.parametrize(
    ("column", "sign", "rule"),
    [
        ("n_visits", 1, "most frequent option"),
        ("n_visits", -1, "least frequent option"),
        ("degree", 1, "highest degree"),
    ],
)
def test_what_the_pool_betrays_is_found_in_every_format(
    form: str, column: str, sign: int, rule: str
) -> None:
    bench = sound()
    answers = sorted({row["answer"][0] for row in bench.templates().to_pylist()})
    right = [code for code in answers if hash64(code) % 2]
    wrong = [code for code in answers if code not in right]
    rows = beside(bench, "pool").to_pylist()
    for row in rows:
        row[column] = 50 + sign * (10 if row["code"] in right else -10)
    pool = pa.Table.from_pylist(rows, schema=beside(bench, "pool").schema)

    def swap(row: Row) -> None:
        place = hash64(row["item_id"])
        if form == "yes/no":
            among = right if by_coin(row) else wrong
            asked_whether(row, by_coin(row), among[place % len(among)])
        elif row["format"] == "mcq":
            chosen = two_of_four(row)
            for at in range(4):
                among = right if at in chosen else wrong
                row["option_codes"][at] = among[hash64(row["item_id"], at) % len(among)]
            several_asked(row, chosen)

    report = check(changed(swap, pool=pool))
    assert status(report, f"{rule}, {form}") == {"failed"}
    assert status(report, f"boosted trees, {form}") <= {"failed", "too few to tell"}


def test_an_answer_that_stands_in_the_history_is_found() -> None:
    bench = sound()
    templates = bench.templates().to_pylist()
    for row in templates:
        row["history"] = row["answer"]
    rows = [{**row, "history": 1} for row in bench.to_arrow().to_pylist()]
    report = check(
        Benchmark.from_tables(
            templates=pa.Table.from_pylist(templates, schema=bench.templates().schema),
            items=pa.Table.from_pylist(rows, schema=ITEMS),
        )
    )
    assert status(report, "seen in history") == {"failed"}


def test_a_distractor_recorded_in_another_visit_is_found() -> None:
    bench = sound()
    item = next(iter(bench.filter(format="mcq")))
    wrong = item["option_codes"][(item["answer_index"] + 1) % item["n_options"]]
    patient = bench.subset([item["template_id"]]).templates()["patient"][0].as_py()
    events = beside(bench, "events")
    more = events.slice(0, 1).to_pylist()
    more[0] |= {"patient": patient, "visit": "another", "code": wrong}
    events = pa.concat_tables([events, pa.Table.from_pylist(more, schema=events.schema)])
    report = check(changed(lambda _: None, events=events))
    assert status(report, "recorded_in_patient") == {"failed"}
    line = next(row for row in report if row.rule == "recorded_in_patient")
    assert item["item_id"] in line.items


def altered(change: Callable[[Row], None]) -> Benchmark:
    """The sound benchmark with its first template changed."""
    bench = sound()
    rows = bench.templates().to_pylist()
    change(rows[0])
    held = {name: bench.beside(name) for name in ("relations", "events", "pool")}
    templates = pa.Table.from_pylist(rows, schema=bench.templates().schema)
    return Benchmark.from_tables(templates=templates, items=bench.to_arrow(), **held)


def other_relation(row: Row) -> None:
    row["relation"] = "r0"


def told_answer(row: Row) -> None:
    row["context"] = [*row["context"], row["answer"][0]]
    row["context_routes"] = [*row["context_routes"], ""]


def later(row: Row) -> None:
    row["task"] = "prognosis"


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (other_relation, "template: relation_supported"),
        (told_answer, "template: context_drawn_by_the_rules"),
        (later, "template: same_episode"),
    ],
)
def test_a_template_that_breaks_a_rule_is_found(change: Callable[[Row], None], rule: str) -> None:
    report = check(altered(change), facts=facts_of(many_pairs()))
    assert status(report, rule) == {"failed"}
    line = next(row for row in report if row.rule == rule)
    assert altered(change).templates()["id"][0].as_py() in line.items


@pytest.mark.parametrize("reason", ["supported_in_context", "recorded_in_patient"])
def test_a_distractor_that_a_rule_keeps_out_is_found(reason: str) -> None:
    bench = sound()
    item = next(iter(bench.filter(format="mcq")))
    template = bench.subset([item["template_id"]]).templates().to_pylist()[0]
    wrong = item["option_codes"][(item["answer_index"] + 1) % item["n_options"]]
    world = many_pairs()
    concepts = {row["code"]: row["concept"] for row in world.links}
    if reason == "supported_in_context":
        world.edge(concepts[template["context"][0]], "CAUSES", concepts[wrong])
    else:
        patient = template["patient"]
        world.events.append({**world.events[0], "patient": patient, "code": wrong, "row": 9999})
        world.events[-1]["visit"] = template["visit"]
    report = check(bench, facts=facts_of(world))
    assert status(report, f"distractor: {reason}") == {"failed"}
    line = next(row for row in report if row.rule == f"distractor: {reason}")
    assert item["item_id"] in line.items


def test_a_strategy_that_did_not_choose_its_distractors_is_found() -> None:
    """These were not contradicted, are no kin of the answer, and stand with it nowhere else."""
    for strategy in ("sibling", "cooccurring"):
        claimed = changed(partial(_said, strategy))
        report = check(claimed, facts=facts_of(many_pairs()))
        assert status(report, f"distractor: {strategy}") == {"failed"}


def _said(strategy: str, row: Row) -> None:
    row["strategy"] = strategy


def test_a_distractor_known_far_better_than_the_answer_is_found() -> None:
    pool = beside(sound(), "pool").to_pylist()
    [known] = [row for row in pool if row["code"] == "ICD10CM:B03.1"]
    known["decile"] = 40
    report = check(
        changed(lambda _row: None, pool=pa.Table.from_pylist(pool, schema=POOL)),
        facts=facts_of(many_pairs()),
    )
    line = next(row for row in report if row.rule == "distractor: frequency")
    held = {row["item_id"]: row["option_codes"] for row in sound()}
    assert line.status == "failed"
    assert all("ICD10CM:B03.1" in held[item] for item in line.items)


def test_an_answer_with_more_than_its_share_is_found() -> None:
    rows = sound().templates().to_pylist()
    for row in rows:
        row["answer"] = rows[0]["answer"]
    templates = pa.Table.from_pylist(rows, schema=sound().templates().schema)
    bench = Benchmark.from_tables(templates=templates, items=sound().to_arrow())
    report = check(bench, facts=facts_of(many_pairs()))
    assert status(report, "template: answer_share") == {"failed"}


def test_a_reason_that_is_not_the_only_one_is_found() -> None:
    world, more = drug_world(), drug_world()
    more.treats("DRUGBANK:R", "MONDO:e")
    parts = (world.hospital, world.knowledge, world.mapping, world.verified)
    templates = make_templates(*parts, tasks=["treatment"])
    assert all(templates["sole_indication"].to_pylist())
    items = make_questions(templates, *parts, formats=["oeq"]).items
    bench = Benchmark.from_tables(templates=templates, items=items)
    assert status(check(bench, facts=facts_of(world)), "template: sole_indication") == {"ok"}
    assert status(check(bench, facts=facts_of(more)), "template: sole_indication") == {"failed"}


def test_an_old_disease_that_is_not_said_to_be_newly_recorded_is_found() -> None:
    world = base()
    world.attributes[STROKE]["chronic"] = True
    world.patient("p2").visit([ASTHMA]).visit([HEART, GOUT]).visit([STROKE])
    world.relation(HEART, "CAUSES", STROKE)
    parts = (world.hospital, world.knowledge, world.mapping, world.verified)
    told = make_templates(*parts, tasks=["prognosis"])
    assert told["flags"].to_pylist() == [["newly_recorded"]]
    silent = told.set_column(
        told.schema.get_field_index("flags"), "flags", pa.array([[]], pa.list_(pa.string()))
    )
    for templates, found in ((told, "ok"), (silent, "failed")):
        items = make_questions(templates, *parts, formats=["oeq"]).items
        bench = Benchmark.from_tables(templates=templates, items=items)
        assert status(check(bench, facts=facts_of(world)), "template: flags_told") == {found}


def test_the_page_shows_fifty_questions_of_every_task_and_format(tmp_path: Path) -> None:
    bench = changed(markup)
    report = check(bench)
    page = write_page(tmp_path / "page.html", bench, report).read_text()
    assert page.count("<article>") == 50
    assert "<b>Resulting" not in page, "markup in a name is shown, not obeyed"
    assert "failed" in page
    rows = fifty(bench)
    assert {row["format"] for row in rows} == {"mcq", "oeq"}
    assert len({row["template_id"] for row in rows}) == 50
    told = write_failing(tmp_path / "failing.tsv", report).read_text().splitlines()
    assert told[0] == "rule\tid"
    assert f"names_well_formed\t{report_items(report, 'names_well_formed')[0]}" in told


def report_items(report: CheckReport, rule: str) -> tuple[str, ...]:
    return next(row.items for row in report if row.rule == rule)


def test_a_prognosis_without_its_gap_is_found() -> None:
    def prognosis(row: Row) -> None:
        row["task"] = "prognosis"

    assert status(check(changed(prognosis)), "gap_in_range") == {"failed"}


# Statistics


def test_questions_of_one_patient_count_as_little_more_than_one() -> None:
    values = np.array([1.0, 0.0] * 50)
    together = clustered_mean(values, np.repeat([0, 1], 50).astype(np.int64), span=1)
    apart = clustered_mean(values, np.arange(100), span=1)
    repeated = clustered_mean(np.repeat(values[:20], 5), np.repeat(np.arange(20), 5), span=1)
    assert together.clusters == 2
    assert repeated.error > 1.8 * apart.error * np.sqrt(100 / 100)
    assert apart.interval()[0] < 0.5 < apart.interval()[1]


def test_one_patient_proves_nothing() -> None:
    alone = clustered_mean(np.ones(50), np.zeros(50, dtype=np.int64), span=1)
    assert alone.p_above(0.5) == 1.0
    assert alone.interval() == (-np.inf, np.inf)


def test_a_few_patients_who_agree_prove_nothing() -> None:
    for value in (0.0, 4.0):
        agreed = clustered_mean(np.full(3, value), np.arange(3), span=4)
        low, high = agreed.interval(0.98)
        assert low < 0.5
        assert high > 1.15
        assert agreed.p_above(1.15) > 0.01


@pytest.mark.parametrize("fault", [answer_first, answer_last])
def test_too_few_patients_are_neither_ok_nor_failed(fault: Callable[[Row], None]) -> None:
    bench = changed(fault)
    clusters = sorted(set(bench.column("cluster").to_pylist()))[:19]
    few = bench.filter(cluster=clusters)
    report = check(few)
    assert status(report, "position") == {"too few to tell"}
    assert status(report, "longest option") == {"too few to tell"}
    assert not report.green


def test_intervals_cover_the_truth_about_as_often_as_they_say() -> None:
    random = np.random.default_rng(0)
    covered = 0
    for _ in range(200):
        rates = random.beta(2, 2, 60)
        clusters = np.repeat(np.arange(60), 5)
        values = (random.random(300) < rates[clusters]).astype(float)
        low, high = clustered_mean(values, clusters, span=1).interval(0.95)
        covered += low < 0.5 < high
    assert 182 <= covered <= 199


def test_holm_is_never_below_the_plain_p_and_keeps_their_order() -> None:
    plain = [0.001, 0.04, 0.03, 0.5]
    corrected = holm(plain)
    assert all(more >= less for more, less in zip(corrected, plain, strict=True))
    assert corrected[0] == 0.004


def test_wilson_of_nothing_is_everything() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


# True distractors


def entangled() -> World:
    """Every cause brings about every effect, but for its patients' sake few are recorded."""
    world = many_pairs(14, 90)
    for cause in range(14):
        for effect in range(14):
            if (cause + effect) % 3 == 0 and cause != effect:
                # Two origins: one statement of a source that nobody described supports nothing.
                for origin in ("made", "another"):
                    world.edge(f"MONDO:c{cause}", "CAUSES", f"MONDO:e{effect}", origin=origin)
    return world


def test_hidden_edges_find_none_where_there_is_none_and_some_where_there_are() -> None:
    shares = []
    for world in (many_pairs(14, 90), entangled()):
        parts = (world.hospital, world.knowledge, world.mapping, world.verified)
        [found] = hidden_edges(make_templates(*parts), *parts)
        shares.append(found)
    assert shares[0].found == 0
    assert shares[0].high > 0
    assert shares[1].found > 0
    assert shares[1].low < shares[1].share < shares[1].high


def test_parallel_edges_are_hidden_together_and_so_is_what_rests_on_them() -> None:
    world = many_pairs(14, 20)
    world.edge("MONDO:c0", "CAUSES", "MONDO:e0", origin="another")
    first = world.edges[0]["id"]
    relation = world.relations[0]["id"]
    world.evidence.append(
        {
            "id": "v1",
            "relation": relation,
            "kind": "path",
            "polarity": "supports",
            "text": "",
            "source": "made",
            "origin": "made",
            "weight": 0.9,
            "meta_path": "stated",
            "edges": [first],
            "concepts": [],
        }
    )
    for seed in range(20):
        known, trusted = hide(world.knowledge, world.verified, share=0.5, seed=seed)
        left = {(row["subject"], row["object"]): 0 for row in known.edges.to_pylist()}
        both = sum(
            row["subject"] == "MONDO:c0" and row["object"] == "MONDO:e0"
            for row in known.edges.to_pylist()
        )
        assert both in (0, 2)
        assert (relation in trusted.relations["id"].to_pylist()) == (both == 2)
        assert 0 < len(left) < 14


def test_questions_with_several_right_answers_are_estimated_apart() -> None:
    tangled = many_sets()
    for cause in range(16):
        for turn in range(3):
            for origin in ("made", "another"):
                effect = f"MONDO:e{turn}{(cause + 5) % 16}"
                tangled.edge(f"MONDO:c{cause}", "CAUSES", effect, origin=origin)
    several = []
    for world in (many_sets(), tangled):
        parts = (world.hospital, world.knowledge, world.mapping, world.verified)
        found = hidden_edges(make_templates(*parts), *parts, forms=["mcq", "multi"], share=0.5)
        assert [one.strategy for one in found] == ["frequency", "frequency" + SEVERAL]
        several.append(found[1])
    assert several[0].found == 0
    assert several[0].distractors > 3 * several[0].questions, (
        "of six options two or three are right"
    )
    assert several[1].found > 0


@pytest.mark.parametrize("strategy", ["frequency", "frequency, several right"])
def test_an_estimate_above_its_bound_fails_and_an_unsure_one_is_not_green(strategy: str) -> None:
    def share(found: int, low: float, high: float) -> TrueShare:
        return TrueShare("diagnosis", strategy, 100, 300, found, found / 300, low, high)

    for estimate, expected in (
        (share(30, 0.05, 0.15), "failed"),
        (share(0, 0.0, 0.03), "too few to tell"),
        (share(0, 0.0, 0.005), "ok"),
    ):
        report = check(sound().filter(format="oeq"), true_distractors=[estimate])
        assert status(report, f"true distractors, {strategy}") == {expected}


def drawn_by_chance(seed: int, n: int = 150, k: int = 4, n_things: int = 40) -> Options:
    """Options of which the answer is drawn like any other."""
    random = np.random.default_rng(seed)
    things = np.array([random.choice(n_things, k, replace=False) for _ in range(n)])
    right = random.integers(0, k, n)
    names = (*STYLE, *FROM_POOL, "overlap")
    features = {
        name: values[things].ravel()
        for name, values in zip(
            names, random.integers(1, 9, (len(names), n_things)).astype(float), strict=True
        )
    }
    item = np.repeat(np.arange(n), k)
    return Options(
        task="diagnosis",
        item=item,
        n_options=np.full(n, k),
        place=np.tile(np.arange(k), n),
        is_answer=np.tile(np.arange(k), n) == right[item],
        text=[f"thing {at}" for at in things.ravel()],
        features=features,
        thing=np.array([hash64(at) >> 1 for at in range(n_things)])[things].ravel(),
        cluster=np.array([hash64("patient", at // 2) >> 1 for at in range(n)]),
    )


def guesser(options: Options, **other: int) -> Guesser:
    limits = rule_table("check")["adversary"]
    names = ("least_training", "most_training", "ways")
    return Guesser(options, encoder=None, **{name: limits[name] for name in names} | other)


def test_a_sound_benchmark_passes_for_ninety_nine_seeds_of_a_hundred() -> None:
    """Answers drawn like any other option: no adversary but one in a hundred is right too often."""
    limits = rule_table("check")["adversary"]
    failed = 0
    for seed in range(100):
        options = drawn_by_chance(seed)
        estimates = [
            over_chance(options, right)
            for _, _, right in guesser(options).all()
            if right is not None
        ]
        told = [one for one in estimates if one is not None]
        p_values = holm([one.p_above(limits["times_chance"]) for one in told])
        failed += min(p_values) <= 1 - limits["confidence"]
    assert failed <= 1


def test_which_codes_are_learnt_from_together_decides_little() -> None:
    """Of few codes, halved in one way, an adversary is right or wrong by how they were halved."""

    def spread(ways: int) -> float:
        found = []
        for seed in range(8):
            options = drawn_by_chance(seed, n=200, n_things=16)
            with threadpool_limits(limits=1):  # small models are fastest so
                right = guesser(options, ways=ways).styled()
            assert right is not None
            found.append(float(np.nanmean(right)))
        return float(np.std(found))

    assert spread(5) < 0.75 * spread(1)
