"""Codes as they are mistyped: leading zeros lost, placeholders too many or too few.

Only a code that its tree does not know is read another way, and only if the other spelling is a
code of the tree: "845" is a sprain in ICD-9-CM, whatever "008.45" is.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from ehrkg.ehr.codes import normalise
from ehrkg.ontology.code_tables import icd9_tree, titles
from ehrkg.ontology.icd10cm import has_code

_SHORTEST_PROCEDURE = 2


@cache
def respelt(code_id: str) -> str:
    """The Code id that a mistyped one stands for; "" where it is right as it is, or hopeless.

    >>> respelt("ICD9CM:845"), respelt("ICD9CM:84.5"), respelt("ICD9CM:41.9")
    ('', '', 'ICD9CM:041.9')
    >>> respelt("ICD10CM:I10.XXX"), respelt("ICD10CM:S06.5"), respelt("ICD10CM:T81.4XX")
    ('ICD10CM:I10', '', 'ICD10CM:T81.4')
    >>> respelt("ICD10CM:W19.A"), respelt("ICD10CM:I1O")
    ('ICD10CM:W19.XXXA', 'ICD10CM:I10')
    """
    system, _, code = code_id.partition(":")
    plain = code.replace(".", "")
    ways = _WAYS.get(system)
    if ways is None or not plain:
        return ""
    known, other = ways
    if known(plain):
        return ""
    for spelling in other(plain):
        if known(spelling):
            return f"{system}:{normalise(system, spelling)}"
    return ""


def _icd10_known(plain: str) -> bool:
    return has_code(normalise("ICD10CM", plain)) or plain in titles("ICD10CM")


def _icd10_ways(plain: str) -> Iterator[str]:
    """Placeholders taken off, put in before the seventh character, O and I read as 0 and 1."""
    yield plain.rstrip("X")
    if plain[-1:] in "ADS" and 3 < len(plain) < 7:
        yield plain[:-1].rstrip("X").ljust(6, "X") + plain[-1]
    digits = plain[0] + plain[1:].translate(str.maketrans("OIL", "011"))
    if digits != plain:
        yield digits


def _icd9_known(plain: str) -> bool:
    return plain in icd9_tree()


def _icd9_ways(plain: str) -> Iterator[str]:
    """Zeros lost at the front (of V and E codes: after the letter) or, from ".0", at the end."""
    yield plain.rstrip("X")
    letter = plain[0] if plain[0] in "EV" else ""
    for zeros in ("0", "00"):
        yield letter + zeros + plain[len(letter) :]
    if plain.endswith("0"):
        yield plain[:-1]
    yield f"{plain}0"


def _procedure_known(plain: str) -> bool:
    return plain in _procedures()


@cache
def _procedures() -> frozenset[str]:
    full = titles("ICD9PROC")
    return frozenset(code[:n] for code in full for n in range(_SHORTEST_PROCEDURE, len(code) + 1))


def _procedure_ways(plain: str) -> Iterator[str]:
    yield f"0{plain}"
    yield f"{plain}0"


_WAYS = {
    "ICD10CM": (_icd10_known, _icd10_ways),
    "ICD9CM": (_icd9_known, _icd9_ways),
    "ICD9PROC": (_procedure_known, _procedure_ways),
}
