"""The trees of procedure codes: ICD-9-CM by digits, ICD-10-PCS by its axes."""

from __future__ import annotations

from bisect import bisect_left
from functools import cache

from ehrkg.ontology.code_tables import titles
from ehrkg.ontology.curies import dotted
from ehrkg.ontology.trees import Node

ICD9_CATEGORY = 2
PCS_CATEGORY = 3
"""Section, body system and operation: what is above them is no procedure."""
_DANGLING = frozenset(
    ["of", "with", "from", "to", "using", "by", "for", "in", "and", "the", "into", "on", "via"]
)


@cache
def icd9_node(code: str) -> Node:
    """The node of an ICD-9-CM procedure; each digit is a level.

    >>> icd9_node("39.61").parent, icd9_node("39").parent, icd9_node("39.95").name
    ('ICD9PROC:39.6', '', 'Hemodialysis')
    """
    return _node("ICD9PROC", code.replace(".", ""), ICD9_CATEGORY)


@cache
def pcs_node(code: str) -> Node:
    """The node of an ICD-10-PCS code or of a shorter one that stands for all that begin so.

    >>> pcs_node("5A1D70Z").parent, pcs_node("5A1D").name
    ('ICD10PCS:5A1D70', 'Performance of Urinary Filtration')
    """
    return _node("ICD10PCS", code, PCS_CATEGORY)


def _node(system: str, plain: str, width: int) -> Node:
    name = titles(system).get(plain, "")
    if not name and system == "ICD10PCS" and len(plain) < 7:
        name = _common(plain)
    return Node(
        id=f"{system}:{dotted(system, plain)}",
        name=name,
        parent=f"{system}:{dotted(system, plain[:-1])}" if len(plain) > width else "",
        category=f"{system}:{plain[:width]}",
        chapter=f"{system}:{plain[0]}" if system == "ICD10PCS" else f"{system}:{plain[:2]}",
        chapter_name="",
    )


@cache
def _sorted_pcs() -> tuple[str, ...]:
    return tuple(sorted(titles("ICD10PCS")))


@cache
def _common(prefix: str) -> str:
    """The words with which all titles under a prefix begin, without a dangling preposition."""
    codes = _sorted_pcs()
    start, stop = bisect_left(codes, prefix), bisect_left(codes, prefix + "\uffff")
    if start == stop:
        return ""
    under = [titles("ICD10PCS")[code] for code in codes[start:stop]]
    first, last = min(under).split(), max(under).split()
    words = []
    for one, other in zip(first, last, strict=False):
        if one.rstrip(",") != other.rstrip(","):
            break
        words.append(one)
    while words and words[-1].lower() in _DANGLING:
        words.pop()
    return " ".join(words).rstrip(",")
