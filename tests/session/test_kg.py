"""The object that notebooks hold, as the README and the examples use it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ehrkg
from ehrkg.ehr import synth

OBO = """format-version: 1.2
ontology: test

[Term]
id: TEST:1
name: Carrión's "verruga" disease
def: "A fever spread by sand flies, here for a test." [TEST:me]
synonym: "Oroya fever" EXACT []
is_a: TEST:2 ! bacterial thing

[Term]
id: TEST:2
name: bacterial thing
"""


@pytest.fixture(scope="module")
def kg(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kg")
    synth.write(folder / "tables", patients=80, seed=7)
    with ehrkg.open(folder / "graph.lbug") as graph:
        graph.load_ehr(folder / "tables")
        graph.map_codes()
        yield graph


def test_the_readmes_python_runs_as_written(root: Path, tmp_path, monkeypatch, capsys):
    code = re.search(r"```python\n(.*?)```", (root / "README.md").read_text(), re.S).group(1)
    synth.write(tmp_path / "mimic-iv", patients=80, seed=7)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {})
    assert "csv.gz" in capsys.readouterr().out


def test_the_readmes_cuts_run_as_written(root: Path, built_demo, tmp_path, monkeypatch):
    blocks = re.findall(r"```python\n(.*?)```", (root / "README.md").read_text(), re.S)
    (cuts,) = [block for block in blocks if "Benchmark.open" in block]
    (tmp_path / "out").symlink_to(built_demo / "benchmark")
    monkeypatch.chdir(tmp_path)
    held: dict[str, ehrkg.Benchmark] = {}
    exec(compile(cuts, "README.md", "exec"), held)
    again = ehrkg.Benchmark.from_recipe("recipe.json", "out")
    assert again.fingerprint == held["part"].fingerprint
    assert any((tmp_path / "out-lm").iterdir())


def test_a_users_pairs_need_no_hospital(tmp_path):
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("head\tpredicate\ttail\nwarfarin\tTREATS\tatrial fibrillation\n")
    with ehrkg.open(tmp_path / "graph.lbug") as graph:
        for given in (
            pairs,
            str(pairs),
            pa.table(
                {"head": ["warfarin"], "predicate": ["TREATS"], "tail": ["atrial fibrillation"]}
            ),
        ):
            (row,) = graph.verify(given).relations.to_pylist()
            assert row["verdict"] == "supported"
        assert graph.store.counts().get("Relation", 0) == 0


def test_an_ontology_of_ones_own_joins_what_ships(tmp_path):
    (tmp_path / "own.obo").write_text(OBO, encoding="utf-8")
    with ehrkg.open(tmp_path / "graph.lbug") as graph:
        loaded = graph.load_ontology(tmp_path / "own.obo")
        assert loaded.concepts.num_rows == 2
        found = graph.query(
            "MATCH (c:Concept)-[:SUBCLASS_OF]->(p:Concept) WHERE c.id = $id RETURN c.name, p.name",
            id="TEST:1",
        ).to_pylist()
        assert [list(row.values()) for row in found] == [
            ['Carrión\'s "verruga" disease', "bacterial thing"]
        ]
        pairs = pa.table({"head": ["Oroya fever"], "predicate": ["CAUSES"], "tail": ["anemia"]})
        (row,) = graph.verify(pairs).relations.to_pylist()
        assert "unlinked" not in " ".join(row["reasons"])


def test_another_hospital_forgets_what_was_mapped(kg, tmp_path):
    synth.write(tmp_path / "tables", patients=20, seed=9)
    before = kg.mapping.links
    with ehrkg.open(tmp_path / "graph.lbug") as other:
        other.load_ehr(tmp_path / "tables")
        assert not other.mapping.links.equals(before)
        other.load_ehr(tmp_path / "tables")
        with pytest.raises(ehrkg.UsageError, match="no relation was verified"):
            _ = other.verified


def test_what_must_come_first_is_said(tmp_path):
    with ehrkg.open(tmp_path / "graph.lbug") as graph:
        with pytest.raises(ehrkg.UsageError, match="no hospital tables are loaded"):
            graph.map_codes()
        with pytest.raises(ehrkg.UsageError, match="load_ehr"):
            graph.propose(ehrkg.propose.Cooccurrence())


def test_a_finished_build_opened_again_goes_on(built_demo):
    out = built_demo / "benchmark"
    with ehrkg.open(out / "graph.lbug", read_only=True) as graph:
        assert graph.hospital.events.num_rows == pq.read_metadata(out / "events.parquet").num_rows
        assert (
            graph.verified.relations.num_rows
            == pq.read_metadata(out / "relations.parquet").num_rows
        )
        candidates = graph.propose(ehrkg.propose.Cooccurrence())
        assert set(candidates["id"].to_pylist()) == set(graph.verified.relations["id"].to_pylist())
        assert graph.mapping.links.num_rows > 0


def test_check_reads_the_finished_files(built_demo):
    from ehrkg.session.soundness import check_build

    found = {(row.rule, row.task): row.status for row in check_build(built_demo / "benchmark")}
    assert found["options_distinct", ""] == "ok"
    assert ("recorded_in_patient", "") in found


def test_a_second_hospital_in_one_graph_is_refused(kg, tmp_path):
    synth.write(tmp_path / "tables", patients=20, seed=9)
    with pytest.raises(ehrkg.UsageError, match="another hospital's visits"):
        kg.load_ehr(tmp_path / "tables")
    assert kg.store.counts()["Patient"] == 80


def test_pairs_may_come_as_any_table(kg):
    rows = [{"head": "warfarin", "predicate": "TREATS", "tail": "atrial fibrillation"}]
    table = pa.Table.from_pylist(rows)
    for given in (rows, table, table.to_pandas()):
        assert kg.verify(given).relations["verdict"].to_pylist() == ["supported"]
    with pytest.raises(ehrkg.UsageError, match="no table of pairs: int"):
        kg.verify(5)


@pytest.mark.parametrize("wrong", [5, None, b"MATCH (n) RETURN n"])
def test_what_is_no_text_is_no_query(kg, wrong):
    with pytest.raises(ehrkg.UsageError, match="is no query"):
        kg.query(wrong)


@pytest.mark.parametrize("wrong", [ehrkg.propose.Cooccurrence, "cooccurrence", None])
def test_what_does_not_propose_is_no_proposer(kg, wrong):
    with pytest.raises(ehrkg.UsageError, match="is no proposer"):
        kg.propose(wrong)


def test_values_of_numpy_and_arrow_are_bound(kg):
    sexes = kg.query("MATCH (p:Patient) RETURN DISTINCT p.sex AS sex ORDER BY sex")["sex"]
    asked = "MATCH (p:Patient) WHERE p.sex = $sex RETURN count(p) AS n"
    assert kg.query(asked, sex=sexes[0]).equals(kg.query(asked, sex=sexes[0].as_py()))
    few = "MATCH (p:Patient) WHERE p.sex IN $sexes RETURN p.id AS id ORDER BY id LIMIT $n"
    assert kg.query(few, sexes=sexes, n=np.int64(3)).num_rows == 3
    assert kg.query(few, sexes=np.array(sexes.to_pylist()), n=pa.scalar(2)).num_rows == 2


def test_a_column_without_a_name_shows_nothing_of_the_engine(kg):
    assert kg.query("MATCH (p:Patient) RETURN count(p)").column_names[0].lower() == "count(p)"
