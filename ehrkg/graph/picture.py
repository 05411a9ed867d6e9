"""Pictures of cards in columns with joins between them: one SVG in one HTML page, no network.

The layout is a function of what is drawn, so that the same graph gives the same picture. A page
loads nothing: its policy forbids it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import yaml

from ehrkg.foundation.errors import UsageError
from ehrkg.graph.picture_text import plain, wrap

_SANDBOX = "allow-scripts"
_BOLD, _STOP, _WIDE = ' class="bold"', ' tabindex="0"', ' class="wide"'
_LEAST = 1000
"""Below this width a drawing is scrolled instead of made smaller, in pixels."""
_HOVER = 1200
"""Letters of a card's whole text that are shown when it is pointed at."""
_FRAME = 620
"""Height of a picture in a notebook, in pixels."""


@cache
def style() -> Mapping[str, Any]:
    """Colours, sizes and limits (picture.yaml)."""
    text = files("ehrkg.graph").joinpath("picture.yaml").read_text(encoding="utf-8")
    rules: Mapping[str, Any] = yaml.safe_load(text)
    return rules


@cache
def _shipped(name: str) -> str:
    """The page around a drawing (picture.html), or a drawing's own style (picture.css)."""
    return files("ehrkg.graph").joinpath(name).read_text(encoding="utf-8").strip()


@dataclass(frozen=True)
class Column:
    """A column of cards: its heading, its width, and the room right of it, in pixels."""

    heading: str
    width: int
    gap: int = 96


@dataclass(frozen=True)
class Card:
    """A box with text.

    Attributes:
        id: unique in the picture.
        column: from 0, left to right; cards of a column stand in the order in which they are given.
        title: in bold.
        lines: below it.
        sort: a row of ``cards`` in picture.yaml.
        polarity: colours it; "" for none.
        hover: the whole text, shown when pointed at.
    """

    id: str
    column: int
    title: str
    lines: tuple[str, ...] = ()
    sort: str = "code"
    polarity: str = ""
    hover: str = ""


@dataclass(frozen=True)
class Join:
    """A line from one card to another, with an arrow's head where it is a statement."""

    start: str
    end: str
    label: str = ""
    polarity: str = ""
    arrow: bool = False


@dataclass(frozen=True)
class Box:
    """Where a card stands, and its lines of text, each with whether it is bold."""

    x: float
    y: float
    width: float
    height: float
    rows: tuple[tuple[str, bool], ...]


