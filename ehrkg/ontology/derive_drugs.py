"""From DrugCentral, Every Cure and DrugBank: what drugs are for, what bars them, their names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from ehrkg.ontology.derive_core import Core, Row, key, read_rows, rules
from ehrkg.ontology.derive_mondo import Edge

TREATS = "biolink:treats"
PREVENTS = "biolink:preventative_for_condition"
CONTRAINDICATED = "biolink:contraindicated_in"
_PREVENTION = re.compile(
    r"^(?:prevention of|prevent|prophylaxis of|prophylaxis for)\s+(.*)"
    r"|(.*?)\s+(?:prevention|prophylaxis)$",
    re.IGNORECASE,
)
_WINDOW = 160
"""How far before a condition, in characters, a label's words still speak of it."""


@dataclass
class Deriver:
    """Turns rows of drug tables into edges on the core's concepts, and counts what it leaves.

    Attributes:
        core: the core, with names of other tables added.
        ids: CURIE of a condition -> the core's.
        left: reason -> rows left out.
    """

    core: Core
    ids: dict[str, str]
    left: Counter[str] = field(default_factory=Counter)

    def drugcentral(self, path: Path) -> Iterator[Edge]:
        """Indications of DrugCentral."""
        for row in read_rows(path):
            predicate, name = _predicate(row["INDICATION_FDB"])
            drug = self.core.drug(row["DRUG_NAME"])
            # a row on prevention carries the id of the condition, or of the act of preventing
            condition = self.core.conditions.get(key(name), "")
            if not condition and predicate == TREATS and row["DOID"]:
                condition = self.ids.get(row["DOID"], "")
            yield from self._judge(drug, predicate, condition, "")

    def indications(self, path: Path) -> Iterator[Edge]:
        """Indications that Every Cure read out of FDA labels."""
        for row in read_rows(path):
            if _several(row["drug name"]):
                self.left["several ingredients"] += 1
                continue
            drug, condition = self._ends(row)
            if not (drug and condition):
                self.left["not in the core"] += 1
                continue
            before = _before(row["indications text"], row["disease name"])
            predicate = _reading(before)
            if not predicate:
                self.left["named beside the indication"] += 1
                continue
            if _note(row) and self.core.conditions.get(key(row["disease name"])) != condition:
                self.left["identifier in doubt"] += 1
                continue
            yield from self._judge(drug, predicate, condition, _note(row))

    def contraindications(self, path: Path) -> Iterator[Edge]:
        """Contraindications that Every Cure read out of FDA labels."""
        for row in read_rows(path):
            if "TRUE" in (row["is_allergen"].strip(), row["is_diagnostic_agent"].strip()):
                self.left["allergen or diagnostic agent"] += 1
                continue
            if _several(row["active ingredient"]):
                self.left["several ingredients"] += 1
                continue
            drug, condition = self._ends(row)
            if not (drug and condition):
                self.left["not in the core"] += 1
                continue
            named = row["disease contraindicated"]
            before = _before(row["contraindications"], named)
            severity = _pattern("severity")
            if severity.search(named) or severity.search(before[-50:]):
                self.left["only at some severity"] += 1
                continue
            if _pattern("together").search(before):
                self.left["only with another drug"] += 1
                continue
            if _note(row) and self.core.conditions.get(key(named)) != condition:
                self.left["identifier in doubt"] += 1
                continue
            yield from self._judge(drug, CONTRAINDICATED, condition, _note(row))

    def _ends(self, row: Row) -> tuple[str, str]:
        label = row["final normalized drug label"]
        drug = self.core.drug(label) or self.core.xrefs.get(row["final normalized drug id"], "")
        condition = self.ids.get(row["final normalized disease id"], "")
        if not condition:
            condition = self.core.conditions.get(key(row["final normalized disease label"]), "")
        return drug, condition

    def _judge(self, drug: str, predicate: str, condition: str, note: str) -> Iterator[Edge]:
        """The edge, under the route it holds for; nothing where it says too much or too little."""
        if not drug or not condition:
            self.left["not in the core"] += 1
        elif condition in self.core.too_broad:
            self.left["too broad a condition"] += 1
        elif (drug, condition) in self.core.refused and predicate == TREATS:
            self.left["the core says that it does not"] += 1
        elif refused(self.core, drug, condition):
            self.left["refused after reading"] += 1
        elif predicate != CONTRAINDICATED and self._vaccine(drug, condition):
            self.left["a vaccine, for whom it is given"] += 1
        elif self._opposed(drug, predicate, condition):
            self.left["the core says the opposite"] += 1
        else:
            routes = self._routes(drug, predicate, condition)
            if not routes:
                self.left["route unknown"] += 1
            for route in sorted(routes):
                yield drug, predicate, condition, route, note

    def _vaccine(self, drug: str, condition: str) -> bool:
        """Whether a vaccine comes with a condition that the core does not let it prevent."""
        classes = self.core.above.get(drug, ())
        return (
            any(above.startswith("ATC:J07") for above in classes)
            and (drug, PREVENTS, condition) not in self.core.routes
        )

    def _opposed(self, drug: str, predicate: str, condition: str) -> bool:
        others = (TREATS, PREVENTS) if predicate == CONTRAINDICATED else (CONTRAINDICATED,)
        return any((drug, other, condition) in self.core.routes for other in others)

    def _routes(self, drug: str, predicate: str, condition: str) -> set[str]:
        """The routes that the core states for the pair; else what is sure from the drug's others.

        A table without routes says "vancomycin treats C. difficile colitis", which holds by mouth
        only: it may not make the systemic drug treat it.
        """
        stated = self.core.routes.get((drug, predicate, condition))
        if stated:
            return stated
        if predicate == CONTRAINDICATED:
            return {""}
        local = self._local(drug, condition)
        if local:
            return {local}
        own = {
            route
            for (subject, said, _), routes in self._of(drug).items()
            if subject == drug and said in (TREATS, PREVENTS)
            for route in routes
        }
        if "" in own or not own:
            return {""}
        # given by one parenteral route only, whatever for; anything else is not sure
        return own if len(own) == 1 and own <= set(rules()["parenteral"]) else set()

    def _of(self, drug: str) -> dict[tuple[str, str, str], set[str]]:
        if not hasattr(self, "_by_drug"):
            self._by_drug: dict[str, dict[tuple[str, str, str], set[str]]] = {}
            for place, routes in self.core.routes.items():
                self._by_drug.setdefault(place[0], {})[place] = routes
        return self._by_drug.get(drug, {})

    def _local(self, drug: str, condition: str) -> str:
        classes = [above.removeprefix("ATC:") for above in self.core.above.get(drug, ())]
        upper = {self.core.names.get(one, "") for one in self.core.ancestors(condition)}
        name = self.core.names[condition]
        for rule in rules()["local_routes"]:
            here = name in rule["names"] or upper & set(rule["ancestors"])
            if not here or not any(code.startswith(tuple(rule["atc"])) for code in classes):
                continue
            systemic = any(
                "" in routes and self.core.names[target] in rule["names"]
                for (_, said, target), routes in self._of(drug).items()
                if said == TREATS
            )
            if not systemic:
                return str(rule["route"])
        return ""


