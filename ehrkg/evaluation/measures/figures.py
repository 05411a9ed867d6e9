"""The tables of figures as methods, for whatever holds scores and knows their benchmark."""

from __future__ import annotations

import pyarrow as pa

from ehrkg.benchmark import Benchmark
from ehrkg.evaluation.measures.breakdowns import breakdown, macro
from ehrkg.evaluation.measures.calibration import calibration_of
from ehrkg.evaluation.measures.comparison import pairwise, ranks_of, stem_gain
from ehrkg.evaluation.measures.spending import cost_of, parse_failures
from ehrkg.evaluation.measures.stability import robustness
from ehrkg.evaluation.measures.summary import accuracy_by, open_ended_by, several_right_by
from ehrkg.foundation.errors import UsageError


class Figures:
    """What can be worked out from scores.

    Attributes:
        scores: one row a (model, setting, item), with the schema ``SCORES``.
        benchmark: what was asked; None where nobody kept it.
    """

    scores: pa.Table
    benchmark: Benchmark | None

    def accuracy(self, *, format: str = "mcq") -> pa.Table:  # noqa: A002 - the column's name
        """Accuracy by model, setting, task and options; see ``accuracy_by``."""
        return accuracy_by(self.scores, format=format)

    def several_right(self) -> pa.Table:
        """Exact sets and Jaccard indices where several options are right: ``several_right_by``."""
        return several_right_by(self.scores)

    def open_ended(self) -> pa.Table:
        """Open-ended coverage, exact match, ROUGE and more; see ``open_ended_by``."""
        return open_ended_by(self.scores)

    def breakdown(self, by: str, *, format: str = "mcq") -> pa.Table:  # noqa: A002
        """Accuracy by one thing more, such as ``chapter`` or ``age_band``; see ``breakdown``.

        Raises:
            UsageError: an unknown ``by``, or these scores do not know their benchmark.
        """
        asked = self._asked()
        pool = asked.beside("pool")
        return breakdown(self.scores, asked.templates(), by=by, pool=pool, format=format)

    def macro(self, by: str, *, format: str = "mcq") -> pa.Table:  # noqa: A002
        """Macro accuracy over the parts of such a breakdown; see ``breakdowns.macro``.

        Raises:
            UsageError: see ``breakdown``.
        """
        asked = self._asked()
        pool = asked.beside("pool")
        return macro(self.scores, asked.templates(), by=by, pool=pool, format=format)

    def calibration(self) -> pa.Table:
        """Calibration where there are likelihoods; see ``calibration_of``."""
        return calibration_of(self.scores)

    def stem_gain(self) -> pa.Table:
        """What the stem adds over either control, paired; see ``stem_gain``."""
        return stem_gain(self.scores)

    def ranks(self) -> pa.Table:
        """Average ranks and Kendall's W; see ``ranks_of``."""
        return ranks_of(self.scores)

    def pairwise(self) -> pa.Table:
        """Every pair of models, with p values corrected by Holm; see ``pairwise``."""
        return pairwise(self.scores)

    def cost(self) -> pa.Table:
        """Tokens, US dollars and seconds; see ``cost_of``."""
        return cost_of(self.scores)

    def parse_failures(self) -> pa.Table:
        """How often an answer could not be read; see ``parse_failures``."""
        return parse_failures(self.scores)

    def robustness(self) -> pa.Table:
        """Change and consistency under perturbations; see ``robustness``."""
        return robustness(self.scores)

    def _asked(self) -> Benchmark:
        if self.benchmark is None:
            raise UsageError(
                "these scores do not know their benchmark",
                todo="take what bench.evaluate(...) gave, or call ehrkg.evaluation.breakdown with "
                "the templates",
            )
        return self.benchmark
