"""What CONTRIBUTING.md asks of somebody who adds a thing is enough: its own steps, really taken."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

BLOCK = re.compile(
    r"^ *```\w+ (?P<file>[\w./-]+)(?P<more> \+)?(?: (?P<key>\w+))?\n(?P<text>.*?)^ *```$",
    re.M | re.S,
)

TABLES = {
    "persons.csv": "person,gender,born\n1,F,1950-03-01\n2,M,1960-05-02\n",
    "stays.csv": "person,stay,begun,ended\n1,10,2020-01-01 08:00:00,2020-01-03 12:00:00\n",
    "problems.csv": "person,stay,icd10\n1,10,I50.9\n1,10,\n",
}
PAIRS = (
    "drug_named,rxcui,condition_named,mesh,effect\nIbuprofen,5640,Heart failure,D006333,worsens\n"
)

PROGRAM = """
import json, sys
from pathlib import Path
import pyarrow as pa
import ehrkg
from ehrkg import ehr, ontology
from ehrkg.foundation.ledger import Ledger
from ehrkg.graph import open_store
from ehrkg.mapping.schema import LINKS
from ehrkg.propose.schema import CANDIDATES
from ehrkg.verify import Policy, verify

ledger = Ledger()
hospital = ehr.read("tables", ledger=ledger)
known = ontology.load("clinic-pairs.csv")
edge = known.edges.to_pylist()[0]
ends = edge["subject"], edge["object"]
link = {"predicate": "skos:exactMatch", "method": "own", "levels": 0, "confidence": 1.0}
texts = {"source": "infores:own", "explanation": ""}
links = [link | texts | {"code": end, "concept": end} for end in sorted(ends)]
claim = dict.fromkeys(CANDIDATES.names) | {
    "id": "r1", "head": ends[0], "route": "", "predicate": "EXACERBATES", "tail": ends[1],
    "proposers": ["own"],
}
claim |= {f.name: [] for f in CANDIDATES if pa.types.is_list(f.type) and claim[f.name] is None}
claim |= {f.name: 0 for f in CANDIDATES if pa.types.is_integer(f.type)}
found = verify(
    pa.Table.from_pylist([claim], CANDIDATES), pa.Table.from_pylist(links, LINKS), known,
    policy=Policy(definition_bonus=0.0),
)
with open_store("graph.lbug") as store:
    store.write_nodes("Concept", known.concepts)
    plain = {"from": edge["subject"], "to": edge["object"], "id": edge["id"]}
    store.write_edges("EXACERBATES", pa.Table.from_pylist([plain]))
    counts = store.counts()
from ehrkg.benchmark import Benchmark, make_questions, make_templates
from tests.benchmark.worlds import many_pairs

world = many_pairs()
for row in world.relations:
    row["tasks"] = ["complication"]
parts = world.hospital, world.knowledge, world.mapping, world.verified
templates = make_templates(*parts)
items = make_questions(templates, *parts).items
own = [row for row in items.to_pylist() if row["task"] == "complication"]
Benchmark(items, templates).export("text", Path("exported"))
print(json.dumps({
    "ehrkg": ehrkg.__file__,
    "format": hospital.format,
    "codes": hospital.codes["id"].to_pylist(),
    "unusable": ledger.dropped("read", "diagnosis"),
    "edge": [edge["subject"], edge["predicate"], edge["object"], edge["licence"]],
    "relation": found.relations.select(["verdict", "reasons"]).to_pylist()[0],
    "counts": counts,
    "exported": sorted(path.name for path in Path("exported").iterdir()),
    "text": Path("exported/questions.txt").read_text(),
    "own": [[row["format"], row["stem"]] for row in own],
}))
"""


def added(before: str, text: str, key: str | None) -> str:
    """A file with a text at its end, or, with a key, among the entries of that key."""
    if key is None:
        return before + text
    first, line, rest = before.partition(f"\n{key}:\n")
    assert line, key
    return first + line + textwrap.indent(text, "  ") + rest


@pytest.fixture(scope="module")
def said(root: Path, tmp_path_factory: pytest.TempPathFactory) -> dict:
    """What a copy of the repository does after the steps of CONTRIBUTING.md."""
    copy = tmp_path_factory.mktemp("copy")
    shutil.copytree(root / "ehrkg", copy / "ehrkg", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in ("ontologies", "cypher", "tests"):
        (copy / folder).symlink_to(root / folder)
    for block in BLOCK.finditer((root / "CONTRIBUTING.md").read_text(encoding="utf-8")):
        path = copy / block["file"]
        assert path.exists() == bool(block["more"]), path
        before = path.read_text(encoding="utf-8") if block["more"] else ""
        path.write_text(added(before, textwrap.dedent(block["text"]), block["key"]), "utf-8")
    schema = copy / "ehrkg" / "graph" / "schema.py"
    raised, times = re.subn(
        r"^SCHEMA_VERSION = (\d+)$",
        lambda version: f"SCHEMA_VERSION = {int(version[1]) + 1}",
        schema.read_text(encoding="utf-8"),
        flags=re.M,
    )
    assert times == 1
    schema.write_text(raised, encoding="utf-8")
    (copy / "tables").mkdir()
    for name, text in TABLES.items():
        (copy / "tables" / name).write_text(text)
    (copy / "clinic-pairs.csv").write_text(PAIRS)
    (copy / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=copy, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert Path(found["ehrkg"]).is_relative_to(copy)
    return found


def test_a_reader_is_one_declaration(said):
    assert (said["format"], said["codes"]) == ("clinic", ["ICD10CM:I50.9"])
    assert sum(said["unusable"].values()) == 1


def test_a_source_of_knowledge_is_one_declaration(said):
    assert said["edge"] == ["RXCUI:5640", "EXACERBATES", "MESH:D006333", "CC-BY-4.0"]


def test_a_predicate_is_a_row_and_what_counts_as_evidence_for_it(said):
    assert said["relation"]["verdict"] == "supported"
    assert "Ibuprofen makes worse Heart failure" in said["relation"]["reasons"][0]


def test_the_graph_holds_the_predicate_too(said):
    assert said["counts"]["EXACERBATES"] == 1


def test_a_task_of_diagnoses_is_a_row_in_each_table(said):
    assert {"mcq", "oeq"} <= {form for form, _ in said["own"]}
    assert all("what is listed can cause" in stem for _, stem in said["own"])


def test_an_export_is_one_module(said):
    assert said["exported"] == ["DATASHEET.md", "questions.txt"]
    assert all(stem in said["text"] for _, stem in said["own"])


def test_every_path_that_the_document_names_is_there(root: Path):
    text = BLOCK.sub("", (root / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    named = set(re.findall(r"`((?:ehrkg|tests|ontologies|cypher|examples|\.ci)/[\w./-]*)`", text))
    assert len(named) > 20
    assert [path for path in sorted(named) if not (root / path).exists()] == []
