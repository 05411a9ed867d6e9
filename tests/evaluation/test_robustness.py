"""Change and consistency under a perturbation, as pandas and statsmodels work them out."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from statsmodels.regression.linear_model import OLS

from ehrkg.evaluation.measures.stability import as_sets, robustness
from tests.evaluation.made_scores import scores_of

PERTURBED = "perturbed:option_order+few_shot2"


@pytest.fixture(scope="module")
def scores() -> pa.Table:
    table = scores_of(settings=("few_shot2", PERTURBED, "perturbed:option_order+few_shot2+no_stem"))
    codes = [
        [f"code{choice}"] if at % 7 else None
        for at, choice in enumerate(table["choice"].to_pylist())
    ]
    place = table.schema.get_field_index("chosen_codes")
    field = table.schema.field("chosen_codes")
    return table.set_column(place, field, pa.array(codes, field.type))


def test_change_and_consistency_are_paired_by_question(scores):
    frame = scores.to_pandas()
    found = robustness(scores).to_pandas()
    assert set(found.perturbation) == {"option_order"}
    assert set(found.setting) == {"few_shot2"}
    found = found.set_index(["model", "task"])
    frame["code"] = [None if codes is None else codes[0] for codes in frame.chosen_codes]
    keys = ["model", "task", "item_id", "cluster"]
    wide = frame.pivot(index=keys, columns="setting", values=["correct", "code"]).reset_index()
    for key, group in wide.groupby([("model", ""), ("task", "")]):
        row = found.loc[key]
        before, now = (group["correct", name].astype(float) for name in ("few_shot2", PERTURBED))
        assert (row.accuracy, row.perturbed) == pytest.approx((before.mean(), now.mean()), abs=1e-4)
        both = group["code"].dropna(subset=["few_shot2", PERTURBED])
        assert row.chosen_twice == len(both)
        assert row.consistency == pytest.approx(
            (both["few_shot2"] == both[PERTURBED]).mean(), abs=1e-4
        )
        if key[0] == "graph":
            continue
        fitted = OLS(now - before, np.ones(len(group))).fit(
            cov_type="cluster",
            cov_kwds={"groups": group["cluster", ""].factorize()[0]},
            use_t=True,
        )
        assert row.change == pytest.approx(fitted.params.iloc[0], abs=1e-4)
        assert (row.low, row.high) == pytest.approx(tuple(fitted.conf_int().iloc[0]), abs=1e-4)


def test_several_choices_are_the_same_in_any_order():
    first = pa.chunked_array([[["b", "a"], ["a"], None, []]])
    again = pa.chunked_array([[["a", "b"], ["b"]], [None, []]])
    assert as_sets(first).to_pylist()[0] == as_sets(again).to_pylist()[0]
    assert as_sets(first).to_pylist()[1] != as_sets(again).to_pylist()[1]
    assert as_sets(again).to_pylist()[2:] == [None, ""]


def test_without_a_perturbation_there_is_nothing_to_tell():
    assert robustness(scores_of(40)).num_rows == 0
