"""Puts drawn questions into rows of ITEMS, a piece of the templates at a time, column by column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.benchmark.distractors.accepted import Accepted
from ehrkg.benchmark.distractors.draws import PIECE, Drawn
from ehrkg.benchmark.distractors.shortlists import Ints
from ehrkg.benchmark.facts.code_classes import REMEMBERED
from ehrkg.benchmark.facts.cohort import Cohort
from ehrkg.benchmark.facts.names import display
from ehrkg.benchmark.questions.option_texts import OptionTexts
from ehrkg.benchmark.questions.stems import choose_phrasing, render_stem
from ehrkg.benchmark.schema import ITEMS
from ehrkg.foundation.hashing import hash64, hash_strings, mix
from ehrkg.foundation.workers import in_order

OPEN = "oeq"
"""The format without options."""

ALIKE = "same_name"
"""Why a question is left out two of whose options no name tells apart."""

Row = Mapping[str, Any]


_display = lru_cache(maxsize=REMEMBERED)(display)


_KEPT = ("id", "relation", "cluster", "task", "split", "timing", "n_related", "flags")
"""Columns of a template that its questions have too."""


class Piece:
    """Some templates in a row, with what all their questions share worked out once.

    Args:
        templates: the rows of TEMPLATES, sorted by id.
        start: position of the first of them in the whole table.
        cohort: facts about codes and visits.
        seed: orders options and chooses phrasings.
        history: earlier admissions told of.
    """

    def __init__(
        self, templates: pa.Table, start: int, cohort: Cohort, *, seed: int, history: int
    ) -> None:
        self.table, self.start, self.cohort = templates, start, cohort
        self.seed, self.history = seed, history
        self._kept = templates.select(list(_KEPT)).combine_chunks()
        self.rows: list[dict[str, Any]] = templates.to_pylist()
        self.phrasing = np.array([choose_phrasing(row, seed) for row in self.rows], dtype=np.int64)
        self.hashed = hash_strings(seed, [row["id"] for row in self.rows])
        self._stems: dict[str, dict[int, str]] = {}

    def stem(self, at: int, form: str, asked: str = "") -> str:
        """The stem of a template for a format; kept, unless something is asked by name."""
        if asked:
            return self._render(at, form, asked)
        held = self._stems.setdefault(form, {})
        if at not in held:
            held[at] = self._render(at, form, "")
        return held[at]

    def _render(self, at: int, form: str, asked: str) -> str:
        return render_stem(
            self.rows[at],
            self.cohort,
            format=form,
            phrasing=int(self.phrasing[at]),
            history=self.history,
            asked=asked,
        )

    def items(
        self, at: Ints, *, form: str, n_options: int, strategy: str, stems: Sequence[str]
    ) -> dict[str, Any]:
        """The columns that do not depend on the options, for some of the templates.

        Args:
            at: positions in this piece, one a question.
            form: the format.
            n_options: of the format.
            strategy: "" without options.
            stems: one a question.
        """
        taken = self._kept.take(pa.array(at))
        n = len(at)
        number = str(n_options) if n_options and form != "yesno" else ""
        numbered = pa.array([f"p{at}" for at in range(int(self.phrasing.max(initial=0)) + 1)])
        ids = pc.binary_join_element_wise(
            taken["id"],
            f"{form}{number}",
            strategy or "open",
            numbered.take(pa.array(self.phrasing[at])),
            f"h{self.history}",
            f"s{self.seed}",
            ".",
        )
        return {
            "item_id": ids,
            "template_id": taken["id"],
            "relation_id": taken["relation"],
            "cluster": taken["cluster"],
            "task": taken["task"],
            "format": pa.repeat(pa.scalar(form), n),
            "n_options": pa.array(np.full(n, n_options, np.int32)),
            "strategy": pa.repeat(pa.scalar(strategy), n),
            "phrasing": pa.array(self.phrasing[at].astype(np.int32)),
            "history": pa.array(np.full(n, self.history, np.int32)),
            "stem": pa.array(list(stems), pa.string()),
            "split": taken["split"],
            "seed": pa.array(np.full(n, self.seed, np.int64)),
            "timing": taken["timing"],
            "n_related": taken["n_related"],
            "flags": taken["flags"],
        }


def as_items(columns: Mapping[str, Any]) -> pa.Table:
    """A table with the schema ITEMS out of its columns; what is not there are empty lists."""
    n = len(columns["item_id"])
    empty = pa.ListArray.from_arrays(pa.array(np.zeros(n + 1, np.int32)), pa.array([], pa.string()))
    return pa.table({name: columns.get(name, empty) for name in ITEMS.names}).cast(ITEMS)


def lists_of(texts: Sequence[str] | pa.Array, numbers: Ints) -> pa.ListArray:
    """A column of lists, one a row of numbers, out of the texts that they number."""
    held = texts if isinstance(texts, pa.Array) else pa.array(list(texts), pa.string())
    n, k = numbers.shape
    offsets = pa.array((np.arange(n + 1) * k).astype(np.int32))
    return pa.ListArray.from_arrays(offsets, held.take(pa.array(numbers.ravel())))


class Choices:
    """Writes the multiple-choice questions of a draw.

    Args:
        drawn: the draw.
        cohort: facts about codes.
        seed: orders options.
    """

    def __init__(self, drawn: Drawn, cohort: Cohort, seed: int) -> None:
        self.drawn, self._cohort = drawn, cohort
        self._texts = OptionTexts()
        self._codes = Numbered()
        rows = drawn.pool.rows
        self._entry = np.array(
            [self._texts.entry(cohort.codes[row["code"]], row["route"]) for row in rows], np.int64
        )
        self._code = np.array([self._codes.of(row["code"]) for row in rows], dtype=np.int64)
        self._hashed = hash_strings(seed, [row["entity"] for row in rows])
        self._salt = hash64(seed, drawn.strategy.name, drawn.n_options, "order") >> 1
        self._reasons = Numbered()
        self._looked = [drawn.pool.column(name).astype(np.int64) for name in ("band", "decile")]
        self._answer_reason = self._reasons.of("answer")

    def within(self, start: int, end: int) -> Ints:
        """Which templates of the draw, by position in it, lie between two positions of all."""
        low, high = np.searchsorted(self.drawn.rows, (start, end))
        return np.arange(low, high)[self.drawn.kept[low:high]]

    def items(self, piece: Piece, dropped: Counter[str]) -> pa.Table:
        """The questions of a piece's templates.

        Args:
            piece: the templates.
            dropped: counts questions left out because no name tells two of their options apart.
        """
        here = self.within(piece.start, piece.start + len(piece.rows))
        at = self.drawn.rows[here] - piece.start
        names, members, order = self._options(piece, here, at)
        told = ~self._alike
        dropped[ALIKE] += int((~told).sum())
        here, at, names, members, order = (part[told] for part in (here, at, names, members, order))
        n, k = names.shape
        codes = self._code[members]
        codes[:, 0] = self._answer_codes(piece, at)
        right = order.argmin(axis=1) if n else np.zeros(0, np.int64)
        answers = np.take_along_axis(names, order, axis=1)[np.arange(n), right]
        reasons = self._reason_numbers(here, members)
        stems = [piece.stem(one, "mcq") for one in at.tolist()]
        shared = piece.items(
            at, form="mcq", n_options=k, strategy=self.drawn.strategy.name, stems=stems
        )
        return as_items(
            shared
            | {
                "options": lists_of(self._texts.texts, np.take_along_axis(names, order, axis=1)),
                "option_codes": lists_of(
                    self._codes.texts, np.take_along_axis(codes, order, axis=1)
                ),
                "distractor_reasons": lists_of(
                    self._reasons.texts, np.take_along_axis(reasons, order, axis=1)
                ),
                "answer": lists_of(self._texts.texts, answers[:, None]),
                "answer_index": pa.array(right.astype(np.int32)),
            }
        )

    def _options(self, piece: Piece, here: Ints, at: Ints) -> tuple[Ints, Ints, Ints]:
        """Names, members (the answer first) and the order in which they stand."""
        members = np.column_stack([self.drawn.answers[here], self.drawn.members[here]])
        entries = self._entry[members]
        # The answer keeps the string that stands at the visit, not the pool's example of it.
        entries[:, 0] = [
            self._texts.entry(self._cohort.codes[row["answer"][0]], row["answer_route"])
            for row in (piece.rows[one] for one in at.tolist())
        ]
        names, self._alike = self._texts.choose(entries)
        keys = mix(self._salt, piece.hashed[at][:, None], self._hashed[members])
        order = np.argsort(keys, axis=1, kind="stable")
        return names, members, order

    def _answer_codes(self, piece: Piece, at: Ints) -> Ints:
        return np.array(
            [self._codes.of(piece.rows[one]["answer"][0]) for one in at.tolist()], dtype=np.int64
        )

    def _reason_numbers(self, here: Ints, members: Ints) -> Ints:
        """Numbers of reasons, the answer's first; each (answer, distractor, steps) is told once."""
        n, k = members.shape
        found = np.full((n, k), self._answer_reason, dtype=np.int64)
        if not n:
            return found
        # A reason looks at band, decile and steps alone, so each combination is told once.
        keys = np.stack(
            [
                *(np.repeat(looked[members[:, :1]], k - 1, axis=1) for looked in self._looked),
                *(looked[members[:, 1:]] for looked in self._looked),
                self.drawn.steps[here],
            ],
            axis=-1,
        ).reshape(-1, 5)
        sizes = keys.max(axis=0) + 1
        _, first, which = np.unique(
            np.ravel_multi_index(tuple(keys.T), tuple(sizes)),
            return_index=True,
            return_inverse=True,
        )
        numbers = np.array(
            [self._reasons.of(self._reason(*keys[at].tolist())) for at in first], dtype=np.int64
        )
        found[:, 1:] = numbers[which.ravel()].reshape(n, k - 1)
        return found

    def _reason(self, *key: int) -> str:
        band, decile, other_band, other_decile, steps = key
        return self.drawn.strategy.reason(
            {"band": band, "decile": decile}, {"band": other_band, "decile": other_decile}, steps
        )


