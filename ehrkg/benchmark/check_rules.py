"""The rules of a sound question, measured again on the finished tables.

Each rule is a function from a benchmark to the ids of the questions that break it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.benchmark.balance import slack_of
from ehrkg.benchmark.code_classes import class_of, is_answerable, rule_data
from ehrkg.benchmark.cohort import Cohort
from ehrkg.benchmark.giveaways import context_rules
from ehrkg.benchmark.names import rules as name_rules
from ehrkg.ehr.codes import CODE_SYSTEMS, system_of

Rows = Sequence[Mapping[str, Any]]
"""Items, each joined with its template under the key "template"."""

Rule = Callable[[Rows], list[str]]

_MARKUP = re.compile(r"<[^<>]{1,40}>|&(?:[a-z]{2,6}|#\d+);|[\x00-\x1f\x7f]")


def _ids(rows: Rows, broken: Callable[[Mapping[str, Any]], bool]) -> list[str]:
    return [row["item_id"] for row in rows if broken(row)]


def _mcq(rows: Rows) -> Rows:
    return [row for row in rows if row["format"] == "mcq"]


def answer_among_options(rows: Rows) -> list[str]:
    """The answer stands among the options exactly once, where answer_index says."""
    return _ids(
        _mcq(rows),
        lambda row: (
            not 0 <= row["answer_index"] < len(row["options"])
            or row["options"][row["answer_index"]] != row["answer"][0]
            or row["options"].count(row["answer"][0]) != 1
        ),
    )


def options_distinct(rows: Rows) -> list[str]:
    """There are n_options options, all of different codes and names."""
    return _ids(
        _mcq(rows),
        lambda row: (
            len({name.casefold() for name in row["options"]}) != row["n_options"]
            or len(set(row["option_codes"])) != row["n_options"]
            or len(row["options"]) != row["n_options"]
        ),
    )


def answer_is_the_templates(rows: Rows) -> list[str]:
    """The answer's code is the one that the template asks for."""
    return _ids(
        _mcq(rows),
        lambda row: (
            bool(row["template"])
            and row["template"]["answer"][0] not in row["option_codes"][row["answer_index"] :][:1]
        ),
    )


def template_there(rows: Rows) -> list[str]:
    """Every question has its template."""
    return _ids(rows, lambda row: not row["template"])


def answer_not_in_stem(rows: Rows) -> list[str]:
    """Neither the answer's name nor its code stands in the stem, nor among the context."""

    def broken(row: Mapping[str, Any]) -> bool:
        stem = row["stem"].casefold()
        template = row["template"] or {"answer": [], "context": []}
        codes = [code.partition(":")[2] for code in template["answer"]]
        drug = row["task"] == "treatment"
        named = [
            name.casefold().rpartition(",")[0] if drug else name.casefold()
            for name in row["answer"]
        ]
        return (
            any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", stem) for name in named if name)
            or any(code in row["stem"] for code in codes if any(c.isdigit() for c in code))
            or not set(template["answer"]).isdisjoint(template["context"])
        )

    return _ids(rows, broken)


def one_code_system(rows: Rows) -> list[str]:
    """All options come from the answer's own code system."""
    return _ids(_mcq(rows), lambda row: len({_system(code) for code in row["option_codes"]}) > 1)


def answers_are_diseases(rows: Rows) -> list[str]:
    """No symptom, status, history, external-cause, administrative code as an answer or distractor.

    By code alone; ``residual_options`` adds what only names tell.
    """
    answerable = rule_data()["answerable"]
    return _ids(
        [row for row in _mcq(rows) if row["task"] != "treatment"],
        lambda row: any(class_of(code) not in answerable for code in row["option_codes"]),
    )


def gap_in_range(rows: Rows) -> list[str]:
    """A prognosis tells the days from discharge to admission, within the bounds, in its stem."""
    bounds = rule_data()["thresholds"]

    def broken(row: Mapping[str, Any]) -> bool:
        gap = (row["template"] or {}).get("gap_days")
        if gap is None or not bounds["shortest_gap"] <= gap <= bounds["longest_gap"]:
            return True
        return not re.search(rf"(?<!\d){gap}(?!\d)", row["stem"])

    return _ids([row for row in rows if row["task"] == "prognosis"], broken)


def context_size(rows: Rows) -> list[str]:
    """As many context events as context.yaml allows."""
    size = context_rules()["size"]

    def broken(row: Mapping[str, Any]) -> bool:
        events = (row["template"] or {}).get("context") or ()
        return not size["least"] <= len(events) <= size["most"]

    return _ids(rows, broken)


