"""A user's own pairs (codes, CURIEs or names) as candidates and links that ``verify`` takes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.ehr.codes import CODE_SYSTEMS, code_id, normalise
from ehrkg.ehr.schema import CODES
from ehrkg.foundation.errors import InputError, UsageError
from ehrkg.foundation.hashing import short_id
from ehrkg.mapping.names import spelling
from ehrkg.mapping.schema import LINKS
from ehrkg.ontology.predicates import PREDICATES, from_biolink
from ehrkg.ontology.schema import Knowledge
from ehrkg.propose.schema import CANDIDATES
from ehrkg.verify.words import WORD

PROPOSER = "user"
"""Stands among a relation's proposers where a user's own table asked for it."""

Link = tuple[str, str, str, str, int, float, str, str]

_SCOPES = {"exact": 0.95, "brand": 0.95, "inclusion_term": 0.9, "abbreviation": 0.8, "related": 0.7}
"""Confidence of a name found as a synonym, by its scope; a concept's own name counts 1."""

_MATCHES = {
    # predicate: (levels, factor). A concept that is narrower than what was asked for is no link.
    "skos:exactMatch": (0, 1.0),
    "skos:closeMatch": (0, 0.8),
    "skos:narrowMatch": (1, 1.0),
}


class Pairs(NamedTuple):
    """What ``resolve_pairs`` gives.

    Attributes:
        candidates: CANDIDATES; equal rows of the table are one candidate.
        links: LINKS of what was found; ends without any come out as `unlinked`.
    """

    candidates: pa.Table
    links: pa.Table


def resolve_pairs(table: pa.Table, knowledge: Knowledge) -> Pairs:
    """Read a user's pairs and find what their ends stand for.

    Args:
        table: columns head, predicate, tail, and route where wanted; others are not read. An end is
            a Code id ("ICD10CM:I50.23"), a CURIE that the knowledge has or maps ("DOID:6000"), or
            a name ("heart failure"), matched with names and synonyms, and read as a drug string
            where it is none. A predicate is a name of predicates.yaml or its Biolink CURIE.
        knowledge: what to look in; code trees are added for the codes in the table.

    Returns:
        Candidates and links. An unknown end is no error: its verdict will be `unlinked`.

    Raises:
        InputError: a column is missing.
        UsageError: a predicate is unknown; the message lists the known ones.
    """
    rows = set(_claims(table))
    ends = {end for head, _, _, tail in rows for end in (head, tail)}
    return Pairs(_candidates(rows), _links(sorted(ends), knowledge))


def relation_ids(table: pa.Table) -> list[str]:
    """The relation's id of each row of a user's table: equal claims have one id.

    Args:
        table: as ``resolve_pairs`` takes it.

    Raises:
        InputError: a column is missing.
        UsageError: a predicate is unknown.
    """
    return [short_id("r", *claim) for claim in _claims(table)]


def _claims(table: pa.Table) -> list[tuple[str, str, str, str]]:
    """Head, route, predicate, tail of each row, in one form."""
    columns = _columns(table)
    predicates = _predicates(columns["predicate"])
    names = {text: _canonical(text) for text in {*columns["head"], *columns["tail"]}}
    return [
        (names[head], route, predicate, names[tail])
        for head, route, predicate, tail in zip(
            columns["head"], columns["route"], predicates, columns["tail"], strict=True
        )
    ]


def _columns(table: pa.Table) -> dict[str, list[str]]:
    found = columns_of(table.column_names)
    columns: dict[str, list[str]] = {}
    for name in ("head", "predicate", "tail", "route"):
        if name in found:
            texts = pc.fill_null(table.column(found[name]).cast(pa.string()), "")
            columns[name] = [text.strip() for text in texts.to_pylist()]
        else:
            columns[name] = [""] * len(table)
    return columns


def columns_of(names: Iterable[str], *, file: Path | None = None) -> dict[str, str]:
    """The columns of a user's table by what ehrkg calls them.

    Args:
        names: as the table has them; case and blanks don't matter.
        file: where they stand, for the message.

    Raises:
        InputError: head, predicate or tail is missing.

    >>> columns_of(["Head ", "PREDICATE", "tail", "note"])["head"]
    'Head '
    """
    names = [str(name) for name in names]
    found = {name.strip().lower(): name for name in names}
    for name in ("head", "predicate", "tail"):
        if name not in found:
            raise InputError(
                "the column is missing",
                file=file,
                column=name,
                found=", ".join(names),
                expected="head, predicate, tail (and route, where it matters), separated by tabs",
                todo="rename or add the column",
            )
    return found


def known_predicates() -> list[str]:
    """The predicates that claims may have."""
    return [name for name, row in PREDICATES.items() if row.group == "clinical"]


def known_predicate(text: str) -> str | None:
    """The predicate that a word stands for; ``None`` where it stands for none.

    >>> known_predicate("biolink:treats"), known_predicate("cures")
    ('TREATS', None)
    """
    name = from_biolink(text.strip())
    return name if name in known_predicates() else None


def _predicates(texts: list[str]) -> list[str]:
    known = {text: known_predicate(text) for text in set(texts)}
    found = [known[text] for text in texts]
    if None in known.values():
        line = found.index(None)
        raise UsageError(
            f"row {line + 1}: unknown predicate {texts[line]!r}",
            todo="use one of " + ", ".join(known_predicates()),
        )
    return [str(name) for name in found]


def _canonical(text: str) -> str:
    """A code in its system's canonical form; anything else as it is."""
    system, colon, code = text.partition(":")
    if colon and system.upper() in CODE_SYSTEMS:
        return code_id(system.upper(), normalise(system.upper(), code))
    return text


