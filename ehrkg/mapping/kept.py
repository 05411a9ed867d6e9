"""Links that were found before, taken again as long as nothing that they rest on has changed.

What a code links to depends on its name, on what its tree and its GEMs say, and on the knowledge;
not on the other codes of the hospital. So each code carries a digest of all of that, and only codes
that are new, or whose digest is another, are mapped.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.foundation.workspace import read_ipc, write_ipc
from ehrkg.mapping import index
from ehrkg.mapping.index import Index
from ehrkg.mapping.mapper import Code, prefixes_of
from ehrkg.mapping.schema import DRUG_STRINGS, LINKS
from ehrkg.ontology.schema import Knowledge
from ehrkg.ontology.spellings import respelt

CODES = pa.schema([("id", pa.string()), ("digest", pa.string()), ("reason", pa.string())])
"""One row a code that was mapped; ``reason``: why it has no link, "" where it has."""

_SUBJECTS = {
    "concepts": "id",
    "synonyms": "concept",
    "edges": "subject",
    "mappings": "subject",
}
"""By table of the knowledge, whom a row is about."""


@dataclass(frozen=True)
class Mapped:
    """What mapping found for some codes.

    Attributes:
        codes: CODES.
        links: LINKS.
        drug_strings: DRUG_STRINGS.
    """

    codes: pa.Table
    links: pa.Table
    drug_strings: pa.Table

    def of(self, digests: Mapping[str, str]) -> Mapped:
        """The part about codes whose digests are still these."""
        same = [digests.get(row["id"]) == row["digest"] for row in self.codes.to_pylist()]
        codes = self.codes.filter(pa.array(same, pa.bool_()))
        ids = codes["id"].combine_chunks()
        links, strings = (
            table.filter(pc.is_in(table["code"], value_set=ids))
            for table in (self.links, self.drug_strings)
        )
        return Mapped(codes, links, strings)

    def with_more(self, more: Mapped) -> Mapped:
        """Both, in the order of their keys."""
        order = {
            "codes": ("id",),
            "links": ("code", "levels", "concept", "method"),
            "drug_strings": ("code",),
        }
        return Mapped(
            **{
                name: pa.concat_tables([getattr(self, name), getattr(more, name)])
                .sort_by([(key, "ascending") for key in keys])
                .combine_chunks()
                for name, keys in order.items()
            }
        )


NOTHING = Mapped(CODES.empty_table(), LINKS.empty_table(), DRUG_STRINGS.empty_table())


def read(folder: Path | None) -> Mapped:
    """What a folder keeps; nothing where there is none."""
    if folder is None or not folder.is_dir():
        return NOTHING
    names = ("codes", "links", "drug_strings")
    return Mapped(**{name: read_ipc(folder / f"{name}.arrow") for name in names})


def write(mapped: Mapped, folder: Path) -> None:
    """Keep this in place of what a folder kept; whoever is cut off keeps nothing."""
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    for name in ("codes", "links", "drug_strings"):
        write_ipc(getattr(mapped, name), part / f"{name}.arrow")
    shutil.rmtree(folder, ignore_errors=True)
    part.rename(folder)


def digests(codes: Sequence[Code], knowledge: Knowledge, embedder: str) -> dict[str, str]:
    """For each code a digest of all that its links rest on.

    Args:
        codes: all of the hospital's.
        knowledge: what they are mapped by.
        embedder: the name of the model that compares names, "" for none.
    """
    trees, others = _parted(knowledge)
    common = hashlib.sha256()
    kinds = sorted({code.kind for code in codes})
    common.update(repr((embedder, sorted(prefixes_of(codes)), kinds)).encode())
    for name in _SUBJECTS:
        common.update(_bytes(getattr(others, name)))
    laid = index.build(trees)
    return {
        code.id: hashlib.sha256(
            common.digest() + repr((code, _places(code.id, laid))).encode()
        ).hexdigest()
        for code in codes
    }


def _parted(knowledge: Knowledge) -> tuple[Knowledge, Knowledge]:
    """What is said of the codes of code systems, and what is said of all else."""
    theirs, others = {}, {}
    for name, subject in _SUBJECTS.items():
        table: pa.Table = getattr(knowledge, name)
        about = _are_codes(table[subject])
        theirs[name], others[name] = table.filter(about), table.filter(pc.invert(about))
    return replace(knowledge, **theirs), replace(knowledge, **others)


def _are_codes(curies: pa.ChunkedArray) -> pa.ChunkedArray:
    """``index.is_code`` of a column."""
    return reduce(
        pc.or_, (pc.starts_with(curies, f"{prefix}:") for prefix in sorted(index.code_prefixes()))
    )


def _bytes(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    plain = table.replace_schema_metadata(None).combine_chunks()
    with pa.ipc.new_stream(sink, plain.schema) as writer:
        writer.write_table(plain)
    found: bytes = sink.getvalue().to_pybytes()
    return found


def _places(code: str, trees: Index) -> list[object]:
    """What stands at and above a code, what it is a misspelling of, and where their GEMs lead."""
    found: list[object] = []
    for start in filter(None, (code, respelt(code))):
        gems = trees.gems.get(start, ())
        found += [start, gems, *_above([start, *(row.concept for row in gems)], trees)]
    return found


def _above(codes: Iterable[str], trees: Index) -> list[tuple[str, str, tuple[str, ...]]]:
    return [
        (place, trees.names.get(place, ""), trees.terms.get(place, ()))
        for code in codes
        for place in trees.chain(code)
    ]
