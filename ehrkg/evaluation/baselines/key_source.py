"""The verified relations themselves, read back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.benchmark.facts.intervals import Floats
from ehrkg.evaluation.asking.asked import Asked, Ints, places
from ehrkg.evaluation.baselines.contexts import OPEN_ROWS, by_context, context_matrix
from ehrkg.evaluation.baselines.protocol import against_cut
from ehrkg.propose.tasks import tasks

SUPPORTED = "supported"


@dataclass(frozen=True, eq=False)
class KeySource:
    """The verified relations themselves: the option they back most from the stem's context.

    Args:
        codes: ids of codes, sorted.
        anchors, answers: of each relation, in the direction in which its tasks ask, as places in
            ``codes``; sorted by anchor, then answer, each pair once.
        scores: the pair's best score.
        kinds: the kind of each code ("drug", "diagnosis"), "" where it is not known: an open answer
            is of the kind that its task asks for.
        names: code to the text of an answer.
    """

    codes: pa.Array
    anchors: Ints
    answers: Ints
    scores: Floats
    kinds: Sequence[str]
    names: Mapping[str, str]
    name: str = "knowledge graph"
    key_source: bool = True

    @classmethod
    def learn(
        cls, relations: pa.Table, kinds: Mapping[str, str], names: Mapping[str, str]
    ) -> KeySource:
        """Take the supported relations, each in the direction in which its tasks ask.

        Args:
            relations: ``head``, ``predicate``, ``tail``, ``verdict``, ``score``.
            kinds: code to its kind.
            names: code to the text of an answer.
        """
        held = relations.filter(pc.equal(relations["verdict"], SUPPORTED))
        ends = {(one.predicate, one.answer) for task in tasks().values() for one in task.relations}
        parts = [pa.table({"anchor": pa.array([], pa.string()), "answer": [], "score": []})]
        for answer, anchor in (("tail", "head"), ("head", "tail")):
            predicates = sorted({predicate for predicate, end in ends if end == answer})
            mine = held.filter(pc.is_in(held["predicate"], value_set=pa.array(predicates)))
            found = mine.select([anchor, answer, "score"])
            parts.append(found.rename_columns(["anchor", "answer", "score"]))
        pairs = pa.concat_tables(parts, promote_options="permissive")
        best = pairs.group_by(["anchor", "answer"]).aggregate([("score", "max")])
        best = best.sort_by([("anchor", "ascending"), ("answer", "ascending")]).combine_chunks()
        ends_of = [best[name].combine_chunks().cast(pa.string()) for name in ("anchor", "answer")]
        codes = pa.concat_arrays(ends_of).unique().sort()
        return cls(
            codes,
            places(ends_of[0], codes),
            places(ends_of[1], codes),
            np.asarray(best["score_max"], np.float64),
            [kinds.get(code, "") for code in codes.to_pylist()],
            names,
        )

    def utilities(self, questions: Asked) -> Floats:
        """See ``Baseline.utilities``."""
        at = places(questions.codes, self.codes)
        keys = self.anchors * len(self.codes) + self.answers

        def score(options: Ints, context: Ints) -> Floats:
            answers, anchors = at[questions.option[options]], at[context]
            there = (answers >= 0) & (anchors >= 0)
            wanted = np.where(there, anchors * len(self.codes) + answers, -1)
            place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            return np.where(keys[place] == wanted, self.scores[place], 0.0)

        found = np.zeros(len(questions.option))
        if len(keys):
            found = by_context(questions, np.arange(len(found)), score, np.maximum)
        return against_cut(questions, found)

    def texts(self, questions: Asked) -> Sequence[str]:
        """See ``Baseline.texts``."""
        names = [self.names.get(code, "") for code in self.codes.to_pylist()]
        said = [""] * len(questions)
        for number, task in enumerate(questions.tasks):
            rows = np.flatnonzero(questions.task == number)
            for start in range(0, len(rows), OPEN_ROWS):
                part = rows[start : start + OPEN_ROWS]
                best = self._best(questions, part, tasks()[task].answer_kind)
                for row, place in zip(part.tolist(), best.tolist(), strict=True):
                    said[row] = names[place] if place >= 0 else ""
        return said

    def _best(self, questions: Asked, rows: Ints, kind: str) -> Ints:
        """The answer best backed from each stem and not told there, as a place in ``codes``."""
        order = np.lexsort((self.answers, -np.round(self.scores, 6)))
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        of_kind = np.array([one == kind for one in self.kinds], bool)[self.answers]
        at = places(questions.codes, self.codes)
        told = context_matrix(questions, rows, at, len(self.codes)).tocoo()
        first = np.searchsorted(self.anchors, told.col)
        sizes = np.searchsorted(self.anchors, told.col, side="right") - first
        within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        pair = np.repeat(first, sizes) + within
        row = np.repeat(told.row, sizes)
        shown = told.row.astype(np.int64) * len(self.codes) + told.col
        open_ = of_kind[pair] & ~np.isin(row * len(self.codes) + self.answers[pair], shown)
        best = np.full(len(rows), len(order), np.int64)
        np.minimum.at(best, row[open_], rank[pair[open_]])
        found = np.append(self.answers[order], -1)
        return found[best]
