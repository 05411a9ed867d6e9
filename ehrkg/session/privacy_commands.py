"""``ehrkg forget``, and the option that names the key of pseudonyms."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

KeyFile = Annotated[
    Path | None,
    typer.Option(
        help="The secret key of the pseudonyms; by default it lies in your own folder for settings."
    ),
]


def forget(
    patient: Annotated[str, typer.Argument(help="The patient's id, as in the tables.")],
    directory: Annotated[Path, typer.Argument(help="The folder of a build.")],
    key_file: KeyFile = None,
) -> None:
    """Take a patient out of a build's graph and files, and show that nothing is left.

    The tables that the build was made from are not touched, nor are copies and backups.
    """
    from ehrkg.session.forgetting import forget as take_out

    typer.echo(take_out(patient, directory, key_file=key_file).as_text())
