"""What groups say of a diagnosis code: CCSR, chronic or not, the other version's codes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from ehrkg.ontology.code_tables import GemRow, ccsr, chronic, gem
from ehrkg.ontology.curies import dotted

DIRECTIONS = {"ICD9CM": ("9to10", "ICD10CM"), "ICD10CM": ("10to9", "ICD9CM")}
"""System -> the GEM that starts from it, and where that leads."""


def targets(system: str, code: str) -> tuple[GemRow, ...]:
    """The GEM rows of a code (with or without dot); none for other systems.

    >>> [row.target for row in targets("ICD9CM", "428.0")]
    ['I509']
    """
    if system not in DIRECTIONS:
        return ()
    return gem(DIRECTIONS[system][0]).get(code.replace(".", ""), ())


@cache
def _backward(system: str) -> Mapping[str, tuple[str, ...]]:
    """Code of ``system`` -> the other version's codes whose GEM leads to it."""
    other = DIRECTIONS[system][1]
    found: dict[str, list[str]] = {}
    for code, rows in gem(DIRECTIONS[other][0]).items():
        for row in rows:
            found.setdefault(row.target, []).append(code)
    return {code: tuple(sorted(sources)) for code, sources in found.items()}


def equivalents(system: str, code: str) -> list[str]:
    """Code ids of the other version joined by a GEM in either direction, sorted.

    >>> "ICD10CM:I50.9" in equivalents("ICD9CM", "428.0")
    True
    """
    if system not in DIRECTIONS:
        return []
    plain = code.replace(".", "")
    other = DIRECTIONS[system][1]
    found = {row.target for row in targets(system, plain)} | set(_backward(system).get(plain, ()))
    return sorted(f"{other}:{dotted(other, each)}" for each in found)


@cache
def _below(system: str) -> Mapping[str, tuple[str, ...]]:
    """Shorter code -> the full codes that begin so (for nodes that carry no group themselves)."""
    full: Iterable[str] = ccsr() if system == "ICD10CM" else gem("9to10")
    width = 3
    found: dict[str, list[str]] = {}
    for code in full:
        for length in range(width, len(code)):
            found.setdefault(code[:length], []).append(code)
    return {prefix: tuple(codes) for prefix, codes in found.items()}


def ccsr_groups(system: str, code: str) -> list[str]:
    """The CCSR groups of a code, for ICD-9 through the GEM; of all codes below it for a genus.

    >>> ccsr_groups("ICD10CM", "I50.9"), ccsr_groups("ICD9CM", "428.0")
    (['CIR019'], ['CIR019'])
    """
    if system not in DIRECTIONS:
        return []
    plain = code.replace(".", "")
    own = _own_groups(system, plain)
    if not own:
        own = {
            group for each in _below(system).get(plain, ()) for group in _own_groups(system, each)
        }
    return sorted(own)


def _own_groups(system: str, plain: str) -> set[str]:
    if system == "ICD10CM":
        return {ccsr()[plain]} if plain in ccsr() else set()
    return {ccsr()[row.target] for row in targets(system, plain) if row.target in ccsr()}


def is_chronic(system: str, code: str) -> bool | None:
    """Whether a code is chronic; for a genus, what all codes below it agree on; else None.

    >>> is_chronic("ICD10CM", "I50.9"), is_chronic("ICD10CM", "J18.9"), is_chronic("ICD9CM", "428")
    (True, False, True)
    """
    if system not in DIRECTIONS:
        return None
    flags, plain = chronic(system), code.replace(".", "")
    if plain in flags:
        return flags[plain]
    found = {flags.get(each) for each in _below(system).get(plain, ())}
    return found.pop() if len(found) == 1 else None
