"""Pictures of explanations and neighbourhoods: whole, escaped, the same each time, offline."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from defusedxml import ElementTree

from ehrkg.foundation.errors import UsageError
from ehrkg.graph.explain import explain_template
from ehrkg.graph.neighbourhood import neighbourhood
from ehrkg.graph.picture import Card, Column, Join, Picture, style, wrap
from ehrkg.graph.picture_explanation import draw
from ehrkg.graph.store import GraphStore

NASTY = """<script>alert("x")</script> & 'q' \\n </svg></title>"""


class Reader(HTMLParser):
    """Tags with their attributes, and what loads something."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def loads(self) -> list[str]:
        return [
            str(found[name])
            for _, found in self.tags
            for name in ("src", "href", "data")
            if name in found
        ]


def test_the_picture_holds_the_chain(full: GraphStore) -> None:
    picture = draw(explain_template(full, "t1"))
    assert [column.heading for column in picture.columns] == [
        "Visit",
        "Codes recorded",
        "Concepts",
        "Evidence",
        "Relation",
    ]
    cards = {card.id: card for card in picture.cards}
    assert {
        "visit v1",
        "visit v2",
        "code ICD10CM:N17.9 ",
        "code DRUGNAME:furosemide oral",
        "concept MONDO:0005252",
        "evidence v2",
        "relation r1",
    } <= set(cards)
    assert cards["code ICD10CM:N17.9 "].sort == "asked"
    assert cards["evidence v2"].polarity == cards["relation r1"].polarity == "supports"
    assert (
        Join("concept MONDO:0005252", "concept MONDO:0002492", "causes", "supports", arrow=True)
        in picture.joins
    )
    assert Join("evidence v2", "relation r1", "", "supports", arrow=True) in picture.joins


def test_support_and_contradiction_differ_in_colour_sign_and_stroke(full: GraphStore) -> None:
    found = explain_template(full, "t1")
    against = replace(found.evidence[0], id="x", polarity="contradicts", text="it is not so")
    page = draw(replace(found, evidence=(*found.evidence, against))).page()
    tones = style()["polarity"]
    assert tones["supports"]["colour"] != tones["contradicts"]["colour"]
    assert tones["contradicts"]["colour"] in page
    assert f"{tones['contradicts']['sign']} it is not so" in page
    assert f'stroke-dasharray="{tones["contradicts"]["dash"]}"' in page


def test_a_page_loads_nothing_and_says_so(full: GraphStore, tmp_path: Path) -> None:
    found = explain_template(full, "t1")
    page = found.write_html(tmp_path / "t1.html").read_text(encoding="utf-8")
    read = Reader(page)
    assert read.loads() == []
    assert "default-src 'none'" in page
    assert not re.search(r"(?:https?:)?//[a-z]", page.replace("http://www.w3.org/2000/svg", ""))
    assert page == found.write_html(tmp_path / "again.html").read_text(encoding="utf-8")


def test_names_are_shown_and_never_run(full: GraphStore) -> None:
    found = explain_template(full, "t1")
    evil = replace(found.answer[0], name=NASTY)
    assert found.claim is not None
    changed = replace(found, answer=(evil,), claim=replace(found.claim, tail_name=NASTY))
    for page in (draw(changed).page(changed.as_html()), changed._repr_html_()):
        tags = [tag for tag, _ in Reader(page).tags]
        assert tags.count("script") == (0 if page.startswith("<iframe") else 1)
        assert NASTY not in page


def test_a_notebook_shows_the_picture_in_a_frame_of_its_own(full: GraphStore) -> None:
    ((tag, attributes),) = Reader(explain_template(full, "t1")._repr_html_()).tags
    assert tag == "iframe"
    assert attributes["sandbox"] == "allow-scripts"
    assert "<svg" in str(attributes["srcdoc"])


def test_a_picture_stands_alone_as_svg(full: GraphStore) -> None:
    for found in (explain_template(full, "t1"), neighbourhood(full, "ICD10CM:I50.23")):
        drawing = ElementTree.fromstring(found.as_svg())
        assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
        assert drawing.get("role") == "img"
        assert "heart failure" in str(drawing.get("aria-label")).lower()
        assert Reader(found.as_svg()).loads() == []


def test_a_neighbourhood_names_concepts_relations_and_evidence(full: GraphStore) -> None:
    found = neighbourhood(full, "ICD10CM:I50.23")
    assert (found.visits, found.patients) == (1, 1)
    assert [one.id for one in found.concepts] == ["MONDO:0005252"]
    (relation,) = found.relations
    assert (relation.heads, relation.predicate, relation.other, relation.verdict) == (
        True,
        "CAUSES",
        "ICD10CM:N17.9",
        "supported",
    )
    assert [ground.polarity for ground in relation.grounds] == ["supports"]
    assert "causes" in found.as_text()
    assert "heart failure" in found._repr_html_()
    from_the_other_end = neighbourhood(full, "ICD10CM:N17.9").relations
    assert [(one.heads, one.id) for one in from_the_other_end] == [(False, relation.id)]


def test_a_code_that_is_not_there_is_refused(full: GraphStore) -> None:
    with pytest.raises(UsageError, match="no code 'I50"):
        neighbourhood(full, "I50.23")


def test_a_page_that_cannot_be_written_is_an_error(full: GraphStore, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="can't be written"):
        neighbourhood(full, "ICD10CM:I50.23").write_html(tmp_path / "no" / "x.html")


def test_a_picture_stays_small_however_much_there_is(full: GraphStore) -> None:
    found = explain_template(full, "t1")
    many = tuple(replace(found.evidence[0], id=f"v{n}") for n in range(500))
    picture = draw(replace(found, evidence=many))
    assert len(picture.cards) < 50
    assert any("490 more" in card.title for card in picture.cards)


def test_a_template_without_a_relation_is_drawn_all_the_same(full: GraphStore) -> None:
    found = explain_template(full, "t1")
    bare = replace(found, claim=None, evidence=(), links=(), visit=None, target=None)
    assert [column.heading for column in draw(bare).columns] == ["Codes recorded"]
    assert "Template t1" in draw(bare).page()


def test_cards_of_a_column_never_overlap() -> None:
    cards = tuple(Card(f"c{n}", n % 2, "word " * (n * 3 + 1), ("寒" * n * 20,)) for n in range(9))
    picture = Picture("x", (Column("a", 200), Column("b", 150)), cards, ())
    boxes, width, height = picture._layout()
    for column in (0, 1):
        held = [boxes[card.id] for card in cards if card.column == column]
        for above, below in pairwise(held):
            assert above.y + above.height < below.y
    assert all(
        b.x > 0 and b.x + b.width < width and b.y + b.height < height for b in boxes.values()
    )


@pytest.mark.parametrize("text", ["", "a", "word " * 50, "x" * 500, "寒" * 99, "tab\tline\nend"])
def test_wrapped_text_keeps_to_its_lines(text: str) -> None:
    lines = wrap(text, 20, 3)
    assert 1 <= len(lines) <= 3
    assert all(len(line) <= 22 for line in lines)
    whole = "".join(text.split())
    assert lines[-1].endswith("…") == ("".join(lines).replace(" ", "") != whole)
