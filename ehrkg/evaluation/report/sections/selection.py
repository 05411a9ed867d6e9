"""Who and what is left at each stage: visits by age and sex, answers by chapter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.benchmark.templates.instantiation import age_band
from ehrkg.evaluation.report.data import ReportData
from ehrkg.ontology.code_trees import node_of

ANSWER_KINDS = ("diagnosis", "drug")
"""Kinds of code that can be an answer."""


def collect(data: ReportData) -> dict[str, Any]:
    """Visits and codes that survive each stage."""
    choice = data.items.filter(pc.equal(data.items["format"], "mcq"))["template_id"]
    with_choice = data.templates.filter(pc.is_in(data.templates["id"], value_set=pc.unique(choice)))
    return {
        "visits": _visits(data, with_choice),
        "answers": _answers(data, with_choice),
    }


def _visits(data: ReportData, with_choice: pa.Table) -> list[dict[str, Any]]:
    """Visits read, with a template, with a multiple-choice question: all, by age, by sex."""
    visits, patients = data.hospital.visits, data.hospital.patients
    sex_of = dict(zip(patients["id"].to_pylist(), patients["sex"].to_pylist(), strict=True))
    groups = [
        (("all visits", f"age {age_band(age)}", f"sex {_sex(sex_of.get(patient))}"), visit)
        for visit, patient, age in zip(
            *(visits[name].to_pylist() for name in ("id", "patient", "age")), strict=True
        )
    ]
    stages = {
        "read": None,
        "with_template": set(pc.unique(data.templates["visit"]).to_pylist()),
        "with_choice": set(pc.unique(with_choice["visit"]).to_pylist()),
    }
    counts = {
        stage: Counter(
            name for names, visit in groups if kept is None or visit in kept for name in names
        )
        for stage, kept in stages.items()
    }
    order = sorted(counts["read"], key=lambda name: (name != "all visits", name))
    return [
        {"group": name, **{stage: counts[stage].get(name, 0) for stage in stages}} for name in order
    ]


def _answers(data: ReportData, with_choice: pa.Table) -> list[dict[str, Any]]:
    """Distinct codes that could be an answer, by chapter: recorded, related, supported, asked."""
    codes, relations = data.hospital.codes, data.verified.relations
    wanted = codes.filter(pc.is_in(codes["kind"], value_set=pa.array(ANSWER_KINDS)))
    group_of = {
        code: chapter_words(code) if kind == "diagnosis" else "drugs"
        for code, kind in zip(wanted["id"].to_pylist(), wanted["kind"].to_pylist(), strict=True)
    }
    supported = relations.filter(pc.equal(relations["verdict"], "supported"))
    stages = {
        "recorded": group_of,
        "proposed": _ends(relations),
        "supported": _ends(supported),
        "answers": _listed(data.templates["answer"]),
        "choices": _listed(with_choice["answer"]),
    }
    counts = {
        stage: Counter(group_of[code] for code in set(held) if code in group_of)
        for stage, held in stages.items()
    }
    rows = [("all codes", {stage: sum(found.values()) for stage, found in counts.items()})]
    rows += [
        (name, {stage: found.get(name, 0) for stage, found in counts.items()})
        for name in sorted(counts["recorded"], key=lambda one: (one == "drugs", _place(one)))
    ]
    return [{"group": name, **found} for name, found in rows]


def chapter_words(code: str) -> str:
    """The chapter of a diagnosis code's ICD tree, with its version.

    >>> chapter_words("ICD10CM:I50.9")
    'ICD-10 chapter 9: Diseases of the circulatory system'
    >>> chapter_words("LOCAL:1")
    'no chapter'
    """
    node = node_of(code)
    if node is None or not node.chapter:
        return "no chapter"
    return named_chapter(node.chapter, node.chapter_name)


def named_chapter(chapter: str, name: str) -> str:
    """A chapter of an ICD tree in words.

    >>> named_chapter("ICD9CM:7", "Diseases Of The Circulatory System")
    'ICD-9 chapter 7: Diseases of the circulatory system'
    """
    system, _, number = chapter.partition(":")
    version = "ICD-9" if system.startswith("ICD9") else "ICD-10"
    return f"{version} chapter {number}: {name.capitalize()}"


def _place(chapter: str) -> tuple[str, int, str]:
    """Chapters in the order of their numbers."""
    system, _, rest = chapter.partition(" chapter ")
    number = rest.partition(":")[0]
    return system, int(number) if number.isdigit() else 99, chapter


def _sex(written: str | None) -> str:
    return {"F": "female", "M": "male"}.get(written or "", written or "unknown")


def _ends(relations: pa.Table) -> Iterable[str]:
    return {code for end in ("head", "tail") for code in pc.unique(relations[end]).to_pylist()}


def _listed(column: pa.ChunkedArray) -> Iterable[str]:
    return set(pc.unique(pc.list_flatten(column)).to_pylist())
