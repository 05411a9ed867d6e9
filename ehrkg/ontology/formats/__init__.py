"""The formats that knowledge can be read from: one file each, registered here by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ehrkg.foundation.errors import InputError, UsageError
from ehrkg.ontology.formats import (
    drugbank,
    drugbank_vocabulary,
    kgx,
    obo,
    omop,
    rxnorm,
    semmeddb,
    sssom,
    umls,
)
from ehrkg.ontology.formats.parts import Parts

__all__ = ["FORMATS", "Format", "Parts", "choose"]


@dataclass(frozen=True)
class Format:
    """A reader.

    Attributes:
        name: what `load(..., format=name)` calls it.
        words: how an error message describes it.
        detect: whether a file or folder is in it, judged by content.
        read: reads it; nothing is dropped without being counted in the parts.
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
            "KGX TSV: a folder with nodes.tsv and edges.tsv, or one of the two",
            kgx.detect,
            kgx.read,
        ),
        Format("sssom", "SSSOM TSV mappings", sssom.detect, sssom.read),
        Format("obo", "an OBO ontology", obo.detect, obo.read),
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
    """
    if name is not None and name not in FORMATS:
        raise UsageError(f"no such format: {name!r}", todo=f"use one of {', '.join(FORMATS)}")
    if not path.exists():
        raise InputError("no such file or folder", file=path, todo="mend the path")
    if name is not None:
        return FORMATS[name]
    for item in FORMATS.values():
        if item.detect(path):
            return item
    raise InputError(
        "the format of this knowledge could not be told",
        file=path,
        expected="; ".join(f"{item.name} ({item.words})" for item in FORMATS.values()),
        todo="name it with format=",
    )
