"""The tasks of the benchmark, as data: which predicate licenses which answer, and where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

import yaml

from ehrkg.foundation.errors import UsageError

WITHIN = "visit"
ACROSS = "next"


@dataclass(frozen=True)
class TaskRelation:
    """One way in which a task's answer may be licensed.

    Attributes:
        predicate: the predicate of the relation.
        answer: which end of it is the answer, ``head`` or ``tail``.
        anchor: the kind of code at the other end, which stands in the context.
    """

    predicate: str
    answer: str
    anchor: str


@dataclass(frozen=True)
class Task:
    """One task of the benchmark.

    Attributes:
        name: as it stands in ``task`` columns.
        title: for people.
        answer_kind: the kind of code that is asked for.
        span: ``visit`` where answer and context share a visit, ``next`` where the answer stands in
            the visit after the context's.
        relations: the relations that license an answer.
    """

    name: str
    title: str
    answer_kind: str
    span: str
    relations: tuple[TaskRelation, ...]

    @property
    def asks_for_drugs(self) -> bool:
        """Whether the answers are drugs, which have routes and go by ingredient."""
        return self.answer_kind == "drug"

    def end_kinds(self, relation: TaskRelation) -> tuple[str, str]:
        """The kinds of head and tail of one of the task's relations.

        >>> treatment = tasks()["treatment"]
        >>> treatment.end_kinds(treatment.relations[0])
        ('drug', 'diagnosis')
        """
        if relation.answer == "head":
            return self.answer_kind, relation.anchor
        return relation.anchor, self.answer_kind


@cache
def tasks() -> Mapping[str, Task]:
    """All tasks by name, from ``tasks.yaml``.

    >>> list(tasks())
    ['diagnosis', 'treatment', 'prognosis']
    """
    rows = yaml.safe_load((Path(__file__).parent / "tasks.yaml").read_text(encoding="utf-8"))
    return MappingProxyType(
        {
            row["name"]: Task(
                name=row["name"],
                title=row["title"],
                answer_kind=row["answer_kind"],
                span=row["span"],
                relations=tuple(TaskRelation(**relation) for relation in row["relations"]),
            )
            for row in rows
        }
    )


def choose_tasks(names: Iterable[str] | None) -> tuple[Task, ...]:
    """The named tasks, in the order of ``tasks.yaml``; all of them for ``None``.

    Raises:
        UsageError: a name is unknown.

    >>> [task.name for task in choose_tasks(["prognosis", "diagnosis"])]
    ['diagnosis', 'prognosis']
    """
    if names is None:
        return tuple(tasks().values())
    wanted = {names} if isinstance(names, str) else set(names)
    unknown = sorted(wanted - set(tasks()))
    if unknown:
        raise UsageError(f"no such task: {', '.join(unknown)}", todo=f"use {', '.join(tasks())}")
    return tuple(task for name, task in tasks().items() if name in wanted)
