"""The named queries: Cypher files with a header that a program reads.

A query's file begins with comment lines, ``// name: value``: ``title``, ``purpose``, ``columns``,
and one ``param`` a parameter: ``// param: min_score float 0.5  Least score to show.``

``python -m ehrkg.graph.catalogue`` writes their index, ``cypher/README.md``, out of the headers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Protocol, overload

from ehrkg.foundation.errors import InputError, UsageError
from ehrkg.foundation.resources import shipped
from ehrkg.foundation.texts import utf8_text
from ehrkg.graph.parameters import plain

TYPES: Mapping[str, type] = {
    "string": str,
    "integer": int,
    "float": float,
    "boolean": bool,
    "strings": list,
}
"""The types that a parameter may have; ``strings`` are written with commas between them."""

_WORDS = {"true": True, "yes": True, "false": False, "no": False}

BUILD = "build"
"""The parameter that names the build to ask; what is opened decides it where nobody gives it."""

LIMIT = "limit"
"""The parameter that says how many rows to show at most."""

FOLDERS: Mapping[str, str] = {
    "audits": "Audits: is what the graph says well founded?",
    "subsets": "Subsets: cutting a part of the benchmark (each returns template ids)",
}


class Answering(Protocol):
    """What a query needs of a store."""

    build: str

    def query(self, cypher: str, /, **parameters: Any) -> Any:
        """The answer, as a table."""
        ...


@dataclass(frozen=True)
class Parameter:
    """A parameter of a named query: its type, its default, and what it is for."""

    name: str
    type: str
    default: str
    help: str

    def value(self, given: Any) -> Any:
        """The parameter's value, out of text or of a Python value of its type.

        Raises:
            UsageError: it is not of the parameter's type.

        >>> Parameter("k", "integer", "10", "").value("12")
        12
        >>> Parameter("ids", "strings", "''", "").value("p1, p2")
        ['p1', 'p2']
        """
        given = plain(given)
        try:
            value = self._text(given) if isinstance(given, str) else self._typed(given)
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(
                f"{self.name}={given!r} is no {self.type}", todo=f"give {_article(self.type)}"
            ) from error
        if self.name == LIMIT and value < 0:
            raise UsageError(
                f"{self.name}={given!r} is no number of rows", todo="give 0 or a greater integer"
            )
        return value

    def _text(self, given: str) -> Any:
        if self.type == "boolean":
            return _WORDS[given.strip().lower()]
        if self.type == "strings":
            return [part.strip() for part in given.split(",") if part.strip()]
        return TYPES[self.type](given)

    def _typed(self, given: Any) -> Any:
        if self.type == "strings" and not all(isinstance(one, str) for one in given):
            raise TypeError(given)
        if self.type == "strings":
            return list(given)
        if isinstance(given, bool) != (self.type == "boolean") or self.type == "string":
            raise TypeError(given)
        if self.type == "integer" and int(given) != given:
            raise ValueError(given)
        return TYPES[self.type](given)

    def __str__(self) -> str:
        shown = "''" if self.default == "" else self.default
        return f"{self.name} ({self.type}, {shown})"


@dataclass(frozen=True)
class NamedQuery:
    """A query with its documentation.

    Attributes:
        name: ``audits/unmapped_codes``, say; the file's own path for a user's query.
        title: in a few words.
        purpose: what it is for.
        parameters: each with type and default.
        columns: what it returns.
        text: the Cypher.
    """

    name: str
    title: str
    purpose: str
    parameters: tuple[Parameter, ...]
    columns: tuple[str, ...]
    text: str

    def bind(self, given: Iterable[str] | Mapping[str, Any] = ()) -> dict[str, Any]:
        """Values of all parameters, out of what is given and the defaults.

        Args:
            given: ``name=value`` texts, or a mapping of names to values.

        Raises:
            UsageError: a name is unknown, or a value is not of its type.
        """
        known = {parameter.name: parameter for parameter in self.parameters}
        values = {name: parameter.value(parameter.default) for name, parameter in known.items()}
        for name, value in _pairs(given):
            if name not in known or value is None:
                raise UsageError(
                    f"{self.name} has no parameter {name!r}"
                    if name not in known
                    else f"{name} is given no value",
                    todo=f"name=value (-p name=value) with one of: {', '.join(known) or '(none)'}; "
                    "a file of yours declares each: // param: name type default  help",
                )
            values[name] = known[name].value(value)
        return values

    def ask(self, store: Answering, given: Iterable[str] | Mapping[str, Any] = ()) -> Any:
        """The query's answer over a store, about the store's own build if no other is named.

        Raises:
            UsageError: a parameter is unknown or of another type, or the query is refused.
        """
        pairs = dict(_pairs(given))
        if BUILD in {parameter.name for parameter in self.parameters}:
            pairs.setdefault(BUILD, store.build)
        return store.query(self.text, **self.bind(pairs))


class Queries(Sequence[NamedQuery]):
    """Named queries, by name; prints as a list and shows as a table in a notebook.

    Args:
        queries: in the order in which they are shown.
    """

    def __init__(self, queries: Iterable[NamedQuery]) -> None:
        self._queries = tuple(queries)

    @overload
    def __getitem__(self, at: int) -> NamedQuery: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[NamedQuery]: ...

    def __getitem__(self, at: int | slice) -> NamedQuery | Sequence[NamedQuery]:
        return self._queries[at]

    def __len__(self) -> int:
        return len(self._queries)

    def __repr__(self) -> str:
        return "\n".join(f"{query.name}: {query.title}" for query in self)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td><code>{escape(query.name)}</code></td><td>{escape(query.title)}</td>"
            f"<td>{escape(', '.join(map(str, query.parameters)))}</td></tr>"
            for query in self
        )
        return f"<table><tr><th>name</th><th>title</th><th>parameters</th></tr>{rows}</table>"


def _pairs(given: Iterable[str] | Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Names and values; None where a text holds no value."""
    if isinstance(given, Mapping):
        yield from given.items()
        return
    for text in given:
        name, equals, value = text.partition("=")
        yield name, value if equals else None


