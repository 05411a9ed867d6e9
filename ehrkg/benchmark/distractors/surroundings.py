"""What a question's surroundings say of its candidates: who stands together, who is denied.

Strategies choose by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from ehrkg.benchmark.distractors.exclusions import AnyOf, Pool, Related, Rows, Scores
from ehrkg.benchmark.distractors.pools import settings_of
from ehrkg.benchmark.facts.cohort import Cohort
from ehrkg.benchmark.facts.possible import settings
from ehrkg.benchmark.facts.support import Grid, Support
from ehrkg.propose.tasks import ACROSS, tasks
from ehrkg.verify.schema import Verified

CONTRADICTED = "contradicted"


class Surroundings:
    """Answers for the templates of one task and ICD version.

    Args:
        task: the task. era: the ICD version.
        pool: its pool.
        cohort: who has what.
        support: the edges, for contraindications.
        verified: the relations with their verdicts.
    """

    def __init__(
        self, task: str, era: str, pool: Pool, cohort: Cohort, support: Support, verified: Verified
    ) -> None:
        self._task, self._era, self._pool, self._cohort = tasks()[task], era, pool, cohort
        self._denied = _denied(verified)
        self._by = settings_of(task)["denied_by"]
        self._support = support
        self._codes = [row["code"] for row in pool.rows]
        self._against = AnyOf(len(self._codes), self._denying)
        self._tied = AnyOf(len(self._codes), self._tying)
        self._counts: dict[str, tuple[npt.NDArray[np.int64], int]] = {}
        self._kin = Related(pool.rows, cohort)

    def share(self) -> None:
        """Work out now what processes shall share, so that none of them does it again."""
        _ = self._per_member, self._n_visits
        if self._task.span == ACROSS:
            _ = self._cohort.next_visit

    def together(self, templates: Rows) -> npt.NDArray[np.int64]:
        """In how many visits each candidate stands with the anchor (in the next, for prognosis)."""
        return np.array([self._with(_anchor(row))[0] for row in templates]).reshape(
            len(templates), len(self._codes)
        )

    def lift(self, templates: Rows) -> Scores:
        """P(candidate | anchor) / P(candidate), over the visits it is looked for in."""
        anchors = np.array([self._with(_anchor(row))[1] for row in templates], dtype=float)
        expected = anchors[:, None] * self._per_member[None, :] / max(1, self._n_visits)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = self.together(templates) / expected
        lift: Scores = np.nan_to_num(found, nan=0.0, posinf=0.0)
        return lift

    def associated(self, templates: Rows) -> Grid:
        """Whether the hospital's visits tie the candidate to an event of the stem.

        Together in enough visits, and clearly oftener than by chance (``associated`` in
        pools.yaml), by the visits where the task looks. Statistics support nothing; but where they
        speak and the graph is silent, it is more likely the graph that lacks something.
        """
        return self._tied.of([row["context"] for row in templates])

    def contradicted(self, templates: Rows) -> Grid:
        """Whether something speaks against the candidate.

        A verdict, a contraindication, or that the knowledge denies it a relation of the task. Of
        the stem's events; for drugs of all diagnoses of the visit.
        """
        drugs = self._task.answer_kind == "drug"
        sets = [
            self._cohort.visits[row["visit"]].diagnoses if drugs else row["context"]
            for row in templates
        ]
        return self._against.of(sets)

    def siblings(self, answers: Sequence[int]) -> Grid:
        """Whether a candidate is next of kin to the answer without being on its line."""
        rows = {
            at: self._kin.to_code(self._codes[at]) & ~self._on_line(at) | self._of_group(at)
            for at in set(answers)
        }
        return np.array([rows[at] for at in answers]).reshape(len(answers), len(self._codes))

    def _on_line(self, at: int) -> npt.NDArray[np.bool_]:
        line = self._cohort.line(self._codes[at])
        return np.array([code in line for code in self._codes], dtype=bool)

    def _of_group(self, at: int) -> npt.NDArray[np.bool_]:
        """Drugs of one ATC group at level 3 that are not of one at level 4."""
        mine = self._cohort.codes[self._codes[at]].atc4
        groups = {node[:-1] for node in mine}
        return np.array(
            [
                bool(mine)
                and mine.isdisjoint(self._cohort.codes[code].atc4)
                and any(node[:-1] in groups for node in self._cohort.codes[code].atc4)
                for code in self._codes
            ],
            dtype=bool,
        )

    def _denying(self, codes: list[str]) -> Grid:
        said = np.array(
            [[(code, other) in self._denied for other in self._codes] for code in codes], dtype=bool
        ).reshape(len(codes), len(self._codes))
        asked = sorted({relation.predicate for relation in self._task.relations})
        refused = self._support.denied(codes, self._codes, asked)
        return said | refused | self._support.stated(codes, self._codes, self._by)

    def _tying(self, codes: list[str]) -> Grid:
        rules = settings()["associated"]
        rows = []
        for code in codes:
            together, n = self._with(code)
            chance = n * self._per_member / max(1, self._n_visits)
            rows.append((together >= rules["visits"]) & (together > rules["lift"] * chance))
        return np.array(rows, dtype=bool).reshape(len(codes), len(self._codes))

    # Visits, by position in the cohort

    @cached_property
    def _looked_in(self) -> frozenset[int]:
        """Visits of the ICD version where the task looks for an answer.

        For prognosis those that follow another. In first visits, where nothing has been carried
        forward, much is rarer: by them nearly all that stays would seem to follow from everything.
        """
        in_era = frozenset(
            at for at, visit in enumerate(self._cohort.visits.values()) if visit.era == self._era
        )
        if self._task.span == ACROSS:
            return in_era.intersection(self._cohort.next_visit.values())
        return in_era

    @cached_property
    def _n_visits(self) -> int:
        return len(self._looked_in)

    @cached_property
    def _holding(self) -> Any:
        """A sparse row a member, a column a visit that holds it; read by columns."""
        from scipy import sparse

        drugs = self._task.answer_kind == "drug"
        held = self._cohort.visits_with_lasting_drug if drugs else self._cohort.visits_with_code
        rows, columns = [], []
        for at, row in enumerate(self._pool.rows):
            visits = held.get(row["entity"] if drugs else row["code"], frozenset())
            found = sorted(visits & self._looked_in)
            rows += [at] * len(found)
            columns += found
        shape = (len(self._pool.rows), len(self._cohort.visits))
        return sparse.csc_matrix((np.ones(len(rows), np.int64), (rows, columns)), shape=shape)

    @cached_property
    def _per_member(self) -> npt.NDArray[np.int64]:
        return np.asarray(self._holding.sum(axis=1), dtype=np.int64).ravel()

    def _with(self, anchor: str) -> tuple[npt.NDArray[np.int64], int]:
        """Visits of each member that the anchor leads to, and how many it leads to at all."""
        if anchor not in self._counts:
            visits: set[int] | frozenset[int] = self._cohort.visits_with_code.get(
                anchor, frozenset()
            )
            if self._task.span == ACROSS:
                after = self._cohort.next_visit
                visits = {after[at] for at in visits if at in after}
            at = np.array(sorted(visits & self._looked_in), dtype=np.int64)
            self._counts[anchor] = (self._held_at(at), len(at))
        return self._counts[anchor]

    def _held_at(self, visits: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """In how many of some visits each member stands."""
        starts, ends = self._holding.indptr[visits], self._holding.indptr[visits + 1]
        lengths = (ends - starts).astype(np.int64)
        # Of each visit the places of its members, one visit's after another's.
        places = np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
        members = self._holding.indices[places + np.arange(lengths.sum())]
        return np.bincount(members, minlength=len(self._codes)).astype(np.int64)


def _anchor(row: Mapping[str, Any]) -> str:
    return str(row["context"][row["anchor_position"]])


def _denied(verified: Verified) -> frozenset[tuple[str, str]]:
    """Pairs of codes that a contradicted relation joins, both ways round."""
    relations = verified.relations.filter(pc.equal(verified.relations["verdict"], CONTRADICTED))
    pairs = list(zip(relations["head"].to_pylist(), relations["tail"].to_pylist(), strict=True))
    return frozenset(pairs) | frozenset((tail, head) for head, tail in pairs)
