"""What ``ehrkg view`` shows: questions or relations, or a reader's desk."""

from __future__ import annotations

from pathlib import Path

from starlette.routing import BaseRoute

from ehrkg.benchmark.opened.reviews import QUESTION, RELATION
from ehrkg.session.view.browsing import Browser
from ehrkg.session.view.desk import reader_named
from ehrkg.session.view.evidence import Evidence
from ehrkg.session.view.question_routes import QuestionPages
from ehrkg.session.view.reading_routes import ReadingPages, question_desk
from ehrkg.session.view.relation_routes import JudgingPages, RelationPages, relation_desk
from ehrkg.session.view.relations import Relations
from ehrkg.session.view.sampling import sample


def questions(out: Path, evidence: Evidence) -> list[BaseRoute]:
    """Pages to browse questions."""
    return [*QuestionPages(out, Browser(out), evidence).routes()]


def questions_blind(
    out: Path, evidence: Evidence, reader: str | None, n: int | None, seed: int, form: str
) -> list[BaseRoute]:
    """Pages of a reader of questions.

    Args:
        out: the build's folder.
        evidence: its graph.
        reader: a name.
        n: how many questions to draw; 200, or as many as were drawn, for ``None``.
        seed: names the draw.
        form: the word that forms carry.

    Raises:
        UsageError: nobody reads, no question can be read, or another number was drawn before.
    """
    name, browser = reader_named(reader), Browser(out)
    desk = question_desk(browser, sample(out, browser.source, QUESTION, n=n, seed=seed), name)
    return [*ReadingPages(desk, form, browser, evidence).routes()]


def relations(out: Path, evidence: Evidence) -> list[BaseRoute]:
    """Pages to browse relations."""
    return [*RelationPages(out, Relations(Browser(out), evidence)).routes()]


def relations_blind(
    out: Path, evidence: Evidence, reader: str | None, n: int | None, seed: int, form: str
) -> list[BaseRoute]:
    """Pages of a reader of relations; arguments and errors are those of ``questions_blind``."""
    name, known = reader_named(reader), Relations(Browser(out), evidence)
    ids = sample(out, known.source, RELATION, n=n, seed=seed)
    return [*JudgingPages(relation_desk(out, known, ids, name), form, known).routes()]
