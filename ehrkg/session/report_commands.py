"""``ehrkg report``: the page to look at, made again from the files of a build."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    directory: Annotated[Path, typer.Argument(help="The folder of a build.")],
    out: Annotated[
        Path | None,
        typer.Option(
            help="The file; DIR/report.html by default, DIR-shareable.html for one to pass on."
        ),
    ] = None,
    shareable: Annotated[
        bool,
        typer.Option(
            "--shareable",
            help="Leave out what may not be passed on: questions, answers, counts under 11.",
        ),
    ] = False,
) -> None:
    """Write the report of a build again, with the models and reviews that came since."""
    from ehrkg.evaluation.report import write_report
    from ehrkg.evaluation.report.gathering import REPORT, report_of_build

    beside = directory.resolve().with_name(f"{directory.resolve().name}-shareable.html")
    path = out or (beside if shareable else directory / REPORT)
    write_report(report_of_build(directory), path, shareable=shareable)
    typer.echo(f"Written: {path}")
