"""The core as the ground on which derived facts stand: its ids, names and what it already says."""

from __future__ import annotations

import csv
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ehrkg.foundation.errors import InputError
from ehrkg.ontology.categories import kind_of, read_yaml

Row = dict[str, str]

CONDITIONS = ("disease", "finding")
_WORD = re.compile(r"[^a-z0-9]+")
_SCOPE = re.compile(r"^(exact|related|brand|abbreviation):")


@cache
def rules() -> Mapping[str, Any]:
    """derive_rules.yaml."""
    found: Mapping[str, Any] = read_yaml("derive_rules.yaml")
    return found


def read_rows(path: Path, delimiter: str = "\t") -> Iterator[Row]:
    """The rows of a table with a header, without its leading comment lines.

    Raises:
        InputError: the file is not there.
    """
    if not path.is_file():
        raise InputError(
            "no such table",
            file=path,
            expected="the folder of open tables",
            todo="name the folder that holds drugcentral/, everycure/, mondo/, maxo/",
        )
    csv.field_size_limit(sys.maxsize)  # label texts pass the module's default of 128 KiB
    with path.open(encoding="utf-8-sig", newline="") as stream:
        lines = (line for line in stream if not line.startswith("#"))
        yield from csv.DictReader(lines, delimiter=delimiter)


def key(name: str) -> str:
    """A name as it is compared: no case, no punctuation, one spelling.

    >>> key("Hyperkalaemia") == key("hyperkalemia"), key("Crohn's disease") == key("Crohn disease")
    (True, True)
    """
    text = name.lower().replace("'s ", " ").replace("'", "")
    for long, short in rules()["spelling"]:
        text = text.replace(long, short)
    return _WORD.sub(" ", text).strip()


def without_salt(name: str) -> str:
    """A drug's name without the salts at its end.

    >>> without_salt("metoprolol succinate"), without_salt("potassium chloride")
    ('metoprolol', 'potassium chloride')
    """
    words = name.lower().split()
    while len(words) > 1 and words[-1].strip("()") in rules()["salts"]:
        words.pop()
    return name.lower() if words[0] in rules()["elements"] else " ".join(words)


@dataclass
class Core:
    """What the core knows.

    Attributes:
        names: id -> name.
        kinds: id -> kind.
        drugs, conditions: compared name -> id, over names and then synonyms that are unambiguous.
        xrefs: CURIE of another vocabulary -> id of a drug.
        above: id -> ids one SUBCLASS_OF up.
        routes: (drug, predicate, condition) -> routes the core states, "" for systemic.
    """

    names: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    drugs: dict[str, str] = field(default_factory=dict)
    conditions: dict[str, str] = field(default_factory=dict)
    xrefs: dict[str, str] = field(default_factory=dict)
    above: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    routes: dict[tuple[str, str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    refused: set[tuple[str, str]] = field(default_factory=set)

    def ancestors(self, concept: str) -> set[str]:
        """All ids above a concept."""
        found: set[str] = set()
        stack = list(self.above.get(concept, ()))
        while stack:
            upper = stack.pop()
            if upper not in found:
                found.add(upper)
                stack.extend(self.above.get(upper, ()))
        return found

    def drug(self, *names: str) -> str:
        """The drug of the first name that the core knows, with or without its salt, or ""."""
        for name in names:
            for text in (name, without_salt(name)):
                found = self.drugs.get(key(text))
                if found:
                    return found
        return ""

    @property
    def too_broad(self) -> set[str]:
        """Ids of the conditions that say too little."""
        named = (self.conditions.get(key(name), "") for name in rules()["too_broad"])
        return {concept for concept in named if concept}


def read_core(folder: Path) -> Core:
    """Read ontologies/core."""
    core = Core()
    nodes = list(read_rows(folder / "nodes.tsv"))
    for row in nodes:
        core.names[row["id"]] = row["name"]
        core.kinds[row["id"]] = kind_of(row["category"])
    core.drugs = _index(nodes, core, ("drug",))
    core.conditions = _index(nodes, core, CONDITIONS)
    for row in nodes:
        if core.kinds[row["id"]] == "drug":
            for other in (row["id"], *filter(None, row["xref"].split("|"))):
                core.xrefs.setdefault(other, row["id"])
    for row in read_rows(folder / "edges.tsv"):
        predicate = row["predicate"]
        if predicate == "biolink:subclass_of":
            core.above[row["subject"]].add(row["object"])
        elif row["negated"] == "true":
            core.refused.add((row["subject"], row["object"]))
        else:
            core.routes[row["subject"], predicate, row["object"]].add(row["route"])
    return core


def _index(nodes: Sequence[Row], core: Core, kinds: Sequence[str]) -> dict[str, str]:
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


def add_names(index: dict[str, str], pairs: Iterable[tuple[str, str]]) -> None:
    """Add (name, id) pairs of another table to an index, where they name one id only."""
    shared: dict[str, set[str]] = defaultdict(set)
    for name, concept in pairs:
        shared[key(name)].add(concept)
    for text in sorted(shared):
        if text and text not in index and len(shared[text]) == 1:
            index[text] = next(iter(shared[text]))
