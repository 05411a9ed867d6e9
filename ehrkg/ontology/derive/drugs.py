"""Which drug a table means, under the identifiers of DrugBank's open vocabulary; names of drugs."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ehrkg.ontology.derive.ground import Ground
from ehrkg.ontology.derive.mondo import SUBCLASS, Edge, Mapping
from ehrkg.ontology.derive.reading import (
    add_names,
    data,
    key,
    read_obo,
    read_rows,
    rules,
    without_salt,
)

_DRUGBANK = re.compile(r"DRUGBANK:DB\d{5}")
_ATC = re.compile(r"[A-Z]\d\d[A-Z]{2}\d\d")
_SHORTEST, _LONGEST = 3, 60
_MOST_INGREDIENTS = 4
"""A brand of more ingredients than these (amino acids, vitamins) names none of them."""


@dataclass
class Drugs:
    """Names, ids and classes of drugs, by the table that gives them.

    Attributes:
        synonyms: DrugBank id -> synonyms of the open vocabulary.
        listed: drugs that some table of drugs in use holds.
        later: drugs that Every Cure names and the open vocabulary does not have.
        equal: folder -> mappings of a drug's id to the ids of other vocabularies.
        classes: folder -> (drug, ATC class).
        brands: drug -> brand names.
    """

    synonyms: dict[str, list[str]] = field(default_factory=dict)
    listed: set[str] = field(default_factory=set)
    later: set[str] = field(default_factory=set)
    equal: dict[str, set[Mapping]] = field(default_factory=lambda: defaultdict(set))
    classes: dict[str, set[tuple[str, str]]] = field(default_factory=lambda: defaultdict(set))
    brands: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def edges(self, folder: str) -> list[Edge]:
        """The classes that a table gives, as subclass edges."""
        return [(drug, SUBCLASS, upper, "", "") for drug, upper in sorted(self.classes[folder])]


def learn(ground: Ground, tables: Path) -> Drugs:
    """Make every drug of the open vocabulary known, then what other tables call it."""
    drugs = Drugs()
    _drugbank(ground, drugs, tables / "drugbank-vocabulary" / "drugbank_vocabulary.csv")
    _drugcentral(ground, drugs, tables / "drugcentral" / "drugcentral.obo")
    _everycure(ground, drugs, tables / "everycure" / "drugs.csv.gz")
    _pharmgkb(ground, drugs, tables / "pharmgkb")
    _openfda(ground, drugs, tables / "openfda-ndc" / "openfda_single.csv")
    for folder in drugs.classes:
        for drug, upper in drugs.classes[folder]:
            ground.above[drug].add(upper)
    return drugs


def _drugbank(ground: Ground, drugs: Drugs, path: Path) -> None:
    rows = list(read_rows(path, ","))
    for row in rows:
        drug = f"DRUGBANK:{row['DrugBank ID']}"
        ground.learn(drug, lower(row["Common name"]), "drug")
        for prefix, column in (
            ("UNII", "UNII"),
            ("CAS", "CAS"),
            ("INCHIKEY", "Standard InChI Key"),
        ):
            if row[column]:
                ground.ids.setdefault(f"{prefix}:{row[column]}", drug)
        if row["UNII"]:
            drugs.equal["drugbank"].add((drug, "skos:exactMatch", f"UNII:{row['UNII']}", "0.95"))
        if row["CAS"]:
            drugs.equal["drugbank"].add((drug, "skos:exactMatch", f"CAS:{row['CAS']}", "0.95"))
        ground.ids.setdefault(drug, drug)
    known = [(f"DRUGBANK:{row['DrugBank ID']}", row) for row in rows]
    add_names(ground.drugs, ((row["Common name"], drug) for drug, row in known))
    given = [(text, drug) for drug, row in known for text in _synonyms(ground, drug, row)]
    add_names(ground.drugs, given)
    for text, drug in given:
        if ground.drugs.get(key(text)) == drug:
            drugs.synonyms.setdefault(drug, []).append(text)


def _synonyms(ground: Ground, drug: str, row: dict[str, str]) -> Iterator[str]:
    wrong = {key(text) for text in rules()["wrong_synonyms"].get(ground.names[drug], ())}
    texts = {text.strip() for text in row["Synonyms"].split(" | ")}
    for text in sorted(texts | ({row["Common name"]} if drug in ground.core else set())):
        fit = _SHORTEST <= len(text) <= _LONGEST and not text.endswith("(TN)")
        if fit and key(text) not in wrong:
            yield text


def lower(name: str) -> str:
    """A drug's name without the capital that only begins it.

    >>> lower("Furosemide"), lower("BCG vaccine")
    ('furosemide', 'BCG vaccine')
    """
    return name[:1].lower() + name[1:] if name[1:2].islower() else name


def _drugcentral(ground: Ground, drugs: Drugs, path: Path) -> None:
    table = read_obo(path)
    other: dict[str, list[str]] = defaultdict(list)
    for row in table.mappings.to_pylist():
        prefix, _, local = row["object"].partition(":")
        other[row["subject"]].append(f"{prefix.upper()}:{local}")
    named = []
    for row in table.concepts.to_pylist():
        ids = (ground.ids.get(curie, "") for curie in other[row["id"]])
        drug = ground.drugs.get(key(row["name"]), "") or next(filter(None, ids), "")
        drug = drug or ground.drug(row["name"])
        if not drug:
            continue
        named.append((row["name"], drug))
        ground.ids.setdefault(_drugcentral_id(row["id"]), drug)
        drugs.listed.add(drug)
        if ground.drugs.get(key(row["name"])) == drug:
            equal = (drug, "skos:exactMatch", _drugcentral_id(row["id"]), "0.95")
            drugs.equal["drugcentral"].add(equal)
    add_names(ground.drugs, named)


def _drugcentral_id(curie: str) -> str:
    return f"DRUGCENTRAL:{curie.partition(':')[2]}"


def _everycure(ground: Ground, drugs: Drugs, path: Path) -> None:
    """Drugs that are one substance; a list of ids that names two of DrugBank says nothing sure.

    A drug that DrugBank named after the vocabulary was made is known by the name it has here.
    """
    shared: dict[str, set[str]] = defaultdict(set)
    for row in read_rows(path, ","):
        if row["is_combination_therapy"] == "TRUE":
            continue
        theirs = sorted(set(_DRUGBANK.findall(row["alternate_ids"])))
        if (
            len(theirs) == 1
            and theirs[0] not in ground.kinds
            and not ground.drug(row["curie_label"])
        ):
            ground.learn(theirs[0], lower(row["curie_label"]), "drug")
            ground.ids[theirs[0]] = theirs[0]
            ground.drugs.setdefault(key(row["curie_label"]), theirs[0])
            drugs.later.add(theirs[0])
        theirs = [drug for drug in theirs if drug in ground.kinds]
        drug = ground.drug(row["curie_label"]) or (theirs[0] if len(theirs) == 1 else "")
        if not drug:
            continue
        shared[row["curie"]].add(drug)
        drugs.listed.add(drug)
        if len(theirs) == 1 and theirs[0] == drug:
            for curie in re.findall(r"(?:CHEBI|MESH|RXCUI):\w+", row["curie"]):
                drugs.equal["everycure"].add((drug, "skos:exactMatch", curie, "0.9"))
            for code in _ATC.findall(row["atc_codes"]):
                _classify(ground, drugs, "everycure", drug, code)
    for curie, found in shared.items():
        if len(found) == 1:
            ground.ids.setdefault(curie, next(iter(found)))


def _classify(ground: Ground, drugs: Drugs, folder: str, drug: str, code: str) -> None:
    """The nearest class of an ATC code that is known; classes of combinations are none."""
    for length in (5, 4):
        upper = f"ATC:{code[:length]}"
        if upper in ground.names:
            if drug not in ground.core:
                drugs.classes[folder].add((drug, upper))
            return


def _pharmgkb(ground: Ground, drugs: Drugs, folder: Path) -> None:
    prefixes = {"rxnorm": "RXCUI", "umls": "UMLS", "mesh": "MESH", "CHEBI": "CHEBI", "atc": "ATC"}
    names = {row["identifier"]: row["name"] for row in read_rows(folder / "pharmgkb.drug.tsv")}
    other: dict[str, set[str]] = defaultdict(set)
    for row in read_rows(folder / "pharmgkb.drug.sssom.tsv"):
        other[row["subject_id"].partition(":")[2]].add(row["object_id"])
    for identifier in sorted(other):
        theirs = {
            f"DRUGBANK:{curie.partition(':')[2]}"
            for curie in other[identifier]
            if curie.startswith("drugbank:")
        } & ground.kinds.keys()
        named = ground.drugs.get(key(names.get(identifier, "")), "")
        drug = named or (next(iter(theirs)) if len(theirs) == 1 else "")
        if not drug or (theirs and drug not in theirs):
            continue
        for curie in sorted(other[identifier]):
            prefix, _, local = curie.partition(":")
            if prefix not in prefixes or (prefix == "atc" and not _ATC.fullmatch(local)):
                continue
            if prefix == "atc":
                drugs.listed.add(drug)
                _classify(ground, drugs, "pharmgkb", drug, local)
            drugs.equal["pharmgkb"].add(
                (drug, "skos:exactMatch", f"{prefixes[prefix]}:{local}", "0.9")
            )


def _openfda(ground: Ground, drugs: Drugs, path: Path) -> None:
    """Brands of products of few ingredients, all of them known."""
    made_of: dict[str, set[frozenset[str]]] = defaultdict(set)
    for row in read_rows(path, ","):
        ingredients = [
            ground.drug(name) or ground.ids.get(f"UNII:{unii}", "")
            for name, unii in zip(_cells(row["substance_name"]), _cells(row["unii"]), strict=False)
        ]
        if not ingredients or not all(ingredients):
            continue
        drugs.listed |= set(ingredients)
        brand = _brand(row["brand_name"], row["generic_name"], ingredients, ground)
        if brand and len(set(ingredients)) <= _MOST_INGREDIENTS:
            made_of[brand].add(frozenset(ingredients))
    for brand, kinds in made_of.items():
        if len(kinds) == 1:
            for drug in next(iter(kinds)):
                drugs.brands[drug].add(brand)


def _cells(cell: str) -> list[str]:
    found: list[str] = ast.literal_eval(cell) if cell.startswith("[") else []
    return found


def _brand(text: str, generic: str, ingredients: Iterable[str], ground: Ground) -> str:
    """A brand name, or "" for a name that only repeats what is in it."""
    words = text.split()
    inside = set(key(generic).split())
    for drug in ingredients:
        inside |= set(key(ground.names[drug]).split())
    repeats = any(word in inside for word in key(text).split())
    fit = _SHORTEST < len(text.strip()) <= _LONGEST and not re.search(
        r"\d+ ?(?:mg|%|mcg)", text.lower()
    )
    if repeats or not fit or ground.drug(text):
        return ""
    return " ".join(word.capitalize() if word.isupper() else word for word in words)


def class_names() -> dict[str, str]:
    """ATC classes that the core does not name, in short words of this project."""
    named: dict[str, str] = dict(data("atc_names.yaml"))
    return named


__all__ = ["Drugs", "learn", "lower", "without_salt"]
