"""What models were asked of a patient, and what they answered, out of a build."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.evaluation.scoring.storing import ANSWERS, EVALUATIONS, LOGS
from ehrkg.evaluation.settings import OTHER_STEM, Setting
from ehrkg.foundation import replacing
from ehrkg.session.traces import TEMPLATE, Traces


def forget_answers(
    out: Path, traces: Traces, new: replacing.Replacement
) -> tuple[int, tuple[str, ...]]:
    """Recorded answers without those to prompts that told of the patient; and no log.

    A prompt may show the patient's stem for another patient's question (in a control), or as an
    example: a recorded answer names every template that stood in its prompt. Inspect's logs are
    packed and hold whole prompts, so they all go; scores and the other answers stay.

    Args:
        out: the build's folder, held by this process.
        traces: what is gone.
        new: where files are made anew.

    Returns:
        How many answers go, and the files that shall be no more.
    """
    gone = traces[TEMPLATE]
    if not gone:
        return 0, ()
    lost = 0
    for path in sorted((out / EVALUATIONS).glob(f"*/{ANSWERS}")):
        before = [line for line in path.read_bytes().split(b"\n") if line.strip()]
        kept = [line for line in before if _is_of_others(line, gone)]
        if len(kept) < len(before):
            lost += len(before) - len(kept)
            text = b"".join(line + b"\n" for line in kept)
            new.path(path.relative_to(out).as_posix()).write_bytes(text)
    return lost, tuple(_logs(out))


def _is_of_others(line: bytes, gone: frozenset[str]) -> bool:
    """Whether a recorded answer tells of nobody who is gone; of a torn line nobody knows."""
    try:
        row = json.loads(line)
        return gone.isdisjoint(row["content"]["templates"])
    except (ValueError, KeyError, TypeError):
        return False


def _logs(out: Path) -> Iterator[str]:
    for path in sorted((out / EVALUATIONS).glob(f"*/{LOGS}/**/*")):
        if path.is_file():
            yield path.relative_to(out).as_posix()


def without_echoes(scores: pa.Table, traces: Traces) -> pa.Table:
    """Scores without words that may repeat a stem which was shown for another's question.

    What a model wrote under another patient's stem, or after examples, is blanked for all: which
    stem stood there is not known from the scores. Whether it was right stays.

    Args:
        scores: the schema ``SCORES``.
        traces: what is gone.
    """
    if not traces[TEMPLATE] or "answered" not in scores.column_names:
        return scores
    names = [name for name in pc.unique(scores["setting"]).to_pylist() if _shows_others(name)]
    shown = pc.and_(
        pc.is_in(scores["setting"], value_set=pa.array(names, pa.string())),
        pc.is_valid(scores["tokens_in"]),  # a model wrote it, no baseline
    )
    for name, blank in (("answered", pa.scalar(None, pa.string())), ("text", pa.scalar(""))):
        column = pc.if_else(shown, blank, scores[name])
        scores = scores.set_column(scores.column_names.index(name), name, column)
    return scores


def _shows_others(setting: str) -> bool:
    asked = Setting.parse(setting)
    return asked.control == OTHER_STEM or asked.shots > 0