def _candidates(rows: Iterable[tuple[str, str, str, str]]) -> pa.Table:
    values = sorted((short_id("r", *row), *row) for row in rows)
    columns: dict[str, list[object]] = {
        name: [value[place] for value in values]
        for place, name in enumerate(("id", "head", "route", "predicate", "tail"))
    }
    size = len(values)
    columns |= {"tasks": [[]] * size, "proposers": [[PROPOSER]] * size}
    columns |= {
        field.name: [None] * size if pa.types.is_floating(field.type) else [0] * size
        for field in CANDIDATES
        if field.name not in columns
    }
    return pa.table(columns, schema=CANDIDATES)


def _links(ends: list[str], knowledge: Knowledge) -> pa.Table:
    codes = [end for end in ends if end.partition(":")[0] in CODE_SYSTEMS]
    rest = [end for end in ends if end.partition(":")[0] not in CODE_SYSTEMS and end]
    found = _curies(rest, knowledge)
    linked = {row[0] for row in found}
    found += _named([end for end in rest if end not in linked], knowledge)
    linked = {row[0] for row in found}
    drugs = {
        code_id("DRUGNAME", normalise("DRUGNAME", end)): end for end in rest if end not in linked
    }
    mapped = _mapped([*codes, *drugs], knowledge)
    names = [drugs.get(code, code) for code in mapped.column("code").to_pylist()]
    mapped = mapped.set_column(0, LINKS.field("code"), pa.array(names, pa.string()))
    own = [dict(zip(LINKS.names, row, strict=True)) for row in found]
    table = pa.concat_tables([mapped, pa.Table.from_pylist(own, schema=LINKS)])
    return table.sort_by([(name, "ascending") for name in ("code", "levels", "concept", "method")])


def _curies(ends: Sequence[str], knowledge: Knowledge) -> list[Link]:
    """Ends that are concepts, or that a concept is mapped to."""
    wanted = pa.array(ends, pa.string())
    concepts = set(
        knowledge.concepts.column("id")
        .filter(pc.is_in(knowledge.concepts.column("id"), value_set=wanted))
        .to_pylist()
    )
    found: list[Link] = [
        (end, end, "skos:exactMatch", "xref", 0, 1.0, "", "it is the concept itself")
        for end in sorted(concepts)
    ]
    mappings = knowledge.mappings
    mappings = mappings.filter(pc.is_in(mappings.column("object"), value_set=wanted))
    for row in mappings.to_pylist():
        if row["predicate"] in _MATCHES and row["object"] not in concepts:
            levels, factor = _MATCHES[row["predicate"]]
            found.append(
                (
                    row["object"],
                    row["subject"],
                    "skos:broadMatch" if levels else row["predicate"],
                    "sssom",
                    levels,
                    round((row["confidence"] or 0.0) * factor, 4),
                    row["source"],
                    f"{row['subject']} {row['predicate']} {row['object']}",
                )
            )
    return sorted(set(found))


def _named(ends: Sequence[str], knowledge: Knowledge) -> list[Link]:
    """Ends that are names or synonyms; of several concepts the surest are kept."""
    keys: dict[str, list[str]] = {}
    for end in ends:
        keys.setdefault(_key(end), []).append(end)
    keys.pop("", None)
    hits: dict[str, list[tuple[float, str, str, str]]] = {}
    for concept, text, confidence, method in _vocabulary(knowledge):
        key = _key(text)
        if key in keys:
            hits.setdefault(key, []).append((confidence, concept, text, method))
    found: list[Link] = []
    for key, rows in hits.items():
        best = max(rows)[0]
        concepts = {
            concept: (text, method) for sure, concept, text, method in sorted(rows) if sure == best
        }
        confidence = round(best * (1.0 if len(concepts) == 1 else 0.8), 4)
        for end in keys[key]:
            found += [
                (
                    end,
                    concept,
                    "skos:exactMatch",
                    method,
                    0,
                    confidence,
                    "",
                    f"{end!r} is {'a name' if method == 'label' else 'a synonym'} of it ({text})",
                )
                for concept, (text, method) in concepts.items()
            ]
    return sorted(found)


def _key(text: str) -> str:
    """A name as it is compared: no case, no plural, American spelling."""
    return " ".join(spelling(word) for word in WORD.findall(text.casefold()))


def _vocabulary(knowledge: Knowledge) -> Iterable[tuple[str, str, float, str]]:
    """(concept, text, confidence, method) of all names, those of code trees left out."""
    names = (knowledge.concepts.column(name).to_pylist() for name in ("id", "name"))
    for concept, text in zip(*names, strict=True):
        if text and concept.partition(":")[0] not in CODE_SYSTEMS:
            yield concept, text, 1.0, "label"
    table = knowledge.synonyms
    synonyms = (table.column(name).to_pylist() for name in ("concept", "text", "scope"))
    for concept, text, scope in zip(*synonyms, strict=True):
        if text and concept.partition(":")[0] not in CODE_SYSTEMS:
            yield concept, text, _SCOPES.get(scope, 0.7), "synonym"


def _mapped(codes: Sequence[str], knowledge: Knowledge) -> pa.Table:
    """Links of Code ids, as the mapping of a hospital's codes gives them."""
    if not codes:
        return LINKS.empty_table()
    from ehrkg.mapping import map_codes
    from ehrkg.ontology import for_codes, merge

    rows = []
    for code in sorted(set(codes)):
        system, _, value = code.partition(":")
        name = value if system == "DRUGNAME" else ""
        rows.append((code, system, value, name, CODE_SYSTEMS[system].kind))
    columns = zip(*rows, strict=True)
    table = pa.table(dict(zip(CODES.names, map(list, columns), strict=True)), schema=CODES)
    return map_codes(table, merge(knowledge, for_codes(table))).links
