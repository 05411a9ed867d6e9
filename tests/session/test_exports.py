"""A graph leaves as KGX and as RDF, from Python and from the command line, and comes back."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import ehrkg
from ehrkg import ontology
from ehrkg.graph import writers
from ehrkg.session.graph_commands import app
from tests.graph.statements import made


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("graph") / "graph.lbug"
    with ehrkg.open(path) as kg:
        writers.write_knowledge(kg.store, made("furosemide", "heart failure", "oedema", "loop"))
    return path


def test_what_a_notebook_writes_loads_again(graph: Path, tmp_path: Path) -> None:
    with ehrkg.open(graph, read_only=True) as kg:
        known = kg.knowledge
        assert kg.to_kgx(tmp_path / "kgx")["nodes.jsonl"] == known.concepts.num_rows
        assert kg.to_rdf(tmp_path / "graph.nt") > known.edges.num_rows
    for place in ("kgx", "graph.nt"):
        found = ontology.load(tmp_path / place)
        for name in ("concepts", "synonyms", "edges", "mappings"):
            assert getattr(found, name).equals(getattr(known, name)), (place, name)


@pytest.mark.parametrize(("tool", "file"), [("kgx", "edges.jsonl"), ("rdf", "graph.nt.gz")])
def test_the_command_line_writes_for_a_tool(
    tool: str, file: str, graph: Path, tmp_path: Path
) -> None:
    words = ["export", str(tmp_path / "out"), "--graph", str(graph), "--for", tool]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert file in result.output
    assert (tmp_path / "out" / file).stat().st_size > 0


def test_an_unknown_tool_is_refused(graph: Path, tmp_path: Path) -> None:
    words = ["export", str(tmp_path / "out"), "--graph", str(graph), "--for", "excel"]
    result = CliRunner().invoke(app, words)
    assert "kgx" in str(result.exception)
    assert not (tmp_path / "out").exists()
