"""Is a benchmark sound? Every rule and every adversary, measured on the finished tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.benchmark.checking.adversaries import Encoder, Guesser
from ehrkg.benchmark.checking.adversary_options import (
    Options,
    names_shown,
    options_of,
    propositions_of,
)
from ehrkg.benchmark.checking.again import Facts, distractors_again, templates_again
from ehrkg.benchmark.checking.hiding import TrueShare
from ehrkg.benchmark.checking.naming import names_again
from ehrkg.benchmark.checking.rules import (
    RULES,
    Joined,
    Rule,
    held_by_patients,
    recorded_in_patient,
    residual_options,
    unlevelled,
)
from ehrkg.benchmark.checking.several import numbers_right, unlevelled_sets
from ehrkg.benchmark.distractors.draws import SHARED
from ehrkg.benchmark.facts.cohort import Cohort
from ehrkg.benchmark.facts.intervals import Estimate, Floats, clustered_mean, holm
from ehrkg.benchmark.opened.benchmark import Benchmark
from ehrkg.benchmark.rules import rule_table
from ehrkg.foundation.garbage import uncollected
from ehrkg.foundation.workers import in_order, workers_for
from ehrkg.propose.tasks import tasks

OK, FAILED, UNSURE = "ok", "failed", "too few to tell"

REPORTED = "reported"
"""Of what is measured and told, and required of nothing."""

REQUIRED = "frequency"
"""The strategy whose odds must be level; those of the others are reported."""

WITHOUT = {
    "name style": "too few questions to learn from",
    "options-only embedding": "too few questions to learn from",
    "boosted trees": "too few questions to learn from",
}
"""Why an adversary has nothing to go by."""

NOT_EVERYWHERE = ("seen in history", "not in history", "lexical overlap", "asked for elsewhere")
"""Adversaries that stand in no row where there is nothing to read: no question tells a history; a
yes/no question always names what it asks about, and gives no choice of what to ask for."""

SHOWN = 20
"""Ids of broken questions that a report shows of each rule; a row keeps all."""


@dataclass(frozen=True)
class CheckRow:
    """One thing that was checked.

    Attributes:
        rule: its name.
        task: of the questions it looked at, "" for all.
        n: how many it looked at (templates for an adversary, questions for a rule).
        value: what was measured: questions that break the rule, or accuracy over chance.
        bound: what it may be at most.
        status: "ok", "failed", "too few to tell", which is not green, or "reported".
        text: in words.
        items: the questions (or templates) that break it.
    """

    rule: str
    task: str
    n: int
    value: float
    bound: float
    status: str
    text: str
    items: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The row as plain values."""
        return {
            "rule": self.rule,
            "task": self.task,
            "n": self.n,
            "value": self.value,
            "bound": self.bound,
            "status": self.status,
            "text": self.text,
            "items": list(self.items[:SHOWN]),
        }


@dataclass(frozen=True)
class CheckReport:
    """What ``check`` found.

    Attributes:
        rows: one a rule, and one an adversary and task.

    >>> CheckReport(()).ok
    True
    """

    rows: tuple[CheckRow, ...]

    @property
    def ok(self) -> bool:
        """Nothing failed. What is too few to tell has not failed; see ``green``."""
        return all(row.status != FAILED for row in self.rows)

    @property
    def green(self) -> bool:
        """Everything was shown to hold."""
        return all(row.status in (OK, REPORTED) for row in self.rows)

    def __iter__(self) -> Iterator[CheckRow]:
        return iter(self.rows)

    def as_text(self) -> str:
        """A line a row, failures first, and a closing line."""
        order = {FAILED: 0, UNSURE: 1, REPORTED: 2, OK: 3}
        lines = [
            f"{row.status:<16}{row.rule:<36}{row.task:<11}{row.n:>9,}  {row.text}"
            + (f" (such as {row.items[0]})" if row.items else "")
            for row in sorted(self.rows, key=lambda row: order[row.status])
        ]
        counts = [sum(row.status == status for row in self.rows) for status in (OK, FAILED, UNSURE)]
        return "\n".join(
            [*lines, f"{counts[0]} ok, {counts[1]} failed, {counts[2]} too few to tell"]
        )


@uncollected()
def check(
    benchmark: Benchmark,
    *,
    cohort: Cohort | None = None,
    facts: Facts | None = None,
    encoder: Encoder | None = None,
    true_distractors: Sequence[TrueShare] = (),
) -> CheckReport:
    """Measure every rule and every adversary.

    An adversary fails when the lower 99 % bound of its accuracy, clustered by patient and
    corrected by Holm for their number, lies above 1.15 times chance; it is ok when the upper 99 %
    bound lies below that, and else the questions are too few to tell. So they are below the least
    number of patients of check.yaml, whatever was measured.

    Args:
        benchmark: what to check. Events and pool, where it has them, let more be checked.
        cohort: lets relatives of what is recorded count, and residual names; that of ``facts``
            where they are given.
        facts: what it was made from: lets every rule on answers, context and distractors be
            applied again.
        encoder: embeds options for the options-only adversary; hashed letters by default.
        true_distractors: estimates of ``hidden_edges``, to be held to their bounds.

    Returns:
        The report; it changes nothing.

    >>> from ehrkg.benchmark import example
    >>> report = check(example())
    >>> {row.status for row in report} <= {"ok", "failed", "reported", "too few to tell"}
    True
    """
    found = list(_rules(benchmark, facts.cohort if facts else cohort))
    if facts is not None:
        found += _again(benchmark, facts)
    found += [*_balance(benchmark), *_several(benchmark), *_adversaries(benchmark, encoder)]
    found += [_true_share(estimate) for estimate in true_distractors]
    return CheckReport(tuple(found))


