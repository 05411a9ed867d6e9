"""Which answered examples stand before a question, and which sentences of the graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import product

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.evaluation.asking.questions import Question
from ehrkg.evaluation.metrics import normalise_answer
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.hashing import hash64

TRAIN = "train"

SENTENCES = 6
"""Sentences of evidence shown for a relation at most: the weightiest."""

KINDS = ("path", "definition", "coding_rule")
"""Evidence that is shown. A statistic is not: it counts a hospital's patients."""

TRIES = 20
"""Draws for each example before the questions are gone through one by one."""


class Examples:
    """The questions that may serve as examples: those of the training split.

    An example is of the question's format, and of its task where that holds enough. It shares with
    it neither the relation it rests on, nor the answer (what is right, whatever its route; of a
    yes/no question what is asked about), nor the patient. Which ones are taken is a hash of (seed,
    item id): it depends on no other question, and is the same for a question and its controls. No
    two examples of a question come from one template.

    Args:
        questions: from which to choose; those that are not of the training split are left out.
        seed: of the draw.
        further: likewise, for questions that find too few among the first: those of the benchmark
            from which the first were cut. They are looked at only then.

    >>> from ehrkg.benchmark import example
    >>> from ehrkg.evaluation.asking.questions import questions_of
    >>> questions = questions_of(example().to_arrow())
    >>> open_ended = [one for one in questions if one.format == "oeq"]
    >>> (chosen,) = Examples(questions).of(open_ended[0], 1)
    >>> chosen.split, chosen.cluster != open_ended[0].cluster
    ('train', True)
    """

    def __init__(
        self,
        questions: Iterable[Question],
        *,
        seed: int = 7,
        further: Iterable[Question] = (),
    ) -> None:
        self._seed = seed
        self._pools = (_Pools(questions), _Pools(further))

    def of(self, question: Question, shots: int) -> list[Question]:
        """The examples of a question, in the order in which they are shown.

        Raises:
            UsageError: there are too few.
        """
        found: list[Question] = []
        templates = {question.template_id}
        for one in self._drawn(question, shots) if shots else ():
            if one.template_id not in templates and not shares(question, one):
                templates.add(one.template_id)
                found.append(one)
                if len(found) == shots:
                    return found
        if len(found) < shots:
            raise UsageError(
                f"only {len(found)} of {shots} examples can be found for {question.item_id}: no "
                "other training question of its format has another relation, answer and patient",
                todo="ask for fewer examples; or cut the questions out of a benchmark that has a "
                "training split (Benchmark.open(OUT).filter(...)), which then gives the examples",
            )
        return found

    def _drawn(self, question: Question, shots: int) -> Iterator[Question]:
        """Candidates of its task, then of its format.

        They are drawn one by one, and all are gone through only where that finds too few.
        """
        drawn_for = (self._seed, "shot", question.item_id)
        kinds = ((question.format, question.task), (question.format,))
        for pools, of in product(self._pools, kinds):
            pool = pools.of.get(of, [])
            for turn in range(TRIES * shots if pool else 0):
                yield pool[hash64(*drawn_for, turn) % len(pool)]
            yield from sorted(pool, key=lambda one: hash64(*drawn_for, one.item_id))


class _Pools:
    """The training questions among some, by format and task, and by format; read when needed."""

    def __init__(self, questions: Iterable[Question]) -> None:
        self._questions = questions

    @cached_property
    def of(self) -> dict[tuple[str, ...], list[Question]]:
        pools: dict[tuple[str, ...], list[Question]] = {}
        for one in sorted(self._questions, key=lambda one: one.item_id):
            if one.split == TRAIN:
                pools.setdefault((one.format, one.task), []).append(one)
                pools.setdefault((one.format,), []).append(one)
        return pools


def shares(one: Question, other: Question) -> bool:
    """Whether two questions share the relation, an answer or the patient."""
    if one.relation_id == other.relation_id or one.cluster == other.cluster:
        return True
    return not _answers(one).isdisjoint(_answers(other))


def _answers(question: Question) -> set[str]:
    """What is asked for, by code and by name without its route or qualifier."""
    codes = {question.option_codes[at] for at in question.right}
    if question.format == "yesno":
        return codes
    return codes | {normalise_answer(text.split(",")[0]) for text in question.answers}


def sentences_of(
    evidence: pa.Table, relations: Sequence[str] | None = None
) -> dict[str, list[str]]:
    """The sentences that support each relation, for the setting ``with_evidence``.

    They come from the knowledge that wrote the key, so a model that is shown them is tested on
    reading them, and the prompt says where they come from.

    Args:
        evidence: the schema ``EVIDENCE``.
        relations: ids of the relations wanted; all by default.

    Returns:
        Relation id to at most six sentences, the weightiest first.
    """
    wanted = pc.and_(
        pc.equal(evidence["polarity"], "supports"),
        pc.is_in(evidence["kind"], value_set=pa.array(KINDS)),
    )
    if relations is not None:
        ids = pa.array(relations, pa.string())
        wanted = pc.and_(wanted, pc.is_in(evidence["relation"], value_set=ids))
    order = [("relation", "ascending"), ("weight", "descending"), ("id", "ascending")]
    kept = evidence.filter(wanted).sort_by(order)
    found: dict[str, list[str]] = {}
    for relation, text in zip(kept["relation"].to_pylist(), kept["text"].to_pylist(), strict=True):
        told = found.setdefault(relation, [])
        if len(told) < SENTENCES and text not in told:
            told.append(text)
    return found
