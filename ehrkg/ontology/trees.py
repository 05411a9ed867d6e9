"""A node of a code tree, whatever the system."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from ehrkg.ontology.categories import read_yaml


@dataclass(frozen=True)
class Node:
    """A code and its place in the tree.

    Attributes:
        id: CURIE ("ICD10CM:I50.2").
        name: the system's title, "" where the tables lack the code.
        parent: CURIE one level up, "" at the category.
        category: CURIE of the category.
        chapter: short id ("ICD10CM:9"), "" where unknown.
        chapter_name: its title.
        terms: inclusion terms.
    """

    id: str
    name: str
    parent: str
    category: str
    chapter: str
    chapter_name: str
    terms: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """The kind of concept the code makes (code_kinds.yaml)."""
        if self.id.startswith(("ICD9PROC:", "ICD10PCS:")):
            return "procedure"
        return _kinds().get(self.chapter, "disease")


@cache
def _kinds() -> dict[str, str]:
    return {str(key): str(value) for key, value in read_yaml("code_kinds.yaml").items()}
