"""Time and memory of loading large knowledge: whole processes, files made up on the spot.

    python tests/benchmarks/knowledge_size.py [kgx] [umls] [obo] [graph]

Each line is a process of its own: wall time, CPU time, the largest resident memory. Beside each
stands a naive peer (pandas, or lines and dicts) on the same file cut to a size that it can hold;
the ratio is of the seconds each takes for a million rows.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import duckdb

ROOT = Path(__file__).resolve().parents[2]
DISEASES = ROOT.parent / "shared" / "data" / "hdo"
SHARE = 20
"""The peer reads one row in so many."""

LOAD = """
import sys
from ehrkg import ontology
from ehrkg.foundation.ledger import Ledger
ledger = Ledger()
known = ontology.load(sys.argv[1], ledger=ledger)
print(*(getattr(known, t).num_rows for t in ("concepts", "synonyms", "edges", "mappings")))
"""
GRAPH = """
import sys
from pathlib import Path
import ehrkg
kg = ehrkg.open(sys.argv[2])
kg.load_ontology(sys.argv[1])
print(kg.query("MATCH ()-[r:TREATS]->() RETURN count(r) AS n").to_pydict())
"""
PEER_KGX = """
import sys, pandas as pd
from pathlib import Path
folder = Path(sys.argv[1])
nodes = pd.read_csv(folder / "nodes.tsv", sep="\\t", dtype=str, keep_default_na=False)
edges = pd.read_csv(folder / "edges.tsv", sep="\\t", dtype=str, keep_default_na=False)
nodes = nodes.drop_duplicates("id").sort_values("id")
edges = edges.drop_duplicates()
edges = edges[edges.subject.isin(nodes.id) & edges.object.isin(nodes.id)]
edges = edges.sort_values(["predicate", "subject", "object"])
print(len(nodes), len(edges))
"""
PEER_UMLS = """
import sys, pandas as pd
from pathlib import Path
rows = pd.read_csv(Path(sys.argv[1]) / "MRCONSO.RRF", sep="|", dtype=str, header=None,
                   keep_default_na=False, quoting=3)
rows = rows[(rows[16] == "N") & (rows[1] == "ENG")]
best = rows.sort_values([0, 2, 4, 6, 11, 14]).drop_duplicates(0)
names = rows[[0, 14]].assign(low=rows[14].str.lower()).drop_duplicates([0, "low"])
codes = rows[[0, 11, 13]].drop_duplicates().sort_values([0, 11, 13])
print(len(best), len(names), len(codes))
"""
PEER_OBO = """
import sys
terms, term = [], None
for line in open(sys.argv[1], encoding="utf-8"):
    line = line.strip()
    if line.startswith("["):
        term = {} if line == "[Term]" else None
        if term is not None:
            terms.append(term)
    elif term is not None and ": " in line:
        tag, value = line.split(": ", 1)
        term.setdefault(tag, []).append(value.split(" ! ")[0])
