"""Reach and correctness of a build's mapping, and a user's own mapping in a graph."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

import ehrkg
from ehrkg.foundation.errors import InputError
from ehrkg.session.coverage import DISEASES, Coverage, coverage, write_tables
from ehrkg.session.coverage_judged import read_judged


@pytest.fixture(scope="module")
def found(built_demo: Path) -> Coverage:
    return coverage(built_demo / "benchmark")


def reach(found: Coverage, group: str) -> dict[str, int]:
    rows = found.reach.to_pylist()
    return next(r for r in rows if r["knowledge"] == "this build" and r["group"] == group)


def test_every_row_counts_once(found: Coverage, built_demo: Path) -> None:
    kinds = pq.read_table(built_demo / "benchmark" / "events.parquet")["kind"].to_pylist()
    for group in ("diagnosis", "procedure"):
        row = reach(found, group)
        assert row["rows"] == kinds.count(group)
        assert row["rows"] == row["exact"] + row["near"] + row["broader"] + row["unlinked"]
    drugs = [r for r in found.reach.to_pylist() if r["knowledge"] == "this build"]
    drugs = [r for r in drugs if r["group"] in ("drug", "nutrient, fluid, vaccine, supply")]
    assert sum(r["rows"] for r in drugs) == kinds.count("drug")


def test_what_reaches_and_what_fails_are_all(found: Coverage) -> None:
    whole, diseases = reach(found, "diagnosis"), reach(found, DISEASES)
    failing = [r for r in found.failing.to_pylist() if r["code"].startswith("ICD")]
    reached = {
        g: reach(found, g)["exact"] + reach(found, g)["near"] for g in ("diagnosis", "procedure")
    }
    rows = {g: reach(found, g)["rows"] for g in reached}
    assert sum(r["rows"] for r in failing) == sum(rows.values()) - sum(reached.values())
    assert diseases["rows"] <= whole["rows"]
    counts = [r["rows"] for r in found.failing.to_pylist()]
    assert counts == sorted(counts, reverse=True)


def test_a_build_without_further_knowledge_is_what_ships(found: Coverage) -> None:
    by = {}
    for row in found.reach.to_pylist():
        name = row.pop("knowledge")
        by.setdefault(name, []).append(row)
    assert by["this build"] == by["what ships"]


def test_the_sample_is_of_mapped_rows_and_is_the_same_again(
    found: Coverage, built_demo: Path
) -> None:
    again = coverage(built_demo / "benchmark")
    assert again.sample == found.sample
    assert all(row["levels"] <= 1 and row["concepts"] for row in found.sample.to_pylist())
    assert 0 < found.sample.num_rows <= 200


def test_the_tables_are_written_and_a_judged_sample_is_read_back(
    found: Coverage, tmp_path: Path
) -> None:
    names = {path.name for path in write_tables(found, tmp_path / "c")}
    assert names == {"reach.tsv", "methods.tsv", "failing.tsv", "edges.tsv", "sample.tsv"}
    lines = (tmp_path / "c" / "sample.tsv").read_text(encoding="utf-8").splitlines()
    said = ["right", "right", "wrong", "unsure", "right"]
    filled = [
        lines[0],
        *(line + word for line, word in zip(lines[1:6], said, strict=True)),
        *lines[6:],
    ]
    file = tmp_path / "judged.tsv"
    file.write_text("\n".join(filled) + "\n", encoding="utf-8")
    share = read_judged(file).shares[-1]
    assert (share.kind, share.right, share.judged) == ("all", 3, 4)
    assert share.low < 0.75 < share.high
    file.write_text("\n".join([lines[0], lines[1] + "fine"]) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 2, column judgement"):
        read_judged(file)
    with pytest.raises(InputError, match="nothing is judged"):
        read_judged(tmp_path / "c" / "sample.tsv")


def test_a_folder_without_a_build_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no finished build"):
        coverage(tmp_path)


def test_a_users_mapping_stands_in_the_graph_and_is_explained(
    built_demo: Path, tmp_path: Path
) -> None:
    with ehrkg.open(tmp_path / "graph.lbug") as kg:
        kg.load_ehr(built_demo / "tables")
        first = kg.map_codes().links.to_pylist()
        code = next(row["code"] for row in first if row["levels"] == 0)
        file = tmp_path / "own.tsv"
        file.write_text(f"code\tconcept\n{code}\t\n", encoding="utf-8")
        kg.map_codes(overrides=file)
        query = "MATCH (c:Code {id: $code})-[l:MAPS_TO]->(x:Concept) RETURN x.id AS id"
        assert kg.query(query, code=code).num_rows == 0
        told = kg.explain_mapping(code)
        assert told.links == ()
        assert any(attempt.links for attempt in told.attempts)
        kg.map_codes()
        assert kg.query(query, code=code).num_rows > 0
