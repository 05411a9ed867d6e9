"""From the embedded graph to Neo4j: the same graph, the same queries, for many readers at once.

    export NEO4J_USERNAME=neo4j NEO4J_PASSWORD=...
    python examples/moving_to_neo4j.py OUT/graph.lbug neo4j://localhost:7687

OUT is what ``ehrkg build`` (or ``ehrkg demo``) left. MIMIC's graph holds patients' rows: the server
is yours, and not open to others. From then on give the address wherever a graph is named:
``ehrkg.open("neo4j://...")``, ``ehrkg audit NAME --graph neo4j://...``; a new build goes there at
once by ``ehrkg build TABLES --out OUT --graph neo4j://...``. A graph of many millions of edges is
loaded faster from files: ``ehrkg graph export DIR --graph OUT/graph.lbug`` prints the line for
neo4j-admin.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa

import ehrkg
from ehrkg.graph import copy_graph, open_store

BY_VERDICT = """
MATCH (r:Relation) WHERE r.build = $build
RETURN r.predicate AS predicate, r.verdict AS verdict, count(r) AS relations
ORDER BY predicate, verdict
"""


def move(file: str | Path, address: str, auth: tuple[str, str] | None = None) -> dict[str, str]:
    """The content hash of the graph on either side; the build keeps its name."""
    with (
        open_store(file, read_only=True) as here,
        open_store(address, build=here.build, auth=auth) as there,
    ):
        counts = copy_graph(here, there)
        print(f"{sum(counts.values()):,} nodes and edges copied")
        return {"file": here.content_hash(), "server": there.content_hash()}


def ask(target: str | Path, auth: tuple[str, str] | None = None) -> dict[str, pa.Table]:
    """A query of one's own and one that ships; they do not know which engine answers."""
    with ehrkg.open(target, read_only=True, auth=auth) as kg:
        return {
            "by verdict": kg.query(BY_VERDICT, build=kg.store.build),
            "supported by one origin": kg.audit("supported_by_one_origin", limit=5),
        }


def main() -> None:
    file, address = sys.argv[1:3]
    hashes = move(file, address)
    print("the same graph:", hashes["file"] == hashes["server"])
    for name, table in ask(address).items():
        print(f"\n{name}\n{table.to_pandas()}")


if __name__ == "__main__":
    main()
