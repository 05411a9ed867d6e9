"""DrugBank: the full database (XML) and the open vocabulary (CSV).

Of the XML only what is structured is read: identifiers, names, brands, salts, ATC codes and their
classes, categories. Indications, interactions and the like are sentences under DrugBank's licence
and stay where they are. The XML is streamed, a drug at a time; entities and DTDs are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from ehrkg.ontology.categories import read_yaml
from ehrkg.ontology.curies import normalise
from ehrkg.ontology.formats.archives import Entry, entries
from ehrkg.ontology.formats.folded import described
from ehrkg.ontology.formats.parts import Parts
from ehrkg.ontology.formats.streams import first_lines
from ehrkg.ontology.formats.xml_streams import records
from ehrkg.ontology.sources import Source
from ehrkg.ontology.tables import SCHEMAS, build, knowledge, with_edge_ids

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

XML = "{http://www.drugbank.ca}"
SAME = ("skos:exactMatch", 0.95)
"""DrugBank's own statement that an identifier means the same drug."""


def _xml(path: Path) -> Entry | None:
    for entry in entries(path):
        if any("<drugbank" in line for line in first_lines(entry, 5)):
            return entry
    return None


def detect(path: Path) -> bool:
    """Whether a file (or one in a folder or zip) begins as DrugBank's XML does."""
    return _xml(path) is not None


@dataclass
class _Found:
    """Rows in the making, in the schemas' column order but for source and ids of edges."""

    concepts: dict[str, tuple[str, str]] = field(default_factory=dict)
    synonyms: list[tuple[str, str, str]] = field(default_factory=list)
    edges: list[tuple[str, str, str, str]] = field(default_factory=list)
    mappings: list[tuple[str, str]] = field(default_factory=list)
    nameless: int = 0
    edges_in: int = 0
    unlisted: int = 0


def read(path: Path) -> Parts:
    """Read the full database.

    Raises:
        InputError: the XML is broken or ends too early (line), or it declares entities.
    """
    entry = _xml(path) or Entry(path)
    source = described(path, "infores:drugbank-full")
    prefixes = {row["resource"]: row["prefix"] for row in read_yaml(_RESOURCES)}
    found, version = _Found(), ""
    for attributes, drug in records(entry, f"{XML}drug"):
        version = attributes.get("version", "")
        _take(found, drug, prefixes)
    return _parts(found, source, f"DrugBank {version}".strip())


_RESOURCES = "formats/drugbank_resources.yaml"


def _parts(found: _Found, source: Source, provenance: str) -> Parts:
    infores = source.infores
    common = (False, "", infores, source.origin, source.licence, provenance)
    names = [name for name in SCHEMAS["edges"].names if name not in ("id", "original_predicate")]
    rows = [
        {
            **dict(zip(names, (subject, predicate, target, *common), strict=True)),
            "original_predicate": original,
        }
        for subject, predicate, target, original in sorted(set(found.edges))
    ]
    columns = [*names, "original_predicate"]
    schema = pa.schema([(n, pa.bool_() if n == "negated" else pa.string()) for n in columns])
    concepts = [(key, name, kind, "", infores) for key, (name, kind) in found.concepts.items()]
    synonyms = [(*row, infores) for row in set(found.synonyms)]
    mappings = [(subject, SAME[0], other, SAME[1], infores) for subject, other in found.mappings]
    return Parts(
        knowledge(
            concepts=build("concepts", concepts),
            synonyms=build("synonyms", synonyms),
            edges=with_edge_ids(pa.Table.from_pylist(rows, schema=schema)),
            mappings=build("mappings", mappings),
        ),
        rows=[
            ("nodes", len(concepts) + found.nameless, {"no_id": found.nameless}),
            ("edges", found.edges_in, {"duplicate": found.edges_in - len(rows)}),
            ("identifiers", len(mappings) + found.unlisted, {"other_resource": found.unlisted}),
        ],
    )


def _take(found: _Found, drug: Element, prefixes: dict[str, str]) -> None:
    numbers = drug.findall(f"{XML}drugbank-id")
    primary = next((_text(one) for one in numbers if one.get("primary") == "true"), "")
    if not primary:
        found.nameless += 1
        return
    key = f"DRUGBANK:{primary}"
    found.concepts[key] = (_text(drug.find(f"{XML}name")), "drug")
    found.mappings += [(key, f"DRUGBANK:{_text(n)}") for n in numbers if _text(n) != primary]
    found.synonyms += [(key, text, scope) for text, scope in _names(drug)]
    for tag, prefix in (("cas-number", "CAS"), ("unii", "UNII")):
        if value := _text(drug.find(f"{XML}{tag}")):
            found.mappings.append((key, f"{prefix}:{value}"))
    for one in drug.iterfind(f"{XML}external-identifiers/{XML}external-identifier"):
        prefix = prefixes.get(_text(one.find(f"{XML}resource")), "")
        value = _text(one.find(f"{XML}identifier"))
        if not prefix or not value:
            found.unlisted += 1
            continue
        found.mappings.append((key, normalise(f"{prefix}:{value.rpartition(':')[2]}")))
    _classes(found, key, drug)


def _names(drug: Element) -> Iterator[tuple[str, str]]:
    """Names beside the first one, with their scope."""
    for one in drug.iterfind(f"{XML}synonyms/{XML}synonym"):
        if one.get("language", "") in ("", "english"):
            yield _text(one), "exact"
    for place in ("international-brands/{0}international-brand", "products/{0}product"):
        for one in drug.iterfind(f"{XML}{place.format(XML)}/{XML}name"):
            yield _text(one), "brand"
    for one in drug.iterfind(f"{XML}salts/{XML}salt/{XML}name"):
        yield _text(one), "related"


def _classes(found: _Found, key: str, drug: Element) -> None:
    """ATC classes upward, and categories by their MeSH heading."""
    for code in drug.iterfind(f"{XML}atc-codes/{XML}atc-code"):
        found.mappings.append((key, f"ATC:{code.get('code', '')}"))
        below = key
        for level in code.iterfind(f"{XML}level"):
            above = f"ATC:{level.get('code', '')}"
            found.concepts[above] = (_text(level), "drug_class")
            found.edges.append((below, "SUBCLASS_OF", above, ""))
            found.edges_in += 1
            below = above
    for category in drug.iterfind(f"{XML}categories/{XML}category"):
        heading = _text(category.find(f"{XML}mesh-id"))
        if not heading:  # a heading without an identifier can be joined to nothing
            found.unlisted += 1
            continue
        above = f"MESH:{heading}"
        found.concepts.setdefault(above, (_text(category.find(f"{XML}category")), "drug_class"))
        found.edges.append((key, "RELATED_TO", above, "category"))
        found.edges_in += 1


def _text(element: Element | None) -> str:
    return " ".join((element.text or "").split()) if element is not None else ""
