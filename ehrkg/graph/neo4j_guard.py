"""Which statements may run as a query on Neo4j: one, that only reads the graph.

A transaction in READ mode is no fence: ``LOAD CSV`` opens files and addresses in it, and procedures
reach whatever they were written to reach. So the server's own planner is asked, by ``EXPLAIN``,
which runs nothing:

1. It parses the text, and accepts one statement only.
2. The kind of the statement is "reads", and every operator of the plan is known to read
   (``neo4j.yaml`` lists them): no ``LoadCSV``, nothing that writes, shows users or ends
   transactions.
3. Procedures are those that describe the graph; functions are the server's own, not a plugin's.
4. Subqueries inside expressions have no operators; the planner renders them in its details, where
   the same is looked for. Since not every expression is rendered, ``LOAD CSV``, ``CALL`` and a
   plugin's functions are also looked for among the words of the statement, strings and comments
   set apart.

It then runs in READ mode all the same.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Protocol

import yaml

from ehrkg.foundation.errors import UsageError
from ehrkg.graph import guard

_ESCAPE = re.compile(r"\\u+([0-9a-fA-F]{4})")
"""A character written by its number: the server reads these before anything else."""

_ONLY = "a query may hold one statement, and it may only read"
_BEGIN = "begin with MATCH, UNWIND, WITH or RETURN, and leave out what changes anything"


@dataclass(frozen=True)
class Plan:
    """What the planner makes of a statement.

    Attributes:
        kind: the planner's word: "r" reads, "rw" and "w" write, "s" changes schema or users.
        operators: names, with the details that the planner tells of each.
    """

    kind: str
    operators: Sequence[tuple[str, str]]


class Engine(Protocol):
    """What the guard asks of a server."""

    def plan(self, text: str, parameters: Mapping[str, Any]) -> Plan:
        """The plan of a statement, which is not run.

        Raises:
            UsageError: the server does not accept it.
        """
        ...

    def plugin_functions(self) -> Collection[str]:
        """The names of functions that are not the server's own."""
        ...


@cache
def _rules() -> Mapping[str, Any]:
    text = files("ehrkg.graph").joinpath("neo4j.yaml").read_text(encoding="utf-8")
    rules: Mapping[str, Any] = yaml.safe_load(text)
    return rules


@cache
def _reads() -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in _rules()["reading_operators"]))


@cache
def _callable() -> frozenset[str]:
    return frozenset(name.lower() for name in _rules()["callable"])


def judge(cypher: str, engine: Engine, parameters: Mapping[str, Any]) -> str:
    """The statement to run, once it is known to only read.

    Args:
        cypher: what somebody typed.
        engine: plans.
        parameters: bound values.

    Raises:
        UsageError: it is not one reading statement, or the engine does not accept it.
    """
    statement = cypher.strip().removesuffix(";").rstrip()
    if not statement:
        raise UsageError("the query is empty", todo="write one, such as MATCH (c:Code) RETURN c.id")
    _refuse_words(statement)
    plan = engine.plan(statement, parameters)
    for name, details in plan.operators:
        _check_operator(name, details)
    if plan.kind != "r":
        raise UsageError(_ONLY, todo=_BEGIN)
    told = "\n".join(details for _, details in plan.operators).replace("`", "").lower()
    named = _called(statement)
    for function in engine.plugin_functions():
        if function.lower() in named or f"{function.lower()}(" in told:
            raise UsageError(
                f"{_ONLY}: {function}() comes from a plugin, which may reach anything",
                todo="use the server's own functions",
            )
    return statement


def _check_operator(name: str, details: str) -> None:
    if not _reads().fullmatch(name):
        raise UsageError(f"{_ONLY}; this one would {name}", todo=_BEGIN)
    if name == "ProcedureCall":
        _check_procedure(details.partition("(")[0].replace("`", "").strip())
    if re.search(_rules()["hidden"], details, re.IGNORECASE):
        raise UsageError(
            f"{_ONLY}; this one reads files or calls a procedure within an expression",
            todo="read the file in Python and pass its values",
        )


def _check_procedure(name: str) -> None:
    if name.lower() not in _callable():
        raise UsageError(
            f"{_ONLY}: CALL {name} is not among the calls that only describe the graph",
            todo=f"call one of {', '.join(_rules()['callable'])}",
        )


def _words(statement: str) -> list[tuple[str, str]]:
    """The statement's elements, once characters written by their number are read."""
    plain = _ESCAPE.sub(lambda found: chr(int(found.group(1), 16)), statement)
    return list(guard.elements(plain))


def _called(statement: str) -> set[str]:
    """The dotted names that stand before a bracket, in small letters.

    >>> sorted(_called("RETURN apoc . `load`.json ($x) + size([1]) // apoc.never()"))
    ['apoc.load.json', 'json', 'load.json', 'size']
    """
    words = _words(statement)
    found = set()
    for at in range(len(words)):
        if _is_name(words[at:]):
            name, length = _dotted(words[at:])
            if words[at + length : at + length + 1] == [("sign", "(")]:
                found.add(name.lower())
    return found


def _refuse_words(statement: str) -> None:
    words = _words(statement)
    for at, (kind, text) in enumerate(words):
        if kind != "word":
            continue
        after = words[at + 1 :]
        if text.upper() == "LOAD" and after and after[0][1].upper() == "CSV":
            raise UsageError(
                f"{_ONLY}: LOAD CSV reads files and addresses",
                todo="read the file in Python and pass its values",
            )
        if text.upper() == "CALL" and _is_name(after):
            _check_procedure(_dotted(after)[0])


def _is_name(words: Sequence[tuple[str, str]]) -> bool:
    return bool(words) and words[0][0] in ("word", "quoted")


def _dotted(words: Sequence[tuple[str, str]]) -> tuple[str, int]:
    """The name with dots that words begin with, and of how many words it is made."""
    name, length = "", 0
    for at, (kind, text) in enumerate(words):
        if at % 2 == 0 and kind in ("word", "quoted"):
            name += text.strip("`")
        elif at % 2 == 1 and text == ".":
            name += "."
        else:
            break
        length = at + 1
    return name, length


def explained(said: str, statement: str) -> UsageError:
    """The server's message, with the line it means and a hint where its Cypher lacks something."""
    said = _as_typed(said)
    hints = [
        hint["say"]
        for hint in _rules()["hints"]
        if re.search(hint["when"], said if hint["in"] == "message" else statement, re.IGNORECASE)
    ]
    return UsageError(
        f"the query was not understood: {said.strip()}",
        todo=hints[0] if hints else "compare names with ehrkg.graph.schema: NODES and EDGES",
    )


def _as_typed(said: str) -> str:
    """A message about ``EXPLAIN …`` as one about what somebody typed: eight signs to the left."""
    if '"EXPLAIN ' not in said:
        return said
    moved = re.sub(
        r"line 1, column (\d+) \(offset: (\d+)\)",
        lambda at: f"line 1, column {int(at[1]) - 8} (offset: {int(at[2]) - 8})",
        said,
    )
    return moved.replace('"EXPLAIN ', '"').replace("\n        ", "\n")
