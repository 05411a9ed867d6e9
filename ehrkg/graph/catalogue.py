"""The named queries: Cypher files with a header that a program reads.

A query's file begins with comment lines, ``// name: value``: ``title``, ``purpose``, ``columns``,
and one ``param`` a parameter: ``// param: min_score float 0.5  Least score to show.``
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ehrkg.foundation.errors import InputError, UsageError
from ehrkg.foundation.resources import shipped

TYPES: Mapping[str, Callable[[str], Any]] = MappingProxyType(
    {"string": str, "integer": int, "float": float}
)


@dataclass(frozen=True)
class Parameter:
    """A parameter of a named query: its type, its default, and what it is for."""

    name: str
    type: str
    default: str
    help: str

    def value(self, text: str) -> Any:
        """The parameter's value out of text.

        Raises:
            UsageError: the text is not of the parameter's type.

        >>> Parameter("k", "integer", "10", "").value("12")
        12
        """
        try:
            return TYPES[self.type](text)
        except ValueError as error:
            raise UsageError(
                f"{self.name}={text!r} is no {self.type}", todo=f"give a {self.type}"
            ) from error


@dataclass(frozen=True)
class NamedQuery:
    """A query with its documentation.

    Attributes:
        name: ``audits/single_origin``, say; the file's own path for a user's query.
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

    def bind(self, given: Iterable[str]) -> dict[str, Any]:
        """Values of all parameters out of ``name=value`` texts and the defaults.

        Raises:
            UsageError: a name is unknown, or a value is not of its type.
        """
        known = {parameter.name: parameter for parameter in self.parameters}
        values = {name: parameter.value(parameter.default) for name, parameter in known.items()}
        for text in given:
            name, equals, value = text.partition("=")
            if not equals or name not in known:
                raise UsageError(
                    f"{self.name} has no parameter {name!r}",
                    todo=f"use -p name=value with one of: {', '.join(known) or '(none)'}",
                )
            values[name] = known[name].value(value)
        return values


def read_query(path: Path, name: str) -> NamedQuery:
    """Read a query's file.

    Raises:
        InputError: a parameter's line can't be read.
    """
    fields: dict[str, str] = {}
    parameters: list[Parameter] = []
    text = path.read_text(encoding="utf-8")
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
    if len(words) < 3 or words[1] not in TYPES:
        raise InputError(
            "a parameter's line can't be read",
            file=path,
            line=line,
            found=text.strip(),
            expected=f"// param: name type default  help, with a type of {', '.join(TYPES)}",
            todo="mend the header",
        )
    default = "" if words[2] == "''" else words[2]
    return Parameter(words[0], words[1], default, words[3] if len(words) > 3 else "")


def named_queries() -> list[NamedQuery]:
    """All queries that ship, by name.

    >>> all(query.title for query in named_queries())
    True
    """
    root = shipped("cypher")
    return [
        read_query(path, path.relative_to(root).with_suffix("").as_posix())
        for path in sorted(root.rglob("*.cypher"))
    ]


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
