"""All models of a finished build by task, with their controls, as Markdown tables.

    python tests/benchmarks/baselines_table.py DIR

A model's rows come from `ehrkg evaluate DIR --model MODEL`; those of the small one, whose options
are weighed, and which writes 20 open answers:

    ehrkg evaluate DIR --model GGUF --setting likelihood --by format=mcq
    ehrkg evaluate DIR --model GGUF --by format=oeq --limit 20 --answer-tokens 12

With --perturb (all, or one by name) they are asked again, put otherwise; a last table then tells
the change against the same questions as they are, over all tasks, and how often the choice stayed.

Accuracy is that of questions with four options (of yes/no questions with two), in percent, with a
95 % interval over patients; "no stem" shows the options alone, "other stem" another patient's stem.
Of open answers the share is told that name an accepted answer.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.evaluation import accuracy_by, open_ended_by, robustness, several_right_by
from ehrkg.evaluation.settings import LIKELIHOOD, PLAIN, Setting
from ehrkg.foundation.storage import read_parquet
from ehrkg.propose.tasks import tasks

ASKED = (PLAIN, LIKELIHOOD)
"""Settings that are shown: how baselines answer, and how options are weighed."""

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
        lines += ["", *head((name, *HEAD[1:]))]
        for task, (key_source, model), setting in product(tasks(), sorted(ranked), ASKED):
            plain = figures.get((task, model, setting))
            if plain is None:
                continue
            controls = [one.name for one in Setting.parse(setting).controls()]
            cells = [
                task,
                f"{model} (key source)" if key_source else model,
                f"{plain['items']:,}",
                share(plain, column, interval=True),
                *(share(figures.get((task, model, control)), column) for control in controls),
                share(opened.get((task, model, PLAIN)), "coverage", interval=True),
            ]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines[1:], *opened_by_likelihood(opened, scores), *perturbed(scores)])


def head(names: Sequence[str]) -> list[str]:
    """The first lines of a table."""
    return [f"| {' | '.join(names)} |", "|---" * len(names) + "|"]


def opened_by_likelihood(opened: dict[tuple[str, str, str], Row], scores: pa.Table) -> list[str]:
    """Open answers of the models whose options were weighed: of how many questions, and ROUGE-1."""
    weighed = scores.filter(pc.equal(scores["setting"], LIKELIHOOD))["model"].unique().to_pylist()
    lines = [
        f"| {task} | {model} | {row['items']:,} | {share(row, 'coverage', interval=True)} "
        f"| {row['rouge1']:.2f} |"
        for (task, model, setting), row in sorted(opened.items())
        if model in weighed and setting == PLAIN
    ]
    return ["", *head(("open", "model", "questions", "named", "ROUGE-1")), *lines] if lines else []


def perturbed(scores: pa.Table) -> list[str]:
    """The change of each model under each perturbation, over all tasks and numbers of options."""
    place = scores.schema.get_field_index("task")
    together = pa.array(["all"] * scores.num_rows, pa.string())
    found = robustness(scores.set_column(place, "task", together)).to_pylist()
    lines = [
        f"| {row['model']} | {row['perturbation']} | {row['items']:,} "
        f"| {100 * row['accuracy']:.1f} | {100 * row['change']:+.1f} "
        f"({100 * row['low']:+.1f} to {100 * row['high']:+.1f}) | {consistent(row)} |"
        for row in found
        if row["format"] == "mcq" and row["setting"] in ASKED
    ]
    names = ("model", "perturbation", "questions", "as it is", "change", "same choice")
    return ["", *head(names), *lines] if lines else []


def consistent(row: Row) -> str:
    """How often the same option was chosen, with its interval; "" where none was."""
    if row["consistency"] is None:
        return ""
    low, high = (100 * row[f"consistency_{end}"] for end in ("low", "high"))
    return f"{100 * row['consistency']:.0f} ({low:.0f} to {high:.0f})"


def main() -> None:
    """Print the table of a build."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    print(markdown(read_parquet(parser.parse_args().build / "scores.parquet")))


if __name__ == "__main__":
    main()
