"""The picture of an explanation: visits, codes, concepts, evidence and the relation they back."""

from __future__ import annotations

from collections.abc import Iterator

from ehrkg.graph.explanation import EvidencePiece, Explanation, PathEdge, Recorded
from ehrkg.graph.picture import Card, Column, Join, Picture, bounded, style
from ehrkg.ontology.predicates import PREDICATES

_COLUMNS = (
    Column("Visit", 184),
    Column("Codes recorded", 256, 132),
    Column("Concepts", 216),
    Column("Evidence", 330, 70),
    Column("Relation", 226),
)
_VISIT, _CODE, _CONCEPT, _EVIDENCE, _RELATION = range(len(_COLUMNS))


def draw(found: Explanation) -> Picture:
    """The chain from left to right: who, what was recorded, what it means, what speaks for it."""
    pieces, left_out = bounded(
        (one for one in found.evidence if one.kind != "statistic" or one.text), "evidence"
    )
    cards = [
        *_visits(found),
        *_codes(found),
        *_concepts(found, pieces),
        *_evidence(pieces, left_out),
        *_relation(found),
    ]
    joins = [*_recorded(found), *_links(found), *_paths(pieces), *_backing(found, pieces)]
    template = found.template
    title = f"{found.claim}" if found.claim else f"Template {template['id']}"
    whole = Picture(
        f"{title} ({template['task']}, {template['id']})",
        _COLUMNS,
        tuple(_unique(cards)),
        tuple(joins),
    )
    return whole.without_empty_columns()


def _unique(cards: list[Card]) -> Iterator[Card]:
    seen: set[str] = set()
    for card in cards:
        if card.id not in seen:
            seen.add(card.id)
            yield card


def _visits(found: Explanation) -> Iterator[Card]:
    template = found.template
    who = f"patient {template['patient']}"
    for visit, role in ((found.visit, "what is given"), (found.target, "what is asked")):
        if visit is not None:
            rows = [part for part in str(visit).split(", ")[1:] if part]
            yield Card(
                f"visit {visit.id}",
                _VISIT,
                f"Visit {visit.id}",
                (who, *rows),
                "visit",
                hover=f"{role}: {visit}",
            )


def _codes(found: Explanation) -> Iterator[Card]:
    for one in found.answer:
        yield _code(one, "asked", "the answer")
    anchor = found.template.get("anchor_position")
    claim = found.claim
    ends = {claim.head, claim.tail} if claim else set()
    context = sorted(
        enumerate(found.context), key=lambda at: (at[0] != anchor, at[1].code not in ends, at[0])
    )
    shown, left_out = bounded((one for _, one in context), "context")
    for one in shown:
        yield _code(one, "code", "given")
    if left_out:
        rest = "; ".join(one.name for _, one in context[len(shown) :])
        yield Card("more context", _CODE, f"and {left_out} more given", sort="more", hover=rest)
    if found.history:
        yield Card(
            "history",
            _CODE,
            f"{len(found.history)} codes of earlier visits",
            sort="more",
            hover="; ".join(one.name for one in found.history),
        )


def _code(one: Recorded, sort: str, role: str) -> Card:
    where = f"{one.row.source} row {one.row.row}" if one.row else "no row in the graph"
    rows = [one.code, where]
    if one.route:
        rows.insert(1, f"by {one.route} route" if one.route != "other" else "other route")
    return Card(
        f"code {one.code} {one.route}", _CODE, one.name, tuple(rows), sort, hover=f"{role}: {one}"
    )


def _concepts(found: Explanation, pieces: list[EvidencePiece]) -> Iterator[Card]:
    named: dict[str, tuple[str, str]] = {}
    for piece in pieces:
        for edge in piece.edges:
            named.setdefault(edge.subject, (edge.subject_name, ""))
            named.setdefault(edge.object, (edge.object_name, ""))
        for one in piece.cited:
            named[one.id] = (one.name or one.id, one.definition)
    for link in found.links:
        if not named or link.levels <= 1:
            named.setdefault(link.concept, (link.concept_name or link.concept, ""))
    order = {
        code: place
        for place, code in enumerate([one.code for one in (*found.answer, *found.context)])
    }
    first: dict[str, int] = {}
    for link in found.links:
        place = order.get(link.code, len(order))
        first[link.concept] = min(first.get(link.concept, place), place)
    ranked = sorted(named, key=lambda concept: (first.get(concept, len(order)), concept))
    shown, left_out = bounded(ranked, "concepts")
    for concept in shown:
        name, definition = named[concept]
        yield Card(
            f"concept {concept}",
            _CONCEPT,
            name,
            (concept,),
            "concept",
            hover=f"{name} ({concept}) {definition}",
        )
    if left_out:
        yield Card("more concepts", _CONCEPT, f"and {left_out} more", sort="more")


