"""Perturbations of options alone: nothing but what stands in the question is needed."""

from __future__ import annotations

from collections.abc import Sequence

from ehrkg.evaluation.perturbations.asked import Asked, Outcome, Row
from ehrkg.foundation.hashing import hash64, order_by_hash

LISTS = ("options", "option_codes", "distractor_reasons")
"""The columns with a value an option."""

FEWEST = 4
"""Options of a multiple-choice question, at least."""


class OptionOrder:
    """The same options, the right one in another place."""

    name = "option_order"
    says = "The options stand in another order, the right one in another place."
    holds = "The options are the same, and the key moves with its option."

    def apply(self, rows: Sequence[Row], asked: Asked) -> list[Outcome]:
        """See ``Perturbation.apply``."""
        return [self._turned(row, asked.seed) for row in rows]

    def template(self, row: Row, asked: Asked) -> Row:
        """See ``Perturbation.template``."""
        return row

    def _turned(self, row: Row, seed: int) -> Outcome:
        n = len(row["options"])
        if n < 2:
            return "no_options"
        drawn = order_by_hash([str(at) for at in range(n)], seed, self.name, row["item_id"])
        order = [int(at) for at in drawn]
        right = row["answer_index"]
        if order == list(range(n)) or (right >= 0 and order[right] == right):
            # Turned on by less than a whole turn, nothing stays where it was.
            turn = 1 + hash64(seed, self.name, "turn", row["item_id"]) % (n - 1)
            order = [*order[turn:], *order[:turn]]
        return in_order(row, order)


class FewerOptions:
    """Four of the options: the right one, and three of the others by hash."""

    name = "fewer_options"
    says = f"{FEWEST} of the options are left, the right one among them."
    holds = "The right option stays, and no other becomes true by what is taken away."

    def apply(self, rows: Sequence[Row], asked: Asked) -> list[Outcome]:
        """See ``Perturbation.apply``."""
        return [self._left(row, asked.seed) for row in rows]

    def template(self, row: Row, asked: Asked) -> Row:
        """See ``Perturbation.template``."""
        return row

    def _left(self, row: Row, seed: int) -> Outcome:
        if row["format"] != "mcq":
            return "not_multiple_choice"
        n, right = len(row["options"]), row["answer_index"]
        if n <= FEWEST:
            return "fewest_already"
        others = [str(at) for at in range(n) if at != right]
        kept = order_by_hash(others, seed, self.name, row["item_id"])[: FEWEST - 1]
        return in_order(row, sorted([right, *(int(at) for at in kept)]))


def in_order(row: Row, order: Sequence[int]) -> Row:
    """A question with some of its options, in some order.

    Args:
        row: the question.
        order: the place, in it, of each option.

    >>> row = {"format": "mcq", "options": ["a", "b"], "option_codes": ["A", "B"],
    ...        "distractor_reasons": ["answer", ""], "answer_index": 0, "n_options": 2}
    >>> turned = in_order(row, [1, 0])
    >>> turned["options"], turned["answer_index"]
    (['b', 'a'], 1)
    """
    lists = {name: [row[name][at] for at in order] for name in LISTS if row[name]}
    right = row["answer_index"]
    counts = {} if row["format"] == "yesno" else {"n_options": len(order)}
    place = {"answer_index": order.index(right) if right >= 0 else right}
    answers = {}
    if right < 0 and row["answer"]:  # several are right: they are told in the options' order
        answers = {"answer": sorted(row["answer"], key=lists["options"].index)}
    return row | lists | counts | place | answers
