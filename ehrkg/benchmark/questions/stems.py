"""Puts a template into words.

The words are templates in ``phrasings.yaml``; here is only how a person, a list and a length of
time are said.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

import jinja2

from ehrkg.benchmark.facts.code_classes import REMEMBERED
from ehrkg.benchmark.facts.codes import CodeFacts
from ehrkg.benchmark.facts.cohort import Cohort
from ehrkg.benchmark.facts.names import phrase
from ehrkg.benchmark.rules import rule_table
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.hashing import hash64

FORMATS = ("mcq", "oeq", "yesno", "multi")

OLDEST = 90
"""From this age on the age is not told more closely, as MIMIC does not."""

_KINDS = {"diagnosis": "conditions", "procedure": "procedures", "drug": "drugs"}


Says = Callable[[CodeFacts, str], str]
"""What names an event by its code and route."""

_phrase = lru_cache(maxsize=REMEMBERED)(phrase)
"""``phrase``, remembered: a million stems say the same few thousand names."""


def phrasings() -> Mapping[str, Any]:
    """The rules of phrasings.yaml."""
    return rule_table("phrasings")


def n_phrasings(task: str) -> int:
    """How many phrasings a task has; they are numbered from 0.

    >>> n_phrasings("treatment") >= 3
    True
    """
    return len(phrasings()[task])


def choose_phrasing(template: Mapping[str, Any], seed: int) -> int:
    """The phrasing of a template, by hash of the seed and its id."""
    return hash64(seed, "phrasing", template["id"]) % n_phrasings(template["task"])


def render_stem(
    template: Mapping[str, Any],
    cohort: Cohort,
    *,
    format: str = "mcq",  # noqa: A002 - the name of the column
    phrasing: int = 0,
    history: int = 0,
    asked: str = "",
    says: Says = _phrase,
) -> str:
    """The stem of a question.

    Args:
        template: one row of the TEMPLATES table, as a dict.
        cohort: names the codes and knows the earlier visits.
        format: "mcq", "oeq", "yesno" or "multi".
        phrasing: which of the task's phrasings, from 0; larger numbers start over.
        history: how many earlier admissions to tell, the last ones; 0 for none.
        asked: what a yes/no question asks about, as it stands in a sentence.
        says: names an event; as it stands in a sentence by default.

    Returns:
        One paragraph without line breaks.

    Raises:
        UsageError: an unknown format.
    """
    if format not in FORMATS:
        raise UsageError(f"no such format: {format!r}", todo=f"use {', '.join(FORMATS)}")
    words = words_of(template, cohort, history=history, asked=asked, says=says)
    chosen = _compiled(template["task"], phrasing % n_phrasings(template["task"]), format)
    words["lead"] = chosen.lead if words["n_conditions"] != 1 else chosen.lead_one
    # A context of its own for each stem costs more than filling it in; these words are all of it.
    context = chosen.words.new_context(words, shared=True)
    return " ".join("".join(chosen.words.root_render_func(context)).split())


class _Phrasing(NamedTuple):
    """One phrasing for one format, ready to be filled."""

    lead: str
    lead_one: str
    words: jinja2.Template


@cache
def _compiled(task: str, phrasing: int, form: str) -> _Phrasing:
    chosen = phrasings()[task][phrasing]
    parts = (chosen["opening"], phrasings()["history"], phrasings()["events"], chosen[form])
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False)  # noqa: S701
    return _Phrasing(
        chosen["lead"],
        chosen.get("lead_one", chosen["lead"]),
        environment.from_string(" ".join(parts)),
    )


def words_of(
    template: Mapping[str, Any],
    cohort: Cohort,
    *,
    history: int = 0,
    asked: str = "",
    says: Says = _phrase,
) -> dict[str, Any]:
    """What a phrasing is filled with: the names of the events, who it is about, and the rest.

    Args:
        template: as for ``render_stem``, as are all others.
        cohort: names the codes.
        history: how many earlier admissions to tell.
        asked: what a yes/no question asks about.
        says: names an event.
    """
    named: dict[str, list[str]] = {group: [] for group in _KINDS.values()}
    for code, route in zip(template["context"], template["context_routes"], strict=True):
        facts = cohort.codes[code]
        named[_KINDS[facts.kind]].append(says(facts, route))
    said: dict[str, Any] = {group: listed(names) for group, names in named.items()}
    said |= {f"n_{group}": len(names) for group, names in named.items()}
    who = person(template["age"], template["sex"])
    anchor = template["context"][template["anchor_position"]]
    return said | {
        "person": who,
        "Person": who[:1].upper() + who[1:],
        "anchor": says(cohort.codes[anchor], ""),
        "sole": bool(template["sole_indication"]),
        "these": "this condition" if said["n_conditions"] == 1 else "these conditions",
        "gap": days(template["gap_days"]),
        "history": _history(template, cohort, history, says) if history else "",
        "asked": asked,
    }


def listed(names: Sequence[str]) -> str:
    """Names as a list in words; semicolons where a name holds a comma itself.

    >>> listed(["gout"]), listed(["gout", "anemia"]), listed(["gout", "anemia", "obesity"])
    ('gout', 'gout and anemia', 'gout, anemia and obesity')
    >>> listed(["chronic kidney disease, stage 3", "gout"])
    'chronic kidney disease, stage 3; and gout'
    """
    if not names:
        return ""
    if len(names) == 1:
        return names[0]
    heavy = any("," in name or " and " in name for name in names)
    comma, joint = ("; ", "; and ") if heavy else (", ", " and ")
    return comma.join(names[:-1]) + joint + names[-1]


@cache
def person(age: int | None, sex: str) -> str:
    """A person by age at the visit and sex.

    >>> person(81, "F"), person(91, "M"), person(9, "M"), person(40, ""), person(None, "F")
    ('an 81-year-old woman', 'a man aged 90 or older', 'a 9-year-old boy', 'a 40-year-old patient',
     'a woman of unknown age')
    """
    grown = age is None or age >= 18
    noun = {"F": "woman" if grown else "girl", "M": "man" if grown else "boy"}.get(sex, "patient")
    if age is None:
        return f"a {noun} of unknown age"
    if age >= OLDEST:
        return f"a {noun} aged {OLDEST} or older"
    if age == 0:
        return f"a {noun} under one year of age"
    article = "an" if age in (8, 11, 18) or 80 <= age < 90 else "a"
    return f"{article} {age}-year-old {noun}"


def days(gap: int | None) -> str:
    """A gap in words.

    >>> days(1), days(63), days(None)
    ('1 day', '63 days', '')
    """
    return "" if gap is None else f"{gap} day" if gap == 1 else f"{gap} days"


def _history(template: Mapping[str, Any], cohort: Cohort, visits: int, says: Says) -> str:
    """The last earlier visits, oldest first, each by those of its codes that may be told.

    Each with the days from its discharge to the admission that followed, where they are known.
    """
    may_tell = set(template["history"] or ())
    here = cohort.visits[template["visit"]]
    every = cohort.patients[here.patient].visits
    before = [visit for visit in every if visit.ordinal < here.ordinal][-visits:]
    told = []
    for visit, following in zip(before, [*before[1:], here], strict=False):
        names = [says(cohort.codes[code], "") for code in visit.diagnoses if code in may_tell]
        if names:
            gap = following.gap_days
            after = "" if gap is None else f", readmitted {days(gap)} later"
            told.append(listed(names) + after)
    return "; ".join(f"({number}) {text}" for number, text in enumerate(told, start=1))
