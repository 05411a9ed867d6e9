"""Reading tables by their declaration: which files, which rows, what was left out and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.foundation.errors import InputError
from ehrkg.ontology.declared.cells import columns_of, holds, texts
from ehrkg.ontology.declared.declaration import (
    Cell,
    ConceptSpec,
    Condition,
    Declaration,
    EdgeSpec,
    MappingSpec,
    TableSpec,
)
from ehrkg.ontology.declared.rows import batches, layout
from ehrkg.ontology.declared.statements import Context, Found, concepts, edges, mappings
from ehrkg.ontology.formats.archives import Entry, entries
from ehrkg.ontology.formats.parts import Parts
from ehrkg.ontology.predicates import extended
from ehrkg.ontology.schema import Knowledge
from ehrkg.ontology.sources import Source
from ehrkg.ontology.tables import SCHEMAS, knowledge

UNREADABLE = (".md", ".txt", ".html", ".yaml", ".yml", ".pdf", ".parquet")
"""Files that are no tables, whatever stands in them."""


def cells_of(spec: TableSpec) -> Iterator[Cell]:
    """All cells of a table's declaration."""
    for concept in spec.concepts:
        yield from _present(concept.id, concept.name, concept.definition, concept.kind)
        yield from (synonyms.cell for synonyms in concept.synonyms)
        for mapping in concept.mappings:
            yield from _present(mapping.object, mapping.predicate)
    for mapping in spec.mappings:
        yield from _present(mapping.subject, mapping.object, mapping.predicate)
    for edge in spec.edges:
        yield from _present(edge.subject, edge.predicate, edge.object, edge.negated)
        yield from _present(edge.route, edge.source, edge.origin, edge.provenance)
    yield from (condition.cell for condition in _conditions(spec))


def _present(*cells: Cell | None) -> Iterator[Cell]:
    yield from (cell for cell in cells if cell is not None)


def _conditions(spec: TableSpec) -> Iterator[Condition]:
    yield from spec.drop
    several: tuple[ConceptSpec | MappingSpec | EdgeSpec, ...] = (
        *spec.concepts,
        *(mapping for concept in spec.concepts for mapping in concept.mappings),
        *spec.mappings,
        *spec.edges,
    )
    for one in several:
        yield from one.where
    for edge in spec.edges:
        yield from (*(edge.turned or ()), *(edge.symmetric or ()))


def used_columns(spec: TableSpec) -> set[str]:
    """The columns that a table's declaration reads."""
    found = {name for cell in cells_of(spec) for name in columns_of(cell)}
    for cell in cells_of(spec):
        if cell.lookup is not None:
            found |= {cell.lookup.key, cell.lookup.value}
    return found


def tables_among(
    inside: Sequence[Entry], declaration: Declaration
) -> list[tuple[TableSpec, Entry]]:
    """The tables of a declaration among some files, told by their columns and their names.

    A single file may have any name, where its columns tell the table from all others.
    """
    return [
        (spec, entry)
        for spec in declaration.tables
        for entry in inside
        if (fits(entry.name, spec.files) or (len(inside) == 1 and spec.distinctive))
        and _has_columns(spec, entry)
    ]


def tables_named(
    inside: Sequence[Entry], declaration: Declaration
) -> list[tuple[TableSpec, Entry]]:
    """The tables that a caller says are there.

    A single file need fit by its columns only; a file that fits by its name is taken even where
    columns are missing, so that reading it says which.
    """
    single = len(inside) == 1
    found = [
        (spec, entry)
        for spec in declaration.tables
        for entry in inside
        if (single or fits(entry.name, spec.files)) and _has_columns(spec, entry)
    ]
    there, held = [spec for spec, _ in found], {entry for _, entry in found}
    return found + [
        (spec, entry)
        for spec in declaration.tables
        for entry in inside
        if spec not in there and entry not in held and fits(entry.name, spec.files)
    ]


def fits(name: str, patterns: Sequence[str]) -> bool:
    """Whether a file's name, without ".gz", fits one of the patterns, in any letter case.

    >>> fits("hetionet-v1.0-nodes.tsv", ("*nodes.tsv",))
    True
    """
    return any(fnmatch(name.lower(), pattern.lower()) for pattern in patterns)


def tables_in(path: Path) -> list[Entry]:
    """The files at a path that may be tables."""
    return [one for one in entries(path) if not one.name.lower().endswith(UNREADABLE)]


