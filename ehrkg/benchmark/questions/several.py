"""Yes/no questions, and questions with several right answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from ehrkg.benchmark.distractors.draws import Drawn
from ehrkg.benchmark.distractors.right_ones import MULTI, OPTIONS, RightOnes
from ehrkg.benchmark.distractors.several_draws import BALANCE, SINGLE, TOO_FEW, DrawnSets
from ehrkg.benchmark.distractors.shortlists import Ints
from ehrkg.benchmark.facts.cohort import Cohort
from ehrkg.benchmark.facts.names import option_names, phrase
from ehrkg.benchmark.questions.writing import ALIKE, Piece, as_items
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.hashing import hash64, order_by_hash

YESNO = "yesno"

PRESUMED = "presumed"
"""The flag of a "no" that nothing recorded contradicts."""

_STRINGS = pa.list_(pa.string())


class YesNo:
    """Asks about the answer ("yes") or about what was drawn in its place ("no"), by hash.

    Each thing is drawn about as often as it is the answer, so it is asked about with "yes" about
    as often as with "no".

    Args:
        drawn: a draw of two options, among what may be denied.
        cohort: facts about codes.
        seed: decides which is asked.
    """

    def __init__(self, drawn: Drawn, cohort: Cohort, seed: int) -> None:
        self._drawn, self._cohort, self._seed = drawn, cohort, seed

    def items(self, piece: Piece) -> pa.Table:
        """The questions of a piece's templates."""
        drawn, start = self._drawn, piece.start
        low, high = np.searchsorted(drawn.rows, (start, start + len(piece.rows)))
        here = np.arange(low, high)[drawn.kept[low:high]]
        at = drawn.rows[here] - start
        rows = [piece.rows[one] for one in at.tolist()]
        says_no = [hash64(self._seed, YESNO, row["id"]) % 2 == 1 for row in rows]
        proven = drawn.about.contradicted(rows)
        asked, reasons, flags = [], [], []
        for row, no, member, certain in zip(
            rows, says_no, drawn.members[here, 0].tolist(), proven, strict=True
        ):
            other = drawn.pool.rows[member]
            asked.append(
                (other["code"], other["route"]) if no else (row["answer"][0], row["answer_route"])
            )
            presumed = no and not certain[member]
            flags.append(sorted({*row["flags"], *([PRESUMED] if presumed else [])}))
            why = "contradicted" if not presumed else "presumed: well known, no path, lift below 1"
            reasons.append([f"{why}; not in any visit of the patient", "answer"])
        stems = [
            piece.stem(one, YESNO, phrase(self._cohort.codes[code], route))
            for one, (code, route) in zip(at.tolist(), asked, strict=True)
        ]
        shared = piece.items(at, form=YESNO, n_options=2, strategy=drawn.strategy.name, stems=stems)
        told = [why if no else ["answer", ""] for no, why in zip(says_no, reasons, strict=True)]
        words = ["no" if no else "yes" for no in says_no]
        return as_items(
            shared
            | {
                "flags": pa.array(flags, _STRINGS),
                "options": pa.array([["yes", "no"]] * len(rows), _STRINGS),
                "option_codes": pa.array([[code, code] for code, _ in asked], _STRINGS),
                "distractor_reasons": pa.array(told, _STRINGS),
                "answer": pa.array([[word] for word in words], _STRINGS),
                "answer_index": pa.array(np.array(says_no, np.int32)),
            }
        )


class Multi:
    """Asks for all that is right: the answer, and other templates' answers at the same place.

    Args:
        drawn: the draw of what is right and wrong, of one task, ICD version and strategy.
        right_ones: finds what is right.
        cohort: facts about codes.
        seed: orders options.
    """

    REASONS = (SINGLE, TOO_FEW, BALANCE, ALIKE)
    """Why a template has no such question."""

    def __init__(self, drawn: DrawnSets, right_ones: RightOnes, cohort: Cohort, seed: int) -> None:
        self._drawn, self._right_ones = drawn, right_ones
        self._cohort, self._seed = cohort, seed

    def items(self, piece: Piece, dropped: Counter[str]) -> pa.Table:
        """The questions of a piece's templates.

        Args:
            piece: the templates.
            dropped: counts those without a question, by reason ("multi: single_answer").
        """
        drawn, start = self._drawn, piece.start
        found: list[tuple[int, dict[str, Any]]] = []
        low, high = np.searchsorted(drawn.rows, (start, start + len(piece.rows)))
        for place in range(low, high):
            at = int(drawn.rows[place]) - start
            made = str(drawn.why_not[place]) or self._question(piece.rows[at], place)
            if isinstance(made, str):
                dropped[f"{MULTI}: {made}"] += 1
            else:
                found.append((at, made))
        at_all: Ints = np.array([at for at, _ in found], dtype=np.int64)
        shared = piece.items(
            at_all,
            form=MULTI,
            n_options=OPTIONS,
            strategy=drawn.strategy.name,
            stems=[piece.stem(at, MULTI) for at in at_all.tolist()],
        )
        columns = {
            name: pa.array([made[name] for _, made in found], _STRINGS)
            for name in ("options", "option_codes", "distractor_reasons", "answer")
        }
        none = pa.array(np.full(len(found), -1, np.int32))
        return as_items(shared | columns | {"answer_index": none})

    def _question(self, row: Mapping[str, Any], place: int) -> dict[str, Any] | str:
        """The columns of a question, or ``ALIKE`` if no name tells two options apart."""
        drawn = self._drawn
        right = self._right_ones.of(row, drawn.pool)
        reasons = dict.fromkeys(right, "answer")
        for turn, one in enumerate(drawn.wrong[place].tolist()):
            if one >= 0:
                other = drawn.pool.rows[one]
                like = drawn.pool.rows[drawn.rights[place, turn % len(right)]]
                why = drawn.strategy.reason(like, other, int(drawn.steps[place, turn]))
                reasons[other["code"], other["route"]] = why
        keys = {f"{code}\x1f{route}": (code, route) for code, route in reasons}
        order = [keys[key] for key in order_by_hash(keys, self._seed, MULTI, row["id"])]
        try:
            names = option_names([(self._cohort.codes[code], route) for code, route in order])
        except UsageError:
            return ALIKE
        return {
            "options": names,
            "option_codes": [code for code, _ in order],
            "distractor_reasons": [reasons[option] for option in order],
            "answer": [
                name for name, option in zip(names, order, strict=True) if option in set(right)
            ],
        }
