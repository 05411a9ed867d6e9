"""The server engine: a property graph in a Neo4j database that many can read.

Nodes of ehrkg carry the property ``ehrkg_key``; a node without it is somebody else's, and is never
read, counted or changed here. Each batch of a load is a transaction that first sees whether this
client is still the one that writes the build: one that was cut off and still had a transaction in
flight, or a second loader, makes the other look again at what is there, so no edge is doubled.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.foundation.closing import Closing
from ehrkg.foundation.errors import InputError, ServiceError
from ehrkg.foundation.hashing import unit
from ehrkg.graph import neo4j_database as database
from ehrkg.graph import neo4j_values as values
from ehrkg.graph import tables
from ehrkg.graph.neo4j_database import all_keys, leaving, pages
from ehrkg.graph.neo4j_session import CommitUnknownError, Session
from ehrkg.graph.neo4j_values import KEY, UNFINISHED
from ehrkg.graph.parameters import plain_values
from ehrkg.graph.schema import EDGES, NODES, SCHEMA_VERSION, EdgeType

if TYPE_CHECKING:
    import neo4j

    from ehrkg.graph.store import Options

T = TypeVar("T")

FEW = 50_000
"""Edges of a type that are read at once."""

DEFAULT = "default"
"""The name that a build has when nobody gives it one."""

CLAIMS = 5
"""How often a write begins anew because another client wrote the same build meanwhile."""

PAUSE = 1.0
"""Seconds that a client which lost its claim waits at most before it tries again.

