"""The same questions made again of a colleague's own copy of the tables.

It is the whole job over once more, so it stands above the pipeline. What is heavy is imported when
it is used: the command line loads this module for its help.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ehrkg.foundation.errors import CheckError, InputError

if TYPE_CHECKING:
    from ehrkg.benchmark import Benchmark, Recipe
    from ehrkg.foundation.progress import Progress
    from ehrkg.session.settings import Settings


@dataclass(frozen=True)
class Original:
    """What `ehrkg export DIR --to rehydrate` left of a build.

    Attributes:
        settings: of the build, as its manifest has them.
        inputs: the hash of every file it read, by role and name.
        content: the content hash of templates and items.
        versions: of what can change a result.
        recipe: the part that was exported.
    """

    settings: dict[str, Any]
    inputs: dict[str, str]
    content: dict[str, str]
    versions: dict[str, str]
    recipe: Recipe

    @classmethod
    def read(cls, folder: Path) -> Original:
        """Read the folder.

        Raises:
            InputError: a file is missing, or holds something else.
        """
        from ehrkg.benchmark import Recipe
        from ehrkg.benchmark.exports.formats.rehydration import BUILD, RECIPE

        file = folder / BUILD
        try:
            said = json.loads(file.read_text(encoding="utf-8"))
            parts = {name: said[name] for name in ("settings", "inputs", "content", "versions")}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"this file can't be read: {error}",
                file=file,
                expected="what ehrkg export DIR --to rehydrate writes",
                todo="name the folder that it wrote",
            ) from error
        return cls(**parts, recipe=Recipe.read(folder / RECIPE))


def rehydrate(
    folder: str | Path,
    source: str | Path,
    out: str | Path,
    *,
    settings: Settings | None = None,
    progress: Callable[[str], Progress] | None = None,
) -> Benchmark:
    """Build the benchmark that a colleague exported, of one's own copy of the tables.

    Args:
        folder: what ``ehrkg export DIR --to rehydrate`` wrote.
        source: the folder of tables, of the same release. Their files may differ (unpacked, other
            order of rows): what counts is what comes of them.
        out: where to leave the build; the same call resumes it.
        settings: what the folder can't hold, such as the paths of further knowledge; by default
            those that it says.
        progress: as in ``ehrkg.build``.

    Returns:
        The same part of the same benchmark: its fingerprint is the exported one's.

    Raises:
        UsageError: the settings can't be made from what is written down.
        InputError: the folder or the tables can't be used.
        CheckError: something else came of the tables; it says which files and versions differ.
    """
    from ehrkg.benchmark import Benchmark
    from ehrkg.pipeline import build
    from ehrkg.session.settings import Settings

    original = Original.read(Path(folder))
    chosen = settings or Settings.of(original.settings)
    made = build(source, out, chosen, progress=progress)
    found = {name: made.manifest["outputs"][name]["content"] for name in original.content}
    if found != original.content:
        raise CheckError(
            f"other questions came of these tables than of the original's ({Path(out)})",
            todo="; ".join(_differences(original, made.manifest)),
        )
    return Benchmark.from_recipe(original.recipe, Path(out))


def _differences(original: Original, manifest: dict[str, Any]) -> list[str]:
    """What may be the cause, in words."""
    tables = sorted(
        name
        for name in {*original.inputs, *manifest["inputs"]}
        if original.inputs.get(name) != manifest["inputs"].get(name)
    )
    versions = [
        f"{name} {said} (here {manifest['versions'].get(name, 'none')})"
        for name, said in original.versions.items()
        if manifest["versions"].get(name) != said
    ]
    return [
        f"compare these files with the original's: {', '.join(tables) or 'none differs'}",
        f"install these versions: {', '.join(versions) or 'all are the same'}",
    ]


def command(
    folder: Annotated[Path, typer.Argument(help="What ehrkg export DIR --to rehydrate wrote.")],
    source: Annotated[Path, typer.Argument(help="Your own copy of the hospital's tables.")],
    out: Annotated[Path, typer.Option(help="Where to leave the build.")],
) -> None:
    """Make a colleague's benchmark again, of your own copy of the tables."""
    from rich.console import Console

    from ehrkg.session.console import StageBars

    with StageBars(Console()) as bars:
        bench = rehydrate(folder, source, out, progress=bars)
    typer.echo(f"The same questions as the original's: {bench!r}")
    typer.echo(f"Fingerprint: {bench.fingerprint}")
