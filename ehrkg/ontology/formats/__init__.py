"""The formats that knowledge can be read from: one file each, registered here by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ehrkg.foundation.errors import InputError, UsageError
from ehrkg.ontology.formats import (
    drugbank,
    drugbank_vocabulary,
    kgx,
    medquad,
    obo,
    omop,
    rdf,
    rxnorm,
    semmeddb,
    sssom,
    texts,
    umls,
)
from ehrkg.ontology.formats.parts import Parts
from ehrkg.ontology.formats.tsv import check_packing

if TYPE_CHECKING:
    from ehrkg.ontology.declared.declaration import Declaration

__all__ = ["FORMATS", "Format", "Parts", "choose"]


@dataclass(frozen=True)
class Format:
    """A reader.

    Attributes:
        name: what `load(..., format=name)` calls it.
        words: how an error message describes it.
        detect: whether a file or folder is in it, judged by content.
        read: reads it; nothing is dropped without being counted in the parts.

    >>> FORMATS["kgx"].detect(Path("no such folder"))
    False
    """

    name: str
    words: str
    detect: Callable[[Path], bool]
    read: Callable[[Path], Parts]


FORMATS: Mapping[str, Format] = {
    item.name: item
    for item in (
        Format(
            "kgx",
            "KGX, TSV or JSON Lines: a folder with nodes and edges, or one of the two",
            kgx.detect,
            kgx.read,
        ),
        Format("medquad", "MedQuAD: XML documents in a tar", medquad.detect, medquad.read),
        Format("texts", "texts of your own: a folder with texts.yaml", texts.detect, texts.read),
        Format("sssom", "SSSOM TSV mappings", sssom.detect, sssom.read),
        Format("obo", "an OBO ontology", obo.detect, obo.read),
        Format("owl", "OWL in RDF/XML, OWL/XML or functional syntax", rdf.detect_owl, rdf.read),
        Format("rdf", "RDF in Turtle, N-Triples or JSON-LD", rdf.detect, rdf.read),
        Format("umls", "a UMLS release in RRF (MRCONSO.RRF ...)", umls.detect, umls.read),
        Format("rxnorm", "RxNorm in RRF (RXNCONSO.RRF ...)", rxnorm.detect, rxnorm.read),
        Format("semmeddb", "SemMedDB's PREDICATION table", semmeddb.detect, semmeddb.read),
        Format("drugbank", "DrugBank's full database (XML)", drugbank.detect, drugbank.read),
        Format(
            "drugbank-vocabulary",
            "DrugBank's open vocabulary (CSV)",
            drugbank_vocabulary.detect,
            drugbank_vocabulary.read,
        ),
        Format("omop", "OMOP vocabularies: a folder or zip with CONCEPT", omop.detect, omop.read),
    )
}
"""Readers by name; a new format is one module and one row here."""


def choose(path: Path, name: str | None) -> Format:
    """The reader named, or the one whose content test fits.

    Raises:
        UsageError: there is no reader of that name.
        InputError: there is no such path, or no reader knows it.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "mine.obo"
    >>> _ = file.write_text("[Term]")
    >>> choose(file, None).name, choose(file, "obo").name
    ('obo', 'obo')
    """
    from ehrkg.ontology.declared import catalogue

    own = catalogue.named(name) if name is not None and name not in FORMATS else None
    if name is not None and name not in FORMATS and own is None:
        raise UsageError(
            f"no such format: {name!r}",
            todo=f"use one of {', '.join((*FORMATS, *catalogue.declarations()))}, or the path of a "
            "declaration (.yaml)",
        )
    if not path.exists():
        raise InputError("no such file or folder", file=path, todo="mend the path")
    if own is not None:
        return _declared(own)
    return _with_company(FORMATS[name] if name is not None else _told(path), path)


def _told(path: Path) -> Format:
    """The reader whose content test fits; a declaration goes before the general formats."""
    from ehrkg.ontology.declared import catalogue

    found = catalogue.beside(path)
    if found is not None:
        return _declared(*found)
    fitting = catalogue.fitting(path)
    if fitting is not None:
        return _declared(fitting)
    for item in FORMATS.values():
        if item.detect(path):
            return item
    if path.is_file():
        check_packing(path)
    raise InputError(
        "the format of this knowledge could not be told",
        file=path,
        expected="; ".join(f"{item.name} ({item.words})" for item in FORMATS.values()),
        todo="name it with format=",
    )


def _declared(declaration: Declaration, place: Path | None = None) -> Format:
    """A declaration as a reader; ``place`` is where its tables are, where not at the path."""
    from ehrkg.ontology.declared.reading import read_declared, tables_among, tables_in
    from ehrkg.ontology.sources import learn

    learn(declaration.source, *declaration.sources)
    return Format(
        declaration.name,
        declaration.words,
        lambda path: bool(tables_among(tables_in(path), declaration)),
        lambda path: read_declared(place or path, declaration),
    )


def _with_company(item: Format, path: Path) -> Format:
    """The reader, with what a source.yaml and a predicate_aliases.yaml beside the path say."""
    from ehrkg.ontology.predicates import extended, read_aliases
    from ehrkg.ontology.sources import learn, read_source

    folder = path if path.is_dir() else path.parent
    if (folder / "source.yaml").is_file():
        learn(read_source(folder / "source.yaml"))
    words = folder / "predicate_aliases.yaml"
    if not words.is_file():
        return item
    rows = read_aliases(words)

    def read(place: Path) -> Parts:
        with extended(rows):
            return item.read(place)

    return replace(item, read=read)
