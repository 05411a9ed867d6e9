"""One spelling for the identifiers that files write in many."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import yaml

from ehrkg.ehr import codes


@cache
def prefixes() -> dict[str, str]:
    """Prefix as written (upper case) -> prefix as used here (prefixes.yaml)."""
    text = files("ehrkg.ontology").joinpath("prefixes.yaml").read_text(encoding="utf-8")
    return {str(key).upper(): str(value) for key, value in yaml.safe_load(text).items()}


def dotted(system: str, code: str) -> str:
    """A code of a code system in its canonical form (``ehrkg.ehr.codes.normalise``).

    >>> dotted("ICD10CM", "i5023"), dotted("ICD9CM", "E8497"), dotted("ICD9PROC", "3961")
    ('I50.23', 'E849.7', '39.61')
    """
    return codes.normalise(system, code)


def normalise(curie: str) -> str:
    """A CURIE with the prefix used here; ICD codes with their dot.

    >>> normalise("ICD9:4280"), normalise("icd10cm:I50.9"), normalise("MONDO:0005252")
    ('ICD9CM:428.0', 'ICD10CM:I50.9', 'MONDO:0005252')
    >>> normalise("MSH:D006333")
    'MESH:D006333'
    """
    prefix, colon, local = curie.strip().partition(":")
    if not colon:
        return curie.strip()
    known = prefixes().get(prefix.upper(), prefix)
    if known in codes.CODE_SYSTEMS:
        return f"{known}:{dotted(known, local)}"
    return f"{known}:{local.strip()}"
