"""Embedding models by name or folder: which are known, and how one is loaded."""

from __future__ import annotations

import functools
import hashlib
import importlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ehrkg.foundation.errors import UsageError

DEFAULT = "MiniLM"


@dataclass(frozen=True)
class EmbeddingModel:
    """What is to be loaded for a name; see embedding_models.yaml.

    Attributes:
        name: tells its vectors from those of others.
        model: a folder, or a name that sentence-transformers knows.
        claims: the same for claims; "" where one model does both.
        claim_prefix: what stands before a claim.
        pooling: ``cls`` where the vector of the first token is meant; "" for what the model says.
        packaged: the Python package that carries it; "" for none.
        says: what it is.
    """

    name: str
    model: str = ""
    claims: str = ""
    claim_prefix: str = ""
    pooling: str = ""
    packaged: str = ""
    says: str = ""

    def place(self) -> str:
        """Where it lies: a folder, or the name of what the library fetches."""
        if not self.packaged:
            return self.model
        return str(importlib.import_module(self.packaged).get_model_path())


@functools.cache
def known_models() -> Mapping[str, EmbeddingModel]:
    """The models that have a short name.

    >>> sorted(known_models())
    ['BGE', 'MedCPT', 'MiniLM', 'SapBERT']
    """
    file = Path(__file__).with_name("embedding_models.yaml")
    rows = yaml.safe_load(file.read_text(encoding="utf-8"))
    return {name: EmbeddingModel(**{"name": name} | row) for name, row in rows.items()}


def embedding_model(name: str | None) -> EmbeddingModel:
    """What a name stands for: a folder first, then a short name, then whatever the library knows.

    >>> embedding_model(None).name, embedding_model("sapbert").pooling
    ('all-MiniLM-L6-v2', 'cls')
    >>> embedding_model("somebody/a-model").model
    'somebody/a-model'
    """
    if name is None:
        return known_models()[DEFAULT]
    if Path(name).is_dir():
        return EmbeddingModel(f"{Path(name).name}-{_folder_hash(Path(name))}", name)
    short = {known.casefold(): model for known, model in known_models().items()}
    return short.get(name.casefold()) or EmbeddingModel(name, name)


@functools.cache
def load_model(place: str) -> Any:
    """A sentence-transformers model, on the CPU; loaded once.

    Raises:
        UsageError: it is not there, or is no such model.
    """
    folder = Path(place)
    if folder.is_dir():
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        os.environ.setdefault("TRANSFORMERS_OFFLINE", "1")
    elif folder.is_absolute() or place.startswith((".", "~")) or place.count("/") > 1:
        raise UsageError(f"there is no folder {place!r} with an embedding model", todo=_todo())
    import sentence_transformers
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        return sentence_transformers.SentenceTransformer(place, device="cpu")
    except Exception as error:
        lines = str(error).splitlines() or [type(error).__name__]
        raise UsageError(
            f"the embedding model {place!r} can't be loaded: {lines[0]}", todo=_todo()
        ) from error


def _todo() -> str:
    return (
        f"name a folder that holds such a model, or one of {', '.join(known_models())} "
        f"(all but {DEFAULT} are fetched when first used), or leave it to the default"
    )


def _folder_hash(folder: Path) -> str:
    """Tells models of one name apart, by the names and contents of the files."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
        with path.open("rb") as content:  # weights take gigabytes: never whole in memory
            digest.update(hashlib.file_digest(content, "sha256").digest())
    return digest.hexdigest()[:12]
