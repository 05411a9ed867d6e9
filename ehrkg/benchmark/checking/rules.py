"""The rules of a sound question, measured again on the finished tables.

Each rule is a function from a benchmark to the ids of the questions that break it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.benchmark.distractors.balance import slack_of
from ehrkg.benchmark.facts.code_classes import class_of, is_answerable, rule_data
from ehrkg.benchmark.facts.cohort import Cohort
from ehrkg.benchmark.facts.giveaways import context_rules
from ehrkg.benchmark.facts.names import rules as name_rules
from ehrkg.benchmark.questions.stems import person
from ehrkg.ehr.codes import CODE_SYSTEMS, system_of
from ehrkg.propose.tasks import tasks

Rows = Sequence[Mapping[str, Any]]
"""Items, each joined with its template under the key "template"."""

BATCH = 8192
"""Items that are rows at the same time."""

OF_TEMPLATE = ("id", "patient", "answer", "context", "gap_days", "age", "sex")
"""Columns of a template that rules look at."""

Rule = Callable[[Rows], list[str]]

_MARKUP = re.compile(r"<[^<>]{1,40}>|&(?:[a-z]{2,6}|#\d+);|[\x00-\x1f\x7f]")


_CLAIMS = re.compile(
    r"\bwill (?:develop|have|be)\b|\bbest\b|\bshould\b|\bmost appropriate\b|\brecommended\b", re.I
)


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
        drug = tasks()[row["task"]].asks_for_drugs
        named = [
            name.casefold().rpartition(",")[0] if drug else name.casefold()
            for name in row["answer"]
        ]
        return (
            any(name and name in stem and _stands_alone(name, stem) for name in named)
            or any(code in row["stem"] for code in codes if any(c.isdigit() for c in code))
            or not set(template["answer"]).isdisjoint(template["context"])
        )

    return _ids(rows, broken)


def _stands_alone(name: str, text: str) -> bool:
    """Whether a name stands in a text as words of its own, no part of a longer one."""
    return bool(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text))


def one_code_system(rows: Rows) -> list[str]:
    """All options come from the answer's own code system."""
    return _ids(_mcq(rows), lambda row: len({_system(code) for code in row["option_codes"]}) > 1)


def answers_are_diseases(rows: Rows) -> list[str]:
    """No symptom, status, history, external-cause, administrative code as an answer or distractor.

    By code alone; ``residual_options`` adds what only names tell.
    """
    answerable = rule_data()["answerable"]
    return _ids(
        [row for row in _mcq(rows) if not tasks()[row["task"]].asks_for_drugs],
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

    return _ids([row for row in rows if tasks()[row["task"]].span == "next"], broken)


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


def person_in_stem(rows: Rows) -> list[str]:
    """Age (90 or older as such) and sex stand in the stem, as the template has them."""
    return _ids(
        [row for row in rows if row["template"]],
        lambda row: (
            person(row["template"]["age"], row["template"]["sex"])
            not in row["stem"][:1].lower() + row["stem"][1:]
        ),
    )


def claims_no_more(rows: Rows) -> list[str]:
    """No stem foretells, or asks for what is best or should be done."""
    return _ids(rows, lambda row: bool(_CLAIMS.search(row["stem"])))


def says_timing(rows: Rows) -> list[str]:
    """Every question says whether its record was coded at discharge or has times of its own."""
    return _ids(rows, lambda row: row["timing"] not in TIMINGS)


def reasons_told(rows: Rows) -> list[str]:
    """Every option of a question has its reason, and every answer is marked as one."""

    def broken(row: Mapping[str, Any]) -> bool:
        reasons = row["distractor_reasons"]
        told = [why for why in reasons if why != "answer"]
        asked_yes = row["format"] == "yesno" and row["answer"] == ["yes"]
        return len(reasons) != len(row["options"]) or not (asked_yes or all(told))

    return _ids(rows, broken)


def no_is_founded(rows: Rows) -> list[str]:
    """A "no" is contradicted, or is flagged as presumed."""

    def broken(row: Mapping[str, Any]) -> bool:
        if row["answer"] not in (["yes"], ["no"]) or row["options"] != ["yes", "no"]:
            return True
        why = row["distractor_reasons"][0]
        return row["answer"] == ["no"] and not (
            why.startswith("contradicted") or PRESUMED in row["flags"]
        )

    return _ids([row for row in rows if row["format"] == "yesno"], broken)


def several_are_right(rows: Rows) -> list[str]:
    """Of several right answers there are two or more, all among the options and not all of them."""

    def broken(row: Mapping[str, Any]) -> bool:
        right, options = set(row["answer"]), set(row["options"])
        marked = row["distractor_reasons"].count("answer")
        return len(right) < 2 or not right < options or marked != len(right)

    return _ids([row for row in rows if row["format"] == "multi"], broken)


TIMINGS = ("discharge_coded", "timestamped")
PRESUMED = "presumed"

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
    "person_in_stem": person_in_stem,
    "claims_no_more": claims_no_more,
    "says_timing": says_timing,
    "reasons_told": reasons_told,
    "no_is_founded": no_is_founded,
    "several_are_right": several_are_right,
}
"""Rules that need the items and their templates only."""


