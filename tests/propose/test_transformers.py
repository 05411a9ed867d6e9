"""A local model proposes what it was taught, by likelihood; a tiny one is taught here."""

from __future__ import annotations

from pathlib import Path

import pytest

from ehrkg.foundation.errors import InputError, UsageError
from ehrkg.ontology.predicates import PREDICATES
from ehrkg.propose import Transformers
from ehrkg.propose.models.transformers import MOST_CHANCE, TransformersModel
from tests.propose.worlds import hospital

DRUGS, DISEASES = [f"R{n}" for n in range(1, 7)], [f"D{n}" for n in range(1, 10)]
TAUGHT = {"R1": "D1", "R2": "D2", "R3": "D3", "R4": "D4"}
WORDS = PREDICATES["TREATS"].words


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of two layers that has read which drug treats which disease, and nothing else."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    torch.manual_seed(7)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # so small a model only waits for more
    vocabulary = ["<unk>", "It", WORDS, *DRUGS, *DISEASES]
    words = Tokenizer(
        models.WordLevel({word: at for at, word in enumerate(vocabulary)}, unk_token="<unk>")
    )
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, unk_token="<unk>")
    size = GPT2Config(
        vocab_size=len(vocabulary), n_positions=16, n_embd=32, n_layer=2, n_head=2,
        bos_token_id=None, eos_token_id=None, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
    )  # fmt: skip
    model = GPT2LMHeadModel(size)
    read = [f"{drug} {WORDS} {disease}" for drug, disease in TAUGHT.items()]
    read += [f"It {WORDS} {disease}" for disease in DISEASES]
    tokens = tokenizer(read, return_tensors="pt").input_ids
    steps = torch.optim.AdamW(model.parameters(), lr=0.003)
    for _ in range(300):
        steps.zero_grad()
        model(tokens, labels=tokens).loss.backward()
        steps.step()
    torch.set_num_threads(threads)
    out = tmp_path_factory.mktemp("model")
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)
    return out


def test_likelihood_is_what_the_model_gives_the_ending(folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer, model = (
        kind.from_pretrained(folder) for kind in (AutoTokenizer, AutoModelForCausalLM)
    )
    whole = tokenizer(f"R1 {WORDS} D2", return_tensors="pt").input_ids
    labels = whole.clone()
    labels[0, :2] = -100  # only the ending counts
    with torch.no_grad():
        expected = -float(model(whole, labels=labels).loss)
    found = TransformersModel(folder).local.likelihoods(
        [(f"R1 {WORDS}", "D2"), ("R1", f"{WORDS} D1 D3")]
    )
    assert found[0] == pytest.approx(expected, abs=1e-3)


def test_a_base_model_proposes_what_it_knows(folder: Path) -> None:
    stays = [[{"R1", "R2", "R5", "D1", "D2", "D5"}], [{*DRUGS[2:], *DISEASES[2:]}]]
    table = Transformers(folder, min_patients=1).propose(hospital(stays), tasks=["treatment"])
    pairs = set(zip(table["head"].to_pylist(), table["tail"].to_pylist(), strict=True))
    taught = set(TAUGHT.items())
    assert taught <= pairs
    together = 3 * 3 + 4 * 7
    assert len(pairs - taught) <= MOST_CHANCE * together


def test_a_base_model_can_not_read_a_visit(folder: Path) -> None:
    with pytest.raises(UsageError, match="follows no instructions"):
        Transformers(folder, per="visit").propose(hospital([[{"R1", "D1"}]]))


def test_a_model_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can't be loaded"):
        Transformers(tmp_path, min_patients=1).propose(hospital([[{"R1", "D1"}]]))
