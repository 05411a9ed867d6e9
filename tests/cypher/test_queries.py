"""What holds for every named query: its header, its dialect, its columns, its speed."""

from __future__ import annotations

import re
import time
from pathlib import Path

import numpy as np
import pytest

from ehrkg.foundation.errors import InputError, UsageError
from ehrkg.graph import catalogue
from ehrkg.graph.lint import lint
from ehrkg.graph.lint_tokens import Tokens
from tests.cypher.cypher_faults import FAULTS, everything
from tests.cypher.cypher_world import Write, sound

QUERIES = list(catalogue.named_queries())
SECONDS = 2.0


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.name)
def test_a_header_says_everything(query: catalogue.NamedQuery) -> None:
    assert query.title
    assert query.purpose.endswith(".")
    assert len(query.columns) == len(set(query.columns)) > 0
    used = {token.name for token in Tokens(query.text).tokens if token.kind == "param"}
    assert used == {parameter.name for parameter in query.parameters}
    assert catalogue.BUILD in used
    assert all(parameter.help for parameter in query.parameters)


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.name)
def test_a_query_speaks_what_both_engines_share(query: catalogue.NamedQuery) -> None:
    assert [str(finding) for finding in lint(query.text)] == []


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.name)
def test_a_query_answers_with_its_columns_in_time(
    query: catalogue.NamedQuery, write: Write
) -> None:
    fault = FAULTS.get(query.name.rpartition("/")[2])
    store = write("everything", everything())
    begun = time.perf_counter()
    found = query.ask(store, fault.parameters if fault else {})
    assert time.perf_counter() - begun < SECONDS
    assert tuple(found.column_names) == query.columns


def test_the_index_is_made_from_the_headers(root: Path) -> None:
    assert (root / "cypher" / "README.md").read_text(encoding="utf-8") == catalogue.index()


def test_no_two_audits_are_variants_of_one_query() -> None:
    """Two texts that differ in nothing but names of properties, numbers and strings are one."""
    shapes: dict[tuple[str, ...], str] = {}
    for query in QUERIES:
        if query.name.startswith("audits/"):
            tokens = Tokens(query.text)
            shape = tuple(
                "x"
                if token.kind in ("string", "number", "param") or tokens[at - 1].says(".", "AS")
                else token.text.upper()
                for at, token in enumerate(tokens.tokens)
            )
            assert shape not in shapes, (query.name, shapes[shape])
            shapes[shape] = query.name


def test_a_query_is_found_with_and_without_its_folder() -> None:
    assert catalogue.find("hubs") == catalogue.find("audits/hubs")
    with pytest.raises(UsageError, match="no query and no file"):
        catalogue.find("hub")


def test_parameters_are_read_from_text_and_from_values() -> None:
    query = catalogue.find("by_evidence_strength")
    assert query.bind(["score=0.5"]) == {"build": "default", "score": 0.5, "paths": 1}
    assert query.bind({"score": 1, "paths": "2"}) == {"build": "default", "score": 1.0, "paths": 2}
    patients = catalogue.find("without_patients")
    assert patients.bind(["patients=p1, p2"])["patients"] == ["p1", "p2"]
    assert patients.bind({"patients": ("p1",)})["patients"] == ["p1"]
    assert catalogue.find("first_or_later_visits").bind(["first=no"])["first"] is False


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("by_evidence_strength", ["scor=1"], "no parameter 'scor'"),
        ("by_evidence_strength", ["score"], "score is given no value"),
        ("by_evidence_strength", ["score=high"], "is no float"),
        ("by_evidence_strength", {"paths": 1.5}, "is no integer"),
        ("by_evidence_strength", {"paths": True}, "is no integer"),
        ("first_or_later_visits", ["first=perhaps"], "is no boolean"),
        ("without_patients", {"patients": [1]}, "is no strings"),
        ("by_sex", {"sex": 1}, "is no string"),
    ],
)
def test_a_wrong_parameter_is_refused(name: str, given: object, said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        catalogue.find(name).bind(given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "line", ["limit", "limit number 3", "limit integer many", "first boolean x"]
)
def test_a_header_that_cannot_be_read_is_refused(line: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.cypher"
    file.write_text(f"// title: Mine\n// param: {line}\nMATCH (c:Code) RETURN c.id AS code\n")
    with pytest.raises(InputError, match="line 2"):
        catalogue.find(str(file))


def test_a_build_asks_about_itself_only(write: Write) -> None:
    """Graphs of other tests stand in the same file."""
    query = catalogue.find("relations_by_age_and_sex")
    own = query.ask(write("everything", everything()))
    other = query.ask(write("sound", sound()))
    assert own.num_rows > other.num_rows == 3
    named = query.ask(write("everything", everything()), {"build": "sound"})
    assert named.equals(other)


@pytest.mark.parametrize("given", [["limit=-1"], {"limit": -1}])
def test_a_negative_limit_is_no_number_of_rows(given: object) -> None:
    query = next(query for query in QUERIES if "limit" in {one.name for one in query.parameters})
    with pytest.raises(UsageError, match="no number of rows") as caught:
        query.bind(given)
    assert "0 or a greater" in caught.value.todo


def test_numbers_of_numpy_are_values() -> None:
    query = next(query for query in QUERIES if query.name == "subsets/by_age")
    assert query.bind({"least": np.int64(3)})["least"] == 3


def test_a_query_that_is_not_utf8_says_where(tmp_path: Path) -> None:
    path = tmp_path / "mine.cypher"
    path.write_bytes("// title: Mine\n// purpose: Carri\xf3n.\n".encode("latin-1") + b"RETURN 1")
    with pytest.raises(InputError, match="line 2: these bytes are not UTF-8"):
        catalogue.find(str(path))
