"""Baselines that need no model server: what a question is worth without understanding it.

A baseline gives each option a utility; the best one is its choice, and a tie among k best options
counts 1/k, so that no order of options helps. The knowledge graph wrote the key: it stands apart as
``key source`` and is never ranked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ehrkg.ehr.schema import Hospital
from ehrkg.evaluation.questions import Question
from ehrkg.foundation.embedding import Embedder
from ehrkg.propose.tasks import tasks

Utilities = Sequence[npt.NDArray[np.float64]]


class Baseline(Protocol):
    """A rule that answers."""

    @property
    def name(self) -> str:
        """As it stands in ``scores.model``."""

    @property
    def key_source(self) -> bool:
        """Whether it is the source of the key, and so shown apart."""

    def utilities(self, questions: Sequence[Question]) -> Utilities:
        """For each multiple-choice question, one number an option; more is better."""

    def texts(self, questions: Sequence[Question]) -> list[str]:
        """For each open-ended question, an answer in words ("" for none)."""


@dataclass(frozen=True)
class Chance:
    """Every option alike: the floor that the number of options sets."""

    name: str = "chance"
    key_source: bool = False

    def utilities(self, questions: Sequence[Question]) -> Utilities:
        """See ``Baseline.utilities``."""
        return [np.zeros(len(question.options)) for question in questions]

    def texts(self, questions: Sequence[Question]) -> list[str]:
        """See ``Baseline.texts``: chance says nothing."""
        return ["" for _ in questions]


@dataclass(frozen=True)
class MostFrequent:
    """The option that the hospital records in most visits of the training patients.

    Args:
        visits_with: code id to the number of training visits that hold it.
        common_answers: task to its most frequent answer text in the training split.
    """

    visits_with: Mapping[str, int]
    common_answers: Mapping[str, str]
    name: str = "most frequent option"
    key_source: bool = False

    @classmethod
    def learn(cls, hospital: Hospital, items: pa.Table) -> MostFrequent:
        """Count codes over the visits of training patients, and answers over training items."""
        import duckdb

        connection = duckdb.connect()
        connection.register("codes", hospital.visit_codes.select(["visit", "code"]))
        connection.register("visits", hospital.visits.select(["id", "patient"]))
        connection.register("patients", hospital.patients.select(["id", "split"]))
        rows = connection.execute(
            """select c.code, count(distinct c.visit) from codes c join visits v on v.id = c.visit
               join patients p on p.id = v.patient where p.split = 'train' group by c.code"""
        ).fetchall()
        answers: dict[str, Counter[str]] = {}
        for row in items.select(["task", "format", "split", "answer"]).to_pylist():
            if row["split"] == "train" and row["format"] == "oeq":
                answers.setdefault(row["task"], Counter()).update(row["answer"][:1])
        common = {
            task: min(counts, key=lambda text: (-counts[text], text))
            for task, counts in answers.items()
            if counts
        }
        return cls(dict(rows), common)

    def utilities(self, questions: Sequence[Question]) -> Utilities:
        """See ``Baseline.utilities``."""
        return [
            np.array([self.visits_with.get(code, 0) for code in q.option_codes], dtype=np.float64)
            for q in questions
        ]

    def texts(self, questions: Sequence[Question]) -> list[str]:
        """See ``Baseline.texts``."""
        return [self.common_answers.get(question.task, "") for question in questions]


@dataclass(frozen=True)
class EmbeddingSimilarity:
    """The option whose embedding lies nearest to the stem's.

    Args:
        embedder: turns texts into unit vectors.
        known_answers: task to the answer texts of the training split, sorted; an open-ended
            question takes the nearest of them.
    """

    embedder: Embedder
    known_answers: Mapping[str, Sequence[str]]
    name: str = "embedding similarity"
    key_source: bool = False
    _seen: dict[str, npt.NDArray[np.float32]] = field(default_factory=dict, repr=False)
    """Vectors of texts met before: the controls ask the same stems and options again."""

    @classmethod
    def learn(cls, embedder: Embedder, items: pa.Table) -> EmbeddingSimilarity:
        """Collect the training split's answers."""
        known: dict[str, set[str]] = {}
        for row in items.select(["task", "split", "answer"]).to_pylist():
            if row["split"] == "train":
                known.setdefault(row["task"], set()).update(row["answer"])
        return cls(embedder, {task: sorted(texts) for task, texts in known.items()})

    def utilities(self, questions: Sequence[Question]) -> Utilities:
        """See ``Baseline.utilities``."""
        vectors = self._vectors(
            {q.stem for q in questions} | {text for q in questions for text in q.options}
        )
        return [
            np.round([float(vectors[q.stem] @ vectors[text]) for text in q.options], 4)
            if q.stem
            else np.zeros(len(q.options))
            for q in questions
        ]

    def texts(self, questions: Sequence[Question]) -> list[str]:
        """See ``Baseline.texts``."""
        wanted = {q.stem for q in questions}
        vectors = self._vectors(
            wanted | {t for texts in self.known_answers.values() for t in texts}
        )
        return [self._nearest(question, vectors) for question in questions]

    def _nearest(self, question: Question, vectors: Mapping[str, npt.NDArray[np.float32]]) -> str:
        known = self.known_answers.get(question.task, ())
        if not known or not question.stem:
            return ""
        near = np.round([float(vectors[question.stem] @ vectors[text]) for text in known], 4)
        return known[int(np.argmax(near))]

    def _vectors(self, texts: set[str]) -> dict[str, npt.NDArray[np.float32]]:
        fresh = sorted(texts - self._seen.keys())
        if fresh:
            self._seen.update(zip(fresh, self.embedder.encode(fresh), strict=True))
        return self._seen


