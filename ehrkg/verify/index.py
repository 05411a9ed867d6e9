"""Sentences to be retrieved for a claim: a FAISS index, kept on disk with what it is of."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ehrkg.foundation.embedding import Embedder, Vectors, embed, texts_hash
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.hashing import order_by_hash
from ehrkg.foundation.storage import file_hash, write_atomically
from ehrkg.verify.arrays import Floats, Ints

SEARCH = 4096
"""Claims searched together, to bound the memory."""

EXACT_UP_TO = 20_000
"""Sentences up to which every one is compared: then exact costs no more than being clever."""

LEAST_RECALL = 0.98
"""Share of the true nearest that an index above that size must find, on probes; the 0.03 above what
is asked of claims are for claims being less like sentences than the probes, which are some."""

PROBES, NEAREST = 256, 10
"""How many sentences the recall is measured with, and how many nearest of each."""

NEARLY = 1e-6
"""Similarities so close are equal: sums of products differ in their last digits."""

WIDTHS = (4, 8, 16, 32, 64, 128)
"""How widely an approximate index may search (nprobe, efSearch); the least that will do is kept."""


class SentenceIndex:
    """Distinct sentences under inner product of unit vectors (cosine).

    Up to ``exact_up_to`` sentences the search is exact. Above, the first of an inverted file (IVF)
    and a navigable graph (HNSW) is taken that finds enough of the true nearest of the probes, at
    the least width that does; if neither does, the search stays exact.

    Args:
        sentences: distinct texts; their order gives their numbers.
        embedder: what embeds sentences and claims.
        cache: where vectors and index are kept. A kept index is used only if it is whole and of
            these sentences and this model; otherwise it is built again, never mixed.
        exact_up_to: see above.
        probes: vectors of some of the claims that will be asked. Claims lie apart from sentences,
            and a width that finds the neighbours of sentences loses a third of the neighbours of
            claims; some sentences by default, where no claim is known yet.

    Attributes:
        kind: ``exact``, ``ivf`` or ``hnsw``.
        recall: measured on the probes; 1 where exact.
    """

    def __init__(
        self,
        sentences: Sequence[str],
        embedder: Embedder,
        cache: Path | None = None,
        *,
        exact_up_to: int = EXACT_UP_TO,
        probes: Vectors | None = None,
    ) -> None:
        self.sentences = list(sentences)
        self.embedder = embedder
        self.kind, self.recall = "exact", 1.0
        self._cache = cache
        self._exact = len(self.sentences) <= exact_up_to
        self._name = texts_hash(self.sentences, embedder)
        self._vectors: Vectors | None = None
        self._probes = probes
        self._index = self._kept() or self._build()

    def __len__(self) -> int:
        return len(self.sentences)

    @property
    def vectors(self) -> Vectors:
        """Of the sentences, (n, dimension), in their order."""
        if self._vectors is None:
            self._vectors = embed(self.sentences, self.embedder, self._cache)
        return self._vectors

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
        rows = range(0, len(numbers), SEARCH)
        found = [
            np.einsum(
                "ij,ij->i",
                claims[at : at + SEARCH].astype(np.float64),
                self.vectors[numbers[at : at + SEARCH]].astype(np.float64),
            )
            for at in rows
        ]
        products = np.concatenate(found) if found else np.empty(0)
        return np.asarray(np.round(products, 4), dtype=np.float64)

    def _files(self) -> tuple[Path, Path] | None:
        if self._cache is None:
            return None
        form = "exact" if self._exact else "approximate"
        file = self._cache / f"sentences-{self._name[:32]}-{form}.faiss"
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
        if not isinstance(note, dict) or note.get("sha256") != file_hash(files[0]):
            return None
        if note.get("texts") != self._name or note.get("least_recall") != LEAST_RECALL:
            return None
        index = faiss.read_index(str(files[0]))
        if index.d != self.embedder.dimension or index.ntotal != len(self):
            return None
        self.kind = note["kind"]
        if self.kind in _KINDS and not self._wide_enough(index):
            self.kind = "exact"
            return None
        return index

    def _build(self) -> Any:
        index = self._flat()
        if not self._exact:
            index = self._approximate() or index
        self._keep(index)
        return index

    def _flat(self) -> Any:
        import faiss

        index = faiss.IndexFlatIP(self.embedder.dimension)
        index.add(np.ascontiguousarray(self.vectors))
        return index

    def _approximate(self) -> Any | None:
        """The first approximate index with recall enough; None if none has."""
        for kind, (make, _) in _KINDS.items():
            with _one_thread():
                index = make(self.vectors)
            self.kind = kind
            if self._wide_enough(index):
                return index
        self.kind = "exact"
        return None

    def _wide_enough(self, index: Any) -> bool:
        """Set the least width at which the recall suffices; whether there is one."""
        for width in WIDTHS:
            _KINDS[self.kind][1](index, width)
            recall = recall_of(index.search(self._asked, NEAREST)[0], self._truth)
            if recall >= LEAST_RECALL:
                self.recall = recall
                return True
        return False

    @functools.cached_property
    def _asked(self) -> Vectors:
        """What the recall is measured with."""
        if self._probes is not None:
            step = max(1, len(self._probes) // PROBES)
            return np.ascontiguousarray(self._probes[::step][:PROBES])
        number = {sentence: place for place, sentence in enumerate(self.sentences)}
        some = order_by_hash(self.sentences, "probe")[:PROBES]
        return np.ascontiguousarray(self.vectors[[number[one] for one in some]])

    @functools.cached_property
    def _truth(self) -> Vectors:
        """The true similarities of its nearest sentences."""
        similar = self._asked @ self.vectors.T
        nearest = min(NEAREST, len(self))
        return np.asarray(-np.partition(-similar, nearest - 1, axis=1)[:, :nearest])

    def _keep(self, index: Any) -> None:
        import faiss

        files = self._files()
        if files is None:
            return
        write_atomically(files[0], lambda temporary: faiss.write_index(index, str(temporary)))
        note = {
            "texts": self._name,
            "model": self.embedder.name,
            "dimension": index.d,
            "count": index.ntotal,
            "kind": self.kind,
            "recall": self.recall,
            "least_recall": LEAST_RECALL,
            "sha256": file_hash(files[0]),
        }
        text = json.dumps(note, indent=1) + "\n"
        write_atomically(files[1], lambda temporary: temporary.write_text(text, "utf-8"))


def recall_of(found: Vectors, truth: Vectors) -> float:
    """Recall by nearness, rounded to 4: the share of finds as near as the farthest of the true.

    By nearness and not by number, since sentences may be equally near (as in ann-benchmarks,
    Aumüller et al. 2018); -inf stands where nothing was found.

    Args:
        found: similarities of what was found, (n, k), in any order.
        truth: those of the k truly nearest.

    >>> recall_of(np.array([[0.9, 0.5]]), np.array([[0.9, 0.8]]))
    0.5
    """
    if not truth.size:
        return 1.0
    return round(float((found >= truth.min(axis=1, keepdims=True) - NEARLY).mean()), 4)


def _inverted_file(vectors: Vectors) -> Any:
    """Cells about k-means centres, about 4 times the root of their number (FAISS's guidelines)."""
    import faiss

    size, dimension = vectors.shape
    cells = max(1, min(int(4 * size**0.5), size // 39))
    centres = faiss.IndexFlatIP(dimension)
    index = faiss.IndexIVFFlat(centres, dimension, cells, faiss.METRIC_INNER_PRODUCT)
    index.cp.seed, index.cp.niter, index.cp.max_points_per_centroid = 7, 8, 39
    index.train(vectors)
    index.add(vectors)
    return index


def _probe_cells(index: Any, width: int) -> None:
    index.nprobe = min(width, index.nlist)


def _navigable_graph(vectors: Vectors) -> Any:
    """A hierarchical navigable small world (Malkov and Yashunin 2018) with FAISS's own settings."""
    import faiss

    index = faiss.IndexHNSWFlat(vectors.shape[1], 32, faiss.METRIC_INNER_PRODUCT)
    index.add(vectors)
    return index


def _search_graph(index: Any, width: int) -> None:
    index.hnsw.efSearch = max(width, NEAREST)


_KINDS: dict[str, tuple[Callable[[Vectors], Any], Callable[[Any, int], None]]] = {
    "ivf": (_inverted_file, _probe_cells),
    "hnsw": (_navigable_graph, _search_graph),
}
"""Approximate indexes in the order in which they are tried, with how each is made and widened: IVF
is made faster."""


@contextmanager
def _one_thread() -> Iterator[None]:
    """With more threads the same vectors give another index."""
    import faiss

    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


__all__ = ["SentenceIndex", "recall_of"]
