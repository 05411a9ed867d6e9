"""From DrugCentral, Every Cure and MAxO: what drugs and procedures are for, and what bars them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ehrkg.ontology.derive.conditions import condition
from ehrkg.ontology.derive.ground import Ground
from ehrkg.ontology.derive.label_text import (
    CONTRAINDICATED,
    PREVENTS,
    TREATS,
    before,
    doubt,
    only_at_some_severity,
    pattern,
    purpose,
    reading,
    several,
)
from ehrkg.ontology.derive.mondo import Edge
from ehrkg.ontology.derive.reading import Row, key, read_rows, rules

SEVERE = "in a severe or special form only"
"""Provenance of a contraindication that a label restricts."""
BROAD = "of a group of conditions"
"""Provenance of a contraindication in a whole group: it is not handed down from there."""
CARRIER = "given in patients with it"
"""Provenance of an indication where a label says whose patients or symptoms are treated."""


@dataclass
class Deriver:
    """Turns rows of drug tables into edges on known drugs and conditions; counts what it leaves.

    Attributes:
        ground: what is known.
        left: (table, reason) -> rows left out.
        read: table -> rows read.
        table: the table being read.
    """

    ground: Ground
    left: Counter[tuple[str, str]] = field(default_factory=Counter)
    read: Counter[str] = field(default_factory=Counter)
    table: str = ""

    def drugcentral(self, path: Path) -> Iterator[Edge]:
        """Indications of DrugCentral."""
        for row in self._rows("drugcentral", path):
            predicate, name = purpose(row["INDICATION_FDB"])
            drug = self.ground.drug(row["DRUG_NAME"])
            drug = drug or self.ground.ids.get(f"DRUGCENTRAL:{row['DRUG_ID']}", "")
            # a row on prevention carries the id of the condition, or of the act of preventing
            ids = (
                row["DOID"],
                f"SNOMEDCT:{row['SNOMEDCT_CUI']}",
                f"UMLS:{row['UMLS_CUI']}",
            )
            target, note = condition(self.ground, name, *(ids if predicate == TREATS else ()))
            yield from self._judge(drug, predicate, target, note)

    def indications(self, path: Path) -> Iterator[Edge]:
        """Indications that Every Cure read out of FDA labels."""
        first = _first_named(path)
        for row in self._rows("everycure indications", path):
            if several(row["drug name"]):
                self._leave("several ingredients")
                continue
            drug, target, note = self._ends(row, row["disease name"], row["drug name"])
            if not (drug and target):
                self._leave("drug unknown" if not drug else "condition unknown")
                continue
            lead = before(row["indications text"], row["disease name"])
            predicate = reading(lead)
            if not predicate and not pattern("absence").search(lead) and _place(row) == first(row):
                predicate, note = TREATS, note or CARRIER
            if not predicate:
                self._leave("named beside the indication")
                continue
            yield from self._judge(drug, predicate, target, note)

    def contraindications(self, path: Path) -> Iterator[Edge]:
        """Contraindications that Every Cure read out of FDA labels."""
        for row in self._rows("everycure contraindications", path):
            if "TRUE" in (row["is_allergen"].strip(), row["is_diagnostic_agent"].strip()):
                self._leave("allergen or diagnostic agent")
                continue
            if several(row["active ingredient"]):
                self._leave("several ingredients")
                continue
            named = row["disease contraindicated"]
            drug, target, note = self._ends(row, named, row["active ingredient"])
            if not (drug and target):
                self._leave("drug unknown" if not drug else "condition unknown")
                continue
            lead = before(row["contraindications"], named)
            if only_at_some_severity(lead, named):
                note = SEVERE
            if pattern("together").search(lead):
                self._leave("only with another drug")
                continue
            yield from self._judge(drug, CONTRAINDICATED, target, note)

    def maxo(self, folder: Path) -> Iterator[Edge]:
        """What procedures show (diagnostic annotations) and treat (therapeutic annotations)."""
        ground = self.ground
        for row in self._rows("maxo diagnostics", folder / "maxo_diagnostic_annotations.tsv"):
            finding = ground.ids.get(row["hpo_id"], "")
            if row["predicate_id"] != "is_observable_through":
                self._leave("another predicate")
            elif row["maxo_id"] not in ground.core or finding not in ground.core:
                # handed down the whole tree of findings: only those of hospital tables are kept
                self._leave("not in the core")
            else:
                yield row["maxo_id"], "biolink:diagnoses", finding, "", ""
        predicates = {"treats": TREATS, "prevents": PREVENTS}
        for row in self._rows("maxo", folder / "maxo-annotations.tsv"):
            # the finding is what is treated; without one it is the disease
            target = ground.ids.get(row["hpo_id"] or row["disease_id"], "")
            act = row["maxo_id"].strip()
            if act.startswith("MAXO:") and row["maxo_name"].strip():
                ground.learn(act, row["maxo_name"].strip().lower(), "procedure")
            if row["relation"] not in predicates:
                self._leave("another predicate")
            elif ground.kinds.get(act) != "procedure" or not target:
                self._leave("procedure unknown" if target else "condition unknown")
            elif refused(ground, act, target):
                self._leave("refused after reading")
            else:
                yield act, predicates[row["relation"]], target, "", row["source_id"]

    def _rows(self, table: str, path: Path) -> Iterator[Row]:
        self.table = table
        for row in read_rows(path):
            self.read[table] += 1
            yield row

    def _leave(self, reason: str) -> None:
        self.left[self.table, reason] += 1

    def _ends(self, row: Row, named: str, ingredient: str) -> tuple[str, str, str]:
        """Drug and condition of a row of Every Cure, and what to know of them."""
        ground, given = self.ground, row["final normalized disease id"]
        drug = ground.drug(row["final normalized drug label"])
        drug = drug or ground.ids.get(row["final normalized drug id"], "")
        drug = drug or ground.drug(ingredient.strip("{}'\""))
        if given in ground.ids:
            target, note = ground.ids[given], ""
        else:
            target, note = condition(ground, row["final normalized disease label"])
        if note or not target:
            again, wider = condition(ground, named)
            if again and not wider:
                target, note = again, wider
        # the label's own words for the condition clear the doubt
        doubted = doubt(row) and ground.conditions.get(key(named)) != target
        return drug, target, note or (doubt(row) if doubted else "")

    def _judge(self, drug: str, predicate: str, target: str, note: str) -> Iterator[Edge]:
        """The edge, under the route it holds for; nothing where it says too much or too little."""
        ground = self.ground
        if not drug or not target:
            self._leave("drug unknown" if not drug else "condition unknown")
        elif target in ground.too_broad and predicate != CONTRAINDICATED:
            self._leave("too broad a condition")
        elif (drug, target) in ground.denied and predicate == TREATS:
            self._leave("the core says that it does not")
        elif refused(ground, drug, target):
            self._leave("refused after reading")
        elif predicate != CONTRAINDICATED and self._vaccine(drug, target):
            self._leave("a vaccine, for whom it is given")
        elif self._opposed(drug, predicate, target):
            self._leave("the core says the opposite")
        else:
            routes = self._routes(drug, predicate, target)
            if not routes:
                self._leave("route unknown")
            if target in ground.too_broad:
                note = note or BROAD
            for route in sorted(routes):
                yield drug, predicate, target, route, note

    def _vaccine(self, drug: str, target: str) -> bool:
        """Whether a vaccine comes with a condition that the core does not let it prevent."""
        classes = self.ground.above.get(drug, ())
        return (
            any(above.startswith("ATC:J07") for above in classes)
            and (drug, PREVENTS, target) not in self.ground.routes
        )

    def _opposed(self, drug: str, predicate: str, target: str) -> bool:
        others = (TREATS, PREVENTS) if predicate == CONTRAINDICATED else (CONTRAINDICATED,)
        return any((drug, other, target) in self.ground.routes for other in others)

    def _routes(self, drug: str, predicate: str, target: str) -> set[str]:
        """The routes that the core states for the pair; else what is sure from the drug's others.

        A table without routes says "vancomycin treats C. difficile colitis", which holds by mouth
        only: it may not make the systemic drug treat it.
        """
        stated = self.ground.routes.get((drug, predicate, target))
        if stated:
            return stated
        if predicate == CONTRAINDICATED:
            return {""}
        local = self._local(drug, target) or self._only_local(drug)
        if local:
            return {local}
        own = {
            route
            for said, _, routes in self.ground.by_drug.get(drug, ())
            if said in (TREATS, PREVENTS)
            for route in routes
        }
        if "" in own or not own:
            return {""}
        # given by one parenteral route only, whatever for; anything else is not sure
        return own if len(own) == 1 and own <= set(rules()["parenteral"]) else set()

    def _local(self, drug: str, target: str) -> str:
        ground = self.ground
        classes = [above.removeprefix("ATC:") for above in ground.above.get(drug, ())]
        upper = {ground.names.get(one, "") for one in ground.ancestors(target)}
        name = ground.names[target]
        for rule in rules()["local_routes"]:
            here = name in rule["names"] or upper & set(rule["ancestors"])
            if not here or not any(code.startswith(tuple(rule["atc"])) for code in classes):
                continue
            systemic = any(
                "" in routes and ground.names[other] in rule["names"]
                for said, other, routes in ground.by_drug.get(drug, ())
                if said == TREATS
            )
            if not systemic:
                return str(rule["route"])
        return ""

    def _only_local(self, drug: str) -> str:
        """The route of a drug all of whose classes are of one local kind, and none of the core."""
        codes = [one.removeprefix("ATC:") for one in self.ground.above.get(drug, ())]
        for rule in rules()["local_routes"] if codes and drug not in self.ground.core else ():
            if all(code.startswith(tuple(rule["atc"])) for code in codes):
                return str(rule["route"])
        return ""


def _first_named(path: Path) -> Callable[[Row], int]:
    """By row of the indications: where the first condition of its label's text stands."""
    places: dict[tuple[str, str], int] = {}
    for row in read_rows(path):
        label, place = (row["drug name"], row["indications text"]), _place(row)
        if place >= 0:
            places[label] = min(place, places.get(label, place))
    return lambda row: places.get((row["drug name"], row["indications text"]), -1)


def _place(row: Row) -> int:
    return row["indications text"].lower().find(row["disease name"].lower())


def refused(ground: Ground, subject: str, target: str) -> bool:
    """Whether a reader refused the statement, whatever table makes it."""
    return ground.names[target] in rules()["refused"].get(ground.names[subject], ())
