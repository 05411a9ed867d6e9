"""A user's own mapping, which overrides what the methods find."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from ehrkg.foundation.errors import InputError
from ehrkg.foundation.ledger import Ledger
from ehrkg.mapping.index import Index, is_code
from ehrkg.mapping.links import Link
from ehrkg.ontology.curies import normalise
from ehrkg.ontology.formats.tsv import header, read_tsv

SSSOM = ("subject_id", "predicate_id", "object_id")
PAIRS = ("code", "concept")
NO_TERM = "sssom:NoTermFound"
LEVELS = {
    "skos:exactMatch": 0,
    "owl:equivalentClass": 0,
    "skos:closeMatch": 1,
    "skos:broadMatch": 1,
    "skos:narrowMatch": 2,
}
"""How far a predicate puts a concept, said of the code: a narrower concept is not near."""
_INVERSE = {"skos:broadMatch": "skos:narrowMatch", "skos:narrowMatch": "skos:broadMatch"}
METHOD = "override"


@dataclass(frozen=True, order=True)
class Override:
    """A row of a user's file.

    Attributes:
        concept: a CURIE; "" says that the code has none.
        predicate: an SKOS predicate, from the code to the concept.
        confidence: 0 to 1.
        negated: the code is not that concept, whatever a method finds.
        line: where it stands in the file.
    """

    concept: str
    predicate: str
    confidence: float
    negated: bool
    line: int


@dataclass(frozen=True)
class Overrides:
    """What a user says of codes; empty where they gave no file.

    Attributes:
        rows: Code id -> what is said of it.
        file: the file's name.

    >>> Overrides().rows
    {}
    """

    rows: Mapping[str, tuple[Override, ...]] = field(default_factory=dict)
    file: str = ""

    def links(self, code: str, index: Index) -> list[Link] | None:
        """The links the user set; [] where they said there is none; None where they said nothing.

        A concept that the knowledge lacks is no link (``account`` counts it).
        """
        stated = [row for row in self.rows.get(code, ()) if not row.negated]
        if not stated:
            return None
        return [
            Link(
                code=code,
                levels=LEVELS[row.predicate],
                concept=row.concept,
                method=METHOD,
                predicate=row.predicate,
                confidence=row.confidence,
                source=self.file,
                explanation=f"set by {self.file}, line {row.line}",
            )
            for row in stated
            if row.concept in index.kinds
        ]

    def refuses(self, code: str, concept: str) -> bool:
        """Whether the user said that the code is not the concept."""
        return any(row.negated and row.concept == concept for row in self.rows.get(code, ()))

    def account(self, codes: frozenset[str], concepts: frozenset[str], ledger: Ledger) -> None:
        """Say which rows were of use; the others go to quarantine with their reason.

        Args:
            codes: of the hospital.
            concepts: that the knowledge holds.
            ledger: takes the account.
        """
        unused: list[dict[str, object]] = []
        total = 0
        for code, rows in sorted(self.rows.items()):
            for row in rows:
                total += 1
                reason = ""
                if code not in codes:
                    reason = "code_not_in_the_tables"
                elif row.concept and row.concept not in concepts:
                    reason = "concept_not_in_the_knowledge"
                if reason:
                    unused.append(
                        {"code": code, "concept": row.concept, "line": row.line, "reason": reason}
                    )
        counts: dict[str, int] = {}
        for item in unused:
            counts[str(item["reason"])] = counts.get(str(item["reason"]), 0) + 1
        ledger.record(
            "map", "rows of --mapping", rows_in=total, rows_out=total - len(unused), dropped=counts
        )
        if unused:
            ledger.quarantine["map-overrides"] = pa.Table.from_pylist(unused)


def read_overrides(path: str | Path) -> Overrides:
    """Read a user's mapping.

    Args:
        path: an SSSOM file (concept or code may be the subject; ``predicate_modifier`` Not forbids
            a link; ``sssom:NoTermFound`` says that a code has no concept), or a TSV with the
            columns ``code`` and ``concept`` (and ``predicate``, ``confidence`` if wanted; an exact
            match of confidence 1 by default; an empty concept says that there is none). Codes are
            written with their system: "ICD10CM:I50.23", "DRUGNAME:my own mixture".

    Raises:
        InputError: the file is not there, has other columns, or a cell is no CURIE, no known
            predicate or no confidence.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "ours.tsv"
    >>> rows = ("code", "concept"), ("ICD10CM:I50.9", "MONDO:0005252"), ("DRUGNAME:saline", "")
    >>> _ = file.write_text("".join(f"{code}{chr(9)}{concept}{chr(10)}" for code, concept in rows))
    >>> sorted(read_overrides(file).rows)
    ['DRUGNAME:saline', 'ICD10CM:I50.9']
    """
    place = Path(path)
    if not place.is_file():
        raise InputError("there is no such file", file=place, todo="check the path that you gave")
    names, comments, _ = header(place)
    sssom = set(SSSOM) <= set(names)
    table = read_tsv(place, SSSOM if sssom else PAIRS)
    found: dict[str, list[Override]] = {}
    for at, cells in enumerate(table.to_pylist()):
        line = comments + 2 + at
        code, row = _sssom_row(cells, place, line) if sssom else _pair_row(cells, place, line)
        found.setdefault(code, []).append(row)
    return Overrides({code: tuple(rows) for code, rows in found.items()}, place.name)


def _pair_row(cells: Mapping[str, str], file: Path, line: int) -> tuple[str, Override]:
    code = _curie(cells["code"], file, line, "code")
    concept = cells["concept"].strip()
    if concept and concept != NO_TERM:
        concept = _curie(concept, file, line, "concept")
    return code, _override(
        concept, cells.get("predicate", ""), cells.get("confidence", ""), "", file, line
    )


def _sssom_row(cells: Mapping[str, str], file: Path, line: int) -> tuple[str, Override]:
    first = _curie(cells["subject_id"], file, line, "subject_id")
    other = cells["object_id"].strip()
    second = other if other == NO_TERM else _curie(other, file, line, "object_id")
    stated = cells["predicate_id"]
    if _is_hospital_code(second) and not _is_hospital_code(first):
        first, second = second, first
        stated = _INVERSE.get(stated, stated)
    return first, _override(
        second,
        stated,
        cells.get("confidence", ""),
        cells.get("predicate_modifier", ""),
        file,
        line,
    )


def _is_hospital_code(curie: str) -> bool:
    from ehrkg.ehr.codes import CODE_SYSTEMS

    return is_code(curie) or curie.partition(":")[0] in CODE_SYSTEMS


def _curie(cell: str, file: Path, line: int, name: str) -> str:
    prefix, colon, local = cell.strip().partition(":")
    if not (prefix and colon and local.strip()):
        raise InputError(
            "not a code or concept with its system",
            file=file,
            line=line,
            column=name,
            found=repr(cell),
            expected="SYSTEM:CODE, as in ICD10CM:I50.23 or MONDO:0005252",
            todo="write the system before the code",
        )
    return normalise(cell)


def _override(
    concept: str, predicate: str, confidence: str, modifier: str, file: Path, line: int
) -> Override:
    predicate = predicate.strip() or "skos:exactMatch"
    if predicate not in LEVELS:
        raise InputError(
            "not a predicate of a match",
            file=file,
            line=line,
            column="predicate",
            found=predicate,
            expected=", ".join(LEVELS),
            todo="use one of them, or leave the cell empty for an exact match",
        )
    try:
        value = float(confidence) if confidence.strip() else 1.0
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise InputError(
            "not a confidence",
            file=file,
            line=line,
            column="confidence",
            found=confidence,
            expected="a number from 0 to 1",
            todo="mend the cell, or leave it empty",
        )
    none = concept in ("", NO_TERM)
    return Override(
        "" if none else concept, predicate, value, modifier.strip().lower() == "not", line
    )
