"""``ehrkg export`` and ``ehrkg diff``, and which questions ``ehrkg build`` makes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

Kinds = Annotated[
    list[str] | None,
    typer.Option(help="mcq4, mcq5, mcq6, oeq, yesno or multi; the first four by default."),
]
Strategies = Annotated[
    list[str] | None,
    typer.Option(help="frequency, sibling, cooccurring or random; frequency by default."),
]
History = Annotated[int, typer.Option(min=0, help="How many earlier admissions a stem tells of.")]
Directory = Annotated[Path, typer.Argument(help="The folder of a build.")]


def asked(kinds: list[str] | None, strategies: list[str] | None, history: int) -> dict[str, Any]:
    """The settings of a build that say which questions are made; what is not given is left out.

    >>> asked(["mcq4", "yesno"], None, 2)
    {'history': 2, 'formats': ('mcq4', 'yesno')}
    """
    given = {"formats": kinds, "strategies": strategies}
    return {"history": history} | {name: tuple(words) for name, words in given.items() if words}


def export(
    directory: Annotated[
        Path | None, typer.Argument(help="The folder of a build.", show_default=False)
    ] = None,
    to: Annotated[str, typer.Option(help="The format; --list shows them.")] = "",
    out: Annotated[
        Path | None, typer.Option(help="A new folder; DIR-FORMAT beside the build by default.")
    ] = None,
    recipe: Annotated[
        Path | None, typer.Option(help="Only the part that this recipe cuts (a file).")
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="Show the formats.")] = False,
) -> None:
    """Write a benchmark in the form of another tool, with a datasheet."""
    from ehrkg.benchmark import Benchmark
    from ehrkg.benchmark.exports import EXPORTS
    from ehrkg.foundation.errors import UsageError

    if list_:
        for one in EXPORTS.values():
            typer.echo(f"{one.name:<10} {one.title}\n{'':<10} {one.opened}")
        return
    if directory is None or not to:
        raise UsageError(
            "which build, in which format?", todo="ehrkg export DIR --to FORMAT; --list shows them"
        )
    bench = Benchmark.open(directory)
    if recipe is not None:
        bench = Benchmark.from_recipe(recipe, bench)
    folder = out or directory.with_name(f"{directory.name}-{to}")
    bench.export(to, folder)
    typer.echo(f"{bench!r}\nWritten: {folder}. To open it: {EXPORTS[to].opened}")


def diff(
    old: Directory,
    new: Annotated[Path, typer.Argument(help="The folder of a newer one.")],
    output: Annotated[
        Path | None, typer.Option("--out", help="Write all that changed to this file (JSON).")
    ] = None,
) -> None:
    """Say what a newer version of a benchmark adds, lacks and says otherwise."""
    from ehrkg.benchmark import Benchmark
    from ehrkg.foundation.workspace import write_json

    found = Benchmark.open(old).diff(Benchmark.open(new))
    typer.echo(found.as_text())
    if output is not None:
        write_json(found.as_json(), output)
        typer.echo(f"Written: {output}")
