"""What in a query is not the same on both engines: refused by one, or silently different.

``lint`` reads tokens, never the bare text, so that strings and comments say nothing; its rules are
rows of lint.yaml, and the schema is that of ``ehrkg.graph.schema``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import combinations
from typing import Any

import yaml

from ehrkg.graph.lint_patterns import Pattern, Patterns, Step, is_edge, read_patterns
from ehrkg.graph.lint_tokens import Token, Tokens
from ehrkg.graph.schema import EDGES, NODES, EdgeType, NodeType

_OWN = frozenset({"build"})
"""Properties of every node beside those of its label."""


@dataclass(frozen=True, order=True)
class Finding:
    """What is wrong at one place of a query.

    Attributes:
        line, column: from 1.
        message: what differs.
        hint: what to write instead.
    """

    line: int
    column: int
    message: str
    hint: str

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {self.message}; {self.hint}"


@cache
def _rules() -> Mapping[str, Any]:
    text = files("ehrkg.graph").joinpath("lint.yaml").read_text(encoding="utf-8")
    rules: dict[str, Any] = yaml.safe_load(text)
    for name in ("shared", "names", "keywords", "beginnings"):
        rules[name] = frozenset(word.lower() for word in rules[name])
    rules["functions"] = {name.lower(): rule for name, rule in rules["functions"].items()}
    rules["clauses"] = {name.lower(): message for name, message in rules["clauses"].items()}
    return rules


def lint(text: str) -> list[Finding]:
    """What keeps a query from giving the same answer on both engines, in the order of the text.

    Args:
        text: Cypher, with or without a header.

    Returns:
        Nothing where the query is sound.

    >>> for finding in lint("MATCH (c:Code)-[m]->() RETURN type(m) AS kind"):
    ...     print(finding)
    1:31: type() is not Cypher of the embedded engine; name each type in its own MATCH and ...
    >>> lint("MATCH (c:Code) WHERE c.name = 'type(r)' RETURN c.id AS code  // head(l)")
    []
    """
    tokens = Tokens(text)
    patterns = read_patterns(tokens, _rules()["beginnings"], _rules()["keywords"])
    found = {one for check in _TOKEN_CHECKS for one in check(tokens)}
    found |= {one for check in _PATTERN_CHECKS for one in check(tokens, patterns)}
    return sorted(found)


def _at(token: Token, message: str, hint: str) -> Finding:
    return Finding(token.line, token.column, message, hint)


def _functions(tokens: Tokens) -> Iterator[Finding]:
    rules = _rules()
    for at, token in enumerate(tokens.tokens):
        if token.kind != "word" or not tokens[at + 1].says("("):
            continue
        name = token.text.lower()
        if tokens[at - 1].says("."):
            yield _at(
                token,
                f"{token.text}() is a function of an extension",
                "use functions of the language",
            )
        elif name in rules["functions"]:
            rule = rules["functions"][name]
            yield _at(token, rule["message"], rule["hint"])
        elif name not in rules["shared"] and name not in rules["keywords"]:
            yield _at(
                token,
                f"{token.text}() is not known to be the same on both engines",
                f"use some of {', '.join(sorted(rules['shared']))}",
            )
        if name in rules["arguments"]:
            rule = rules["arguments"][name]
            if len(tokens.parts(at + 2, tokens.close(at + 1))) != rule["number"]:
                yield _at(token, rule["message"], rule["hint"])


def _runs(tokens: Tokens, at: int, wanted: list[str]) -> bool:
    """Whether these tokens stand here, one after the other."""
    return all(_fits(tokens[at + place], word) for place, word in enumerate(wanted))


def _fits(token: Token, word: str) -> bool:
    if word == "<any>":
        return token.kind != "end"
    if word.startswith("<") and word.endswith(">"):
        return token.kind == word[1:-1]
    return token.text.upper() == word.upper() and token.kind in ("word", "sign", "number")


def _sequences(tokens: Tokens, patterns: Patterns) -> Iterator[Finding]:
    labelled = {one.start for one in patterns.nodes}
    for at, token in enumerate(tokens.tokens):
        for rule in _rules()["sequences"]:
            in_node = at - 1 in labelled or tokens[at - 1].says(":")
            if _runs(tokens, at, rule["tokens"]) and not in_node:
                yield _at(token, rule["message"], rule["hint"])


def _clauses(tokens: Tokens) -> Iterator[Finding]:
    for at, token in enumerate(tokens.tokens):
        message = _rules()["clauses"].get(token.text.lower()) if token.kind == "word" else None
        inside = tokens[at - 1].says(".", ":", "|", "AS") or tokens[at + 1].says(".", ":", ",", ")")
        if message and not inside:
            yield _at(token, f"{token.text.upper()}: {message}", "leave it out")


def _lists(tokens: Tokens) -> Iterator[Finding]:
    for at, token in enumerate(tokens.tokens):
        if not token.says("[") or is_edge(tokens, at):
            continue
        before, stop = tokens[at - 1], tokens.close(at)
        valued = (
            before.kind in ("param", "quoted", "string")
            or before.says(")", "]")
            or (before.kind == "word" and before.text.lower() not in _rules()["keywords"])
        )
        if valued:
            yield _at(
                token,
                "lists count from 0 on one engine and from 1 on the other",
                "UNWIND the list, or match with ORDER BY and LIMIT 1",
            )
        elif tokens[at + 1].kind == "word" and tokens[at + 2].says("IN"):
            yield _at(
                token,
                "the embedded engine has no list comprehensions",
                "UNWIND the list, and collect() it again",
            )
        elif tokens[at + 1].says("(") and any(is_edge(tokens, p) for p in range(at + 1, stop)):
            yield _at(
                token,
                "the embedded engine has no pattern comprehensions",
                "use OPTIONAL MATCH and collect()",
            )


def _labels(tokens: Tokens, patterns: Patterns) -> Iterator[Finding]:
    for known, found, what in (
        (NODES, patterns.nodes, "label"),
        (EDGES, [step.edge for step in patterns.steps], "type"),
    ):
        for one in found:
            for token in one.names:
                if token.name not in known:
                    yield _at(
                        token,
                        f"the graph has no {what} {token.name}",
                        f"use one of {', '.join(known)}",
                    )
            if one.conjoined:
                yield _at(
                    tokens[one.start],
                    "several labels mean any of them on one engine and all of them on the other",
                    "name one label, or (a:This|That) for any",
                )


def _directions(tokens: Tokens, patterns: Patterns) -> Iterator[Finding]:
    labels = patterns.variables()

    def of(node: Pattern | None) -> set[str]:
        if node is None:
            return set(NODES)
        own = {token.name for token in node.names}
        return own or set(labels.get(node.variable, ("", ()))[1]) or set(NODES)

    for step in patterns.steps:
        types = [token.name for token in step.edge.names]
        joins = {pair for name in types if name in EDGES for pair in EDGES[name].joins}
        ways = [(of(step.left), of(step.right)), (of(step.right), of(step.left))]
        ways = ways[:1] if step.arrow == ">" else ways[1:] if step.arrow == "<" else ways
        fits = any(a in start and b in end for a, b in joins for start, end in ways)
        if joins and not fits and step.edge.star is None:
            shown = ", ".join(f"(:{a})-[:{types[0]}]->(:{b})" for a, b in sorted(joins))
            yield _at(
                tokens[step.edge.start],
                f"{'|'.join(types)} joins no such nodes this way: "
                "an error on one engine, nothing on the other",
                f"the graph has {shown}",
            )


def _lengths(tokens: Tokens, patterns: Patterns) -> Iterator[Finding]:
    longest = _rules()["longest"]
    for step in patterns.steps:
        edge = step.edge
        if edge.star is not None and (edge.longest is None or edge.longest > longest):
            yield _at(
                tokens[edge.star],
                "a path without a bound, or with a wide one, is walked to "
                "another depth on each engine",
                f"write *1..{longest} or less",
            )


def _same_edge(tokens: Tokens, patterns: Patterns) -> Iterator[Finding]:
    """Two relationships of one MATCH that one edge could be."""
    by_clause: dict[int, list[Step]] = defaultdict(list)
    for step in patterns.steps:
        by_clause[step.edge.clause].append(step)
    for steps in by_clause.values():
        for one, other in combinations(steps, 2):
            types = [{token.name for token in step.edge.names} for step in (one, other)]
            named = one.edge.variable and one.edge.variable == other.edge.variable
            if not named and (not all(types) or types[0] & types[1]):
                yield _at(
                    tokens[other.edge.start],
                    "in one MATCH, Neo4j never takes one edge twice; the embedded engine does",
                    "begin a second MATCH here",
                )


def _properties(tokens: Tokens, patterns: Patterns) -> Iterator[Finding]:
    variables = patterns.variables()
    every = {name for node in NODES.values() for name in node.properties.names}
    every |= {name for edge in EDGES.values() for name in edge.properties.names}
    for at, token in enumerate(tokens.tokens):
        names_one = token.kind in ("word", "quoted") and not tokens[at - 1].says(".", "$")
        if names_one and tokens[at + 1].says(".") and token.name in variables:
            yield from _property(tokens[at + 2], *variables[token.name], every)
    for sort, found in (("node", patterns.nodes), ("edge", [s.edge for s in patterns.steps])):
        for one in found:
            own = tuple(name.name for name in one.names)
            for key in one.keys:
                yield from _property(key, sort, own, every)


def _property(
    token: Token, sort: str, names: tuple[str, ...], every: set[str]
) -> Iterator[Finding]:
    known: Mapping[str, NodeType | EdgeType] = NODES if sort == "node" else EDGES
    asked = [name for name in names if name in known]
    has = {p for name in asked for p in known[name].properties.names} if asked else every
    if sort == "node":
        has |= _OWN
    if token.name not in has and token.kind in ("word", "quoted"):
        yield _at(
            token,
            f"{' or '.join(asked) or 'the graph'} has no property {token.name}: an error on one "
            "engine, null on the other",
            f"use some of {', '.join(sorted(has))}" if asked else "see ehrkg.graph.schema",
        )


def _unwound(tokens: Tokens, at: int) -> bool:
    """Whether an alias is what an UNWIND gives: it begins there, and hides nothing."""
    clause = (tokens[i] for i in range(at, -1, -1) if tokens[i].says("UNWIND", "WITH", "RETURN"))
    return next(clause, tokens[at]).says("UNWIND")


def _names(tokens: Tokens, patterns: Patterns) -> Iterator[Finding]:
    variables, reserved = patterns.variables(), _rules()["names"]
    for at, token in enumerate(tokens.tokens):
        alias = tokens[at - 1].says("AS") and token.kind in ("word", "quoted")
        named = (
            alias
            or token.kind == "param"
            or (tokens[at - 1].says(".") and token.kind == "word" and not tokens[at + 1].says("("))
        )
        if named and token.name.lower() in reserved:
            yield _at(
                token, f"{token.name} is a word of the language on one engine", "use another name"
            )
        hides = alias and token.name in variables and tokens[at - 2].name != token.name
        if hides and not _unwound(tokens, at):
            yield _at(
                token,
                f"the alias {token.name} hides the variable {token.name}, and ORDER "
                "BY means another one on each engine",
                "use another alias",
            )


def _repeated(tokens: Tokens) -> Iterator[Finding]:
    """One expression twice after DISTINCT, in a query with UNION: it ends the engine's process."""
    if not any(token.says("UNION") for token in tokens.tokens):
        return
    for at, token in enumerate(tokens.tokens):
        if not (token.says("RETURN") and tokens[at + 1].says("DISTINCT")):
            continue
        stop = next(
            (
                p
                for p in range(at + 2, len(tokens))
                if tokens[p].says("ORDER", "UNION", "LIMIT", "SKIP")
            ),
            len(tokens),
        )
        seen: set[tuple[str, ...]] = set()
        for start, end in tokens.parts(at + 2, stop):
            words = [tokens[place].text for place in range(start, end)]
            named = len(words) > 2 and words[-2].upper() == "AS"
            expression = tuple(words[:-2] if named else words)
            if expression in seen:
                yield _at(
                    tokens[start],
                    "one expression twice after DISTINCT, in a UNION, can end "
                    "the embedded engine's process",
                    "return it once",
                )
            seen.add(expression)


_TOKEN_CHECKS: tuple[Callable[[Tokens], Iterator[Finding]], ...] = (
    _functions,
    _clauses,
    _lists,
    _repeated,
)
_PATTERN_CHECKS: tuple[Callable[[Tokens, Patterns], Iterator[Finding]], ...] = (
    _sequences,
    _labels,
    _directions,
    _lengths,
    _same_edge,
    _properties,
    _names,
)
