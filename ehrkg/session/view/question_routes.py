"""Pages to browse questions, and to follow one back to the rows and the knowledge behind it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from ehrkg.foundation.errors import EhrkgError
from ehrkg.graph.explanation import Explanation
from ehrkg.session.view.browsing import PAGE, Browser
from ehrkg.session.view.evidence import Evidence, picture
from ehrkg.session.view.filters import Asked, asked_of
from ehrkg.session.view.pages import Refusal, page


class QuestionPages:
    """The pages of questions.

    Args:
        out: the build's folder.
    """

    def __init__(self, out: Path, browser: Browser, evidence: Evidence) -> None:
        self._name, self._browser, self._evidence = out.resolve().name, browser, evidence

    def routes(self) -> list[Route]:
        """Where the pages are."""
        return [
            Route("/", self.listed),
            Route("/question/{item}", self.question),
            Route("/picture/{template}", self.picture),
        ]

    def listed(self, request: Request) -> Response:
        """The questions for which every field that is filled in holds."""
        asked = asked_of(request.query_params)
        if self._browser.question(asked.get("text", "")) is not None:
            return RedirectResponse(f"/question/{asked['text']}", 303)
        number = number_of(request.query_params, "page")
        total, rows = self._browser.found(asked, (number - 1) * PAGE)
        return page(
            "questions",
            build=self._name,
            choices=self._browser.choices,
            rows=rows,
            **part_of(number, total, asked),
        )

    def question(self, request: Request) -> Response:
        """A question with its key, why, and what models and readers answered."""
        found = self._browser.question(request.path_params["item"])
        if found is None:
            raise Refusal(404, "No such question", "This build holds no question of that id.")
        asked = asked_of(request.query_params)
        place = number_of(request.query_params, "place", least=0)
        chain, trouble = self.chain(found["template_id"])
        before, after = self._beside(asked, place, found["item_id"])
        return page(
            "question",
            build=self._name,
            q=found,
            chain=chain,
            trouble=trouble,
            answers=self._browser.answers(found["item_id"]),
            broken=self._browser.broken(found),
            reviews=self._browser.reviews(found["item_id"]),
            siblings=self._browser.siblings(found["template_id"]),
            query=urlencode(asked),
            before=before,
            after=after,
        )

    def chain(self, template: str) -> tuple[Explanation | None, str]:
        """What stands behind a template, or why it can't be shown."""
        try:
            return self._evidence.chain(template), ""
        except EhrkgError as error:
            return None, str(error)

    def _beside(self, asked: Asked, place: int, item: str) -> tuple[str, str]:
        """The addresses of the questions before and after one among those that were found."""
        first = max(place - 2, 0)
        names = [row["item_id"] for row in self._browser.found(asked, first, 3)[1]]
        if place < 1 or item not in names:
            return "", ""
        at = names.index(item)
        before, after = (
            address(names[n], asked, first + n + 1) if 0 <= n < len(names) else ""
            for n in (at - 1, at + 1)
        )
        return before, after

    def picture(self, request: Request) -> Response:
        """The picture of what stands behind a template."""
        try:
            return picture(self._evidence.chain(request.path_params["template"]))
        except EhrkgError as error:
            raise Refusal(404, "No picture", str(error)) from error


def address(item: str, asked: Asked, place: int) -> str:
    """A question's address within what was found."""
    return f"/question/{item}?{urlencode({**asked, 'place': place})}"


def number_of(query: Mapping[str, str], name: str, *, least: int = 1) -> int:
    """A number in an address; the least where there is none."""
    text = query.get(name, "")
    return max(int(text), least) if text.isdecimal() and len(text) < 9 else least


def part_of(number: int, total: int, asked: Mapping[str, str]) -> dict[str, Any]:
    """What a page of a list says of its place in the whole: which rows, of what, and the way on.

    >>> part_of(2, 60, {"task": "treatment"})["first"]
    26
    """
    return {
        "asked": asked,
        "total": total,
        "first": (number - 1) * PAGE + 1,
        "query": urlencode(asked),
        "pages": pager(number, total, asked),
    }


def pager(number: int, total: int, asked: Mapping[str, str], size: int = PAGE) -> dict[str, object]:
    """Which page this is, of how many, and the addresses of those beside it.

    >>> pager(2, 60, {"task": "treatment"})["after"]
    '?task=treatment&page=3'
    """
    last = max((total + size - 1) // size, 1)

    def at(other: int) -> str:
        return f"?{urlencode({**asked, 'page': other})}" if 1 <= other <= last else ""

    return {
        "number": number,
        "last": last,
        "before": at(number - 1),
        "after": at(number + 1) if number < last else "",
        "first": at(1) if number > 2 else "",
        "end": at(last) if number < last - 1 else "",
    }
