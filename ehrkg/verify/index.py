"""Sentences to be retrieved for a claim: an exact FAISS index, kept on disk with what it is of."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ehrkg.foundation.embedding import Embedder, Vectors, embed, texts_hash
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.storage import file_hash, write_atomically
from ehrkg.verify.arrays import Floats, Ints

SEARCH = 4096
"""Claims searched together, to bound the memory."""


class SentenceIndex:
    """Distinct sentences under inner product of unit vectors (cosine).

    Args:
        sentences: distinct texts; their order gives their numbers.
        embedder: what embeds sentences and claims.
        cache: where vectors and index are kept. A kept index is used only if it is whole and of
            these sentences and this model; otherwise it is built again, never mixed.
    """

    def __init__(
        self, sentences: Sequence[str], embedder: Embedder, cache: Path | None = None
    ) -> None:
        self.sentences = list(sentences)
        self.embedder = embedder
        self._cache = cache
        self._name = texts_hash(self.sentences, embedder)
        self._index = self._kept() or self._build()

    def __len__(self) -> int:
        return len(self.sentences)

    def search(self, claims: Vectors, top: int) -> Ints:
        """Numbers of the ``top`` sentences nearest to each claim, (n, top); -1 where fewer.

        Raises:
            UsageError: the claims' vectors have another dimension than the index.
        """
        if claims.shape[1] != self._index.d:
            raise UsageError(
                f"claims have {claims.shape[1]} dimensions, the index {self._index.d}",
                todo="embed both with one model",
            )
        top = min(top, len(self))
        parts = [
            self._index.search(np.ascontiguousarray(claims[at : at + SEARCH]), top)[1]
            for at in range(0, len(claims), SEARCH)
        ]
        return np.concatenate(parts) if parts else np.empty((0, top), np.int64)

    def similarity(self, claims: Vectors, numbers: Ints) -> Floats:
        """Cosine of claim ``i`` and sentence ``numbers[i]``, rounded to 4."""
        order, place = np.unique(numbers, return_inverse=True)
        stored = np.stack([self._index.reconstruct(int(number)) for number in order])[place.ravel()]
        products = np.einsum("ij,ij->i", claims.astype(np.float64), stored.astype(np.float64))
        return np.asarray(np.round(products, 4), dtype=np.float64)

    def _files(self) -> tuple[Path, Path] | None:
        if self._cache is None:
            return None
        file = self._cache / f"sentences-{self._name[:32]}.faiss"
        return file, file.with_suffix(".json")

    def _kept(self) -> Any | None:
        import faiss

        files = self._files()
        if files is None or not all(file.is_file() for file in files):
            return None
        try:
            note = json.loads(files[1].read_text(encoding="utf-8"))
        except ValueError:
            return None
        if note.get("texts") != self._name or note.get("sha256") != file_hash(files[0]):
            return None
        index = faiss.read_index(str(files[0]))
        fits = index.d == self.embedder.dimension and index.ntotal == len(self)
        return index if fits else None

    def _build(self) -> Any:
        import faiss

        index = faiss.IndexFlatIP(self.embedder.dimension)
        index.add(np.ascontiguousarray(embed(self.sentences, self.embedder, self._cache)))
        files = self._files()
        if files is not None:
            write_atomically(files[0], lambda temporary: faiss.write_index(index, str(temporary)))
            note = {
                "texts": self._name,
                "model": self.embedder.name,
                "dimension": index.d,
                "count": index.ntotal,
                "sha256": file_hash(files[0]),
            }
            text = json.dumps(note, indent=1) + "\n"
            write_atomically(files[1], lambda temporary: temporary.write_text(text, "utf-8"))
        return index
