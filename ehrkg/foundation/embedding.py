"""Texts as unit vectors, the same for any order of the texts and any number of threads."""

from __future__ import annotations

import functools
import hashlib
import io
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from ehrkg.foundation.embedding_models import embedding_model, load_model
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.hashing import hash64
from ehrkg.foundation.storage import write_atomically

Vectors = npt.NDArray[np.float32]

BATCH = 8
"""Texts a batch: fixed, since vectors change in the seventh digit with it. Few, since each is
padded to the longest of them: 800 definitions by shards take 7 s so, 14 s in batches of 64."""

THREADS = 1
"""Threads a batch is computed with, whatever the machine has: then a vector can't depend on it.
One, since threads that wait for each other cost more than they give on a machine with other work
(477 short texts on two busy cores: 6 s with one thread, 33 s with two)."""

SHARDS = 16
"""A text's shard is a hash of it. Shards are embedded and kept apart, so a text that changes costs
its own shard only, and a vector never depends on what else was ever embedded before."""


@runtime_checkable
class Embedder(Protocol):
    """Anything that turns texts into vectors.

    Attributes:
        name: of the model and its version; vectors of different names never meet.
        dimension: of the vectors.
    """

    name: str

    @property
    def dimension(self) -> int:
        """Of the vectors."""

    def encode(self, texts: list[str]) -> Vectors:
        """One vector a text, (n, dimension), in the order of the texts."""


@runtime_checkable
class TwoSidedEmbedder(Embedder, Protocol):
    """An embedder that embeds claims otherwise than the sentences retrieved for them.

    Attributes:
        claims: what embeds claims, into the same space.
    """

    @property
    def claims(self) -> Embedder:
        """What embeds claims, into the same space."""


def for_claims(embedder: Embedder) -> Embedder:
    """What embeds the claims that sentences are retrieved for."""
    return embedder.claims if isinstance(embedder, TwoSidedEmbedder) else embedder


class SentenceTransformerEmbedder:
    """A sentence-transformers model, on the CPU.

    Args:
        model: a folder, a short name of embedding_models.yaml (SapBERT, MedCPT, BGE), or a name
            that sentence-transformers knows; by default the MiniLM that comes as a package, so that
            nothing is fetched, loaded when first used.

    Raises:
        UsageError: the model is not there.

    >>> SentenceTransformerEmbedder().dimension  # told without loading it
    384
    """

    def __init__(self, model: str | None = None) -> None:
        self._found = embedding_model(model)
        self.name = self._found.name
        if not self._found.packaged:
            self._model  # noqa: B018 (what was misspelt is said before the work begins)
            self._asking  # noqa: B018

    @functools.cached_property
    def dimension(self) -> int:
        """Of the vectors."""
        if self._found.packaged:  # found without the seconds that loading takes
            config = Path(self._found.place()) / "config.json"
            return int(json.loads(config.read_text(encoding="utf-8"))["hidden_size"])
        return int(self.encode(["dimension"]).shape[1])

    @property
    def claims(self) -> Embedder:
        """What embeds claims: itself, unless the model's authors made another, or a prefix."""
        return self._asking or self

    def encode(self, texts: list[str]) -> Vectors:
        """See ``Embedder.encode``; vectors have length 1."""
        first = self._found.pooling == "cls"
        with fixed_threads():
            found = self._model.encode(
                texts,
                batch_size=BATCH,
                output_value="token_embeddings" if first else "sentence_embedding",
                convert_to_numpy=not first,
                normalize_embeddings=not first,
                show_progress_bar=False,
            )
        if first:
            found = [tokens[0].numpy() for tokens in found]
        return _unit(np.asarray(found, dtype=np.float32))

    @functools.cached_property
    def _model(self) -> Any:
        return load_model(self._found.place())

    @functools.cached_property
    def _asking(self) -> Embedder | None:
        found = self._found
        if not (found.claims or found.claim_prefix):
            return None
        asking = SentenceTransformerEmbedder.__new__(SentenceTransformerEmbedder)
        asking._found = replace(
            found, claims="", claim_prefix="", model=found.claims or found.model
        )
        asking.name = f"{found.name}, for claims"
        return _Prefixed(asking, found.claim_prefix)


