"""What mapping looks up in the knowledge, laid out once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache

import pyarrow.compute as pc

from ehrkg.mapping.names import Key, key, read_yaml
from ehrkg.ontology.code_trees import TREES
from ehrkg.ontology.curies import normalise
from ehrkg.ontology.schema import Knowledge


@dataclass(frozen=True, order=True)
class Reference:
    """A mapping row that speaks of a code: the concept, the SSSOM predicate, its weight."""

    concept: str
    predicate: str
    confidence: float
    source: str


@dataclass(frozen=True, order=True)
class Label:
    """A name of a concept: which, whether it is its own name or a synonym, and whose."""

    rank: int
    concept: str
    text: str
    scope: str
    source: str


@dataclass(frozen=True)
class Index:
    """Look-ups over a Knowledge.

    Attributes:
        names: concept or tree code -> name.
        kinds: concept -> kind.
        parents: tree code -> the code one level up.
        references: code -> mapping rows that speak of it, sorted.
        gems: code -> the other version's codes, with predicate and confidence.
        above: concept -> its direct superclasses, among concepts.
        terms: tree code -> inclusion terms that say what the code itself says ("... NOS").
        sources: concept -> the source that named it.
        same: concept -> those that an exact match joins it to, either way.
        stated: the concepts, no codes, that an edge other than a subclass edge speaks of.
    """

    names: Mapping[str, str]
    kinds: Mapping[str, str]
    parents: Mapping[str, str]
    references: Mapping[str, tuple[Reference, ...]]
    gems: Mapping[str, tuple[Reference, ...]]
    above: Mapping[str, frozenset[str]]
    terms: Mapping[str, tuple[str, ...]]
    sources: Mapping[str, str]
    same: Mapping[str, tuple[str, ...]]
    stated: frozenset[str]

    def spoken_of(self, concept: str) -> tuple[tuple[str, int], ...]:
        """The concept; where nothing is said of it, those that are the same and have statements.

        Else those it is a kind of, one level up: a product is a kind of its ingredient.

        Returns:
            Concepts, each with the levels that it is farther.
        """
        for places, levels in (
            ((concept,), 0),
            (self.same.get(concept, ()), 0),
            (sorted(self.above.get(concept, ())), 1),
        ):
            found = [place for place in places if place in self.stated]
            if levels:
                found += [
                    other
                    for place in places
                    if place not in self.stated
                    for other in self.same.get(place, ())
                    if other in self.stated
                ]
            if found:
                return tuple((place, levels) for place in dict.fromkeys(found))
        return ((concept, 0),)

    def linkable(self, concept: str) -> bool:
        """Whether a concept may be linked to: none of the code systems, none too general.

        A concept that only a mapping file names has no kind; it is let through.
        """
        if is_code(concept) or self.kinds.get(concept) == "grouping":
            return False
        return key(self.names.get(concept, concept)) not in _too_general()

    def chain(self, code: str) -> list[str]:
        """The code and what stands above it, up to its category."""
        places = [code]
        while (parent := self.parents.get(places[-1], "")) and parent not in places:
            places.append(parent)
        return places


@cache
def _too_general() -> frozenset[Key]:
    return frozenset(key(name) for name in read_yaml("rules.yaml")["too_general"])


def is_code(curie: str) -> bool:
    """Whether a CURIE is a code of a code system, not a concept.

    >>> is_code("ICD10CM:I50"), is_code("MONDO:0005252")
    (True, False)
    """
    return curie.partition(":")[0] in code_prefixes()


@cache
def code_prefixes() -> frozenset[str]:
    """Of the code systems: their codes are no concepts."""
    return frozenset(TREES) | frozenset(read_yaml("rules.yaml")["only_codes"])


def build(
    knowledge: Knowledge,
    prefixes: Iterable[str] = (),
    canonical: Callable[[str], tuple[str, ...]] = lambda curie: (normalise(curie),),
) -> Index:
    """Lay out a Knowledge; the order of its rows decides nothing.

    Args:
        knowledge: what the ontologies say.
        prefixes: of the vocabularies, beside those with a tree, that the hospital's codes are of;
            mapping rows that speak of others are joined only as exact matches.
        canonical: the forms under which the object of a mapping row is looked up.
    """
    wanted = frozenset(prefixes)
    concepts = knowledge.concepts
    ids = concepts["id"].to_pylist()
    names = dict(zip(ids, concepts["name"].to_pylist(), strict=True))
    kinds = dict(zip(ids, concepts["kind"].to_pylist(), strict=True))
    parents, above = _hierarchy(knowledge)
    references: dict[str, set[Reference]] = {}
    gems: dict[str, set[Reference]] = {}
    same: dict[str, set[str]] = {}
    table = knowledge.mappings
    for subject, predicate, target, confidence, source in zip(
        *(table[name].to_pylist() for name in table.column_names), strict=True
    ):
        if is_code(subject):
            gems.setdefault(subject, set()).add(Reference(target, predicate, confidence, source))
            continue
        used = _used_prefix(target.partition(":")[0])
        if used in code_prefixes() or used in wanted:
            row = Reference(subject, predicate, confidence, source)
            for form in canonical(target):
                references.setdefault(form, set()).add(row)
        if predicate == "skos:exactMatch":
            other = f"{used}:{target.partition(':')[2].strip()}"
            if other in kinds:
                same.setdefault(subject, set()).add(other)
                same.setdefault(other, set()).add(subject)
    return Index(
        names,
        kinds,
        parents,
        _sorted(references),
        _sorted(gems),
        {concept: frozenset(found) for concept, found in above.items()},
        _unspecified_terms(knowledge),
        dict(zip(ids, concepts["source"].to_pylist(), strict=True)),
        {concept: tuple(sorted(found)) for concept, found in same.items()},
        _spoken_of(knowledge),
    )


@cache
def _used_prefix(prefix: str) -> str:
    return normalise(f"{prefix}:1").partition(":")[0]


def _spoken_of(knowledge: Knowledge) -> frozenset[str]:
    edges = knowledge.edges.filter(pc.not_equal(knowledge.edges["predicate"], "SUBCLASS_OF"))
    ends = (pc.unique(edges[column]).to_pylist() for column in ("subject", "object"))
    return frozenset(each for column in ends for each in column if not is_code(each))


def _sorted(found: Mapping[str, set[Reference]]) -> dict[str, tuple[Reference, ...]]:
    return {code: tuple(sorted(rows)) for code, rows in found.items()}


def _hierarchy(knowledge: Knowledge) -> tuple[dict[str, str], dict[str, set[str]]]:
    """Parents of tree codes, and superclasses of concepts."""
    edges = knowledge.edges.filter(pc.equal(knowledge.edges["predicate"], "SUBCLASS_OF"))
    parents: dict[str, str] = {}
    above: dict[str, set[str]] = {}
    rows = zip(edges["subject"].to_pylist(), edges["object"].to_pylist(), strict=True)
    for child, parent in sorted(rows):
        if is_code(child):
            if is_code(parent):
                parents[child] = parent
        else:
            above.setdefault(child, set()).add(parent)
    attributes = knowledge.attributes
    stated = zip(attributes["code"].to_pylist(), attributes["parent"].to_pylist(), strict=True)
    parents |= {code: parent for code, parent in stated if parent}
    return parents, above


def _unspecified_terms(knowledge: Knowledge) -> dict[str, tuple[str, ...]]:
    """Inclusion terms with "NOS": of all that a code includes, they alone are the code itself."""
    synonyms = knowledge.synonyms.filter(pc.equal(knowledge.synonyms["scope"], "inclusion_term"))
    found: dict[str, set[str]] = {}
    for code, text in zip(
        synonyms["concept"].to_pylist(), synonyms["text"].to_pylist(), strict=True
    ):
        if text.endswith(" NOS"):
            found.setdefault(code, set()).add(text)
    return {code: tuple(sorted(texts)) for code, texts in found.items()}


def labels(knowledge: Knowledge, kinds: Mapping[str, str], wanted: frozenset[str]) -> list[Label]:
    """The names of all concepts of the kinds wanted: own name first, then synonyms."""
    found: list[Label] = []
    concepts = knowledge.concepts
    for concept, name, kind, source in zip(
        *(concepts[column].to_pylist() for column in ("id", "name", "kind", "source")), strict=True
    ):
        if kind in wanted and not is_code(concept) and name:
            found.append(Label(0, concept, name, "name", source))
    synonyms = knowledge.synonyms
    ranks = {"exact": 1, "abbreviation": 1, "brand": 2}
    for concept, text, scope, source in zip(
        *(synonyms[column].to_pylist() for column in ("concept", "text", "scope", "source")),
        strict=True,
    ):
        if scope in ranks and kinds.get(concept) in wanted and not is_code(concept):
            found.append(Label(ranks[scope], concept, text, scope, source))
    return sorted(found)
