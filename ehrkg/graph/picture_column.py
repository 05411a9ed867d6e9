"""The same picture for a narrow screen: cards below each other, joins as arcs beside them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ehrkg.graph.picture import Box, Card, Join, Picture, card_rows, card_svg, markers, style
from ehrkg.graph.picture_text import plain

WIDTH = 346
"""As much as a phone shows without being made smaller, in pixels."""

GUTTER = 50
"""Room for arcs, left of the cards."""

_EDGE, _HEADING = 8, 34
_ARC_LEAST = 12


def column_svg(picture: Picture, within: str) -> str:
    """A drawing of one column, of the class ``narrow``; what a join says stands in its first card.

    Args:
        picture: what is drawn.
        within: with which its ids begin, in the page that it stands in.

    >>> from ehrkg.graph.picture import Column
    >>> cards = (Card("a", 0, "furosemide"), Card("b", 1, "oedema"))
    >>> joins = (Join("a", "b", "treats", "supports", True),)
    >>> drawn = column_svg(Picture("", (Column("Drug", 9), Column("Why", 9)), cards, joins), "p-")
    >>> "treats: oedema" in drawn
    True
    """
    cards = [_with_joins(card, picture) for card in picture.cards]
    boxes, headings, height = _stacked(picture, cards)
    drawn = [one for one in picture.joins if {one.start, one.end} <= boxes.keys()]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" '
        f'width="{WIDTH}" class="narrow" role="img" aria-label="{plain(picture.title)}">',
        markers(within),
        *(
            f'<text class="heading" x="{GUTTER}" y="{y:.1f}">{plain(heading)}</text>'
            for heading, y in headings
        ),
        *_arcs(drawn, boxes, within),
        *(card_svg(card, boxes[card.id], within) for card in cards),
    ]
    return "\n".join([*parts, "</svg>"])


def _with_joins(card: Card, picture: Picture) -> Card:
    """The card with what is said of the joins that leave it, a line each."""
    titles = {one.id: one.title for one in picture.cards}
    said = [
        f"{one.label}: {titles[one.end]}"
        for one in picture.joins
        if one.start == card.id and one.label and one.end in titles
    ]
    return replace(card, lines=(*card.lines, *dict.fromkeys(said)))


def _stacked(
    picture: Picture, cards: Sequence[Card]
) -> tuple[dict[str, Box], list[tuple[str, float]], float]:
    """Where cards and headings stand, column after column, and how high it all is."""
    size = style()["size"]
    wide = WIDTH - GUTTER - _EDGE
    letters = int((wide - 2 * size["pad"]) / size["letter"])
    boxes, headings, y = {}, [], 0.0
    for number, column in enumerate(picture.columns):
        headings.append((column.heading, y + _HEADING - 12))
        y += _HEADING
        for card in cards:
            if card.column == number:
                rows = tuple(card_rows(card, letters))
                tall = len(rows) * size["line"] + 2 * size["pad"]
                boxes[card.id] = Box(GUTTER, y, wide, tall, rows)
                y += tall + size["between"] / 2
    return boxes, headings, y + _EDGE


def _arcs(joins: Sequence[Join], boxes: Mapping[str, Box], within: str) -> list[str]:
    """Each join as an arc in the gutter: the farther its ends, the farther out."""
    ports: dict[str, list[tuple[float, int, int]]] = defaultdict(list)
    for number, one in enumerate(joins):
        for end, (card, other) in enumerate(((one.start, one.end), (one.end, one.start))):
            ports[card].append((boxes[other].y, number, end))
    at: dict[tuple[int, int], float] = {}
    for card, held in ports.items():
        for place, (_, number, end) in enumerate(sorted(held)):
            at[number, end] = boxes[card].y + boxes[card].height * (place + 1) / (len(held) + 1)
    farthest = max((abs(at[n, 0] - at[n, 1]) for n in range(len(joins))), default=1.0)
    return [_arc(one, at[n, 0], at[n, 1], farthest, within) for n, one in enumerate(joins)]


def _arc(one: Join, start: float, end: float, farthest: float, within: str) -> str:
    tone = style()["polarity"][one.polarity]
    reach = _ARC_LEAST + (GUTTER - _EDGE - _ARC_LEAST) * abs(end - start) / max(farthest, 1.0)
    out = GUTTER - reach / 0.75  # a cubic curve reaches three quarters of the way
    dash = f' stroke-dasharray="{tone["dash"]}"' if tone["dash"] else ""
    head = f' marker-end="url(#{within}head-{one.polarity or "plain"})"' if one.arrow else ""
    return (
        f'<path class="join" d="M{GUTTER},{start:.1f} C{out:.1f},{start:.1f} {out:.1f},{end:.1f} '
        f'{GUTTER},{end:.1f}" stroke="{tone["colour"]}" '
        f'stroke-width="{2.2 if one.arrow else 1.4}"{dash}{head}/>'
    )
