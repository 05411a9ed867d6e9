"""Text files, each whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from ehrkg.foundation.storage import write_atomically

_BESIDE = Path(__file__).parent


def write_text(text: str, path: Path) -> None:
    """Write a text file in UTF-8, by rename.

    Raises:
        InputError: it can't be written there.
    """
    write_atomically(path, lambda part: part.write_text(text, encoding="utf-8", newline="\n"))


def write_json_lines(rows: Iterable[dict[str, Any]], path: Path) -> int:
    """Write rows as JSON, a line each, in order; only one row is held at a time.

    Returns:
        How many.

    Raises:
        InputError: it can't be written there.
    """
    count = 0

    def write(part: Path) -> None:
        nonlocal count
        with part.open("w", encoding="utf-8", newline="\n") as handle:
            for row in rows:
                handle.write(json.dumps(row, ensure_ascii=False, default=str) + "\n")
                count += 1

    write_atomically(path, write)
    return count


def rendered(template: str, /, **values: Any) -> str:
    """A template beside this module, filled in.

    Args:
        template: its path from here ("formats/inspect_tasks.py.j2").
        values: what it names; a name without a value is an error.
    """
    return _templates().get_template(template).render(**values)


@cache
def _templates() -> jinja2.Environment:
    return jinja2.Environment(  # noqa: S701 - Markdown, YAML and Python, no HTML
        loader=jinja2.FileSystemLoader(_BESIDE),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
