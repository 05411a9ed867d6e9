"""The ICD-10-CM tree and its instructions, from simple-icd-10-cm (imported when first used)."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cache
from types import ModuleType

from ehrkg.ontology.code_tables import titles
from ehrkg.ontology.trees import Node

SYSTEM = "ICD10CM"
_CODE = r"[A-Z]\d[0-9A-Z](?:\.[0-9A-Z]{1,4})?"
_PLACE = re.compile(rf"({_CODE})(?:\.?-(?={_CODE})({_CODE})|(\.?-))?(?![0-9A-Z])")
_BRACKETS = re.compile(r"\(([^()]*)\)")
_MOST_CATEGORIES = 10
"""A range over more categories than this is a block in all but name, and is passed over."""


@dataclass(frozen=True)
class Rule:
    """An instruction at a node.

    Attributes:
        predicate: EXCLUDES1, CODE_FIRST, USE_ADDITIONAL_CODE or CODE_ALSO.
        at: the code, block or chapter that bears it.
        targets: the codes it names, with dot, sorted.
        note: its words.
    """

    predicate: str
    at: str
    targets: tuple[str, ...]
    note: str


@cache
def _icd() -> ModuleType:
    import simple_icd_10_cm

    module: ModuleType = simple_icd_10_cm
    return module


@cache
def node(code: str) -> Node:
    """The node of a code with its dot; a code that the tables lack hangs under what they have.

    >>> node("I50.23").parent, node("I50").parent, node("I50.23").chapter
    ('ICD10CM:I50.2', '', 'ICD10CM:9')
    """
    icd = _icd()
    known = _in_tree(code)
    category = code[:3]
    chapter = _chapter(category)
    return Node(
        id=f"{SYSTEM}:{code}",
        name=icd.get_description(code) if known else titles(SYSTEM).get(code.replace(".", ""), ""),
        parent=_parent(code),
        category=f"{SYSTEM}:{category}",
        chapter=f"{SYSTEM}:{chapter}" if chapter else "",
        chapter_name=_clean(icd.get_description(chapter)) if chapter else "",
        terms=tuple(sorted(set(icd.get_inclusion_term(code)))) if known else (),
    )


def has_code(code: str) -> bool:
    """Whether the tree has a category or code, with its dot.

    >>> has_code("I50.9"), has_code("I50.99")
    (True, False)
    """
    return _in_tree(code)


def _in_tree(code: str) -> bool:
    icd = _icd()
    return bool(icd.is_valid_item(code) and icd.is_category_or_subcategory(code))


def _parent(code: str) -> str:
    if len(code) <= 3:
        return ""
    if _in_tree(code):
        return f"{SYSTEM}:{_icd().get_parent(code)}"
    for length in range(len(code) - 1, 3, -1):
        shorter = code[:length].rstrip(".")
        if _in_tree(shorter):
            return f"{SYSTEM}:{shorter}"
    return f"{SYSTEM}:{code[:3]}"


def _chapter(category: str) -> str:
    if not _in_tree(category):
        return ""
    ancestors: list[str] = _icd().get_ancestors(category)
    return ancestors[-1]


def _clean(title: str) -> str:
    """A chapter's title without its range: "Neoplasms (C00-D49)"."""
    return re.sub(r"\s*\([A-Z0-9]+-[A-Z0-9]+\)$", "", title)


@cache
def rules_for(code: str) -> tuple[Rule, ...]:
    """All instructions that hold for a code: its own and those of what stands above it.

    >>> [rule.targets for rule in rules_for("I13.2") if rule.predicate == "USE_ADDITIONAL_CODE"][:2]
    [('I50',), ('N18.5', 'N18.6')]
    """
    nearest = code
    while nearest and not _in_tree(nearest):
        nearest = _parent(nearest).partition(":")[2]
    if not nearest:
        return ()
    return tuple(
        rule for place in (nearest, *_icd().get_ancestors(nearest)) for rule in _stated(place)
    )


@cache
def _stated(place: str) -> tuple[Rule, ...]:
    icd = _icd()
    notes = [("EXCLUDES1", note) for note in icd.get_excludes1(place)]
    for predicate, read in (
        ("USE_ADDITIONAL_CODE", icd.get_use_additional_code),
        ("CODE_FIRST", icd.get_code_first),
        ("CODE_ALSO", icd.get_code_also),
    ):
        notes += [(predicate, note) for note in read(place).split("\n")]
    rules = []
    for predicate, note in notes:
        targets = parse_targets(note)
        if targets:
            rules.append(Rule(predicate, place, targets, " ".join(note.split())))
    return tuple(rules)


def parse_targets(note: str) -> tuple[str, ...]:
    """The codes named in an instruction's brackets; blocks and chapters are passed over.

    >>> parse_targets("stage of chronic kidney disease (N18.1-N18.4, N18.9)")
    ('N18.1', 'N18.2', 'N18.3', 'N18.4', 'N18.9')
    >>> parse_targets("insulin (Z79.4)"), parse_targets("infections (A00-B99)")
    (('Z79.4',), ())
    """
    found: set[str] = set()
    for inside in _BRACKETS.findall(note):
        for start, stop, _ in _PLACE.findall(inside):
            found.update(_span(start, stop) if stop else [start])
    return tuple(sorted(code for code in found if _in_tree(code)))


def _span(start: str, stop: str) -> list[str]:
    """The codes from ``start`` to ``stop``, at the level at which they are written."""
    if len(start) != len(stop):
        return [start, stop]
    if _icd().is_valid_item(f"{start}-{stop}"):  # a block or chapter
        return []
    codes = _of_length(len(start))
    inside = codes[bisect_left(codes, start) : bisect_right(codes, stop)]
    return list(inside) if len({code[:3] for code in inside}) <= _MOST_CATEGORIES else []


@cache
def _of_length(length: int) -> tuple[str, ...]:
    return tuple(sorted(c for c in _icd().get_all_codes() if len(c) == length and _in_tree(c)))
