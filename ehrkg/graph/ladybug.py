"""The embedded engine: a property graph in one file, no server."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.foundation.closing import Closing
from ehrkg.foundation.errors import InputError
from ehrkg.graph import guard, rows, tables
from ehrkg.graph.ladybug_session import Session, ddl, held
from ehrkg.graph.parameters import plain_values
from ehrkg.graph.schema import EDGES, NODES, SCHEMA_VERSION, EdgeType, NodeType

NODE_PIECE = 2_000_000
"""Nodes a COPY."""

EDGE_PIECE = 7_000_000
"""Edges a COPY: one of 20 million fills the buffer pool, many small ones slow down."""

SMALL = 2_000
"""Rows that are created one by one instead: every COPY ends in a checkpoint, a tenth of a second
that twenty small tables would each pay."""

SMALL_EDGES = 20
"""Edges that are created one by one instead: each looks through all nodes for its ends, so that
among ten thousand nodes a hundred edges already cost more than a checkpoint."""

_BATCH = 10_000
"""Rows a statement that changes or deletes by key."""


class LadybugStore(Closing):
    """A graph in one Ladybug file; see ``ehrkg.graph.store.GraphStore`` for what it does.

    Args:
        path: the file; made if it is not there.
        build: the build that is read and written.
        read_only: write nothing; the file must be there.

    Raises:
        InputError: the file is not a graph of ehrkg of this schema version, or is damaged.
        ServiceError: another process holds it.
    """

    def __init__(self, path: Path, *, build: str = "default", read_only: bool = False) -> None:
        self.path, self.build = path, tables.check_build_name(build)
        self.read_only, self._registered = read_only, False
        self._session = Session(path, read_only=read_only)
        try:
            self._prepare_schema()
        except BaseException:
            self.close()
            raise

    # -- opening and closing ---------------------------------------------------------------

    def _prepare_schema(self) -> None:
        found = set(self._session.read("CALL show_tables() RETURN name").column(0).to_pylist())
        if not found and not self.read_only:
            with self._session.together():
                for statement in (*ddl(), *guard.macros()):
                    self._session.run(statement)
        elif "Build" not in found:
            raise InputError(
                "this graph was not made by ehrkg",
                file=self.path,
                found=", ".join(sorted(found)[:5]) or "no tables",
                todo="name another file; ehrkg does not mix its nodes with foreign ones",
            )
        try:
            table = self._session.read("MATCH (b:Build) RETURN b.schema_version AS version")
        except InputError as error:
            raise InputError(
                "the graph has another schema",
                file=self.path,
                found=error.message,
                expected=f"version {SCHEMA_VERSION}",
                todo="build it again with this ehrkg",
            ) from error
        tables.check_schema_versions(table.column(0).to_pylist(), self.path)
        builds = self.builds()
        if self.read_only and builds and self.build not in builds:
            raise InputError(
                f"no build {self.build!r} in this graph",
                file=self.path,
                found=", ".join(builds),
                todo="name one of these",
            )

    def _begin_writing(self) -> None:
        """Refuse when closed or reading; the first time, say in the graph whose build this is."""
        self._session.check_writable()
        if not self._registered:
            self._registered = True
            known = pa.table({"id": [self.build], "schema_version": [SCHEMA_VERSION]})
            self.write_nodes("Build", known)

    def builds(self) -> list[str]:
        """See ``GraphStore.builds``."""
        table = self._session.read("MATCH (b:Build) RETURN b.id AS id ORDER BY id")
        return [str(one) for one in table.column(0).to_pylist()]

    def close(self) -> None:
        """Let go of the file; the last store on it in this process closes it."""
        self._session.close()

    def query(self, cypher: str, /, **parameters: Any) -> pa.Table:
        """See ``GraphStore.query``; the answer's columns are named as the query names them."""
        return self._session.query(cypher, plain_values(parameters))

    # -- nodes -----------------------------------------------------------------------------

    def _keys(self, ids: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray | pa.Array:
        return pc.binary_join_element_wise(f"{self.build}|", ids, "")

    def _ids(self, label: str) -> pa.Array:
        table = self._session.read(
            f"MATCH (n:{label}) WHERE n.build = $build RETURN n.id AS id", {"build": self.build}
        )
        return table.column("id").combine_chunks()

    def write_nodes(self, label: str, table: pa.Table) -> int:
        """See ``GraphStore.write_nodes``."""
        self._begin_writing()
        node = tables.node_type(label)
        given = tables.nodes_to_write(node, table)
        if not given.num_rows:
            return 0
        with self._session.busy:
            there = pc.is_in(given.column("id"), value_set=self._ids(label))
            new = given.filter(pc.invert(there))
            self._copy_nodes(node, rows.complete(new, node.properties))
            self._update_nodes(node, given.filter(there))
        return int(new.num_rows)

    def check_carried(self, name: str, table: pa.Table) -> None:
        """See ``GraphStore.check_carried``; this engine carries all that the schema has."""

    def _copy_nodes(self, node: NodeType, table: pa.Table) -> None:
        build = pa.array([self.build], pa.string()).take(pa.array([0] * table.num_rows, pa.int32()))
        columns = [self._keys(table.column("id")), build, *table.columns]
        whole = pa.table(columns, names=["key", "build", *table.column_names])
        if whole.num_rows > SMALL:
            self._copy(node.label, whole, NODE_PIECE, "")
        elif whole.num_rows:
            bound, values = held(whole)
            self._session.run(
                f"UNWIND $rows AS x CREATE (:{node.label} {{{values}}})", {"rows": bound}
            )

    def _copy(self, name: str, table: pa.Table, piece: int, options: str) -> None:
        for start in range(0, table.num_rows, piece):
            self._session.run(
                f"COPY {name} FROM $rows{options}",
                {"rows": table.slice(start, piece).combine_chunks()},
            )

    def _update_nodes(self, node: NodeType, given: pa.Table) -> None:
        """Bring nodes that are there up to the columns given, where they differ."""
        if given.num_rows == 0 or given.column_names == ["id"]:
            return
        there = self.read_nodes(node.label).select(given.column_names)
        there = there.filter(pc.is_in(there.column("id"), value_set=given.column("id")))
        given = given.sort_by("id")
        for name in given.column_names:
            if name == "id":
                continue
            wanted = given.column(name)
            changed = pc.not_equal(rows.canonical(wanted), rows.canonical(there.column(name)))
            if pc.any(changed).as_py():
                part = given.select(["id", name]).filter(changed)
                self._set(node.label, name, part)

    def _set(self, label: str, name: str, part: pa.Table) -> None:
        """Set one property by key; nulls apart, since a bound null has no type."""
        empty = pc.is_null(part.column(name))
        match = f"UNWIND $rows AS x MATCH (n:{label} {{key: x.key}})"
        for table, value in (
            (part.filter(pc.invert(empty)), "x.value"),
            (part.filter(empty), "NULL"),
        ):
            keys = self._keys(table.column("id")).to_pylist()
            values = table.column(name).to_pylist()
            for start in range(0, len(keys), _BATCH):
                batch = [
                    {"key": key} if value == "NULL" else {"key": key, "value": new}
                    for key, new in zip(
                        keys[start : start + _BATCH], values[start : start + _BATCH], strict=True
                    )
                ]
                self._session.run(f"{match} SET n.{name} = {value}", {"rows": batch})

    def read_nodes(self, label: str) -> pa.Table:
        """See ``GraphStore.read_nodes``."""
        return tables.whole_nodes(tables.node_type(label), list(self.scan_nodes(label)))

    def scan_nodes(self, label: str) -> Iterator[pa.Table]:
        """See ``GraphStore.scan_nodes``."""
        node = tables.node_type(label)
        wanted = ", ".join(f"n.{name} AS {name}" for name in node.properties.names)
        table = self._session.read(
            f"MATCH (n:{label}) WHERE n.build = $build RETURN {wanted}", {"build": self.build}
        )
        yield rows.complete(table, node.properties)

    def delete_nodes(self, label: str, ids: Iterable[str]) -> None:
        """See ``GraphStore.delete_nodes``."""
        tables.node_type(label)
        self._delete(ids, f"MATCH (n:{label} {{key: k}}) DETACH DELETE n")

    # -- edges -----------------------------------------------------------------------------

    def write_edges(self, edge_type: str, table: pa.Table) -> int:
        """See ``GraphStore.write_edges``."""
        self._begin_writing()
        edge = tables.edge_type(edge_type)
        given = tables.edges_to_write(edge, table)
        if not given.num_rows:
            return 0
        with self._session.busy:
            self._check_ends(edge, given)
            there = self.read_edges(edge_type)
            fresh, stale, new = tables.new_and_changed(edge, given, there)
            for start, end, part in tables.by_join(edge, stale):
                self._delete_exact(edge, start, end, part)
            for start, end, part in tables.by_join(edge, fresh):
                self._copy_edges(edge, start, end, part)
        return new

    def write_edge_pieces(self, edge_type: str, pieces: Iterable[pa.Table]) -> int:
        """See ``GraphStore.write_edge_pieces``."""
        self._begin_writing()
        edge = tables.edge_type(edge_type)
        new = 0
        with self._session.busy:
            if self._has_edges(edge):
                return sum(self.write_edges(edge_type, piece) for piece in pieces)
            for piece in pieces:
                given = tables.edges_to_write(edge, piece)
                self._check_ends(edge, given)
                for start, end, part in tables.by_join(edge, given):
                    self._copy_edges(edge, start, end, part)
                new += given.num_rows
        return new

    def _has_edges(self, edge: EdgeType) -> bool:
        starts = "|".join(sorted({start for start, _ in edge.joins}))
        found = self._session.read(
            f"MATCH (a:{starts})-[r:{edge.type}]->() WHERE a.build = $build "
            "RETURN a.id AS id LIMIT 1",
            {"build": self.build},
        )
        return bool(found.num_rows)

    def _check_ends(self, edge: EdgeType, given: pa.Table) -> None:
        for start, end, part in tables.by_join(edge, given):
            for side, label in (("from", start), ("to", end)):
                tables.check_known_ends(edge, side, label, part, self._ids(label))

    def _copy_edges(self, edge: EdgeType, start: str, end: str, part: pa.Table) -> None:
        names = edge.properties.names
        columns = [self._keys(part.column("from")), self._keys(part.column("to"))]
        table = pa.table(columns + [part.column(n) for n in names], names=["from", "to", *names])
        if table.num_rows > SMALL_EDGES:
            options = f" (from='{start}', to='{end}')" if len(edge.joins) > 1 else ""
            self._copy(edge.type, table, EDGE_PIECE, options)
        else:
            bound, values = held(table, "from", "to")
            self._session.run(
                f"UNWIND $rows AS x MATCH (a:{start} {{key: x.from}}), (b:{end} {{key: x.to}}) "
                f"CREATE (a)-[:{edge.type} {{{values}}}]->(b)",
                {"rows": bound},
            )

    def _delete_exact(self, edge: EdgeType, start: str, end: str, part: pa.Table) -> None:
        where = " AND ".join(f"r.{name} = x.{name}" for name in edge.key)
        statement = (
            f"UNWIND $rows AS x MATCH (a:{start} {{key: x.start}})-[r:{edge.type}]->"
            f"(b:{end} {{key: x.stop}}) {'WHERE ' + where if where else ''} DELETE r"
        )
        columns = [self._keys(part.column("from")), self._keys(part.column("to"))]
        batch = pa.table(
            columns + [part.column(n) for n in edge.key], names=["start", "stop", *edge.key]
        ).to_pylist()
        for at in range(0, len(batch), _BATCH):
            self._session.run(statement, {"rows": batch[at : at + _BATCH]})

    def read_edges(self, edge_type: str) -> pa.Table:
        """See ``GraphStore.read_edges``."""
        return tables.whole_edges(tables.edge_type(edge_type), list(self.scan_edges(edge_type)))

    def scan_edges(self, edge_type: str) -> Iterator[pa.Table]:
        """See ``GraphStore.scan_edges``."""
        edge = tables.edge_type(edge_type)
        wanted = "".join(f", r.{name} AS {name}" for name in edge.properties.names)
        for start, end in edge.joins:
            table = self._session.read(
                f"MATCH (a:{start})-[r:{edge.type}]->(b:{end}) WHERE a.build = $build "
                f"RETURN a.id AS source_id, b.id AS target_id{wanted}",
                {"build": self.build},
            ).rename_columns(["from", "to", *edge.properties.names])
            yield tables.labelled(table, edge, start, end)

    def delete_edges(self, edge_type: str, sources: Iterable[str]) -> None:
        """See ``GraphStore.delete_edges``."""
        edge = tables.edge_type(edge_type)
        keys = list(sources)
        for start in sorted({start for start, _ in edge.joins}):
            self._delete(keys, f"MATCH (n:{start} {{key: k}})-[r:{edge.type}]->() DELETE r")

    def _delete(self, ids: Iterable[str], statement: str) -> None:
        self._session.check_writable()
        keys = sorted({f"{self.build}|{one}" for one in ids})
        for at in range(0, len(keys), _BATCH):
            self._session.run(f"UNWIND $keys AS k {statement}", {"keys": keys[at : at + _BATCH]})

    # -- the whole graph -------------------------------------------------------------------

    def counts(self) -> dict[str, int]:
        """See ``GraphStore.counts``."""
        found = {
            label: self._count(f"MATCH (n:{label}) WHERE n.build = $build RETURN count(*)")
            for label in NODES
        }
        for edge in EDGES.values():
            starts = "|".join(sorted({start for start, _ in edge.joins}))
            found[edge.type] = self._count(
                f"MATCH (a:{starts})-[r:{edge.type}]->() WHERE a.build = $build RETURN count(*)"
            )
        return {name: count for name, count in found.items() if count and name != "Build"}

    def _count(self, statement: str) -> int:
        return int(self._session.read(statement, {"build": self.build}).column(0)[0].as_py())

    def content_hash(self) -> str:
        """See ``GraphStore.content_hash``."""
        return tables.graph_hash(self)

    def drop_build(self, build: str) -> None:
        """See ``GraphStore.drop_build``."""
        self._session.check_writable()
        with self._session.busy:
            builds = set(self.builds())
            if builds == {build}:
                self._empty()
            elif build in builds:
                self._delete_build(build)
            self._registered = self._registered and build != self.build

    def _empty(self) -> None:
        """Make all tables anew: deleting node by node takes minutes where this takes a moment."""
        drops = [f"DROP TABLE {name}" for name in (*EDGES, *NODES)]
        with self._session.together():
            for statement in (*drops, *ddl()):
                self._session.run(statement)

    def _delete_build(self, build: str) -> None:
        for edge in EDGES.values():
            for start in sorted({start for start, _ in edge.joins}):
                self._session.run(
                    f"MATCH (a:{start})-[r:{edge.type}]->() WHERE a.build = $build DELETE r",
                    {"build": build},
                )
        for label in NODES:
            self._session.run(
                f"MATCH (n:{label}) WHERE n.build = $build DELETE n", {"build": build}
            )
