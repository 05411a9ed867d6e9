"""Code systems and the canonical form of a code.

A code's identity is (system, code), written ``"<system>:<code>"``: the same string is another code
in another version. The systems and the layout of their codes are rows of ``code_systems.yaml``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import yaml

from ehrkg.foundation.errors import UsageError

if TYPE_CHECKING:
    from ibis.expr.types import StringValue

WHITE_SPACE = "\t\n\v\f\r \u00a0"
"""What counts as white space in a code, the same in Python and in SQL engines."""

_LAYOUTS = {
    # layout: where the dot stands (the second number: for codes that begin with E)
    "icd10cm": (3, 3),
    "icd9cm": (3, 4),
    "icd9proc": (2, 2),
    "plain": (0, 0),
}
_NOISE = re.compile(f"[{WHITE_SPACE}.]+")
_SPACES = re.compile(f"[{WHITE_SPACE}]+")


@dataclass(frozen=True)
class CodeSystem:
    """A vocabulary that hospital tables write in.

    Attributes:
        system: its key, as it stands before the colon of a Code id.
        kind: what its codes say: "diagnosis", "drug" or "procedure".
        layout: the rule of the canonical form (see code_systems.yaml).
        name: its name for people.
        era: "9" or "10" for the ICD versions, "" where there are none.
    """

    system: str
    kind: str
    layout: str
    name: str
    era: str


@cache
def _code_systems() -> Mapping[str, CodeSystem]:
    text = Path(__file__).with_name("code_systems.yaml").read_text(encoding="utf-8")
    return MappingProxyType({row["system"]: CodeSystem(**row) for row in yaml.safe_load(text)})


CODE_SYSTEMS: Mapping[str, CodeSystem] = _code_systems()
"""Every code system by its key, in the order of code_systems.yaml."""


def code_system(system: str) -> CodeSystem:
    """The code system of that key.

    Raises:
        UsageError: there is none; the message lists those there are.
    """
    if system not in CODE_SYSTEMS:
        raise UsageError(
            f"unknown code system: {system!r}", todo="use one of " + ", ".join(CODE_SYSTEMS)
        )
    return CODE_SYSTEMS[system]


def normalise(system: str, raw: str) -> str:
    """A code as the tables write it, in its system's canonical form.

    Case, dots and white space are settled; leading zeros are data and stay.

    Raises:
        UsageError: the system is unknown.

    >>> normalise("ICD10CM", "i5023"), normalise("ICD9CM", "E8497"), normalise("ICD9CM", "v58.61")
    ('I50.23', 'E849.7', 'V58.61')
    >>> normalise("ICD9CM", "0088 "), normalise("ICD9PROC", "3961"), normalise("ICD10PCS", "0dt")
    ('008.8', '39.61', '0DT')
    >>> normalise("DRUGNAME", " Sodium Chloride 0.9%  Flush")
    'sodium chloride 0.9% flush'
    """
    layout = code_system(system).layout
    if layout == "text":
        return _SPACES.sub(" ", raw.strip(WHITE_SPACE)).lower()
    code = _NOISE.sub("", raw).upper()
    plain, external = _LAYOUTS[layout]
    at = external if code.startswith("E") else plain
    return f"{code[:at]}.{code[at:]}" if at and len(code) > at else code


def normalise_column(system: str, raw: StringValue) -> StringValue:
    """``normalise`` for a whole column, as an Ibis expression that any engine runs.

    Args:
        system: a key of CODE_SYSTEMS.
        raw: the column of codes as written.

    Raises:
        UsageError: the system is unknown.
    """
    import ibis

    layout = code_system(system).layout
    if layout == "text":
        return raw.re_replace(f"[{WHITE_SPACE}]+", " ").strip().lower()
    code = raw.re_replace(f"[{WHITE_SPACE}.]+", "").upper()
    plain, external = _LAYOUTS[layout]
    if not plain:
        return code
    at = ibis.ifelse(code.startswith("E"), external, plain)
    dotted = code.left(at) + "." + code.substr(at)
    return ibis.ifelse(code.length() > at, dotted, code)


def code_id(system: str, code: str) -> str:
    """The identity of a code that is already in canonical form.

    >>> code_id("ICD9CM", normalise("ICD9CM", "4280"))
    'ICD9CM:428.0'
    """
    return f"{system}:{code}"


def system_of(code_id: str) -> str:
    """The system of a Code id.

    Raises:
        UsageError: what stands before the colon is no code system.

    >>> system_of("DRUGNAME:oxycodone (immediate release)")
    'DRUGNAME'
    """
    system, colon, _ = code_id.partition(":")
    if not colon:
        raise UsageError(f"not a Code id: {code_id!r}", todo="write '<system>:<code>'")
    return code_system(system).system
