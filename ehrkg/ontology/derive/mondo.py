"""From Mondo: names, the tree between diseases, mappings to codes and vocabularies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping as Lookup
from dataclasses import dataclass, field
from pathlib import Path

from ehrkg.ontology import icd9cm, icd10cm
from ehrkg.ontology.curies import normalise
from ehrkg.ontology.derive.ground import Ground, closure
from ehrkg.ontology.derive.reading import add_names, key, read_rows, rules

Mapping = tuple[str, str, str, str]
"""Subject, SKOS predicate, object, confidence."""
Edge = tuple[str, str, str, str, str]
"""Subject, Biolink predicate, object, route, provenance."""

SUBCLASS = "biolink:subclass_of"
_SETS = (
    ("mondo_exactmatch_icd10cm", "skos:exactMatch", "0.95"),
    ("mondo_narrowmatch_icd10cm", "skos:narrowMatch", "0.9"),
    ("mondo_closematch_icd10cm", "skos:closeMatch", "0.75"),
    ("mondo_hasdbxref_icd9", "skos:closeMatch", "0.6"),
    ("mondo_exactmatch_doid", "skos:exactMatch", "0.95"),
    ("mondo_exactmatch_mesh", "skos:exactMatch", "0.95"),
)
_HUMAN = "MONDO:0700096"
_ANIMAL = "MONDO:0005583"


@dataclass
class Mondo:
    """What Mondo says of human diseases.

    Attributes:
        labels: id -> label, of those that a mapping labels.
        titles: (title of an ICD-10-CM code, id) of exact matches; (name of DO, id) likewise.
        up: id -> parents.
        mappings: every mapping of the sets used.
    """

    labels: dict[str, str] = field(default_factory=dict)
    titles: list[tuple[str, str]] = field(default_factory=list)
    up: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    mappings: list[Mapping] = field(default_factory=list)


def read_mondo(folder: Path) -> Mondo:
    """Read the subclass edges and the SSSOM sets of mondo/; diseases of animals are left out."""
    mondo = Mondo()
    for row in read_rows(folder / "edges_2023-08-01.tsv"):
        if row["p"] == "rdfs:subClassOf" and row["x"].startswith("MONDO:"):
            mondo.up[row["x"]].add(row["y"])
    for name, predicate, confidence in _SETS:
        for row in read_rows(folder / f"{name}.sssom.tsv"):
            subject, target = row["subject_id"], normalise(row["object_id"])
            if row["subject_label"].startswith("obsolete") or _of_animals(subject, mondo):
                continue
            mondo.labels.setdefault(subject, row["subject_label"])
            mondo.mappings.append((subject, predicate, target, confidence))
            if predicate == "skos:exactMatch" and row.get("object_label"):
                mondo.titles.append((str(row["object_label"]), subject))
    return mondo


def more_labels(mondo: Mondo, tables: Path) -> None:
    """Labels that Every Cure and MAxO give diseases of which no mapping set speaks."""
    given: dict[str, str] = {}
    for name in ("contraindications", "fda_indications"):
        for row in read_rows(tables / "everycure" / f"{name}.tsv"):
            given.setdefault(
                row["final normalized disease id"], row["final normalized disease label"]
            )
    for concept, label in sorted(given.items()):
        known = concept.startswith("MONDO:") and concept in mondo.up
        if known and label and not _of_animals(concept, mondo):
            mondo.labels.setdefault(concept, label)


def _of_animals(concept: str, mondo: Mondo) -> bool:
    upper = closure(concept, mondo.up)
    return concept == _ANIMAL or (_ANIMAL in upper and _HUMAN not in upper)


def learn(ground: Ground, mondo: Mondo) -> None:
    """Every labelled disease becomes known, as the core's concept of the same name where it is one.

    Of two diseases of Mondo that the core's one name fits, the one whose id it bears is meant.
    """
    for concept, label in sorted(mondo.labels.items()):
        same = ground.conditions.get(key(label))
        if concept not in ground.core and same in ground.core:
            ground.ids.setdefault(concept, same)
        else:
            ground.learn(concept, label, "disease")
            ground.ids.setdefault(concept, concept)
    add_names(
        ground.conditions,
        ((label, ground.ids[concept]) for concept, label in mondo.labels.items()),
    )
    for concept, predicate, target, _ in mondo.mappings:
        if predicate == "skos:exactMatch" and not target.startswith("ICD"):
            ground.ids.setdefault(target, ground.ids[concept])


def tree(ground: Ground, mondo: Mondo) -> set[tuple[str, str]]:
    """Subclass edges between known diseases: each to its nearest ancestors that are known.

    Between diseases of the core they are reduced to the nearest of the core, so that how far up
    counts stays as the core has it. What would close a circle, or would bring a disease under one
    that rules.yaml refuses it, is left out.
    """
    edges: set[tuple[str, str]] = set()
    core = {one for one in ground.core if ground.kinds[one] == "disease"}
    refused = _refused(ground)
    for concept in sorted(core & mondo.up.keys()):
        near = _nearest(concept, core, mondo.up)
        indirect = {
            other
            for other in near
            if any(other in closure(one, mondo.up) for one in near - {other})
        }
        for upper in sorted(near - indirect):
            _join(ground, concept, upper, refused.get(concept, set()), edges)
    known = {concept for concept in mondo.labels if ground.ids.get(concept) == concept}
    for concept in sorted(known - core):
        for upper in sorted(_nearest(concept, known, mondo.up)):
            _join(ground, concept, upper, set(), edges)
    for concept in sorted(core & mondo.up.keys()):
        for upper in sorted(_nearest(concept, known, mondo.up) - core):
            _join(ground, concept, upper, refused.get(concept, set()), edges)
    return edges


def _join(
    ground: Ground, concept: str, upper: str, refused: set[str], edges: set[tuple[str, str]]
) -> None:
    over = ground.ancestors(upper) | {upper}
    known = upper in ground.above.get(concept, ())
    if concept in over or over & refused or known:
        return
    if concept in ground.core and upper in ground.core and upper in ground.ancestors(concept):
        return
    ground.above[concept].add(upper)
    edges.add((concept, upper))


def _refused(ground: Ground) -> dict[str, set[str]]:
    named: dict[str, list[str]] = rules().get("refused_parents") or {}
    ids = ground.conditions
    found: dict[str, set[str]] = defaultdict(set)
    for name, parents in named.items():
        for upper in parents:
            if key(name) in ids and key(upper) in ids:
                found[ids[key(name)]].add(ids[key(upper)])
    return found


def _nearest(concept: str, mine: set[str], up: Lookup[str, set[str]]) -> set[str]:
    found: set[str] = set()
    seen: set[str] = set()
    stack = sorted(up.get(concept, ()))
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


def mappings(ground: Ground, mondo: Mondo, own: Path) -> list[Mapping]:
    """Mappings of known diseases whose code is in the code systems.

    Where the core says that a code is exactly another concept, the core is right.

    Args:
        ground: what is known.
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
            if ground.ids.get(subject) == subject
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
