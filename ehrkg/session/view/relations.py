"""Finding relations: counted, a page at a time, each in words and with its evidence."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from ehrkg.benchmark.opened.source import Source
from ehrkg.foundation.errors import EhrkgError
from ehrkg.session.view.browsing import PAGE, Browser
from ehrkg.session.view.evidence import Evidence, claim_of
from ehrkg.session.view.filters import pattern_of

COLUMNS = ("verdict", "predicate", "proposer")
"""Fields that choose one value; each relation may have several proposers."""

FIELDS = (*COLUMNS, "text")
"""The names of all fields, as they stand in an address."""


class Relations:
    """The relations of a build, in its file, with names out of its graph.

    Args:
        browser: the build's.
        evidence: its graph.
    """

    def __init__(self, browser: Browser, evidence: Evidence) -> None:
        self._out, self._source = browser.out, browser.source
        self._graph = evidence

    @property
    def source(self) -> Source:
        """Whose engine answers."""
        return self._source

    @cached_property
    def names(self) -> dict[str, str]:
        """Names of codes by their ids; none where the graph can't be asked: codes stand alone."""
        try:
            return self._graph.names
        except EhrkgError:
            return {}

    @cached_property
    def choices(self) -> dict[str, list[str]]:
        """By field, the values that can be chosen."""
        columns = {"verdict": "verdict", "predicate": "predicate", "proposer": "unnest(proposers)"}
        asked = {
            name: f"SELECT DISTINCT {column} AS value FROM relations ORDER BY 1"  # noqa: S608
            for name, column in columns.items()
        }
        return {name: self._source.ask(sql)["value"].to_pylist() for name, sql in asked.items()}

    def found(
        self, asked: Mapping[str, str], at: int, many: int = PAGE
    ) -> tuple[int, list[dict[str, Any]]]:
        """How many relations there are, and some of them, strongest first, in words.

        Args:
            asked: what must hold, by ``FIELDS``.
            at: the first one's place among them, from 0.
            many: how many.
        """
        held, values = self._conditions(asked)
        those = f"FROM relations WHERE {' AND '.join(held) or 'true'}"
        counted = self._source.ask(f"SELECT count(*) AS n {those}", values)
        rows = self._source.ask(
            f"SELECT * {those} ORDER BY score DESC, n_patients DESC, id "
            f"LIMIT {int(many)} OFFSET {int(at)}",
            values,
        ).to_pylist()
        return int(counted["n"][0].as_py()), [self._in_words(row) for row in rows]

    def _conditions(self, asked: Mapping[str, str]) -> tuple[list[str], list[Any]]:
        held: list[str] = []
        values: list[Any] = []
        for name in ("verdict", "predicate"):
            if name in asked:
                held.append(f"{name} = ?")
                values.append(asked[name])
        if "proposer" in asked:
            held.append("list_contains(proposers, ?)")
            values.append(asked["proposer"])
        if "text" in asked:
            word = asked["text"].lower()
            codes = [code for code, name in self.names.items() if word in name.lower()]
            inside = "IN (SELECT unnest(?::VARCHAR[]))"
            held.append(
                f"(head {inside} OR tail {inside} OR contains(lower(head), ?) "
                "OR contains(lower(tail), ?) OR id = ?)"
            )
            values += [codes, codes, word, word, word]
        return held, values

    def relation(self, name: str) -> dict[str, Any] | None:
        """A relation in words; ``None`` where there is none of that id."""
        rows = self._source.ask("SELECT * FROM relations WHERE id = ?", [name]).to_pylist()
        return self._in_words(rows[0]) if rows else None

    def claims(self, ids: list[str]) -> dict[str, dict[str, str]]:
        """What relations say, and nothing of what is thought of it."""
        rows = self._source.ask(
            "SELECT id, head, route, predicate, tail FROM relations "
            "WHERE id IN (SELECT unnest(?::VARCHAR[]))",
            [ids],
        ).to_pylist()
        return {row["id"]: claim_of(row, self.names) for row in rows}

    def evidence(self, name: str) -> list[dict[str, Any]]:
        """What speaks for a relation and against it, supporting first, heaviest first."""
        path = self._out / "evidence.parquet"
        if not path.is_file():
            return []
        rows = self._source.ask(
            "SELECT kind, polarity, text, source, origin, weight FROM read_parquet(?) "
            "WHERE relation = ? ORDER BY polarity = 'supports' DESC, "
            "polarity = 'contradicts' DESC, weight DESC, id",
            [pattern_of(path), name],
        ).to_pylist()
        return [{**row, "edges": ()} for row in rows]

    def templates(self, name: str) -> int:
        """How many cases ask about a relation."""
        found = self._source.ask("SELECT count(*) AS n FROM templates WHERE relation = ?", [name])
        return int(found["n"][0].as_py())

    def _in_words(self, row: dict[str, Any]) -> dict[str, Any]:
        return {**row, "claim": claim_of(row, self.names)}