def _has_columns(spec: TableSpec, entry: Entry) -> bool:
    if ".json" in entry.name.lower() and not fits(entry.name, spec.files):
        return False  # to tell its columns would mean to read it
    found = layout(entry, spec)
    return found is not None and used_columns(spec) | set(spec.requires) <= set(found.columns)


def read_declared(path: Path, declaration: Declaration) -> Parts:
    """Read the tables at a path as a declaration says.

    Rows that are left out are counted by reason, and kept in quarantine under the declaration's
    name unless it was ``without`` that left them out.

    Args:
        path: a file, a folder, or a zip or tar archive of the tables.
        declaration: what they hold.

    Raises:
        InputError: none of the tables is there; a column is missing; a line or the file is broken.
    """
    found = tables_named(tables_in(path), declaration)
    if not found:
        raise _none_there(path, declaration)
    parts = Parts(knowledge())
    pieces: dict[str, list[pa.Table]] = {}
    refused: list[pa.Table] = []
    sources = {item.infores: item for item in (declaration.source, *declaration.sources)}
    with extended(declaration.predicates):
        for spec, entry in found:
            one = _read_table(spec, entry, declaration, sources)
            for name, tables in one.tables.items():
                pieces.setdefault(name, []).extend(tables)
            nodes = sum(table.num_rows for table in one.tables.get("concepts", ()))
            if spec.unit == "nodes":
                parts.rows.append(("nodes", nodes + sum(one.dropped.values()), one.dropped))
            else:
                parts.rows.append((spec.unit, one.candidates, one.dropped))
                parts.rows.append(("nodes", nodes, {}))
            label = pa.repeat(pa.scalar(entry.name, pa.string()), 1)[0]
            refused += [
                rows.append_column("file", pa.repeat(label, rows.num_rows)) for rows in one.refused
            ]
    parts.knowledge = Knowledge(**{name: _joined(name, pieces.get(name, [])) for name in SCHEMAS})
    if refused:
        parts.quarantine[declaration.name] = pa.concat_tables(refused, promote_options="permissive")
    return parts


def _joined(name: str, tables: list[pa.Table]) -> pa.Table:
    return pa.concat_tables([SCHEMAS[name].empty_table(), *tables])


def _read_table(
    spec: TableSpec, entry: Entry, declaration: Declaration, sources: Mapping[str, Source]
) -> Found:
    found = Found()
    context = Context(declaration, _lookups(spec, entry), sources)
    for batch in batches(entry, spec, used_columns(spec) | set(spec.requires)):
        rows = batch
        for drop in spec.drop:
            mask = holds(rows, (drop,))
            if spec.unit != "nodes":
                found.candidates += pc.sum(mask).as_py() or 0
            found.drop(rows, mask, drop.reason)
            rows = rows.filter(pc.invert(mask))
        if spec.unit == "nodes":
            nameless = pc.equal(texts(rows, spec.concepts[0].id, context.lookups), "")
            found.drop(rows, nameless, "no_id")
            rows = rows.filter(pc.invert(nameless))
        for concept in spec.concepts:
            concepts(rows, concept, context, found)
        for mapping in spec.mappings:
            mappings(rows, mapping, context, found)
        for edge in spec.edges:
            edges(rows, edge, context, found)
    return found


def _lookups(spec: TableSpec, entry: Entry) -> dict[tuple[str, str], dict[str, str]]:
    """What each key of a lookup becomes; a key beside several values becomes nothing."""
    wanted = {(c.lookup.key, c.lookup.value) for c in cells_of(spec) if c.lookup is not None}
    found: dict[tuple[str, str], dict[str, str]] = {}
    for key, value in sorted(wanted):
        pairs: dict[str, set[str]] = {}
        for batch in batches(entry, spec, {key, value}):
            keys = texts(batch, Cell(column=key)).to_pylist()
            values = texts(batch, Cell(column=value)).to_pylist()
            for one, other in zip(keys, values, strict=True):
                if one and other:
                    pairs.setdefault(one, set()).add(other)
        found[key, value] = {one: min(many) for one, many in pairs.items() if len(many) == 1}
    return found


def _none_there(path: Path, declaration: Declaration) -> InputError:
    files = [one.name for one in entries(path)]
    return InputError(
        f"holds no table of the format {declaration.name}",
        file=path,
        found=", ".join(files[:10]) or "nothing",
        expected="; ".join(
            f"{' or '.join(spec.files)} with {', '.join(sorted(used_columns(spec)))}"
            for spec in declaration.tables
        )[:800],
        todo="name another path or format, or write a declaration of your own "
        "(help(ehrkg.ontology.declared))",
    )
