"""Pages on which questions are read blind: the key is read of no file before it may be seen.

A page before that is made of ``Shown`` alone, which holds no key.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from ehrkg.benchmark.opened.reviews import (
    ANSWER,
    QUESTION,
    RATINGS,
    REMARK,
    Review,
    asked,
    questions_of,
    read_marks,
    shown_as,
)
from ehrkg.evaluation.readers.agreement import is_right, review_summary
from ehrkg.session.view.browsing import Browser
from ehrkg.session.view.desk import Desk
from ehrkg.session.view.evidence import Evidence, picture
from ehrkg.session.view.pages import Refusal, field, page
from ehrkg.session.view.question_routes import QuestionPages

SEVERAL = "multi"
COLUMNS = ["item_id", "format", "n_options", "stem", "options"]


@dataclass(frozen=True)
class Shown:
    """All that is shown of a question before it is answered and rated."""

    item_id: str
    stem: str
    options: tuple[str, ...]
    several: bool


def question_desk(browser: Browser, ids: list[str], reader: str) -> Desk:
    """The desk of a reader of questions."""
    rows = {one.item_id: one for one in shown_of(browser, ids)}
    shown = {name: shown_as(rows[name].stem, rows[name].options) for name in ids if name in rows}
    return Desk(browser.out, QUESTION, reader, shown, len(ids) - len(shown))


def shown_of(browser: Browser, ids: list[str]) -> list[Shown]:
    """What is shown of questions; of those that are not there, nothing."""
    return [
        Shown(row["item_id"], row["stem"], tuple(row["options"]), row["format"] == SEVERAL)
        for row in questions_of(browser.out / "items.parquet", ids, COLUMNS)
    ]


class ReadingPages:
    """The pages of one reader.

    Args:
        desk: what is read.
        form: the word that forms carry.
    """

    def __init__(self, desk: Desk, form: str, browser: Browser, evidence: Evidence) -> None:
        self._desk, self._form = desk, form
        self._browser, self._evidence = browser, evidence
        self._behind = QuestionPages(desk.out, browser, evidence)

    def routes(self) -> list[Route]:
        """Where the pages are."""
        return [
            Route("/", self.read),
            Route("/said/{step}", self.said, methods=["POST"]),
            Route("/key/{place:int}", self.key),
            Route("/key/{place:int}/picture", self.picture),
        ]

    def read(self, _request: Request) -> Response:
        """The next question: to be answered, or to be rated; at the end, what was found."""
        upcoming = self._desk.next()
        if upcoming is None:
            return page("done", lines=self._outcome(), **self._about())
        place, review = upcoming
        question = shown_of(self._browser, [review.id])[0]
        name = "answer" if review.answered is None else "rate"
        return page(
            name,
            q=question,
            place=place,
            own=review.answered or (),
            ratings=asked()["ratings"],
            **self._about(),
        )

    async def said(self, request: Request) -> Response:
        """Record what was sent, and go on."""
        form: dict[str, str] = request.scope["form"]
        step, name = request.path_params["step"], field(form, "id")
        if name not in self._desk.shown:
            raise Refusal(404, "Not recorded", "That question is not among those that are read.")
        record = {ANSWER: self._answer, RATINGS: self._rate, REMARK: self._remark}.get(step)
        if record is None:
            raise Refusal(404, "Not recorded", "There is no such step.")
        return await run_in_threadpool(record, name, form)

    def _answer(self, name: str, form: dict[str, str]) -> Response:
        question = shown_of(self._browser, [name])[0]
        self._desk.answer(name, chosen(field(form, "answer"), question))
        return RedirectResponse("/", 303)

    def _rate(self, name: str, form: dict[str, str]) -> Response:
        names = [row["name"] for row in asked()["ratings"]]
        said = {one: form.get(one) for one in names}
        if any(value not in ("yes", "no") for value in said.values()):
            raise Refusal(400, "Not recorded", "Say yes or no to each of the questions; go back.")
        ratings = {one: value == "yes" for one, value in said.items()}
        self._desk.rate(name, ratings, field(form, "comment"))
        return RedirectResponse(f"/key/{self._desk.ids.index(name) + 1}", 303)

    def _remark(self, name: str, form: dict[str, str]) -> Response:
        self._desk.remark(name, field(form, "comment"))
        return RedirectResponse(f"/key/{self._desk.ids.index(name) + 1}", 303)

    def key(self, request: Request) -> Response:
        """The key of a question that was answered and rated, and what stands behind it."""
        place, review = self._finished(request)
        found = self._browser.question(review.id)
        if found is None:
            raise Refusal(404, "No such question", "The question is gone.")
        chain, trouble = self._behind.chain(found["template_id"])
        return page(
            "key",
            q=found,
            place=place,
            own=review.answered or (),
            right=is_right(review, found),
            comments=review.comments,
            chain=chain,
            trouble=trouble,
            **self._about(),
        )

    def picture(self, request: Request) -> Response:
        """The picture of what stands behind a question that was answered and rated."""
        _, review = self._finished(request)
        found = self._browser.question(review.id)
        if found is None:
            raise Refusal(404, "No such question", "The question is gone.")
        return picture(self._evidence.chain(found["template_id"]))

    def _finished(self, request: Request) -> tuple[int, Review]:
        place: int = request.path_params["place"]
        review = self._desk.finished(place)
        if review is None:
            raise Refusal(
                403, "Not yet", "The key comes after the question was answered and rated."
            )
        return place, review

    def _about(self) -> dict[str, Any]:
        return self._desk.about() | {"form": self._form}

    def _outcome(self) -> list[str]:
        """How readers agree, once two read all; nothing before, as it could sway the second."""
        marks = read_marks(self._desk.out).reviews(QUESTION)
        readers = {reader for reader, _ in marks}
        through = [one for one in readers if _is_through(self._desk, one)]
        found = review_summary(self._desk.out) if len(through) > 1 else None
        return found.sentences() if found else []


def _is_through(desk: Desk, reader: str) -> bool:
    done, total = Desk(desk.out, desk.what, reader, desk.shown).progress()
    return done == total


def chosen(text: str, question: Shown) -> list[int]:
    """The positions of the options that were chosen; none for "can't say".

    Raises:
        Refusal: nothing was chosen, or what can't be.

    >>> chosen("2 0", Shown("i", "Which?", ("a", "b", "c"), several=True))
    [0, 2]
    """
    words = text.split()
    if words == ["unsure"]:
        return []
    known = {str(at) for at in range(len(question.options))}
    if not words or not known.issuperset(words) or (len(words) > 1 and not question.several):
        raise Refusal(400, "Not recorded", "Choose an option, or say that you can't; go back.")
    return sorted({int(word) for word in words})
