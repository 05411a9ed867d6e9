"""Yes/no questions, and questions with several right answers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from ehrkg.benchmark.accepted import Accepted
from ehrkg.benchmark.cohort import Cohort
from ehrkg.benchmark.draws import Drawn
from ehrkg.benchmark.giveaways import Answer, Giveaways
from ehrkg.benchmark.names import option_names, phrase
from ehrkg.benchmark.pools import entity_of
from ehrkg.benchmark.shortlists import Ints
from ehrkg.benchmark.writing import ALIKE, Piece, as_items
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.hashing import hash64, order_by_hash
from ehrkg.propose.tasks import tasks

YESNO, MULTI = "yesno", "multi"

PRESUMED = "presumed"
"""The flag of a "no" that nothing recorded contradicts."""

OPTIONS = 6
"""Options of a question with several right answers."""

RIGHT = (2, 3)
"""How many of them are right, least and most."""

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

    Another template's answer counts if a supported relation joins it to this stem too and nothing
    in this stem gives it away; so every right option is one that the rules on answers passed.

    Args:
        templates: TEMPLATES, sorted by id: where others' answers come from.
        drawn: the draws of six options by which the wrong ones are chosen, by task and era.
        cohort: facts about codes.
        accepted: what is linked to a stem.
        seed: chooses and orders.
    """

    REASONS = ("single_answer", "too_few_distractors", ALIKE)
    """Why a template has no such question."""

    def __init__(
        self,
        templates: pa.Table,
        drawn: Iterable[Drawn],
        cohort: Cohort,
        accepted: Accepted,
        seed: int,
    ) -> None:
        self._drawn, self._cohort, self._accepted = list(drawn), cohort, accepted
        self._giveaways = Giveaways(cohort)
        self._seed = seed
        self._beside: dict[tuple[str, str, str], list[tuple[str, str]]] = defaultdict(list)
        names = ("task", "visit", "target_visit", "answer", "answer_route")
        for task, visit, target, answer, route in zip(
            *(templates[name].to_pylist() for name in names), strict=True
        ):
            self._beside[task, visit, target].append((answer[0], route))

    def items(self, piece: Piece, dropped: Counter[str]) -> pa.Table:
        """The questions of a piece's templates.

        Args:
            piece: the templates.
            dropped: counts those without a question, by reason ("multi: single_answer").
        """
        found: list[tuple[int, Drawn, dict[str, Any]]] = []
        for drawn in self._drawn:
            low, high = np.searchsorted(drawn.rows, (piece.start, piece.start + len(piece.rows)))
            for place in range(low, high):
                at = int(drawn.rows[place]) - piece.start
                made = self._question(piece.rows[at], drawn, drawn.members[place])
                if isinstance(made, str):
                    dropped[f"{MULTI}: {made}"] += 1
                else:
                    found.append((at, drawn, made))
        at_all: Ints = np.array([at for at, _, _ in found], dtype=np.int64)
        shared = piece.items(
            at_all,
            form=MULTI,
            n_options=OPTIONS,
            strategy=found[0][1].strategy.name if found else "",
            stems=[piece.stem(at, MULTI) for at in at_all.tolist()],
        )
        columns = {
            name: pa.array([made[name] for _, _, made in found], _STRINGS)
            for name in ("options", "option_codes", "distractor_reasons", "answer")
        }
        none = pa.array(np.full(len(found), -1, np.int32))
        return as_items(shared | columns | {"answer_index": none})

    def _question(
        self, row: Mapping[str, Any], drawn: Drawn, members: Ints
    ) -> dict[str, Any] | str:
        """The columns of a question, or why there is none (one of ``REASONS``)."""
        right = self._right(row)
        if len(right) < RIGHT[0]:
            return "single_answer"
        pool, task = drawn.pool, row["task"]
        held = [
            pool.at[entity]
            for entity in (entity_of(task, code, route, self._cohort) for code, route in right)
            if entity in pool.at
        ]
        wrong = [int(one) for one in members if one >= 0 and not pool.clash[one, held].any()]
        wrong = wrong[: OPTIONS - len(right)]
        if len(right) + len(wrong) < OPTIONS:
            return "too_few_distractors"
        reasons = dict.fromkeys(right, "answer")
        for one in wrong:
            other = pool.rows[one]
            why = drawn.strategy.reason(pool.rows[held[0]], other, 0)
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

    def _right(self, row: Mapping[str, Any]) -> list[tuple[str, str]]:
        """The answer and others that are right as well, none related to another."""
        mine = (row["answer"][0], row["answer_route"])
        linked = self._accepted.also_true(row)
        others = sorted(
            {
                option
                for option in self._beside[row["task"], row["visit"], row["target_visit"]]
                if option[0] in linked and option != mine
            },
            key=lambda option: (hash64(self._seed, MULTI, row["id"], *option), option),
        )
        right = [mine]
        span = tasks()[row["task"]].span
        for code, route in others:
            answer = Answer(row["task"], code, route, span)
            if (
                len(right) < RIGHT[1]
                and not any(code in self._cohort.related(other) for other, _ in right)
                and not any(self._giveaways.reason(event, answer) for event in row["context"])
            ):
                right.append((code, route))
        return right
