"""From Mondo: names, the tree between diseases, mappings. From MAxO: what procedures are for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ehrkg.ontology import icd9cm, icd10cm
from ehrkg.ontology.curies import normalise
from ehrkg.ontology.derive_core import Core, add_names, key, read_rows, rules

Mapping = tuple[str, str, str, str]
"""Subject, SKOS predicate, object, confidence."""
Edge = tuple[str, str, str, str, str]
"""Subject, Biolink predicate, object, route, provenance."""

_SETS = (
    ("mondo_exactmatch_icd10cm", "skos:exactMatch", "0.95"),
    ("mondo_narrowmatch_icd10cm", "skos:narrowMatch", "0.9"),
    ("mondo_closematch_icd10cm", "skos:closeMatch", "0.75"),
    ("mondo_hasdbxref_icd9", "skos:closeMatch", "0.6"),
    ("mondo_exactmatch_doid", "skos:exactMatch", "0.95"),
)


@dataclass
class Mondo:
    """What Mondo says.

    Attributes:
        labels: id -> label.
        up: id -> parents.
        doid: DOID -> id.
        mappings: every mapping of the sets used.
    """

    labels: dict[str, str] = field(default_factory=dict)
    up: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    doid: dict[str, str] = field(default_factory=dict)
    mappings: list[Mapping] = field(default_factory=list)


def read_mondo(folder: Path) -> Mondo:
    """Read the subclass edges and the SSSOM sets of mondo/."""
    mondo = Mondo()
    for name, predicate, confidence in _SETS:
        for row in read_rows(folder / f"{name}.sssom.tsv"):
            subject, target = row["subject_id"], normalise(row["object_id"])
            if row["subject_label"].startswith("obsolete"):
                continue
            mondo.labels.setdefault(subject, row["subject_label"])
            mondo.mappings.append((subject, predicate, target, confidence))
            if target.startswith("DOID:"):
                mondo.doid.setdefault(target, subject)
    for row in read_rows(folder / "mondo_exactmatch_mesh.sssom.tsv"):
        mondo.labels.setdefault(row["subject_id"], row["subject_label"])
    for row in read_rows(folder / "edges_2023-08-01.tsv"):
        if row["p"] == "rdfs:subClassOf" and row["x"].startswith("MONDO:"):
            mondo.up[row["x"]].add(row["y"])
    return mondo


def resolver(core: Core, mondo: Mondo) -> dict[str, str]:
    """CURIE (MONDO, DOID, HP) -> the core's concept, by id or by the same name."""
    found = {concept: concept for concept in core.names if concept in core.kinds}
    for concept, label in sorted(mondo.labels.items()):
        same = core.conditions.get(key(label))
        if same:
            found.setdefault(concept, same)
    for doid, concept in sorted(mondo.doid.items()):
        if concept in found:
            found.setdefault(doid, found[concept])
    add_names(
        core.conditions,
        ((label, found[concept]) for concept, label in mondo.labels.items() if concept in found),
    )
    return found


def tree(core: Core, mondo: Mondo) -> list[Edge]:
    """Subclass edges between the core's diseases, reduced to the nearest ancestors.

    An edge that would close a circle with the core's own is left out, and so is one that
    derive_rules.yaml refuses.
    """
    refused = _refused(core)
    mine = {concept for concept, kind in core.kinds.items() if kind == "disease"}
    edges: list[Edge] = []
    for concept in sorted(mine & mondo.up.keys()):
        near = _nearest(concept, mine, mondo.up)
        above_others = {
            other for other in near if any(other in _all(one, mondo.up) for one in near - {other})
        }
        for upper in sorted(near - above_others):
            known = core.ancestors(concept)
            circle = upper in known or concept in core.ancestors(upper)
            if circle or (concept, upper) in refused:
                continue
            core.above[concept].add(upper)
            edges.append((concept, "biolink:subclass_of", upper, "", ""))
    return edges


def _refused(core: Core) -> set[tuple[str, str]]:
    named: dict[str, list[str]] = rules().get("refused_parents") or {}
    ids = core.conditions
    return {
        (ids[key(name)], ids[key(upper)])
        for name, parents in named.items()
        for upper in parents
        if key(name) in ids and key(upper) in ids
    }


def _nearest(concept: str, mine: set[str], up: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    seen: set[str] = set()
    stack = sorted(up[concept])
    while stack:
        upper = stack.pop()
        if upper in seen:
            continue
        seen.add(upper)
        if upper in mine:
            found.add(upper)
        else:
            stack.extend(sorted(up.get(upper, ())))
    return found - {concept}


def _all(concept: str, up: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    stack = sorted(up.get(concept, ()))
    while stack:
        upper = stack.pop()
        if upper not in found:
            found.add(upper)
            stack.extend(sorted(up.get(upper, ())))
    return found


def mappings(core: Core, mondo: Mondo, own: Path) -> list[Mapping]:
    """Mappings whose subject is in the core and whose code is in the code systems.

    Where the core says that a code is exactly another concept, the core is right.

    Args:
        core: the core.
        mondo: what Mondo says.
        own: the core's own mappings.
    """
    same: dict[str, set[str]] = defaultdict(set)
    for row in read_rows(own) if own.is_file() else ():
        if row["predicate_id"] == "skos:exactMatch":
            same[row["object_id"]].add(row["subject_id"])
    return sorted(
        {
            (subject, predicate, target, confidence)
            for subject, predicate, target, confidence in mondo.mappings
            if subject in core.names
            and exists(target)
            and (predicate != "skos:exactMatch" or subject in same.get(target, {subject}))
        }
    )


def exists(code: str) -> bool:
    """Whether an ICD code is one of its system's; ids of other vocabularies are let through.

    >>> exists("ICD10CM:I50.2"), exists("ICD10CM:I00-I99"), exists("ICD9CM:428"), exists("DOID:4")
    (True, False, True, True)
    """
    system, _, local = code.partition(":")
    if "-" in local:
        return False
    if system == "ICD10CM":
        return bool(icd10cm.node(local).name)
    if system == "ICD9CM":
        return bool(icd9cm.node(local).name)
    return True


def maxo_edges(folder: Path, core: Core, ids: dict[str, str]) -> Iterator[Edge]:
    """What procedures show (diagnostic annotations) and treat (therapeutic annotations)."""
    for row in read_rows(folder / "maxo_diagnostic_annotations.tsv"):
        finding = ids.get(row["hpo_id"]) or core.conditions.get(key(row["hpo_label"]), "")
        shown = row["predicate_id"] == "is_observable_through" and row["maxo_id"] in core.names
        if shown and finding:
            yield row["maxo_id"], "biolink:diagnoses", finding, "", ""
    for row in read_rows(folder / "maxo-annotations.tsv"):
        predicate = {"treats": "biolink:treats", "prevents": "biolink:preventative_for_condition"}
        # the finding is what is treated; without one it is the disease
        target = ids.get(row["hpo_id"] or row["disease_id"], "")
        if row["relation"] in predicate and row["maxo_id"].strip() in core.names and target:
            yield row["maxo_id"].strip(), predicate[row["relation"]], target, "", row["source_id"]
