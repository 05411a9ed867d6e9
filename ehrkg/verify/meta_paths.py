"""Meta-paths: what through the knowledge counts as evidence, read from meta_paths.yaml."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ehrkg.foundation.errors import InputError

HIERARCHY = "SUBCLASS_OF"
YIELDS_TO = ("nothing", "statement", "origins")
POLARITIES = ("supports", "contradicts", "neutral")

_NODE = re.compile(r"\((?P<name>\w+)(?::(?P<kind>\w+))?\)")
_STEP = re.compile(
    r"(?P<left><?)-\[(?P<negated>!?)(?P<predicates>[A-Z_0-9|]+)(?:\*(?P<least>\d)\.\.(?P<most>\d))?\]-(?P<right>>?)"
)


@dataclass(frozen=True)
class Node:
    """A place on a path: its name in the sentence, and the kind of concept it asks for ("" any)."""

    name: str
    kind: str = ""


@dataclass(frozen=True)
class Step:
    """One step of a path.

    Attributes:
        predicates: any of these; SUBCLASS_OF stands alone and may span several levels.
        forward: whether the edges are walked from subject to object.
        negated: whether negated edges are meant (they never serve a step that is not).
        least, most: how many levels of the hierarchy; 1 and 1 for other predicates.
    """

    predicates: tuple[str, ...]
    forward: bool = True
    negated: bool = False
    least: int = 1
    most: int = 1

    @property
    def hierarchical(self) -> bool:
        """Whether the step climbs or descends the hierarchy."""
        return self.predicates == (HIERARCHY,)


@dataclass(frozen=True)
class MetaPath:
    """A row of meta_paths.yaml, for one predicate; see the head of that file for the fields."""

    name: str
    predicate: str
    nodes: tuple[Node, ...]
    steps: tuple[Step, ...]
    polarity: str
    weight: float
    decay: float
    sufficient: bool
    yields_to: str
    says: str

    @property
    def least_levels(self) -> int:
        """Levels of the hierarchy on the shortest such path."""
        return sum(step.least for step in self.steps if step.hierarchical)

    @property
    def generalises_tail(self) -> bool:
        """Whether the tail is a genus of what is stated."""
        return self.steps[-1].hierarchical and self.steps[-1].forward

    @property
    def specialises_head(self) -> bool:
        """Whether what is stated is stated of a kind of the head."""
        return self.steps[0].hierarchical and not self.steps[0].forward

    @property
    def walks(self) -> bool:
        """Whether the hierarchy is used at all."""
        return any(step.hierarchical for step in self.steps)


@dataclass(frozen=True)
class Ends:
    """Whether what holds of a broader concept holds of the code, at either end of a predicate."""

    head: bool
    tail: bool


def ends_that_inherit(paths: Iterable[MetaPath], predicate: str) -> Ends:
    """At which ends of a predicate what is said of the genus holds of its kinds.

    It does, except where the paths lead the other way, from what is said of a kind to the genus:
    who causes a kind causes the genus, so the cause of the genus need not cause this kind.

    >>> ends_that_inherit(shipped_meta_paths(), "CAUSES")
    Ends(head=True, tail=False)
    >>> ends_that_inherit(shipped_meta_paths(), "TREATS")
    Ends(head=True, tail=True)
    """
    own = [one for one in paths if one.predicate == predicate and one.polarity == "supports"]
    return Ends(
        head=not any(one.specialises_head for one in own),
        tail=not any(one.generalises_tail for one in own),
    )


def parse_path(text: str, *, predicate: str = "SAME") -> tuple[tuple[Node, ...], tuple[Step, ...]]:
    """Read a path pattern.

    Args:
        text: as in Cypher, from (head) to (tail).
        predicate: what SAME stands for.

    Raises:
        ValueError: the text is no such pattern.

    >>> nodes, steps = parse_path("(head)-[TREATS]->(genus)<-[SUBCLASS_OF*1..2]-(tail)")
    >>> [node.name for node in nodes], steps[1].forward, steps[1].most
    (['head', 'genus', 'tail'], False, 2)
    """
    nodes: list[Node] = []
    steps: list[Step] = []
    at = 0
    while True:
        node = _NODE.match(text, at)
        if node is None:
            raise ValueError(f"a node such as (head) is missing at {text[at:]!r}")
        nodes.append(Node(node["name"], node["kind"] or ""))
        at = node.end()
        if at == len(text):
            break
        step = _STEP.match(text, at)
        if step is None or (step["left"] == "<") == (step["right"] == ">"):
            raise ValueError(f"a step such as -[TREATS]-> is missing at {text[at:]!r}")
        names = tuple(
            predicate if name == "SAME" else name for name in step["predicates"].split("|")
        )
        least, most = int(step["least"] or 1), int(step["most"] or 1)
        hierarchical = HIERARCHY in names
        if hierarchical and (len(names) > 1 or step["negated"] or not 1 <= least <= most):
            raise ValueError(f"{HIERARCHY} stands alone, un-negated, over 1 or more levels")
        if not hierarchical and most > 1:
            raise ValueError(f"only {HIERARCHY} may span several levels")
        steps.append(Step(names, step["right"] == ">", bool(step["negated"]), least, most))
        at = step.end()
    if nodes[0].name != "head" or nodes[-1].name != "tail" or not steps:
        raise ValueError("a path runs from (head) to (tail)")
    if all(step.hierarchical for step in steps):
        raise ValueError("a path needs a step that is not the hierarchy")
    return tuple(nodes), tuple(steps)


def read_meta_paths(file: Path) -> tuple[MetaPath, ...]:
    """Read a file of meta-paths: the shipped one, or a user's own of the same form.

    Args:
        file: YAML, a list of rows.

    Returns:
        One MetaPath for each row and predicate, in the file's order.

    Raises:
        InputError: a row does not follow the form; names the row.
    """
    rows = yaml.safe_load(file.read_text(encoding="utf-8"))
    found: list[MetaPath] = []
    for number, row in enumerate(rows, start=1):
        try:
            found += _row(row)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"row {number} is no meta-path: {error}",
                file=file,
                found=row,
                expected="the fields that the head of meta_paths.yaml lists",
                todo="mend the row",
            ) from error
    names = [(path.name, path.predicate) for path in found]
    if len(set(names)) < len(names):
        raise InputError("two meta-paths have one name", file=file, todo="rename one of them")
    return tuple(found)


def _row(row: dict[str, Any]) -> list[MetaPath]:
    polarity, weight = str(row["polarity"]), float(row["weight"])
    if polarity not in POLARITIES:
        raise ValueError(f"polarity {polarity!r} is none of {', '.join(POLARITIES)}")
    yields_to = str(row.get("yields_to", YIELDS_TO[0]))
    if yields_to not in YIELDS_TO:
        raise ValueError(f"yields_to {yields_to!r} is none of {', '.join(YIELDS_TO)}")
    if not 0.0 <= weight < 1.0:
        raise ValueError(f"weight {weight} does not lie in [0, 1)")
    paths = []
    for predicate in row["predicates"]:
        nodes, steps = parse_path(str(row["path"]), predicate=predicate)
        paths.append(
            MetaPath(
                name=str(row["name"]),
                predicate=str(predicate),
                nodes=nodes,
                steps=steps,
                polarity=polarity,
                weight=weight,
                decay=float(row.get("decay", 1.0)),
                sufficient=bool(row.get("sufficient", False)),
                yields_to=yields_to,
                says=str(row["says"]),
            )
        )
    return paths


@functools.cache
def shipped_meta_paths() -> tuple[MetaPath, ...]:
    """The meta-paths that ship with the package.

    >>> sorted({path.name for path in shipped_meta_paths() if path.predicate == "DIAGNOSES"})
    ['denied', 'denied_of_class', 'denied_of_genus', 'diagnoses_genus', 'kind_of_test', 'stated']
    """
    return read_meta_paths(Path(__file__).with_name("meta_paths.yaml"))
