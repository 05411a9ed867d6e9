"""Facts about codes: their concepts, what is related to what, what counts as the same thing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.ehr.codes import CODE_SYSTEMS
from ehrkg.ehr.schema import Hospital
from ehrkg.mapping import NEAR
from ehrkg.mapping.schema import Mapping as CodeMapping
from ehrkg.ontology.schema import Knowledge

SURE = 0.9
"""A link's confidence from which the concept's name may stand for the code's."""

ATC_LEVEL_4 = len("ATC:C07AB")
"""The length of the CURIE of an ATC class at level 4 (chemical or pharmacological subgroup)."""


@dataclass(frozen=True, slots=True, eq=False)
class CodeFacts:
    """What the rules need to know about one code; one object a code and cohort.

    Attributes:
        id, system, kind, name: as in the CODES table.
        era: "9", "10", or "" where the system has no twin.
        near: the code itself, its equivalents of the other ICD version, and the concepts it is
            linked to at a near level. For a drug: its ingredient concepts.
        up: ``near``, everything above it in any hierarchy, and concepts linked from afar.
        concepts: the near concepts alone, without code ids.
        exact: the concepts that mean the same as the code (level 0, exact match).
        exact_name: the name of the concept that means the same as the code, "" where none does.
        ccsr: CCSR groups. category, chapter: of the ICD tree, "" where there is none.
        chronic: by CCIR or CCI; None where undetermined.
        equivalents: codes of the other ICD version.
        entity: the best near concept, or the code where it has none; for a drug its ingredient
            concepts joined by "+".
        drug_kind: of the DRUG_STRINGS table, "" for what is no drug.
        ingredients: names, sorted. atc4: ATC classes of level 4 of its ingredients.
    """

    id: str
    system: str
    kind: str
    name: str
    era: str
    near: frozenset[str]
    up: frozenset[str]
    concepts: frozenset[str]
    exact: frozenset[str]
    exact_name: str
    ccsr: frozenset[str]
    category: str
    chapter: str
    chronic: bool | None
    equivalents: frozenset[str]
    entity: str
    drug_kind: str
    ingredients: tuple[str, ...]
    atc4: frozenset[str]


class Hierarchy:
    """SUBCLASS_OF over concepts and code trees, each closure computed once.

    >>> tree = Hierarchy([("a", "b"), ("b", "c")])
    >>> sorted(tree.above("a"))
    ['b', 'c']
    >>> sorted(tree.below("c"))
    ['a', 'b']
    """

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._parents: dict[str, set[str]] = defaultdict(set)
        self._children: dict[str, set[str]] = defaultdict(set)
        for child, parent in pairs:
            if child != parent:
                self._parents[child].add(parent)
                self._children[parent].add(child)
        self._above: dict[str, frozenset[str]] = {}
        self._below: dict[str, frozenset[str]] = {}

    def above(self, node: str) -> frozenset[str]:
        """All proper ancestors; a cycle is walked once."""
        return _closure(node, self._parents, self._above)

    def below(self, node: str) -> frozenset[str]:
        """All proper descendants."""
        return _closure(node, self._children, self._below)


def _closure(
    node: str, step: Mapping[str, set[str]], memo: dict[str, frozenset[str]]
) -> frozenset[str]:
    if node not in memo:
        seen: set[str] = set()
        stack = [node]
        while stack:
            fresh = step.get(stack.pop(), set()) - seen
            seen |= fresh
            stack.extend(fresh)
        memo[node] = frozenset(seen - {node})
    return memo[node]


def hierarchy_of(knowledge: Knowledge) -> Hierarchy:
    """The SUBCLASS_OF edges that are not negated, and the parents in the code trees."""
    edges = knowledge.edges.filter(
        pc.and_(
            pc.equal(knowledge.edges["predicate"], "SUBCLASS_OF"),
            pc.invert(knowledge.edges["negated"]),
        )
    )
    pairs = list(zip(edges["subject"].to_pylist(), edges["object"].to_pylist(), strict=True))
    tree = knowledge.attributes
    pairs += [
        (code, parent)
        for code, parent in zip(tree["code"].to_pylist(), tree["parent"].to_pylist(), strict=True)
        if parent
    ]
    return Hierarchy(pairs)


def code_facts(
    hospital: Hospital, knowledge: Knowledge, mapping: CodeMapping, hierarchy: Hierarchy
) -> dict[str, CodeFacts]:
    """One ``CodeFacts`` a code of the hospital, by code id, in the order of ids."""
    attributes = {row["code"]: row for row in knowledge.attributes.to_pylist()}
    drugs = {row["code"]: row for row in mapping.drug_strings.to_pylist()}
    links = _links_by_code(mapping.links)
    exact = _exact_concepts(mapping.links)
    names = dict(
        zip(*(knowledge.concepts[name].to_pylist() for name in ("id", "name")), strict=True)
    )
    facts = {}
    for code in sorted(hospital.codes.to_pylist(), key=lambda row: str(row["id"])):
        facts[code["id"]] = _facts_of(
            code,
            attributes.get(code["id"], {}),
            drugs.get(code["id"], {}),
            links.get(code["id"], []),
            exact.get(code["id"], frozenset()),
            names,
            hierarchy,
        )
    return facts


