"""The pages put together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles

from ehrkg.foundation.errors import EhrkgError
from ehrkg.session.view.pages import Refusal, page

STATIC = Path(__file__).with_name("static")


def application(routes: Sequence[BaseRoute]) -> Starlette:
    """An application of some pages, its style and script, and pages for what goes wrong."""
    return Starlette(
        routes=[*routes, Mount("/static", StaticFiles(directory=STATIC))],
        exception_handlers={
            Refusal: _refused,
            EhrkgError: _failed,
            HTTPException: _not_there,
        },
    )


def _refused(_request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return page("refused", error.status, title=error.title, words=error.words)


def _failed(_request: Request, error: Exception) -> Response:
    return page("refused", 500, title="That did not work", words=str(error))


def _not_there(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    words = {404: "There is no page of that address.", 405: "That page takes no such request."}
    return page(
        "refused",
        error.status_code,
        title=error.detail,
        words=words.get(error.status_code, error.detail),
    )
