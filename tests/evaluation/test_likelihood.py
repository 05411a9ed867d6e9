"""Options weighed by a local model: what the model says of each alone, whatever its company."""

from __future__ import annotations

from pathlib import Path

import pytest

from ehrkg.evaluation.asking.likelihood import LocalOptions, softmax
from ehrkg.foundation.errors import InputError, UsageError
from tests.benchmark.small_model import write_small_model

STEM = "A 63-year-old woman was admitted to hospital. Which drug was ordered?\nAnswer:"
OPTIONS = ["heparin, subcutaneous", "insulin", "warfarin, by mouth", "insulin glargine"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_small_model([STEM, *OPTIONS] * 20, tmp_path_factory.mktemp("model"))


def alone(folder: Path, opening: str, ending: str) -> float:
    """The mean log-likelihood of an ending, worked out by transformers itself."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer, model = (
        kind.from_pretrained(folder) for kind in (AutoTokenizer, AutoModelForCausalLM)
    )
    whole = tokenizer(f"{opening} {ending}", return_tensors="pt").input_ids
    labels = whole.clone()
    labels[0, : len(tokenizer(opening).input_ids)] = -100  # only the ending counts
    with torch.no_grad():
        return -float(model(whole, labels=labels).loss)


@pytest.mark.parametrize("opening", [STEM, "Answer:", "A"])
def test_an_option_s_likelihood_is_what_the_model_gives_it_alone(folder, opening):
    found = LocalOptions(folder).local.of_endings(opening, OPTIONS)
    assert found == pytest.approx([alone(folder, opening, one) for one in OPTIONS], abs=1e-4)


def test_probabilities_sum_to_one_and_follow_no_order(folder):
    model = LocalOptions(folder)
    (straight,) = model.probabilities([STEM], [OPTIONS])
    assert sum(straight) == pytest.approx(1, abs=1e-5)
    turned, other = model.probabilities([STEM, "Answer:"], [OPTIONS[::-1], OPTIONS])
    assert turned == straight[::-1]
    assert other == model.probabilities(["Answer:"], [OPTIONS])[0] != straight


def test_what_is_written_follows_no_order_either(folder):
    model = LocalOptions(folder)
    prompts = [STEM, "Answer:", f"{STEM} insulin\n\n{STEM}"]
    written = model.generate(prompts, tokens=6)
    assert model.generate(prompts[::-1], tokens=6) == written[::-1]
    assert [model.generate([prompt], tokens=6)[0] for prompt in prompts] == written


def test_one_option_is_certain_and_likelier_is_more_probable():
    assert softmax([-3.0]) == [1.0]
    assert softmax([-1000.0, -1001.0])[0] > 0.7


def test_a_model_that_is_not_there_is_said(tmp_path: Path):
    with pytest.raises(UsageError, match="there is no model at"):
        LocalOptions(tmp_path)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(InputError, match="can't be loaded"):
        LocalOptions(tmp_path).probabilities(["Answer:"], [["yes", "no"]])
    for name in ("a.gguf", "b.gguf"):
        (tmp_path / name).touch()
    (tmp_path / "config.json").unlink()
    with pytest.raises(UsageError, match="holds 2 models"):
        LocalOptions(tmp_path)
