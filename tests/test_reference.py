"""The API reference: every public name has a page and words, and Sphinx has nothing to say."""

from __future__ import annotations

import importlib
import inspect
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from tests import reference

A_HOSPITAL = "works on the tables of a whole hospital: kg.instantiate is its door, in an example"
WORDS = "a word of a declaration: the package's own example has all of them"
PROTOCOL = "a protocol: what follows it has examples"

WITHOUT_EXAMPLE = {
    "ehrkg.Build": "what build gives",
    "ehrkg.build": "takes a minute: examples/01_from_tables_to_benchmark.ipynb",
    "ehrkg.rehydrate": "takes a minute: tests/pipeline",
    "ehrkg.benchmark.CheckRow": "a row of CheckReport, which has one",
    "ehrkg.benchmark.Cohort": A_HOSPITAL,
    "ehrkg.benchmark.Facts": A_HOSPITAL,
    "ehrkg.benchmark.Made": A_HOSPITAL,
    "ehrkg.benchmark.TrueShare": A_HOSPITAL,
    "ehrkg.benchmark.hidden_edges": A_HOSPITAL,
    "ehrkg.benchmark.make_questions": A_HOSPITAL,
    "ehrkg.benchmark.make_templates": A_HOSPITAL,
    "ehrkg.benchmark.write_questions": A_HOSPITAL,
    "ehrkg.graph.GraphStore": PROTOCOL,
    "ehrkg.ontology.declared.Cell": WORDS,
    "ehrkg.ontology.declared.ConceptSpec": WORDS,
    "ehrkg.ontology.declared.Condition": WORDS,
    "ehrkg.ontology.declared.Declaration": WORDS,
    "ehrkg.ontology.declared.Drop": WORDS,
    "ehrkg.ontology.declared.EdgeSpec": WORDS,
    "ehrkg.ontology.declared.MappingSpec": WORDS,
    "ehrkg.ontology.declared.TableSpec": WORDS,
    "ehrkg.ontology.derive.Derived": "what derive gives",
    "ehrkg.ontology.derive.derive": "reads many open tables, which do not ship",
    "ehrkg.propose.LanguageModel": "its subclasses have one each",
    "ehrkg.propose.Proposer": PROTOCOL,
    "ehrkg.verify.Judge": PROTOCOL,
    "ehrkg.verify.ModelJudge": "needs a model; tests/verify asks a real one",
    "ehrkg.verify.NliJudge": "needs a model; tests/verify asks a real one",
}
"""Public names whose docstring holds no example, and why."""


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


def test_a_public_function_or_class_shows_how_it_is_used() -> None:
    without = {
        f"{package}.{name}"
        for package, name, value in names()
        if callable(value) and not package.startswith("ehrkg.evaluation")
        if not any(re.search(r"^ *>>> ", words, re.M) for words in docstrings(value))
        if not shown_in_package(package, name)
    }
    told = {package: reference.public_names(package) for package in reference.packages()}
    known = {id(told[full.rpartition(".")[0]][full.rpartition(".")[2]]) for full in WITHOUT_EXAMPLE}
    unknown = {
        full
        for full in without
        if id(told[full.rpartition(".")[0]][full.rpartition(".")[2]]) not in known
    }
    assert sorted(unknown) == []
    assert sorted(set(WITHOUT_EXAMPLE) - without) == []


def docstrings(value: Any) -> list[str]:
    """Those of a function, or of a class and its own methods."""
    inside = vars(value).values() if inspect.isclass(value) else ()
    return [getattr(one, "__doc__", None) or "" for one in (value, *inside)]


def shown_in_package(package: str, name: str) -> bool:
    """Whether the example in a package's docstring uses a name of it."""
    lines = (importlib.import_module(package).__doc__ or "").splitlines()
    used = [line for line in lines if line.lstrip().startswith((">>>", "..."))]
    return any(re.search(rf"\b{name}\b", line) for line in used)
