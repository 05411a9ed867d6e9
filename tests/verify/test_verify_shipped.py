"""The shipped knowledge, read against its grain: nothing holds in the wrong direction."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

import pyarrow as pa
import pyarrow.compute as pc
import pytest
import tiny

from ehrkg.ontology import PREDICATES, shipped
from ehrkg.ontology.schema import Knowledge
from ehrkg.verify import Policy, resolve_pairs, verify

QUIET = Policy(definition_bonus=0.0)
ALL_EDGES = 3000
"""Statements looked at, the first by id (which is a hash of the content)."""


@pytest.fixture(scope="module")
def core(not_here: Callable[[str], NoReturn]) -> Knowledge:
    knowledge = shipped()
    if not len(knowledge.edges):
        not_here("no shipped knowledge in this checkout")
    return knowledge


@pytest.fixture(scope="module")
def stated(core: Knowledge) -> list[tuple[str, str, str]]:
    """Clinical statements that are not negated."""
    clinical = [name for name, row in PREDICATES.items() if row.group == "clinical"]
    edges = (
        core.edges.filter(
            pc.and_(
                pc.is_in(core.edges["predicate"], value_set=pa.array(clinical)),
                pc.invert(core.edges["negated"]),
            )
        )
        .sort_by([("id", "ascending")])
        .slice(0, ALL_EDGES)
    )
    columns = (edges[name].to_pylist() for name in ("subject", "predicate", "object"))
    return sorted(set(zip(*columns, strict=True)))


def supported(claims: list[tuple[str, str, str]], core: Knowledge) -> set[tuple[str, str, str]]:
    """The claims that come out supported, the ends being the concepts themselves."""
    table = tiny.candidates([tiny.candidate(*claim) for claim in claims])
    links = tiny.same(end for claim in claims for end in (claim[0], claim[2]))
    verdicts = tiny.verdicts(verify(table, links, core, policy=QUIET).relations)
    return {claim for claim, verdict in verdicts.items() if verdict == "supported"}


def test_most_statements_support_their_own_claim(
    stated: list[tuple[str, str, str]], core: Knowledge
) -> None:
    """Not those that name a route, are weak by a hub, or have a contraindication against them."""
    assert len(supported(stated, core)) > 0.8 * len(stated)


def test_swapped_ends_are_not_supported(
    stated: list[tuple[str, str, str]], core: Knowledge
) -> None:
    right = supported(stated, core)
    swapped = [(tail, predicate, head) for head, predicate, tail in sorted(right)]
    assert len(supported(swapped, core)) <= 0.02 * len(swapped)


def test_denied_statements_are_not_supported(
    stated: list[tuple[str, str, str]], core: Knowledge
) -> None:
    """Were every statement its denial, no claim would stand."""
    denied = core.edges.set_column(
        core.edges.schema.get_field_index("negated"),
        "negated",
        pc.not_equal(core.edges["predicate"], "SUBCLASS_OF"),
    )
    against = Knowledge(core.concepts, core.synonyms, denied, core.mappings, core.attributes)
    assert supported(stated, against) == set()


def test_names_of_the_shipped_concepts_find_them(core: Knowledge) -> None:
    table = pa.table(
        {
            "head": ["Furosemide", "amoxicillin"],
            "predicate": ["TREATS"] * 2,
            "tail": ["heart failure", "heart failure"],
        }
    )
    candidates, links = resolve_pairs(table, core)
    found = tiny.verdicts(verify(candidates, links, core, policy=QUIET).relations)
    assert found["Furosemide", "TREATS", "heart failure"] == "supported"
    assert found["amoxicillin", "TREATS", "heart failure"] == "unsupported"
