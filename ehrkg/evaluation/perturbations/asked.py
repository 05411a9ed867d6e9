"""What a perturbation is given, and what it gives back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import pyarrow as pa

from ehrkg.benchmark import Benchmark, Facts
from ehrkg.benchmark.distractors.accepted import Accepted
from ehrkg.benchmark.distractors.draws import Group, World, group_rows
from ehrkg.benchmark.distractors.pools import era_of
from ehrkg.benchmark.distractors.shortlists import Ints
from ehrkg.benchmark.facts.cohort import Cohort
from ehrkg.benchmark.facts.giveaways import Giveaways
from ehrkg.benchmark.facts.names import phrase
from ehrkg.benchmark.facts.support import Support
from ehrkg.benchmark.questions.stems import Says, render_stem

Row = dict[str, Any]
"""A question, or a template, as a row of its table."""

Outcome = Row | str
"""What a perturbation makes of a question: its new row, or the reason why there is none."""

NOT_RESTATED = "stem_not_restated"
"""The reason where the makers do not give the stem that stands: it was changed by somebody."""

NO_POOL = "no_pool"
"""The reason where the benchmark was opened without its pool: nothing to draw from, or to ask."""


@dataclass(frozen=True)
class Perturbed:
    """A benchmark under one perturbation.

    Attributes:
        name: of the perturbation.
        benchmark: the perturbed questions, each under its original's ``item_id``.
        missing: how many questions have none, by reason; they and the questions make the whole.
    """

    name: str
    benchmark: Benchmark
    missing: Mapping[str, int]

    def __str__(self) -> str:
        lost = ", ".join(f"{reason} {n:,}" for reason, n in sorted(self.missing.items()))
        return f"{self.name}: {len(self.benchmark):,} questions" + (
            f"; without: {lost}" * bool(lost)
        )


class Perturbation(Protocol):
    """A change of a question that leaves its right answer what it was."""

    @property
    def name(self) -> str:
        """As it stands in ``scores.setting``."""

    @property
    def says(self) -> str:
        """What it changes, in one sentence."""

    @property
    def holds(self) -> str:
        """Why the right answer stays the right one, in one sentence."""

    def apply(self, rows: Sequence[Row], asked: Asked) -> list[Outcome]:
        """The perturbed questions, one an original, in the same order.

        Args:
            rows: rows of ITEMS.
            asked: what they were made from.
        """

    def template(self, row: Row, asked: Asked) -> Row:
        """A template as the perturbed questions show it; the same where its events stay."""


class Asked:
    """The questions to be perturbed with what they were made from, read when first needed.

    Args:
        benchmark: the questions.
        facts: gives what they were made from.
        seed: names every draw.

    Attributes:
        seed: as given.
        table: TEMPLATES, sorted by id.
        templates: its rows by id.
    """

    def __init__(self, benchmark: Benchmark, facts: Callable[[], Facts], seed: int) -> None:
        self._benchmark, self._read, self.seed = benchmark, facts, seed
        self._groups: dict[tuple[str, str, bool], Group] = {}
        self.table = benchmark.templates().sort_by("id")
        self.templates: dict[str, Row] = {row["id"]: row for row in self.table.to_pylist()}

    @cached_property
    def facts(self) -> Facts:
        """What the benchmark was made from."""
        return self._read()

    @property
    def cohort(self) -> Cohort:
        """Facts about patients, visits and codes."""
        return self.facts.cohort

    @cached_property
    def support(self) -> Support:
        """What the knowledge joins."""
        return Support(self.cohort, self.facts.knowledge, self.facts.verified)

    @cached_property
    def accepted(self) -> Accepted:
        """What an open answer may name."""
        return Accepted(self.cohort, self.facts.verified)

    @cached_property
    def giveaways(self) -> Giveaways:
        """What gives an answer away."""
        return Giveaways(self.cohort)

    @cached_property
    def world(self) -> World:
        """What distractors are drawn in."""
        return World(self.cohort, self.support, self.facts.verified, self.seed)

    @cached_property
    def pool(self) -> pa.Table | None:
        """The build's frozen pool."""
        return self._benchmark.beside("pool")

    @cached_property
    def options_of(self) -> dict[str, set[str]]:
        """Codes that stand as options of any question of a template, by its id."""
        found: dict[str, set[str]] = {}
        items = self._benchmark
        pairs = zip(
            items.column("template_id").to_pylist(),
            items.column("option_codes").to_pylist(),
            strict=True,
        )
        for template, codes in pairs:
            found.setdefault(template, set()).update(codes or ())
        return found

    @cached_property
    def _routes(self) -> dict[tuple[str, str, str], list[Row]]:
        """Rows of the pool by task, era and code."""
        found: dict[tuple[str, str, str], list[Row]] = {}
        for row in self.pool.to_pylist() if self.pool is not None else ():
            found.setdefault((row["task"], row["era"], row["code"]), []).append(row)
        return found

    @cached_property
    def rows_by_group(self) -> dict[tuple[str, str], Ints]:
        """Positions in ``table`` by task and ICD version of the answer."""
        return group_rows(self.table, self.cohort)

    def group(self, task: str, era: str, *, of_kin: bool) -> Group:
        """The templates of one task and ICD version with their pool, made once."""
        if self.pool is None:
            raise LookupError("a benchmark without its pool has no groups")
        key = (task, era, of_kin)
        if key not in self._groups:
            self._groups[key] = Group(task, era, self.pool, self.world, of_kin=of_kin)
        return self._groups[key]

    def era(self, template: Row) -> str:
        """The ICD version of the pool that a template's distractors come from."""
        return era_of(template["answer"][0], template["icd_version"], self.cohort)

    def in_pool(self, template: Row, code: str) -> list[Row]:
        """Rows of the pool for a code that may stand beside a template's answer."""
        return self._routes.get((template["task"], self.era(template), code), [])

    def restated(
        self,
        item: Row,
        *,
        template: Row | None = None,
        phrasing: int | None = None,
        history: int | None = None,
        says: Says = phrase,
    ) -> str | None:
        """The stem as the makers write it, with something changed; None if they wrote another.

        Args:
            item: the question.
            template: instead of its own.
            phrasing: likewise.
            history: likewise.
            says: names an event.
        """
        asked = self._asked_about(item)
        if asked is None:
            return None
        code, route = asked
        return render_stem(
            self.templates[item["template_id"]] if template is None else template,
            self.cohort,
            format=item["format"],
            phrasing=item["phrasing"] if phrasing is None else phrasing,
            history=item["history"] if history is None else history,
            asked=says(self.cohort.codes[code], route) if code else "",
            says=says,
        )

    def _asked_about(self, item: Row) -> tuple[str, str] | None:
        """What a yes/no question names ("" for others); None where its stem is another's work."""
        template = self.templates[item["template_id"]]
        routes = [("", "")]
        if item["format"] == "yesno":
            code = item["option_codes"][0]
            mine = [template["answer_route"]] if code == template["answer"][0] else []
            others = [row["route"] for row in self.in_pool(template, code)]
            routes = [(code, route) for route in (*mine, *others, "")]
        for code, route in routes:
            stem = render_stem(
                template,
                self.cohort,
                format=item["format"],
                phrasing=item["phrasing"],
                history=item["history"],
                asked=phrase(self.cohort.codes[code], route) if code else "",
            )
            if stem == item["stem"]:
                return code, route
        return None