def held_by_patients(events: pa.Table) -> Mapping[str, set[str]]:
    """The codes of every patient, in any visit.

    Args:
        events: EVENTS.
    """
    pairs = events.group_by(["patient", "code"]).aggregate([])
    held: dict[str, set[str]] = defaultdict(set)
    for patient, code in zip(pairs["patient"].to_pylist(), pairs["code"].to_pylist(), strict=True):
        held[patient].add(code)
    return held


def recorded_in_patient(
    rows: Rows, held: Mapping[str, set[str]], cohort: Cohort | None
) -> list[str]:
    """No distractor is recorded in any visit of the patient.

    Args:
        rows: items with their templates.
        held: codes of every patient.
        cohort: with it, what is related to a distractor counts too (concept, ancestor,
            descendant, CCSR group, other ICD version); without it, its own code only. For the
            answer's next of kin (strategy sibling) relatives of the answer itself don't count.
    """

    def broken(row: Mapping[str, Any]) -> bool:
        mine = held.get((row["template"] or {}).get("patient", ""), set())
        wrong = [c for at, c in enumerate(row["option_codes"]) if at != row["answer_index"]]
        if cohort is None:
            return not mine.isdisjoint(wrong)
        if row["strategy"] == "sibling":
            mine = mine - cohort.line(row["option_codes"][row["answer_index"]])
        return any(not cohort.related(code).isdisjoint(mine) for code in wrong)

    return _ids(_mcq(rows), broken)


def residual_options(rows: Rows, cohort: Cohort) -> list[str]:
    """No residual code, by its full name, as an option of diagnosis or prognosis."""
    return _ids(
        [row for row in _mcq(rows) if not tasks()[row["task"]].asks_for_drugs],
        lambda row: any(
            code in cohort.codes and not is_answerable(cohort.codes[code])
            for code in row["option_codes"]
        ),
    )


def unlevelled(
    options: npt.NDArray[np.int64], right: npt.NDArray[np.int64]
) -> tuple[list[int], int]:
    """Things that are the answer far more or less often than one time in k.

    Args:
        options: numbers of things, a row a question of k options.
        right: the place of the answer in each row.

    Returns:
        The numbers of such things, and how many were looked at.
    """
    n, k = options.shape
    keys, which = np.unique(options, return_inverse=True)
    which = which.reshape(n, k)
    seen = np.bincount(which.ravel(), minlength=len(keys))
    asked = np.bincount(which[np.arange(n), right], minlength=len(keys))
    off = np.abs(k * asked - seen) > slack_of(seen, k)
    return keys[off].tolist(), len(keys)


class Joined:
    """Items as rows, each with its template, a batch at a time.

    Args:
        items: ITEMS.
        templates: TEMPLATES.
    """

    def __init__(self, items: pa.Table, templates: pa.Table) -> None:
        self._items, self._templates = items, templates.select(list(OF_TEMPLATE)).combine_chunks()
        ids = self._templates["id"].combine_chunks()
        self._at = pc.fill_null(pc.index_in(items["template_id"], value_set=ids), -1)
        self.starts = range(0, items.num_rows, BATCH)

    def rows(self, start: int) -> Rows:
        """The batch from there on; the template under "template", ``None`` where there is none."""
        items, at = self._items.slice(start, BATCH), self._at.slice(start, BATCH)
        wanted = [one for one in pc.unique(at).to_pylist() if one >= 0]
        found = self._templates.take(pa.array(wanted, pa.int64())).to_pylist()
        held: dict[int, dict[str, Any] | None] = dict(zip(wanted, found, strict=True))
        return [
            {**row, "template": held.get(place)}
            for row, place in zip(items.to_pylist(), at.to_pylist(), strict=True)
        ]


def _system(code: str) -> str:
    system = code.partition(":")[0]
    return system if system not in CODE_SYSTEMS else system_of(code)
