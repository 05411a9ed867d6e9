"""What a model said, as rows of scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from ehrkg.evaluation.asking.answer_reading import Reading, read_answer
from ehrkg.evaluation.asking.questions import Question
from ehrkg.evaluation.metrics import exact_match, relation_coverage, rouge
from ehrkg.evaluation.models.questioning import Put
from ehrkg.evaluation.schema import SCORES
from ehrkg.evaluation.scoring.scores import SORTED_BY
from ehrkg.propose.models.asking import Reply
from ehrkg.propose.models.budget import Budget


def scores_of(
    put: Sequence[Put],
    replies: Sequence[Reply],
    names: Mapping[str, Sequence[str]],
    *,
    model: str,
    budget: Budget,
) -> pa.Table:
    """Score replies, one row a question and setting.

    A reply that can't be read counts as wrong, and as not parsed. Options that a model finds
    equally likely tie, as they do for a baseline (``deciding.chosen_of``): none is its choice, and
    the answer among k of them counts 1/k.

    Args:
        put: the questions as they were put.
        replies: what came back, in the same order.
        names: code or concept id to the names by which an open answer may name it.
        model: who answered.
        budget: whose prices make costs.

    Returns:
        The schema ``SCORES``, sorted.
    """
    rows = [_row(one, reply, names, model, budget) for one, reply in zip(put, replies, strict=True)]
    return pa.Table.from_pylist(rows, SCORES).sort_by(SORTED_BY)


def _row(
    put: Put, reply: Reply, names: Mapping[str, Sequence[str]], model: str, budget: Budget
) -> dict[str, object]:
    question = put.question
    content = reply.content or {}
    said: str | None = str(content.get("text", ""))
    chances: list[float] | None = content.get("chances")
    if chances is not None:
        reading = Reading(True, likeliest(chances))
        said = question.options[reading.places[0]] if len(reading.places) == 1 else None
    else:
        asked = (question.format, question.options)
        reading = read_answer(said, *asked, reasoning=put.setting.reasoning)
    judged = (
        _open(question, reading, names) if question.format == "oeq" else _choice(question, reading)
    )
    return {
        "model": model,
        "setting": put.setting.name,
        "item_id": question.item_id,
        "template_id": question.template_id,
        "cluster": question.cluster,
        "task": question.task,
        "format": question.format,
        "n_options": question.n_options,
        "answer_index": question.answer_index,
        "answered": said,
        "parsed": reading.parsed,
        "tokens_in": reply.tokens_in,
        "tokens_out": reply.tokens_out,
        "cost": budget.cost(reply.tokens_in, reply.tokens_out),
        "seconds": content.get("seconds"),
        "probabilities": chances,
        "key_source": False,
        **judged,
    }


def likeliest(chances: Sequence[float]) -> tuple[int, ...]:
    """Where the highest probability stands: at several places in a tie.

    >>> likeliest([0.2, 0.5, 0.3]), likeliest([0.4, 0.2, 0.4])
    ((1,), (0, 2))
    """
    best = max(chances)
    return tuple(at for at, chance in enumerate(chances) if chance == best)


def _choice(question: Question, reading: Reading) -> dict[str, object]:
    right, chosen = set(question.right), set(reading.places)
    several = question.format == "multi"
    one = reading.places[0] if len(chosen) == 1 and not several else -1
    if several:
        correct = float(reading.parsed and chosen == right)
    else:
        correct = round(len(right & chosen) / len(chosen), 4) if chosen else 0.0
    told = reading.parsed and (several or one >= 0)
    # Of a yes/no question the code is what is asked about; what is chosen is the word.
    codes = question.options if question.format == "yesno" else question.option_codes
    found: dict[str, object] = {
        "choice": one,
        "chosen_codes": [codes[at] for at in sorted(chosen)] if told else None,
        "text": "",
        "correct": correct,
    }
    if several:
        found["chosen"] = sorted(chosen) if reading.parsed else None
        found["partial"] = round(len(right & chosen) / len(right | chosen), 4) if chosen else 0.0
    return found


def _open(
    question: Question, reading: Reading, names: Mapping[str, Sequence[str]]
) -> dict[str, object]:
    accepted = list(question.answers)
    for code in question.accepted_codes:
        accepted += names.get(code, ())
    covered = relation_coverage(reading.text, accepted)
    first, longest = rouge(reading.text, question.answers)
    return {
        "choice": -1,
        "text": reading.text,
        "correct": covered,
        "coverage": covered,
        "exact": exact_match(reading.text, accepted),
        "rouge1": round(first, 4),
        "rouge_l": round(longest, 4),
    }
