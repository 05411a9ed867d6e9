"""What happens to patients: vectorised, every draw a hash of (seed, what it is for, who, when).

A draw depends on the patient's number and the visit's, never on how many patients there are, so
patient k is the same in any run with the same seed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ehrkg.ehr.synth.beyond import Extra, draw_beyond
from ehrkg.ehr.synth.draws import Draws, Flags, Floats, Ints, keys
from ehrkg.ehr.synth.process import BACKGROUND, Process, Rule
from ehrkg.ehr.synth.shapes import Shape

DAY, HOUR = 86_400, 3_600

NEW_CHRONIC = 0.04
"""What part of a chronic condition's prevalence sets in between two visits."""

CODED_CHRONIC, CODED_ACUTE, COPIED = 0.86, 0.97, 0.03
"""The chances that a standing condition is coded again, that an acute one is coded, and that an
acute one of the visit before is copied forward."""

CUT_OVER = int(np.datetime64("2015-10-01", "s").astype(np.int64))
"""The second from which hospitals coded in ICD-10."""

AGES = np.array([18, 45, 65, 80])
_GROUP_YEARS = np.array([2008, 2011, 2014, 2017, 2020])
_GROUP_SHARE = np.array([0.22, 0.46, 0.68, 0.86, 1.0])


@dataclass(frozen=True)
class Chunk:
    """Some patients and all that happened to them; times in seconds since 1970.

    Attributes:
        patients: number, sex (1 = M), anchor_age, anchor_year, group, dod (0 = none), a row each.
        visits: patient (row of ``patients``), number, ordinal, admitted, discharged, died, ten
            (coded in ICD-10), a row each, in the order of patients and time.
        coded: visits by conditions: what the coder wrote.
        given: visits by drugs and standing orders.
        done: visits by procedures.
        beyond: what there is beyond the process, by kind of code.
    """

    patients: Mapping[str, Ints]
    visits: Mapping[str, Ints]
    coded: Flags
    given: Flags
    done: Flags
    beyond: Mapping[str, Extra]


def simulate(process: Process, shape: Shape, numbers: Ints, seed: int) -> Chunk:
    """The patients of these numbers.

    Args:
        process: what leads to what.
        shape: how many visits there are, and how crowded.
        numbers: the patients' numbers, from 0; any subset in any order.
        seed: names the run.
    """
    draw = Draws(seed)
    patients = _patients(draw, numbers)
    history = _History(process, shape, draw, patients)
    parts = [history.visit(ordinal) for ordinal in range(shape.most_visits)]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    order = np.lexsort((columns["ordinal"], columns["patient"]))
    columns = {name: column[order] for name, column in columns.items()}
    active, coded = columns.pop("active"), columns.pop("coded")
    visit = columns["number"]
    patients["dod"] = history.dod
    return Chunk(
        patients=patients,
        visits=columns,
        coded=coded,
        given=_given(process, draw, visit, active),
        done=_done(process, draw, visit, active),
        beyond=draw_beyond(shape.beyond, draw, visit),
    )


def _patients(draw: Draws, number: Ints) -> dict[str, Ints]:
    group = np.searchsorted(_GROUP_SHARE, draw("group", number), side="right")
    spread = draw("age", number)
    age = np.where(spread < 0.3, 18 + spread / 0.3 * 27, 45 + (spread - 0.3) / 0.7 * 48).astype(int)
    return {
        "number": number,
        "sex": (draw("sex", number) < 0.48).astype(np.int64),
        "anchor_age": np.where(age > 89, 91, age),
        "anchor_year": 2110 + (draw("year", number) * 90).astype(np.int64),
        "group": group,
        "real_year": _GROUP_YEARS[group] + (draw("offset", number) * 3).astype(np.int64),
    }


def _seconds(year: Ints) -> Ints:
    return (year - 1970).astype("datetime64[Y]").astype("datetime64[s]").astype(np.int64)


