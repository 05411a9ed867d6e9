"""The API reference: every public name has a page and words, and Sphinx has nothing to say."""

from __future__ import annotations

import inspect
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from tests import reference


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reference")
    assert reference.write(folder) == ""
    return folder


def names() -> list[tuple[str, str, Any]]:
    return [
        (package, name, value)
        for package in reference.packages()
        for name, value in reference.public_names(package).items()
    ]


def test_every_public_name_has_its_place_on_its_packages_page(made: Path) -> None:
    pages = {one: (made / f"{one}.html").read_text("utf-8") for one in reference.packages()}
    lost = [
        full
        for package, name, _ in names()
        for full in (f"{package}.{name}",)
        if f'id="{full}"' not in pages[package]  # told of here, or on the page that is linked
        and f'<span class="pre">{full}</span></code> is <a' not in pages[package]
    ]
    assert lost == []
    assert len(names()) > 150


def test_the_words_of_a_name_are_on_its_page(made: Path) -> None:
    text = unescape(re.sub(r"<[^>]+>", "", (made / "ehrkg.html").read_text("utf-8")))
    shown = " ".join(text.split())
    assert "Make a benchmark out of a hospital’s tables." in shown
    assert "the tables can’t be used, or out can’t." in shown


def test_a_public_name_says_in_a_line_what_it_is() -> None:
    unclear = [
        f"{package}.{name}" for package, name, value in names() if not says(package, name, value)
    ]
    assert unclear == []


def says(package: str, name: str, value: Any) -> bool:
    """Whether the docstring of a name begins with one line that says all."""
    if not callable(value):
        return bool(reference.data_words(f"{package}.{name}", value)[0].strip())
    first, *rest = (inspect.getdoc(value) or "").splitlines() or [""]
    return first.endswith((".", ":", "?")) and not (rest and rest[0])
