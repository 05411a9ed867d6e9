"""Random numbers that depend on nothing but the seed, what they are for, and who they befall."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ehrkg.foundation.hashing import hash64, uniform

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


class Draws:
    """Uniform numbers in [0, 1) by (seed, what for) and the identities given."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def __call__(self, what: str, *who: Ints | int) -> Floats:
        """One number for each combination of identities that broadcast together."""
        return uniform(hash64("synth", self.seed, what), *who)


def keys(names: list[str]) -> Ints:
    """An integer a name, by which its draws are keyed."""
    return np.array([hash64(name) >> 1 for name in names], np.int64)


def ranks(*groups: Ints) -> Ints:
    """The place, from 1, of each row within its run of equal groups."""
    at = np.arange(len(groups[0]))
    begins = np.ones(len(at), bool)
    begins[1:] = np.any([group[1:] != group[:-1] for group in groups], axis=0)
    return at - np.maximum.accumulate(np.where(begins, at, 0)) + 1
