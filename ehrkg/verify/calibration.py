"""Scores as probabilities: coefficients that ship as data, at a prior that can be set."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml

from ehrkg.foundation.errors import UsageError
from ehrkg.verify.arrays import Floats


@dataclass(frozen=True)
class Calibration:
    """How the features of a claim become a probability; a row of calibration.yaml.

    Attributes:
        prior: share of true claims among those judged, where the policy names none.
        fitted_at: the prior at which intercept and coefficients hold.
        intercept, coefficients: of the log-odds, by feature (``ehrkg.verify.features``).
    """

    prior: float
    fitted_at: float
    intercept: float
    coefficients: Mapping[str, float]

    def probability(self, features: Mapping[str, Floats], prior: float | None = None) -> Floats:
        """The probability that each claim is true, rounded to 4.

        Logistic regression, shifted from the prior of the fit to another by the difference of their
        log-odds (King and Zeng 2001, Political Analysis 9:137, prior correction).

        Args:
            features: by name, one number a claim.
            prior: share of true claims among those judged, in (0, 1); the shipped one by default.

        Raises:
            UsageError: the prior does not lie in (0, 1).

        >>> fit = Calibration(0.1, 0.5, 0.0, {"support": 2.0})
        >>> fit.probability({"support": np.array([0.0, 1.0])}, prior=0.5)
        array([0.5   , 0.8808])
        >>> fit.probability({"support": np.array([0.0, 1.0])})
        array([0.1   , 0.4509])
        """
        given = self.prior if prior is None else prior
        if not 0.0 < given < 1.0:
            raise UsageError(f"a prior of {given}", todo="give a share between 0 and 1")
        shift = self.intercept + _log_odds(given) - _log_odds(self.fitted_at)
        odds = shift + sum(
            (value * features[name] for name, value in self.coefficients.items()), start=np.zeros(1)
        )
        return np.asarray(np.round(1.0 / (1.0 + np.exp(-odds)), 4), dtype=np.float64)


def _log_odds(share: float) -> float:
    return float(np.log(share / (1.0 - share)))


@functools.cache
def calibrations() -> Mapping[str, Calibration]:
    """By predicate, the shipped calibration; predicates without labels have none.

    >>> sorted(calibrations())
    ['TREATS']
    """
    text = Path(__file__).with_name("calibration.yaml").read_text(encoding="utf-8")
    return {
        predicate: Calibration(
            float(row["prior"]),
            float(row["fitted_at"]),
            float(row["intercept"]),
            {name: float(value) for name, value in row["coefficients"].items()},
        )
        for predicate, row in yaml.safe_load(text).items()
    }


__all__ = ["Calibration", "calibrations"]