@dataclass(frozen=True)
class KeySource:
    """The verified relations themselves: the option they back most from the stem's context.

    Args:
        scores: (anchor code, answer code) to the best score of a supported relation.
        contexts: template id to its context codes.
        names: code id to the name an open answer uses.
    """

    scores: Mapping[tuple[str, str], float]
    contexts: Mapping[str, Sequence[str]]
    names: Mapping[str, str]
    answers_of: Mapping[str, Sequence[str]] = field(default_factory=dict)
    name: str = "knowledge graph"
    key_source: bool = True

    @classmethod
    def learn(cls, relations: pa.Table, templates: pa.Table, names: Mapping[str, str]) -> KeySource:
        """Take the supported relations, each in the direction in which its tasks ask."""
        scores: dict[tuple[str, str], float] = {}
        columns = ["head", "predicate", "tail", "verdict", "score"]
        ends = {
            (relation.predicate, relation.answer)
            for task in tasks().values()
            for relation in task.relations
        }
        for row in relations.select(columns).to_pylist():
            if row["verdict"] != "supported":
                continue
            for answer, pair in (
                ("tail", (row["head"], row["tail"])),
                ("head", (row["tail"], row["head"])),
            ):
                if (row["predicate"], answer) in ends:
                    scores[pair] = max(scores.get(pair, 0.0), row["score"])
        answers: dict[str, list[str]] = {}
        for anchor, code in sorted(scores):
            answers.setdefault(anchor, []).append(code)
        contexts = dict(
            zip(templates["id"].to_pylist(), templates["context"].to_pylist(), strict=True)
        )
        return cls(scores, contexts, names, answers)

    def utilities(self, questions: Sequence[Question]) -> Utilities:
        """See ``Baseline.utilities``."""
        return [
            np.array([self._best(self._context(q), code) for code in q.option_codes])
            for q in questions
        ]

    def texts(self, questions: Sequence[Question]) -> list[str]:
        """See ``Baseline.texts``."""
        said = []
        for question in questions:
            kind = tasks()[question.task].answer_kind
            context = self._context(question)
            ranked = sorted(
                (-self.scores[anchor, code], code)
                for anchor in context
                for code in self.answers_of.get(anchor, ())
                if code not in context and (kind == "drug") == code.startswith("DRUGNAME:")
            )
            said.append(self.names.get(ranked[0][1], "") if ranked else "")
        return said

    def _context(self, question: Question) -> Sequence[str]:
        return self.contexts.get(question.stem_template, ())

    def _best(self, context: Sequence[str], code: str) -> float:
        return max((self.scores.get((anchor, code), 0.0) for anchor in context), default=0.0)
