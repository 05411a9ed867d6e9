"""A language model judges open answers: whether they name what counts as right."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import pyarrow as pa

from ehrkg.benchmark import Benchmark
from ehrkg.evaluation.asking.answer_reading import read_answer
from ehrkg.evaluation.models.budgeted import ask_within
from ehrkg.evaluation.models.named import AskedModel, model_named
from ehrkg.evaluation.models.one_model import Terms, check_allowed, versions_asked_by
from ehrkg.evaluation.models.prompted import Prompted
from ehrkg.evaluation.models.questioning import LETTER_TOKENS
from ehrkg.evaluation.models.running import check_inspect
from ehrkg.evaluation.schema import SCORES
from ehrkg.evaluation.scoring.appraisals import JUDGED
from ehrkg.evaluation.scoring.storing import ANSWERS, LOGS
from ehrkg.foundation.hashing import hash64
from ehrkg.propose.models.prompts import Prompt, read_prompt
from ehrkg.propose.models.recorded import RecordedAnswers
from ehrkg.propose.tasks import tasks

JUDGE = "judge"

NAMES = 40
"""Accepted names that a judge is shown at most: the answer's own first, then others by name."""


@dataclass(frozen=True)
class Judge:
    """A model that says of open answers whether they name what counts as right.

    It is shown the accepted names and the answer, nothing else of the record, and still needs the
    consent of any model that is asked: the names are of what a visit holds.

    Attributes:
        model: who judges.
        terms: how it is asked; its answers are recorded like any other's.
    """

    model: AskedModel
    terms: Terms

    @classmethod
    def named(
        cls,
        model: str | Path | Callable[[list[str]], Any],
        terms: Terms,
        *,
        base_url: str | None = None,
    ) -> Judge:
        """The judge that a caller means.

        Args:
            model: see ``model_named``.
            terms: how it is asked.
            base_url: where it is asked, if not at its provider's address.

        Raises:
            UsageError: it names nothing; a package or a key is missing.
        """
        check_inspect()
        return cls(model_named(model, terms.generation, base_url=base_url), terms)

    def check_allowed(self, benchmark: Benchmark) -> None:
        """Refuse a judge elsewhere that may not be sent what visits hold.

        Raises:
            UsageError: consent is lacking; nothing was sent.
        """
        check_allowed(self.model, benchmark, self.terms)

    def judged(
        self,
        scores: pa.Table,
        items: pa.Table,
        names: Mapping[str, Sequence[str]],
        folder: Path,
    ) -> pa.Table:
        """Open answers with ``judged`` filled in.

        1 where the judge says that the answer names what counts as right, 0 where it says not and
        where there was no answer to judge; null where the judge's own words can't be read, and
        where its budget was spent before.

        Args:
            scores: the schema ``SCORES``, open answers alone.
            items: the questions, with the schema ``benchmark.schema.ITEMS``.
            names: code or concept id to the names by which an open answer may name it.
            folder: where its answers are recorded, and Inspect's logs go.

        Raises:
            ServiceError: the model is not there; what it answered is recorded.
        """
        prompts = self._prompts(scores, items, names)
        record, generation = RecordedAnswers(folder / ANSWERS), self.terms.generation
        keyed_by = f"{self.model.identity} {generation.key()}"
        done = ask_within(
            self.terms.budget,
            self.model,
            list(prompts.values()),
            record,
            folder / LOGS,
            keyed_by=keyed_by,
            generation=generation,
            tokens={JUDGE: generation.max_tokens or LETTER_TOKENS},
            progress=self.terms.progress,
            saying=f"{self.model.name} judges:",
        )
        verdicts: list[float | None] = [0.0] * scores.num_rows
        for place, (at, one) in enumerate(prompts.items()):
            content = (record[one.key(keyed_by)].content or {}) if place < done else {}
            verdicts[at] = _verdict(str(content.get("text", "")))
        field = SCORES.field(JUDGED)
        column = scores.schema.get_field_index(JUDGED)
        return scores.set_column(column, field, pa.array(verdicts, field.type))

    def told(self) -> dict[str, Any]:
        """What stands in the manifest."""
        consent, model = self.terms.consent, self.model
        return {
            "model": model.name,
            "remote": model.remote,
            "own": model.own,
            "address": model.address,
            "consent": consent.settings() if consent and model.remote else None,
            "asked_as": {**self.terms.generation.settings(), "model": model.identity},
            "prompt": _prompt().label,
            "versions": versions_asked_by(),
        }

    def _prompts(
        self, scores: pa.Table, items: pa.Table, names: Mapping[str, Sequence[str]]
    ) -> dict[int, Prompted]:
        """What is asked, by the row of the scores, in the order in which it is paid for.

        That is by a hash of the question, so that a budget pays for all models' answers alike.
        """
        prompt, seed = _prompt(), self.terms.seed
        of = {row["item_id"]: row for row in items.to_pylist()}
        rows = scores.select(["item_id", "text", "task"]).to_pylist()
        order = sorted(
            (hash64(seed, JUDGE, row["item_id"]), at)
            for at, row in enumerate(rows)
            if (row["text"] or "").strip()
        )
        found = {}
        for _, at in order:
            row, item = rows[at], of[rows[at]["item_id"]]
            text = prompt.fill(
                kind=tasks()[row["task"]].answer_kind,
                accepted=accepted_names(item["answer"], item["accepted_codes"], names),
                answer=row["text"],
            )
            shown = (item["template_id"],)
            found[at] = Prompted(JUDGE, f"{row['item_id']} {at}", prompt.system, text, shown)
        return found


def _prompt() -> Prompt:
    return read_prompt(Path(str(files("ehrkg.evaluation.asking") / "prompts" / "judge.yaml")))


def _verdict(text: str) -> float | None:
    reading = read_answer(text, "yesno", ("yes", "no"))
    return float(reading.places == (0,)) if reading.parsed else None


def accepted_names(
    answers: Sequence[str], codes: Sequence[str], names: Mapping[str, Sequence[str]]
) -> list[str]:
    """The names that count as right: the answer's own, then others in the order of the alphabet.

    >>> accepted_names(["gout"], ["A", "B"], {"A": ["podagra", "gout"], "B": ["gouty arthritis"]})
    ['gout', 'gouty arthritis', 'podagra']
    """
    others = {name for code in codes for name in names.get(code, ())} - set(answers)
    return [*answers, *sorted(others)][:NAMES]
