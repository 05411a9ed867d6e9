"""Pages to browse relations, and to judge a sample of them before verdict and evidence show."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from ehrkg.benchmark.opened.reviews import ANSWER, RELATION, REMARK, asked
from ehrkg.evaluation.readers.relation_agreement import relation_summary
from ehrkg.session.view.browsing import PAGE
from ehrkg.session.view.desk import Desk
from ehrkg.session.view.pages import Refusal, field, page
from ehrkg.session.view.question_routes import number_of, part_of
from ehrkg.session.view.relations import FIELDS, Relations


class RelationPages:
    """The pages of relations.

    Args:
        out: the build's folder.
        relations: its relations.
    """

    def __init__(self, out: Path, relations: Relations) -> None:
        self._name, self._relations = out.resolve().name, relations

    def routes(self) -> list[Route]:
        """Where the pages are."""
        return [Route("/", self.listed), Route("/relation/{relation}", self.relation)]

    def listed(self, request: Request) -> Response:
        """The relations for which every field that is filled in holds."""
        query = request.query_params
        said = {name: query[name].strip()[:200] for name in FIELDS if query.get(name, "").strip()}
        number = number_of(query, "page")
        total, rows = self._relations.found(said, (number - 1) * PAGE)
        return page(
            "relations",
            build=self._name,
            choices=self._relations.choices,
            rows=rows,
            **part_of(number, total, said),
        )

    def relation(self, request: Request) -> Response:
        """A relation with its verdict and everything that speaks for it and against it."""
        found = self._relations.relation(request.path_params["relation"])
        if found is None:
            raise Refusal(404, "No such relation", "This build holds no relation of that id.")
        return page(
            "relation",
            build=self._name,
            r=found,
            evidence=self._relations.evidence(found["id"]),
            cases=self._relations.templates(found["id"]),
            query=urlencode(request.query_params),
        )


class JudgingPages:
    """The pages of one reader of relations.

    Args:
        desk: what is read.
        form: the word that forms carry.
        relations: of the build.
    """

    def __init__(self, desk: Desk, form: str, relations: Relations) -> None:
        self._desk, self._form, self._relations = desk, form, relations

    def routes(self) -> list[Route]:
        """Where the pages are."""
        return [
            Route("/", self.read),
            Route("/said/{step}", self.said, methods=["POST"]),
            Route("/key/{place:int}", self.key),
        ]

    def read(self, _request: Request) -> Response:
        """The next relation, without its verdict; at the end, what was found."""
        upcoming = self._desk.next()
        if upcoming is None:
            found = relation_summary(self._desk.out)
            lines = found.sentences() if found and found.twice else []
            return page("done", lines=lines, **self._about())
        _, review = upcoming
        return page(
            "judge",
            id=review.id,
            claim=self._relations.claims([review.id])[review.id],
            judgements=asked()["judgements"],
            **self._about(),
        )

    async def said(self, request: Request) -> Response:
        """Record what was sent, and go on."""
        form: dict[str, str] = request.scope["form"]
        step, name = request.path_params["step"], field(form, "id")
        if name not in self._desk.shown or step not in (ANSWER, REMARK):
            raise Refusal(404, "Not recorded", "That is not among what is read.")
        return await run_in_threadpool(self._record, step, name, form)

    def _record(self, step: str, name: str, form: dict[str, str]) -> Response:
        comment = field(form, "comment")
        if step == ANSWER:
            said = field(form, "answer")
            if said not in [row["name"] for row in asked()["judgements"]]:
                raise Refusal(400, "Not recorded", "Choose one; go back.")
            self._desk.answer(name, [said], comment)
        else:
            self._desk.remark(name, comment)
        return RedirectResponse(f"/key/{self._desk.ids.index(name) + 1}", 303)

    def key(self, request: Request) -> Response:
        """The verdict and the evidence of a relation that was judged."""
        place: int = request.path_params["place"]
        review = self._desk.finished(place)
        if review is None:
            raise Refusal(403, "Not yet", "The verdict comes after the relation was judged.")
        words = {row["name"]: row["asks"] for row in asked()["judgements"]}
        return page(
            "verdict",
            r=self._relations.relation(review.id),
            evidence=self._relations.evidence(review.id),
            own=words.get(str((review.answered or ("",))[0]), "nothing"),
            comments=review.comments,
            **self._about(),
        )

    def _about(self) -> dict[str, Any]:
        return self._desk.about() | {"form": self._form}


def relation_desk(out: Path, relations: Relations, ids: list[str], reader: str) -> Desk:
    """The desk of a reader of relations; an id is made of what the relation says."""
    there = relations.claims(ids)
    shown = {name: "" for name in ids if name in there}
    return Desk(out, RELATION, reader, shown, len(ids) - len(shown))
