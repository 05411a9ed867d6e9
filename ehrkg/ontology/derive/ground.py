"""The ground on which derived facts stand: ids, names and what the core says of them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ehrkg.ontology.categories import kind_of
from ehrkg.ontology.derive.reading import Row, key, read_rows, rules, without_salt

CONDITIONS = ("disease", "finding")
_SCOPE = re.compile(r"^(exact|related|brand|abbreviation):")


@dataclass
class Ground:
    """What is known of drugs and conditions; the core at first, then more out of open tables.

    Attributes:
        names: id -> name.
        kinds: id -> kind.
        core: ids of the core.
        drugs, conditions: compared name -> id, over names and then synonyms that are unambiguous;
            the core's first.
        ids: CURIE of any vocabulary -> id of a drug or condition.
        above: id -> ids one SUBCLASS_OF up.
        routes: (drug, predicate, condition) -> routes the core states, "" for systemic.
        denied: (drug, condition) that the core says it does not treat.
    """

    names: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    core: set[str] = field(default_factory=set)
    drugs: dict[str, str] = field(default_factory=dict)
    conditions: dict[str, str] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    above: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    routes: dict[tuple[str, str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    denied: set[tuple[str, str]] = field(default_factory=set)

    def ancestors(self, concept: str) -> set[str]:
        """All ids above a concept."""
        return closure(concept, self.above)

    def learn(self, concept: str, name: str, kind: str) -> None:
        """Know a concept of an open table, unless it is known."""
        if concept not in self.names:
            self.names[concept] = name
            self.kinds[concept] = kind

    def drug(self, *names: str) -> str:
        """The drug of the first name that is known, with or without its salt, or ""."""
        for name in names:
            for text in (name, without_salt(name)):
                found = self.drugs.get(key(text))
                if found:
                    return found
        return ""

    @cached_property
    def by_drug(self) -> Mapping[str, list[tuple[str, str, set[str]]]]:
        """Drug -> (predicate, condition, routes) that the core states."""
        found: dict[str, list[tuple[str, str, set[str]]]] = defaultdict(list)
        for (drug, predicate, condition), routes in self.routes.items():
            found[drug].append((predicate, condition, routes))
        return found

    @cached_property
    def too_broad(self) -> set[str]:
        """Conditions that say too little: those named, and those with very many kinds.

        To be asked when the whole hierarchy is known.
        """
        named = {self.conditions.get(key(name), "") for name in rules()["too_broad"]}
        below: dict[str, int] = defaultdict(int)
        for concept in list(self.above):
            for upper in self.ancestors(concept):
                below[upper] += 1
        spared = {self.conditions.get(key(name), "") for name in rules()["many_kinds_but_one_drug"]}
        wide = {concept for concept, number in below.items() if number > rules()["most_kinds"]}
        return (named | (wide - spared)) - {""}


def closure(concept: str, above: Mapping[str, Iterable[str]]) -> set[str]:
    """All that stands above a concept."""
    found: set[str] = set()
    stack = list(above.get(concept, ()))
    while stack:
        upper = stack.pop()
        if upper not in found:
            found.add(upper)
            stack.extend(above.get(upper, ()))
    return found


def read_core(folder: Path) -> Ground:
    """Read ontologies/core."""
    core = Ground()
    nodes = list(read_rows(folder / "nodes.tsv"))
    for row in nodes:
        core.learn(row["id"], row["name"], kind_of(row["category"]))
        core.core.add(row["id"])
    core.drugs = _index(nodes, core, ("drug",))
    core.conditions = _index(nodes, core, CONDITIONS)
    for row in nodes:
        for other in (row["id"], *filter(None, row["xref"].split("|"))):
            core.ids.setdefault(other, row["id"])
    for row in read_rows(folder / "edges.tsv"):
        predicate = row["predicate"]
        if predicate == "biolink:subclass_of":
            core.above[row["subject"]].add(row["object"])
        elif row["negated"] == "true":
            core.denied.add((row["subject"], row["object"]))
        else:
            core.routes[row["subject"], predicate, row["object"]].add(row["route"])
    return core


def _index(nodes: Sequence[Row], core: Ground, kinds: Sequence[str]) -> dict[str, str]:
    """Names first; a synonym that two concepts share names neither."""
    mine = [row for row in nodes if core.kinds[row["id"]] in kinds]
    found = {key(row["name"]): row["id"] for row in mine}
    shared: dict[str, set[str]] = defaultdict(set)
    for row in mine:
        for synonym in filter(None, row["synonym"].split("|")):
            shared[key(_SCOPE.sub("", synonym))].add(row["id"])
    for text, ids in shared.items():
        if len(ids) == 1:
            found.setdefault(text, next(iter(ids)))
    return found
