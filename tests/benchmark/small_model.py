"""A language model small enough to be made in a test: real weights and tokens, no knowledge."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

LETTERS_A_TEXT = 384


def write_small_model(texts: Iterable[str], folder: Path) -> Path:
    """Make a GPT-2 of two layers, with a tokenizer learnt from some texts, and save both."""
    import torch
    from tokenizers import ByteLevelBPETokenizer
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    learnt = ByteLevelBPETokenizer()
    learnt.train_from_iterator(
        texts, vocab_size=600, special_tokens=["<|end|>"], show_progress=False
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=learnt._tokenizer,
        bos_token="<|end|>",
        eos_token="<|end|>",
        pad_token="<|end|>",
        model_max_length=LETTERS_A_TEXT,
    )
    torch.manual_seed(7)
    model = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=len(tokenizer),
            n_positions=LETTERS_A_TEXT,
            n_embd=32,
            n_layer=2,
            n_head=2,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def write_indifferent_model(texts: Iterable[str], folder: Path) -> Path:
    """The same with every weight 0: to it all tokens are equally likely, wherever they stand."""
    import torch
    from transformers import GPT2LMHeadModel

    model = GPT2LMHeadModel.from_pretrained(write_small_model(texts, folder))
    with torch.no_grad():
        for weight in model.parameters():
            weight.zero_()
    model.save_pretrained(folder)
    return folder
