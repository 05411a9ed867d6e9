"""Fit the score of TREATS and print calibration.yaml.

    python tests/benchmarks/verify_measured/fit.py ../shared/data > ehrkg/verify/calibration.yaml

Physicians' pairs of the drugs of one half give the order (treatments against what they judged to be
none); those and pairs drawn at random then give the level: at a prior p, p of the pairs are true,
the non-indications stand to them as they do in the physicians' table, the rest are drawn at random.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from world import World, controls, judge, random_prior

from ehrkg.verify import Policy

RANDOM = 20_000
PENALTY = 0.05
LESS = ("steps", "hub")
"""Features that may only lower a score; all others may only raise it: so that more support is never
a lower score, and a further walk never a higher one."""
WRONG = 0.25
"""Of the drawn pairs that come out supported, the share that is wrong: 18 of 70 that were read. The
others are uses that a source states of the class or the genus."""
GIVEN = {"weak": 0.5, "against": -3.0}
"""Set, not fitted: physicians' pairs hold too few contradictions, and too few paths that may not
carry a verdict, to tell their weight."""
HEAD = """\
# The score of a predicate as a probability: log-odds = intercept + sum of coefficient x feature
# (ehrkg/verify/features.py says what each is), shifted to the prior that the policy names.
#   prior      the share of pairs, drawn at random with the degrees of the statements, that some
#              source states
#   fitted_at  the prior at which intercept and coefficients hold
# Written by tests/benchmarks/verify_measured/fit.py: fitted to half of PharmacotherapyDB (by drug)
# and to random pairs. No pair ships. `weak` and `against` are set by hand: too few pairs have them.
"""


def weighed(
    right: npt.NDArray[np.bool_], supported: npt.NDArray[np.bool_], prior: float
) -> npt.NDArray[np.float64]:
    """Weights of the physicians' pairs, and then of those drawn (supported or not)."""
    true, false = right.sum(), (~right).sum()
    judged = np.full(len(right), prior / true)  # non-indications as often as in the table
    drawn = np.where(supported, WRONG, 1.0)
    drawn = drawn / drawn.sum() * (1.0 - prior - prior * false / true)
    return np.concatenate([judged, drawn]) * (len(right) + len(drawn))


def logistic(
    features: npt.NDArray[np.float64],
    truth: npt.NDArray[np.bool_],
    weight: npt.NDArray[np.float64],
    bounds: list[tuple[float | None, float | None]],
) -> npt.NDArray[np.float64]:
    """Intercept and coefficients within bounds, by maximum likelihood with a small ridge."""
    design = np.column_stack([np.ones(len(truth)), features])
    sign = np.where(truth, 1.0, -1.0)

    def loss(at: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        margin = sign * (design @ at)
        value = (weight * np.logaddexp(0.0, -margin)).sum() + PENALTY * (at[1:] ** 2).sum()
        slope = design.T @ (-weight * sign / (1.0 + np.exp(margin)))
        slope[1:] += 2 * PENALTY * at[1:]
        return float(value), slope

    start = np.zeros(design.shape[1])
    limits = [(None, None), *bounds]
    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B", bounds=limits).x)


def main(data: Path) -> None:
    """Fit and print."""
    world = World(data)
    half = [row for row in world.physicians if row["half"] == "tune"]
    found = judge([row["claim"] for row in half], world.known, Policy())
    names = [name for name in next(iter(found.values()))["features"] if name not in GIVEN]

    def numbers(relations: list[dict[str, object]]) -> npt.NDArray[np.float64]:
        return np.array([[row["features"][name] for name in names] for row in relations], float)

    judged = numbers([found[row["claim"]] for row in half])
    right = np.array([row["category"] != "NOT" for row in half])
    pairs = controls(world.known, RANDOM, "fit")
    random = list(judge([(h, "TREATS", t) for h, t in pairs], world.known).values())
    drawn = numbers(random)
    supported = np.array([row["verdict"] == "supported" for row in random])
    bounds = [(None, 0.0) if name in LESS else (0.0, None) for name in names]
    order = logistic(judged, right, np.ones(len(right)), bounds)[1:]
    prior = round(random_prior(world.known), 3)
    whole = np.concatenate([judged, drawn])
    line = np.column_stack([whole @ order, whole[:, names.index("support")]])
    truth = np.concatenate([right, np.zeros(len(drawn), bool)])
    weight = weighed(right, supported, prior)
    intercept, slope, extra = logistic(line, truth, weight, [(0.0, None), (0.0, None)])
    coefficients = slope * order
    coefficients[names.index("support")] += extra
    print(HEAD + "TREATS:")
    print(f"  prior: {prior}\n  fitted_at: {prior}\n  intercept: {intercept:.3f}")
    print("  coefficients:")
    for name, value in zip(names, coefficients, strict=True):
        print(f"    {name}: {value:.3f}")
    for name, value in GIVEN.items():
        print(f"    {name}: {value}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data"))
