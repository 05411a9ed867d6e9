"""Tiny models of the real libraries, with weights that were never trained."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _bert(folder: Path, kind: str, **config: Any) -> Path:
    import torch
    import transformers

    folder.mkdir(parents=True, exist_ok=True)
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces = [*special, *_LETTERS, *(f"##{letter}" for letter in _LETTERS)]
    (folder / "vocab.txt").write_text("\n".join(pieces), encoding="utf-8")
    transformers.BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    torch.manual_seed(7)
    made = transformers.BertConfig(
        vocab_size=len(pieces),
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        **config,
    )
    getattr(transformers, kind)(made).save_pretrained(folder)
    return folder


def encoder(folder: Path, dimension: int = 16) -> Path:
    """A sentence encoder, as SapBERT's folder looks: a plain transformers model."""
    return _bert(folder, "BertModel", hidden_size=dimension)


def classifier(folder: Path, labels: Sequence[str]) -> Path:
    """A text classifier with these labels."""
    return _bert(
        folder,
        "BertForSequenceClassification",
        hidden_size=16,
        num_labels=len(labels),
        id2label=dict(enumerate(labels)),
        label2id={label: place for place, label in enumerate(labels)},
    )