def perturbed(perturbation: Perturbation, benchmark: Benchmark, asked: Asked) -> Perturbed:
    """A benchmark under one perturbation; what it can't be made for is counted by reason.

    Args:
        perturbation: the change.
        benchmark: the questions.
        asked: they with what they were made from.
    """
    made: list[pa.Table] = []
    missing: Counter[str] = Counter()
    schema = benchmark.to_arrow().slice(0, 0).schema
    for page in benchmark.pages():
        outcomes = perturbation.apply(page.to_pylist(), asked)
        missing.update(one for one in outcomes if isinstance(one, str))
        made.append(
            pa.Table.from_pylist([one for one in outcomes if isinstance(one, dict)], schema)
        )
    items = pa.concat_tables([schema.empty_table(), *made])
    kept = set(items["template_id"].to_pylist())
    templates = pa.Table.from_pylist(
        [perturbation.template(row, asked) for key, row in asked.templates.items() if key in kept],
        asked.table.schema,
    )
    beside = ("relations", "evidence", "events", "pool")
    return Perturbed(
        perturbation.name,
        Benchmark.from_tables(
            templates=templates,
            items=items,
            store=benchmark.store,
            **{name: benchmark.beside(name) for name in beside},
        ),
        dict(sorted(missing.items())),
    )