def _evidence(pieces: list[EvidencePiece], left_out: int) -> Iterator[Card]:
    for piece in pieces:
        about = [piece.kind.replace("_", " "), piece.source]
        if piece.weight:
            about.append(f"weight {piece.weight:.2f}")
        yield Card(
            f"evidence {piece.id}",
            _EVIDENCE,
            piece.text or piece.kind,
            (", ".join(part for part in about if part),),
            "evidence",
            piece.polarity if piece.polarity in style()["polarity"] else "neutral",
            hover=f"{piece.text} [{piece.id}; first stated by {piece.origin or 'unknown'}]",
        )
    if left_out:
        yield Card(
            "more evidence", _EVIDENCE, f"and {left_out} more pieces, listed below", sort="more"
        )


def _relation(found: Explanation) -> Iterator[Card]:
    claim = found.claim
    if claim is None:
        return
    words = PREDICATES[claim.predicate].words if claim.predicate in PREDICATES else claim.predicate
    route = f" ({claim.route})" if claim.route else ""
    score = f", score {claim.score:.2f}" if claim.score is not None else ""
    rows = [f"{claim.verdict}{score}", *claim.reasons[:2]]
    if claim.depends_on:
        rows.append(f"falls without {', '.join(claim.depends_on)}")
    yield Card(
        f"relation {claim.id}",
        _RELATION,
        f"{claim.head_name}{route} {words} {claim.tail_name}",
        tuple(rows),
        "relation",
        style()["verdicts"].get(claim.verdict, "neutral"),
        hover=f"{claim} [{claim.id}] {'; '.join(claim.reasons)}",
    )


def _recorded(found: Explanation) -> Iterator[Join]:
    for one in (*found.answer, *found.context):
        if one.visit:
            asked = "asked" if one in found.answer else ""
            yield Join(f"visit {one.visit}", f"code {one.code} {one.route}", asked)
    if found.history and found.visit is not None:
        yield Join(f"visit {found.visit.id}", "history", "before")


def _links(found: Explanation) -> Iterator[Join]:
    drawn: set[tuple[str, str]] = set()
    for link in found.links:
        if (link.code, link.concept) in drawn:
            continue
        drawn.add((link.code, link.concept))
        up = f", {link.levels} up" if link.levels else ""
        for one in (*found.answer, *found.context):
            if one.code == link.code:
                yield Join(
                    f"code {one.code} {one.route}", f"concept {link.concept}", f"{link.method}{up}"
                )


def _paths(pieces: list[EvidencePiece]) -> Iterator[Join]:
    drawn: set[str] = set()
    for piece in pieces:
        for edge in piece.edges:
            if edge.id not in drawn:
                drawn.add(edge.id)
                yield Join(
                    f"concept {edge.subject}",
                    f"concept {edge.object}",
                    _words(edge),
                    piece.polarity,
                    arrow=True,
                )


def _words(edge: PathEdge) -> str:
    words = PREDICATES[edge.predicate].words if edge.predicate in PREDICATES else edge.predicate
    return f"not: {words}" if edge.negated else words


def _backing(found: Explanation, pieces: list[EvidencePiece]) -> Iterator[Join]:
    for piece in pieces:
        for concept in dict.fromkeys(one.id for one in piece.cited):
            yield Join(f"concept {concept}", f"evidence {piece.id}", polarity=piece.polarity)
        if found.claim is not None:
            yield Join(
                f"evidence {piece.id}",
                f"relation {found.claim.id}",
                polarity=piece.polarity,
                arrow=True,
            )