def _rules(benchmark: Benchmark, cohort: Cohort | None) -> Iterator[CheckRow]:
    """The rules of ``rules``, over the items a batch at a time."""
    events = benchmark.beside("events")
    held = None if events is None else held_by_patients(events)
    rules: dict[str, Rule] = dict(RULES)
    says = {name: (rule.__doc__ or "").splitlines()[0] for name, rule in RULES.items()}
    if held is not None:
        rules["recorded_in_patient"] = lambda rows: recorded_in_patient(rows, held, cohort)
        says["recorded_in_patient"] = (
            "No distractor, nor a relative of it, is recorded in any visit of the patient."
            if cohort
            else "No distractor is recorded in any visit of the patient (by its own code)."
        )
    if cohort is not None:
        rules["residual_options"] = lambda rows: residual_options(rows, cohort)
        says["residual_options"] = "No residual code as an option of diagnosis or prognosis."
    broken: dict[str, list[str]] = {name: [] for name in rules}
    joined = Joined(benchmark.to_arrow(), benchmark.templates())

    def judged(start: int) -> dict[str, list[str]]:
        rows = joined.rows(start)
        return {name: rule(rows) for name, rule in rules.items()}

    for found in in_order(
        judged, joined.starts, workers=workers_for(len(joined.starts), least=SHARED)
    ):
        for name, ids in found.items():
            broken[name] += ids
    for name in rules:
        yield _rule_row(name, says[name], len(benchmark), broken[name])
    if held is None:
        yield CheckRow("recorded_in_patient", "", 0, 0.0, 0.0, UNSURE, "no events to look at")


def _again(benchmark: Benchmark, facts: Facts) -> list[CheckRow]:
    """The rules by which templates and distractors were chosen, applied to what stands."""
    items, templates, pool = benchmark.to_arrow(), benchmark.templates(), benchmark.beside("pool")
    found = [*templates_again(templates, facts), *names_again(items, templates, pool, facts.cohort)]
    if pool is not None:
        found += distractors_again(items, templates, pool, facts)
    return [_rule_row(name, text, n, broken) for name, text, n, broken in found]


def _rule_row(name: str, text: str, n: int, broken: list[str]) -> CheckRow:
    return CheckRow(
        name,
        "",
        n,
        float(len(broken)),
        0.0,
        FAILED if broken else OK,
        f"{text} {len(broken)} break it." if broken else text,
        tuple(broken),
    )


def _balance(benchmark: Benchmark) -> Iterator[CheckRow]:
    """How often each thing is the answer among its appearances: required for ``frequency``."""
    part = benchmark.filter(format="mcq")
    names = ("task", "strategy", "n_options", "icd_version")
    columns = {name: np.array(part.column(name).to_pylist(), dtype=object) for name in names}
    keys = sorted(set(zip(*(columns[name].tolist() for name in names[:3]), strict=True)))
    options, codes, right = (
        part.column(name) for name in ("options", "option_codes", "answer_index")
    )
    for task, strategy, k in keys:
        mine = np.ones(len(part), dtype=bool)
        for name, value in zip(names, (task, strategy, k), strict=False):
            mine &= columns[name] == value
        at = pa.array(np.flatnonzero(mine))
        # Drugs are things by name and, as their pools are, by the visits' ICD version.
        drugs = tasks()[task].asks_for_drugs
        shown = pc.list_flatten((options if drugs else codes).take(at))
        eras = columns["icd_version"][mine] if drugs else np.full(len(at), "")
        texts = pa.array(shown.to_pylist(), pa.string())
        of_era = pa.array(np.repeat(eras.astype(str), k), pa.string())
        things = pc.binary_join_element_wise(texts, of_era, " ").dictionary_encode()
        numbers = np.asarray(things.indices, dtype=np.int64).reshape(-1, k)
        off, looked = unlevelled(numbers, np.asarray(right.take(at), dtype=np.int64))
        text = f"each code is the answer in about 1/{k} of its {k}-option questions"
        if off:
            example = things.dictionary[off[0]].as_py().strip()
            text += f"; {len(off)} of {looked} codes are not, such as {example}"
        required = strategy == REQUIRED
        name = f"balance_{k}" if required else f"balance_{k}, {strategy}"
        status = OK if not off else FAILED if required else REPORTED
        yield CheckRow(name, task, looked, float(len(off)), 0.0, status, text)