edges = {(t["id"][0], p) for t in terms for p in t.get("is_a", ())}
print(len(terms), len(edges))
"""


@dataclass(frozen=True)
class Took:
    wall: float
    peak: float


def measure(
    name: str, code: str, *arguments: Path, seconds: float = 0, gigabytes: float = 0
) -> Took:
    """Run code as a process; print its time and its largest memory beside the targets."""
    began = time.monotonic()
    command = [sys.executable, "-c", code, *map(str, arguments)]
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        said = out.read().strip()
    wall, peak = time.monotonic() - began, used.ru_maxrss / 2**20
    if process.returncode:
        sys.exit(f"{name} failed:\n{said}")
    target = ""
    if seconds:
        target += f" under {seconds:.0f} s: {'yes' if wall < seconds else 'NO'}"
    if gigabytes:
        target += f" under {gigabytes:.0f} GB: {'yes' if peak * 1.0737 < gigabytes else 'NO'}"
    cpu = used.ru_utime + used.ru_stime
    print(
        f"{name:<44} {wall:7.1f} s {cpu:7.1f} s CPU {peak:5.2f} GiB {target}  [{said}]", flush=True
    )
    return Took(wall, peak)


def compared(ours: Took, peer: Took, share: float) -> None:
    print(
        f"{'':<44} {ours.wall / (peer.wall * share):.2f} times the peer's seconds a row", flush=True
    )


def copy(query: str, path: Path, *, delimiter: str = "\t", header: bool = True) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    duckdb.execute("SET enable_progress_bar = false")
    said = "true" if header else "false"
    duckdb.sql(
        f"COPY ({query}) TO '{path}' (FORMAT csv, DELIMITER '{delimiter}', HEADER {said}, QUOTE '')"
    )


def make_kgx(folder: Path, nodes: int, edges: int) -> Path:
    """A KGX folder: drugs and diseases, edges by hash, no two alike."""
    drugs = nodes // 5
    node = f"""CASE WHEN {{0}} < {drugs} THEN format('DRUGBANK:DB{{{{:07d}}}}', {{0}})
               ELSE format('MONDO:{{{{:07d}}}}', {{0}}) END"""
    copy(
        f"""SELECT {node.format("i")} AS id,
               CASE WHEN i < {drugs} THEN 'biolink:Drug' ELSE 'biolink:Disease' END AS category,
               'made-up thing number ' || i AS name, '' AS description,
               'thing ' || i || '|item ' || i AS synonym
            FROM range({nodes}) t(i)""",
        folder / "nodes.tsv",
    )
    words = "['treats', 'causes', 'subclass_of', 'has_phenotype', 'regulates']"
    copy(
        f"""SELECT i AS id, {node.format("s")} AS subject,
               'biolink:' || {words}[1 + i % 5] AS predicate, {node.format("o")} AS object,
               'infores:source-' || i % 7 AS primary_knowledge_source, 'PMID:' || i AS publications
            FROM (SELECT i, (hash(i) % {nodes})::BIGINT AS s,
                         (hash(i + 1e9::BIGINT) % {nodes})::BIGINT AS o
                  FROM range({edges}) t(i))""",
        folder / "edges.tsv",
    )
    return folder


def make_umls(folder: Path, rows: int) -> Path:
    """MRCONSO: three names a concept, six vocabularies, one row in fifty suppressed."""
    copy(
        f"""SELECT format('C{{:07d}}', i // 3), 'ENG', CASE i % 3 WHEN 0 THEN 'P' ELSE 'S' END,
               'L' || i, 'PF', 'S' || i, 'Y', 'A' || i, '', '', '',
               ['MSH', 'SNOMEDCT_US', 'RXNORM', 'NCI', 'MTH', 'LNC'][1 + i % 6], 'PT',
               format('D{{:07d}}', i // 2), 'made-up thing number ' || i || ' of its kind', '0',
               CASE WHEN i % 50 = 1 THEN 'O' ELSE 'N' END, '256', ''
            FROM (SELECT ((i * 7919) % {rows})::BIGINT AS i FROM range({rows}) t(i))""",
        folder / "MRCONSO.RRF",
        delimiter="|",
        header=False,
    )
    return folder


def make_obo(path: Path, terms: int) -> Path:
    """An OBO file with as many names, references and parents a term as Mondo has."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as out:
        out.write("format-version: 1.2\nontology: mondo\n")
        for i in range(terms):
            out.write(
                f'\n[Term]\nid: MONDO:{i:07d}\nname: disease {i}\ndef: "Disease {i}." [X:1]\n'
            )
            out.writelines(f'synonym: "name {n} of {i}" EXACT [X:{n}]\n' for n in range(5))
            out.writelines(f"xref: UMLS:C{i * 9 + n:07d}\n" for n in range(6))
            out.write(f"is_a: MONDO:{i // 2:07d} ! parent\nis_a: MONDO:{i // 3:07d} ! parent\n")
    return path


def kgx(scratch: Path) -> None:
    whole = make_kgx(scratch / "whole", 1_000_000, 10_000_000)
    ours = measure("KGX, 1M nodes and 10M edges", LOAD, whole, seconds=240, gigabytes=6)
    part = make_kgx(scratch / "part", 1_000_000 // SHARE, 10_000_000 // SHARE)
    compared(ours, measure(f"pandas, a {SHARE}th of it", PEER_KGX, part), SHARE)


def umls(scratch: Path) -> None:
    whole = make_umls(scratch / "meta", 10_000_000)
    ours = measure("MRCONSO, 10M rows", LOAD, whole, seconds=240, gigabytes=4)
    part = make_umls(scratch / "small", 10_000_000 // SHARE)
    compared(ours, measure(f"pandas, a {SHARE}th of it", PEER_UMLS, part), SHARE)


def obo(scratch: Path) -> None:
    for path in sorted(DISEASES.glob("*.obo*")) if DISEASES.is_dir() else ():
        measure(f"DO's OBO ({path.name})", LOAD, path, seconds=20)
    made = make_obo(scratch / "mondo.obo", 30_000)
    ours = measure("an OBO of Mondo's size", LOAD, made, seconds=20)
    compared(ours, measure("lines and dicts", PEER_OBO, made), 1)


def graph(scratch: Path) -> None:
    whole = make_kgx(scratch / "graphed", 1_000_000, 10_000_000)
    measure("load_ontology of 10M edges into Ladybug", GRAPH, whole, scratch / "kg.lbug")


PARTS: dict[str, Callable[[Path], None]] = {"kgx": kgx, "umls": umls, "obo": obo, "graph": graph}


def main() -> None:
    print(
        f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before the first line", flush=True
    )
    for name in sys.argv[1:] or PARTS:
        with tempfile.TemporaryDirectory() as folder:
            PARTS[name](Path(folder))


if __name__ == "__main__":
    main()
