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
from sklearn.linear_model import LogisticRegression
from world import World, controls, judge, random_prior

from ehrkg.verify import Policy

RANDOM = 20_000
STRENGTH = 10.0
"""Inverse of the penalty: the best of 0.1, 1, 10 by cross-validation over drugs of the half."""
WRONG = 0.25
"""Of the drawn pairs that come out supported, the share that is wrong: 18 of 70 that were read. The
others are uses that a source states of the class or the genus."""
GIVEN = {"against": -3.0}
"""Set, not fitted: physicians' pairs hold too few contradictions to tell their weight."""
HEAD = """\
# The score of a predicate as a probability: log-odds = intercept + sum of coefficient x feature
# (ehrkg/verify/features.py says what each is), shifted to the prior that the policy names.
#   prior      the share of pairs, drawn at random with the degrees of the statements, that some
#              source states
#   fitted_at  the prior at which intercept and coefficients hold
# Written by tests/benchmarks/verify_measured/fit.py: fitted to half of PharmacotherapyDB (by drug)
# and to random pairs. No pair ships. `against` is set by hand: the pairs hold too few contradictions.
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
    order = LogisticRegression(C=STRENGTH, max_iter=5000).fit(judged, right)
    prior = round(random_prior(world.known), 3)
    line = np.concatenate([judged @ order.coef_[0], drawn @ order.coef_[0]])[:, None]
    truth = np.concatenate([right, np.zeros(len(drawn), bool)])
    level = LogisticRegression(C=1e6, max_iter=5000)
    level.fit(line, truth, sample_weight=weighed(right, supported, prior))
    slope, intercept = float(level.coef_[0][0]), float(level.intercept_[0])
    print(HEAD + "TREATS:")
    print(f"  prior: {prior}\n  fitted_at: {prior}\n  intercept: {intercept:.3f}")
    print("  coefficients:")
    for name, value in zip(names, order.coef_[0], strict=True):
        print(f"    {name}: {slope * value:.3f}")
    for name, value in GIVEN.items():
        print(f"    {name}: {value}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data"))
