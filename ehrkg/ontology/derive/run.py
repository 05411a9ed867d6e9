"""From folders of open tables to the folders that ship: read, join, judge, write."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ehrkg.ontology.derive import conditions, drugs, mondo
from ehrkg.ontology.derive.conditions import GENUS, Vocabularies, plain
from ehrkg.ontology.derive.ground import Ground, closure, read_core
from ehrkg.ontology.derive.label_text import CONTRAINDICATED, PREVENTS, TREATS
from ehrkg.ontology.derive.mondo import SUBCLASS, Edge, Mapping, Mondo
from ehrkg.ontology.derive.reading import key, rules
from ehrkg.ontology.derive.statements import Deriver
from ehrkg.ontology.derive.uses import uses, uses_of_groups
from ehrkg.ontology.derive.writing import (
    Node,
    describe,
    fold,
    write_edges,
    write_mappings,
    write_nodes,
)

MANUAL = "semapv:ManualMappingCuration"
REFERENCE = "semapv:DatabaseCrossReference"
LEXICAL = "semapv:LexicalMatching"
_CONDITIONS = ("disease", "finding")


@dataclass(frozen=True)
class Derived:
    """What a derivation gave.

    Attributes:
        statements: folder -> its statements.
        left: (table, reason) -> rows left out.
        read: table -> rows read.
    """

    statements: dict[str, list[Edge]]
    left: Counter[tuple[str, str]]
    read: Counter[str]


def derive(tables: Path, out: Path) -> Derived:
    """Write the derived folders under ``out``.

    Args:
        tables: the folder of open tables.
        out: the ontologies folder; ``out/core`` must be there.

    Raises:
        InputError: a table or the core is not there.
    """
    ground = read_core(out / "core")
    known = mondo.read_mondo(tables / "mondo")
    mondo.more_labels(known, tables)
    mondo.learn(ground, known)
    tree = mondo.tree(ground, known)
    given = conditions.read_vocabularies(tables)
    conditions.learn(ground, known, given)
    named = drugs.learn(ground, tables)
    deriver = Deriver(ground)
    said = _statements(tables, deriver)
    barred = {
        (subject, target)
        for edges in said.values()
        for subject, predicate, target, _, _ in edges
        if predicate == CONTRAINDICATED
    }
    said |= {"uses": uses(deriver, barred), "uses-of-groups": uses_of_groups(deriver)}

    maps = mondo.mappings(ground, known, out / "core" / "mappings.sssom.tsv")
    ends = {end for edges in said.values() for edge in edges for end in (edge[0], edge[2])}
    wanted = _wanted(ground, ends, maps)
    _write_conditions(out, ground, known, given, tree, maps, wanted)
    _write_drugs(out, ground, named, ends)
    acts = sorted(
        one for one in ends if ground.kinds[one] == "procedure" and one not in ground.core
    )
    write_nodes(out, "maxo", [(act, "procedure", ground.names[act], ()) for act in acts])
    for folder, edges in said.items():
        write_edges(out, folder, sorted((*edges, *named.edges(folder))))
    for folder, spec in rules()["sources"].items():
        describe(out / folder, spec)
    return Derived(said, deriver.left, deriver.read)


def _statements(tables: Path, deriver: Deriver) -> dict[str, list[Edge]]:
    """Folder -> statements; what a table says for sure does not stand again among the doubtful.

    A pair that is an indication and a contraindication depends on its context, and is left out of
    the contraindications, and where both come from labels, out of both.
    """
    folder = tables / "everycure"
    central = fold(deriver.drugcentral(tables / "drugcentral" / "indications_2018-10-12.tsv"))
    uses = fold(deriver.indications(folder / "fda_indications.tsv"))
    bars = fold(deriver.contraindications(folder / "contraindications.tsv"))
    acts = fold(deriver.maxo(tables / "maxo"))
    both = _pairs(uses) & _pairs(bars)
    deriver.left["everycure contraindications", "on both lists"] += len(both)
    others = _pairs(central) & _pairs(bars) - both
    deriver.left["everycure contraindications", "an indication elsewhere"] += len(others)
    labels = [
        edge
        for edge in (*uses, *bars)
        if (edge[0], edge[2]) not in both
        and not (edge[1] == CONTRAINDICATED and (edge[0], edge[2]) in others)
    ]
    return {
        "drugcentral": [edge for edge in central if not edge[4]],
        "drugcentral-kinds": [edge for edge in central if edge[4]],
        "everycure": sorted(edge for edge in labels if not edge[4]),
        "everycure-doubtful": sorted(edge for edge in labels if edge[4]),
        "maxo": acts,
        "pharmgkb": [],
    }


def _pairs(edges: Iterable[Edge]) -> set[tuple[str, str]]:
    return {(subject, target) for subject, _, target, _, _ in edges}


def _wanted(ground: Ground, ends: set[str], maps: Sequence[Mapping]) -> set[str]:
    """Conditions that a statement or a code's mapping touches, and all that stands above them."""
    touched = {end for end in ends if ground.kinds[end] in _CONDITIONS}
    touched |= {row[0] for row in maps if row[2].startswith("ICD")}
    touched |= {concept for concept in ground.core if ground.kinds[concept] in _CONDITIONS}
    for concept in list(touched):
        touched |= closure(concept, ground.above)
    return {concept for concept in touched if ground.kinds[concept] in _CONDITIONS}


