"""What surrounds one code: its concepts, the relations it stands in, and what speaks for them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ehrkg.foundation.errors import UsageError
from ehrkg.graph.picture import Card, Column, Join, Picture, style, write_page
from ehrkg.graph.store import GraphStore
from ehrkg.ontology.predicates import PREDICATES

_CODE = (
    "MATCH (c:Code) WHERE c.build = $build AND c.id = $code "
    "RETURN c.id AS id, c.name AS name, c.tree_name AS tree_name, c.kind AS kind, "
    "c.chapter_name AS chapter"
)
_VISITS = (
    "MATCH (v:Visit)-[:DIAGNOSED|PRESCRIBED|PERFORMED]->(c:Code) "
    "WHERE c.build = $build AND c.id = $code "
    "RETURN count(DISTINCT v.id) AS visits, count(DISTINCT v.patient) AS patients"
)
_CONCEPTS = (
    "MATCH (c:Code)-[m:MAPS_TO]->(k:Concept) WHERE c.build = $build AND c.id = $code "
    "RETURN k.id AS id, k.name AS name, k.definition AS definition, m.method AS method, "
    "m.levels AS levels ORDER BY levels, id, method"
)
_RELATIONS = (
    "MATCH (c:Code)<-[:{here}]-(r:Relation) WHERE c.build = $build AND c.id = $code "
    "AND r.verdict <> 'unsupported' MATCH (r)-[:{there}]->(d:Code|Concept) "
    "RETURN r.id AS id, r.predicate AS predicate, r.route AS route, r.verdict AS verdict, "
    "r.score AS score, d.id AS other, d.name AS name ORDER BY id"
)
_EVIDENCE = (
    "MATCH (r:Relation)-[b:BACKED_BY]->(e:Evidence) WHERE r.build = $build AND r.id IN $relations "
    "AND b.polarity <> 'neutral' RETURN r.id AS relation, b.polarity AS polarity, e.text AS text, "
    "e.source AS source, e.weight AS weight, e.id AS id"
)
_ORDER = ("supported", "contradicted", "ambiguous")
_COLUMNS = (
    Column("What is said to act on it", 330, 150),
    Column("The code and its concepts", 300, 150),
    Column("What it is said to act on", 330),
)


@dataclass(frozen=True)
class Meaning:
    """A concept that the code is linked to."""

    id: str
    name: str
    definition: str
    method: str
    levels: int


@dataclass(frozen=True)
class Ground:
    """A piece of evidence that supports or contradicts."""

    polarity: str
    text: str
    source: str


@dataclass(frozen=True)
class Relative:
    """A relation of the code, and what stands at its other end.

    Attributes:
        heads: whether the code is the relation's head.
        grounds: what supports and contradicts it, heaviest first.
    """

    id: str
    heads: bool
    predicate: str
    route: str
    verdict: str
    score: float | None
    other: str
    name: str
    grounds: tuple[Ground, ...]

    @property
    def words(self) -> str:
        """The predicate, as a sentence says it."""
        known = PREDICATES.get(self.predicate)
        return known.words if known else self.predicate


@dataclass(frozen=True)
class Neighbourhood:
    """What surrounds a code; prints as text, shows as a picture in a notebook.

    Attributes:
        code, name, kind: of the code.
        visits, patients: how many hold it.
        concepts: nearest first.
        relations: a bounded number on either side, every verdict among them.
        left_out: how many further relations the graph holds.
    """

    code: str
    name: str
    kind: str
    visits: int
    patients: int
    concepts: tuple[Meaning, ...]
    relations: tuple[Relative, ...]
    left_out: int

    def as_text(self) -> str:
        """The neighbourhood as plain text, a line each."""
        return "\n".join(
            " ".join(line.split()) if not line.startswith(" ") else "  " + " ".join(line.split())
            for line in self._lines()
        )

    def __str__(self) -> str:
        return self.as_text()

    def _lines(self) -> Iterator[str]:
        seen = f"{self.visits} visits, {self.patients} patients"
        yield f"{self.name} ({self.code}), {self.kind}: {seen}"
        yield from (
            f"  means {one.name} ({one.id}), by {one.method}, {one.levels} levels up"
            for one in self.concepts
        )
        for one in self.relations:
            score = f" {one.score:.2f}" if one.score is not None else ""
            ends = (self.name, one.name) if one.heads else (one.name, self.name)
            said = f"{ends[0]} {one.words} {ends[1]}: {one.verdict}{score}"
            yield f"  {said} ({one.other}) [{one.id}]"
        if self.left_out:
            yield f"  and {self.left_out} more relations"

    def _repr_html_(self) -> str:
        return self.picture().frame()

    def as_svg(self) -> str:
        """The picture alone, as SVG that needs no page around it: for a paper, or a README."""
        return self.picture().alone()

    def write_html(self, path: str | Path) -> Path:
        """Write the picture as one HTML page that loads nothing.

        Raises:
            UsageError: the file can't be written.
        """
        return write_page(self.picture().page(), path)

    def picture(self) -> Picture:
        """The code in the middle, what acts on it to the left, what it acts on to the right."""
        cards, joins = [], []
        means = [
            f"{one.name} ({one.id}), by {one.method}" + (f", {one.levels} up" if one.levels else "")
            for one in self.concepts
        ]
        middle = Card(
            f"code {self.code}",
            1,
            self.name,
            (
                self.code,
                f"{self.visits} visits of {self.patients} patients",
                *([f"means {one}" for one in means] or ["linked to no concept"]),
            ),
            "asked",
            hover="; ".join(f"{c.name}: {c.definition}" for c in self.concepts),
        )
        cards.append(middle)
        for relative in self.relations:
            cards.append(_card(relative))
            ends = (middle.id, cards[-1].id) if relative.heads else (cards[-1].id, middle.id)
            joins.append(Join(*ends, relative.words, cards[-1].polarity, arrow=True))
        if self.left_out:
            side = 2 if any(one.heads for one in self.relations) else 0
            cards.append(Card("more", side, f"and {self.left_out} more relations", sort="more"))
        title = f"Around {self.name} ({self.code})"
        whole = Picture(title, _COLUMNS, tuple(cards), tuple(joins))
        return whole.without_empty_columns()


def _card(one: Relative) -> Card:
    tones = style()["polarity"]
    score = f", score {one.score:.2f}" if one.score else ""
    grounds = [
        f"{tones.get(g.polarity, tones[''])['sign']} {g.text} ({g.source})" for g in one.grounds
    ]
    route = f" ({one.route})" if one.route else ""
    return Card(
        f"relation {one.id}",
        2 if one.heads else 0,
        f"{one.name}{route}",
        (f"{one.verdict}{score}", *grounds[:1]),
        "evidence",
        style()["verdicts"].get(one.verdict, "neutral"),
        hover=f"{one.other} [{one.id}] {'; '.join(grounds)}",
    )


def neighbourhood(store: GraphStore, code: str) -> Neighbourhood:
    """What surrounds a code.

    Args:
        store: the graph.
        code: a Code id, such as ``ICD10CM:I50.23``.

    Raises:
        UsageError: the graph holds no such code.
    """
    found = _ask(store, _CODE, code=code)
    if not found:
        raise UsageError(
            f"no code {code!r} in this graph",
            todo="give a system and a code, such as ICD10CM:I50.23 or DRUGNAME:furosemide",
        )
    counted = _ask(store, _VISITS, code=code)[0]
    sides = [
        _chosen(
            [
                (heads, row)
                for row in _ask(store, _RELATIONS.format(here=here, there=there), code=code)
            ]
        )
        for heads, here, there in ((False, "TAIL", "HEAD"), (True, "HEAD", "TAIL"))
    ]
    shown = [one for side, _ in sides for one in side]
    grounds = _grounds(store, [row["id"] for _, row in shown])
    return Neighbourhood(
        code,
        found[0]["name"] or found[0]["tree_name"] or code,
        found[0]["kind"] or "code",
        counted["visits"],
        counted["patients"],
        tuple(_concepts(store, code)),
        tuple(_relative(heads, row, grounds[row["id"]]) for heads, row in shown),
        sum(rest for _, rest in sides),
    )


Side = list[tuple[bool, dict[str, Any]]]


def _chosen(side: Side) -> tuple[Side, int]:
    """The relations that a picture has room for, some of every verdict, and how many are left."""
    most = style()["most"]["relations"]
    ranked = sorted(side, key=lambda one: (-(one[1]["score"] or 0.0), one[1]["id"]))
    by_verdict = [[one for one in ranked if one[1]["verdict"] == verdict] for verdict in _ORDER]
    room = most - sum(min(len(held), most // 4) for held in by_verdict[1:])
    kept = [
        one
        for held, n in zip(by_verdict, (room, most // 4, most // 4), strict=True)
        for one in held[:n]
    ]
    return kept, len(side) - len(kept)


def _concepts(store: GraphStore, code: str) -> Iterator[Meaning]:
    seen: set[str] = set()
    for row in _ask(store, _CONCEPTS, code=code):
        if row["id"] not in seen and len(seen) < style()["most"]["concepts"]:
            seen.add(row["id"])
            yield Meaning(
                row["id"],
                row["name"] or row["id"],
                row["definition"] or "",
                row["method"],
                row["levels"],
            )


def _relative(heads: bool, row: dict[str, Any], grounds: list[Ground]) -> Relative:
    return Relative(
        row["id"],
        heads,
        row["predicate"],
        row["route"] or "",
        row["verdict"],
        row["score"],
        row["other"],
        row["name"] or row["other"],
        tuple(grounds),
    )


def _grounds(store: GraphStore, relations: list[str]) -> dict[str, list[Ground]]:
    found = store.query(_EVIDENCE, build=store.build, relations=relations).to_pylist()
    grounds: dict[str, list[Ground]] = defaultdict(list)
    for row in sorted(found, key=lambda r: (-(r["weight"] or 0.0), r["id"])):
        grounds[row["relation"]].append(Ground(row["polarity"], row["text"], row["source"]))
    return grounds


def _ask(store: GraphStore, query: str, **parameters: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = store.query(query, build=store.build, **parameters).to_pylist()
    return rows