def _links_by_code(links: pa.Table) -> dict[str, list[tuple[int, float, str]]]:
    """(levels, -confidence, concept) a code, the best link first."""
    found: dict[str, list[tuple[int, float, str]]] = defaultdict(list)
    for code, concept, levels, confidence in zip(
        *(links[name].to_pylist() for name in ("code", "concept", "levels", "confidence")),
        strict=True,
    ):
        found[code].append((levels, -confidence, concept))
    return {code: sorted(rows) for code, rows in found.items()}


def _exact_concepts(links: pa.Table) -> dict[str, frozenset[str]]:
    """The concepts that mean the same as a code: level 0, exact match, and surely so."""
    exact = links.filter(
        pc.and_(
            pc.and_(pc.equal(links["levels"], 0), pc.equal(links["predicate"], "skos:exactMatch")),
            pc.greater_equal(links["confidence"], SURE),
        )
    )
    found: dict[str, set[str]] = defaultdict(set)
    for code, concept in zip(exact["code"].to_pylist(), exact["concept"].to_pylist(), strict=True):
        found[code].add(concept)
    return {code: frozenset(matched) for code, matched in found.items()}


def _facts_of(
    code: Mapping[str, str],
    attributes: Mapping[str, object],
    drug: Mapping[str, object],
    links: list[tuple[int, float, str]],
    exact: frozenset[str],
    names: Mapping[str, str],
    hierarchy: Hierarchy,
) -> CodeFacts:
    concepts = frozenset(concept for levels, _, concept in links if levels <= NEAR)
    equivalents = frozenset(_strings(attributes.get("equivalents")))
    is_drug = code["kind"] == "drug"
    # Two strings of one ingredient are one drug: the string itself identifies it only if unlinked.
    near = concepts if is_drug and concepts else concepts | equivalents | {code["id"]}
    up = set(near) | {concept for _, _, concept in links}
    for node in tuple(up) + ((code["id"],) if not is_drug else ()):
        up |= hierarchy.above(node)
    best = [concept for levels, _, concept in links if levels <= NEAR]
    entity = "+".join(sorted(concepts)) if is_drug else (best[0] if best else "")
    chronic = attributes.get("chronic")
    return CodeFacts(
        id=code["id"],
        system=code["system"],
        kind=code["kind"],
        name=code["name"] or str(attributes.get("name") or ""),
        era=CODE_SYSTEMS[code["system"]].era,
        near=near,
        up=frozenset(up),
        concepts=concepts,
        exact=exact,
        # A second concept that claims the same leaves it open which name says what the code says.
        exact_name=names.get(next(iter(exact)), "") if len(exact) == 1 else "",
        ccsr=frozenset(_strings(attributes.get("ccsr"))),
        category=str(attributes.get("category") or ""),
        chapter=str(attributes.get("chapter") or ""),
        chronic=None if chronic is None else bool(chronic),
        equivalents=equivalents,
        entity=entity or code["id"],
        drug_kind=str(drug.get("drug_kind") or ""),
        ingredients=tuple(_strings(drug.get("ingredients"))),
        atc4=frozenset(node for node in up if node.startswith("ATC:") and len(node) == ATC_LEVEL_4),
    )


def _strings(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list | tuple) else []


def lines_of(facts: Mapping[str, CodeFacts]) -> dict[str, frozenset[str]]:
    """For each code the codes that are the same, above or below it, in either ICD version.

    Symmetric and reflexive. Drugs are on a line when they share an ingredient.
    """
    near = _inverted(facts, lambda code: code.near)
    up = _inverted(facts, lambda code: code.up)
    lines = {}
    for code in facts.values():
        found = {code.id}
        for node in code.near:
            found |= up[node]
        for node in code.up:
            found |= near.get(node, set())
        lines[code.id] = frozenset(found)
    return lines


def related_codes(
    facts: Mapping[str, CodeFacts], lines: Mapping[str, frozenset[str]]
) -> dict[str, frozenset[str]]:
    """For each code its line, and the codes in one of its CCSR groups."""
    ccsr = _inverted(facts, lambda code: code.ccsr)
    return {
        code.id: lines[code.id].union(*(ccsr[group] for group in code.ccsr))
        for code in facts.values()
    }


def _inverted(
    facts: Mapping[str, CodeFacts], of: Callable[[CodeFacts], frozenset[str]]
) -> dict[str, set[str]]:
    index: dict[str, set[str]] = defaultdict(set)
    for code in facts.values():
        for node in of(code):
            index[node].add(code.id)
    return index
