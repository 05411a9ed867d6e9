"""Pages out of templates: every value is escaped, a name that is missing is an error."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse

from ehrkg.benchmark.exports.rows import LETTERS


class Refusal(Exception):  # noqa: N818
    """A request that is not answered with what it asks for.

    Attributes:
        status: of HTTP.
        title: the heading of the page that says so.
        words: what it says.
    """

    def __init__(self, status: int, title: str, words: str) -> None:
        self.status, self.title, self.words = status, title, words
        super().__init__(words)


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("pages")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["words"] = lambda text: str(text).replace("_", " ")
    made.filters["many"] = lambda number: f"{number:,}"
    made.globals["letters"] = LETTERS
    return made


def page(name: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A page.

    Args:
        name: of its template.
        status: of HTTP.
        values: what the template names.
    """
    text = _environment().get_template(f"{name}.html.j2").render(**values)
    return HTMLResponse(text, status)


def field(form: Mapping[str, str], name: str, *, most: int = 4000) -> str:
    """A field of a form that was sent, without space around it and cut at so many letters."""
    return form.get(name, "").strip()[:most]
