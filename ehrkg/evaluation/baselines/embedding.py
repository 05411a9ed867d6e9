"""The option that reads most like the stem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.benchmark.facts.intervals import Floats
from ehrkg.evaluation.asking.asked import LEARNT_FROM, Asked, Ints, asked_of, places
from ehrkg.evaluation.baselines.protocol import against_cut
from ehrkg.foundation.embedding import Embedder

_ROWS = 100_000


@dataclass(frozen=True, eq=False)
class EmbeddingSimilarity:
    """The option whose embedding lies nearest to the stem's (cosine).

    Of a yes/no question the text of what is asked about stands in the stem and nowhere else: it is
    compared by ``names``.

    Args:
        embedder: turns texts into unit vectors.
        known_answers: fold and task to the answer texts of the open training questions, sorted; an
            open-ended question takes the nearest of them.
        names: code to the text of an answer.
    """

    embedder: Embedder
    known_answers: Mapping[tuple[int, str], Sequence[str]]
    names: Mapping[str, str] = field(default_factory=dict)
    name: str = "embedding similarity"
    key_source: bool = False
    _seen: dict[str, npt.NDArray[np.float32]] = field(default_factory=dict, repr=False)
    """Vectors of texts met before: the controls ask the same stems and options again."""

    @classmethod
    def learn(
        cls, embedder: Embedder, items: pa.Table, names: Mapping[str, str] | None = None
    ) -> EmbeddingSimilarity:
        """Collect the training split's answers."""
        asked = asked_of(items)
        asked = asked.take(np.flatnonzero(asked.is_form("oeq") & (asked.fold > 0)))
        answers = pc.list_element(asked.column("answer"), 0)
        known = {}
        for fold, halves in enumerate(LEARNT_FROM):
            for number, task in enumerate(asked.tasks):
                mine = (asked.task == number) & np.isin(asked.fold, halves)
                texts = answers.filter(pa.array(mine)).unique().to_pylist()
                if texts:
                    known[fold, task] = sorted(texts)
        return cls(embedder, known, names or {})

    def utilities(self, questions: Asked) -> Floats:
        """See ``Baseline.utilities``."""
        found = np.zeros(len(questions.option))
        shown = np.flatnonzero(questions.stem_rows >= 0)
        asked = questions.take(shown)
        if len(asked.option):
            stems, stem_at = _distinct(_stems(asked))
            texts, text_at = _distinct(self._options(asked))
            near = self._near(stems, stem_at[asked.of], texts, text_at)
            found[np.isin(questions.of, shown)] = near
        return against_cut(questions, found)

    def texts(self, questions: Asked) -> Sequence[str]:
        """See ``Baseline.texts``."""
        said = [""] * len(questions)
        for number, task in enumerate(questions.tasks):
            for fold in range(len(LEARNT_FROM)):
                known = list(self.known_answers.get((fold, task), ()))
                mine = (questions.task == number) & (questions.fold == fold)
                rows = np.flatnonzero(mine & (questions.stem_rows >= 0))
                if not known or not len(rows):
                    continue
                stems, at = _distinct(_stems(questions.take(rows)))
                near = np.round(self._vectors(stems) @ self._vectors(known).T, 4)
                for row, place in zip(rows.tolist(), near.argmax(axis=1)[at].tolist(), strict=True):
                    said[row] = known[place]
        return said

    def _near(self, stems: list[str], stem_at: Ints, texts: list[str], text_at: Ints) -> Floats:
        left, right = self._vectors(stems), self._vectors(texts)
        found = np.zeros(len(stem_at))
        for start in range(0, len(found), _ROWS):
            part = slice(start, start + _ROWS)
            found[part] = np.einsum("ij,ij->i", left[stem_at[part]], right[text_at[part]])
        return np.round(found, 4)

    def _options(self, asked: Asked) -> pa.Array:
        """The text of each option; of yes/no questions that of what is asked about."""
        texts = pc.list_flatten(asked.column("options"))
        names = pa.array(
            [self.names.get(code, "") for code in asked.codes.to_pylist()], pa.string()
        )
        of_code = names.take(pa.array(asked.option))
        return pc.if_else(pa.array(asked.is_form("yesno")[asked.of]), of_code, texts)

    def _vectors(self, texts: list[str]) -> npt.NDArray[np.float32]:
        fresh = sorted(set(texts) - self._seen.keys())
        if fresh:
            self._seen.update(zip(fresh, self.embedder.encode(fresh), strict=True))
        return np.stack([self._seen[text] for text in texts])


def _stems(asked: Asked) -> pa.Array:
    return asked.items["stem"].take(pa.array(asked.stem_rows)).combine_chunks()


def _distinct(texts: pa.Array) -> tuple[list[str], Ints]:
    """The texts, each once, sorted; and which of them stands at each place."""
    found = texts.unique().sort()
    return found.to_pylist(), places(texts, found)
