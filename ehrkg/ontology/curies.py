"""One spelling for the identifiers that files write in many."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import yaml

from ehrkg.ehr import codes

if TYPE_CHECKING:
    from curies import Converter

_BY_RULE = re.compile(
    r"//(?:www\.)?(?:identifiers\.org|bioregistry\.io)/([A-Za-z][\w.]*)[/:](.+)"
    r"|//purl\.obolibrary\.org/obo/([A-Za-z]+)_(\w+)"
)
"""Addresses that are made of a prefix and an identifier, whatever the prefix."""


@dataclass(frozen=True)
class _Row:
    """A row of prefixes_bioregistry.tsv."""

    prefix: str
    spellings: tuple[str, ...]
    uris: tuple[str, ...]
    digits: int


@cache
def _bioregistry() -> tuple[_Row, ...]:
    """The table that ``derive_prefixes`` made of the Bioregistry (CC0)."""
    path = files("ehrkg.ontology").joinpath("prefixes_bioregistry.tsv")
    lines = path.read_text(encoding="utf-8").splitlines()
    cells = [line.split("\t") for line in lines if not line.startswith("#")][1:]
    return tuple(
        _Row(prefix, _several(spellings), _several(uris), int(digits or 0))
        for prefix, spellings, uris, digits in cells
    )


def _several(cell: str) -> tuple[str, ...]:
    return tuple(cell.split("|")) if cell else ()


@cache
def prefixes() -> Mapping[str, str]:
    """Prefix as written (upper case) -> prefix as used here.

    prefixes.yaml decides; what it does not list is written as the Bioregistry has it.
    """
    text = files("ehrkg.ontology").joinpath("prefixes.yaml").read_text(encoding="utf-8")
    own = {str(key).upper(): str(value) for key, value in yaml.safe_load(text).items()}
    known = {
        name.upper(): own.get(row.prefix.upper(), row.prefix)
        for row in _bioregistry()
        for name in (row.prefix, *row.spellings)
    }
    return {**known, **own}


@cache
def _digits() -> Mapping[str, int]:
    """How many digits each identifier of a prefix has, where all have the same number."""
    known = prefixes()
    return {known[row.prefix.upper()]: row.digits for row in _bioregistry() if row.digits}


@cache
def _converter() -> Converter:
    """The addresses of the Bioregistry's prefixes, without their scheme."""
    from curies import Converter, Record

    return Converter(
        [
            Record(
                prefix=row.prefix, uri_prefix=row.uris[0], uri_prefix_synonyms=list(row.uris[1:])
            )
            for row in _bioregistry()
            if row.uris
        ],
        strict=False,  # no two rows claim the same, which a test holds; proving it takes seconds
    )


def dotted(system: str, code: str) -> str:
    """A code of a code system in its canonical form (``ehrkg.ehr.codes.normalise``).

    >>> dotted("ICD10CM", "i5023"), dotted("ICD9CM", "E8497"), dotted("ICD9PROC", "3961")
    ('I50.23', 'E849.7', '39.61')
    """
    return codes.normalise(system, code)


def contract(uri: str) -> str:
    """The CURIE of an address; the address itself where no prefix is known to begin so.

    >>> contract("http://purl.obolibrary.org/obo/MONDO_0005252")
    'MONDO:0005252'
    >>> contract("https://identifiers.org/hgnc/5724"), contract("https://example.org/1")
    ('HGNC:5724', 'https://example.org/1')
    """
    bare = uri.partition(":")[2]
    made = _BY_RULE.fullmatch(bare)
    if made is not None:
        found = [part for part in made.groups() if part]
        return _spelt(found[0], found[1])
    reference = _converter().parse_uri(bare)
    return uri if reference is None else _spelt(reference.prefix, reference.identifier)


def normalise(curie: str) -> str:
    """An identifier as it is written here: known prefixes in one spelling, addresses contracted.

    ICD codes get their dot, and OBO numbers their leading zeros.

    >>> normalise("ICD9:4280"), normalise("icd10cm:I50.9"), normalise("MONDO:0005252")
    ('ICD9CM:428.0', 'ICD10CM:I50.9', 'MONDO:0005252')
    >>> [normalise(text) for text in ("MSH:D006333", "mesh:D006333", "UMLS_CUI:C0018801")]
    ['MESH:D006333', 'MESH:D006333', 'UMLS:C0018801']
    >>> normalise("http://purl.obolibrary.org/obo/HP_0001635"), normalise("mondo:5252")
    ('HP:0001635', 'MONDO:0005252')
    """
    text = curie.strip()
    prefix, colon, local = text.partition(":")
    if not colon:
        return text
    if local.startswith("//"):
        return contract(text) if prefix.lower() in ("http", "https") else text
    return _spelt(prefix, local)


def _spelt(prefix: str, local: str) -> str:
    known = prefixes().get(prefix.upper(), prefix)
    local = local.strip()
    if known in codes.CODE_SYSTEMS:
        return f"{known}:{dotted(known, local)}"
    inner, colon, rest = local.partition(":")  # "CHEBI:CHEBI:15365"
    if colon and prefixes().get(inner.upper()) == known:
        local = rest
    length = _digits().get(known, 0)
    if len(local) < length and local.isascii() and local.isdigit():
        local = local.zfill(length)
    return f"{known}:{local}"
