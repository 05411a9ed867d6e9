"""Meta-paths are rows that a reader understands and a user extends."""

from __future__ import annotations

from pathlib import Path

import pytest
import tiny

from ehrkg.foundation.errors import InputError, UsageError
from ehrkg.ontology.predicates import PREDICATES
from ehrkg.verify import Policy, verify
from ehrkg.verify.meta_paths import parse_path, read_meta_paths, shipped_meta_paths


def test_every_clinical_predicate_can_be_verified() -> None:
    claimed = {path.predicate for path in shipped_meta_paths() if path.polarity == "supports"}
    assert claimed == {name for name, row in PREDICATES.items() if row.group == "clinical"}


def test_every_predicate_of_a_path_is_known() -> None:
    for path in shipped_meta_paths():
        for step in path.steps:
            assert set(step.predicates) <= set(PREDICATES)


def test_sentences_name_only_the_nodes_of_their_path() -> None:
    for path in shipped_meta_paths():
        names = {node.name: "x" for node in path.nodes} | {"words": "w"}
        assert "{" not in path.says.format(**names)


def test_what_speaks_against_a_predicate_has_a_path() -> None:
    for name, row in PREDICATES.items():
        used = {
            predicate
            for path in shipped_meta_paths()
            if path.predicate == name and path.polarity == "contradicts"
            for step in path.steps
            for predicate in step.predicates
        }
        assert set(row.contradicted_by) <= used


def test_shipped_paths_stay_within_two_levels_at_either_end() -> None:
    assert max(step.most for path in shipped_meta_paths() for step in path.steps) == 2


@pytest.mark.parametrize(
    "text",
    [
        "head-[TREATS]->(tail)",
        "(head)-[TREATS]-(tail)",
        "(head)<-[TREATS]->(tail)",
        "(head)",
        "(head)-[SUBCLASS_OF]->(tail)",
        "(head)-[TREATS*1..2]->(tail)",
        "(a)-[TREATS]->(tail)",
        "(head)-[SUBCLASS_OF|TREATS]->(tail)",
        "(head)-[!SUBCLASS_OF]->(x)-[TREATS]->(tail)",
    ],
)
def test_a_pattern_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_path(text)


def test_a_wrong_row_is_named(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(
        "- {name: a, predicates: [TREATS], path: '(head)-[TREATS]->(tail)', polarity: supports,"
        " weight: 0.9, says: x}\n"
        "- {name: b, predicates: [TREATS], path: '(head)-[TREATS]->(tail)', polarity: helps,"
        " weight: 0.9, says: x}\n"
    )
    with pytest.raises(InputError, match=r"mine\.yaml: row 2 .*helps"):
        read_meta_paths(file)


def test_a_user_adds_a_path_of_his_own(tmp_path: Path) -> None:
    """A drug that prevents what a disease causes may be claimed to treat it, if one so wishes."""
    file = tmp_path / "mine.yaml"
    file.write_text(
        "- name: prevents_effect\n  predicates: [TREATS]\n"
        "  path: '(head)-[PREVENTS]->(effect)<-[CAUSES]-(tail)'\n"
        "  polarity: supports\n  weight: 0.9\n  sufficient: true\n"
        "  says: '{head} prevents {effect}, which {tail} causes'\n"
    )
    knowledge = tiny.knowledge(
        [tiny.edge("D:w", "PREVENTS", "M:stroke"), tiny.edge("M:af", "CAUSES", "M:stroke")]
    )
    claims = tiny.candidates([tiny.candidate("D:w", "TREATS", "M:af")])
    links = tiny.same(["D:w", "M:af"])
    policy = Policy(
        meta_paths=(*shipped_meta_paths(), *read_meta_paths(file)), default_reliability=0.8
    )
    assert verify(claims, links, knowledge).relations["verdict"].to_pylist() == ["unsupported"]
    found = verify(claims, links, knowledge, policy=policy)
    assert found.relations["verdict"].to_pylist() == ["supported"]
    assert found.evidence["text"].to_pylist() == ["w prevents stroke, which af causes"]


def test_a_threshold_outside_its_range_is_refused() -> None:
    with pytest.raises(UsageError, match="hub_floor"):
        Policy(hub_floor=-0.1)
    with pytest.raises(UsageError, match="hub_from"):
        Policy(hub_from=5000)