def names_well_formed(rows: Rows) -> list[str]:
    """No option is empty, too long, or holds markup or line breaks."""
    longest = name_rules().longest
    return _ids(
        rows,
        lambda row: (
            any(
                not name.strip() or len(name) > longest or _MARKUP.search(name)
                for name in [*row["options"], *row["answer"]]
            )
            or bool(_MARKUP.search(row["stem"]))
        ),
    )


def accepted_holds_answer(rows: Rows) -> list[str]:
    """An open question accepts at least its own answer."""
    return _ids(
        [row for row in rows if row["format"] == "oeq"],
        lambda row: (
            not set((row["template"] or {}).get("answer") or ()) & set(row["accepted_codes"])
        ),
    )


RULES: Mapping[str, Rule] = {
    "template_there": template_there,
    "answer_among_options": answer_among_options,
    "answer_is_the_templates": answer_is_the_templates,
    "options_distinct": options_distinct,
    "answer_not_in_stem": answer_not_in_stem,
    "one_code_system": one_code_system,
    "answers_are_diseases": answers_are_diseases,
    "gap_in_range": gap_in_range,
    "context_size": context_size,
    "names_well_formed": names_well_formed,
    "accepted_holds_answer": accepted_holds_answer,
}
"""Rules that need the items and their templates only."""


def recorded_in_patient(rows: Rows, events: pa.Table, cohort: Cohort | None) -> list[str]:
    """No distractor is recorded in any visit of the patient.

    Args:
        rows: items with their templates.
        events: EVENTS.
        cohort: with it, what is related to a distractor counts too (concept, ancestor,
            descendant, CCSR group, other ICD version); without it, its own code only.
    """
    pairs = events.group_by(["patient", "code"]).aggregate([])
    held: dict[str, set[str]] = defaultdict(set)
    for patient, code in zip(pairs["patient"].to_pylist(), pairs["code"].to_pylist(), strict=True):
        held[patient].add(code)

    def broken(row: Mapping[str, Any]) -> bool:
        mine = held[(row["template"] or {}).get("patient", "")]
        wrong = [c for at, c in enumerate(row["option_codes"]) if at != row["answer_index"]]
        if cohort is None:
            return not mine.isdisjoint(wrong)
        return any(not cohort.related(code).isdisjoint(mine) for code in wrong)

    return _ids(_mcq(rows), broken)


def residual_options(rows: Rows, cohort: Cohort) -> list[str]:
    """No residual code, by its full name, as an option of diagnosis or prognosis."""
    return _ids(
        [row for row in _mcq(rows) if row["task"] != "treatment"],
        lambda row: any(
            code in cohort.codes and not is_answerable(cohort.codes[code])
            for code in row["option_codes"]
        ),
    )


def unlevelled(rows: Rows, n_options: int) -> tuple[list[str], int]:
    """Codes that are the answer far more or less often than one time in k.

    Returns:
        Them, as "system:code" or, for drugs, by name; and how many were looked at.
    """
    asked: Counter[tuple[str, str]] = Counter()
    seen: Counter[tuple[str, str]] = Counter()
    for row in _mcq(rows):
        if row["n_options"] != n_options or row["strategy"] != "frequency":
            continue
        drug = row["task"] == "treatment"
        era = (row["template"] or {}).get("icd_version", "") if drug else ""
        names = row["options"] if drug else row["option_codes"]
        seen.update((name, era) for name in names)
        asked[names[row["answer_index"]], era] += 1
    keys = sorted(seen)
    n_seen = np.array([seen[key] for key in keys], dtype=np.int64)
    n_asked = np.array([asked[key] for key in keys], dtype=np.int64)
    off = np.abs(n_options * n_asked - n_seen) > slack_of(n_seen, n_options)
    return [key[0] for key, wrong in zip(keys, off, strict=True) if wrong], len(keys)


def joined_rows(items: pa.Table, templates: pa.Table) -> Rows:
    """Items as rows, each with its template under "template" (``None`` where there is none)."""
    wanted = templates.filter(pc.is_in(templates["id"], value_set=items["template_id"]))
    by_id = {row["id"]: row for row in wanted.to_pylist()}
    return [{**row, "template": by_id.get(row["template_id"])} for row in items.to_pylist()]


def _system(code: str) -> str:
    system = code.partition(":")[0]
    return system if system not in CODE_SYSTEMS else system_of(code)
