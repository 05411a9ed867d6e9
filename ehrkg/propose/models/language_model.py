"""Propose what a language model names; whether it is true is for the knowledge to say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from pathlib import Path
from typing import Self, TypedDict

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.ehr.schema import Hospital
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.hashing import short_id
from ehrkg.foundation.ledger import Ledger
from ehrkg.foundation.progress import Progress, Silent
from ehrkg.propose.cooccurrence import everything_seen
from ehrkg.propose.models.asking import ANSWERED, STATUSES, BatchModel, Model, Question, Reply
from ehrkg.propose.models.budget import Budget, Estimate
from ehrkg.propose.models.consent import LEAST_PATIENTS, SCOPES, Consent, check_consent
from ehrkg.propose.models.pairs import Names, pair_questions
from ehrkg.propose.models.prompts import Prompt, shipped_prompt
from ehrkg.propose.models.recorded import RecordedAnswers, SentBatches
from ehrkg.propose.models.visits import AskedVisit, stated, visit_questions
from ehrkg.propose.tasks import choose_tasks

BLOCK = 16
"""Questions between two looks at the budget: the same whatever the number of workers."""

LOCAL_PATIENTS = 2
"""Patients behind a pair before a model on this machine is asked about it."""


_Asked = tuple[Question, AskedVisit | None]


class Asking(TypedDict, total=False):
    """How a language model is asked; see ``LanguageModel``."""

    per: str
    consent: Consent | None
    min_patients: int | None
    budget: Budget
    prompt: Prompt | None
    answers: Path | None


class LanguageModel:
    """A proposer that asks a language model.

    ``per="pair"`` asks once for each distinct pair of codes and lets every visit share the answer:
    calls grow with pairs, and no visit is shown to anybody. ``per="visit"`` shows one visit at a
    time, as in the literature, and lets the model choose among its events by number.

    Args:
        model: what answers.
        per: ``pair`` (the default) or ``visit``.
        consent: needed for a model that is not on this machine.
        min_patients: patients behind a pair before it is asked about; 11 for a remote model, and no
            fewer; 2 by default for one on this machine.
        budget: where to stop; without limit by default.
        prompt: another prompt than the one that ships.
        answers: the file where answers are kept; in memory for ``None``.

    Attributes:
        name: the model's: stands among a relation's proposers.

    Raises:
        UsageError: ``per`` is unknown, or a remote model is to be asked about rare pairs.
    """

    def __init__(
        self,
        model: Model,
        *,
        per: str = "pair",
        consent: Consent | None = None,
        min_patients: int | None = None,
        budget: Budget | None = None,
        prompt: Prompt | None = None,
        answers: Path | None = None,
    ) -> None:
        if per not in SCOPES:
            raise UsageError(f"no such way to ask: per={per!r}", todo="use 'pair' or 'visit'")
        least = LEAST_PATIENTS if model.remote else LOCAL_PATIENTS
        self.model = model
        self.name = model.name
        self.per = per
        self.consent = consent
        self.min_patients = least if min_patients is None else min_patients
        self.budget = budget or Budget()
        self.prompt = prompt or shipped_prompt(per)
        self.answers = answers
        if model.remote and self.min_patients < LEAST_PATIENTS:
            raise UsageError(
                f"a pair of fewer than {LEAST_PATIENTS} patients may not be sent away",
                todo=f"raise min_patients from {min_patients}, or use a model on this machine",
            )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, per={self.per!r})"

    def settings(self) -> dict[str, object]:
        """See ``Proposer.settings``."""
        return {
            "proposer": self.name,
            "remote": self.model.remote,
            "per": self.per,
            "batches": isinstance(self.model, BatchModel),
            "prompt": self.prompt.label,
            "min_patients": self.min_patients,
            "budget": self.budget.settings(),
            "consent": self.consent.settings() if self.consent else None,
        }

    def recording(self, folder: Path) -> Self:
        """The same proposer, keeping its answers in a file of the folder.

        A file that was named when the proposer was made stays the one.
        """
        other = copy(self)
        if other.answers is None:
            other.answers = folder / f"{short_id('answers-', self.name)}.jsonl"
        return other

    def estimate(self, hospital: Hospital, *, tasks: Iterable[str] | None = None) -> Estimate:
        """Calls, tokens and cost of ``propose``, before anything is asked.

        Args:
            hospital: what was read.
            tasks: the tasks to propose for; all by default.
        """
        seen = everything_seen(hospital, tasks)
        questions = (one for one, _ in self._questions(hospital, tasks, seen))
        return self.budget.estimate(questions, RecordedAnswers(self.answers), self.name)

    def propose(
        self,
        hospital: Hospital,
        *,
        tasks: Iterable[str] | None = None,
        ledger: Ledger | None = None,
        progress: Progress | None = None,
    ) -> pa.Table:
        """See ``Proposer.propose``.

        Raises:
            UsageError: the model is remote, and consent for this is lacking; nothing was sent.
            ServiceError: the model is not there; what it answered is kept, and the same call goes
                on from there.
        """
        if self.model.remote:
            check_consent(
                self.consent,
                model=self.name,
                scope=self.per,
                hospital_format=hospital.format,
                retains=isinstance(self.model, BatchModel) and self.model.retains,
            )
        seen = everything_seen(hospital, tasks)
        questions = list(self._questions(hospital, tasks, seen))
        shown = progress or Silent()
        outcome = _Outcome(ids=set(seen["id"].to_pylist()))
        answers = RecordedAnswers(self.answers)
        told = self.budget.estimate((one for one, _ in questions), answers, self.name)
        shown.start(f"asking {self.name}, {told}", told.questions)
        for block in self._within_budget(questions, answers):
            for (question, visit), reply in block:
                outcome.take(question, visit, reply)
            shown.advance(len(block))
        kept = seen.filter(pc.is_in(seen["id"], value_set=pa.array(outcome.named, pa.string())))
        name = pa.array([[self.name]] * kept.num_rows, pa.list_(pa.string()))
        at = kept.column_names.index("proposers")
        if ledger is not None:
            outcome.record(ledger, len(questions), seen.num_rows, kept.num_rows)
        return kept.set_column(at, seen.schema.field("proposers"), name)

    def _questions(
        self, hospital: Hospital, tasks: Iterable[str] | None, seen: pa.Table
    ) -> Iterator[_Asked]:
        names = Names.of(hospital.codes)
        if self.per == "visit":
            for asked in visit_questions(hospital, choose_tasks(tasks), names, self.prompt):
                yield asked.question, asked
            return
        often = seen.filter(pc.greater_equal(seen["n_patients"], self.min_patients))
        for question in pair_questions(often, names, self.prompt):
            yield question, None

    def _within_budget(
        self, questions: Sequence[_Asked], answers: RecordedAnswers
    ) -> Iterator[list[tuple[_Asked, Reply]]]:
        """Blocks of questions with their replies, until the budget is spent."""
        model, spent, done = self.model, self.budget.start(), 0
        batches = isinstance(model, BatchModel)
        size = model.most if isinstance(model, BatchModel) else BLOCK
        sent = SentBatches(answers.beside("batches") if batches else None)
        while number := spent.affordable((one for one, _ in questions[done:]), size):
            block = questions[done : done + number]
            lacking = {
                key: question
                for question, _ in block
                if answers.get(key := question.key(self.name)) is None
            }
            if isinstance(model, BatchModel):
                model.answer_all(lacking, sent, answers.put)
            else:
                self._answer_each(lacking, answers)
            replies = [answers[question.key(self.name)] for question, _ in block]
            spent.take(replies)
            yield list(zip(block, replies, strict=True))
            done += number

    def _answer_each(self, questions: Mapping[str, Question], answers: RecordedAnswers) -> None:
        def answer(key: str) -> None:
            answers.put(key, self.model.answer(questions[key]))

        with ThreadPoolExecutor(max_workers=self.model.workers) as pool:
            for _ in pool.map(answer, questions):
                pass


class _Outcome:
    """What the answers name, and what became of the rest."""

    def __init__(self, ids: set[str]) -> None:
        self._ids = ids
        self._found: set[str] = set()
        self._statuses: Counter[str] = Counter()
        self._reasons: Counter[str] = Counter()
        self._stated = 0

    @property
    def named(self) -> list[str]:
        return sorted(self._found)

    def take(self, question: Question, visit: AskedVisit | None, reply: Reply) -> None:
        self._statuses[reply.status] += 1
        if reply.content is None:
            return
        if visit is None:
            named = [self._statement(question, number) for number in reply.content["holds"]]
        else:
            named = [stated(visit, relation) for relation in reply.content["relations"]]
        for candidate, reason in named:
            self._stated += 1
            if why := reason or self._refusal(candidate):
                self._reasons[why] += 1
            else:
                self._found.add(candidate)

    def _refusal(self, candidate: str) -> str:
        if candidate not in self._ids:
            return "no_such_candidate"
        return "named_before" if candidate in self._found else ""

    @staticmethod
    def _statement(question: Question, number: int) -> tuple[str, str]:
        if 0 <= number < len(question.statements):
            return question.statements[number].id, ""
        return "", "index_out_of_range"

    def record(self, ledger: Ledger, questions: int, seen: int, kept: int) -> None:
        """Balance questions, relations named, and pairs seen."""
        dropped = {status: self._statuses[status] for status in STATUSES if status != ANSWERED}
        dropped["over_budget"] = questions - sum(self._statuses.values())
        ledger.record(
            "propose",
            "question",
            rows_in=questions,
            rows_out=self._statuses[ANSWERED],
            dropped=dropped,
        )
        ledger.record(
            "propose",
            "relation_named",
            rows_in=self._stated,
            rows_out=len(self._found),
            dropped=self._reasons,
        )
        ledger.record(
            "propose", "pair", rows_in=seen, rows_out=kept, dropped={"not_proposed": seen - kept}
        )
