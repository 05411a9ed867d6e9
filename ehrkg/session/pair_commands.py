"""The command that gives a user's pairs verdicts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from ehrkg.foundation.errors import UsageError

SHOWN = 20
"""Verdicts that are printed; the file holds them all."""


def verify(
    pairs: Annotated[Path, typer.Argument(help="A TSV with the columns head, predicate, tail.")],
    out: Annotated[Path, typer.Option(help="Where to write the verdicts (TSV).")],
    graph: Annotated[
        Path | None,
        typer.Option(help="A graph with knowledge; what ships with the package by default."),
    ] = None,
    knowledge: Annotated[
        list[str] | None,
        typer.Option(help="Further knowledge or texts, PATH or FORMAT=PATH; may be repeated."),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Show each part of each verdict; OUT's evidence as TSV."),
    ] = False,
    embedder: Annotated[
        str | None,
        typer.Option(help="The embedding model: a folder, or MiniLM, SapBERT, MedCPT, BGE."),
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(help="A folder with a model of language inference that grades sentences."),
    ] = None,
    cache: Annotated[
        Path | None, typer.Option(help="A folder where embedded sentences are kept and reused.")
    ] = None,
) -> None:
    """Give pairs of codes, CURIEs or names a verdict, a score and evidence.

    Rows that can't be used are written beside the verdicts, each with its line and reason.
    """
    from rich.console import Console

    from ehrkg.session import pairs as own
    from ehrkg.session.pair_files import read_pairs, write_broken
    from ehrkg.session.tsv import write_tsv
    from ehrkg.session.verdict_text import explained, told

    if out.resolve() == pairs.resolve():
        raise UsageError("--out would overwrite the pairs", todo="name another file")
    file = read_pairs(pairs)
    verified = own.verify_table(
        file.table, graph, knowledge=knowledge or (), model=embedder, judge=judge, cache=cache
    )
    rows = own.beside_rows(file.table, verified)
    write_tsv(rows, out)
    quarantine = write_broken(file, out)
    console = Console(soft_wrap=True, highlight=False, markup=False)
    shown = verified.relations.slice(0, SHOWN).to_pylist()
    if explain:
        for line in explained(shown, verified.evidence):
            console.print(line)
        evidence = out.with_name(f"{out.stem}.evidence.tsv")
        write_tsv(verified.evidence, evidence)
        console.print(f"{len(verified.evidence):,} pieces of evidence. Written: {evidence}")
    else:
        for row in shown:
            console.print(told(row))
    counts = Counter(rows.column("verdict").to_pylist())
    words = ", ".join(f"{count:,} {verdict}" for verdict, count in sorted(counts.items()))
    console.print(f"{len(rows):,} pairs: {words or 'none'}. Written: {out}")
    if quarantine is not None:
        console.print(f"{file.complaint()}. Written: {quarantine}")
