"""Perturbations that draw distractors anew, under the rules by which the benchmark's were drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ehrkg.benchmark.distractors.draws import Group, pieces
from ehrkg.benchmark.distractors.pools import entity_of
from ehrkg.benchmark.distractors.shortlists import Shortlist, draw
from ehrkg.benchmark.distractors.strategies import STRATEGIES
from ehrkg.benchmark.facts.names import drug_option, option_names
from ehrkg.evaluation.perturbations.asked import NO_POOL, Asked, Outcome, Row
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.hashing import order_by_hash

MOST = 6
"""Options of a multiple-choice question, at most."""

TOO_FEW = "too_few_distractors"
SAME_NAME = "same_name"


@dataclass(frozen=True)
class MoreOptions:
    """Six options: those that stand, and others drawn by the question's own strategy."""

    name: str = "more_options"
    says: str = f"Further distractors are drawn by the question's strategy, up to {MOST} options."
    holds: str = "The new ones pass the rules that the old ones passed, and clash with none."

    def apply(self, rows: Sequence[Row], asked: Asked) -> list[Outcome]:
        """See ``Perturbation.apply``."""
        return _drawn(rows, asked, _Extended(self.name))

    def template(self, row: Row, asked: Asked) -> Row:
        """See ``Perturbation.template``."""
        return row


@dataclass(frozen=True)
class OtherStrategy:
    """As many distractors, all drawn by another strategy.

    Attributes:
        strategy: a name of ``benchmark.distractors.STRATEGIES``.
    """

    strategy: str

    @property
    def name(self) -> str:
        """As it stands in ``scores.setting``."""
        return f"distractors_{self.strategy}"

    @property
    def says(self) -> str:
        """See ``Perturbation``."""
        return f"All distractors are drawn anew, by the strategy {self.strategy}."

    @property
    def holds(self) -> str:
        """See ``Perturbation``."""
        return "The answer stays, and the new distractors pass the rules that all must pass."

    def apply(self, rows: Sequence[Row], asked: Asked) -> list[Outcome]:
        """See ``Perturbation.apply``."""
        return _drawn(rows, asked, _Replaced(self.name, self.strategy))

    def template(self, row: Row, asked: Asked) -> Row:
        """See ``Perturbation.template``."""
        return row


class _Extended:
    """Keeps the distractors and draws as many as lack."""

    def __init__(self, name: str) -> None:
        self.name = name

    def strategy(self, row: Row) -> str:
        return str(row["strategy"])

    def reason(self, row: Row) -> str:
        return "most_already" if len(row["options"]) >= MOST else ""

    def members(self, row: Row, pile: _Pile, held: Sequence[int]) -> list[int]:
        """Positions in the pool of the further distractors."""
        del row
        found: list[int] = []
        clash = pile.group.pool.clash
        for member in pile.listed.members[0].tolist():
            taken = [*held, *found]
            if len(taken) + 1 == MOST:
                break
            if member >= 0 and member not in taken and not clash[member, taken].any():
                found.append(member)
        return [*held, *found] if len(held) + len(found) + 1 == MOST else []


class _Replaced:
    """Draws all distractors by one strategy."""

    def __init__(self, name: str, strategy: str) -> None:
        self.name, self._strategy = name, strategy

    def strategy(self, row: Row) -> str:
        return self._strategy

    def reason(self, row: Row) -> str:
        return "that_strategy_already" if row["strategy"] == self._strategy else ""

    def members(self, row: Row, pile: _Pile, held: Sequence[int]) -> list[int]:
        """Positions in the pool of the new distractors."""
        del held
        wanted = len(row["options"]) - 1
        places = draw(pile.listed, np.zeros(len(pile.group.pool.rows)), wanted)[0]
        return [] if (places < 0).any() else [int(pile.listed.members[0, at]) for at in places]


Way = _Extended | _Replaced


def _drawn(rows: Sequence[Row], asked: Asked, way: Way) -> list[Outcome]:
    """The questions with their distractors drawn: the templates of a group at a time."""
    outcomes: list[Outcome] = [_reason(row, asked, way) for row in rows]
    if asked.pool is None:
        return outcomes
    open_rows = [at for at, outcome in enumerate(outcomes) if not outcome]
    wanted: dict[tuple[str, bool], set[str]] = {}
    for at in open_rows:
        name = way.strategy(rows[at])
        wanted.setdefault((name, STRATEGIES[name].of_kin), set()).add(rows[at]["template_id"])
    piles: dict[tuple[str, str], _Pile] = {}
    for (name, of_kin), templates in sorted(wanted.items()):
        piles |= _piles(name, of_kin, templates, asked)
    for at in open_rows:
        pile = piles[way.strategy(rows[at]), rows[at]["template_id"]]
        outcomes[at] = _question(rows[at], pile, asked, way)
    return outcomes