def _write_conditions(
    out: Path,
    ground: Ground,
    known: Mondo,
    given: Vocabularies,
    tree: set[tuple[str, str]],
    maps: Sequence[Mapping],
    wanted: set[str],
) -> None:
    """mondo/, doid/, doid-2016/ and hpo/."""
    diseases = sorted(concept for concept in wanted if concept in known.labels)
    named: list[Node] = [(one, "disease", known.labels[one], ()) for one in diseases]
    write_nodes(out, "mondo", named)
    isa = sorted((a, SUBCLASS, b, "", "") for a, b in tree if a in wanted)
    write_edges(out, "mondo", isa)
    write_mappings(out, "mondo", (row for row in maps if row[0] in wanted), MANUAL)

    today = {doid: name for doid, name, _ in given.xrefs}
    write_nodes(out, "doid", _known_by(ground, today.items(), wanted))
    references = {
        (ground.ids[doid], "skos:closeMatch", xref, "0.8")
        for doid, _, xref in given.xrefs
        if ground.ids.get(doid) in wanted
        and xref.startswith(("SNOMEDCT:", "UMLS:"))
        and ground.ids.get(xref) == ground.ids[doid]
    }
    write_mappings(out, "doid", references, REFERENCE)
    older = [
        (row["concept"], row["text"])
        for row in given.doid.synonyms.to_pylist()
        if row["scope"] == "exact"
    ]
    write_nodes(out, "doid-2016", _known_by(ground, older, wanted))
    _write_findings(out, ground, given, wanted)


def _known_by(ground: Ground, names: Iterable[tuple[str, str]], wanted: set[str]) -> Iterator[Node]:
    """Names of another vocabulary, by the concept that they name and no other."""
    found: dict[str, set[str]] = defaultdict(set)
    for term, text in names:
        concept = ground.ids.get(term, "")
        if concept in wanted and ground.conditions.get(key(text)) == concept:
            found[concept].add(text.replace("|", " ").replace("\t", " ").strip())
    for concept, texts in found.items():
        yield concept, ground.kinds[concept], "", sorted(texts)


def _write_findings(out: Path, ground: Ground, given: Vocabularies, wanted: set[str]) -> None:
    names = dict(
        zip(
            given.hpo.concepts.column("id").to_pylist(),
            given.hpo.concepts.column("name").to_pylist(),
            strict=True,
        )
    )
    texts: dict[str, list[str]] = defaultdict(list)
    for row in given.hpo.synonyms.to_pylist():
        term = row["concept"]
        if row["scope"] == "exact" and ground.conditions.get(key(row["text"])) == term:
            texts[term].append(row["text"].replace("|", " "))
    mine = {term for term in wanted if term in names}
    nodes: list[Node] = [(term, "finding", names[term], texts[term]) for term in sorted(mine)]
    write_nodes(out, "hpo", nodes)
    isa = [
        (child, SUBCLASS, parent, "", "")
        for child in sorted(mine - ground.core)
        for parent in sorted(ground.above.get(child, ()))
    ]
    write_edges(out, "hpo", isa)
    references: set[Mapping] = {
        (row["subject"], "skos:closeMatch", plain(row["object"]), "0.7")
        for row in given.hpo.mappings.to_pylist()
        if row["subject"] in mine and ground.ids.get(plain(row["object"])) == row["subject"]
    }
    references |= {
        (concept, "skos:closeMatch", term, "0.8")
        for term in names
        if (concept := ground.ids.get(term, term)) != term and concept in wanted
    }
    write_mappings(out, "hpo", references, REFERENCE)


def _write_drugs(out: Path, ground: Ground, named: drugs.Drugs, ends: set[str]) -> None:
    """drugbank/, openfda/ and the mappings of the others."""
    mine = {
        drug
        for drug in named.listed | ends | ground.core
        if drug.startswith("DRUGBANK:") and drug in ground.ids
    }
    nodes: list[Node] = [
        (drug, "drug", ground.names[drug], named.synonyms.get(drug, ()))
        for drug in sorted(mine - named.later)
    ]
    write_nodes(out, "drugbank", nodes)
    later: list[Node] = [
        (drug, "drug", ground.names[drug], ()) for drug in sorted(mine & named.later)
    ]
    write_nodes(out, "everycure", later)
    brands: list[Node] = [
        (drug, "drug", "", [f"brand:{brand}" for brand in sorted(named.brands[drug])])
        for drug in sorted(named.brands)
        if drug in mine
    ]
    write_nodes(out, "openfda", brands)
    for folder, rows in named.equal.items():
        write_mappings(out, folder, (row for row in rows if row[0] in mine), REFERENCE)


def counts(derived: Derived) -> list[tuple[str, int, int, int]]:
    """Folder -> distinct pairs that it says are treated, prevented, contraindicated."""
    rows = []
    for folder, edges in derived.statements.items():
        pairs = Counter(predicate for _, predicate, _ in {(e[0], e[1], e[2]) for e in edges})
        rows.append((folder, pairs[TREATS], pairs[PREVENTS], pairs[CONTRAINDICATED]))
    return rows


__all__ = ["GENUS", "Derived", "counts", "derive"]
