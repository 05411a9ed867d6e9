"""A setting and its name are one to one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ehrkg.evaluation.settings import CONTROLS, READINGS, Setting
from ehrkg.foundation.errors import UsageError

SETTINGS = st.builds(
    dict,
    control=st.sampled_from(CONTROLS),
    reading=st.sampled_from(READINGS),
    shots=st.integers(0, 40),
    reasoning=st.booleans(),
    evidence=st.booleans(),
    perturbation=st.sampled_from(["", "option_order", "n_options:5", "typos"]),
).filter(lambda parts: not (parts["reasoning"] and parts["reading"] == "likelihood"))


@given(SETTINGS)
def test_the_name_of_a_setting_gives_it_back(parts):
    setting = Setting(**parts)
    assert Setting.parse(setting.name) == setting


@given(SETTINGS, SETTINGS)
def test_two_settings_never_share_a_name(one, other):
    assert (Setting(**one) == Setting(**other)) == (Setting(**one).name == Setting(**other).name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "upside_down",
        "plain+no_stem",
        "no_stem+few_shot5",
        "few_shot0",
        "few_shot05",
        "letter",
        "few_shot5+few_shot5",
        "perturbed:",
        "perturbed:Two Words",
        "likelihood+chain_of_thought",
    ],
)
def test_what_names_no_setting_is_refused(name):
    with pytest.raises(UsageError):
        Setting.parse(name)


@pytest.mark.parametrize(
    "parts", [{"control": "none"}, {"reading": "guess"}, {"shots": -1}, {"perturbation": "a+b"}]
)
def test_parts_that_do_not_exist_are_refused(parts):
    with pytest.raises(UsageError):
        Setting(**parts)


def test_controls_differ_from_their_setting_in_the_stem_only():
    setting = Setting(reading="likelihood", shots=3, evidence=True)
    assert [control.name for control in setting.controls()] == [
        "likelihood+few_shot3+with_evidence+no_stem",
        "likelihood+few_shot3+with_evidence+other_stem",
    ]