Doubled each time; each client takes its own share of it, so that two do not cut each other short
for ever."""

_DELETED_FIRST = ("Template", "Evidence", "Relation", "Visit")
"""Labels whose edges lead to hubs: with these gone, a hub is deleted with few edges left."""


class _ClaimLostError(Exception):
    """Another client has begun to write this build."""


class Neo4jStore(Closing):
    """A graph in a Neo4j database; see ``ehrkg.graph.store.GraphStore`` for what it does.

    Args:
        target: the server's address.
        options: build, database, user and password, and the rest of ``open_store``'s.

    Raises:
        ServiceError: the server is not there, or refuses user and password.
        InputError: foreign nodes of the same labels lie there, or the build has another schema
            version, or is not there when reading.
    """

    def __init__(self, target: str, options: Options) -> None:
        self._take(tables.check_build_name(options.build))
        self._beside_foreign = options.beside_foreign
        self._identity = options.identity
        self._session = Session(
            target, auth=options.auth, database=options.database, read_only=options.read_only
        )
        self.address = self._session.address
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    def __repr__(self) -> str:
        return f"Neo4jStore({self.address!r}, build={self.build!r})"

    def _take(self, build: str) -> None:
        self.build, self._prefix = build, f"{build}|"

    # -- opening and closing ---------------------------------------------------------------

    def _prepare(self) -> None:
        found = self._session.read(
            f"MATCH (b:Build) WHERE b.{KEY} IS NOT NULL "
            f"RETURN b.id, b.schema_version, b.beside_foreign, b.{UNFINISHED}, b.identity"
        )
        builds = {row[0]: row[1:] for row in found}
        unfinished = None
        if self.build in builds:
            version, beside, unfinished, identity = builds[self.build]
            database.refuse_another(self._session, self.build, identity, self._identity)
            tables.check_schema_versions([version], f"{self.address}, build {self.build}")
            self._beside_foreign = self._beside_foreign or bool(beside)
        elif self._session.read_only and self.build == DEFAULT and len(builds) == 1:
            self._take(*builds)
            self._prepare()
            return
        elif self._session.read_only:
            raise InputError(
                f"no build {self.build!r} at {self.address}",
                found=", ".join(sorted(builds)) or "no graph of ehrkg",
                todo="name a build that is there, or build one first",
            )
        if not self._beside_foreign:
            database.refuse_foreign(self._session)
        if not self._session.read_only:
            database.make_indexes(self._session)
            if unfinished:
                database.finish_import(self._session, self.build)
        elif unfinished:
            raise InputError(
                f"the build {self.build!r} at {self.address} was loaded by neo4j-admin and never "
                "opened for writing",
                todo="open it once without read_only: that sets its empty "
                "lists (ehrkg graph check --graph ADDRESS does)",
            )

    def check_carried(self, name: str, table: pa.Table) -> None:
        """See ``GraphStore.check_carried``."""
        values.check_carried(table, name)
        if "id" in table.column_names and name in NODES:
            values.check_keys(self.build, table.column("id"), name)

    def close(self) -> None:
        """Let go of the server; closing twice is harmless."""
        self._session.close()

    def query(self, cypher: str, /, **parameters: Any) -> pa.Table:
        """See ``GraphStore.query``; the answer's columns are named as the query names them."""
        return self._session.query(cypher, plain_values(parameters))

    # -- writing ---------------------------------------------------------------------------

    def _claimed(self, work: Callable[[str], T]) -> T:
        """Do work as the one client that writes this build; again where another cut in."""
        for claim in range(CLAIMS):
            token = uuid.uuid4().hex
            try:
                self._claim(token)
                return work(token)
            except (_ClaimLostError, CommitUnknownError):
                time.sleep(PAUSE * 2**claim * unit(token))
        raise ServiceError(
            f"another process writes the build {self.build!r} at {self.address}",
            todo="wait until it is done, or give this build another name",
        )

    def _claim(self, token: str) -> None:
        def work(tx: neo4j.ManagedTransaction) -> None:
            found = tx.run(
                f"MERGE (b:Build {{{KEY}: $key}}) "
                "ON CREATE SET b.id = $build, b.build = $build, b.schema_version = $version, "
                "b.identity = $identity "
                "SET b.writer = $token, b.beside_foreign = $beside RETURN b.identity",
                key=self._prefix + self.build,
                build=self.build,
                version=SCHEMA_VERSION,
                token=token,
                beside=self._beside_foreign or None,
                identity=self._identity,
            ).single(strict=True)
            # Raised within the transaction, it takes the SET back.
            database.refuse_another(self._session, self.build, found[0], self._identity)

        self._session.write(work)

    def _write(self, token: str, statement: str, batch: Mapping[str, Any], rows: int) -> int:
        """Run a batch in a transaction; gives how many nodes were made."""

        def work(tx: neo4j.ManagedTransaction) -> int:
            # The SET waits for whoever else is writing; only then is the token looked at.
            mine = tx.run(
                f"MATCH (b:Build {{{KEY}: $key}}) SET b.build = b.build "
                "WITH b WHERE b.writer = $token RETURN 1",
                key=self._prefix + self.build,
                token=token,
            ).single()
            if mine is None:
                raise _ClaimLostError
            result = tx.run(statement, dict(batch))
            done = result.single(strict=True)[0]
            if done != rows:  # an end was deleted since we looked
                raise _ClaimLostError
            return result.consume().counters.nodes_created

        return self._session.write(work)

    def write_nodes(self, label: str, table: pa.Table) -> int:
        """See ``GraphStore.write_nodes``."""
        self._session.check_writable()
        node = tables.node_type(label)
        given = tables.nodes_to_write(node, table)
        self.check_carried(label, given)
        settings = values.settings(given, "n")
        statement = (
            f"UNWIND range(0, size($keys) - 1) AS i MERGE (n:{label} {{{KEY}: $keys[i]}}) "
            f"SET n.build = $build{''.join(', ' + one for one in settings)} RETURN count(*)"
        )

        def work(token: str) -> int:
            made = 0
            for piece in values.batches(given):
                batch = values.columns(piece) | {
                    "keys": self._keys(piece.column("id")),
                    "build": self.build,
                }
                made += self._write(token, statement, batch, piece.num_rows)
            return made

        return self._claimed(work) if given.num_rows else 0

    def _keys(self, ids: pa.ChunkedArray) -> list[str]:
        found: list[str] = pc.binary_join_element_wise(self._prefix, ids, "").to_pylist()
        return found

    def write_edges(self, edge_type: str, table: pa.Table) -> int:
        """See ``GraphStore.write_edges``."""
        self._session.check_writable()
        edge = tables.edge_type(edge_type)
        given = tables.edges_to_write(edge, table)
        self.check_carried(edge_type, given)

        def work(token: str) -> int:
            self._check_ends(edge, given)
            fresh, stale, new = tables.new_and_changed(edge, given, self.read_edges(edge_type))
            for start, end, part in tables.by_join(edge, stale):
                self._delete_exact(edge, start, end, part)
            for start, end, part in tables.by_join(edge, fresh):
                self._create(token, edge, start, end, part)
            return new

        return self._claimed(work) if given.num_rows else 0

    def write_edge_pieces(self, edge_type: str, pieces: Iterable[pa.Table]) -> int:
        """See ``GraphStore.write_edge_pieces``."""
        return sum(self.write_edges(edge_type, piece) for piece in pieces)

    def _check_ends(self, edge: EdgeType, given: pa.Table) -> None:
        for start, end, part in tables.by_join(edge, given):
            for side, label in (("from", start), ("to", end)):
                found: list[str] = []
                for keys in pages(self._keys(pc.unique(part.column(side))), values.BATCH):
                    found += self._session.read(
                        f"MATCH (n:{label}) WHERE n.{KEY} IN $keys RETURN collect(n.id)",
                        {"keys": keys},
                    )[0][0]
                ids = pa.array(found, pa.string())
                tables.check_known_ends(edge, side, label, part, ids)

    def _create(self, token: str, edge: EdgeType, start: str, end: str, part: pa.Table) -> None:
        owned = part.select(edge.properties.names)
        statement = (
            f"UNWIND range(0, size($from) - 1) AS i MATCH (a:{start} {{{KEY}: $from[i]}}) "
            f"MATCH (b:{end} {{{KEY}: $to[i]}}) "
            f"CREATE (a)-[:{edge.type} {{{values.literal(owned)}}}]->(b) RETURN count(*)"
        )
        for piece in values.batches(part):
            batch = values.columns(piece.select(edge.properties.names)) | {
                "from": self._keys(piece.column("from")),
                "to": self._keys(piece.column("to")),
            }
            self._write(token, statement, batch, piece.num_rows)

    def _delete_exact(self, edge: EdgeType, start: str, end: str, part: pa.Table) -> None:
        key = part.select(list(edge.key))
        same = " AND ".join(values.settings(key, "r"))
        statement = (
            f"UNWIND range(0, size($from) - 1) AS i MATCH (a:{start} {{{KEY}: $from[i]}})"
            f"-[r:{edge.type}]->(b:{end} {{{KEY}: $to[i]}}) "
            f"{'WHERE ' + same if same else ''} DELETE r"
        )
        for piece in values.batches(part):
            batch = values.columns(piece.select(list(edge.key))) | {
                "from": self._keys(piece.column("from")),
                "to": self._keys(piece.column("to")),
            }
            self._session.run(statement, batch)

    def delete_nodes(self, label: str, ids: Iterable[str]) -> None:
        """See ``GraphStore.delete_nodes``."""
        tables.node_type(label)
        self._delete(ids, f"MATCH (n:{label}) WHERE n.{KEY} IN $keys DETACH DELETE n")

    def delete_edges(self, edge_type: str, sources: Iterable[str]) -> None:
        """See ``GraphStore.delete_edges``."""
        edge = tables.edge_type(edge_type)
        keys = list(sources)
        for start in sorted({start for start, _ in edge.joins}):
            self._delete(
                keys,
                f"MATCH (n:{start}) WHERE n.{KEY} IN $keys MATCH (n)-[r:{edge.type}]->() DELETE r",
            )

    def _delete(self, ids: Iterable[str], statement: str) -> None:
        self._session.check_writable()
        for keys in pages(sorted({self._prefix + one for one in ids})):
            self._session.run(statement, {"keys": keys})

    # -- reading ---------------------------------------------------------------------------

    def read_nodes(self, label: str) -> pa.Table:
        """See ``GraphStore.read_nodes``."""
        return tables.whole_nodes(tables.node_type(label), list(self.scan_nodes(label)))

    def scan_nodes(self, label: str) -> Iterator[pa.Table]:
        """See ``GraphStore.scan_nodes``."""
        schema = tables.node_type(label).properties
        wanted = ", ".join(values.readable(schema, "p"))
        for keys in pages(all_keys(self._session, label, self.build)):
            found = self._session.read(
                f"MATCH (n:{label}) WHERE n.{KEY} IN $keys WITH properties(n) AS p "
                f"RETURN collect([{wanted}])",
                {"keys": keys},
            )
            yield values.table(found[0][0], schema)

    def read_edges(self, edge_type: str) -> pa.Table:
        """See ``GraphStore.read_edges``."""
        return tables.whole_edges(tables.edge_type(edge_type), list(self.scan_edges(edge_type)))

    def scan_edges(self, edge_type: str) -> Iterator[pa.Table]:
        """See ``GraphStore.scan_edges``."""
        edge = tables.edge_type(edge_type)
        schema = pa.schema([("from", pa.string()), ("to", pa.string()), *edge.properties])
        wanted = ", ".join(["a", "b", *values.readable(edge.properties, "p")])
        total = database.edge_totals(self._session, [edge_type]).get(edge_type, 0)
        for start, end in edge.joins if total else ():
            pattern = leaving(edge.type, end)
            if total <= FEW:
                parts: Iterable[tuple[str, Any]] = [(f"a.{KEY} STARTS WITH $prefix", None)]
            else:
                keys = all_keys(self._session, start, self.build)
                parts = ((f"a.{KEY} IN $keys", page) for page in pages(keys))
            for these, page in parts:
                found = self._session.read(
                    f"MATCH (a:{start}) WHERE {these} MATCH {pattern} "
                    f"WITH a.id AS a, b.id AS b, properties(r) AS p RETURN collect([{wanted}])",
                    {"prefix": self._prefix, "keys": page},
                )
                yield tables.labelled(values.table(found[0][0], schema), edge, start, end)

    # -- the whole graph -------------------------------------------------------------------

    def counts(self) -> dict[str, int]:
        """See ``GraphStore.counts``."""
        parts = [
            f"MATCH (n:{label}) WHERE n.{KEY} STARTS WITH $prefix "
            f"RETURN '{label}' AS name, count(n) AS n"
            for label in NODES
        ]
        for name, total in database.edge_totals(self._session, EDGES).items():
            if total:
                parts += [
                    f"MATCH (a:{start}) WHERE a.{KEY} STARTS WITH $prefix "
                    f"MATCH {leaving(name, end)} RETURN '{name}' AS name, count(r) AS n"
                    for start, end in EDGES[name].joins
                ]
        found: dict[str, int] = {}
        rows = self._session.read(" UNION ALL ".join(parts), {"prefix": self._prefix})
        for name, count in rows:
            found[name] = found.get(name, 0) + count
        order = [name for name in (*NODES, *EDGES) if found.get(name) and name != "Build"]
        return {name: found[name] for name in order}

    def content_hash(self) -> str:
        """See ``GraphStore.content_hash``."""
        return tables.graph_hash(self)

    def builds(self) -> list[str]:
        """See ``GraphStore.builds``."""
        found = self._session.read(f"MATCH (b:Build) WHERE b.{KEY} IS NOT NULL RETURN b.id")
        return sorted(str(row[0]) for row in found)

    def drop_build(self, build: str) -> None:
        """See ``GraphStore.drop_build``; cut off, it is done by dropping again."""
        self._session.check_writable()
        others = [name for name in NODES if name not in (*_DELETED_FIRST, "Build")]
        for label in (*_DELETED_FIRST, *others, "Build"):
            for keys in pages(all_keys(self._session, label, build)):
                self._session.run(
                    f"MATCH (n:{label}) WHERE n.{KEY} IN $keys DETACH DELETE n", {"keys": keys}
                )
