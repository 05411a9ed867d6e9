"""Put a whole build into one graph."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from ehrkg.ehr.schema import Hospital
from ehrkg.foundation.hashing import short_id
from ehrkg.foundation.progress import Progress
from ehrkg.graph import GraphStore, open_store, writers
from ehrkg.graph.place import GRAPH
from ehrkg.mapping.schema import Mapping
from ehrkg.ontology.schema import Knowledge
from ehrkg.verify.schema import Verified


@dataclass(frozen=True)
class GraphTarget:
    """Where a build's graph goes.

    Args:
        address: a server's address; ``None`` for a file in the output folder.
        build: the build's id on the server.
        auth: user and password; from the environment for ``None``.
        beside_foreign: write beside somebody else's nodes of the same labels.
        identity: a hash of what the build is made of; the server keeps it with the build.
    """

    address: str | None = None
    build: str = "default"
    auth: tuple[str, str] | None = field(default=None, repr=False)
    beside_foreign: bool = False
    identity: str | None = None

    @classmethod
    def of(
        cls,
        address: str | None,
        identity: dict[str, object],
        *,
        auth: tuple[str, str] | None,
        beside_foreign: bool,
    ) -> GraphTarget:
        """The target of a build; its id comes from what the build is made of, or the address.

        Raises:
            ServiceError: the server is not there, or refuses; better known before the work.
            InputError: foreign nodes lie there.
            UsageError: the address is none, or the build that it names is made of something else.
        """
        if address is None:
            return cls()
        plain, _, named = address.partition("#")
        text = json.dumps(identity, sort_keys=True, default=str)
        made_of = hashlib.sha256(text.encode()).hexdigest()
        target = cls(plain, named or short_id("b", text), auth, beside_foreign, made_of)
        target.open().close()
        return target

    def open(self) -> GraphStore:
        """Open the server's graph for writing."""
        return open_store(
            str(self.address),
            build=self.build,
            auth=self.auth,
            beside_foreign=self.beside_foreign,
            identity=self.identity,
        )

    def reading(self, out: Path) -> GraphStore:
        """Open the graph that a build wrote, to read it: the server's, or the file in ``out``."""
        return self.open() if self.address else open_store(out / GRAPH, read_only=True)


def store_graph(
    target: GraphTarget,
    out: Path,
    work: Path,
    hospital: Hospital,
    knowledge: Knowledge,
    mapping: Mapping,
    verified: Verified,
    templates: pa.Table,
    *,
    progress: Progress,
) -> dict[str, object]:
    """Write the graph: on the server, or to ``out/graph.lbug``, filled beside its place.

    A file that a killed build left half-filled is thrown away; the tables it is made of are kept,
    so filling it again costs seconds. On a server what is there stays, and the rest is added.

    Returns:
        The graph's content hash and its counts (and its address and build, on a server), for the
        manifest.
    """
    stages = (hospital, knowledge, mapping, verified, templates)
    if target.address is not None:
        with target.open() as store:
            facts = _fill(store, *stages, progress=progress)
        return facts | {"address": target.address, "build": target.build}
    part = work / GRAPH
    for leftover in work.glob(f"{GRAPH}*"):
        leftover.unlink()
    with open_store(part) as store:
        facts = _fill(store, *stages, progress=progress)
    part.replace(out / GRAPH)
    for leftover in work.glob(f"{GRAPH}*"):
        leftover.unlink()
    return facts


def _fill(
    store: GraphStore,
    hospital: Hospital,
    knowledge: Knowledge,
    mapping: Mapping,
    verified: Verified,
    templates: pa.Table,
    *,
    progress: Progress,
) -> dict[str, object]:
    progress.start("filling the graph", 5)
    writers.write_hospital(store, hospital)
    progress.advance()
    writers.write_knowledge(store, knowledge)
    progress.advance()
    writers.write_links(store, mapping.links)
    progress.advance()
    writers.write_relations(store, verified.relations, verified.evidence)
    progress.advance()
    writers.write_templates(store, templates)
    progress.advance()
    return {"content": store.content_hash(), "counts": store.counts()}
