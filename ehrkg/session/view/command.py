"""``ehrkg view``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ehrkg.foundation.errors import UsageError

PORT = 8765


def view(
    directory: Annotated[Path, typer.Argument(help="The folder of a build.")],
    host: Annotated[
        str, typer.Option(help="Listen on this address; any but 127.0.0.1 asks for a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any that is free.")] = PORT,
    token: Annotated[
        bool, typer.Option("--token", help="Ask for a token on 127.0.0.1 too: others use the host.")
    ] = False,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Open no browser; only say the address.")
    ] = False,
) -> None:
    """Look at a benchmark in a browser: find questions, follow their evidence, read them blind."""
    _demand_libraries()
    import secrets

    from ehrkg.session.view.application import application
    from ehrkg.session.view.browsing import Browser
    from ehrkg.session.view.evidence import Evidence
    from ehrkg.session.view.guard import LOOPBACK, Secrets
    from ehrkg.session.view.question_routes import QuestionPages
    from ehrkg.session.view.serving import serve

    evidence = Evidence(directory)
    pages = QuestionPages(directory, Browser(directory), evidence)
    asks = token or host not in LOOPBACK
    try:
        serve(
            application(pages.routes()),
            host=host,
            port=port,
            kept=Secrets(secrets.token_urlsafe(24) if asks else ""),
            show=not no_browser,
            say=typer.echo,
        )
    finally:
        evidence.close()


def _demand_libraries() -> None:
    """Say which extra brings the server.

    Raises:
        UsageError: it is not installed.
    """
    try:
        import starlette
        import uvicorn
    except ImportError as error:
        raise UsageError(
            f"{error.name} is not installed", todo="pip install 'ehrkg[view]'"
        ) from error
    del starlette, uvicorn
