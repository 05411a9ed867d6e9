"""What stands behind one template, as a tree of values that prints for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from html import escape
from pathlib import Path
from typing import Any

from ehrkg.graph.picture import Picture, style, write_page
from ehrkg.ontology.predicates import PREDICATES

_POLARITY = {"supports": "+", "contradicts": "-", "neutral": "o"}
_SHORT = 240
"""Letters of a definition or of an evidence's text that are shown as text; HTML shows all."""


@dataclass(frozen=True)
class SourceRow:
    """The first row of the hospital's tables that holds a code."""

    source: str
    row: int
    raw_code: str
    n: int

    def __str__(self) -> str:
        more = f", the first of {self.n} rows" if self.n > 1 else ""
        return f"{self.source} row {self.row}{more}, written {self.raw_code!r}"


@dataclass(frozen=True)
class Recorded:
    """A code that a template names, and where it was recorded (None: nowhere in the graph)."""

    code: str
    name: str
    route: str
    visit: str
    row: SourceRow | None

    def __str__(self) -> str:
        route = f", {self.route}" if self.route else ""
        return f"{self.name}{route} ({self.code}): {self.row or 'no row in the graph'}"


@dataclass(frozen=True)
class VisitPoint:
    """A visit; its time is the hospital's own, shifted or not."""

    id: str
    ordinal: int | None
    admitted: datetime | None
    kind: str
    age: int | None

    def __str__(self) -> str:
        parts = [
            f"number {self.ordinal} of the patient" if self.ordinal is not None else "",
            f"admitted {self.admitted:%Y-%m-%d}" if self.admitted else "",
            self.kind or "",
            f"age {self.age}" if self.age is not None else "",
        ]
        return ", ".join([f"visit {self.id}", *(part for part in parts if part)])


@dataclass(frozen=True)
class PathEdge:
    """One statement of the knowledge."""

    id: str
    subject: str
    subject_name: str
    predicate: str
    object: str
    object_name: str
    negated: bool
    route: str
    source: str
    origin: str
    licence: str

    def __str__(self) -> str:
        words = PREDICATES[self.predicate].words if self.predicate in PREDICATES else self.predicate
        sign = "it is not so that " if self.negated else ""
        route = f" ({self.route.replace('|', ' or ')})" if self.route else ""
        return (
            f"{sign}{self.subject_name}{route} {words} {self.object_name}"
            f"  [{self.id}: {self.subject} {self.predicate} {self.object}; "
            f"{self.source}, first stated by {self.origin}, {self.licence}]"
        )


@dataclass(frozen=True)
class Cited:
    """A concept that a piece of evidence names."""

    id: str
    name: str
    definition: str


@dataclass(frozen=True)
class EvidencePiece:
    """One piece of evidence, with the statements and the concepts it rests on."""

    id: str
    kind: str
    polarity: str
    text: str
    source: str
    origin: str
    weight: float | None
    edges: tuple[PathEdge, ...]
    cited: tuple[Cited, ...]


@dataclass(frozen=True)
class Link:
    """How a code came to stand for a concept."""

    code: str
    concept: str
    concept_name: str
    predicate: str
    method: str
    levels: int
    confidence: float
    explanation: str

    def __str__(self) -> str:
        up = f", {self.levels} up the tree" if self.levels else ""
        why = f" - {self.explanation}" if self.explanation else ""
        return (
            f"{self.code} -> {self.concept_name} ({self.concept}): {self.predicate} by "
            f"{self.method}{up}, confidence {self.confidence:.2f}{why}"
        )


@dataclass(frozen=True)
class Claim:
    """The relation that a template asserts."""

    id: str
    head: str
    head_name: str
    route: str
    predicate: str
    tail: str
    tail_name: str
    verdict: str
    score: float | None
    reasons: tuple[str, ...]
    depends_on: tuple[str, ...]

    def __str__(self) -> str:
        words = PREDICATES[self.predicate].words if self.predicate in PREDICATES else self.predicate
        route = f" ({self.route})" if self.route else ""
        score = f", score {self.score:.2f}" if self.score is not None else ""
        return f"{self.head_name}{route} {words} {self.tail_name}: {self.verdict}{score}"


