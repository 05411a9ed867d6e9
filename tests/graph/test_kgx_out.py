"""What is written as KGX is read back equal, and keeps the rules of the Biolink Model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from ehrkg import ontology
from ehrkg.foundation.errors import InputError, UsageError
from ehrkg.graph import writers
from ehrkg.graph.kgx_out import biolink_of, categories_of_kinds, export_kgx
from ehrkg.graph.store import GraphStore, open_store
from ehrkg.ontology.categories import kind_of
from ehrkg.ontology.predicates import PREDICATES
from ehrkg.ontology.schema import Knowledge
from ehrkg.ontology.tables import build, knowledge, with_edge_ids
from tests.graph.statements import TEXTS, made

CARRIED = ("concepts", "synonyms", "edges", "mappings")


def written(known: Knowledge, folder: Path) -> Path:
    with open_store(folder / "graph.lbug") as store:
        writers.write_knowledge(store, known)
        export_kgx(store, folder / "kgx")
    return folder / "kgx"


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@settings(max_examples=5, deadline=None)
@given(texts=st.lists(TEXTS, min_size=4, max_size=4))
def test_strange_names_come_back_equal(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    known = made(*texts)
    found = ontology.load(written(known, tmp_path_factory.mktemp("kgx")))
    for field in CARRIED:
        assert getattr(found, field).equals(getattr(known, field)), field


def test_the_same_graph_gives_the_same_bytes(tmp_path: Path) -> None:
    known = made("a", "b", "c", "d")
    (tmp_path / "1").mkdir()
    (tmp_path / "2").mkdir()
    one, two = (written(known, tmp_path / name) for name in "12")
    for file in sorted(one.iterdir()):
        assert file.read_bytes() == (two / file.name).read_bytes()


RULES = yaml.safe_load(Path(__file__).with_name("biolink_rules.yaml").read_text(encoding="utf-8"))
CATEGORIES = {f"biolink:{name}" for name in RULES["categories"]}
BIOLINK = {f"biolink:{name}" for name in RULES["predicates"]}


def faults(row: dict[str, Any], required: str) -> list[str]:
    """What KGX's validator calls an error: a property missing, or of another shape."""
    found = [f"lacks {name}" for name in RULES[required] if name not in row]
    found += [
        f"{name}: no list" for name in RULES["lists"] if not isinstance(row.get(name, []), list)
    ]
    return found + [
        f"{name}: a list" for name in RULES["single"] if isinstance(row.get(name), list)
    ]


def test_nodes_and_edges_keep_the_rules_of_the_biolink_model(tmp_path: Path) -> None:
    folder = written(made("a", "b", "c", "d"), tmp_path)
    ids = set()
    for node in lines(folder / "nodes.jsonl"):
        assert faults(node, "nodes") == []
        assert set(node["category"]) <= CATEGORIES
        ids.add(node["id"])
    for edge in lines(folder / "edges.jsonl"):
        assert faults(edge, "edges") == []
        assert edge["predicate"] in BIOLINK
        assert edge["knowledge_level"] in RULES["knowledge_level"]
        assert edge["agent_type"] in RULES["agent_type"]
        assert {edge["subject"], edge["object"]} <= ids
        assert set(edge["category"]) <= CATEGORIES


def test_every_kind_and_predicate_has_its_biolink_name() -> None:
    for kind, category in categories_of_kinds().items():
        assert category in CATEGORIES
        assert kind_of(category) == kind
    assert {biolink_of(name) for name in PREDICATES} <= BIOLINK


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path, embedded: GraphStore) -> None:
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(UsageError, match="holds something"):
        export_kgx(embedded, tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]


def test_an_identifier_that_no_line_holds_is_refused(tmp_path: Path) -> None:
    odd = knowledge(
        concepts=build("concepts", [("X:1", "a", "disease", "", "infores:a")]),
        mappings=build("mappings", [("X:1", "skos:exactMatch", "Y:\t1", 0.9, "infores:a")]),
    )
    with pytest.raises(InputError, match=r"(?s)no line of a TSV.*Y:\\t1"):
        written(odd, tmp_path)
    assert not (tmp_path / "kgx").exists()


NODES = """{"id": "DRUGBANK:DB00695", "category": ["biolink:NamedThing", "biolink:Drug"], "name": "furosemide", "synonym": ["Lasix", "a|b"], "xref": ["MSH:D005665"], "provided_by": ["infores:x"]}
{"id": "MONDO:0005252", "category": ["biolink:Disease"], "name": "heart failure", "description": null}
"""  # noqa: E501
EDGES = """{"id": "1", "subject": "DRUGBANK:DB00695", "predicate": "biolink:treats", "object": "MONDO:0005252", "negated": false, "primary_knowledge_source": "infores:x", "publications": ["PMID:1", "PMID:2"]}
{"id": "2", "subject": "DRUGBANK:DB00695", "predicate": "biolink:treats", "object": "MONDO:1", "negated": true}
"""  # noqa: E501


def test_json_lines_of_others_are_read(tmp_path: Path) -> None:
    (tmp_path / "nodes.jsonl").write_bytes(b"\xef\xbb\xbf" + NODES.replace("\n", "\r\n").encode())
    (tmp_path / "edges.jsonl").write_text(EDGES)
    known = ontology.load(tmp_path)
    assert {row["name"]: row["kind"] for row in known.concepts.to_pylist()} == {
        "furosemide": "drug",
        "heart failure": "disease",
    }
    assert {(row["text"], row["scope"]) for row in known.synonyms.to_pylist()} == {
        ("Lasix", "exact"),
        ("a|b", "exact"),
    }
    [edge] = known.edges.to_pylist()
    assert (edge["source"], edge["provenance"]) == ("infores:x", "PMID:1|PMID:2")
    assert known.mappings["object"].to_pylist() == ["MESH:D005665"]
    assert ontology.merge(known, ontology.load(tmp_path)) == known


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ('{"id": "X:1", "category": ["biolink:Drug"]', "line 3: broken JSON"),
        ('["X:1"]', "line 3: no JSON object"),
        ('{"id": "X:1"}', "line 3: lacks category"),
        ('{"id": "X:1", "category": ["x"], "name": "Ménière"}', "line 3: not UTF-8"),
    ],
)
def test_a_broken_line_of_json_is_named(line: str, what: str, tmp_path: Path) -> None:
    path = tmp_path / "nodes.jsonl"
    path.write_bytes(NODES.encode() + line.encode("latin-1") + b"\n")
    with pytest.raises(InputError, match=rf"nodes\.jsonl, {what}"):
        ontology.load(path)


def test_a_truncated_gzip_of_json_is_refused(tmp_path: Path) -> None:
    import gzip

    path = tmp_path / "nodes.jsonl.gz"
    path.write_bytes(gzip.compress((NODES * 3000).encode())[:-20])
    with pytest.raises(InputError, match=r"nodes\.jsonl\.gz.*ends too early"):
        ontology.load(path)


def test_ids_of_edges_are_their_content() -> None:
    known = made("a", "b", "c", "d")
    assert with_edge_ids(known.edges.drop_columns(["id"])).equals(known.edges)