@dataclass(frozen=True)
class Picture:
    """Cards in columns, and what joins them.

    Attributes:
        title: the page's.
        columns: left to right.
        cards, joins: what is drawn; a join to a card that is not there is left out.
    """

    title: str
    columns: tuple[Column, ...]
    cards: tuple[Card, ...]
    joins: tuple[Join, ...]

    def without_empty_columns(self) -> Picture:
        """The picture without columns that hold no card."""
        used = sorted({card.column for card in self.cards})
        place = {column: number for number, column in enumerate(used)}
        cards = tuple(replace(card, column=place[card.column]) for card in self.cards)
        return replace(self, columns=tuple(self.columns[n] for n in used), cards=cards)

    def svg(self, within: str = "") -> str:
        """The drawing alone; in another page its ids begin with ``within``, and it is no stop.

        There it is of the class ``wide`` and is made smaller, not scrolled: ``picture_column`` has
        the drawing for a phone.
        """
        size = style()["size"]
        boxes, width, height = self._layout()
        least = f' style="min-width:{min(width, _LEAST):.0f}px"'
        joins = [one for one in self.joins if one.start in boxes and one.end in boxes]
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
            f'width="{width:.0f}"{_WIDE if within else least} role="img" '
            f'aria-label="{plain(self.title)}">',
            markers(within),
        ]
        x = size["margin"]
        for column in self.columns:
            parts.append(
                f'<text class="heading" x="{x}" y="{size["margin"] + 14}">'
                f"{plain(column.heading)}</text>"
            )
            x += column.width + column.gap
        drawn = [_join(*one, n, within) for n, one in enumerate(self._ends(joins, boxes))]
        parts += [line for line, _ in drawn]
        parts += [card_svg(card, boxes[card.id], within) for card in self.cards]
        parts += [label for _, label in drawn]
        return "\n".join([*parts, "</svg>"])

    def _layout(self) -> tuple[dict[str, Box], float, float]:
        size = style()["size"]
        by_column: dict[int, list[tuple[Card, tuple[tuple[str, bool], ...], float]]]
        by_column = defaultdict(list)
        for card in self.cards:
            inner = self.columns[card.column].width - 2 * size["pad"]
            rows = tuple(card_rows(card, int(inner / size["letter"])))
            tall = len(rows) * size["line"] + 2 * size["pad"]
            by_column[card.column].append((card, rows, tall))
        heights = {
            column: sum(tall for *_, tall in held) + size["between"] * (len(held) - 1)
            for column, held in by_column.items()
        }
        height = max(heights.values(), default=0.0)
        boxes: dict[str, Box] = {}
        x = size["margin"]
        for number, column in enumerate(self.columns):
            y = size["top"] + (height - heights.get(number, 0)) / 2
            for card, rows, tall in by_column[number]:
                boxes[card.id] = Box(x, y, column.width, tall, rows)
                y += tall + size["between"]
            x += column.width + column.gap
        width = x - self.columns[-1].gap + size["margin"]
        return boxes, width, size["top"] + height + size["margin"]

    def _ends(
        self, joins: Sequence[Join], boxes: Mapping[str, Box]
    ) -> list[tuple[Join, tuple[float, float, float, float, int]]]:
        """Each join with where it leaves and where it arrives, spread along the cards' sides."""
        sides: dict[tuple[str, str], list[tuple[float, int, int]]] = defaultdict(list)
        around = _around(joins, boxes)
        for number, one in enumerate(joins):
            a, b = boxes[one.start], boxes[one.end]
            out, into = (
                (around, around)
                if a.x == b.x
                else (("right", "left") if a.x < b.x else ("left", "right"))
            )
            sides[one.start, out].append((b.y + b.height / 2, number, 0))
            sides[one.end, into].append((a.y + a.height / 2, number, 1))
        ports: dict[tuple[int, int], tuple[float, float]] = {}
        for (card, side), held in sides.items():
            box = boxes[card]
            for place, (_, number, end) in enumerate(sorted(held)):
                x = box.x + (box.width if side == "right" else 0)
                ports[number, end] = (x, box.y + box.height * (place + 1) / (len(held) + 1))
        return [
            (one, (*ports[n, 0], *ports[n, 1], _bend(boxes[one.start], boxes[one.end], around)))
            for n, one in enumerate(joins)
        ]

    def page(self, below: str = "") -> str:
        """A whole HTML page: title, drawing, legend, and ``below`` (HTML) under it."""
        parts = {"title": plain(self.title), "svg": self.svg(), "css": _shipped("picture.css")}
        return Template(_shipped("picture.html")).substitute(parts, legend=_legend(), below=below)

    def alone(self) -> str:
        """The drawing with its own style on white: a file that needs no page around it."""
        start, rest = self.svg().split(">", 1)
        paper = '<rect width="100%" height="100%" fill="#fff"/>'
        return f'{start} class="drawing"><style>{_shipped("picture.css")}</style>{paper}{rest}'

    def frame(self, below: str = "") -> str:
        """The page in a frame of its own, for a notebook."""
        return (
            f'<iframe srcdoc="{escape(self.page(below), quote=True)}" sandbox="{_SANDBOX}" '
            f'title="{plain(self.title)}" style="width:100%;height:{_FRAME}px;border:1px solid '
            '#d1d5db;border-radius:6px"></iframe>'
        )


def _bend(a: Box, b: Box, around: str) -> int:
    return 0 if a.x != b.x else 1 if around == "right" else -1


def _around(joins: Sequence[Join], boxes: Mapping[str, Box]) -> str:
    """The side by which joins within a column go around: the emptier one."""
    within = {
        card
        for one in joins
        if boxes[one.start].x == boxes[one.end].x
        for card in (one.start, one.end)
    }
    leftmost = min((box.x for box in boxes.values()), default=0.0)
    if any(boxes[card].x == leftmost for card in within):
        return "right"
    away = [
        (boxes[one.start].x, boxes[one.end].x)
        for one in joins
        if one.start in within and boxes[one.end].x != boxes[one.start].x
    ]
    away += [
        (boxes[one.end].x, boxes[one.start].x)
        for one in joins
        if one.end in within and boxes[one.end].x != boxes[one.start].x
    ]
    right = sum(here < there for here, there in away)
    return "left" if right > len(away) - right else "right"


def write_page(page: str, path: str | Path) -> Path:
    """Write a page to a file.

    Raises:
        UsageError: the file can't be written.
    """
    target = Path(path)
    try:
        target.write_text(page, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"{target} can't be written: {error.strerror}",
            todo="name a file in a folder that is there",
        ) from error
    return target


