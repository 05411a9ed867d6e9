"""The node and relationship patterns of a query, and what they say of its variables."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from ehrkg.graph.lint_tokens import Token, Tokens


@dataclass(frozen=True)
class Pattern:
    """A node ``(a:Label)`` or a relationship ``[a:TYPE*1..3]``.

    Attributes:
        start, stop: places of its brackets.
        variable: its name, "" for none.
        names: its labels or types, as tokens.
        conjoined: several labels are asked for at once, as in ``(a:Code:Concept)``.
        keys: names in its property map.
        star: the place of its ``*``; None for a single step.
        longest: the greatest number of steps; None where unbounded.
        clause: the MATCH that it belongs to.
    """

    start: int
    stop: int
    variable: str
    names: tuple[Token, ...]
    conjoined: bool
    keys: tuple[Token, ...]
    star: int | None
    longest: int | None
    clause: int


@dataclass(frozen=True)
class Step:
    """A relationship between two nodes, as written from left to right.

    Attributes:
        edge: the relationship.
        left, right: the nodes beside it; None where none was read.
        arrow: "<", ">" or "" (either way).
    """

    edge: Pattern
    left: Pattern | None
    right: Pattern | None
    arrow: str


@dataclass(frozen=True)
class Patterns:
    """All patterns of a query."""

    nodes: tuple[Pattern, ...]
    steps: tuple[Step, ...]

    def variables(self) -> dict[str, tuple[str, tuple[str, ...]]]:
        """Each variable's sort (node or edge) and the labels or types that any pattern gives it."""
        found: dict[str, tuple[str, tuple[str, ...]]] = {}
        for sort, patterns in (("node", self.nodes), ("edge", [s.edge for s in self.steps])):
            for one in patterns:
                if one.variable:
                    names = tuple(token.name for token in one.names)
                    found[one.variable] = (sort, found.get(one.variable, (sort, ()))[1] + names)
        return found


def read_patterns(
    tokens: Tokens, beginnings: Collection[str], keywords: Collection[str]
) -> Patterns:
    """Find the patterns.

    Args:
        tokens: the query.
        beginnings: words that begin a clause, in small letters.
        keywords: words of the language, in small letters.
    """
    clauses = list(_clauses(tokens, beginnings))
    nodes: dict[int, Pattern] = {}
    edges: dict[int, Pattern] = {}
    for at, token in enumerate(tokens.tokens):
        if token.says("(") and _is_node(tokens, at, keywords):
            nodes[at] = _pattern(tokens, at, clauses[at])
        elif token.says("[") and is_edge(tokens, at):
            edges[at] = _pattern(tokens, at, clauses[at])
    ends = {one.stop: one for one in nodes.values()}
    steps = []
    for at, edge in edges.items():
        back = tokens[at - 2].says("<")
        ahead = tokens[edge.stop + 2].says(">")
        left = ends.get(at - (3 if back else 2))
        right = nodes.get(edge.stop + (3 if ahead else 2))
        steps.append(Step(edge, left, right, "<" if back else ">" if ahead else ""))
    return Patterns(tuple(nodes.values()), tuple(steps))


def is_edge(tokens: Tokens, at: int) -> bool:
    """Whether the square bracket at this place opens a relationship."""
    return tokens[at - 1].says("-") and tokens[at - 2].says(")", "<")


def _is_node(tokens: Tokens, at: int, keywords: Collection[str]) -> bool:
    before, stop = tokens[at - 1], tokens.close(at)
    if before.kind in ("word", "quoted") and before.text.lower() not in keywords:
        return False
    if tokens[at + 1].says(":") or tokens[at + 2].says(":"):
        return True
    beside = before.says("-", ">") or tokens[stop + 1].says("-", "<")
    short = stop <= at + 2 or tokens[at + 1].says("{") or tokens[at + 2].says("{")
    return (beside and short and not _sum(tokens, at, stop)) or before.says("MATCH")


def _sum(tokens: Tokens, at: int, stop: int) -> bool:
    """Whether the bracket is part of a calculation, such as ``(a) - 1``."""
    before, after = tokens[at - 1], tokens[stop + 1]
    ahead = tokens[stop + 2]
    after_joins = after.says("-", "<") and ahead.says("[", "-", ">")
    before_joins = before.says("-", ">") and tokens[at - 2].says("]", "-")
    return not (after_joins or before_joins)


def _clauses(tokens: Tokens, beginnings: Collection[str]) -> Iterator[int]:
    """For each token, the place of the clause's first word; a subquery has clauses of its own."""
    stack = [-1]
    for at, token in enumerate(tokens.tokens):
        if token.says("{"):
            stack.append(at)
        elif token.says("}") and len(stack) > 1:
            stack.pop()
        elif (
            token.kind == "word"
            and token.text.lower() in beginnings
            and not (tokens[at - 1].says(".", ":", "STARTS", "ENDS"))
        ):
            stack[-1] = at
        yield stack[-1]


def _pattern(tokens: Tokens, start: int, clause: int) -> Pattern:
    stop, at = tokens.close(start), start + 1
    variable, names, seen = "", [], ""
    if tokens[at].kind in ("word", "quoted") and not tokens[at].says("WHERE"):
        variable, at = tokens[at].name, at + 1
    while at < stop and tokens[at].says(":", "|", "&", "!"):
        seen += tokens[at].text
        at += 1
        if tokens[at].kind in ("word", "quoted"):
            names.append(tokens[at])
            at += 1
    star, longest = (at, _longest(tokens, at)) if tokens[at].says("*") else (None, 1)
    keys = tuple(
        tokens[place]
        for place in range(at, stop)
        if tokens[place].kind in ("word", "quoted")
        and tokens[place + 1].says(":")
        and tokens[place - 1].says("{", ",")
    )
    conjoined = "&" in seen or ":" in seen.lstrip(":").replace("|:", "|") or seen.startswith("::")
    return Pattern(start, stop, variable, tuple(names), conjoined, keys, star, longest, clause)


def _longest(tokens: Tokens, star: int) -> int | None:
    """The greatest number of steps after a star; None where there is none."""
    words = []
    for at in range(star + 1, star + 5):
        if tokens[at].kind != "number" and not tokens[at].says("."):
            break
        words.append(tokens[at].text)
    upper = "".join(words).rpartition("..")[2].strip(".") if words else ""
    written = "".join(words)
    if written.endswith(".") or not upper:
        return None
    return int(float(upper))
