"""Both engines on the same graphs: load time, size, peak memory, each audit's time.

    python tests/benchmarks/graph_engines.py [--patients N ...] [--mimic4 FOLDER] [--large]

Starts a Neo4j server of its own, as the tests do (Java and Maven), and ends it. ``--large`` times
the export for neo4j-admin of a graph of 1 million nodes and 10 million edges instead.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import numpy as np
import pyarrow as pa

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "graph")]

from neo4j_server import Server  # noqa: E402

from ehrkg.graph import catalogue  # noqa: E402
from ehrkg.graph.export import export_for_neo4j_admin  # noqa: E402
from ehrkg.graph.schema import NODES  # noqa: E402
from ehrkg.graph.store import GraphStore, open_store  # noqa: E402

T = TypeVar("T")

SERVER_JAVA = ("-Xms2g", "-Xmx2g")
"""As a server is run: the compiler's full strength, and a heap that its guide would give."""

PAGES = "1g"
"""Memory for the server's pages: more than the graph, as its guide would give."""


def size(path: Path) -> int:
    """Bytes on disk of a file or a folder."""
    files = [path] if path.is_file() else [p for p in path.rglob("*") if p.is_file()]
    return sum(p.stat().st_size for p in files)


def memory(process: int | str) -> int:
    """Bytes of memory that a process holds now."""
    text = Path(f"/proc/{process}/status").read_text()
    return int(text.partition("VmRSS:")[2].split()[0]) * 1024


@contextmanager
def watched(process: int | str) -> Iterator[list[int]]:
    """The most memory that a process held within."""
    peak, done = [0], threading.Event()

    def watch() -> None:
        while not done.wait(0.1):
            peak[0] = max(peak[0], memory(process))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield peak
    finally:
        done.set()
        watcher.join()


def timed(work: Callable[[], object]) -> float:
    return timed_result(work)[0]


def timed_result(work: Callable[[], T]) -> tuple[float, T]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def audits(store: GraphStore) -> dict[str, float]:
    """Seconds of each shipped query, the second time it is asked; by name."""
    found = {}
    for query in catalogue.named_queries():
        query.ask(store)
        found[query.name] = timed(lambda q=query: q.ask(store))  # type: ignore[misc]
    return found


def whole(source: GraphStore) -> dict[str, pa.Table]:
    """Every table of a graph, in an order in which they can be written."""
    return {
        name: source.read_nodes(name) if name in NODES else source.read_edges(name)
        for name in source.counts()
    }


def write(store: GraphStore, graph: dict[str, pa.Table]) -> None:
    for name, table in graph.items():
        if name in NODES:
            store.write_nodes(name, table)
        else:
            store.write_edges(name, table)


def show(what: str, *figures: float, digits: int = 1) -> None:
    print(f"{what:<40} " + " ".join(f"{one:>10.{digits}f}" for one in figures), flush=True)


def compare(name: str, graph: Path, folder: Path) -> None:
    """Load one graph into both engines, ask every audit of both, print the table."""
    server = Server(folder / "server", java=SERVER_JAVA, pagecache=PAGES)
    server.start()
    assert server.process is not None
    copy = folder / "copy.lbug"
    with open_store(graph, read_only=True) as source:
        counts, tables = source.counts(), whole(source)
    edges = sum(n for kind, n in counts.items() if kind.isupper())
    print(f"\n{name}: {sum(counts.values()) - edges:,} nodes, {edges:,} edges\n")
    print(f"{'':<40} {'Ladybug':>10} {'Neo4j':>10}", flush=True)
    try:
        with open_store(copy) as here, watched("self") as mine:
            loading = timed(lambda: write(here, tables))
            hashing, content = timed_result(here.content_hash)
        before = size(server.home / "data")
        with (
            open_store(server.address, auth=server.auth) as there,
            watched(server.process.pid) as its,
        ):
            show("load (s)", loading, timed(lambda: write(there, tables)))
            took, found = timed_result(there.content_hash)
            show("content hash (s)", hashing, took)
            if found != content or there.counts() != counts:
                sys.exit("the two engines hold different graphs")
            asked_there = audits(there)
        on_server = size(server.home / "data") - before
        show("size on disk (MB)", size(copy) / 1e6, on_server / 1e6)
        show("peak memory of client, of server (MB)", mine[0] / 1e6, its[0] / 1e6, digits=0)
        with open_store(copy, read_only=True) as here:
            asked_here = audits(here)
    finally:
        server.kill()
    for query in sorted(asked_here, key=lambda q: -max(asked_here[q], asked_there[q])):
        show(f"{query} (s)", asked_here[query], asked_there[query], digits=3)


def build(tables: Path, folder: Path) -> Path:
    """The graph of a build of these tables."""
    from ehrkg.pipeline import build as run

    return run(tables, folder / "out").out / "graph.lbug"


def large(folder: Path, nodes: int = 1_000_000, edges: int = 10_000_000) -> None:
    """Time the export of a large graph."""
    draw = np.random.default_rng(7)
    ids = np.char.add("MONDO:", np.arange(nodes).astype(str))
    concepts = pa.table({"id": ids, "name": ids, "source": pa.repeat("infores:x", nodes)})
    ends = [pa.array(ids).take(pa.array(draw.integers(0, nodes, edges))) for _ in range(2)]
    table = pa.table({"from": ends[0], "to": ends[1]})
    with open_store(folder / "large.lbug") as store:
        store.write_nodes("Concept", concepts)
        store.write_nodes("Synonym", pa.table({"id": ids[:1]}))
        loading = timed(
            lambda: store._copy(  # type: ignore[attr-defined]
                "TREATS",
                pa.table(
                    {
                        "from": store._keys(table["from"]),
                        "to": store._keys(table["to"]),  # type: ignore[attr-defined]
                        **{
                            name: pa.nulls(edges, pa.string() if name != "negated" else pa.bool_())
                            for name in (
                                "id",
                                "negated",
                                "route",
                                "source",
                                "origin",
                                "licence",
                                "provenance",
                            )
                        },
                    }
                ),
                7_000_000,
                "",
            )
        )
        export = timed(lambda: export_for_neo4j_admin(store, folder / "files"))
    print(
        f"{nodes:,} nodes, {edges:,} edges: loaded into Ladybug in {loading:.1f} s, exported for "
        f"neo4j-admin in {export:.1f} s ({size(folder / 'files') / 1e6:.0f} MB), peak memory "
        f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:.0f} MB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--patients", type=int, nargs="*", default=[])
    parser.add_argument("--mimic4", type=Path, help="the MIMIC-IV demo's folder")
    parser.add_argument("--graph", type=Path, nargs="*", default=[], help="graphs already built")
    parser.add_argument("--large", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        if given.large:
            large(folder)
        graphs = [(path.name, path) for path in given.graph]
        if given.mimic4:
            graphs.append(("MIMIC-IV demo", build(given.mimic4, folder / "mimic4")))
        for patients in given.patients:
            from ehrkg.ehr import synth

            tables = folder / f"synth{patients}" / "tables"
            synth.write(tables, patients=patients, shape="demo", seed=7)
            graphs.append((f"{patients:,} synthetic patients", build(tables, tables.parent)))
        for at, (name, path) in enumerate(graphs):
            work = folder / f"work{at}"
            work.mkdir()
            compare(name, path, work)


if __name__ == "__main__":
    main()
