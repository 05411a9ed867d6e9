"""Which statements may run as a query: one, that only reads the graph.

A read-only transaction is no fence: ``ROLLBACK; CREATE …`` leaves it, and exports, imports and
extensions work inside it. Binding a statement is not safe either: it opens files and makes folders.
So a statement is judged in three steps, and has to pass each:

1. Its words, read by the engine's lexical rules (comments, strings and quoted names set apart):
   ``LOAD`` never, ``CALL`` only of functions that describe the graph. These two are grammatical
   inside a query, so the parser can't tell them from harmless clauses before binding them.
2. The engine's parser, without binding: it parses ``COPY (…) TO`` around the text, where the
   grammar admits nothing but a query, in front of a second statement, which it refuses to bind.
3. The engine's plan, drawn in a read-only transaction: no operator in it changes anything.

It then runs in a read-only transaction all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any, Protocol

import yaml

from ehrkg.foundation.errors import UsageError

_SEVERAL = "prepare multiple statements"
"""What the engine says, once it has parsed several statements, instead of binding them."""

_ELEMENT = re.compile(
    r"""
      (?P<comment>/\*.*?\*/ | //[^\n]*)
    | (?P<string>'(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*")
    | (?P<quoted>`[^`]*`)
    | (?P<parameter>\$\w+)
    | (?P<word>[^\W\d]\w*)
    | (?P<space>\s+)
    | (?P<sign>.)
    """,
    re.VERBOSE | re.DOTALL,
)

_ONLY = "a query may hold one statement, and it may only read"
_BEGIN = "begin with MATCH, UNWIND, WITH or RETURN, and leave out what changes anything"


class Engine(Protocol):
    """What the guard asks of an engine."""

    def complaint(self, text: str, parameters: Mapping[str, Any]) -> str:
        """What preparing the text makes the engine say; "" where it is content."""
        ...

    def plan(self, text: str, parameters: Mapping[str, Any]) -> str:
        """The drawing of the statement's logical plan, without running it.

        Raises:
            RuntimeError: it can't be bound.
        """
        ...


@cache
def _rules() -> Mapping[str, Any]:
    text = files("ehrkg.graph").joinpath("ladybug.yaml").read_text(encoding="utf-8")
    rules: Mapping[str, Any] = yaml.safe_load(text)
    return rules


def macros() -> tuple[str, ...]:
    """The macros that fill gaps of the engine's Cypher, made when a file is made."""
    return tuple(_rules()["macros"])


def judge(cypher: str, engine: Engine, parameters: Mapping[str, Any]) -> str:
    """The statement to run, once it is known to only read.

    Args:
        cypher: what somebody typed.
        engine: parses and plans.
        parameters: bound values; their types matter to the plan.

    Raises:
        UsageError: it is not one reading statement, or the engine does not accept it.
    """
    statement = cypher.strip().removesuffix(";").rstrip()
    if not statement:
        raise UsageError("the query is empty", todo="write one, such as MATCH (c:Code) RETURN c.id")
    _refuse_words(statement)
    said = engine.complaint(f"{statement}\n; RETURN 1", {})
    if _SEVERAL not in said:
        raise explained(said, statement)
    if _SEVERAL not in engine.complaint(f"COPY ({statement}\n) TO 'never'; RETURN 1", {}):
        raise UsageError(_ONLY, todo=_BEGIN)
    try:
        plan = engine.plan(statement, parameters)
    except RuntimeError as error:
        if any(words in str(error) for words in ("write query", "write operations")):
            raise UsageError(_ONLY, todo=_BEGIN) from error
        raise explained(str(error), statement) from error
    changing = sorted(operators(plan) & set(_rules()["changing_operators"]))
    if changing:
        raise UsageError(f"{_ONLY}; this one would {changing[0]}", todo=_BEGIN)
    return statement


def elements(statement: str) -> Iterator[tuple[str, str]]:
    """The words, strings, quoted names, parameters and signs of a statement, each with its kind.

    >>> list(elements("CALL /* x */ `a`('b') // c"))
    [('word', 'CALL'), ('quoted', '`a`'), ('sign', '('), ('string', "'b'"), ('sign', ')')]
    """
    for found in _ELEMENT.finditer(statement):
        kind = found.lastgroup or "sign"
        if kind not in ("comment", "space"):
            yield kind, found.group()


def _refuse_words(statement: str) -> None:
    allowed = set(_rules()["callable"])
    before = ""
    for kind, text in elements(statement):
        word = text.strip("`").upper() if kind in ("word", "quoted") else text
        if kind == "word" and word == "LOAD" and before not in (".", ":"):
            raise UsageError(
                f"{_ONLY}: LOAD reads files", todo="read the file in Python and pass its values"
            )
        if before == "CALL" and kind != "sign" and word.upper() not in allowed:
            raise UsageError(
                f"{_ONLY}: CALL {text} is not among the calls that only describe the graph",
                todo=f"call one of {', '.join(sorted(allowed)).lower()}",
            )
        before = word


def operators(plan: str) -> set[str]:
    """The operators' names in the drawing of a plan: the first row of every box.

    >>> sorted(operators('''
    ... ┌──────┐ ┌─────┐
    ... │ SCAN │ │ SET │
    ... │ x: y │ └─────┘
    ... └──────┘'''))
    ['SCAN', 'SET']
    """
    names: set[str] = set()
    lines = plan.splitlines()
    for border, row in pairwise(lines):
        if border.lstrip().startswith("┌"):
            names.update(part.strip() for part in row.split("│"))
    return {name for name in names if name and not name.startswith(("┌", "Logical"))}


def explained(said: str, statement: str) -> UsageError:
    """The engine's message, with the line it means and a hint where its Cypher lacks something."""
    hints = [
        hint["say"]
        for hint in _rules()["hints"]
        if re.search(hint["when"], said if hint["in"] == "message" else statement, re.IGNORECASE)
    ]
    return UsageError(
        f"the query was not understood: {said.strip()}",
        todo=hints[0] if hints else "compare names with ehrkg.graph.schema: NODES and EDGES",
    )
