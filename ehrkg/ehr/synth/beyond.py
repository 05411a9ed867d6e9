"""What is coded and ordered in visits beyond the causal process: much, and most of it rare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ehrkg.ehr.synth.draws import Draws, Floats, Ints, ranks
from ehrkg.ehr.synth.shapes import Beyond
from ehrkg.foundation.hashing import hash64, mix


@dataclass(frozen=True)
class Extra:
    """Things of one kind beyond the process, a row each, in the order of visits.

    Attributes:
        visit: the visit, as a row of ``Chunk.visits``.
        thing: which of the kind's codes, from 0, the commonest first.
        key: by which its further draws are keyed.
    """

    visit: Ints
    thing: Ints
    key: Ints


def draw_beyond(beyond: Mapping[str, Beyond], draw: Draws, visit: Ints) -> dict[str, Extra]:
    """Things of each kind for visits of these numbers; no visit has the same one twice."""
    return {kind: _draw(kind, how, draw, visit) for kind, how in beyond.items()}


def _draw(kind: str, how: Beyond, draw: Draws, number: Ints) -> Extra:
    many = -np.log1p(-draw(f"beyond {kind}", number)) * how.mean
    count = np.minimum(many.astype(np.int64), how.most)
    row = np.repeat(np.arange(len(number)), count)
    slot = ranks(row) if len(row) else row
    # what stands is drawn for the patient, under a number that no visit has
    patient = number[row] // 16 * 16 + 15
    stands = draw(f"standing {kind}", patient, slot) < how.standing
    luck = draw(f"thing {kind}", np.where(stands, patient, number[row]), slot)
    once = np.unique(row * how.codes + _places(how, luck))
    row, thing = np.divmod(once, how.codes)
    return Extra(row, thing, (mix(hash64(kind), thing) >> np.uint64(1)).astype(np.int64))


def _places(how: Beyond, luck: Floats) -> Ints:
    """The place of each draw in the row of codes: the inverse of the law's distribution."""
    power = 1 - how.exponent
    whole = 1 - ((how.codes + how.shift) / how.shift) ** power
    places = how.shift * (1 - luck * whole) ** (1 / power) - how.shift
    capped: Ints = np.minimum(places.astype(np.int64), how.codes - 1)
    return capped