@dataclass(frozen=True)
class Explanation:
    """The whole chain of one template, from the visit's rows to the knowledge behind the answer.

    Attributes:
        template: the row of TEMPLATES.
        visit, target: where context and answer stand.
        context, history, answer: the codes, each with its row.
        claim: the relation; None where the template asserts none that the graph holds.
        evidence: supporting first, heaviest first.
        links: of the relation's two codes.
    """

    template: dict[str, Any]
    visit: VisitPoint | None
    target: VisitPoint | None
    context: tuple[Recorded, ...]
    history: tuple[Recorded, ...]
    answer: tuple[Recorded, ...]
    claim: Claim | None
    evidence: tuple[EvidencePiece, ...]
    links: tuple[Link, ...]

    def as_text(self) -> str:
        """The chain as plain text, a line a step."""
        return "\n".join(_one_line(line) for line in self._lines())

    def __str__(self) -> str:
        return self.as_text()

    def _lines(self) -> Iterator[str]:
        template = self.template
        yield f"Template {template['id']}: {template['task']}, patient {template['patient']}"
        yield f"Context at {self.visit or template['visit']}"
        yield from (f"  {n}. {one}" for n, one in enumerate(self.context, start=1))
        if self.history:
            yield "Earlier visits"
            yield from (f"  - {one}" for one in self.history)
        yield f"Answer at {self.target or template['target_visit']}"
        yield from (f"  > {one}" for one in self.answer)
        yield "Relation"
        if self.claim is None:
            yield f"  {template['relation'] or 'none'}: not in the graph"
            return
        yield f"  {self.claim} [{self.claim.id}]"
        yield from (f"    because {reason}" for reason in self.claim.reasons)
        if self.claim.depends_on:
            yield f"    falls without {', '.join(self.claim.depends_on)}"
        yield "Evidence (+ supports, - contradicts, o neither)"
        for piece in self.evidence:
            yield f"  {_POLARITY.get(piece.polarity, '?')} {piece.kind}: {_brief(piece.text)}"
            yield f"      {_about(piece)}"
            yield from (f"      {edge}" for edge in piece.edges)
            yield from (
                f"      {one.name} ({one.id}): {_brief(one.definition)}"
                for one in piece.cited
                if one.definition
            )
        yield "Links from codes to concepts"
        yield from (f"  {link}" for link in self.links)

    def frame(self) -> str:
        """The picture and the chain under it, in a frame of its own within another page."""
        return self._picture().frame(self.as_html())

    def svg(self, within: str) -> str:
        """The picture alone, to stand in another page; its ids begin with ``within``.

        It comes twice, of the classes ``wide`` and ``narrow``: the page shows the one that fits.
        """
        from ehrkg.graph.picture_column import column_svg

        picture = self._picture()
        return picture.svg(within) + column_svg(picture, f"{within}n-")

    def _repr_html_(self) -> str:
        return self.frame()

    def as_svg(self) -> str:
        """The picture alone, as SVG that needs no page around it: for a paper, or a README."""
        return self._picture().alone()

    def write_html(self, path: str | Path) -> Path:
        """Write the picture and the chain under it as one HTML page that loads nothing.

        Returns:
            The path.

        Raises:
            UsageError: the file can't be written.
        """
        return write_page(self._picture().page(self.as_html()), path)

    def _picture(self) -> Picture:
        from ehrkg.graph.picture_explanation import draw

        return draw(self)

    def as_html(self) -> str:
        """The chain as a piece of HTML, without the picture."""
        template = self.template
        parts = [
            "<div>",
            f"<h3>{escape(template['id'])}: {escape(template['task'])}</h3>",
            f"<p><b>Context</b> at {_html(self.visit or template['visit'])}</p>",
            _list(self.context),
            f"<p><b>Earlier visits</b></p>{_list(self.history)}" if self.history else "",
            f"<p><b>Answer</b> at {_html(self.target or template['target_visit'])}</p>",
            _list(self.answer),
        ]
        if self.claim is not None:
            parts += [
                f"<p><b>Relation</b> {_html(self.claim)}</p>",
                _list(self.claim.reasons),
                "<p><b>Evidence</b></p>",
                *(_piece(piece) for piece in self.evidence),
                "<p><b>Links from codes to concepts</b></p>",
                _list(self.links),
            ]
        return "\n".join([*parts, "</div>"])


def _about(piece: EvidencePiece) -> str:
    weight = f", weight {piece.weight:.2f}" if piece.weight is not None else ""
    origin = f", first stated by {piece.origin}" if piece.origin else ""
    return f"{piece.source or 'no source'}{origin}{weight} [{piece.id}]"


def _piece(piece: EvidencePiece) -> str:
    tones = style()["polarity"]
    colour = tones.get(piece.polarity, tones["neutral"])["colour"]
    cited = [f"{one.name} ({one.id}): {one.definition}" for one in piece.cited if one.definition]
    return (
        f"<details open style='border-left:4px solid {colour};padding-left:.6em;margin:.4em 0'>"
        f"<summary>{_html(piece.kind)}, {_html(piece.polarity)}: {_html(piece.text)}</summary>"
        f"<small>{_html(_about(piece))}</small>{_list(piece.edges)}{_list(cited)}</details>"
    )


def _list(items: Iterable[object]) -> str:
    rows = "".join(f"<li>{_html(item)}</li>" for item in items)
    return f"<ul>{rows}</ul>" if rows else ""


def _html(value: object) -> str:
    return escape(str(value), quote=True)


def _one_line(line: str) -> str:
    """The line with its indent, and names that hold line breaks folded into it."""
    indent = len(line) - len(line.lstrip(" "))
    return " " * indent + " ".join(line.split())


def _brief(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHORT else line[: _SHORT - 1] + "…"
