"""What is asked, and with which knowledge; each claim under words that are known."""

from __future__ import annotations

import csv
import dataclasses
import functools
import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg import ontology
from ehrkg.ehr.codes import code_id, normalise
from ehrkg.foundation.hashing import short_id
from ehrkg.ontology.schema import Knowledge
from ehrkg.ontology.sources import Source, learn
from ehrkg.verify import Policy, resolve_pairs, verify

Claim = tuple[str, str, str]
PATHS = Policy(definition_bonus=0.0)
REPHETIO = Source(
    "infores:drugcentral-rephetio",
    "DrugCentral, in Rephetio's terms",
    "DrugCentral",
    "CC-BY-4.0",
    "https://github.com/dhimmel/drugcentral",
    "2016",
    0.5,  # handed up to broad diseases there: another origin has to agree
    "Indications of DrugCentral, mapped to diseases of the Disease Ontology.",
)
ICD = {"9": "ICD9CM", "10": "ICD10CM"}


def luck(seed: str, key: str) -> float:
    """A number in [0, 1) from a hash."""
    return int.from_bytes(hashlib.sha256(f"{seed}:{key}".encode()).digest()[:8]) / 2**64


def rows(path: Path) -> list[dict[str, str]]:
    """A tab-separated table."""
    with path.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle, delimiter="\t"))


def table(claims: Sequence[Claim]) -> pa.Table:
    """Claims as a user would give them."""
    heads, predicates, tails = zip(*claims, strict=True)
    return pa.table({"head": heads, "predicate": predicates, "tail": tails})


def judge(
    claims: Iterable[Claim], knowledge: Knowledge, policy: Policy = PATHS, **more: Any
) -> dict[Claim, dict[str, Any]]:
    """Each claim's relation, found by the words that it was asked with."""
    asked = sorted(set(claims))
    candidates, links, *_ = resolve_pairs(table(asked), knowledge)
    found = verify(candidates, links, knowledge, policy=policy, **more)
    numbers = {row.pop("id"): row for row in found.features.to_pylist()}
    return {
        (row["head"], row["predicate"], row["tail"]): row | {"features": numbers[row["id"]]}
        for row in found.relations.to_pylist()
    }


def with_edges(knowledge: Knowledge, said: Iterable[Claim], source: Source) -> Knowledge:
    """The knowledge and further statements of one source."""
    learn(source)
    names = knowledge.edges.schema.names
    added = [
        dict.fromkeys(names, "")
        | {
            "id": short_id("e", *claim, source.infores),
            "subject": claim[0],
            "predicate": claim[1],
            "object": claim[2],
            "negated": False,
            "source": source.infores,
            "origin": source.origin,
            "license": source.licence,
        }
        for claim in sorted(set(said))
    ]
    added_table = pa.Table.from_pylist(added, schema=knowledge.edges.schema)
    return dataclasses.replace(knowledge, edges=pa.concat_tables([knowledge.edges, added_table]))


def without(knowledge: Knowledge, drop: pa.Array) -> Knowledge:
    """The knowledge without some edges."""
    return dataclasses.replace(knowledge, edges=knowledge.edges.filter(pc.invert(drop)))