def bounded(items: Iterable[Any], most: str) -> tuple[list[Any], int]:
    """The first items, as many as picture.yaml lets into a picture, and how many are left out."""
    held = list(items)
    limit = style()["most"][most]
    return held[:limit], max(len(held) - limit, 0)


def card_rows(card: Card, width: int) -> Iterable[tuple[str, bool]]:
    """A card's lines of text, each with whether it is bold, of about so many small letters."""
    sign = style()["polarity"][card.polarity]["sign"]
    most = style()["most"]["lines"]
    title = f"{sign} {card.title}" if sign else card.title
    yield from ((row, True) for row in wrap(title, int(width * 0.9), most))
    for line in card.lines:
        yield from ((row, False) for row in wrap(line, width, most) if row)


def card_svg(card: Card, box: Box, within: str) -> str:
    """A card, drawn in its box."""
    size, tone = style()["size"], style()["polarity"][card.polarity]
    look = style()["cards"][card.sort]
    paper, rim = (tone["paper"], tone["colour"]) if card.polarity else (look["paper"], look["rim"])
    dash = f' stroke-dasharray="{tone["dash"]}"' if tone["dash"] else ""
    wide = 2.5 if card.sort in ("relation", "asked") else 1.5
    rows = "".join(
        f'<tspan x="{box.x + size["pad"]:.1f}" dy="{size["line"]}"'
        f"{_BOLD if bold else ''}>{plain(row)}</tspan>"
        for row, bold in box.rows
    )
    hover = f"<title>{plain(card.hover[:_HOVER])}</title>" if card.hover else ""
    return (
        f'<g class="card"{"" if within else _STOP} data-id="{plain(card.id)}">{hover}'
        f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" '
        f'rx="7" fill="{paper}" stroke="{rim}" stroke-width="{wide}"{dash}/>'
        f'<text y="{box.y + size["pad"] - 4:.1f}">{rows}</text></g>'
    )


def _join(
    one: Join, ends: tuple[float, float, float, float, int], number: int, within: str
) -> tuple[str, str]:
    """A join's line and its label; around: both ends in one column, -1 left of it, 1 right."""
    x1, y1, x2, y2, around = ends
    tone, size = style()["polarity"][one.polarity], style()["size"]
    if around:
        bend = around * (size["arc"] + 20 * (number % 3))
        curve = (
            f"M{x1:.1f},{y1:.1f} C{x1 + bend:.1f},{y1:.1f} {x2 + bend:.1f},{y2:.1f} "
            f"{x2:.1f},{y2:.1f}"
        )
        at = (x1 + bend * 0.75, (y1 + y2) / 2)
    else:
        half = (x2 - x1) / 2
        curve = (
            f"M{x1:.1f},{y1:.1f} C{x1 + half:.1f},{y1:.1f} {x2 - half:.1f},{y2:.1f} "
            f"{x2:.1f},{y2:.1f}"
        )
        at = ((x1 + x2) / 2, (y1 + y2) / 2)
    said = f"{tone['sign']} {one.label}" if one.polarity == "contradicts" else one.label
    dash = f' stroke-dasharray="{tone["dash"]}"' if tone["dash"] else ""
    head = f' marker-end="url(#{within}head-{one.polarity or "plain"})"' if one.arrow else ""
    data = f'data-start="{plain(one.start)}" data-end="{plain(one.end)}"'
    line = (
        f'<path class="join" {data} d="{curve}" stroke="{tone["colour"]}" '
        f'stroke-width="{2.2 if one.arrow else 1.4}"{dash}{head}/>'
    )
    label = (
        f'<text class="label" {data} x="{at[0]:.1f}" y="{at[1] + 4:.1f}" '
        f'fill="{tone["colour"] if one.polarity else "#4B5563"}">{plain(said)}</text>'
    )
    return line, label if one.label else ""


def markers(within: str) -> str:
    """The heads of arrows, with ids that begin with ``within``."""
    marks = "".join(
        f'<marker id="{within}head-{name or "plain"}" viewBox="0 0 8 8" refX="7" refY="4" '
        f'markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse" orient="auto">'
        f'<path d="M0,0 L8,4 L0,8 z" fill="{tone["colour"]}"/></marker>'
        for name, tone in style()["polarity"].items()
    )
    return f"<defs>{marks}</defs>"


def _legend() -> str:
    return "".join(
        f'<span style="color:{tone["colour"]}"><svg width="34" height="10"><path d="M0,5 H34" '
        f'stroke="{tone["colour"]}" stroke-width="2.4" stroke-dasharray="{tone["dash"]}"/></svg> '
        f"{tone['sign']} {tone['words']}</span>"
        for name, tone in style()["polarity"].items()
        if name
    )
