"""Every example is run; what a notebook shows is what it gives, and that is what its text says."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from defusedxml import ElementTree
from nbformat import NotebookNode

from tests import notebooks

SCRIPTS = {
    "mimic4_on_bigquery.py": "tests/ehr/test_connections.py",
    "moving_to_neo4j.py": "tests/graph/test_moving_to_neo4j.py",
    "moving_to_spark.py": "tests/ehr/test_connections.py",
}
"""Scripts, and the tests that run them beside the servers they need."""

LARGEST = 200_000
"""Bytes of a notebook with its outputs."""

Run = Callable[[str], NotebookNode]


def committed() -> list[str]:
    return sorted(path.name for path in notebooks.EXAMPLES.glob("*.ipynb"))


@pytest.fixture(scope="module")
def run(built_demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A notebook as it comes out here; each is run once, over one copy of the demo's build."""
    demo = tmp_path_factory.mktemp("examples") / "demo"
    shutil.copytree(built_demo, demo)
    done: dict[str, NotebookNode] = {}

    def of(name: str) -> NotebookNode:
        if name not in done:
            folder = tmp_path_factory.mktemp(name.removesuffix(".ipynb"))
            done[name] = notebooks.run(notebooks.EXAMPLES / name, demo, folder)
        return done[name]

    return of


def text(notebook: NotebookNode) -> str:
    """All that a notebook shows, in order."""
    return "\n".join(one for cell in notebook.cells for one in notebooks.shown(cell))


def pictures(notebook: NotebookNode) -> list[str]:
    """What its pictures say to those who do not see them."""
    drawn = [
        ElementTree.fromstring(one)
        for cell in notebook.cells
        for one in notebooks.shown(cell)
        if one.startswith("<svg")
    ]
    return [str(one.get("aria-label")) for one in drawn]


def test_no_example_is_forgotten() -> None:
    told = (notebooks.EXAMPLES / "README.md").read_text(encoding="utf-8")
    tested = Path(__file__).read_text(encoding="utf-8")
    for path in sorted(notebooks.EXAMPLES.iterdir()):
        assert path.suffix not in (".ipynb", ".py") or f"`{path.name}`" in told, path
        if path.suffix == ".ipynb":
            assert f'run("{path.name}")' in tested, f"{path.name}: assert on what it shows"
        elif path.suffix == ".py":
            test = notebooks.ROOT / SCRIPTS[path.name]
            assert f'"{path.name}"' in test.read_text(encoding="utf-8")
        else:
            assert path.name == "README.md" or not path.is_file(), path


@pytest.mark.parametrize("name", committed())
def test_a_notebook_shows_what_it_gives(run: Run, name: str) -> None:
    stored = nbformat.read(notebooks.EXAMPLES / name, as_version=4)
    for number, (before, now) in enumerate(zip(stored.cells, run(name).cells, strict=True)):
        if notebooks.VARIES in before.metadata.get("tags", ()):
            assert len(notebooks.shown(now)) == len(notebooks.shown(before)) > 0
        else:
            assert notebooks.shown(now) == notebooks.shown(before), (
                f"{name}, cell {number + 1}: python tests/notebooks.py {name} writes it anew"
            )


@pytest.mark.parametrize("name", committed())
def test_a_notebook_is_short_and_tells_nothing_of_a_machine(name: str) -> None:
    path = notebooks.EXAMPLES / name
    assert path.stat().st_size < LARGEST
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    lines = [line for cell in notebook.cells for line in cell.source.splitlines()]
    assert len(lines) < 160
    assert max(map(len, lines)) <= 110
    assert "MIMIC" in notebook.cells[0].source, "say what to change for MIMIC"
    places = re.findall(r"(?<![\w.])/(?:home|root|tmp|work|Users|var)/\S*", path.read_text("utf-8"))
    assert places == []


def test_from_tables_to_a_benchmark(run: Run) -> None:
    notebook = run("01_from_tables_to_benchmark.ipynb")
    shown = text(notebook)
    assert "subject_id" in shown
    assert "DRUGNAME:" in shown
    assert "ICD10CM:I50.9" in shown
    assert "MONDO:0005252" in shown
    assert re.search(r"TREATS \d+ \d+ \d+", shown)  # verdicts by predicate
    assert re.search(r"all +\d+ +\d+ +\d+", shown)
    assert "mcq4" in shown
    assert "because" in shown  # and why the answer is one
    assert "treats" in pictures(notebook)[0]


def test_auditing_relations(run: Run) -> None:
    notebook = run("02_auditing_relations_in_cypher.ipynb")
    shown = text(notebook)
    assert re.search(r"TREATS supported [1-9]", shown)
    assert re.search(r"infores:ehrkg-core +\d+ +\d+", shown)
    assert "no path joins the two ends" in shown
    assert "may bring about" in shown  # what contradicts
    assert "it may only read" in shown  # and the graph was not emptied
    assert "Heart failure" in pictures(notebook)[0]


def test_questions_from_a_query(run: Run) -> None:
    shown = text(run("03_questions_from_your_own_query.ipynb"))
    assert re.search(r"treatment +[1-9]", shown)
    assert {"not_supported", "no_relation", "context_size"} <= set(shown.split())
    asked = re.findall(r"\bdrugs? [^.]*ordered", shown)
    assert len(asked) >= 2  # a question by relation, one by place
    assert shown.endswith("True")


def test_cutting_and_splitting(run: Run) -> None:
    shown = text(run("04_a_cardiology_subset_and_a_split.ipynb"))
    assert "patients on both sides: 0" in shown
    assert re.search(r"[1-9]\d* items fall on neither side", shown)
    assert "the same questions: True" in shown
    assert "DATASHEET.md" in shown
    assert "effective sample size" in shown
    whole, heart = (int(n.replace(",", "")) for n in re.findall(r"all ([\d,]+)", shown)[:2])
    assert 0 < heart < whole


def test_an_ontology_and_a_proposer_of_ones_own(run: Run) -> None:
    shown = text(run("05_your_own_ontology_and_proposer.ipynb"))
    assert re.search(r"DRUGBANK:DB00722 TREATS MONDO:0005300 infores:our-trials", shown)
    assert "{'no_subject': 1}" in shown
    assert re.search(r"lisinopril TREATS chronic kidney disease supported", shown)
    assert re.search(r"metoprolol TREATS sepsis contradicted", shown)
    assert "our-clinicians" in shown


def test_reading_a_report(run: Run) -> None:
    notebook = run("07_reading_a_report.ipynb")
    shown = text(notebook)
    assert re.search(r"knowledge graph True treatment", shown)
    assert re.search(r"chance False treatment \d+ \d+ 0\.25", shown)
    assert re.search(r"embedding similarity False plain no_stem treatment", shown)
    assert re.search(r"verify relation (\d+) \1", shown)  # the ledger balances, and drops none here
    assert "not_supported" in shown
    assert "treats" in pictures(notebook)[0]


def test_evaluating_a_local_model(run: Run) -> None:
    shown = text(run("06_evaluating_a_local_model.ipynb"))
    assert "Reply with the letter of the right option" in shown
    for setting in ("plain", "no_stem", "other_stem"):
        assert re.search(rf"overlap {setting} treatment \d+ 0\.\d", shown)
        assert re.search(rf"overlap False {setting} mcq 60 [1-9]", shown)  # what it dodged
        assert re.search(rf"chance {setting} treatment \d+ 0\.25", shown)
