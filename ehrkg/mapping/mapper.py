"""The methods that lead from a code to concepts, in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from ehrkg.foundation.embedding import Embedder
from ehrkg.mapping import (
    NEAR,
    axes,
    candidates,
    crossref,
    drug_links,
    gem,
    index,
    labels,
    vocabularies,
)
from ehrkg.mapping.drugs import lexicon
from ehrkg.mapping.drugs.reading import Reading
from ehrkg.mapping.index import Index, Label
from ehrkg.mapping.links import Link, best
from ehrkg.mapping.names import Key, read_yaml
from ehrkg.mapping.overrides import METHOD, Overrides
from ehrkg.ontology.schema import Knowledge
from ehrkg.ontology.spellings import respelt


class Code(NamedTuple):
    """What mapping needs of a row of CODES."""

    id: str
    name: str
    kind: str


@dataclass(frozen=True)
class Attempt:
    """One method tried on a code.

    Attributes:
        method: its name, a key of METHODS, or "override".
        needed: whether what came before had given nothing near, so that it counts.
        links: what it gave.
    """

    method: str
    needed: bool
    links: tuple[Link, ...]


@dataclass(frozen=True)
class Mapper:
    """Look-ups over a knowledge, and a user's overrides.

    Attributes:
        index: of the knowledge.
        labels: kind of code -> the names of concepts that fit it, in a list.
        names: the same by their words.
        drugs: the names of drugs.
        overrides: what the user says.
    """

    index: Index
    labels: dict[str, list[Label]]
    names: dict[str, dict[Key, tuple[Label, ...]]]
    drugs: lexicon.Lexicon
    overrides: Overrides

    def attempts(self, code: Code) -> Iterator[Attempt]:
        """Each method with what it gives, whether it is needed or not; lazily, in order."""
        stated = self.overrides.links(code.id, self.index)
        found: list[Link] = list(stated or ())
        if stated is not None:
            yield Attempt(METHOD, True, tuple(found))
        for method, find, enough in METHODS:
            needed = stated is None and not any(link.levels <= enough for link in found)
            links = [
                link
                for link in find(self, code)
                if not self.overrides.refuses(code.id, link.concept)
            ]
            yield Attempt(method, needed, tuple(links))
            if needed:
                found += links

    def links(self, code: Code) -> list[Link]:
        """The links at the lowest level that any needed method gives."""
        stated = self.overrides.links(code.id, self.index)
        if stated is not None:
            return best(stated)
        found: list[Link] = []
        for _, find, enough in METHODS:
            if any(link.levels <= enough for link in found):
                continue
            found += [
                link
                for link in find(self, code)
                if not self.overrides.refuses(code.id, link.concept)
            ]
        return best(found)

    def reading(self, code: Code) -> Reading:
        """What a drug code's string says."""
        return drug_links.reading_of(code.id, code.name, self.drugs)


def nearly(
    mapper: Mapper, codes: Iterable[Code], embedder: Embedder, cache: Path | None
) -> dict[str, list[Link]]:
    """The last resort, for codes that nothing else reached: names that are nearly alike.

    All codes at once, since vectors are made in batches; a code's links still depend on nothing but
    its own name.
    """
    asked = [code for code in codes if code.id not in mapper.overrides.rows]
    found: dict[str, list[Link]] = {}
    for kind, known in mapper.labels.items():
        titles = {
            code.id: title
            for code in asked
            if code.kind == kind and (title := mapper.index.names.get(code.id) or code.name)
        }
        if not titles:
            continue
        names = candidates.Names(known, mapper.index)
        for link in candidates.links(titles, names, embedder, cache):
            found.setdefault(link.code, []).append(link)
    return found


Method = Callable[[Mapper, Code], list[Link]]


def _crossref(mapper: Mapper, code: Code) -> list[Link]:
    if vocabularies.curies(code.id):  # that method knows the forms such a code is written in
        return []
    return crossref.find(code.id, mapper.index)


def _vocabulary(mapper: Mapper, code: Code) -> list[Link]:
    return vocabularies.find(code.id, mapper.index)


def _label(mapper: Mapper, code: Code) -> list[Link]:
    names = mapper.names.get(code.kind)
    return labels.find(code.id, code.name, mapper.index, names) if names else []


def _by_tree(mapper: Mapper, place: str, kind: str) -> list[Link]:
    """What a code of the tree reaches by mappings and, where none is exact, by names."""
    found = crossref.find(place, mapper.index)
    if not any(link.levels == 0 for link in found):
        found += _label(mapper, Code(place, "", kind))
    return found


def _gem(mapper: Mapper, code: Code) -> list[Link]:
    return gem.find(code.id, mapper.index, lambda place: _by_tree(mapper, place, code.kind))


def _axes(mapper: Mapper, code: Code) -> list[Link]:
    names = mapper.names.get(code.kind)
    return axes.find(code.id, mapper.index, names) if names else []


def _spelling(mapper: Mapper, code: Code) -> list[Link]:
    """What the code stands for that was mistyped."""
    meant = respelt(code.id)
    if not meant:
        return []
    weight = read_yaml("rules.yaml")["confidence"]["respelt"]
    found = _by_tree(mapper, meant, code.kind)
    if not any(link.levels <= NEAR for link in found):
        found += _gem(mapper, Code(meant, "", code.kind))
    return [
        replace(
            link,
            code=code.id,
            confidence=link.confidence * weight,
            explanation=f"{code.id} is read as {meant}; {link.explanation}",
        )
        for link in found
    ]


def _ingredients(mapper: Mapper, code: Code) -> list[Link]:
    if code.kind != "drug":
        return []
    return drug_links.find(code.id, mapper.reading(code), mapper.index)


METHODS: tuple[tuple[str, Method, int], ...] = (
    ("cross-references", _crossref, -1),
    ("vocabulary", _vocabulary, 0),
    ("ingredients", _ingredients, 0),
    ("names", _label, 0),
    ("gem", _gem, NEAR),
    ("axes", _axes, NEAR),
    ("spelling", _spelling, NEAR),
)
"""Each method with the level at which links found before it make it needless."""


def prefixes_of(codes: Iterable[Code]) -> set[str]:
    """Of the vocabularies, beside those with a tree, that codes are of."""
    return {curie.partition(":")[0] for code in codes for curie in vocabularies.curies(code.id)}


def build(knowledge: Knowledge, codes: list[Code], overrides: Overrides | None = None) -> Mapper:
    """Lay out a knowledge for some codes.

    Args:
        knowledge: concepts with names and mappings, and the code trees (``ontology.for_codes``).
        codes: what will be asked for: which vocabularies and kinds they are of decides what is
            laid out.
        overrides: what the user says.
    """
    looked_up = index.build(knowledge, prefixes_of(codes), vocabularies.canonical)
    kinds = {kind: frozenset(fit) for kind, fit in read_yaml("rules.yaml")["kinds"].items()}
    asked = {code.kind for code in codes}
    listed: dict[str, list[Label]] = {
        kind: index.labels(knowledge, looked_up.kinds, kinds[kind])
        for kind in ("diagnosis", "procedure")
        if kind in asked
    }
    names: dict[str, dict[Key, tuple[Label, ...]]] = {
        kind: labels.by_name(found) for kind, found in listed.items()
    }
    drugs = lexicon.build(
        index.labels(knowledge, looked_up.kinds, kinds["drug"]) if "drug" in asked else []
    )
    return Mapper(looked_up, listed, names, drugs, overrides or Overrides())
