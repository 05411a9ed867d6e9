"""Tables as RDF and back: what each row is called, and by which terms its columns go."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from urllib.parse import quote, unquote

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.foundation.hashing import short_id
from ehrkg.ontology.categories import read_yaml
from ehrkg.ontology.iris import expand, written
from ehrkg.ontology.sql import mapped, run

XSD = "http://www.w3.org/2001/XMLSchema#"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
JSON = "http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON"
GRAPH = "ehrkg:Graph"
"""The class of a whole graph of this package: a file that has one is read back row by row."""


@dataclass(frozen=True)
class Shape:
    """A row of rdf_tables.yaml.

    Attributes:
        rdf_class: the class of the table's rows.
        at: the column that names a row, "" where its content does.
        begins: what the rows' IRIs begin with, "" for a CURIE's own.
        columns: the terms of columns that do not go by ``ehrkg:`` and their name.
        links: the columns that point to something.
    """

    rdf_class: str
    at: str
    begins: str
    columns: Mapping[str, str]
    links: frozenset[str]

    def term(self, column: str) -> str:
        """The term a column goes by."""
        return self.columns.get(column, f"ehrkg:{column}")


@cache
def shapes() -> Mapping[str, Shape]:
    """How each table is written, by its name."""
    return {
        name: Shape(row["class"], row["at"], row["begins"], row["columns"], frozenset(row["links"]))
        for name, row in read_yaml("rdf_tables.yaml").items()
    }


def iri(term: str) -> str:
    """The IRI of a term of this table.

    >>> iri("prov:wasDerivedFrom")
    'http://www.w3.org/ns/prov#wasDerivedFrom'
    """
    prefix, _, local = term.partition(":")
    return f"{written()[prefix]}{local}"


def triples_of(name: str, rows: pa.Table) -> Iterator[pa.ChunkedArray]:
    """Lines of N-Triples that hold a table, column by column; nothing for a null.

    Args:
        name: a table of rdf_tables.yaml.
        rows: the table.
    """
    shape = shapes()[name]
    subjects = _subjects(shape, rows)
    yield lines(subjects, TYPE, pa.repeat(f"<{iri(shape.rdf_class)}>", rows.num_rows))
    for field in rows.schema:
        if field.name != shape.at:
            column = rows.column(field.name)
            link = field.name in shape.links
            objects = links(column) if link else _literals(column, field.type)
            yield lines(subjects, iri(shape.term(field.name)), objects)


def lines(subjects: pa.Array, predicate: str, objects: pa.Array) -> pa.ChunkedArray:
    """A line of N-Triples for each subject and object; none where the object is null."""
    return pc.drop_null(
        pc.binary_join_element_wise(
            subjects, pa.scalar(f" <{predicate}> "), objects, pa.scalar(" .\n"), ""
        )
    )


def links(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Identifiers as IRIs in brackets."""
    return pc.if_else(pc.is_valid(column), mapped(column, lambda one: f"<{expand(one)}>"), None)


def texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Texts as literals in quotes."""
    for raw, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r")):
        column = pc.replace_substring(column, raw, escaped)
    return pc.binary_join_element_wise('"', column, '"', "")


def _literals(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    if pa.types.is_list(kind):
        packed = [
            None if v is None else json.dumps(v, ensure_ascii=False) for v in column.to_pylist()
        ]
        return _typed(texts(pa.chunked_array([pa.array(packed, pa.string())])), JSON)
    if pa.types.is_boolean(kind):
        return _typed(texts(pc.if_else(column, "true", "false")), f"{XSD}boolean")
    if pa.types.is_floating(kind):
        # decimals, since writers of RDF shorten doubles
        shown = [None if v is None else f"{Decimal(repr(v)):f}" for v in column.to_pylist()]
        return _typed(texts(pa.chunked_array([pa.array(shown, pa.string())])), f"{XSD}decimal")
    if pa.types.is_integer(kind):
        return _typed(texts(column.cast(pa.string())), f"{XSD}integer")
    return texts(column.cast(pa.string()))


def _typed(column: pa.ChunkedArray, datatype: str) -> pa.ChunkedArray:
    return pc.binary_join_element_wise(column, f"^^<{datatype}>", "")


def _subjects(shape: Shape, rows: pa.Table) -> pa.ChunkedArray:
    if not shape.at:
        named = [f"<{shape.begins}{short_id('', *row.values())}>" for row in rows.to_pylist()]
        return pa.chunked_array([pa.array(named, pa.string())])
    if not shape.begins:
        return links(rows.column(shape.at))
    begins = shape.begins
    return mapped(rows.column(shape.at), lambda one: f"<{begins}{quote(one, safe='')}>")


def is_graph(triples: pa.Table) -> bool:
    """Whether these are the triples of a whole graph of this package."""
    found = run(
        "SELECT 1 FROM t WHERE p = 'rdf:type' AND o = $graph LIMIT 1",
        t=triples,
        parameters={"graph": GRAPH},
    )
    return bool(found.num_rows)


def table_of(name: str, triples: pa.Table, schema: pa.Schema) -> pa.Table:
    """A table out of the triples that hold it, in no particular order.

    Args:
        name: a table of rdf_tables.yaml.
        triples: TRIPLES.
        schema: the table's.
    """
    shape = shapes()[name]
    members = run(
        "SELECT s FROM t WHERE p = 'rdf:type' AND o = $kind",
        t=triples,
        parameters={"kind": shape.rdf_class},
    )
    terms = {field.name: shape.term(field.name) for field in schema if field.name != shape.at}
    picked = ", ".join(f"max(o) FILTER (p = '{term}') AS {name}" for name, term in terms.items())
    rows = run(
        f"SELECT t.s AS at, {picked} FROM members LEFT JOIN t ON t.s = members.s "  # noqa: S608
        "GROUP BY t.s",
        t=triples,
        members=members,
    )
    columns = {
        field.name: mapped(rows.column("at"), _own(shape))
        if field.name == shape.at
        else _values(rows.column(field.name), field.type)
        for field in schema
    }
    return pa.table(columns).cast(schema)


def _own(shape: Shape) -> Callable[[str], str]:
    """From a row's IRI to its name."""
    begins = shape.begins
    return lambda one: unquote(one.removeprefix(begins)) if begins else one


def _values(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    if pa.types.is_list(kind):
        unpacked = [None if v is None else json.loads(v) for v in column.to_pylist()]
        return pa.chunked_array([pa.array(unpacked, kind)])
    if pa.types.is_boolean(kind):
        return pc.equal(column, "true")
    return column.cast(kind)
