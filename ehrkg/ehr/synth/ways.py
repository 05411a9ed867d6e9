"""How each thing is written: the codes of a condition or procedure, the orders of a drug."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ehrkg.ehr.synth import cells
from ehrkg.ehr.synth.draws import Floats, Ints
from ehrkg.ehr.synth.process import Order
from ehrkg.foundation.hashing import hash64

USUAL = 0.75
"""The share of the usual code among a condition's codes."""


class Variants:
    """Codes of each era and thing; the first variant of several is the usual one."""

    def __init__(self, eras: list[list[list[str]]]) -> None:
        self.codes: list[str] = []
        starts: list[list[int]] = []
        counts: list[list[int]] = []
        for things in eras:
            starts.append([])
            counts.append([])
            for variants in things:
                starts[-1].append(len(self.codes))
                counts[-1].append(len(variants))
                self.codes += variants
        self.starts, self.counts = np.array(starts), np.array(counts)

    def pick(self, era: Ints, thing: Ints, luck: Floats) -> pa.Array:
        """One code a row: mostly the usual one, else one of the others."""
        others = np.maximum(self.counts[era, thing] - 1, 0)
        other = 1 + ((luck - USUAL) / (1 - USUAL) * others).astype(int)
        offset = np.where((luck < USUAL) | (others == 0), 0, np.minimum(other, others))
        return cells.pick(self.codes, self.starts[era, thing] + offset)


@dataclass(frozen=True)
class OrderLines:
    """All ways to order anything, as columns."""

    text: list[str]
    route: list[str]
    strength: list[str]
    formulary: list[str]
    gsn: list[str]
    ndc: list[str]
    type: Ints
    base: Ints
    additive: int
    starts: Ints
    bounds: Floats

    def pick(self, drug: Ints, luck: Floats) -> Ints:
        """A line for each drug, by the lines' weights."""
        offset = (luck[:, None] >= self.bounds[drug]).sum(axis=1)
        lines: Ints = self.starts[drug] + offset
        return lines

    @classmethod
    def of(cls, drugs: Sequence[tuple[Order, ...]]) -> OrderLines:
        """The lines of these drugs, and the fluids that go with them."""
        lines: list[Order] = []
        starts, bounds = [], []
        width = max(len(orders) for orders in drugs)
        for orders in drugs:
            starts.append(len(lines))
            lines += orders
            shares = np.cumsum([order.weight for order in orders])
            bounds.append([*(shares[:-1] / shares[-1]), *[1.0] * (width - len(orders) + 1)])
        bases = sorted({order.base for order in lines if order.base})
        lines += [Order(base, "IV", 1, "50mL Bag", "BASE") for base in bases]
        lines.append(Order("Potassium Chloride", "IV", 1, "40mEq", "ADDITIVE"))
        at = {base: len(lines) - 1 - len(bases) + place for place, base in enumerate(bases)}
        ids = [f"{hash64('ndc', order.text, order.strength) % 10**11:011d}" for order in lines]
        return cls(
            text=[cells.quoted(order.text) for order in lines],
            route=[order.route for order in lines],
            strength=[cells.quoted(order.strength) for order in lines],
            formulary=[order.text[:4].strip().upper().replace(",", "") + "1" for order in lines],
            gsn=[each[:6] for each in ids],
            ndc=ids,
            type=np.array([["MAIN", "BASE", "ADDITIVE"].index(order.type) for order in lines]),
            base=np.array(
                [at[o.base] if o.base and o.route.startswith("IV") else -1 for o in lines]
            ),
            additive=len(lines) - 1,
            starts=np.array(starts),
            bounds=np.array(bounds),
        )
