"""`check` finds names that are no names of the codes, and counts that do not count."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from ehrkg.benchmark import ITEMS, Benchmark, Facts, check, make_questions, make_templates
from ehrkg.benchmark.checking.naming import names_again
from tests.benchmark.builders import World
from tests.benchmark.worlds import BYSTANDER, many_pairs, many_sets, sound

Row = dict[str, Any]


def test_names_and_counts_that_are_not_those_of_the_codes_are_found() -> None:
    """Each fault is planted once, and found in that question or template alone."""
    bench, world = sound(), many_pairs()
    templates = bench.templates().to_pylist()
    rows = bench.to_arrow().to_pylist()
    mcq = [row for row in rows if row["format"] == "mcq"]
    [opened, *_] = [row for row in rows if row["format"] == "oeq"]
    wrong = (mcq[0]["answer_index"] + 1) % len(mcq[0]["options"])
    mcq[0]["options"][wrong] = "Sweating sickness"
    mcq[1]["stem"] = (
        mcq[1]["stem"].replace("Causing ", "Hardly causing ").replace("causing ", "hardly causing ")
    )
    opened["answer"] = ["Sweating sickness"]
    mcq[2]["cluster"] = "another"
    templates[0]["n_related"] += 1
    templates[1]["context"][1 - templates[1]["anchor_position"]] = "ICD10CM:A13.1"
    held = {name: bench.beside(name) for name in ("relations", "events", "pool")}
    planted = Benchmark.from_tables(
        templates=pa.Table.from_pylist(templates, schema=bench.templates().schema),
        items=pa.Table.from_pylist(rows, schema=ITEMS),
        **held,
    )
    report = check(planted, facts=Facts(world.cohort, world.knowledge, world.verified))
    found = {row.rule: set(row.items) for row in report if row.status == "failed"}
    of_first, of_second = (
        {row["item_id"] for row in rows if row["template_id"] == one["id"]} for one in templates[:2]
    )
    assert found["names: options"] == {mcq[0]["item_id"]}
    assert found["names: open answers"] == {opened["item_id"]}
    assert found["names: stems"] == {mcq[1]["item_id"]} | of_second
    assert found["copied_from_template"] == {mcq[2]["item_id"]} | of_first
    assert found["template: n_related_counted"] == {templates[0]["id"]}
    assert found["template: context_recorded"] == {templates[1]["id"]}


def misnamed(world: World, change: Callable[[Row], None], **asked: Any) -> dict[str, int]:
    """By rule: how many questions break it, once every one of a world is changed."""
    parts = (world.hospital, world.knowledge, world.mapping, world.verified)
    templates = make_templates(*parts)
    made = make_questions(templates, *parts, **asked)
    rows = made.items.to_pylist()
    assert rows
    for row in rows:
        change(row)
    items = pa.Table.from_pylist(rows, schema=ITEMS)
    found = names_again(items, templates, made.pool, world.cohort)
    return {name: len(ids) for name, _, _, ids in found if ids}


def many_drugs() -> World:
    """Six diseases with a drug each, all by mouth, that helps none of the others' patients."""
    world = World()
    words = ("ab", "ec", "id", "of", "ug", "yh")
    world.diagnosis(BYSTANDER, "Eta disease", concept="MONDO:b", ccsr=["B0"])
    for at, word in enumerate(words):
        code = f"ICD10CM:A{at:02d}.1"
        world.diagnosis(code, f"Disease {word}", concept=f"MONDO:{at}", ccsr=[f"A{at}"])
        world.drug(f"{word}ol", concept=f"DRUGBANK:{at}", atc=f"ATC:{'ABCDGH'[at]}01AA")
        world.treats(f"DRUGBANK:{at}", f"MONDO:{at}")
        world.relation(f"DRUGNAME:{word}ol", "TREATS", code, route="oral")
        for other in words:
            if other != word:
                denied = (f"DRUGNAME:{other}ol", "TREATS", code)
                world.relation(*denied, route="oral", verdict="contradicted", n_path=0)
        for n in range(6):
            world.patient(f"p{at}{n}").visit([code, BYSTANDER], [(f"{word}ol", "oral")])
    return world


def nothing(_row: Row) -> None:
    return


def by_another_route(row: Row) -> None:
    row["options"] = [name.replace("by mouth", "intravenous") for name in row["options"]]
    row["answer"] = [name.replace("by mouth", "intravenous") for name in row["answer"]]


def asked_otherwise(row: Row) -> None:
    row["stem"] = row["stem"].replace("ol by mouth", "ol")


def of_nobody(row: Row) -> None:
    row["option_codes"] = ["ICD10CM:Q99.9", *row["option_codes"][1:]]


@pytest.mark.parametrize(
    ("form", "change", "rule"),
    [
        ("mcq4", by_another_route, "names: options"),
        ("oeq", by_another_route, "names: open answers"),
        ("yesno", asked_otherwise, "names: stems"),
    ],
)
def test_a_drug_is_named_by_the_route_of_its_order(
    form: str, change: Callable[[Row], None], rule: str
) -> None:
    def asked(change: Callable[[Row], None]) -> dict[str, int]:
        return misnamed(many_drugs(), change, formats=[form])

    assert not asked(nothing)
    assert asked(change).keys() == {rule}


def test_where_several_are_right_each_of_them_is_named_by_its_code() -> None:
    assert not misnamed(many_sets(), nothing, formats=["multi"])
    assert misnamed(many_sets(), of_nobody, formats=["multi"]).keys() == {"names: options"}
