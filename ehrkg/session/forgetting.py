"""Take a patient out of a build, and show that nothing of the patient is left."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg import evaluation
from ehrkg.ehr.pseudonyms import Pseudonyms
from ehrkg.evaluation.readers.agreement import review_summary
from ehrkg.evaluation.report.gathering import REPORT, kept_checks
from ehrkg.evaluation.schema import complete_scores
from ehrkg.foundation import replacing
from ehrkg.foundation.errors import CheckError, InputError
from ehrkg.foundation.growing import MANIFEST
from ehrkg.foundation.keys import key_folder, key_with, read_key
from ehrkg.foundation.ledger import Ledger
from ehrkg.foundation.replacing import WORK
from ehrkg.foundation.storage import content_hash, file_hash, read_parquet, write_parquet
from ehrkg.foundation.workspace import (
    LEDGER,
    hold,
    read_final,
    read_ipc,
    read_manifest,
    write_ipc,
    write_json,
)
from ehrkg.graph import GraphStore, forgetting, open_store, readers
from ehrkg.graph.place import GRAPH, place_of
from ehrkg.graph.schema import NODES
from ehrkg.session.forgetting_evaluations import forget_answers, without_echoes
from ehrkg.session.forgetting_reviews import forget_reviews
from ehrkg.session.searching import Names, search_files, search_graph, told
from ehrkg.session.traces import (
    COLUMNS,
    PATIENT,
    TEMPLATE,
    VISIT,
    Traces,
    table_name,
    traces_of,
    without,
)

SEARCHED = (PATIENT, VISIT, TEMPLATE)
"""What is looked for afterwards."""

NOTE = (
    "patients were taken out after the build; counts over the corpus (of pairs, of pools, of the "
    "ledger's other stages, of checks) are those of before and were not made anew, so hashes "
    "differ from those of a fresh build"
)
"""What the manifest says of such a build."""


@dataclass(frozen=True)
class Forgotten:
    """What was taken out of a build.

    Attributes:
        rows: how many rows each table lost.
        files: how many files were searched afterwards.
        short: how many of the names are too short to be looked for in any text.
    """

    rows: dict[str, int]
    files: int
    short: int

    def as_text(self) -> str:
        """The result in words."""
        lost = ", ".join(f"{count:,} of {name}" for name, count in self.rows.items() if count)
        lines = [f"Taken out: {lost or 'nothing; it was taken out before'}."]
        lines.append(f"Searched afterwards: {self.files} files and the graph. Found: nothing.")
        if self.short:
            lines.append(
                f"{self.short} ids are so short that they were looked for only as whole values of "
                "columns of ids."
            )
        return "\n".join(lines)


def forget(
    patient: str,
    out: Path,
    *,
    key_file: Path | None = None,
    auth: tuple[str, str] | None = None,
) -> Forgotten:
    """Take a patient out of the graph and every file of a build.

    Codes that nobody else has and relations seen in nobody else go too. Counts over the corpus are
    not made anew; manifest and ledger say so. Killed at any moment, the same call finishes.

    Args:
        patient: the id, as it stands in the tables that were read.
        out: the build's folder.
        key_file: of a build under pseudonyms, its key; found by its fingerprint for ``None``.
        auth: user and password of the server that holds the graph; from the environment for
            ``None``.

    Returns:
        What was taken out. Every file was then searched for the ids of patient, visits and
        templates.

    Raises:
        InputError: this is no finished build, or it holds no such patient.
        CheckError: something is still there; it says where.
    """
    written = _written(patient, read_manifest(out), key_file)
    with hold(out):
        finished = replacing.finish(out)
        job = _Job(out, read_manifest(out), Ledger.read(out / LEDGER), auth)
        with job.open_graph(read_only=True) as store:
            traces = _traces(written, out, store)
            known = written in store.read_nodes("Patient")["id"].to_pylist()
        rows: dict[str, int] = {}
        if known or _stands(written, out):
            rows = job.take_out(traces)
        elif not finished:
            raise InputError(
                "this build holds no such patient",
                file=out,
                found=patient,
                expected="an id as it stands in the tables that were read",
                todo="check the id; one that was forgotten before needs nothing more",
            )
        return job.searched(traces, rows, {patient, written})


def _written(patient: str, manifest: dict[str, Any], key_file: Path | None) -> str:
    """The name that a patient has in a build."""
    fingerprint = manifest["settings"].get("pseudonymise")
    if fingerprint is None:
        return patient
    key = read_key(key_file) if key_file else key_with(fingerprint)
    if key is None or key.fingerprint != fingerprint:
        raise InputError(
            "this is not the key that the build's pseudonyms were made with"
            if key
            else "the key that the build's pseudonyms were made with is not here",
            file=key_file or key_folder(),
            expected=f"the key with the fingerprint {fingerprint}",
            todo="name its file: --key-file FILE",
        )
    return Pseudonyms(key).patient(patient)


def _traces(patient: str, out: Path, store: GraphStore) -> Traces:
    unusable = out / "quarantine" / "read.parquet"
    return traces_of(
        patient,
        visits=store.read_nodes("Visit"),
        quarantine=read_parquet(unusable) if unusable.exists() else None,
        **{name: read_final(out, name) for name in ("events", "relations", "templates", "items")},
    )


def _stands(patient: str, out: Path) -> bool:
    """Whether an event, or a row that could not be used, names a patient."""
    return any(
        "patient" in (table := read_parquet(path)).column_names
        and pc.any(pc.equal(table["patient"], patient)).as_py()
        for path in [out / "events.parquet", *sorted((out / "quarantine").glob("*.parquet"))]
    )


class _Job:
    """One taking out: what is read and what it becomes."""

    def __init__(
        self, out: Path, manifest: dict[str, Any], ledger: Ledger, auth: tuple[str, str] | None
    ) -> None:
        self._out, self._manifest, self._ledger, self._auth = out, manifest, ledger, auth

    @contextmanager
    def open_graph(self, *, read_only: bool) -> Iterator[GraphStore]:
        """The build's graph, in its file or on its server."""
        place = place_of(self._out, self._manifest)
        auth = self._auth if isinstance(place, str) else None
        with open_store(place, read_only=read_only, auth=auth) as store:
            yield store

    def take_out(self, traces: Traces) -> dict[str, int]:
        """Write every file anew without the traces, and put all in place at once."""
        new = replacing.Replacement(self._out)
        tables, rows = self._tables(traces, new)
        with self._graph(traces, new) as store:
            hospital = replace(readers.read_hospital(store), events=tables["events"])
            checks = self._checks(traces)
            shown = tables | {"scores": complete_scores(tables["scores"])}
            report = evaluation.gather_report(
                store,
                self._manifest,
                self._ledger,
                hospital,
                shown,
                checks=checks,
                review=review_summary(self._out),
            )
        earlier = self._manifest.get("forgotten", {"patients": 0})
        self._manifest["forgotten"] = {"patients": earlier["patients"] + 1, "note": NOTE}
        write_json(self._manifest, new.path(MANIFEST))
        self._ledger.write(new.path(LEDGER))
        evaluation.write_report(report, new.path(REPORT))
        rows["review/marks"], removed = forget_reviews(self._out, traces, new)
        rows["evaluations/answers"], logs = forget_answers(self._out, traces, new)
        new.commit([*removed, *logs])
        return rows

    def _tables(
        self, traces: Traces, new: replacing.Replacement
    ) -> tuple[dict[str, pa.Table], dict[str, int]]:
        """The tables without the traces, those that change also written, with how many rows go."""
        tables, rows = {}, {}
        final = [*self._out.glob("*.parquet"), *(self._out / "quarantine").glob("*.parquet")]
        for path in sorted(final):
            before = read_parquet(path)
            after = without(before, COLUMNS.get(table_name(path), {}), traces)
            name = path.relative_to(self._out).as_posix()
            unit = name.removesuffix(".parquet")
            if unit == "scores":
                after = without_echoes(after, traces)
            tables[unit], rows[unit] = after, before.num_rows - after.num_rows
            if rows[unit] or not after.equals(before):
                write_parquet(after, new.path(name))
                self._account(unit, before.num_rows, after, new.path(name))
        for path in sorted((self._out / WORK).glob("*/*.arrow")):
            before = read_ipc(path)
            after = without(before, COLUMNS.get(table_name(path), {}), traces)
            if not after.equals(before):
                write_ipc(after, new.path(path.relative_to(self._out).as_posix()))
        return tables, rows

    def _account(self, unit: str, before: int, after: pa.Table, path: Path) -> None:
        """Say in ledger and manifest what a table lost."""
        gone = {"forgotten": before - after.num_rows}
        self._ledger.record("forget", unit, rows_in=before, rows_out=after.num_rows, dropped=gone)
        outputs = self._manifest["outputs"]
        if path.name in outputs:
            outputs[path.name] = {
                "rows": after.num_rows,
                "sha256": file_hash(path),
                "content": content_hash(after),
            }

    @contextmanager
    def _graph(self, traces: Traces, new: replacing.Replacement) -> Iterator[GraphStore]:
        """The graph without the traces, whose facts then stand in the manifest."""
        facts = self._manifest["graph"]
        if "address" in facts:
            with self.open_graph(read_only=False) as store:
                forgetting.delete(store, _nodes(store, traces))
                facts |= {"content": store.content_hash(), "counts": store.counts()}
                yield store
            return
        with self.open_graph(read_only=True) as before, open_store(new.path(GRAPH)) as after:
            forgetting.copy_without(before, after, _nodes(before, traces))
            facts |= {"content": after.content_hash(), "counts": after.counts()}
            yield after

    def _checks(self, traces: Traces) -> list[dict[str, Any]]:
        checks = kept_checks(self._out, self._manifest)
        if checks is None:
            return []
        rows: list[dict[str, Any]] = without(checks, COLUMNS["checks"], traces).to_pylist()
        return rows

    def searched(self, traces: Traces, rows: dict[str, int], ids: set[str]) -> Forgotten:
        """Search every file and the graph for what was taken out."""
        names = Names(frozenset(ids).union(*(traces[kind] for kind in SEARCHED)))
        files, found = search_files(self._out, names)
        with self.open_graph(read_only=True) as store:
            found += search_graph(store, names)
        if found:
            raise CheckError(
                f"something of the patient is left: {told(found)}",
                todo="take these files away, or report this: it should not be",
            )
        return Forgotten(rows, files, names.short)


def _nodes(store: GraphStore, traces: Traces) -> dict[str, frozenset[str]]:
    """By label, what goes; the evidence for relations that go among it."""
    evidence = store.read_nodes("Evidence")
    relations = pa.array(sorted(traces["Relation"]), pa.string())
    theirs = evidence.filter(pc.is_in(evidence["relation"], value_set=relations))
    nodes = {label: ids for label, ids in traces.names.items() if label in NODES}
    return nodes | {"Evidence": frozenset(theirs["id"].to_pylist())}
