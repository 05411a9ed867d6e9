"""Randomness that depends on nothing but a seed and an identity.

No generator is shared between rows: each draw is a keyed hash of (seed, id, ...), so rows can come
in any order and number and each still gets its own draw.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyarrow as pa

U64 = npt.NDArray[np.uint64]


def hash64(*parts: object) -> int:
    """A 64-bit hash of the parts' text, the same on every machine.

    >>> hash64(7, "patient-1") == hash64(7, "patient-1") != hash64(8, "patient-1")
    True
    >>> hash64("ab", "c") == hash64("a", "bc")
    False
    """
    text = "\x1f".join(str(part) for part in parts)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def short_id(prefix: str, *parts: object) -> str:
    """An identifier out of content: ``prefix`` and 16 hexadecimal digits.

    >>> short_id("r", "ICD10CM:I10", "TREATS")
    'rdc70bdb2a96e648c'
    """
    text = "\x1f".join(str(part) for part in parts)
    return prefix + hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def short_ids(prefix: str, *columns: pa.Array | pa.ChunkedArray) -> list[str]:
    """``short_id`` of each row of some columns of text.

    >>> import pyarrow as pa
    >>> short_ids("r", pa.array(["ICD10CM:I10"]), pa.array(["TREATS"]))
    ['rdc70bdb2a96e648c']
    """
    import pyarrow.compute as pc

    texts = pc.binary_join_element_wise(*columns, "\x1f").cast("binary").to_pylist()
    blake2b = hashlib.blake2b
    return [prefix + blake2b(text, digest_size=8).hexdigest() for text in texts]


def unit(*parts: object) -> float:
    """A number in [0, 1) out of the parts' hash."""
    return (hash64(*parts) >> 11) / float(1 << 53)


def order_by_hash(values: Iterable[str], *key: object) -> list[str]:
    """The values in an order that only the key decides.

    >>> order_by_hash(["a", "b", "c"], 1) == order_by_hash(["c", "a", "b"], 1)
    True
    """
    return sorted(values, key=lambda value: (hash64(*key, value), value))


def mix(seed: int, *columns: npt.NDArray[np.integer] | int) -> U64:
    """Vectorised 64-bit hashes of integer columns (splitmix64; Steele, Lea, Flood 2014).

    Args:
        seed: names the draw.
        columns: integers or integer arrays that broadcast together.

    Returns:
        One ``uint64`` a row.
    """
    state = np.uint64(hash64("mix", seed))
    result: U64 = np.asarray(state, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for column in columns:
            word = np.asarray(column).astype(np.uint64)
            result = _splitmix(result ^ (word * np.uint64(0x9E3779B97F4A7C15)))
    return result


def uniform(seed: int, *columns: npt.NDArray[np.integer] | int) -> npt.NDArray[np.float64]:
    """Vectorised numbers in [0, 1), one a row of ``mix``."""
    scaled: npt.NDArray[np.float64] = (mix(seed, *columns) >> np.uint64(11)) / float(1 << 53)
    return scaled


def hash_strings(seed: int, values: Sequence[str]) -> U64:
    """One 64-bit hash a string."""
    return np.fromiter((hash64(seed, value) for value in values), np.uint64, count=len(values))


def _splitmix(value: U64) -> U64:
    with np.errstate(over="ignore"):
        value = value + np.uint64(0x9E3779B97F4A7C15)
        value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return value ^ (value >> np.uint64(31))