def _several(benchmark: Benchmark) -> Iterator[CheckRow]:
    """Of questions with several right ones: their odds, and how far their number is known."""
    for task, strategy, off, looked in unlevelled_sets(benchmark):
        text = "each code is right about as often as the right ones of its questions are many"
        if off:
            text += f"; {len(off)} of {looked} codes are not, such as {off[0]}"
        required = strategy == REQUIRED
        name = "balance, several right" + ("" if required else f", {strategy}")
        status = OK if not off else FAILED if required else REPORTED
        yield CheckRow(name, task, looked, float(len(off)), 0.0, status, text)
    for task, mine in numbers_right(benchmark):
        most = int(np.bincount(mine).argmax())
        share = float((mine == most).mean())
        text = f"{most} options are right in {share:.0%} of the questions of which several are"
        yield CheckRow("number of right options", task, len(mine), share, 1.0, REPORTED, text)


FORMS = {"mcq": "", "yesno": ", yes/no", "multi": ", several right"}
"""Formats that can be guessed at, and what is added to an adversary's name for each."""


def _adversaries(benchmark: Benchmark, encoder: Encoder | None) -> list[CheckRow]:
    pool = benchmark.beside("pool")
    measured: list[tuple[str, str, str, Estimate | None, int]] = []
    limits = rule_table("check")["adversary"]
    asked = {
        (task, form)
        for task, form in zip(
            benchmark.column("task").to_pylist(),
            benchmark.column("format").to_pylist(),
            strict=True,
        )
        if form in FORMS
    }
    for task, form in sorted(asked, key=lambda kind: (kind[0], list(FORMS).index(kind[1]))):
        part = benchmark.filter(task=task, format=form, min_n_options=2).sample(
            limits["most_questions"]
        )
        options = (
            propositions_of(part, task, pool, names_shown(benchmark, task))
            if form == "yesno"
            else options_of(part, task, pool, benchmark)
        )
        templates = len(part.column("template_id").unique())
        guesser = Guesser(
            options,
            encoder=encoder,
            least_training=limits["least_training"],
            most_training=limits["most_training"],
            ways=limits["ways"],
        )
        measured += [
            (name + FORMS[form], task, text, over_chance(options, right), templates)
            for name, text, right in guesser.all()
            if right is not None or name not in NOT_EVERYWHERE
        ]
    p_values = holm(
        [
            estimate.p_above(limits["times_chance"])
            for *_, estimate, _ in measured
            if _told(estimate)
        ]
    )
    corrected = iter(p_values)
    silent = sorted(
        set(benchmark.column("task").unique().to_pylist()) - {task for task, _ in asked}
    )
    nothing = "no question of choice of this task to guess at"
    unasked = [
        CheckRow("adversaries", task, 0, 0.0, limits["times_chance"], UNSURE, nothing)
        for task in silent
    ]
    return unasked + [
        _adversary_row(name, task, text, estimate, n, next(corrected) if _told(estimate) else 1.0)
        for name, task, text, estimate, n in measured
    ]


def over_chance(options: Options, times: Floats | None) -> Estimate | None:
    """Mean accuracy over chance, over the questions that could be guessed at."""
    if times is None:
        return None
    there = np.isfinite(times)
    span = float(options.n_options.max(initial=1))
    return clustered_mean(times[there], options.cluster[there], span=span)


def _told(estimate: Estimate | None) -> TypeGuard[Estimate]:
    """Whether an estimate rests on enough patients to tell anything."""
    return (
        estimate is not None
        and estimate.clusters >= rule_table("check")["adversary"]["least_clusters"]
    )


def _adversary_row(
    name: str, task: str, text: str, estimate: Estimate | None, n: int, p: float
) -> CheckRow:
    limits = rule_table("check")["adversary"]
    bound, alpha = limits["times_chance"], 1 - limits["confidence"]
    if estimate is None:
        reason = WITHOUT.get(name.partition(",")[0], "no pool to read it from")
        return CheckRow(name, task, n, 0.0, bound, UNSURE, f"{text}: {reason}")
    low, high = estimate.interval(1 - 2 * alpha)
    measured = f"{estimate.value:.2f} x chance, 98 % interval {low:.2f} to {high:.2f}"
    if not _told(estimate):
        status = UNSURE
        measured = f"{estimate.value:.2f} x chance, over {estimate.clusters} patients only"
    else:
        status = FAILED if p <= alpha else OK if high <= bound else UNSURE
    value = round(float(estimate.value), 4)
    return CheckRow(name, task, n, value, bound, status, f"{text}: {measured}")


def _true_share(found: TrueShare) -> CheckRow:
    bound = found.bound
    status = FAILED if found.low > bound else OK if found.high <= bound else UNSURE
    return CheckRow(
        f"true distractors, {found.strategy}",
        found.task,
        found.questions,
        found.share,
        bound,
        status,
        f"{found.found} of {found.distractors} made true by hidden edges: {found.share:.1%}, "
        f"95 % interval {found.low:.1%} to {found.high:.1%}",
    )