def _article(kind: str) -> str:
    said = {
        "integer": "an integer",
        "boolean": "true or false",
        "strings": "strings: a list, or one text with commas",
    }
    return said.get(kind, f"a {kind}")


def read_query(path: Path, name: str) -> NamedQuery:
    """Read a query's file.

    Raises:
        InputError: a parameter's line can't be read, or the file is not UTF-8.
    """
    fields: dict[str, str] = {}
    parameters: list[Parameter] = []
    text = utf8_text(path, what="query")
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("//"):
            continue
        key, _, value = line[2:].strip().partition(":")
        if key == "param":
            parameters.append(_parameter(path, number, value))
        elif key in ("title", "purpose", "columns"):
            fields[key] = value.strip()
    columns = tuple(c.strip() for c in fields.get("columns", "").split(",") if c.strip())
    return NamedQuery(
        name, fields.get("title", ""), fields.get("purpose", ""), tuple(parameters), columns, text
    )


def _parameter(path: Path, line: int, text: str) -> Parameter:
    words = text.split(maxsplit=3)
    if len(words) >= 3 and words[1] in TYPES:
        default = "" if words[2] == "''" else words[2]
        found = Parameter(words[0], words[1], default, words[3] if len(words) > 3 else "")
        try:
            found.value(default)
        except UsageError:
            pass
        else:
            return found
    raise InputError(
        "a parameter's line can't be read",
        file=path,
        line=line,
        found=text.strip(),
        expected=f"// param: name type default  help, with a type of {', '.join(TYPES)}",
        todo="mend the header",
    )


def named_queries() -> Queries:
    """All queries that ship, by name.

    >>> all(query.title for query in named_queries())
    True
    """
    root = shipped("cypher")
    return Queries(
        read_query(path, path.relative_to(root).with_suffix("").as_posix())
        for path in sorted(root.rglob("*.cypher"))
    )


def find(name: str) -> NamedQuery:
    """A shipped query by its name (with or without its folder), or a file of the user's.

    Raises:
        UsageError: there is neither.
    """
    queries = {query.name: query for query in named_queries()}
    by_stem = {query.name.rpartition("/")[2]: query for query in queries.values()}
    if name in queries or name in by_stem:
        return queries.get(name) or by_stem[name]
    if Path(name).is_file():
        return read_query(Path(name), name)
    raise UsageError(
        f"there is no query and no file {name!r}", todo="ehrkg audit --list shows the named ones"
    )


def index() -> str:
    """The index of all named queries, as Markdown, out of their headers.

    >>> index().startswith("# Named queries")
    True
    """
    lines = [
        "# Named queries",
        "",
        "Each file holds one read-only Cypher query that gives the same answer on the embedded",
        "engine and on Neo4j. `ehrkg audit NAME --graph OUT/graph.lbug -p name=value` runs one on",
        "the command line, `kg.audit(name, **parameters)` in Python, and",
        "`bench.subset(kg.audit(name, ...).column(0).to_pylist())` cuts a benchmark by one. The",
        "parameter `build` names the build to ask; by default it is the one that is open.",
        "",
        "Made from the files' headers by `python -m ehrkg.graph.catalogue`; do not edit by hand.",
    ]
    for folder, title in FOLDERS.items():
        lines += ["", f"## {title}"]
        for query in named_queries():
            if query.name.startswith(f"{folder}/"):
                lines += _entry(query)
    return "\n".join(lines) + "\n"


def _entry(query: NamedQuery) -> list[str]:
    stem = query.name.rpartition("/")[2]
    lines = ["", f"### [{stem}]({query.name}.cypher)", "", f"{query.title}. {query.purpose}", ""]
    for one in query.parameters:
        if one.name != BUILD:
            default = f"`{one.default}`" if one.default else "empty"
            lines.append(f"- `{one.name}` ({one.type}, {default}): {one.help}")
    lines.append(f"- returns {', '.join(f'`{column}`' for column in query.columns)}")
    return lines


if __name__ == "__main__":
    (shipped("cypher") / "README.md").write_text(index(), encoding="utf-8")