class World:
    """The open tables, read once.

    Attributes:
        data: their folder.
        shipped: what the package ships.
        named: the same, and Mondo's mappings to DOID, which name the diseases that are asked about.
        known: the same, and open tables that do not ship.
    """

    def __init__(self, data: Path) -> None:
        self.data = data
        self.shipped = ontology.shipped()
        mappings = ontology.load(data / "mondo" / "mondo_exactmatch_doid.sssom.tsv")
        self.named = ontology.merge(self.shipped, mappings)
        folder = data / "drugcentral-rephetio"
        # the column `category` of that table is PharmacotherapyDB's, and is not read
        said = rows(folder / "indications.tsv")
        pairs = [(f"DRUGBANK:{row['drugbank_id']}", row["doid_id"]) for row in said]
        concept = self.concepts({end for pair in pairs for end in pair})
        treated = [
            (concept[drug], "TREATS", concept[disease])
            for drug, disease in pairs
            if drug in concept and disease in concept
        ]
        classed = [
            (f"DRUGBANK:{row['drugbank_id']}", "SUBCLASS_OF", f"REPHETIO.CLASS:{row['class_id']}")
            for row in rows(folder / "drug-to-class.tsv")
        ]
        self.known = with_edges(self.named, (*treated, *classed), REPHETIO)

    def concepts(self, words: Iterable[str]) -> dict[str, str]:
        """Word -> the concept that it is linked to most surely."""
        asked = sorted(set(words))
        links = resolve_pairs(table([(word, "TREATS", word) for word in asked]), self.named).links
        found: dict[str, tuple[float, str]] = {}
        for row in links.to_pylist():
            if row["levels"] == 0:
                best = found.get(row["code"], (0.0, ""))
                found[row["code"]] = max(best, (row["confidence"], row["concept"]))
        return {word: concept for word, (_, concept) in found.items()}

    @functools.cached_property
    def physicians(self) -> list[dict[str, str]]:
        """PharmacotherapyDB's pairs, with `claim`, `right` and `half` (by drug: tune, report)."""
        file = self.data / "pharmacotherapydb" / "catalog" / "indications.tsv"
        pairs = rows(file)
        words = {
            word for row in pairs for word in (*_drug_words(row), row["doid_id"], row["disease"])
        }
        known = self.concepts(words).keys()
        for row in pairs:
            head = _first(known, *_drug_words(row))
            row["claim"] = (head, "TREATS", _first(known, row["doid_id"], row["disease"]))
            row["half"] = "tune" if luck("split", row["drugbank_id"]) < 0.5 else "report"
        return pairs


def _drug_words(row: dict[str, str]) -> tuple[str, str]:
    return f"DRUGBANK:{row['drugbank_id']}", row["drug"]


def _first(known: Iterable[str], *words: str) -> str:
    return next((word for word in words if word in known), words[0])


def icd(version: str, code: str) -> str:
    """A Code id."""
    return code_id(ICD[version], normalise(ICD[version], code))


def drug_name(text: str) -> str:
    """A prescription's words as a Code id."""
    return f"DRUGNAME:{' '.join(text.lower().split())}"


def treats_pairs(knowledge: Knowledge) -> list[tuple[str, str]]:
    """(drug, condition) of every statement that a drug treats or prevents, repeated by source."""
    edges = knowledge.edges
    chosen = pc.and_(
        pc.is_in(edges["predicate"], value_set=pa.array(["TREATS", "PREVENTS"])),
        pc.starts_with(edges["subject"], "DRUGBANK:"),
    )
    some = edges.filter(chosen).sort_by([("id", "ascending")])
    return list(zip(some["subject"].to_pylist(), some["object"].to_pylist(), strict=True))


def controls(knowledge: Knowledge, number: int, seed: str = "controls") -> list[tuple[str, str]]:
    """Pairs drawn at random with the degrees of the statements, that no source states.

    Head and tail are those of two statements drawn by hash: a drug comes as often as it has
    statements, and so does a condition.
    """
    stated = treats_pairs(knowledge)
    found: set[tuple[str, str]] = set()
    taken = set(stated)
    generator = np.random.default_rng(int(luck(seed, "start") * 2**32))
    while len(found) < number:
        heads, tails = generator.integers(0, len(stated), (2, number))
        for head, tail in zip(heads.tolist(), tails.tolist(), strict=True):
            pair = (stated[head][0], stated[tail][1])
            if pair not in taken and len(found) < number:
                found.add(pair)
    return sorted(found)


def random_prior(knowledge: Knowledge) -> float:
    """The share of pairs drawn as controls are that some source states."""
    stated = treats_pairs(knowledge)
    heads, tails = Counter(head for head, _ in stated), Counter(tail for _, tail in stated)
    return sum(heads[head] * tails[tail] for head, tail in set(stated)) / len(stated) ** 2
