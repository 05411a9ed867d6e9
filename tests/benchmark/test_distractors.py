"""No distractor is true, gives itself away, or is the answer more rarely than it should be."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ehrkg.benchmark import make_templates
from ehrkg.benchmark.distractors.balance import fit, slack_of, surplus_of
from ehrkg.benchmark.distractors.draws import axes_of, group_rows, slice_of
from ehrkg.benchmark.distractors.exclusions import Pool, Questions, Rows, questions_of
from ehrkg.benchmark.distractors.pools import grain, make_pool, route_group
from ehrkg.benchmark.distractors.shortlists import TOO_FAR, draw, members_at, shortlist
from ehrkg.benchmark.distractors.strategies import STRATEGIES
from ehrkg.benchmark.distractors.surroundings import Surroundings
from ehrkg.benchmark.facts.possible import Possible, as_observed, by_rule
from ehrkg.benchmark.facts.support import Grid, Support
from tests.benchmark.builders import World
from tests.benchmark.worlds import (
    ANCHOR,
    ANSWER,
    BYSTANDER,
    CANDIDATE,
    OTHER,
    drug_world,
    pair_world,
)

UNSHOWN = "ICD10CM:K00.1"
"""A code that no stem here shows."""


def candidates(world: World, task: str, answer: str) -> dict[str, bool]:
    """Which pool members may stand beside the answer, by code."""
    parts = (world.hospital, world.knowledge, world.mapping, world.verified)
    templates = make_templates(*parts, tasks=[task])
    support = Support(world.cohort, world.knowledge, world.verified)
    pool = make_pool(templates, world.cohort, support, world.mapping)
    for (_, era), rows in group_rows(templates, world.cohort).items():
        mine = [
            {**row, "context": [code for code in row["context"] if code != UNSHOWN]}
            for row in templates.take(pa.array(rows)).to_pylist()
            if row["answer"] == [answer]
        ][:1]
        if mine:
            members = slice_of(pool, task, era, world.cohort)
            made = questions_of(task, mine, members, world.cohort, support)
            return {
                row["code"]: bool(fits)
                for row, fits in zip(members.rows, made.allowed[0], strict=True)
            }
    raise AssertionError(f"no template asks for {answer}")


def test_an_unrelated_disease_of_another_patient_may_be_a_distractor() -> None:
    assert candidates(pair_world(), "diagnosis", ANSWER)[CANDIDATE]


def in_another_visit(code: str) -> Callable[[World], None]:
    def plant(world: World) -> None:
        patient = world.patient("px")
        patient.visit([code])
        for row in (world.visits[-1], world.events[-1]):
            row["patient"] = "p1"
        world.visits[-1]["ordinal"] = 2

    return plant


def other_icd_version(world: World) -> None:
    world.diagnosis("ICD9CM:001.1", "Delta disease", equivalents=[CANDIDATE])
    in_another_visit("ICD9CM:001.1")(world)


def descendant(world: World) -> None:
    world.diagnosis("ICD10CM:J00.1", "Kind of delta", concept="MONDO:d1")
    world.edge("MONDO:d1", "SUBCLASS_OF", "MONDO:d")
    in_another_visit("ICD10CM:J00.1")(world)


def ancestor(world: World) -> None:
    world.diagnosis("ICD10CM:J00.1", "Delta genus", concept="MONDO:d0")
    world.edge("MONDO:d", "SUBCLASS_OF", "MONDO:d0")
    in_another_visit("ICD10CM:J00.1")(world)


def ccsr_sibling(world: World) -> None:
    world.diagnosis("ICD10CM:J00.1", "Near delta", concept="MONDO:n", ccsr=["B1"])
    in_another_visit("ICD10CM:J00.1")(world)


def reverse_edge(world: World) -> None:
    world.edge("MONDO:d", "PREDISPOSES_TO", "MONDO:a")


def edge_from_bystander(world: World) -> None:
    world.edge("MONDO:e", "HAS_PHENOTYPE", "MONDO:d")


def edge_from_genus_of_context(world: World) -> None:
    world.edge("MONDO:a", "SUBCLASS_OF", "MONDO:a0")
    world.edge("MONDO:a0", "CAUSES", "MONDO:d")


def ambiguous_relation(world: World) -> None:
    world.relation(ANCHOR, "CAUSES", CANDIDATE, verdict="ambiguous")


def same_group_as_answer(world: World) -> None:
    world.attributes[CANDIDATE]["ccsr"] = ["B0"]


def residual(world: World) -> None:
    world.know(CANDIDATE, "Other specified delta disease")


def unlinked(world: World) -> None:
    world.links[:] = [row for row in world.links if row["code"] != CANDIDATE]


def linked_from_afar(world: World) -> None:
    for row in world.links:
        row["levels"] = 2 if row["code"] == CANDIDATE else row["levels"]


def edge_of_another_predicate(world: World) -> None:
    for row in world.edges:
        if row["object"] == "MONDO:d":
            row["predicate"] = "HAS_PHENOTYPE"
    world.relations[:] = [row for row in world.relations if row["tail"] != CANDIDATE]


def excludes1(world: World) -> None:
    world.edge("ICD10CM:B00", "EXCLUDES1", CANDIDATE)


@pytest.mark.parametrize(
    "plant",
    [
        in_another_visit(CANDIDATE),
        other_icd_version,
        descendant,
        ancestor,
        ccsr_sibling,
        reverse_edge,
        edge_from_bystander,
        edge_from_genus_of_context,
        ambiguous_relation,
        same_group_as_answer,
        residual,
        unlinked,
        linked_from_afar,
        edge_of_another_predicate,
        excludes1,
    ],
    ids=lambda plant: plant.__qualname__.split(".")[0],
)
def test_what_might_be_true_or_gives_itself_away_is_no_distractor(
    plant: Callable[[World], None],
) -> None:
    world = pair_world()
    plant(world)
    assert not candidates(world, "diagnosis", ANSWER).get(CANDIDATE, False)


def test_a_negated_edge_makes_nothing_true() -> None:
    world = pair_world()
    world.edge("MONDO:a", "CAUSES", "MONDO:d", negated=True)
    assert candidates(world, "diagnosis", ANSWER)[CANDIDATE]


def test_excludes1_with_the_anchor_does_not_bar_a_distractor() -> None:
    world = pair_world()
    world.edge(ANCHOR, "EXCLUDES1", CANDIDATE)
    assert candidates(world, "diagnosis", ANSWER)[CANDIDATE]


def test_symptoms_are_no_distractors() -> None:
    world = pair_world()
    world.diagnosis("ICD10CM:R05.1", "Cough", concept="MONDO:cough", ccsr=["R0"])
    world.edge("MONDO:x", "CAUSES", "MONDO:cough")
    world.patient("p3").visit(["ICD10CM:R05.1"])
    assert not candidates(world, "diagnosis", ANSWER)["ICD10CM:R05.1"]


def test_a_finer_code_does_not_stand_beside_a_coarser_one() -> None:
    world = pair_world()
    world.diagnosis("ICD10CM:J00.123", "Fine disease", concept="MONDO:f", levels=1, ccsr=["J0"])
    world.edge("MONDO:x", "CAUSES", "MONDO:f")
    world.patient("p3").visit(["ICD10CM:J00.123"])
    assert not candidates(world, "diagnosis", ANSWER)["ICD10CM:J00.123"]


def test_a_pregnancy_code_does_not_stand_before_a_man() -> None:
    world = pair_world()
    world.diagnosis("ICD10CM:O14.1", "Severe pre-eclampsia", concept="MONDO:pre", ccsr=["O0"])
    world.edge("MONDO:x", "CAUSES", "MONDO:pre")
    world.patient("p3").visit(["ICD10CM:O14.1"], age=30)
    assert not candidates(world, "diagnosis", ANSWER)["ICD10CM:O14.1"]
    assert by_rule(world.cohort.codes["ICD10CM:O14.1"]) == Possible("F", 10, 60)


RIGHT, WRONG = "DRUGNAME:rightol", "DRUGNAME:wrongol"


def test_a_drug_for_another_disease_may_be_a_distractor() -> None:
    assert candidates(drug_world(), "treatment", RIGHT)[WRONG]


def same_class(world: World) -> None:
    world.concept("ATC:A01AA", "class", "drug_class")
    world.edge("DRUGBANK:W", "SUBCLASS_OF", "ATC:A01AA")


def treats_by_class(world: World) -> None:
    world.treats("ATC:B01AA", "MONDO:a")


def treats_what_the_stem_does_not_show(world: World) -> None:
    for at, row in enumerate(list(world.events)):
        if row["code"] == ANCHOR:
            world.events.insert(at, {**row, "code": UNSHOWN, "row": 1000 + at})
    world.diagnosis(UNSHOWN, "Zeta disease", concept="MONDO:z")
    world.treats("DRUGBANK:W", "MONDO:z")


def treats_a_cause(world: World) -> None:
    world.edge("MONDO:x", "CAUSES", "MONDO:e")


def prevents(world: World) -> None:
    world.edge("DRUGBANK:W", "PREVENTS", "MONDO:e")


def other_route(world: World) -> None:
    for row in world.events:
        if row["code"] == WRONG:
            row["route"] = "inhaled"
    for relation in world.relations:
        if relation["head"] == WRONG:
            relation["route"] = "inhaled"


def same_ingredient(world: World) -> None:
    world.link(WRONG, "DRUGBANK:R", method="ingredient")


def standing_order(world: World) -> None:
    for n in range(20):
        world.patient(f"s{n}").visit(["ICD10CM:H09.1"], [("wrongol", "oral")])


def fluid(world: World) -> None:
    world.strings[WRONG]["drug_kind"] = "fluid"


@pytest.mark.parametrize(
    "plant",
    [
        same_class,
        treats_by_class,
        treats_what_the_stem_does_not_show,
        treats_a_cause,
        prevents,
        other_route,
        same_ingredient,
        standing_order,
        fluid,
    ],
)
def test_a_drug_that_might_be_right_or_gives_itself_away_is_no_distractor(
    plant: Callable[[World], None],
) -> None:
    world = drug_world()
    plant(world)
    assert not candidates(world, "treatment", RIGHT).get(WRONG, False)


def test_routes_stand_side_by_side_only_within_their_group() -> None:
    assert route_group("oral") == route_group("sublingual") != route_group("intravenous")


def test_an_unspecified_code_is_as_coarse_as_its_category() -> None:
    world = pair_world()
    world.diagnosis("ICD10CM:J01.9", "Zeta disease, unspecified")
    world.patient("p4").visit(["ICD10CM:J01.9"])
    world.diagnosis("ICD10CM:J01.1", "Zeta disease of the left toe", concept="MONDO:z", levels=1)
    world.patient("p5").visit(["ICD10CM:J01.1"])
    assert grain("ICD10CM:J01.9", world.cohort) == 0
    assert grain("ICD10CM:J01.1", world.cohort) == 1
    assert grain(BYSTANDER, world.cohort) == 0


# Drawing and levelling


def made_up(n_questions: int, n_members: int, seed: int) -> Questions:
    """Questions over a pool without any world behind them."""
    random = np.random.default_rng(seed)
    answers = random.integers(0, max(2, n_members // 2), n_questions)
    allowed = random.random((n_questions, n_members)) < 0.7
    allowed[np.arange(n_questions), answers] = False
    rows = [
        {
            "entity": f"e{at}",
            "band": int(random.integers(1, 4)),
            "decile": int(random.integers(1, 5)),
        }
        for at in range(n_members)
    ]
    clash = np.eye(n_members, dtype=bool)
    clash[0, 1] = clash[1, 0] = True
    pool = Pool(rows, {str(row["entity"]): at for at, row in enumerate(rows)}, clash)
    templates = [{"id": f"t{at}"} for at in range(n_questions)]
    return Questions(templates, pool, answers.astype(np.int64), allowed, {})


class Unassociated(Surroundings):
    """Surroundings in which nothing stands together."""

    def __init__(self) -> None:
        pass

    def associated(self, templates: Rows) -> Grid:
        return np.zeros((len(templates), 1), dtype=bool)


NOTHING = Unassociated()


def drawn(questions: Questions, steps: np.ndarray, n: int, seed: int) -> np.ndarray:
    """Members that the questions draw without prices."""
    lists = shortlist(questions, steps, seed=seed)
    return members_at(lists, draw(lists, np.zeros(len(questions.pool.rows)), n))


@given(st.integers(0, 10_000), st.integers(1, 40), st.integers(3, 12), st.integers(3, 5))
@settings(max_examples=40, deadline=None)
def test_drawn_distractors_are_allowed_different_and_do_not_clash(
    seed: int, n_questions: int, n_members: int, n: int
) -> None:
    questions = made_up(n_questions, n_members, seed)
    steps = np.zeros_like(questions.allowed, dtype=np.int64)
    for at, row in enumerate(drawn(questions, steps, n, seed)):
        found = row[row >= 0].tolist()
        assert len(set(found)) == len(found)
        assert all(questions.allowed[at, member] for member in found)
        assert not {0, 1} <= set(found)


@given(st.integers(0, 10_000))
@settings(max_examples=20, deadline=None)
def test_a_draw_does_not_depend_on_the_other_questions(seed: int) -> None:
    questions = made_up(12, 10, seed)
    steps = STRATEGIES["frequency"].steps(questions, NOTHING)
    alone = Questions(
        questions.templates[5:6],
        questions.pool,
        questions.answers[5:6],
        questions.allowed[5:6],
        {},
    )
    assert np.array_equal(drawn(alone, steps[5:6], 3, seed)[0], drawn(questions, steps, 3, seed)[5])


@given(st.integers(0, 10_000), st.sampled_from([4, 5, 6]))
@settings(max_examples=10, deadline=None)
def test_levelled_codes_are_the_answer_one_time_in_k(seed: int, k: int) -> None:
    questions = made_up(80, 24, seed)
    lists = shortlist(questions, STRATEGIES["frequency"].steps(questions, NOTHING), seed=seed)
    found = fit(lists, questions.answers, 24, n_options=k)
    chosen = members_at(lists, found.chosen)[found.kept]
    answers = questions.answers[found.kept]
    assert (chosen >= 0).all()
    surplus = surplus_of(answers, chosen, 24, k)
    appears = k * np.bincount(answers, minlength=24) - surplus
    assert (np.abs(surplus) <= slack_of(appears, k)).all()
    assert not (found.too_few & found.kept).any()
    again = members_at(lists, draw(lists, found.prices, k - 1))
    assert np.array_equal(again[found.kept], chosen), "prices alone give the draw again"


def tied(visits_together: int) -> World:
    """The candidate stands with the anchor in some visits of other patients."""
    world = pair_world()
    for at in range(visits_together):
        world.patient(f"t{at}", sex="M").visit([ANCHOR, CANDIDATE, "ICD10CM:H09.1"])
    for at in range(60):
        world.patient(f"u{at}").visit([BYSTANDER, "ICD10CM:H09.1"])
    return world


def about(world: World, task: str) -> tuple[Questions, Surroundings]:
    """The questions of a task, and what surrounds them."""
    parts = (world.hospital, world.knowledge, world.mapping, world.verified)
    templates = make_templates(*parts, tasks=[task])
    support = Support(world.cohort, world.knowledge, world.verified)
    pool = make_pool(templates, world.cohort, support, world.mapping)
    [(_, era)] = group_rows(templates, world.cohort)
    members = slice_of(pool, task, era, world.cohort)
    rows = [row for row in templates.to_pylist() if row["answer"] in ([ANSWER], [RIGHT])]
    found = questions_of(task, rows[:1], members, world.cohort, support)
    return found, Surroundings(task, era, members, world.cohort, support, world.verified)


@pytest.mark.parametrize(("together", "may_stand"), [(0, True), (2, True), (6, False)])
def test_frequency_takes_nobody_that_the_hospital_ties_to_the_stem(
    together: int, may_stand: bool
) -> None:
    questions, surroundings = about(tied(together), "diagnosis")
    at = questions.pool.at[CANDIDATE]
    steps = STRATEGIES["frequency"].steps(questions, surroundings)
    assert bool(steps[0, at] != TOO_FAR) is may_stand


@pytest.mark.parametrize(("together", "may_stand"), [(0, False), (2, True), (6, True)])
def test_cooccurring_takes_whom_the_hospital_ties_to_the_problem(
    together: int, may_stand: bool
) -> None:
    questions, surroundings = about(tied(together), "diagnosis")
    at = questions.pool.at[CANDIDATE]
    steps = STRATEGIES["cooccurring"].steps(questions, surroundings)
    assert bool(steps[0, at] != TOO_FAR) is may_stand


def followed(after_the_anchor: int, after_others: int) -> World:
    """Forty patients, back once; the candidate is coded at the second visit only, of some."""
    world = pair_world()
    world.patient("p0", sex="M").visit([BYSTANDER]).visit([ANCHOR, BYSTANDER]).visit([ANSWER])
    for at in range(20):
        second = [CANDIDATE, BYSTANDER] if at < after_the_anchor else [BYSTANDER]
        world.patient(f"t{at}", sex="M").visit([ANCHOR, "ICD10CM:H09.1"]).visit(second)
        second = [CANDIDATE, BYSTANDER] if at < after_others else [BYSTANDER]
        world.patient(f"u{at}").visit([OTHER, "ICD10CM:H09.1"]).visit(second)
    return world


@pytest.mark.parametrize(("after_others", "may_stand"), [(10, True), (2, False)])
def test_prognosis_compares_what_follows_the_stem_with_what_follows_anything(
    after_others: int, may_stand: bool
) -> None:
    """Rarer in first visits, as what is carried forward is, ties nothing to the stem."""
    questions, surroundings = about(followed(10, after_others), "prognosis")
    at = questions.pool.at[CANDIDATE]
    steps = STRATEGIES["frequency"].steps(questions, surroundings)
    assert bool(steps[0, at] != TOO_FAR) is may_stand


@pytest.mark.parametrize("verdict", ["contradicted", "unsupported"])
def test_a_sibling_needs_contradicting_evidence(verdict: str) -> None:
    world = pair_world()
    world.attributes[CANDIDATE]["ccsr"] = ["B0"]
    world.relation(ANCHOR, "CAUSES", CANDIDATE, verdict=verdict, n_path=0)
    questions, surroundings = about(world, "diagnosis")
    at = questions.pool.at[CANDIDATE]
    assert not questions.allowed[0, at], "kin of the answer stands nowhere else"
    steps = STRATEGIES["sibling"].steps(questions, surroundings)
    assert bool(steps[0, at] != TOO_FAR) is (verdict == "contradicted")


def test_nearer_candidates_are_drawn_more_often_and_far_ones_never() -> None:
    questions = made_up(400, 12, 1)
    steps = np.tile(np.array([0, 3] * 5 + [TOO_FAR, TOO_FAR]), (400, 1))
    chosen = drawn(questions, steps, 3, 1)
    counts = np.bincount(chosen[chosen >= 0], minlength=12)
    assert counts[0:10:2].sum() > 2 * counts[1:10:2].sum()
    assert counts[10:].sum() == 0


def test_the_answer_is_the_middle_option_no_oftener_than_any_other() -> None:
    random, n = np.random.default_rng(3), 3000
    rows = [{"entity": f"e{at}", "band": at // 4, "decile": 1} for at in range(160)]
    answers = random.integers(40, 120, n)
    allowed = np.ones((n, 160), dtype=bool)
    allowed[np.arange(n), answers] = False
    pool = Pool(
        rows, {str(row["entity"]): at for at, row in enumerate(rows)}, np.eye(160, dtype=bool)
    )
    questions = Questions([{"id": f"t{at}"} for at in range(n)], pool, answers, allowed, {})
    chosen = drawn(questions, STRATEGIES["frequency"].steps(questions, NOTHING), 2, 1)
    bands = pool.column("band")[np.column_stack([answers, chosen])]
    off = np.abs(bands - np.median(bands, axis=1)[:, None]) == 0
    share = (off[:, 0] / off.sum(axis=1)).mean()
    assert 0.30 < share < 0.37


def test_the_reason_tells_how_far_the_draw_was_widened() -> None:
    reason = STRATEGIES["frequency"].reason({"band": 3, "decile": 5}, {"band": 3, "decile": 6}, 1)
    assert reason.startswith("frequency band 3, degree decile 6 (1 step from the answer)")


@pytest.mark.parametrize(("atc", "may_stand"), [("ATC:A01BB", False), ("ATC:B01AA", True)])
def test_a_drug_of_the_answers_therapeutic_subgroup_is_no_distractor(
    atc: str, may_stand: bool
) -> None:
    world = drug_world()
    world.drug("wrongol", concept="DRUGBANK:W", atc=atc)
    assert candidates(world, "treatment", "DRUGNAME:rightol")["DRUGNAME:wrongol"] is may_stand


@pytest.mark.parametrize(("patients", "oldest"), [(1, 75), (3, 55), (30, 46)])
def test_the_ages_seen_bound_a_code_the_closer_the_more_patients_had_it(
    patients: int, oldest: int
) -> None:
    world = World()
    code = world.diagnosis("ICD10CM:F50.0", "Anorexia nervosa", concept="M:AN")
    for number in range(patients):
        world.patient(f"p{number}").visit([code], age=30)
    seen = [(visit, "F") for visit in world.cohort.visits.values()]
    assert as_observed(seen).last == oldest


@pytest.mark.parametrize(("n_questions", "n_members"), [(40, 60), (40, 120), (80, 120)])
def test_who_knows_what_is_asked_for_elsewhere_has_little_to_leave_out(
    n_questions: int, n_members: int
) -> None:
    """Half or more of what could distract is asked for by no question; few of these are drawn."""
    questions = made_up(n_questions, n_members, 3)
    asked = np.bincount(questions.answers, minlength=n_members)
    for row, n in zip(questions.pool.rows, asked.tolist(), strict=True):
        assert isinstance(row, dict)
        row.update(n_answers=n, n_visits=1, degree=1)
    steps = np.zeros_like(questions.allowed, dtype=np.int64)
    lists = shortlist(questions, steps, seed=7, first=questions.pool.asked_for)
    found = fit(lists, questions.answers, n_members, n_options=4, axes=axes_of(questions.pool))
    chosen = members_at(lists, found.chosen)[found.kept]
    assert found.kept.all()
    assert (asked[chosen] == 0).mean() < 0.12
