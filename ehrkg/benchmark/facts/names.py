"""Names that read well: of codes in stems, and of the options of one question together.

The rules are rows of ``names.yaml``; the code system's own name stays in ``CodeFacts.name``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from operator import and_
from types import MappingProxyType

from ehrkg.benchmark.facts.codes import CodeFacts
from ehrkg.benchmark.facts.residual import is_residual
from ehrkg.benchmark.rules import rule_table
from ehrkg.foundation.errors import UsageError

Rewrites = tuple[tuple[re.Pattern[str], str], ...]

STEM_LENGTH = 6
"""Letters of a word that are compared: "diabetes" and "diabetic" are one word, "hypertension" and
"hyperkalemia" two."""


LONGEST_ACRONYM = 6
"""A name in capitals that is longer than this is no acronym."""

TITLE_CASE = 0.8
"""Share of telling words with a capital from which a name counts as written in title case."""


@dataclass(frozen=True)
class NameRules:
    """The rules of names.yaml, ready to use."""

    longest: int
    markup: Rewrites
    instead: Mapping[str, str]
    spelling: Rewrites
    always: Rewrites
    short: Rewrites
    procedures: Rewrites
    abbreviations: Mapping[str, str]
    axes: Mapping[str, Rewrites]
    proper: frozenset[str]
    small_words: frozenset[str]
    qualifying: frozenset[str]
    general_words: tuple[str, ...]
    acronyms: frozenset[str]
    drug_noise: Rewrites
    routes: Mapping[str, Mapping[str, str]]


@cache
def rules() -> NameRules:
    """The rules of names.yaml, read once."""
    raw = rule_table("names")
    return NameRules(
        longest=raw["longest"],
        markup=_rewrites(raw["markup"]),
        instead=MappingProxyType(raw["instead"]),
        spelling=_rewrites(raw["spelling"]),
        always=_rewrites(raw["always"]),
        short=_rewrites(raw["short"]),
        procedures=_rewrites(raw["procedures"]),
        abbreviations=MappingProxyType(raw["abbreviations"]),
        axes=MappingProxyType({axis: _rewrites(rows) for axis, rows in raw["axes"].items()}),
        proper=frozenset(raw["proper"]),
        small_words=frozenset(raw["small_words"]),
        qualifying=frozenset(raw["qualifying"]),
        general_words=tuple(str(word) for word in raw["general_words"]),
        acronyms=frozenset(raw["acronyms"]),
        drug_noise=_rewrites(raw["drug_noise"]),
        routes=MappingProxyType(raw["routes"]),
    )


def _rewrites(rows: Sequence[Sequence[str]]) -> Rewrites:
    return tuple((re.compile(pattern, re.IGNORECASE), into) for pattern, into in rows)


def _apply(rewrites: Rewrites, text: str) -> str:
    for pattern, into in rewrites:
        text = pattern.sub(into, text)
    return text


def cleaned(name: str) -> str:
    r"""A name without markup, control characters, line breaks and double white space.

    >>> cleaned("Heart <b>failure</b>,\n  unspecified")
    'Heart failure, unspecified'
    """
    text = " ".join(_apply(rules().markup, name).split())
    return re.sub(r"\s+([,;])", r"\1", text)


@cache
def short_name(name: str, axes: frozenset[str] = frozenset()) -> str:
    """The name of a diagnosis or procedure as people say it.

    Args:
        name: the code system's own name.
        axes: which of ``laterality`` and ``stage`` to keep.

    >>> short_name("Heart failure, unspecified")
    'Heart failure'
    >>> short_name("Chronic kidney disease, stage 3 (moderate)")
    'Chronic kidney disease'
    >>> short_name("Chronic kidney disease, Stage III (moderate)", frozenset({"stage"}))
    'Chronic kidney disease, stage 3'
    >>> short_name("Cellulitis of left lower limb")
    'Cellulitis of lower limb'
    >>> short_name("Drainage of Peritoneal Cavity, Percutaneous Approach, Diagnostic")
    'Paracentesis'
    """
    rule = rules()
    text = _plain(name)
    text = _apply(rule.short, text)
    for axis, rewrites in rule.axes.items():
        if axis not in axes:
            text = _apply(rewrites, text)
    return _fitted(_sentence_case(_tidy(text)))


@cache
def full_name(name: str) -> str:
    """The name with everything it says kept, but for billing qualifiers; at most 60 characters.

    >>> full_name("Alcoholic cirrhosis of liver without ascites")
    'Alcoholic cirrhosis of liver without ascites'
    """
    return _fitted(_sentence_case(_tidy(_plain(name))))


def _plain(name: str) -> str:
    """Whole-name and always-rules, before anything that depends on the options."""
    rule = rules()
    text = cleaned(name)
    if text.casefold() in rule.instead:
        return rule.instead[text.casefold()]
    words = [rule.abbreviations.get(word.casefold(), word) for word in text.split()]
    text = _apply(rule.procedures, " ".join(words))
    return _apply(rule.always, _apply(rule.spelling, text))


def _tidy(text: str) -> str:
    """White space and punctuation after pieces were taken out."""
    text = " ".join(text.split())
    text = re.sub(r"\s+([,;)])", r"\1", text)
    text = re.sub(r"[,;]\s*(?=[,;])", "", text)
    before = ""
    while text != before:
        before = text
        text = re.sub(r"\s*\b(?:or|and|with|of|due to)$", "", text.strip(" ,;.-"))
    return text or "Unnamed"


def _sentence_case(text: str) -> str:
    """Sentence case; a name that came in title case or capitals is lowered, acronyms aside."""
    words = text.split()
    telling = [word for word in words if word.lower() not in rules().small_words]
    capitals = sum(word[0].isupper() for word in telling)
    shouted = text.isupper() and len(text) > LONGEST_ACRONYM
    if shouted or (len(telling) > 1 and capitals >= TITLE_CASE * len(telling)):
        words = [_lowered(word) for word in words]
    text = " ".join(words)
    return text[:1].upper() + text[1:]


def _lowered(word: str) -> str:
    bare = word.strip(",;()")
    if bare in rules().acronyms or bare in rules().proper or bare.endswith("'s"):
        return word
    return word if re.search(r"\d", word) else word.lower()


def _fitted(text: str) -> str:
    """At most the longest length: whole clauses are dropped from the end, then words."""
    longest = rules().longest
    while len(text) > longest:
        cut = max(text.rfind(joint) for joint in (", ", "; ", " with ", " due to ", " affecting "))
        if cut < longest // 3:
            break
        text = text[:cut].rstrip(" ,;")
    if len(text) > longest:
        text = text[: longest - 1].rsplit(" ", 1)[0]
        text = re.sub(r"(?:\s(?:of|and|or|with|to|the|in|by|for|from|due|into))+$", "", text)
        text = text.rstrip(" ,;") + "…"
    return text


def in_sentence(name: str) -> str:
    """A name as it stands inside a sentence: its first letter small unless it is a proper one.

    >>> in_sentence("Heart failure"), in_sentence("HIV disease"), in_sentence("Barrett's esophagus")
    ('heart failure', 'HIV disease', "Barrett's esophagus")
    """
    if name.startswith("Non-"):
        return "n" + name[1:]
    first = name.split(" ", 1)[0].rstrip(",;")
    keeps = (
        first.endswith("'s")
        or first in rules().proper
        or any(letter.isupper() for letter in first[1:])
        or len(first) == 1
    )
    return name if keeps else name[:1].lower() + name[1:]


def drug_name(facts: CodeFacts) -> str:
    """Ingredients in lower case: "ipratropium and salbutamol"; the string itself without any."""
    parts = [cleaned(part).lower() for part in facts.ingredients]
    parts = parts or [_bare_drug(cleaned(facts.name).lower())]
    text = parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]
    if len(text) > rules().longest and len(parts) > 2:
        text = f"{parts[0]}, {parts[1]} and others"
    return _fitted(text)


def _bare_drug(text: str) -> str:
    """A drug string without doses, forms and salts; itself if nothing would be left."""
    return " ".join(_apply(rules().drug_noise, text).split()).strip(" ,-/") or text


def drug_option(facts: CodeFacts, route: str) -> str:
    """A drug as an option: "vancomycin, by mouth"; never over 60 characters."""
    said = rules().routes.get(route, {}).get("option", "")
    text = f"{drug_name(facts)}, {said}" if said else drug_name(facts)
    if len(text) > rules().longest:
        room = rules().longest - len(said) - 3
        text = drug_name(facts)[:room].rsplit(" ", 1)[0].rstrip(" ,") + f"…, {said}"
    return text


def drug_phrase(facts: CodeFacts, route: str) -> str:
    """A drug inside a sentence: "vancomycin by mouth", "subcutaneous heparin"."""
    form = rules().routes.get(route, {}).get("phrase", "{drug}")
    return form.format(drug=drug_name(facts))


def _own_name(facts: CodeFacts) -> str:
    """The concept's name where it means the same as the code, else the code system's.

    What holds the rest ("other disorders of ...") means the same as no concept. A concept of two
    things ("seborrheic and actinic keratosis") lends its name to no code for one of them.
    """
    own = facts.name or facts.id.split(":", 1)[1]
    if not facts.exact_name or is_residual(facts):
        return own
    said = set(facts.exact_name.casefold().split())
    if "and" in said and "and" not in own.casefold().split():
        return own
    meant = set(short_name(own).casefold().split()) & rules().qualifying
    return facts.exact_name if meant <= said else own


def says_something(facts: CodeFacts) -> bool:
    """Whether a code is no residue, or a person has written down what such a code is called."""
    return not is_residual(facts) or cleaned(facts.name).casefold() in rules().instead


def display(facts: CodeFacts, route: str = "") -> str:
    """One code by itself, as an option would show it; stage kept, laterality dropped."""
    if facts.kind == "drug":
        return drug_option(facts, route)
    return short_name(_own_name(facts), frozenset({"stage"}))


def phrase(facts: CodeFacts, route: str = "") -> str:
    """One code as it stands in the sentence of a stem."""
    if facts.kind == "drug":
        return drug_phrase(facts, route)
    return in_sentence(display(facts))


def name_axes(facts: CodeFacts) -> int:
    """Which axes (laterality, stage) the name of a code has, a bit each in the order of the rules.

    A drug has none.
    """
    if facts.kind == "drug":
        return 0
    own = _own_name(facts)
    return sum(1 << at for at, axis in enumerate(rules().axes) if _has(axis, own))


def name_forms(facts: CodeFacts, route: str) -> list[str]:
    """All names under which a code may stand as an option.

    Returns:
        A name for each set of axes that are kept (by the number of ``name_axes``), then the full
        name, then the code system's own full name; all the same for a drug.
    """
    axes = tuple(rules().axes)
    sets = [
        frozenset(axis for at, axis in enumerate(axes) if number >> at & 1)
        for number in range(1 << len(axes))
    ]
    if facts.kind == "drug":
        return [drug_option(facts, route)] * (len(sets) + 2)
    own = _own_name(facts)
    short = [short_name(own, kept) for kept in sets]
    return [*short, full_name(own), full_name(facts.name or facts.id)]


def option_names(options: Sequence[tuple[CodeFacts, str]]) -> list[str]:
    """Names for the options of one question, made by one rule for all of them.

    Laterality and stage stand only where every option has them. Where two different codes would
    get one name, all are named more fully; where that does not help, it is refused.

    Args:
        options: facts and route ("" for what is no drug) of each option.

    Returns:
        One name an option, all different, each at most 60 characters.

    Raises:
        UsageError: two options cannot be told apart by name.
    """
    if not options:
        return []
    forms = [name_forms(facts, route) for facts, route in options]
    shared = reduce(and_, (name_axes(facts) for facts, _ in options))
    for form in (shared, len(forms[0]) - 2, len(forms[0]) - 1):
        names = [held[form] for held in forms]
        if len({name.casefold() for name in names}) == len(names):
            return names
    raise UsageError(
        "two options have one name: " + "; ".join(names), todo="choose another distractor"
    )


@cache
def _has(axis: str, name: str) -> bool:
    plain = _plain(name)
    return _apply(rules().axes[axis], plain) != plain


@cache
def words(name: str) -> frozenset[str]:
    """The words of a name that say something, cut to their stems; for comparing names.

    >>> sorted(words("Type 2 diabetes mellitus with diabetic neuropathy"))
    ['2', 'diabet', 'mellit', 'neurop']
    """
    found = re.findall(r"[a-z0-9]+", cleaned(name).casefold())
    return frozenset(word[:STEM_LENGTH] for word in found if word not in rules().small_words)


@cache
def general_words() -> frozenset[str]:
    """The words, cut like those of ``words``, that two names may share and still say two things."""
    return frozenset(word[:STEM_LENGTH] for word in rules().general_words)
