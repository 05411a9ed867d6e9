"""``ehrkg graph …``: copy a graph, export it, check it, drop a build."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ehrkg.graph.store import GraphStore

app = typer.Typer(
    name="graph",
    help="Copy, export, check graphs; drop builds.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

GRAPH_HELP = "A graph file, or neo4j://HOST:PORT (with #BUILD behind it to name the build)."
"""No square brackets: the help would take what stands in them for a style."""

Target = Annotated[str, typer.Option("--graph", help=GRAPH_HELP)]
BesideForeign = Annotated[
    bool,
    typer.Option(
        "--beside-foreign",
        help="Write into a database that holds somebody else's nodes of the same labels.",
    ),
]


@app.command()
def copy(
    source: Annotated[str, typer.Argument(help=GRAPH_HELP)],
    target: Annotated[str, typer.Argument(help="Likewise; a new graph, or a new build.")],
    beside_foreign: BesideForeign = False,
) -> None:
    """Copy a graph from one engine to another; both then have the same content hash.

    User and password of a server come from NEO4J_USERNAME and NEO4J_PASSWORD.
    """
    from rich.console import Console

    from ehrkg.graph.copy import copy_graph
    from ehrkg.graph.store import open_store
    from ehrkg.session.console import StageBars

    with (
        StageBars(Console()) as bars,
        open_store(source, read_only=True) as first,
        open_store(target, beside_foreign=beside_foreign) as second,
    ):
        counts = copy_graph(first, second, progress=bars("copy"))
        found = second.content_hash()
    typer.echo(f"Copied {sum(counts.values()):,} nodes and edges. Content hash: {found}")


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(help="Where the files go; a new folder.")],
    graph: Target,
    for_: Annotated[
        str, typer.Option("--for", help="Which tool reads them: neo4j-admin, kgx or rdf.")
    ] = "neo4j-admin",
) -> None:
    """Write a graph's files for another tool.

    neo4j-admin gets the whole graph, and the line that loads it is printed; kgx the knowledge, as
    KGX JSON Lines and SSSOM; rdf knowledge, relations and evidence, as N-Triples with PROV-O.
    """
    from ehrkg.foundation.errors import UsageError
    from ehrkg.graph.store import check_there, open_store

    if for_ not in _EXPORTS:
        raise UsageError(f"no files for {for_!r}", todo=f"use --for {', '.join(_EXPORTS)}")
    check_there(graph)
    with open_store(graph, read_only=True) as store:
        typer.echo(_EXPORTS[for_](store, folder))


def _for_neo4j(store: GraphStore, folder: Path) -> str:
    from ehrkg.graph.export import export_for_neo4j_admin

    line = export_for_neo4j_admin(store, folder)
    return (
        f"With the server stopped and its database new, run:\n\n{line}\n\n"
        "Start the server; then finish by: ehrkg graph check --graph neo4j://HOST:7687"
    )


def _for_kgx(store: GraphStore, folder: Path) -> str:
    from ehrkg.graph.kgx_out import export_kgx

    return "\n".join(
        f"{folder / name}: {n:,} lines" for name, n in export_kgx(store, folder).items()
    )


def _for_rdf(store: GraphStore, folder: Path) -> str:
    from ehrkg.graph.folders import new_folder
    from ehrkg.graph.rdf import write_rdf

    with new_folder(folder) as part:
        count = write_rdf(store, part / "graph.nt.gz")
    return f"{folder / 'graph.nt.gz'}: {count:,} triples"


_EXPORTS: Mapping[str, Callable[[GraphStore, Path], str]] = {
    "neo4j-admin": _for_neo4j,
    "kgx": _for_kgx,
    "rdf": _for_rdf,
}
"""Which tools a graph's files can be written for; each says what it wrote."""


@app.command()
def drop(
    build: Annotated[str, typer.Option("--build", help="The build to delete.")],
    graph: Target,
) -> None:
    """Delete what one build wrote, and nothing else."""
    from ehrkg.foundation.errors import UsageError
    from ehrkg.graph.store import check_there, open_store

    check_there(graph)
    served = _server(graph)
    plain = graph.partition("#")[0] if served else graph
    # Opened under a name of no build, so that one of an older schema can be dropped too.
    with open_store(plain, build="no-build", beside_foreign=served) as s:
        builds = s.builds()
        if build not in builds:
            raise UsageError(
                f"there is no build {build!r}", todo=f"name one of: {', '.join(builds) or '-'}"
            )
        s.drop_build(build)
    typer.echo(f"Dropped {build}.")


@app.command()
def check(
    graph: Target,
    expect: Annotated[
        str | None,
        typer.Option(help="The content hash; that of manifest.json beside a file by default."),
    ] = None,
) -> None:
    """Read a whole graph and compare its content hash with the one that is known.

    A file is only read. A server's graph is opened for writing first: that makes the indexes that
    are missing, and finishes what neo4j-admin loaded.
    """
    from ehrkg.graph.check import check_file, other_content
    from ehrkg.graph.store import open_store

    if not _server(graph):
        found = check_file(graph, expected=expect)
    else:
        open_store(graph, build=_only_build(graph)).close()  # finishes what neo4j-admin loaded
        with open_store(graph, read_only=True) as store:
            found = store.content_hash()
        if expect and found != expect:
            raise other_content(found, expect)
    typer.echo(f"Content hash: {found}")


def _server(graph: str) -> bool:
    from ehrkg.graph.store import is_address

    return is_address(graph)


def _only_build(graph: str) -> str:
    """The single build of a server, when the address names none."""
    from ehrkg.graph.store import open_store

    with open_store(graph.partition("#")[0], build="no-build", beside_foreign=True) as store:
        builds = store.builds()
    return builds[0] if len(builds) == 1 else "default"


def lint_file(path: Path) -> None:
    """Print what in a query's file differs between the engines; exit 1 where something does."""
    from ehrkg.foundation.errors import UsageError
    from ehrkg.graph.catalogue import read_query
    from ehrkg.graph.lint import lint

    if not path.is_file():
        raise UsageError(f"there is no file {str(path)!r}", todo="name a file with a query")
    findings = lint(read_query(path, str(path)).text)
    for finding in findings:
        typer.echo(f"{path}:{finding}")
    if findings:
        raise typer.Exit(1)
