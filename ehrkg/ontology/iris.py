"""From IRIs to the CURIEs used here, and back without loss."""

from __future__ import annotations

import re
from functools import cache
from urllib.parse import quote, unquote

from ehrkg.ontology.categories import read_yaml
from ehrkg.ontology.curies import normalise

OBO = "http://purl.obolibrary.org/obo/"
ANY_ID = "urn:ehrkg:id:"
"""Begins the IRI of an identifier that no known prefix carries: the rest is percent-encoded."""
_OBO_TERM = re.compile(r"^([A-Za-z][A-Za-z0-9]*)_([A-Za-z0-9._-]+)$")
_PLAIN = re.compile(r"^[A-Za-z0-9._~:@!$&'()*+,;=/?#-]+$")
"""What may stand in an IRI as it is."""


@cache
def _beginnings() -> tuple[tuple[str, str], ...]:
    """Beginnings of IRIs with the prefix each means, longest first."""
    rows = [
        (beginning, prefix)
        for prefix, beginnings in read_yaml("iri_prefixes.yaml").items()
        for beginning in beginnings
    ]
    return tuple(sorted(rows, key=lambda row: (-len(row[0]), row)))


@cache
def written() -> dict[str, str]:
    """The beginning that each prefix is written with."""
    return {str(prefix): rows[0] for prefix, rows in read_yaml("iri_prefixes.yaml").items()}


def contract(iri: str) -> str:
    """The CURIE of an IRI; an IRI that no prefix fits stays as it is.

    >>> contract("http://purl.obolibrary.org/obo/DOID_4"), contract("http://snomed.info/id/73211009")
    ('DOID:4', 'SNOMEDCT:73211009')
    >>> contract("http://purl.obolibrary.org/obo/doid#has_symptom"), contract("https://x.org/1")
    ('obo:doid#has_symptom', 'https://x.org/1')
    """
    if iri.startswith(ANY_ID):
        return unquote(iri[len(ANY_ID) :])
    for beginning, prefix in _beginnings():
        if iri.startswith(beginning) and len(iri) > len(beginning):
            local = iri[len(beginning) :]
            term = _OBO_TERM.match(local) if beginning == OBO else None
            if term:
                return normalise(f"{term[1]}:{term[2]}")
            curie = f"{prefix}:{local}"
            return curie if prefix[0].islower() else normalise(curie)  # words are no identifiers
    return iri


def expand(identifier: str) -> str:
    """An IRI that ``contract`` turns back into this identifier, whatever it is.

    >>> expand("DOID:4"), expand("infores:mondo")
    ('http://purl.obolibrary.org/obo/DOID_4', 'https://w3id.org/biolink/infores/mondo')
    >>> expand("DRUGNAME:heparin (flush)")
    'urn:ehrkg:id:DRUGNAME%3Aheparin%20%28flush%29'
    """
    prefix, colon, local = identifier.partition(":")
    if local.startswith("//") and _PLAIN.match(local) and contract(identifier) == identifier:
        return identifier
    if colon and _PLAIN.match(local) and prefix in written():
        guess = f"{written()[prefix]}{local}"
        if contract(guess) == identifier:
            return guess
    return ANY_ID + quote(identifier, safe="")