class _Prefixed:
    """An embedder whose texts have something before them."""

    def __init__(self, embedder: Embedder, prefix: str) -> None:
        self.name, self.dimension = embedder.name, embedder.dimension
        self._embedder, self._prefix = embedder, prefix

    def encode(self, texts: list[str]) -> Vectors:
        """See ``Embedder.encode``."""
        return self._embedder.encode([self._prefix + text for text in texts])


def model_name(model: str | None) -> str:
    """The name an embedder of this model has; the model itself is not loaded.

    >>> model_name(None)
    'all-MiniLM-L6-v2'
    """
    return embedding_model(model).name


@contextmanager
def fixed_threads() -> Iterator[None]:
    """Torch with ``THREADS`` threads for a while."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(THREADS)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _unit(vectors: Vectors) -> Vectors:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(length, 1e-12), dtype=np.float32)


def texts_hash(texts: Sequence[str], embedder: Embedder) -> str:
    """Names a list of texts as embedded by a model."""
    digest = hashlib.sha256(f"{embedder.name}\n{embedder.dimension}\n{BATCH}".encode())
    for text in texts:
        digest.update(b"\x00" + text.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def embed(texts: Sequence[str], embedder: Embedder, cache: Path | None = None) -> Vectors:
    """Unit vectors of distinct texts, by shards, reused from disk where they were embedded before.

    Args:
        texts: distinct texts, in any order.
        embedder: what embeds them.
        cache: a folder that holds a file a shard; a file that is damaged is made anew.

    Returns:
        (n, dimension), in the order of ``texts``.
    """
    result = np.empty((len(texts), embedder.dimension), np.float32)
    shards: dict[int, list[int]] = {}
    for place, text in enumerate(texts):
        shards.setdefault(hash64("shard", text) % SHARDS, []).append(place)
    for _, places in sorted(shards.items()):
        places.sort(key=lambda place: (len(texts[place]), texts[place]))
        result[places] = _shard([texts[place] for place in places], embedder, cache)
    return result


def _shard(texts: list[str], embedder: Embedder, cache: Path | None) -> Vectors:
    file = cache / f"vectors-{texts_hash(texts, embedder)[:32]}.bin" if cache else None
    shape = (len(texts), embedder.dimension)
    if file is not None and (kept := _read(file, shape)) is not None:
        return kept
    vectors = np.concatenate(
        [embedder.encode(texts[at : at + BATCH]) for at in range(0, len(texts), BATCH)]
    ).astype(np.float32)
    if vectors.shape != shape:
        raise UsageError(
            f"the embedder {embedder.name!r} gave vectors of shape {vectors.shape}, not {shape}",
            todo="its `dimension` must be that of its vectors",
        )
    vectors = _unit(vectors)
    if file is not None:
        _write(file, vectors)
    return vectors


def _read(file: Path, shape: tuple[int, int]) -> Vectors | None:
    """A kept shard; None where there is none, or where it is damaged."""
    if not file.is_file():
        return None
    content = file.read_bytes()
    digest, body = content[:32], content[32:]
    if hashlib.sha256(body).digest() != digest:
        return None
    vectors = np.load(io.BytesIO(body), allow_pickle=False)
    return vectors if vectors.shape == shape and vectors.dtype == np.float32 else None


def _write(file: Path, vectors: Vectors) -> None:
    buffer = io.BytesIO()
    np.save(buffer, vectors, allow_pickle=False)
    body = buffer.getvalue()
    content = hashlib.sha256(body).digest() + body
    write_atomically(file, lambda temporary: temporary.write_bytes(content))
