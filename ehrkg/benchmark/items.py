"""Questions: a template, its distractors and its words, put together.

A question is a function of its template, format, number of options, strategy, phrasing, the seed
and the build's pool. Balancing decides which questions stand, never what a question says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ehrkg.benchmark.accepted import Accepted
from ehrkg.benchmark.balance import fit
from ehrkg.benchmark.cohort import Cohort
from ehrkg.benchmark.distractors import STRATEGIES, Strategy, draw, luck
from ehrkg.benchmark.exclusions import Pool, Questions, group_templates, questions_of
from ehrkg.benchmark.names import display, option_names
from ehrkg.benchmark.pools import POOL, make_pool
from ehrkg.benchmark.schema import ITEMS
from ehrkg.benchmark.stems import choose_phrasing, render_stem
from ehrkg.benchmark.support import Support
from ehrkg.ehr.schema import Hospital
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.hashing import order_by_hash
from ehrkg.foundation.ledger import Ledger
from ehrkg.foundation.progress import Progress, Silent
from ehrkg.mapping.schema import Mapping as CodeMapping
from ehrkg.ontology.schema import Knowledge
from ehrkg.verify.schema import Verified

STAGE = "items"
HISTORY = 0
"""How many earlier admissions a stem tells of: a setting, 0 today. Templates keep a history, and
``stems.render_stem`` tells it where it is asked to; no question that is made asks."""

FORMATS = {"mcq4": 4, "mcq5": 5, "mcq6": 6, "oeq": 0}
"""Every format with its number of options."""


@dataclass(frozen=True)
class Drawn:
    """The multiple-choice questions of one task, ICD version, strategy and number of options.

    Attributes:
        questions: the templates and their pool.
        chosen: positions of the distractors in the pool, a row a template.
        kept: which templates have such a question.
        too_few: of those that have none, which lack distractors (the others went for balance).
    """

    questions: Questions
    strategy: Strategy
    n_options: int
    chosen: np.ndarray[Any, Any]
    kept: np.ndarray[Any, Any]
    too_few: np.ndarray[Any, Any]


@dataclass(frozen=True)
class Made:
    """Questions and the pool they were drawn from.

    Attributes:
        items: a table with the schema ITEMS.
        pool: a table with the schema POOL, priced: the frozen pool of the build.
    """

    items: pa.Table
    pool: pa.Table


def make_questions(
    templates: pa.Table,
    hospital: Hospital,
    knowledge: Knowledge,
    mapping: CodeMapping,
    verified: Verified,
    *,
    formats: Sequence[str] = tuple(FORMATS),
    strategies: Sequence[str] = ("frequency",),
    seed: int = 7,
    ledger: Ledger | None = None,
    progress: Progress | None = None,
) -> Made:
    """Make the questions of all templates, and the pool they are drawn from.

    Args:
        templates: TEMPLATES.
        hospital: what the templates were made from, as are the next three.
        knowledge: its edges rule distractors out and give their degree.
        mapping: links of codes.
        verified: relations that are not plainly refused rule distractors out.
        formats: which of FORMATS to make.
        strategies: how distractors are chosen; names of STRATEGIES.
        seed: of every draw.
        ledger: gets, per task, one entry a multiple-choice format (questions) and one of the
            candidates ruled out (pairs of question and candidate, by reason).
        progress: told of every task and format.

    Returns:
        Items with the schema ITEMS, sorted by item_id, and their pool.

    Raises:
        UsageError: an unknown format or strategy.
    """
    _refuse_unknown(formats, strategies)
    account = ledger if ledger is not None else Ledger()
    cohort = Cohort(hospital, knowledge, mapping)
    support = Support(cohort, knowledge, verified)
    pool = make_pool(templates, cohort, support, mapping)
    sizes = sorted({FORMATS[name] for name in formats} - {0})
    drawn, pool = draw_all(
        templates,
        pool,
        cohort,
        support,
        sizes=sizes,
        strategies=strategies,
        seed=seed,
        ledger=account,
        progress=progress or Silent(),
    )
    writer = Writer(cohort, Accepted(cohort, verified), seed)
    rows = [row for part in drawn for row in writer.mcq(part)]
    if "oeq" in formats:
        rows += [writer.oeq(template) for template in templates.to_pylist()]
        account.record(STAGE, "oeq", rows_in=templates.num_rows, rows_out=templates.num_rows)
    return Made(pa.Table.from_pylist(rows, schema=ITEMS).sort_by("item_id"), pool)


def draw_all(
    templates: pa.Table,
    pool: pa.Table,
    cohort: Cohort,
    support: Support,
    *,
    sizes: Sequence[int],
    strategies: Sequence[str],
    seed: int,
    ledger: Ledger,
    progress: Progress,
) -> tuple[list[Drawn], pa.Table]:
    """Price the pool and draw every multiple-choice question.

    Returns:
        What was drawn, and the pool with its prices: frozen, it gives the same questions again, for
        any of the templates alone.
    """
    groups = group_templates(templates, cohort)
    progress.start("choosing distractors", len(groups) * len(sizes) * len(strategies))
    drawn: list[Drawn] = []
    prices: dict[int, dict[tuple[str, str, str], float]] = {size: {} for size in sizes}
    for (task, era), rows in groups.items():
        members = slice_of(pool, task, era, cohort)
        questions = questions_of(task, rows, members, cohort, support)
        pairs = len(rows) * len(members.rows)
        ledger.record(
            STAGE,
            f"{task} candidate, ICD-{era or 'none'}",
            rows_in=pairs,
            rows_out=int(questions.allowed.sum()),
            dropped=questions.dropped,
        )
        for name in strategies:
            strategy = STRATEGIES[name]
            steps = strategy.steps(questions)
            for size in sizes:
                found = fit(questions, steps, n_options=size, seed=seed)
                prices[size] |= {
                    (task, era, row["entity"]): float(price)
                    for row, price in zip(members.rows, found.prices, strict=True)
                    if np.isfinite(price)
                }
                scores = luck(questions, steps, n_options=size, seed=seed) + found.prices
                chosen = draw(scores, members.clash, size - 1)
                drawn.append(Drawn(questions, strategy, size, chosen, found.kept, found.too_few))
                progress.advance()
    _account(drawn, ledger)
    return drawn, _priced(pool, prices)


def slice_of(pool: pa.Table, task: str, era: str, cohort: Cohort) -> Pool:
    """The pool of one task and ICD version."""
    rows = [row for row in pool.to_pylist() if row["task"] == task and row["era"] == era]
    return Pool.of(pa.Table.from_pylist(rows, schema=POOL), cohort)


class Writer:
    """Puts rows of ITEMS into words.

    Args:
        cohort: facts about codes and visits.
        accepted: what an open answer may name.
        seed: orders options and chooses phrasings.
    """

    def __init__(self, cohort: Cohort, accepted: Accepted, seed: int) -> None:
        self._cohort = cohort
        self._accepted = accepted
        self._seed = seed

    def mcq(self, drawn: Drawn) -> list[dict[str, Any]]:
        """The questions of one draw that stand."""
        templates = drawn.questions.templates
        return [
            self._mcq(drawn, templates[at], drawn.questions.answers[at], drawn.chosen[at])
            for at in np.flatnonzero(drawn.kept)
        ]

    def _mcq(
        self, drawn: Drawn, template: dict[str, Any], answer: int, chosen: Sequence[int]
    ) -> dict[str, Any]:
        pool = drawn.questions.pool.rows
        item = self._base(template, "mcq", drawn.n_options, drawn.strategy.name)
        reasons = {
            pool[at]["entity"]: drawn.strategy.reason(pool[answer], pool[at]) for at in chosen
        }
        members = {pool[at]["entity"]: (pool[at]["code"], pool[at]["route"]) for at in chosen}
        # The answer keeps the string that stands at the visit, not the pool's example of it.
        members[pool[answer]["entity"]] = (template["answer"][0], template["answer_route"])
        order = order_by_hash(members, self._seed, item["item_id"])
        names = option_names(
            [(self._cohort.codes[members[entity][0]], members[entity][1]) for entity in order]
        )
        at = order.index(pool[answer]["entity"])
        return item | {
            "options": names,
            "option_codes": [members[entity][0] for entity in order],
            "distractor_reasons": [reasons.get(entity, "answer") for entity in order],
            "answer": [names[at]],
            "answer_index": at,
        }

    def oeq(self, template: dict[str, Any]) -> dict[str, Any]:
        """The open-ended question of a template."""
        facts = self._cohort.codes[template["answer"][0]]
        return self._base(template, "oeq", 0, "") | {
            "options": [],
            "option_codes": [],
            "distractor_reasons": [],
            "answer": [display(facts, template["answer_route"])],
            "answer_index": -1,
            "accepted_codes": self._accepted.of(template),
        }

    def _base(
        self, template: dict[str, Any], form: str, n_options: int, strategy: str
    ) -> dict[str, Any]:
        phrasing = choose_phrasing(template, self._seed)
        return {
            "item_id": f"{template['id']}.{form}{n_options or ''}.{strategy or 'open'}"
            f".p{phrasing}.h{HISTORY}.s{self._seed}",
            "template_id": template["id"],
            "relation_id": template["relation"],
            "cluster": template["cluster"],
            "task": template["task"],
            "format": form,
            "n_options": n_options,
            "strategy": strategy,
            "phrasing": phrasing,
            "history": HISTORY,
            "stem": render_stem(
                template, self._cohort, format=form, phrasing=phrasing, history=HISTORY
            ),
            "accepted_codes": [],
            "split": template["split"],
            "seed": self._seed,
        }


def _account(drawn: Sequence[Drawn], ledger: Ledger) -> None:
    """One ledger entry a task, strategy and number of options."""
    totals: dict[tuple[str, str, int], list[int]] = {}
    for part in drawn:
        for at, template in enumerate(part.questions.templates):
            key = (template["task"], part.strategy.name, part.n_options)
            line = totals.setdefault(key, [0, 0, 0])
            line[0 if part.kept[at] else 1 if part.too_few[at] else 2] += 1
    for (task, strategy, size), (kept, few, unlevel) in sorted(totals.items()):
        ledger.record(
            STAGE,
            f"{task} mcq{size} {strategy}",
            rows_in=kept + few + unlevel,
            rows_out=kept,
            dropped={"too_few_distractors": few, "balance": unlevel},
        )


def _priced(pool: pa.Table, prices: dict[int, dict[tuple[str, str, str], float]]) -> pa.Table:
    rows = pool.to_pylist()
    for row in rows:
        for size, found in prices.items():
            row[f"price_{size}"] = found.get((row["task"], row["era"], row["entity"]))
    return pa.Table.from_pylist(rows, schema=POOL)


def _refuse_unknown(formats: Sequence[str], strategies: Sequence[str]) -> None:
    for wanted, known, what in ((formats, FORMATS, "format"), (strategies, STRATEGIES, "strategy")):
        unknown = sorted(set(wanted) - set(known))
        if unknown:
            raise UsageError(
                f"no such {what}: {', '.join(unknown)}", todo=f"use {', '.join(known)}"
            )
