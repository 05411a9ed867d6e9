"""A language model judges open answers: whether they name what counts as right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import pyarrow as pa

from ehrkg.benchmark import Benchmark
from ehrkg.evaluation.asking.answer_reading import read_answer
from ehrkg.evaluation.models.named import model_named
from ehrkg.evaluation.models.one_model import Terms, build_of, check_allowed, kept_in
from ehrkg.evaluation.models.prompted import Prompted
from ehrkg.evaluation.models.questioning import LETTER_TOKENS
from ehrkg.evaluation.models.running import ask, check_inspect
from ehrkg.evaluation.schema import SCORES
from ehrkg.evaluation.scoring.storing import ANSWERS, LOGS
from ehrkg.propose.models.prompts import read_prompt
from ehrkg.propose.models.recorded import RecordedAnswers
from ehrkg.propose.tasks import tasks

JUDGE = "judge"

NAMES = 40
"""Accepted names that a judge is shown at most: the answer's own first, then others by name."""


def judged(
    scores: pa.Table,
    benchmark: Benchmark,
    model: Any,
    names: Mapping[str, Sequence[str]],
    terms: Terms,
    *,
    base_url: str | None = None,
) -> pa.Table:
    """Scores with ``judged`` filled in where a question is open-ended.

    1 where the judge says that the answer names what counts as right, 0 where it says not and where
    there was no answer to judge; null where the judge's own words can't be read. It is shown the
    accepted names and the answer, nothing else of the record, and still needs the consent of any
    model that is asked: the names are of what a visit holds.

    Args:
        scores: the schema ``SCORES``.
        benchmark: the questions.
        model: who judges; see ``model_named``.
        names: code or concept id to the names by which an open answer may name it.
        terms: how it is asked; its answers are recorded like any other's.
        base_url: where it is asked, if not at its provider's address.

    Raises:
        UsageError: the model is unknown, or is remote and consent is lacking; nothing was sent.
        ServiceError: the model is not there; what it answered is recorded.
    """
    check_inspect()
    judge = model_named(model, terms.generation, base_url=base_url)
    check_allowed(judge, benchmark, terms)
    prompts = _prompts(scores, benchmark, names)
    keyed_by = f"{judge.identity} {terms.generation.key()}"
    with kept_in(build_of(benchmark) if terms.keep else None, judge) as folder:
        record = RecordedAnswers(folder / ANSWERS)
        terms.progress.start(f"asking {judge.name} to judge", len(prompts))
        ask(
            judge,
            list(prompts.values()),
            record,
            folder / LOGS,
            keyed_by=keyed_by,
            generation=terms.generation,
            tokens={JUDGE: terms.generation.max_tokens or LETTER_TOKENS},
            progress=terms.progress,
        )
        said = {
            at: str((record[one.key(keyed_by)].content or {}).get("text", ""))
            for at, one in prompts.items()
        }
    return _filled(scores, {at: _verdict(text) for at, text in said.items()})


def _verdict(text: str) -> float | None:
    reading = read_answer(text, "yesno", ("yes", "no"))
    return float(reading.places == (0,)) if reading.parsed else None


def _prompts(
    scores: pa.Table, benchmark: Benchmark, names: Mapping[str, Sequence[str]]
) -> dict[int, Prompted]:
    """What is asked, by the row of the scores."""
    prompt = read_prompt(Path(str(files("ehrkg.evaluation.asking") / "prompts" / "judge.yaml")))
    items = {row["item_id"]: row for row in benchmark.filter(format="oeq").to_arrow().to_pylist()}
    found = {}
    columns = ["item_id", "format", "text", "task"]
    for at, row in enumerate(scores.select(columns).to_pylist()):
        if row["format"] == "oeq" and (row["text"] or "").strip():
            item = items[row["item_id"]]
            text = prompt.fill(
                kind=tasks()[row["task"]].answer_kind,
                accepted=accepted_names(item["answer"], item["accepted_codes"], names),
                answer=row["text"],
            )
            shown = (item["template_id"],)
            found[at] = Prompted(JUDGE, f"{row['item_id']} {at}", prompt.system, text, shown)
    return found


def accepted_names(
    answers: Sequence[str], codes: Sequence[str], names: Mapping[str, Sequence[str]]
) -> list[str]:
    """The names that count as right: the answer's own, then others in the order of the alphabet.

    >>> accepted_names(["gout"], ["A", "B"], {"A": ["podagra", "gout"], "B": ["gouty arthritis"]})
    ['gout', 'gouty arthritis', 'podagra']
    """
    others = {name for code in codes for name in names.get(code, ())} - set(answers)
    return [*answers, *sorted(others)][:NAMES]


def _filled(scores: pa.Table, verdicts: Mapping[int, float | None]) -> pa.Table:
    forms = scores["format"].to_pylist()
    values = [verdicts.get(at, 0.0) if form == "oeq" else None for at, form in enumerate(forms)]
    field = SCORES.field("judged")
    place = scores.schema.get_field_index(field.name)
    return scores.set_column(place, field, pa.array(values, field.type))
