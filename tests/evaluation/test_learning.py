"""What baselines learn, and from whom: no test patient, and never the one they answer for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from ehrkg.benchmark import make_questions, make_templates
from ehrkg.ehr.schema import Hospital
from ehrkg.evaluation.asking.asked import Asked, asked_of
from ehrkg.evaluation.baselines import Baseline
from ehrkg.evaluation.run import baselines_on_arrays, names_said
from ehrkg.evaluation.scoring.scores import run_baselines
from tests.benchmark.worlds import many_pairs

LEARNT = ["co-occurrence", "logistic model on codes", "most frequent option"]


@dataclass(frozen=True)
class Made:
    """A small hospital with its questions, of every format."""

    hospital: Hospital
    relations: pa.Table
    templates: pa.Table
    items: pa.Table

    def asked(self) -> Asked:
        return asked_of(self.items, self.templates)

    def baselines(self) -> list[Baseline]:
        said = names_said(self.items, {})
        return list(
            baselines_on_arrays(self.asked(), self.templates, self.hospital, self.relations, said)
        )


@cache
def made() -> Made:
    """A patient in four is of the test split; each pair of cause and effect stands in many."""
    world = many_pairs(n_patients=200)
    for at, patient in enumerate(world.patients):
        patient["split"] = "test" if at % 4 == 0 else "train"
    parts = (world.hospital, world.knowledge, world.mapping, world.verified)
    templates = make_templates(*parts)
    items = make_questions(templates, *parts, formats=["mcq4", "oeq"]).items
    items = pa.concat_tables([items, yes_or_no(items)])
    return Made(world.hospital, world.verified.relations, templates, items)


def yes_or_no(items: pa.Table) -> pa.Table:
    """Every second answer asked for, and of the other questions a distractor."""
    rows = [row for row in items.to_pylist() if row["format"] == "mcq"]
    for at, row in enumerate(rows):
        which = row["answer_index"] if at % 2 else (row["answer_index"] + 1) % 4
        row |= {
            "item_id": row["item_id"].replace("mcq4", "yesno2"),
            "format": "yesno",
            "n_options": 2,
            "options": ["yes", "no"],
            "option_codes": [row["option_codes"][which]] * 2,
            "answer": ["yes" if at % 2 else "no"],
            "answer_index": 0 if at % 2 else 1,
        }
    return pa.Table.from_pylist(rows, items.schema)


def turned(values: list[str]) -> list[str]:
    """Each value replaced by the one after it, of those there are."""
    every = sorted(set(values))
    return [every[(every.index(value) + 1) % len(every)] for value in values]


def lying(about: Callable[[str], bool]) -> Made:
    """The same with other codes and other answers for some of the patients."""
    true = made()
    clusters = {
        row["cluster"]
        for row in true.templates.select(["patient", "cluster"]).to_pylist()
        if about(row["patient"])
    }
    visits = true.hospital.visits
    of = dict(zip(visits["id"].to_pylist(), visits["patient"].to_pylist(), strict=True))
    codes = true.hospital.visit_codes
    false = [
        other if about(of[visit]) else code
        for visit, code, other in zip(
            codes["visit"].to_pylist(),
            codes["code"].to_pylist(),
            turned(codes["code"].to_pylist()),
            strict=True,
        )
    ]
    told = true.templates.to_pylist()
    every = sorted({code for row in told for code in [*row["context"], *row["answer"]]})
    after = dict(zip(every, [*every[1:], every[0]], strict=True))
    for row in told:
        if row["cluster"] in clusters:
            row["context"] = [after[code] for code in row["context"]]
            row["answer"] = [after[code] for code in row["answer"]]
    items = true.items.to_pylist()
    for row in items:
        if row["cluster"] in clusters:
            row["answer"] = ["other than it was"]
            if row["format"] == "yesno":
                row["answer_index"] = 1 - row["answer_index"]
    return replace(
        true,
        hospital=replace(
            true.hospital,
            visit_codes=codes.set_column(
                codes.schema.get_field_index("code"), "code", pa.array(false, pa.string())
            ),
        ),
        templates=pa.Table.from_pylist(told, true.templates.schema),
        items=pa.Table.from_pylist(items, true.items.schema),
    )


def split_of(patient: str) -> str:
    table = made().hospital.patients
    return str(table.filter(pc.equal(table["id"], patient))["split"][0].as_py())


def answers_of(world: Made) -> dict[str, tuple[np.ndarray, list[str]]]:
    """What the baselines that a world teaches answer to the true questions."""
    asked = made().asked()
    choices = asked.take(np.flatnonzero(asked.is_form("mcq")))
    opened = asked.take(np.flatnonzero(asked.is_form("oeq")))
    return {
        one.name: (np.asarray(one.utilities(choices)), list(one.texts(opened)))
        for one in world.baselines()
    }


def test_no_baseline_learns_from_patients_of_the_test_split() -> None:
    """Whatever is recorded of test patients, and asked about them, every answer is the same."""
    true, false = answers_of(made()), answers_of(lying(lambda one: split_of(one) == "test"))
    assert set(true) >= set(LEARNT)
    for name, (utilities, texts) in true.items():
        assert np.array_equal(utilities, false[name][0]), name
        assert texts == false[name][1], name


def test_a_baseline_learns_from_the_training_patients() -> None:
    """The test above has power: lies about training patients do change what is answered."""
    true, false = answers_of(made()), answers_of(lying(lambda one: split_of(one) == "train"))
    for name in LEARNT:
        assert not np.array_equal(true[name][0], false[name][0]), name


def test_a_training_patient_is_answered_by_what_the_others_taught() -> None:
    asked = made().asked()
    choices = asked.take(np.flatnonzero(asked.is_form("mcq")))
    fold = choices.fold[choices.of]
    told = made().templates.select(["patient", "cluster"]).to_pylist()
    cluster = {row["patient"]: row["cluster"] for row in told}
    mine = {
        question.cluster
        for question, at in zip(choices, choices.fold.tolist(), strict=True)
        if at == 1
    }
    true = answers_of(made())
    false = answers_of(lying(lambda one: cluster.get(one) in mine))
    for name in LEARNT:
        same = true[name][0] == false[name][0]
        assert same[fold == 1].all(), name
        assert not same[fold == 2].all(), name


def test_the_cut_of_yes_and_no_is_not_learnt_from_test_patients() -> None:
    """Turning the answers of test patients turns which of them are right, and nothing else."""
    true, false = made(), lying(lambda one: split_of(one) == "test")
    names = [one.name for one in true.baselines()]
    chosen = {}
    for label, world in (("true", true), ("false", false)):
        asked = replace(world, templates=true.templates).asked()
        yesno = asked.take(np.flatnonzero(asked.is_form("yesno")))
        assert len(yesno)
        chosen[label] = [np.asarray(one.utilities(yesno)) for one in true.baselines()]
    for name, first, second in zip(names, chosen["true"], chosen["false"], strict=True):
        assert np.array_equal(first, second), name


@pytest.mark.parametrize("name", LEARNT[:2])
def test_what_goes_with_what_is_learnt_and_asked_of_the_stem(name: str) -> None:
    """Each cause has its one effect: whoever has learnt that answers well, with the stem only."""
    world = made()
    baseline = next(one for one in world.baselines() if one.name == name)
    scores = run_baselines(world.items, [baseline], {}, templates=world.templates)
    means = {
        (row["setting"], row["format"]): row["correct_mean"]
        for row in scores.group_by(["setting", "format"])
        .aggregate([("correct", "mean")])
        .to_pylist()
    }
    assert means["plain", "mcq"] > 0.8
    assert means["plain", "yesno"] > 0.8
    assert means["plain", "oeq"] > 0.8
    assert means["no_stem", "mcq"] < 0.4
    assert means["other_stem", "mcq"] < 0.5
    assert abs(means["no_stem", "yesno"] - 0.5) < 0.15


def test_scores_are_the_same_bytes_whatever_the_order_of_the_rows() -> None:
    world = made()
    mixed = np.random.default_rng(7)

    def shuffled(table: pa.Table) -> pa.Table:
        return table.take(pa.array(mixed.permutation(table.num_rows)))

    other = Made(
        replace(
            world.hospital,
            visit_codes=shuffled(world.hospital.visit_codes),
            visits=shuffled(world.hospital.visits),
            codes=shuffled(world.hospital.codes),
        ),
        shuffled(world.relations),
        shuffled(world.templates),
        shuffled(world.items),
    )
    first, second = (
        run_baselines(one.items, one.baselines(), {}, templates=one.templates)
        for one in (world, other)
    )
    assert first.equals(second)
