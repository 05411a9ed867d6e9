"""Answers in, scores out: one row a (model, setting, item)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.evaluation.asking.asked import Asked, Ints, asked_of
from ehrkg.evaluation.baselines import Baseline
from ehrkg.evaluation.baselines.protocol import Utilities
from ehrkg.evaluation.schema import SCORES
from ehrkg.evaluation.scoring.deciding import chosen_of, chosen_of_several
from ehrkg.evaluation.scoring.open_answers import score_open
from ehrkg.evaluation.settings import CONTROLS, PLAIN
from ehrkg.foundation.progress import Progress, Silent

SORTED_BY = [("model", "ascending"), ("setting", "ascending"), ("item_id", "ascending")]
_OF_ITEM = ("item_id", "template_id", "cluster", "task", "format", "n_options", "answer_index")


def run_baselines(
    items: pa.Table,
    baselines: Sequence[Baseline],
    names: Mapping[str, Sequence[str]],
    *,
    templates: pa.Table | None = None,
    seed: int = 7,
    progress: Progress | None = None,
) -> pa.Table:
    """Let each baseline answer every item, plain and (what has options) under both controls.

    Args:
        items: the schema ``benchmark.schema.ITEMS``.
        baselines: who answers.
        names: code or concept id to the names by which an open answer may name it.
        templates: the schema ``TEMPLATES``: what a stem's context is, for baselines that use it.
        seed: of the swaps in the ``other_stem`` control.
        progress: told of each (baseline, setting) done.

    Returns:
        A table with the schema ``SCORES``, sorted by model, setting, item_id.
    """
    asked = asked_of(items, templates)
    tables = list(score_blocks(asked, baselines, names, seed=seed, progress=progress))
    return pa.concat_tables([SCORES.empty_table(), *tables])


def score_blocks(
    asked: Asked,
    baselines: Sequence[Baseline],
    names: Mapping[str, Sequence[str]],
    *,
    seed: int = 7,
    progress: Progress | None = None,
) -> Iterator[pa.Table]:
    """The same as tables, one a (baseline, setting), in the order in which scores are sorted.

    One after another, so that a million questions need not be held times all who answer them.
    """
    shown = progress or Silent()
    shown.start("answering with the baselines", len(baselines) * len(CONTROLS))
    choices = asked.take(np.flatnonzero(asked.sizes > 0))
    controlled = {control: choices.under(control, seed=seed) for control in CONTROLS}
    several, opened = chosen_of_several(choices), asked.take(np.flatnonzero(asked.sizes == 0))
    of_all, of_choices = _Rows(asked), _Rows(choices)
    for baseline in sorted(baselines, key=lambda one: one.name):
        for control in sorted(CONTROLS):
            found = _choices(choices, baseline.utilities(controlled[control]), several)
            if control == PLAIN:
                texts = _texts(opened, list(baseline.texts(opened)), names)
                yield of_all.table(baseline, control, _merged(asked.sizes, found, texts))
            else:
                yield of_choices.table(baseline, control, found)
            shown.advance()


class _Rows:
    """Rows of scores for the same questions, whoever answers them.

    Args:
        asked: the questions.
    """

    def __init__(self, asked: Asked) -> None:
        n = len(asked)
        self._n = n
        self._of_item = {name: asked.column(name) for name in _OF_ITEM}
        self._null = {
            field.name: pa.nulls(n, field.type) for field in SCORES if field.name not in _OF_ITEM
        }
        self._parsed = pa.array(np.ones(n, bool))

    def table(self, baseline: Baseline, setting: str, columns: Mapping[str, pa.Array]) -> pa.Table:
        """One row a question."""
        same = {"model": baseline.name, "setting": setting, "key_source": baseline.key_source}
        filled = {name: pa.repeat(pa.scalar(value), self._n) for name, value in same.items()}
        held = self._null | self._of_item | filled | {"parsed": self._parsed} | dict(columns)
        return pa.table([held[name].cast(SCORES.field(name).type) for name in SCORES.names], SCORES)


def _choices(asked: Asked, utilities: Utilities, several: Ints) -> dict[str, pa.Array]:
    """Columns of the questions with options."""
    found = chosen_of(asked, utilities, several)
    return {
        "choice": pa.array(found.choice),
        "chosen": found.chosen,
        "chosen_codes": found.chosen_codes,
        "text": pa.repeat(pa.scalar(""), len(asked)),
        "answered": found.answered,
        "correct": pa.array(found.correct),
        "partial": found.partial,
    }


def _texts(
    asked: Asked, texts: Sequence[str], names: Mapping[str, Sequence[str]]
) -> dict[str, pa.Array]:
    """Columns of the open questions."""
    found = score_open(texts, asked.column("answer"), asked.column("accepted_codes"), names)
    text = pa.array(texts, pa.string())
    return {
        "choice": pa.array(np.full(len(asked), -1)),
        "text": text,
        "answered": text,
        "correct": pa.array(found.coverage),
        "coverage": pa.array(found.coverage),
        "exact": pa.array(found.exact),
        "rouge1": pa.array(found.rouge1),
        "rouge_l": pa.array(found.rouge_l),
    }


def _merged(
    sizes: Ints, choices: Mapping[str, pa.Array], texts: Mapping[str, pa.Array]
) -> dict[str, pa.Array]:
    """Columns of all questions, out of those with options and those without."""
    has_options = sizes > 0
    at = np.where(has_options, np.cumsum(has_options) - 1, np.cumsum(~has_options) - 1)
    first, second = (pa.array(at, mask=rows) for rows in (~has_options, has_options))
    found = {}
    for name in choices.keys() | texts.keys():
        kind = SCORES.field(name).type
        parts = [
            part[name].cast(kind).take(where) if name in part else pa.nulls(len(at), kind)
            for part, where in ((choices, first), (texts, second))
        ]
        found[name] = pc.if_else(pa.array(has_options), *parts)
    return found
