"""Both engines give the same tables: values, types, and order where one is asked for."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pyarrow as pa
import pytest
from graph_world import HARD, ODD, World, add_odd, fill

from ehrkg.foundation.errors import EhrkgError
from ehrkg.graph import readers
from ehrkg.graph.schema import EDGES, NODES
from ehrkg.graph.store import GraphStore

# -- reading -------------------------------------------------------------------------------


@pytest.mark.parametrize("label", [label for label in NODES if label != "Build"])
def test_nodes_are_the_same(embedded: GraphStore, served: GraphStore, label: str) -> None:
    one, other = embedded.read_nodes(label), served.read_nodes(label)
    assert one.num_rows
    assert one.equals(other)
    scanned = pa.concat_tables(served.scan_nodes(label)).sort_by("id")
    assert scanned.equals(one)


def test_edges_are_the_same(embedded: GraphStore, served: GraphStore) -> None:
    for name in EDGES:
        one, other = embedded.read_edges(name), served.read_edges(name)
        assert one.schema.equals(other.schema), name
        assert one.equals(other), name
        for store in (embedded, served):
            scanned = pa.concat_tables([one.slice(0, 0), *store.scan_edges(name)])
            assert scanned.num_rows == one.num_rows, name


def test_counts_and_content_are_the_same(embedded: GraphStore, served: GraphStore) -> None:
    assert list(embedded.counts().items()) == list(served.counts().items())
    assert embedded.content_hash() == served.content_hash()


def test_stages_read_the_same(embedded: GraphStore, served: GraphStore) -> None:
    for read in (
        readers.read_links,
        readers.read_relations,
        readers.read_evidence,
        readers.read_templates,
    ):
        assert read(embedded).equals(read(served))
    assert readers.read_hospital(embedded) == readers.read_hospital(served)
    assert readers.read_knowledge(embedded) == readers.read_knowledge(served)


@pytest.mark.parametrize(
    "query",
    [
        "MATCH (v:Visit) WHERE v.build = $build RETURN v.id AS id, v.age AS age, v.admitted AS t, "
        "v.died AS died, v.gap_days AS gap ORDER BY id",
        "MATCH (c:Code) WHERE c.build = $build RETURN c.id AS id, c.name AS name, c.ccsr AS ccsr "
        "ORDER BY id DESC",
        "MATCH (v:Visit)-[r:DIAGNOSED|PRESCRIBED]->(c:Code) WHERE v.build = $build "
        "RETURN v.id AS visit, c.id AS code, r.n AS n, r.row AS row, r.start AS start ORDER BY row",
        "MATCH (r:Relation) WHERE r.build = $build RETURN r.verdict AS verdict, count(*) AS n, "
        "avg(r.score) AS mean, max(r.lift) AS most ORDER BY verdict",
        "MATCH (v:Visit) WHERE v.build = $build RETURN sum(v.ordinal) AS total, "
        "min(v.age) AS least",
        "MATCH (c:Concept) WHERE c.build = $build OPTIONAL MATCH (c)-[r:CAUSES]->(d:Concept) "
        "WITH c, collect(d.id) AS caused RETURN c.id AS id, size(caused) AS n ORDER BY n DESC, id",
        "MATCH (e:Evidence) WHERE e.build = $build UNWIND e.concepts AS concept "
        "RETURN e.id AS id, concept ORDER BY id, concept",
        "MATCH (c:Concept) WHERE c.build = $build AND EXISTS { MATCH (c)<-[:MAPS_TO]-(:Code) } "
        "RETURN c.id AS id, CASE WHEN c.kind = 'drug' THEN 1.5 ELSE 0.5 END AS w "
        "ORDER BY id LIMIT 2",
        "MATCH (c:Concept) WHERE c.build = $build AND c.name = $name RETURN c.id AS id "
        "UNION ALL MATCH (c:Code) WHERE c.build = $build AND c.name = $name RETURN c.id AS id",
        "MATCH (t:Template) WHERE t.build = $build RETURN t.id AS id, t.context AS context, "
        "t.flags AS flags, t.score AS score, t.age AS age ORDER BY id SKIP 1 LIMIT $k",
        "MATCH (a:Concept)-[:CAUSES]->(b:Concept) WHERE a.build = $build "
        "RETURN a.id = b.id AS loop "
        "ORDER BY loop",
        "RETURN date('2020-02-29') AS day, true AS yes, 2.5 AS x, "
        "9007199254740993 AS big, 'é' AS s",
    ],
)
def test_answers_are_the_same(embedded: GraphStore, served: GraphStore, query: str) -> None:
    given = {"build": "x", "name": HARD, "k": 1}
    given = {name: value for name, value in given.items() if f"${name}" in query}
    one = embedded.query(query, **given | ({"build": embedded.build} if "build" in given else {}))
    other = served.query(query, **given | ({"build": served.build} if "build" in given else {}))
    assert one.num_rows
    for mine, theirs in zip(one.schema, other.schema, strict=True):
        assert mine.name == theirs.name
        if not pa.types.is_null(theirs.type):  # a server's column of nulls has no type
            assert mine.type == theirs.type, mine.name
    if "ORDER BY" in query or one.num_rows == 1:
        assert one.to_pylist() == other.to_pylist()
    else:
        assert sorted(map(str, one.to_pylist())) == sorted(map(str, other.to_pylist()))


# -- writing -------------------------------------------------------------------------------


def nodes(*ids: str, **columns: object) -> pa.Table:
    return pa.table({"id": list(ids), **columns})


def texts(*lists: list[str] | None) -> pa.Array:
    return pa.array(lists, pa.list_(pa.string()))


STEPS: dict[str, Callable[[GraphStore], object]] = {
    "new nodes": lambda s: s.write_nodes("Code", nodes("a", "b", name=[HARD, None])),
    "again": lambda s: s.write_nodes("Code", nodes("a", "b", "c", name=["x", None, ""])),
    "lists": lambda s: s.write_nodes("Code", nodes("a", "b", "c", ccsr=texts([], [""], None))),
    "a value becomes null": lambda s: s.write_nodes(
        "Code", nodes("a", name=pa.nulls(1, pa.string()))
    ),
    "numbers and times": lambda s: s.write_nodes(
        "Visit",
        nodes(
            "v",
            "w",
            age=[2**31 - 1, None],
            died=[True, None],
            admitted=[datetime(1066, 10, 14, 3, 4, 5), None],
        ),
    ),
    "doubles": lambda s: s.write_nodes(
        "Relation", nodes("r", "q", score=[1e-300, -0.1], lift=[None, 1.7e308], head=["", HARD])
    ),
    "bare": lambda s: s.write_nodes("Concept", nodes("p", "q", "x")),
    "nothing": lambda s: s.write_nodes("Concept", nodes("p").slice(0, 0)),
    "edges": lambda s: s.write_edges(
        "TREATS", pa.table({"from": ["p", "p", "p"], "to": ["q", "q", "p"], "id": ["1", "2", "3"]})
    ),
    "edges again": lambda s: s.write_edges(
        "TREATS",
        pa.table(
            {
                "from": ["p", "p", "q"],
                "to": ["q", "q", "q"],
                "id": ["1", "2", "4"],
                "negated": [None, True, False],
                "route": [HARD, None, ""],
            }
        ),
    ),
    "big row": lambda s: s.write_edges(
        "DIAGNOSED",
        pa.table(
            {
                "from": ["v"],
                "to": ["a"],
                "route": [""],
                "row": [2**60],
                "seq": [None],
                "start": [datetime(2150, 1, 1)],
            }
        ),
    ),
    "keys of numbers": lambda s: s.write_edges(
        "MAPS_TO",
        pa.table(
            {
                "from": ["a", "a"],
                "to": ["p", "p"],
                "predicate": ["m", "m"],
                "method": ["t", "t"],
                "levels": [1, 2],
                "source": ["s", "s"],
                "confidence": [0.25, None],
            }
        ),
    ),
    "two labels": lambda s: s.write_edges(
        "HEAD",
        pa.table(
            {
                "from": ["r", "r"],
                "to": ["a", "x"],
                "from_label": ["Relation"] * 2,
                "to_label": ["Code", "Concept"],
            }
        ),
    ),
    "no end": lambda s: s.write_edges(
        "TREATS", pa.table({"from": ["p"], "to": ["gone"], "id": ["9"]})
    ),
    "no such joint": lambda s: s.write_edges(
        "HEAD",
        pa.table({"from": ["r"], "to": ["v"], "from_label": ["Relation"], "to_label": ["Visit"]}),
    ),
    "no such label": lambda s: s.write_nodes("Film", nodes("a")),
    "no such property": lambda s: s.write_nodes("Code", nodes("a", colour=["red"])),
    "no id": lambda s: s.write_nodes("Code", pa.table({"name": ["x"]})),
    "null id": lambda s: s.write_nodes("Code", nodes(*[None])),  # type: ignore[list-item]
    "two rows, one id": lambda s: s.write_nodes("Code", nodes("a", "a", name=["x", "y"])),
    "delete edges": lambda s: s.delete_edges("TREATS", ["q", "nobody"]),
    "delete nodes": lambda s: s.delete_nodes("Concept", ["x", "nobody"]),
}


def test_writing_does_the_same_step_by_step(
    embedded_store: GraphStore, served_store: GraphStore
) -> None:
    for step, act in STEPS.items():
        outcomes = []
        for store in (embedded_store, served_store):
            try:
                outcomes.append(act(store))
            except EhrkgError as error:
                outcomes.append((type(error), str(error)))
        assert outcomes[0] == outcomes[1], step
    assert embedded_store.counts() == served_store.counts()
    for name in embedded_store.counts():
        read = "read_nodes" if name in NODES else "read_edges"
        one, other = getattr(embedded_store, read)(name), getattr(served_store, read)(name)
        assert one.equals(other), (name, one.to_pylist(), other.to_pylist())
    assert embedded_store.content_hash() == served_store.content_hash()


def test_odd_values_and_a_whole_world_are_written_alike(
    embedded_store: GraphStore, served_store: GraphStore, world: World
) -> None:
    for store in (embedded_store, served_store):
        fill(store, world)
        add_odd(store)
    for label in ODD:
        assert embedded_store.read_nodes(label).equals(served_store.read_nodes(label))
    assert embedded_store.content_hash() == served_store.content_hash()
