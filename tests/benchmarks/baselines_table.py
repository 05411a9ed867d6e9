"""All models of a finished build by task, with their controls, as a Markdown table.

    python tests/benchmarks/baselines_table.py DIR

Accuracy is that of questions with four options (of yes/no questions with two), in percent, with a
95 % interval over patients; "no stem" shows the options alone, "other stem" another patient's stem.
Of open answers the share is told that name an accepted answer.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.evaluation import accuracy_by, open_ended_by, several_right_by
from ehrkg.evaluation.settings import NO_STEM, OTHER_STEM, PLAIN
from ehrkg.foundation.storage import read_parquet
from ehrkg.propose.tasks import tasks

HEAD = ("task", "model", "questions", "plain", "no stem", "other stem", "open: named")
Row = dict[str, Any]


def of_choice(scores: pa.Table) -> list[tuple[str, dict[tuple[str, str, str], Row], str]]:
    """Each format with options: its name, its figures by task, model and setting, their column."""
    four = accuracy_by(scores)
    found = (
        ("4 options", four.filter(pc.equal(four["n_options"], 4)), "accuracy"),
        ("yes/no", accuracy_by(scores, format="yesno"), "accuracy"),
        ("several right", several_right_by(scores), "exact_set"),
    )
    return [(name, by_setting(table), column) for name, table, column in found if table.num_rows]


def by_setting(table: pa.Table) -> dict[tuple[str, str, str], Row]:
    """Rows by task, model and setting."""
    return {(row["task"], row["model"], row["setting"]): row for row in table.to_pylist()}


def share(row: Row | None, column: str, *, interval: bool = False) -> str:
    """A percentage, with its interval if wanted; "" where there is none."""
    if row is None or row[column] is None:
        return ""
    told = f"{100 * row[column]:.0f}"
    return f"{told} ({100 * row['low']:.0f} to {100 * row['high']:.0f})" if interval else told


def markdown(scores: pa.Table) -> str:
    """The table."""
    opened = by_setting(open_ended_by(scores))
    ranked = {
        (row["key_source"], row["model"])
        for row in scores.group_by(["key_source", "model"]).aggregate([]).to_pylist()
    }
    lines = []
    for name, figures, column in of_choice(scores):
        lines += ["", f"| {' | '.join((name, *HEAD[1:]))} |", "|---" * len(HEAD) + "|"]
        for task in tasks():
            for key_source, model in sorted(ranked):
                plain = figures.get((task, model, PLAIN))
                if plain is None:
                    continue
                cells = [
                    task,
                    f"{model} (key source)" if key_source else model,
                    f"{plain['items']:,}",
                    share(plain, column, interval=True),
                    share(figures.get((task, model, NO_STEM)), column),
                    share(figures.get((task, model, OTHER_STEM)), column),
                    share(opened.get((task, model, PLAIN)), "coverage", interval=True),
                ]
                lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines[1:])


def main() -> None:
    """Print the table of a build."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    print(markdown(read_parquet(parser.parse_args().build / "scores.parquet")))


if __name__ == "__main__":
    main()