class _History:
    """Patients' conditions over time."""

    def __init__(
        self, process: Process, shape: Shape, draw: Draws, patients: dict[str, Ints]
    ) -> None:
        self.process, self.draw, self.patients = process, draw, patients
        self.chances = (shape.admitted, *shape.readmitted)
        self.place = {name: place for place, name in enumerate(process.conditions)}
        self.keys = keys(list(process.conditions))
        self.prevalence, self.chronic = process.prevalence(), process.chronic()
        count = len(patients["number"])
        self.alive = np.ones(count, bool)
        self.dod = np.zeros(count, np.int64)
        self.carried = np.zeros((count, len(self.keys)), bool)
        self.before = np.zeros((count, len(self.keys)), bool)
        self.left = _seconds(patients["real_year"])
        self.shift = _seconds(patients["anchor_year"]) - self.left

    def visit(self, ordinal: int) -> dict[str, npt.NDArray[Any]]:
        """The visits that are their patients' ``ordinal``-th (from 0)."""
        again = self.draw("again", self.patients["number"], ordinal)
        self.alive &= again < self.chances[min(ordinal, 2)]
        who = np.flatnonzero(self.alive)
        number = self.patients["number"][who]
        visit = number * 16 + ordinal
        admitted = self._admitted(who, visit, ordinal)
        age = self.patients["anchor_age"][who] + (admitted - self.left_first(who)) // (365 * DAY)
        active = self._active(who, visit, age, ordinal)
        stay = 14 * HOUR - (np.log1p(-self.draw("stay", visit)) * 70 * HOUR).astype(np.int64)
        discharged = admitted + np.minimum(stay, 40 * DAY) // 60 * 60
        sepsis = active[:, self.place["sepsis"]]
        died = self.draw("death", visit) < 0.008 + 0.06 * sepsis + 0.02 * (age > 80)
        ten = admitted >= CUT_OVER
        coded = self._coded(who, visit, active, ten, ordinal)
        shift = self.shift[who]
        self.carried[who] |= active & self.chronic
        self.before[who] = active
        self.left[who] = discharged
        self.alive[who[died]] = False
        self.dod[who[died]] = (discharged + shift)[died]
        return {
            "patient": who,
            "number": visit,
            "ordinal": np.full(len(who), ordinal, np.int64),
            "admitted": admitted + shift,
            "discharged": discharged + shift,
            "died": died.astype(np.int64),
            "ten": ten.astype(np.int64),
            "active": active,
            "coded": coded,
        }

    def left_first(self, who: Ints) -> Ints:
        """The first day of the year that the patient's age is anchored in."""
        return _seconds(self.patients["real_year"][who])

    def _admitted(self, who: Ints, visit: Ints, ordinal: int) -> Ints:
        spread = self.draw("gap", visit)
        days = spread * 365 if ordinal == 0 else 2 * 300**spread
        return self.left[who] + (days * DAY).astype(np.int64) // 60 * 60

    def _active(self, who: Ints, visit: Ints, age: Ints, ordinal: int) -> Flags:
        band = np.searchsorted(AGES, age, side="right") - 1
        chance = self.prevalence[self.patients["sex"][who], np.clip(band, 0, 3)]
        if ordinal:
            chance = np.where(self.chronic, chance * NEW_CHRONIC, chance)
        spared = 1 - chance
        before = self.before[who]
        for rule in self.process.relations:
            if ordinal and rule.next:
                head, tail = self.place[rule.head], self.place[rule.tail]
                spared[:, tail] *= np.where(before[:, head], 1 - rule.next, 1.0)
        allowed: Flags = np.max(self.prevalence, axis=1)[self.patients["sex"][who]] > 0
        luck = self.draw("onset", visit[:, None], self.keys[None, :])
        active: Flags = np.logical_and(luck < 1 - spared, allowed)
        active |= self.carried[who]
        for rule in self.process.relations:
            head, tail = self.place[rule.head], self.place[rule.tail]
            brought = self.draw("same", visit, rule.key) < rule.same
            active[:, tail] |= active[:, head] & brought & allowed[:, tail]
        return active

    def _coded(self, who: Ints, visit: Ints, active: Flags, ten: Flags, ordinal: int) -> Flags:
        luck = self.draw("coded", visit[:, None], self.keys[None, :])
        known = self.carried[who] & self.chronic
        coded = active & (luck < np.where(known, CODED_CHRONIC, CODED_ACUTE))
        if ordinal:
            acute = self.before[who] & ~self.chronic & ~active
            coded |= acute & (luck < COPIED)
        coded[~coded.any(axis=1), self.place["chest pain"]] = True
        for era, rows in (("9", ~ten), ("10", ten)):
            for name, other in self.process.replaced(era):
                coded[:, self.place[other]] &= ~(rows & coded[:, self.place[name]])
        return coded


def _given(process: Process, draw: Draws, visit: Ints, active: Flags) -> Flags:
    base = {name: process.standing.get(name, BACKGROUND) for name in process.drugs}
    chance = _chances(process, base, process.treatments, active)
    return draw("drug", visit[:, None], keys(list(base))[None, :]) < chance


def _done(process: Process, draw: Draws, visit: Ints, active: Flags) -> Flags:
    base = {name: row["base"] for name, row in process.procedures.items()}
    chance = _chances(process, base, process.performed, active)
    return draw("procedure", visit[:, None], keys(list(base))[None, :]) < chance


def _chances(
    process: Process, base: Mapping[str, float], rules: tuple[Rule, ...], active: Flags
) -> Floats:
    """The chance of each thing in each visit, given the conditions active in it."""
    conditions = {name: place for place, name in enumerate(process.conditions)}
    things = {name: place for place, name in enumerate(base)}
    spared = np.repeat(1 - np.array(list(base.values()))[None, :], len(active), axis=0)
    for rule in rules:
        there = active[:, conditions[rule.tail]]
        spared[:, things[rule.head]] *= np.where(there, 1 - rule.same, 1.0)
    chances: Floats = 1 - spared
    return chances
