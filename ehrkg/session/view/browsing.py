"""Finding questions: counted, a page at a time, each with what is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from ehrkg.benchmark.opened.reviews import QUESTION, asked, kinds_of, read_marks, standing
from ehrkg.benchmark.opened.source import Source
from ehrkg.foundation.errors import InputError
from ehrkg.session.view.filters import (
    COLUMNS,
    RIGHT,
    Asked,
    Places,
    conditions,
    failing,
    pattern_of,
)

PAGE = 25
"""Questions a page."""

_LISTED = (
    "item_id",
    "task",
    "format",
    "n_options",
    "strategy",
    "split",
    "stem",
    "options",
    "answer",
    "flags",
)
_OF_TEMPLATE = ("predicate", "score", "age_band", "sex", "gap_days", "visit_kind", "icd_version")


class Browser:
    """The questions of a build; files are read where they lie.

    Args:
        out: the build's folder.

    Raises:
        InputError: it holds no finished build.
    """

    def __init__(self, out: Path) -> None:
        for name in ("items", "templates", "relations"):
            if not (out / f"{name}.parquet").is_file():
                raise InputError(
                    "this folder holds no finished build",
                    file=out / f"{name}.parquet",
                    todo="run ehrkg build SOURCE --out DIR, or name another folder",
                )
        self.out = out
        self.source = Source(
            out / "items.parquet",
            out / "templates.parquet",
            {"relations": out / "relations.parquet"},
        )
        self._places = Places(out, self.source)

    @cached_property
    def choices(self) -> dict[str, list[str]]:
        """By field, the values that can be chosen, and no field that has none."""
        found: dict[str, list[str]] = {}
        for name, column in COLUMNS.items():
            place = self.source.place(column)
            value = f"unnest({place})" if column == "flags" else place
            rows = self.source.ask(
                f"SELECT DISTINCT {value} AS value {self.source.tables_of([column])} ORDER BY 1"
            )
            found[name] = [str(one) for one in rows["value"].to_pylist() if one not in (None, "")]
        found["fails"] = sorted(failing(self.out))
        found["model"] = self._models()
        found["answered"] = list(RIGHT) if found["model"] else []
        found["reviewed"] = [*kinds_of({}), "not reviewed"]
        return {name: values for name, values in found.items() if values}

    def _models(self) -> list[str]:
        path = self.out / "scores.parquet"
        if not path.is_file():
            return []
        rows = self.source.ask(
            "SELECT DISTINCT model FROM read_parquet(?) ORDER BY 1", [pattern_of(path)]
        )
        models: list[str] = rows["model"].to_pylist()
        return models

    def found(self, asked: Asked, at: int, many: int = PAGE) -> tuple[int, list[dict[str, Any]]]:
        """How many questions there are, and some of them in order.

        Args:
            asked: what must hold.
            at: the first one's place among them, from 0.
            many: how many.
        """
        columns, held = conditions(self._places, asked)
        where = " AND ".join(f"({one.sql})" for one in held) or "true"
        values = [value for one in held for value in one.values]
        tables = self.source.tables_of(columns)
        rows = self.source.ask(
            f"SELECT i.at AS at, (count(*) OVER ()) AS total {tables} WHERE {where} "
            f"ORDER BY i.at LIMIT {int(many)} OFFSET {int(at)}",
            values,
        ).to_pylist()
        if not rows:
            counted = self.source.ask(f"SELECT count(*) AS n {tables} WHERE {where}", values)
            return int(counted["n"][0].as_py()), []
        return int(rows[0]["total"]), self._rows([row["at"] for row in rows], _LISTED)

    def _rows(self, places: Sequence[int], columns: Sequence[str]) -> list[dict[str, Any]]:
        """Rows of the items by their positions; only their part of the file is read."""
        named = ", ".join(f"{self.source.place(one)}" for one in columns)
        text = ", ".join(str(int(at)) for at in places)
        rows: list[dict[str, Any]] = self.source.ask(
            f"SELECT {named} {self.source.tables_of(columns)} WHERE i.at IN ({text}) ORDER BY i.at"
        ).to_pylist()
        return rows

    def question(self, item_id: str) -> dict[str, Any] | None:
        """A question with what its template says; ``None`` where there is none of that id."""
        found = self.source.ask("SELECT i.at AS at FROM items i WHERE item_id = ?", [item_id])
        if not found.num_rows:
            return None
        columns = [*self.source.items.names, *_OF_TEMPLATE]
        return self._rows([found["at"][0].as_py()], list(dict.fromkeys(columns)))[0]

    def siblings(self, template_id: str) -> list[str]:
        """The questions of a template, sorted."""
        rows = self.source.ask(
            "SELECT item_id FROM items i WHERE template_id = ? ORDER BY i.at", [template_id]
        )
        names: list[str] = rows["item_id"].to_pylist()
        return names

    def answers(self, item_id: str) -> list[dict[str, Any]]:
        """What each model answered to a question, asked plainly or as a control."""
        path = self.out / "scores.parquet"
        if not path.is_file():
            return []
        rows: list[dict[str, Any]] = self.source.ask(
            "SELECT model, setting, choice, text, coalesce(correct, coverage) AS correct, "
            "key_source FROM read_parquet(?) WHERE item_id = ? ORDER BY model, setting",
            [pattern_of(path), item_id],
        ).to_pylist()
        return rows

    def broken(self, question: dict[str, Any]) -> list[str]:
        """The rules that a question, or its template, broke when this was built."""
        own = {question["item_id"], question["template_id"]}
        return [rule for rule, ids in failing(self.out).items() if own.intersection(ids)]

    def reviews(self, item_id: str) -> list[dict[str, Any]]:
        """What readers said of a question, without their names."""
        good = {row["name"]: row["good"] for row in asked()["ratings"]}
        marks = read_marks(self.out)
        if not any(one.id == item_id and one.what == QUESTION for one in marks.lines):
            return []
        return [
            {
                "reader": marks.readers.index(reader) + 1,
                "answered": one.answered,
                "faults": [n for n, said in (one.ratings or {}).items() if good.get(n) is not said],
                "rated": one.ratings is not None,
                "comments": one.comments,
            }
            for (reader, name), one in standing(marks, self.out / "items.parquet").items()
            if name == item_id
        ]
