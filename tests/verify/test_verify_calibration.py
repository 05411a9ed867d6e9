"""A score is a probability where labels allow it; it moves as a reader expects, and no verdict."""

from __future__ import annotations

import numpy as np
import pytest
import tiny

from ehrkg.foundation.errors import UsageError
from ehrkg.verify import Policy, verify
from ehrkg.verify.calibration import Calibration, calibrations

EDGES = [
    tiny.edge("D:a", "TREATS", "M:x"),
    tiny.edge("D:a", "TREATS", "M:y"),
    tiny.edge("D:a", "TREATS", "M:y", source="infores:two"),
    tiny.edge("D:a", "TREATS", "M:kind"),
    tiny.edge("D:a", "CAUSES", "M:z"),
    tiny.edge("M:kind", "SUBCLASS_OF", "M:genus"),
    *(tiny.edge(f"D:{one}", "SUBCLASS_OF", "C:c") for one in "abcd"),
    tiny.edge("D:b", "TREATS", "M:u"),
    tiny.edge("D:c", "TREATS", "M:u"),
    tiny.edge("D:d", "TREATS", "M:x"),
]


def judged(policy: Policy, *claims: tuple[str, str, str]) -> dict[tuple[str, str, str], dict]:
    found = verify(
        tiny.candidates([tiny.candidate(*claim) for claim in claims]),
        tiny.same({end for claim in claims for end in (claim[0], claim[2])}),
        tiny.knowledge(EDGES),
        policy=policy,
    )
    assert found.features is not None
    numbers = {row["id"]: row for row in found.features.to_pylist()}
    return {
        (row["head"], row["predicate"], row["tail"]): row | {"features": numbers[row["id"]]}
        for row in found.relations.to_pylist()
    }


def at(prior: float | None) -> Policy:
    return Policy(definition_bonus=0.0, default_reliability=0.8, prior=prior)


ONE, TWO, NONE = (("D:a", "TREATS", f"M:{tail}") for tail in ("x", "y", "z"))
KIND, MATES, CAUSE = (
    ("D:a", "TREATS", "M:genus"),
    ("D:a", "TREATS", "M:u"),
    ("D:a", "CAUSES", "M:z"),
)


def test_only_scores_with_labels_behind_them_are_called_calibrated() -> None:
    found = judged(at(None), ONE, CAUSE)
    assert found[ONE]["score_calibrated"]
    assert not found[CAUSE]["score_calibrated"]
    assert found[CAUSE]["score"] == found[CAUSE]["score_path"]


def test_the_prior_moves_scores_and_no_verdict() -> None:
    rare, often = judged(at(0.01), ONE, TWO, NONE), judged(at(0.5), ONE, TWO, NONE)
    for claim in (ONE, TWO, NONE):
        assert rare[claim]["score"] < often[claim]["score"]
        assert rare[claim]["verdict"] == often[claim]["verdict"]


def test_a_prior_must_be_a_share() -> None:
    with pytest.raises(UsageError, match="prior"):
        judged(at(1.0), ONE)


def test_origins_class_mates_and_contradictions_move_a_score_as_expected() -> None:
    found = judged(at(None), ONE, TWO, NONE, MATES)
    assert found[TWO]["score"] > found[ONE]["score"] > found[MATES]["score"] > found[NONE]["score"]
    assert found[MATES]["features"]["mates"] == round(2 / 3, 4)
    assert found[TWO]["features"]["origins"] == 2


def test_what_treats_a_kind_is_shown_and_carries_no_verdict() -> None:
    """Thrombolysis is for ischaemic stroke; it is not for stroke."""
    row = judged(at(None), KIND)[KIND]
    assert row["verdict"] == "unsupported"
    assert row["features"]["kind"] == 1
    assert any("a kind of" in reason for reason in row["reasons"])


def test_the_shipped_coefficients_are_of_the_expected_signs() -> None:
    """More support never lowers a score; a contradiction or a hub never raises it."""
    for calibration in calibrations().values():
        less = {"steps", "hub", "against"}
        for name, value in calibration.coefficients.items():
            assert value <= 0 if name in less else value >= 0, name
        assert 0 < calibration.prior < 0.5


def test_a_shift_of_the_prior_keeps_the_ratio_of_odds() -> None:
    fit = Calibration(0.1, 0.1, 0.0, {"support": 1.0})
    numbers = {"support": np.array([0.0, 1.0])}
    odds = [p / (1 - p) for p in (fit.probability(numbers, 0.3), fit.probability(numbers, 0.03))]
    assert np.allclose(odds[0] / odds[1], (0.3 / 0.7) / (0.03 / 0.97), rtol=0.01)
