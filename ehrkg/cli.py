"""The command line.

Exit codes: 0 done, 1 a check failed, 2 the call was wrong, 3 the input was wrong, 4 a service was
not there.
"""

from __future__ import annotations

import csv
import io
import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ehrkg import rehydration
from ehrkg.foundation.errors import EhrkgError, UsageError
from ehrkg.session import (
    benchmark_commands,
    doctor,
    evaluation_commands,
    fetching,
    graph_commands,
    pair_commands,
    privacy_commands,
    proposers,
    report_commands,
)
from ehrkg.session.view import command as view_command

app = typer.Typer(
    name="ehrkg",
    help="Clinical decision benchmarks out of hospital tables, verified by a knowledge graph.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.add_typer(graph_commands.app, name="graph")
app.command()(privacy_commands.forget)
app.command("doctor")(doctor.command)
app.command("fetch")(fetching.command)
app.command("verify")(pair_commands.verify)
app.command()(benchmark_commands.export)
app.command()(benchmark_commands.diff)
app.command()(report_commands.report)
app.command()(evaluation_commands.evaluate)
app.command("rehydrate")(rehydration.command)
app.command()(view_command.view)

INTERRUPTED = 130
"""What a shell gives a program that Ctrl-C ended."""

WIDE = 400
"""Columns of a table that goes into a pipe or a file, where nothing need be folded."""

Graph = Annotated[Path, typer.Option("--graph", help="The graph: OUT/graph.lbug of a build.")]
Seed = Annotated[int, typer.Option(help="Names the draw; another one gives another benchmark.")]


class Output(StrEnum):
    """How a table is printed."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"


def main() -> None:
    """Run the command line; a user's mistake gives a message, never a traceback."""
    try:
        app()
    except EhrkgError as error:
        print(f"ehrkg: {error}", file=sys.stderr)  # noqa: T201
        sys.exit(error.exit_code)
    except SystemExit as stop:
        if stop.code == INTERRUPTED:
            print("ehrkg: stopped; the same call goes on where it stood", file=sys.stderr)  # noqa: T201
        raise


def _show_version(wanted: bool) -> None:
    if wanted:
        from ehrkg import __version__

        typer.echo(f"ehrkg {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Clinical decision benchmarks out of hospital tables, verified by a knowledge graph."""


@app.command()
def demo(
    out: Annotated[
        Path, typer.Option(help="Where to leave tables and benchmark; a new folder.")
    ] = Path("ehrkg-demo"),
    patients: Annotated[int, typer.Option(min=20, help="How many synthetic patients.")] = 300,
    proposer: proposers.ProposerWords = "cooccurrence",
    max_calls: proposers.MostCalls = 100,
    seed: Seed = 7,
) -> None:
    """Write synthetic hospital tables and run the whole job on them: offline, in a minute or two.

    With --proposer local, or cooccurrence+local, a small model on this machine proposes too.
    """
    from rich.console import Console

    from ehrkg import evaluation
    from ehrkg.foundation.workspace import read_final
    from ehrkg.pipeline import build as run
    from ehrkg.session.console import StageBars, Stopwatch, show_build
    from ehrkg.session.demo import write_demo_tables
    from ehrkg.session.settings import Settings

    console, watch = Console(), Stopwatch()
    asking = proposers.asked_so("pair", None, max_calls)
    settings = Settings(proposer=proposers.proposer_named(proposer, asking), seed=seed)
    with StageBars(console) as bars:
        write_demo_tables(out / "tables", patients=patients, seed=seed, progress=bars("synth"))
        result = run(out / "tables", out / "benchmark", settings, progress=bars)
    shares = evaluation.planted_in(
        out / "tables",
        read_final(result.out, "relations"),
        read_final(result.out, "events")["code"].unique().to_pylist(),
    )
    show_build(console, result.out, result.ledger, planted=shares, seconds=watch.seconds())


@app.command()
def build(
    out: Annotated[Path, typer.Option(help="Where to leave the build; the same call resumes it.")],
    source: Annotated[
        list[Path] | None,
        typer.Argument(help="The folder of hospital tables; or several extracts, in order."),
    ] = None,
    add: Annotated[
        Path | None,
        typer.Option(help="One more extract for the build in --out, with the options it was made."),
    ] = None,
    format: Annotated[  # noqa: A002
        str | None, typer.Option(help="The tables' format; found from the tables by default.")
    ] = None,
    knowledge: Annotated[
        list[str] | None,
        typer.Option(help="Further knowledge, PATH or FORMAT=PATH; may be given several times."),
    ] = None,
    mapping: Annotated[
        Path | None,
        typer.Option(help="Your own mapping, SSSOM or code and concept as TSV: it overrides ours."),
    ] = None,
    task: Annotated[
        list[str] | None, typer.Option(help="A task to make questions for; all by default.")
    ] = None,
    question: benchmark_commands.Kinds = None,
    strategy: benchmark_commands.Strategies = None,
    history: benchmark_commands.History = 0,
    proposer: proposers.ProposerWords = "cooccurrence",
    per: proposers.PerWhat = "pair",
    consent: proposers.Agreed = None,
    max_calls: proposers.MostCalls = None,
    max_tokens: proposers.MostTokens = None,
    max_cost: proposers.MostCost = None,
    prices: proposers.Prices = None,
    seed: Seed = 7,
    graph: Annotated[
        str | None,
        typer.Option(
            help="neo4j://HOST:PORT for the graph, with NEO4J_USERNAME and NEO4J_PASSWORD in the "
            "environment; OUT/graph.lbug by default."
        ),
    ] = None,
    beside_foreign: graph_commands.BesideForeign = False,
    pseudonymise: Annotated[
        bool,
        typer.Option(
            "--pseudonymise",
            help="Replace the ids of patients and visits by names made with a secret key.",
        ),
    ] = False,
    key_file: privacy_commands.KeyFile = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be read and needed; write nothing.")
    ] = False,
) -> None:
    """Turn hospital tables into a verified and scored benchmark."""
    from rich.console import Console

    from ehrkg import pipeline
    from ehrkg.foundation.keys import key_for
    from ehrkg.session.console import StageBars, Stopwatch, show_build
    from ehrkg.session.estimate import estimate
    from ehrkg.session.extracts import key_of
    from ehrkg.session.settings import Settings

    console, watch = Console(), Stopwatch()
    if bool(source) == bool(add):
        raise UsageError("which tables?", todo="name their folder, or --add FOLDER to a build")
    asking = proposers.asked_so(per, consent, max_calls, max_tokens, max_cost, prices)
    named = proposers.proposer_named(proposer, asking)
    if dry_run:
        for folder in [*(source or ()), *([add] if add else ())]:
            for line in estimate(folder, format=format, proposer=named, tasks=task):
                console.print(line, highlight=False, soft_wrap=True)
        return
    key = key_of(out, key_file) if add else None
    if source and (pseudonymise or key_file):
        key = key_for(source[0], out, key_file)
    settings = Settings(
        format=format,
        knowledge=tuple(knowledge or ()),
        mapping=str(mapping) if mapping else None,
        tasks=tuple(task) if task else None,
        **benchmark_commands.asked(question, strategy, history),
        proposer=named,
        seed=seed,
        graph=graph,
        beside_foreign=beside_foreign,
        pseudonymise=key,
    )
    with StageBars(console) as bars:
        if add:
            result = pipeline.add(add, out, settings, progress=bars)
        else:
            result = pipeline.build(source or (), out, settings, progress=bars)
    show_build(console, result.out, result.ledger, seconds=watch.seconds())


@app.command()
def synth(
    out: Annotated[Path, typer.Option(help="Where to write the tables; a new folder.")],
    patients: Annotated[int, typer.Option(min=1, help="How many patients.")] = 2000,
    format: Annotated[str, typer.Option(help="The tables' format.")] = "mimic4",  # noqa: A002
    shape: Annotated[
        str,
        typer.Option(
            help="release: as many rows and codes a visit as MIMIC-IV has; demo: few; "
            "broad: few, of twice the conditions."
        ),
    ] = "release",
    seed: Seed = 7,
) -> None:
    """Write synthetic hospital tables, and a file of what was planted in them."""
    from rich.console import Console

    from ehrkg.ehr import synth as synthetic
    from ehrkg.session.console import StageBars

    console = Console()
    with StageBars(console) as bars:
        synthetic.write(
            out,
            patients=patients,
            format=format,
            shape=shape,
            seed=seed,
            progress=bars("synth"),
        )
    console.print(f"Tables: {out / 'hosp'}; what was planted: {out / 'planted.tsv'}")


@app.command()
def audit(
    query: Annotated[
        str | None, typer.Argument(help="A query of cypher/ by name, or a file of yours.")
    ] = None,
    graph: Annotated[
        Path | None, typer.Option("--graph", help="The graph: OUT/graph.lbug of a build.")
    ] = None,
    parameter: Annotated[
        list[str] | None, typer.Option("-p", help="A parameter of the query: name=value.")
    ] = None,
    output: Annotated[Output, typer.Option(help="How to print the table.")] = Output.TABLE,
    list_: Annotated[bool, typer.Option("--list", help="Show the named queries.")] = False,
    lint: Annotated[
        Path | None,
        typer.Option(help="Only say what in this file is not the same on both engines."),
    ] = None,
) -> None:
    """Answer a named, documented Cypher query over a graph; read-only."""
    if lint is not None:
        graph_commands.lint_file(lint)
        return
    from rich.console import Console

    from ehrkg.graph import catalogue, open_store
    from ehrkg.session.console import show_rows

    console = Console()
    if list_ or query is None:
        for named in catalogue.named_queries():
            console.print(
                f"[bold]{named.name}[/bold]  {named.title}", highlight=False, soft_wrap=True
            )
        return
    if graph is None:
        raise UsageError("which graph?", todo="add --graph OUT/graph.lbug")
    named = catalogue.find(query)
    with open_store(graph, read_only=True) as store:
        table = named.ask(store, parameter or [])
    if output is Output.TABLE:
        wide = console if console.is_terminal else Console(width=WIDE)
        show_rows(wide, table, named.title)
    elif output is Output.JSON:
        typer.echo(json.dumps(table.to_pylist(), ensure_ascii=False, indent=1, default=str))
    else:
        sink = io.StringIO()
        writer = csv.DictWriter(sink, table.column_names)
        writer.writeheader()
        writer.writerows(table.to_pylist())
        typer.echo(sink.getvalue(), nl=False)


@app.command()
def coverage(
    directory: Annotated[Path, typer.Argument(help="The folder of a build.")],
    knowledge: Annotated[
        list[Path] | None,
        typer.Option(help="Show the reach with this knowledge too; may be given several times."),
    ] = None,
    to: Annotated[
        Path | None, typer.Option(help="A folder for the tables, and 200 mapped rows to judge.")
    ] = None,
    judged: Annotated[
        Path | None, typer.Option(help="A sample with the column `judgement` filled in.")
    ] = None,
    seed: Seed = 7,
) -> None:
    """Say how much of what was written reaches a concept, by which way, and what does not."""
    from rich.console import Console

    from ehrkg.session.coverage import coverage as measured
    from ehrkg.session.coverage import write_tables
    from ehrkg.session.coverage_text import show_coverage

    found = measured(directory, knowledge=knowledge or (), judged=judged, seed=seed)
    console = Console()
    show_coverage(console if console.is_terminal else Console(width=WIDE), found)
    for path in write_tables(found, to) if to is not None else ():
        typer.echo(f"Written: {path}")


@app.command()
def check(
    directory: Annotated[Path, typer.Argument(help="The folder of a build.")],
    page: Annotated[
        Path | None, typer.Option(help="Write fifty questions to read to this HTML file.")
    ] = None,
    failing: Annotated[
        Path | None, typer.Option(help="Write which questions break which rule to this TSV file.")
    ] = None,
) -> None:
    """Ask whether a benchmark is sound: giveaways, true distractors, balance, wording."""
    from ehrkg.benchmark.checking.page import write_failing, write_page
    from ehrkg.benchmark.opened.benchmark import Benchmark
    from ehrkg.foundation.errors import CheckError, InputError, UsageError
    from ehrkg.session.soundness import check_build, keep_checks

    report = check_build(directory)
    typer.echo(report.as_text())
    try:
        keep_checks(directory, report)
    except (InputError, UsageError) as error:
        typer.echo(f"Not kept for the report: {error.message}", err=True)
    if page is not None:
        typer.echo(f"Fifty questions: {write_page(page, Benchmark.open(directory), report)}")
    if failing is not None:
        typer.echo(f"Failing questions: {write_failing(failing, report)}")
    if not report.ok:
        raise CheckError("the benchmark is not sound", todo="read the failed lines above")


@app.command()
def explain(
    item: Annotated[str, typer.Argument(help="An item's id, or a template's.")],
    graph: Graph,
    html: Annotated[
        Path | None, typer.Option(help="Write a picture of it to this file instead.")
    ] = None,
) -> None:
    """Print the chain from a question to the rows of the tables and the knowledge behind it."""
    from ehrkg.session.opening import open_graph

    with open_graph(graph, read_only=True) as kg:
        found = kg.explain(item)
    if html is None:
        typer.echo(found.as_text())
    else:
        typer.echo(f"Picture: {found.write_html(html)}")
