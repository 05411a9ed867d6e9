"""Audits and pictures through ``kg`` and through the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ehrkg.foundation.errors import UsageError
from ehrkg.session.opening import open_graph
from tests.cypher.cypher_world import HF10, sound


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("session") / "graph.lbug"
    with open_graph(path) as kg:
        sound().write(kg.store)
    with open_graph(path, build="other") as kg:
        sound().write(kg.store)
        kg.store.delete_nodes("Template", ["t4"])
    return path


def ehrkg(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from ehrkg.cli import main; main()", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
    )


def test_kg_lists_and_answers_named_queries(graph: Path) -> None:
    with open_graph(graph, read_only=True) as kg:
        assert "audits/hubs: Concepts that back suspiciously many relations" in repr(kg.audits)
        assert "<code>subsets/by_age</code>" in kg.audits._repr_html_()
        assert {query.name.split("/")[0] for query in kg.audits} == {"audits", "subsets"}
        found = kg.audit("by_age", least=71)
        assert found.to_pydict() == {"template": ["t2"]}
        with pytest.raises(UsageError, match="no parameter"):
            kg.audit("by_age", last=71)


def test_kg_asks_the_build_it_opened(graph: Path) -> None:
    with open_graph(graph, build="other", read_only=True) as kg:
        assert kg.audit("by_split")["template"].to_pylist() == []
        assert kg.audit("by_split", build="default")["template"].to_pylist() == ["t4"]


def test_kg_draws_explanations_and_neighbourhoods(graph: Path, tmp_path: Path) -> None:
    with open_graph(graph, read_only=True) as kg:
        assert "iframe" in kg.explain("t1.mcq4.frequency")._repr_html_()
        page = kg.neighbourhood(HF10).write_html(tmp_path / "hf.html")
    assert "heart failure" in page.read_text(encoding="utf-8")


def test_the_command_line_audits_and_draws(graph: Path, tmp_path: Path) -> None:
    listed = ehrkg("audit", "--list").stdout
    assert "audits/unmapped_codes" in listed
    asked = ehrkg(
        "audit", "by_visit_kind", "--graph", graph, "-p", "kinds=ELECTIVE,X", "--output", "json"
    )
    assert json.loads(asked.stdout) == [{"template": "t4"}]
    asked = ehrkg("audit", "answers_asked_most", "--graph", graph, "--output", "csv")
    assert asked.stdout.splitlines()[0] == "task,answer,name,templates,patients,share"
    assert ehrkg("audit", "by_age", "--graph", graph, "-p", "least=old").returncode == 2
    file = tmp_path / "t1.html"
    drawn = ehrkg("explain", "t1", "--graph", graph, "--html", file)
    assert drawn.returncode == 0, drawn.stderr
    assert "<svg" in file.read_text(encoding="utf-8")
