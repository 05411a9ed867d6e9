"""What is right in a question with several right answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from ehrkg.benchmark.distractors.accepted import Accepted
from ehrkg.benchmark.distractors.exclusions import Pool
from ehrkg.benchmark.distractors.pools import entity_of
from ehrkg.benchmark.facts.cohort import Cohort
from ehrkg.benchmark.facts.giveaways import Answer, Giveaways
from ehrkg.foundation.hashing import hash64
from ehrkg.propose.tasks import tasks

MULTI = "multi"

OPTIONS = 6
"""Options of a question with several right answers."""

RIGHT = (2, 3)
"""How many of them are right, least and most: each divides the options, so that every right one has
as many wrong ones of its own beside it."""

Option = tuple[str, str]
"""A code and its route ("" for what is no drug)."""


class RightOnes:
    """Finds what is right: the answer, and other templates' answers at the same place.

    Another template's answer counts if a supported relation joins it to this stem too and nothing
    in this stem gives it away; so every right option is one that the rules on answers passed. It
    must be able to stand as a wrong option elsewhere, or it would be right wherever it stands, and
    be of the answer's grain and group of routes, as every option is.

    Args:
        templates: TEMPLATES: where others' answers come from.
        cohort: facts about codes.
        accepted: what is linked to a stem.
        seed: chooses.
    """

    def __init__(self, templates: pa.Table, cohort: Cohort, accepted: Accepted, seed: int) -> None:
        self._cohort, self._accepted, self._seed = cohort, accepted, seed
        self._giveaways = Giveaways(cohort)
        self._beside: dict[tuple[str, str, str], set[Option]] = defaultdict(set)
        names = ("task", "visit", "target_visit", "answer", "answer_route")
        for task, visit, target, answer, route in zip(
            *(templates[name].to_pylist() for name in names), strict=True
        ):
            self._beside[task, visit, target].add((answer[0], route))

    def of(self, row: Mapping[str, Any], pool: Pool) -> list[Option]:
        """The answer, and others that are right as well, none related to another.

        Args:
            row: of TEMPLATES.
            pool: of its task and ICD version.

        Returns:
            One if nothing else is right; else two or three, as a hash decides where there are more.
        """
        task = row["task"]
        right: list[Option] = [(row["answer"][0], row["answer_route"])]
        places = [pool.at[entity_of(task, *right[0], self._cohort)]]
        most = RIGHT[0] + hash64(self._seed, MULTI, "right", row["id"]) % (RIGHT[1] - RIGHT[0] + 1)
        for option in self._others(row, right[0]):
            place = pool.at.get(entity_of(task, *option, self._cohort))
            if len(right) == most:
                break
            if (
                place is not None
                and self._like(pool, places[0], place)
                and not pool.clash[place, places].any()
                and not any(option[0] in self._cohort.related(code) for code, _ in right)
                and not self._given_away(row, option)
            ):
                right.append(option)
                places.append(place)
        return right

    def _others(self, row: Mapping[str, Any], mine: Option) -> list[Option]:
        """Answers of other templates at the same place that the stem is linked to, by hash."""
        beside = self._beside[row["task"], row["visit"], row["target_visit"]] - {mine}
        if not beside:
            return []
        linked = self._accepted.also_true(row)
        return sorted(
            (option for option in beside if option[0] in linked),
            key=lambda option: (hash64(self._seed, MULTI, row["id"], *option), option),
        )

    def _like(self, pool: Pool, answer: int, other: int) -> bool:
        one, two = pool.rows[answer], pool.rows[other]
        return bool(two["eligible"]) and all(one[name] == two[name] for name in ("grain", "group"))

    def _given_away(self, row: Mapping[str, Any], option: Option) -> bool:
        answer = Answer(row["task"], *option, tasks()[row["task"]].span)
        return any(self._giveaways.reason(event, answer) for event in row["context"])


def asked_of(row: Mapping[str, Any], option: Option) -> dict[str, Any]:
    """A template as if it asked for one of the right ones: what a wrong one is matched to.

    Args:
        row: of TEMPLATES.
        option: a right one.

    >>> asked_of({"id": "t1", "answer": ["A"], "answer_route": ""}, ("B", ""))["id"]
    't1.B'
    """
    code, route = option
    own = option == (row["answer"][0], row["answer_route"])
    name = row["id"] if own else f"{row['id']}.{code}"
    return {**row, "id": name, "answer": [code], "answer_route": route}