class Numbered:
    """Texts by number."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._numbers: dict[str, int] = {}

    def of(self, text: str) -> int:
        """The number of a text; a new one gets the next."""
        if text not in self._numbers:
            self._numbers[text] = len(self.texts)
            self.texts.append(text)
        return self._numbers[text]


def open_items(
    piece: Piece, accepted: Accepted, wanted: npt.NDArray[np.bool_] | None = None
) -> pa.Table:
    """The open-ended questions of a piece's templates.

    Args:
        piece: the templates.
        accepted: what an answer may name.
        wanted: which of them; all by default.
    """
    chosen = np.arange(len(piece.rows)) if wanted is None else np.flatnonzero(wanted)
    rows = [piece.rows[at] for at in chosen.tolist()]
    codes = piece.cohort.codes
    shared = piece.items(
        chosen,
        form=OPEN,
        n_options=0,
        strategy="",
        stems=[piece.stem(at, OPEN) for at in chosen.tolist()],
    )
    names = [_display(codes[row["answer"][0]], row["answer_route"]) for row in rows]
    return as_items(
        shared
        | {
            "answer": pa.array([[name] for name in names], pa.list_(pa.string())),
            "answer_index": pa.array(np.full(len(rows), -1, np.int32)),
            "accepted_codes": pa.array([accepted.of(row) for row in rows], pa.list_(pa.string())),
        }
    )


class Written(NamedTuple):
    """The questions of a piece, a table a kind, and how many were left out, by reason."""

    tables: list[pa.Table]
    dropped: Counter[str]


def in_pieces(
    templates: pa.Table,
    write: Callable[[Piece], Written],
    cohort: Cohort,
    *,
    seed: int,
    history: int,
    workers: int = 1,
) -> Iterator[tuple[pa.Table, Counter[str]]]:
    """Tables of items, each sorted, all after those of the piece before, and what was left out.

    An item's id begins with its template's, so pieces of sorted templates give sorted items.

    Args:
        templates: TEMPLATES, sorted by id.
        write: gives a piece's tables.
        cohort: facts about codes and visits.
        seed: orders options and chooses phrasings.
        history: earlier admissions told of.
        workers: processes that share the pieces.
    """

    def written(start: int) -> tuple[pa.Table, Counter[str]]:
        piece = Piece(templates.slice(start, PIECE), start, cohort, seed=seed, history=history)
        tables, dropped = write(piece)
        return pa.concat_tables(tables).combine_chunks().sort_by("item_id"), dropped

    yield from in_order(written, range(0, templates.num_rows, PIECE), workers=workers)
