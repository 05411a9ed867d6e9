"""PharmacotherapyDB: what physicians judged to be treatments, and what they judged to be none."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from figures import at_prevalence, auroc, average_precision, share, show
from world import PATHS, World, judge, without

from ehrkg.evaluation.metrics import wilson
from ehrkg.ontology.schema import Knowledge
from ehrkg.verify import Policy
from ehrkg.verify.calibration import calibrations

GROUPS = ("DM", "SYM", "NOT")
MEASURES = ("precision", "recall", "NOT pairs supported", "AUROC", "avg. prec.", "prec. at 6 %")
STEPS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999, 1.01)
Pair = dict[str, Any]


def measures(pairs: Sequence[Pair], column: str = "score") -> list[str]:
    """The row of a table."""
    right = [row for row in pairs if row["category"] != "NOT"]
    wrong = [row for row in pairs if row["category"] == "NOT"]
    hits, false = (
        sum(row["found"]["verdict"] == "supported" for row in some) for some in (right, wrong)
    )
    scores = [[row["found"][column] for row in some] for some in (right, wrong)]
    return [
        share(hits, hits + false),
        share(hits, len(right)),
        share(false, len(wrong)),
        f"{auroc(*scores):.3f}",
        f"{average_precision(*scores):.3f}",
        f"{at_prevalence(hits / len(right), false / len(wrong)):.3f}",
    ]


def judged(world: World, knowledge: Knowledge, policy: Policy = PATHS, **more: Any) -> list[Pair]:
    """The pairs with what was found."""
    found = judge([row["claim"] for row in world.physicians], knowledge, policy, **more)
    return [row | {"found": found[row["claim"]]} for row in world.physicians]


def report(world: World, cache: Path, plot: Path | None) -> list[Pair]:
    """Print the tables; returns the pairs as they come out with all that is known.

    Args:
        world: the knowledge and the labelled pairs.
        cache: where embedded sentences are kept.
        plot: a file for the picture of the score's reliability; none for ``None``.
    """
    shipped = judged(world, world.named, Policy(), cache=cache)
    both = judged(world, world.known, Policy(), cache=cache)
    paths = judged(world, world.known)
    half = [row for row in both if row["half"] == "report"]
    _classes(both)
    rows = [
        ("all pairs, what ships", *measures(shipped)),
        ("all pairs, and open tables", *measures(both)),
        ("tuned on: half of the drugs", *measures([r for r in both if r["half"] == "tune"])),
        ("reported: the other half", *measures(half)),
        ("the other half, what ships", *measures([r for r in shipped if r["half"] == "report"])),
        ("the other half, paths alone", *measures([r for r in paths if r["half"] == "report"])),
        ("the other half, definitions alone", *_definitions_alone(half)),
    ]
    show("PharmacotherapyDB (supported = answer; DM and SYM are right)", ("", *MEASURES), rows)
    _sources(world)
    _reliability(half, plot)
    return both


def _definitions_alone(half: Sequence[Pair]) -> list[str]:
    """Sentences never make a verdict: only their order can be measured."""
    alone = [row | {"found": row["found"] | {"verdict": "unsupported"}} for row in half]
    return measures(alone, "score_definition")


def _classes(pairs: Sequence[Pair]) -> None:
    rows = []
    for group in GROUPS:
        some = [row["found"] for row in pairs if row["category"] == group]
        verdicts = Counter(row["verdict"] for row in some)
        linked = sum(not row["reasons"][0].startswith("unlinked") for row in some)
        rows.append(
            (
                group,
                share(linked, len(some)),
                share(verdicts["supported"], len(some)),
                verdicts["ambiguous"],
                verdicts["contradicted"],
            )
        )
    columns = ("class", "linked", "supported", "ambiguous", "contradicted")
    show("PharmacotherapyDB: verdicts by the physicians' class", columns, rows)


def _sources(world: World) -> None:
    """Each source left out, over paths alone."""
    edges = world.known.edges
    rows = [("none", *measures(judged(world, world.known)))]
    treating = edges.filter(pc.is_in(edges["predicate"], value_set=pa.array(["TREATS"])))
    for source in sorted(set(treating["source"].to_pylist())):
        left = without(world.known, pc.equal(edges["source"], source))
        rows.append((source.removeprefix("infores:"), *measures(judged(world, left))))
    show("PharmacotherapyDB, all pairs, paths alone, without a source", ("", *MEASURES), rows)


def _reliability(half: Sequence[Pair], plot: Path | None) -> None:
    """How often the pairs of a score are right, the score moved to the share that is right here."""
    right = np.array([row["category"] != "NOT" for row in half])
    fit = calibrations()["TREATS"]
    names = list(fit.coefficients)
    numbers = {name: np.array([row["found"]["features"][name] for row in half]) for name in names}
    scores = fit.probability(numbers, float(right.mean()))
    rows, points = [], []
    for low, high in itertools.pairwise(STEPS):
        some = (scores >= low) & (scores < high)
        title = f"{low:.2f} to {min(high, 1.0):.2f}"
        rows.append((title, share(int(right[some].sum()), int(some.sum()))))
        if some.any():
            points.append((float(scores[some].mean()), int(right[some].sum()), int(some.sum())))
    show("Reliability of the score on the other half", ("score, at 1145:243", "right"), rows)
    if plot is not None:
        _reliability_plot(points, plot)


def _reliability_plot(points: Sequence[tuple[float, int, int]], file: Path) -> None:
    """The mean score of each step against the share that is right, with Wilson intervals."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 5), layout="constrained")
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], ":", color="grey", label="as it should be")
    means = [mean for mean, _, _ in points]
    shares = [right / n for _, right, n in points]
    bounds = [wilson(right, n) for _, right, n in points]
    errors = [
        [at - low for at, (low, _) in zip(shares, bounds, strict=True)],
        [high - at for at, (_, high) in zip(shares, bounds, strict=True)],
    ]
    axes.errorbar(means, shares, yerr=errors, fmt="o-", capsize=3, label="the other half")
    for mean, at, (_, _, n) in zip(means, shares, points, strict=True):
        axes.annotate(f"{n}", (mean, at), textcoords="offset points", xytext=(6, -10))
    axes.set(xlabel="score of TREATS (mean of a step)", ylabel="share that physicians call right")
    axes.legend()
    figure.savefig(file)
