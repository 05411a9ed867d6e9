"""A Hugging Face dataset: Parquet by split, a card, and Croissant metadata."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from ehrkg.benchmark.exports.croissant import File, croissant
from ehrkg.benchmark.exports.datasheet import datasheet
from ehrkg.benchmark.exports.export import Export
from ehrkg.benchmark.exports.rows import carried
from ehrkg.benchmark.exports.writing import rendered, write_text
from ehrkg.foundation.storage import ROW_GROUP, file_hash, write_atomically
from ehrkg.foundation.workspace import write_json

if TYPE_CHECKING:
    from ehrkg.benchmark.opened.benchmark import Benchmark

SPLITS = {"train": "train", "dev": "validation", "test": "test"}
"""Our names of splits, and the hub's, in the order in which they are shown."""

NAME = "ehrkg"


def write(bench: Benchmark, folder: Path, *, licence: str = "other", name: str = NAME) -> None:
    """Write data/SPLIT.parquet, README.md (the card) and croissant.json.

    Args:
        bench: the questions.
        folder: an empty folder.
        licence: an id of the hub's list of licences; the card's text says the terms.
        name: of the dataset.
    """
    files: list[File] = []
    schema = pa.schema([])
    for split, named in SPLITS.items():
        part = bench.filter(split=split)
        if not len(part):
            continue
        path = folder / "data" / f"{named}.parquet"
        schema = write_pages(part, path)
        relative = path.relative_to(folder).as_posix()
        files.append(File(named, relative, file_hash(path), path.stat().st_size, len(part)))
    card = rendered(
        "formats/card.md.j2",
        name=name,
        licence=licence,
        files=files,
        fields=[_feature(field) for field in schema],
        bytes=sum(file.size for file in files),
        size=size_category(len(bench)),
        sheet=datasheet(bench),
    )
    write_text(card, folder / "README.md")
    described = croissant(
        name=name, version=bench.version, licence=licence, files=files, schema=schema
    )
    write_json(described, folder / "croissant.json")


def write_pages(bench: Benchmark, path: Path) -> pa.Schema:
    """Write rows as one Parquet file, a page at a time.

    Returns:
        Its schema.
    """
    pages = carried(bench)
    first = next(pages)
    path.parent.mkdir(parents=True, exist_ok=True)

    def fill(part: Path) -> None:
        with pq.ParquetWriter(part, first.schema, compression="zstd") as writer:
            held, rows = [first], first.num_rows
            for page in pages:
                held.append(page)
                rows += page.num_rows
                if rows >= ROW_GROUP:
                    writer.write_table(pa.Table.from_batches(held))
                    held, rows = [], 0
            if held:
                writer.write_table(pa.Table.from_batches(held))

    write_atomically(path, fill)
    return first.schema


def size_category(n: int) -> str:
    """The hub's word for a number of rows.

    >>> size_category(999), size_category(960_067)
    ('n<1K', '100K<n<1M')
    """
    bounds = ((1_000, "1K"), (10_000, "10K"), (100_000, "100K"), (1_000_000, "1M"))
    least = ""
    for bound, word in bounds:
        if n < bound:
            return f"{least}<n<{word}" if least else f"n<{word}"
        least = word
    return "1M<n<10M" if n < 10_000_000 else "10M<n<100M"


def _feature(field: pa.Field) -> dict[str, Any]:
    inside = field.type.value_type if pa.types.is_list(field.type) else field.type
    kind = {"double": "float64"}.get(str(inside), str(inside))
    return {"name": field.name, "kind": kind, "list": pa.types.is_list(field.type)}


EXPORT = Export(
    "hf",
    "a Hugging Face dataset with card and Croissant metadata",
    "datasets.load_dataset(FOLDER)",
    write,
    options=("licence", "name"),
    datasheet=False,
)