def refused(core: Core, subject: str, target: str) -> bool:
    """Whether a reader refused the statement, whatever table makes it."""
    return core.names[target] in rules()["refused"].get(core.names[subject], ())


def _predicate(indication: str) -> tuple[str, str]:
    """Whether an indication's name speaks of prevention, and of what.

    >>> _predicate("Migraine Prevention"), _predicate("Gout")
    (('biolink:preventative_for_condition', 'Migraine'), ('biolink:treats', 'Gout'))
    """
    match = _PREVENTION.match(indication.strip())
    if match:
        return PREVENTS, match[1] or match[2]
    return TREATS, indication


def _several(cell: str) -> bool:
    """Whether a cell of ingredients names more than one.

    >>> _several("{'AMLODIPINE BESYLATE; BENAZEPRIL'}"), _several("{'POLYTHIAZIDE'}")
    (True, False)
    """
    return any(mark in cell.lower() for mark in (";", " and ", "/", "', '", " with ", ", "))


def _note(row: Row) -> str:
    """What to know of a row: an id that a language model put in place of the name resolver's."""
    wrong = [
        what
        for what, column in (
            ("condition", "llm_nameres_correct"),
            ("drug", "llm_nameres_correct_drug"),
        )
        if row[column].strip().upper() != "TRUE"
    ]
    return f"{' and '.join(wrong)} id chosen by a language model" if wrong else ""


def _before(text: str, named: str) -> str:
    """The part of a label's sentence that leads up to a condition's first mention, lower case."""
    text, named = text.lower(), named.lower()
    place = text.find(named)
    if place < 0:
        return ""
    lead = text[max(0, place - _WINDOW) : place]
    return re.split(r"[.:]\s", lead)[-1]


@cache
def _pattern(group: str) -> re.Pattern[str]:
    words = "|".join(re.escape(word) for word in rules()["label_words"][group])
    return re.compile(rf"\b(?:{words})\b")


def _reading(before: str) -> str:
    """What a label says of a condition, from the words that lead up to it; "" for a bystander.

    >>> _reading("indicated for the treatment of edema associated with "), _reading("treatment of ")
    ('', 'biolink:treats')
    >>> _reading("to reduce the risk of ")
    'biolink:preventative_for_condition'
    """
    places = {
        group: max((match.end() for match in _pattern(group).finditer(before)), default=-1)
        for group in ("prevention", "treatment", "cause", "absence")
    }
    if places["absence"] >= 0 or places["cause"] > places["treatment"]:
        return ""
    return PREVENTS if places["prevention"] > places["treatment"] else TREATS


def synonyms(path: Path, core: Core) -> Iterator[tuple[str, str, list[str]]]:
    """(id, common name, synonyms) of the core's drugs in DrugBank's open vocabulary.

    A synonym that names another drug of the core is left out.
    """
    for row in read_rows(path, ","):
        drug = f"DRUGBANK:{row['DrugBank ID']}"
        if core.kinds.get(drug) != "drug":
            continue
        texts = [text.strip() for text in row["Synonyms"].split(" | ")]
        wrong = {key(text) for text in rules()["wrong_synonyms"].get(core.names[drug], ())}
        kept = {
            text
            for text in texts
            if 2 < len(text) <= 60
            and core.drugs.get(key(text), drug) == drug
            and key(text) not in wrong
        }
        yield drug, row["Common name"], sorted(kept)