def _reason(row: Row, asked: Asked, way: Way) -> str:
    if row["format"] != "mcq":
        return "not_multiple_choice"
    return way.reason(row) or (NO_POOL if asked.pool is None else "")


@dataclass(frozen=True)
class _Pile:
    """What a question's distractors are drawn from.

    Attributes:
        group: its task and ICD version, with the pool.
        by_code: positions in the pool of each code.
        listed: the short list of its template alone.
    """

    group: Group
    by_code: Mapping[str, Sequence[int]]
    listed: Shortlist


def _piles(
    strategy: str, of_kin: bool, templates: set[str], asked: Asked
) -> dict[tuple[str, str], _Pile]:
    """Each template's candidates under a strategy."""
    ids = asked.table["id"].to_pylist()
    found: dict[tuple[str, str], _Pile] = {}
    for (task, era), at in asked.rows_by_group.items():
        mine = np.array([row for row in at.tolist() if ids[row] in templates], dtype=np.int64)
        if not len(mine):
            continue
        group = asked.group(task, era, of_kin=of_kin)
        by_code: dict[str, list[int]] = {}
        for member, row in enumerate(group.pool.rows):
            by_code.setdefault(row["code"], []).append(member)
        listed = group.shortlists(pieces(asked.table, mine), [strategy])[strategy]
        for place, at_row in enumerate(mine.tolist()):
            alone = listed.take(np.array([place]))
            found[strategy, ids[at_row]] = _Pile(group, by_code, alone)
    return found


def _question(row: Row, pile: _Pile, asked: Asked, way: Way) -> Outcome:
    template = asked.templates[row["template_id"]]
    pool = pile.group.pool.rows
    shown = zip(row["option_codes"], row["distractor_reasons"], row["options"], strict=True)
    held = [_member(code, text, pile, asked) for code, why, text in shown if why != "answer"]
    if any(member < 0 for member in held):
        return "option_not_in_pool"
    members = way.members(row, pile, held)
    if not members:
        return TOO_FEW
    mine = (template["answer"][0], template["answer_route"])
    others = [(pool[one]["code"], pool[one]["route"]) for one in members]
    try:
        names = option_names([(asked.cohort.codes[code], route) for code, route in (mine, *others)])
    except UsageError:
        return SAME_NAME
    entity = entity_of(row["task"], *mine, asked.cohort)
    answer = pool[pile.group.pool.at[entity]]
    reasons = ["answer", *(_why(row, pile, answer, one, way) for one in members)]
    codes = [mine[0], *(code for code, _ in others)]
    places = [str(at) for at in range(len(names))]
    order = [int(at) for at in order_by_hash(places, asked.seed, way.name, row["item_id"])]
    return row | {
        "strategy": way.strategy(row),
        "n_options": len(names),
        "options": [names[at] for at in order],
        "option_codes": [codes[at] for at in order],
        "distractor_reasons": [reasons[at] for at in order],
        "answer": [names[0]],
        "answer_index": order.index(0),
    }


def _member(code: str, text: str, pile: _Pile, asked: Asked) -> int:
    """The pool's member that an option is: of its code, and for a drug of its route; -1: none."""
    facts = asked.cohort.codes[code]
    for at in pile.by_code.get(code, ()):
        route = pile.group.pool.rows[at]["route"]
        if facts.kind != "drug" or drug_option(facts, route) == text:
            return at
    return -1


def _why(row: Row, pile: _Pile, answer: Mapping[str, Any], member: int, way: Way) -> str:
    """A distractor's reason, as its strategy tells it; one that stood already keeps its own."""
    rows = pile.group.pool.rows
    for code, why in zip(row["option_codes"], row["distractor_reasons"], strict=True):
        if code == rows[member]["code"] and why != "answer" and isinstance(way, _Extended):
            return str(why)
    place = np.flatnonzero(pile.listed.members[0] == member)
    steps = int(pile.listed.steps[0, place[0]]) if len(place) else 0
    return STRATEGIES[way.strategy(row)].reason(answer, rows[member], steps)
