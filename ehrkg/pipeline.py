"""The whole job, in order. This page is the best description of the program.

    read -> know -> map -> propose -> verify -> instantiate -> evaluate -> check -> store -> report

Each stage is a pure function of the stages above it and of the settings; the workspace keeps what
is finished, so a build that is killed goes on where it stood.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ehrkg import benchmark, evaluation, mapping, ontology, propose, verify
from ehrkg.foundation.ledger import Ledger
from ehrkg.foundation.progress import Progress, Silent
from ehrkg.foundation.workspace import Workspace, program_fingerprint
from ehrkg.session.extracts import Extracts, extracts_of, extracts_with, read_extracts
from ehrkg.session.manifest import describe_build
from ehrkg.session.settings import Settings
from ehrkg.session.soundness import as_table, check_tables
from ehrkg.session.storing import GraphTarget, store_graph


@dataclass(frozen=True)
class Build:
    """A finished build.

    Attributes:
        out: the folder it lies in.
        manifest: versions, settings, seed, hashes of inputs and outputs.
        ledger: what came in, what went out, and why the rest did not, stage by stage.
    """

    out: Path
    manifest: dict[str, Any]
    ledger: Ledger


def build(
    source: str | Path | Sequence[str | Path],
    out: str | Path,
    settings: Settings | None = None,
    *,
    auth: tuple[str, str] | None = None,
    progress: Callable[[str], Progress] | None = None,
) -> Build:
    """Make a benchmark out of a hospital's tables.

    Args:
        source: the folder of tables, or several extracts of one hospital, in order.
        out: where to leave the build; the same source and settings resume there.
        settings: everything that decides the result; the defaults are the strict ones.
        auth: user and password of the server that ``settings.graph`` names; from the environment
            for ``None``. Kept nowhere.
        progress: called with a stage's name, gives what shows its progress.

    Returns:
        The finished build: ``out`` then holds the graph, the tables, ledger, manifest and report.

    Raises:
        InputError: the tables can't be used, or ``out`` can't.
        UsageError: ``out`` holds the build of other inputs or settings.
        ServiceError: the graph's server is not there, or refuses.
    """
    chosen = settings or Settings()
    return run(extracts_of(source, chosen), Path(out), chosen, auth=auth, progress=progress)


def add(
    source: str | Path,
    out: str | Path,
    settings: Settings | None = None,
    *,
    auth: tuple[str, str] | None = None,
    progress: Callable[[str], Progress] | None = None,
) -> Build:
    """Add an extract, with more patients or more visits of known ones, to a finished build.

    What was read and mapped before and what models answered is used again, and what depends on the
    whole corpus is made anew: the result is that of ``build`` from all extracts. Arguments, result
    and errors are those of ``build``, with the settings that the build has.
    """
    chosen = settings or Settings()
    extracts = extracts_with(source, Path(out), chosen)
    return run(extracts, Path(out), chosen, auth=auth, progress=progress)


def run(
    extracts: Extracts,
    out: Path,
    chosen: Settings,
    *,
    auth: tuple[str, str] | None = None,
    progress: Callable[[str], Progress] | None = None,
) -> Build:
    """Do the whole job on some extracts; see ``build``."""
    bar = progress or (lambda _stage: Silent())
    identity: dict[str, object] = {
        "inputs": extracts.inputs,
        "settings": chosen.as_json(),
        "program": program_fingerprint(),
    }
    earlier = identity | {"inputs": extracts.earlier} if extracts.earlier else None
    with Workspace(out, identity, earlier=earlier) as work:
        finished = work.finished()
        if finished is not None:
            return Build(work.out, finished, Ledger.read(work.out / "ledger.json"))
        target = GraphTarget.of(
            chosen.graph, identity, auth=auth, beside_foreign=chosen.beside_foreign
        )

        # One stage a paragraph, to be read at a glance; the formatter would spread them out.
        # fmt: off
        hospital = read_extracts(work, extracts, chosen, bar)

        bar("know")
        ontology.acquaint(chosen.knowledge)
        knowledge = work.stage("know", lambda ledger: ontology.merge(
            ontology.shipped(ledger=ledger),
            *(ontology.load(path, ledger=ledger) for path in chosen.knowledge),
            ontology.for_codes(hospital.codes, ledger=ledger)))

        bar("map")
        mapped = work.stage("map", lambda ledger: mapping.map_codes(
            hospital.codes, knowledge, ledger=ledger,
            embedder=chosen.embedder(), cache=work.work / "embeddings", kept=work.work / "links",
            overrides=mapping.read_overrides(chosen.mapping) if chosen.mapping else None))

        candidates = work.stage("propose", lambda ledger: propose.keeping_answers(
            chosen.proposer, work.work / "answers").propose(
            hospital, tasks=chosen.tasks, ledger=ledger, progress=bar("propose")))

        verified = work.stage("verify", lambda ledger: verify.verify(
            candidates, mapped.links, knowledge, policy=chosen.policy,
            embedder=chosen.embedder(), cache=work.work / "embeddings",
            ledger=ledger, progress=bar("verify")))

        templates = work.stage("templates", lambda ledger: benchmark.make_templates(
            hospital, knowledge, mapped, verified, tasks=chosen.tasks, seed=chosen.seed,
            ledger=ledger, progress=bar("templates")))

        made = work.stage("items", lambda ledger: benchmark.make_questions(
            templates, hospital, knowledge, mapped, verified, formats=chosen.formats,
            strategies=chosen.strategies, history=chosen.history, seed=chosen.seed,
            ledger=ledger, progress=bar("items")))

        scores = work.stage("evaluate", lambda ledger: evaluation.score_baselines(
            made.items, templates, hospital, knowledge, verified,
            embedder=chosen.embedder(), seed=chosen.seed,
            ledger=ledger, progress=bar("evaluate")))

        bar("check")
        checks = work.stage("check", lambda _ledger: as_table(check_tables(
            benchmark.Benchmark.from_tables(
                templates=templates, items=made.items, relations=verified.relations,
                events=hospital.events, pool=made.pool),
            hospital, knowledge, mapped, verified, chosen.embedder(), seed=chosen.seed)))

        graph = store_graph(
            target, work.out, work.work, hospital, knowledge, mapped, verified, templates,
            progress=bar("store"))
        tables = {
            "events": hospital.events,
            "relations": verified.relations,
            "evidence": verified.evidence,
            "templates": templates,
            "items": made.items,
            "pool": made.pool,
            "scores": scores,
        }
        for name, table in tables.items():
            work.publish(name, table)
        work.publish_quarantine()

        manifest = describe_build(
            work.out, identity, tables, graph, format=hospital.format,
            planted=evaluation.planted_in(
                extracts.planted, verified.relations, hospital.codes["id"].to_pylist()))
        bar("report")
        with target.reading(work.out) as store:
            evaluation.write_report(
                evaluation.gather_report(
                    store, manifest, work.ledger, hospital, tables, checks=checks.to_pylist()),
                work.out / "report.html")
        # fmt: on
        work.finish(manifest)
        return Build(work.out, manifest, work.ledger)
