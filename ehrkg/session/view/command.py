"""``ehrkg view``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ehrkg.foundation.errors import UsageError

PORT = 8765
LABELS = "labels.tsv"
"""Where readers' labels of relations lie, beside their marks."""


def view(
    directory: Annotated[Path, typer.Argument(help="The folder of a build.")],
    blind: Annotated[
        bool,
        typer.Option("--blind", help="Answer and rate a sample first; the key comes after."),
    ] = False,
    relations: Annotated[
        bool, typer.Option("--relations", help="Relations and their verdicts, not questions.")
    ] = False,
    reader: Annotated[str | None, typer.Option(help="Who reads, with --blind.")] = None,
    sample: Annotated[
        int | None, typer.Option(min=1, help="How many are read by all readers; 200 by default.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Names the draw of the sample.")] = 7,
    agreement: Annotated[
        bool, typer.Option("--agreement", help="Only say what readers found and how they agree.")
    ] = False,
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
    if agreement:
        for line in (relation_lines if relations else review_lines)(directory):
            typer.echo(line)
        return
    if (reader or sample) and not blind:
        raise UsageError("--reader and --sample are for reading", todo="add --blind")
    _demand_libraries()
    import secrets

    from ehrkg.session.view import modes
    from ehrkg.session.view.application import application
    from ehrkg.session.view.evidence import Evidence
    from ehrkg.session.view.guard import LOOPBACK, Secrets
    from ehrkg.session.view.serving import serve

    evidence = Evidence(directory)
    asks = token or host not in LOOPBACK
    kept = Secrets(secrets.token_urlsafe(24) if asks else "")
    if blind:
        desk = modes.relations_blind if relations else modes.questions_blind
        routes = desk(directory, evidence, reader, sample, seed, kept.form)
    else:
        routes = (modes.relations if relations else modes.questions)(directory, evidence)
    try:
        serve(
            application(routes),
            host=host,
            port=port,
            kept=kept,
            show=not no_browser,
            say=typer.echo,
        )
    finally:
        evidence.close()


def review_lines(out: Path) -> list[str]:
    """What readers found of a build's questions and how far they agree, a sentence a line."""
    from ehrkg.benchmark.opened.reviews import read_marks
    from ehrkg.evaluation.readers.agreement import review_summary
    from ehrkg.foundation.workspace import read_manifest

    read_manifest(out)  # says so where this is no build
    found = review_summary(out)
    if found is None:
        return ["Not reviewed by clinicians."]
    return [_who(read_marks(out).readers), *found.sentences()]


def relation_lines(out: Path) -> list[str]:
    """What readers found of a build's relations; their labels are written to review/labels.tsv."""
    from ehrkg.benchmark.opened.reviews import folder_of, read_marks
    from ehrkg.evaluation.readers.relation_agreement import relation_summary
    from ehrkg.foundation.workspace import read_manifest
    from ehrkg.session.tsv import write_tsv

    read_manifest(out)
    found = relation_summary(out)
    if found is None:
        return ["No relation was judged by clinicians."]
    path = folder_of(out) / LABELS
    write_tsv(found.labels, path)
    return [_who(read_marks(out).readers), *found.sentences(), f"Labels: {path}"]


def _who(readers: list[str]) -> str:
    numbered = enumerate(readers, 1)
    return f"({'; '.join(f'reader {number} is {name}' for number, name in numbered)})"


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
