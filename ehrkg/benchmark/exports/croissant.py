"""Croissant metadata (MLCommons, version 1.0) of Parquet files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The JSON-LD context that the specification gives."""

DESCRIPTION = (
    "Questions on real hospital visits, made from relations that a knowledge graph supports. They "
    "complete a record in retrospect; they do not measure diagnosis at the bedside."
)


@dataclass(frozen=True)
class File:
    """A Parquet file.

    Attributes:
        split: the part of the dataset it holds.
        path: from the folder of the metadata.
        sha256: of its bytes.
        size: in bytes.
        rows: how many.
    """

    split: str
    path: str
    sha256: str
    size: int
    rows: int


def croissant(
    *, name: str, version: str, licence: str, files: Sequence[File], schema: pa.Schema
) -> dict[str, Any]:
    """Metadata that mlcroissant validates and reads the files by.

    Args:
        name: of the dataset.
        version: its version; what follows the third number is marked as a build.
        licence: an id, or the address of a text.
        files: one a split.
        schema: of all of them.

    >>> found = croissant(name="q", version="0.1.0-ab", licence="other", files=[],
    ...                   schema=pa.schema([]))
    >>> found["version"], found["@type"]
    ('0.1.0+ab', 'sc:Dataset')
    """
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": name,
        "description": DESCRIPTION,
        "license": licence,
        "version": version.replace("-", "+", 1),
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": file.path,
                "name": file.path,
                "contentUrl": file.path,
                "contentSize": f"{file.size} B",
                "encodingFormat": "application/x-parquet",
                "sha256": file.sha256,
            }
            for file in files
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": file.split,
                "name": file.split,
                "description": f"{file.rows} questions",
                "field": [_field(file, field) for field in schema],
            }
            for file in files
        ],
    }


def _field(file: File, field: pa.Field) -> dict[str, Any]:
    repeated = pa.types.is_list(field.type)
    inside = field.type.value_type if repeated else field.type
    return {
        "@type": "cr:Field",
        "@id": f"{file.split}/{field.name}",
        "name": f"{file.split}/{field.name}",
        "dataType": _kind(inside),
        **({"repeated": True} if repeated else {}),
        "source": {"fileObject": {"@id": file.path}, "extract": {"column": field.name}},
    }


def _kind(kind: pa.DataType) -> str:
    if pa.types.is_boolean(kind):
        return "sc:Boolean"
    if pa.types.is_integer(kind):
        return "sc:Integer"
    return "sc:Float" if pa.types.is_floating(kind) else "sc:Text"
