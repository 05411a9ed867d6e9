"""The ICD-9-CM tree of diagnoses, E and V codes included."""

from __future__ import annotations

from functools import cache

from ehrkg.ontology.code_tables import icd9_tree
from ehrkg.ontology.curies import dotted
from ehrkg.ontology.trees import Node

SYSTEM = "ICD9CM"


@cache
def node(code: str) -> Node:
    """The node of a code with its dot; a code that the tables lack hangs under what they have.

    >>> node("428.23").parent, node("428").parent, node("E849.7").category
    ('ICD9CM:428.2', '', 'ICD9CM:E849')
    >>> node("V58.69").chapter
    'ICD9CM:18'
    """
    plain = code.replace(".", "")
    tree = icd9_tree()
    width = 4 if plain.startswith("E") else 3
    category = plain[:width]
    known = tree.get(plain)
    above = known.parent if known else _shorter(plain, width)
    place = known or tree.get(category)
    return Node(
        id=f"{SYSTEM}:{dotted(SYSTEM, plain)}",
        name=known.name if known else "",
        parent=f"{SYSTEM}:{dotted(SYSTEM, above)}" if above else "",
        category=f"{SYSTEM}:{category}",
        chapter=f"{SYSTEM}:{place.chapter}" if place else "",
        chapter_name=place.chapter_name if place else "",
    )


def _shorter(plain: str, width: int) -> str:
    """The longest shorter code in the tree, else the category, else nothing."""
    for length in range(len(plain) - 1, width - 1, -1):
        if plain[:length] in icd9_tree():
            return plain[:length]
    return plain[:width] if len(plain) > width else ""
