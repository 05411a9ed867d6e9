"""What comes of letting models answer a benchmark."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from ehrkg.benchmark import Benchmark
from ehrkg.evaluation.measures.figures import Figures
from ehrkg.evaluation.report import report_of_build, write_report
from ehrkg.foundation.errors import UsageError


@dataclass(frozen=True)
class Results(Figures):
    """Scores of one or more models on one benchmark.

    Attributes:
        scores: one row a (model, setting, item), with the schema ``SCORES``.
        benchmark: what was asked; None where nobody kept it. Figures by chapter or age need it.
        notes: who was not asked, or not everything, and why.
    """

    scores: pa.Table
    benchmark: Benchmark | None = None
    notes: tuple[str, ...] = ()

    def report(self, path: str | Path, *, shareable: bool = False) -> Path:
        """Write the report of the build that was asked of, with these scores in it.

        Args:
            path: the HTML file to write.
            shareable: leave out what may not be passed on: questions, answers, counts under 11.

        Returns:
            The file.

        Raises:
            UsageError: the questions were not opened from a build's folder.
        """
        from ehrkg.evaluation.scoring.storing import merged

        folder = self.benchmark.folder if self.benchmark is not None else None
        if folder is None:
            raise UsageError(
                "a report shows a build, and these questions were not opened from one",
                todo="evaluate Benchmark.open(OUT), or take the tables: accuracy(), open_ended()",
            )
        data = report_of_build(folder)
        data = replace(data, scores=merged(data.scores, self.scores))
        write_report(data, Path(path), shareable=shareable)
        return Path(path)

    def __repr__(self) -> str:
        lines = [
            f"{row['model']}, {row['task']}, {row['n_options']} options, {row['setting']}: "
            f"{100 * row['accuracy']:.1f} % ({100 * row['low']:.1f} to {100 * row['high']:.1f})"
            for row in self.accuracy().to_pylist()
        ]
        lines += self.notes
        return "\n".join(lines) or "Results(no multiple-choice question was answered)"
