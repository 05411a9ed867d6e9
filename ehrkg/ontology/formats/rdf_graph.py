"""A graph that this package wrote as RDF: its tables, as they were."""

from __future__ import annotations

import pyarrow as pa

from ehrkg.ontology.formats.parts import Parts
from ehrkg.ontology.rdf_tables import table_of
from ehrkg.ontology.schema import Knowledge
from ehrkg.ontology.tables import SCHEMAS, ordered

UNITS = {"concepts": "nodes", "edges": "edges", "mappings": "mappings"}
"""What the ledger calls the rows of a table."""


def knowledge_of(triples: pa.Table) -> Knowledge:
    """The knowledge of a graph, equal to what was written.

    Args:
        triples: TRIPLES of the whole file.
    """
    return Knowledge(
        **{name: ordered(name, table_of(name, triples, SCHEMAS[name])) for name in SCHEMAS}
    )


def parts_of(triples: pa.Table) -> Parts:
    """The same, with the account that every reader gives."""
    parts = Parts(knowledge_of(triples))
    for name, unit in UNITS.items():
        parts.rows.append((unit, getattr(parts.knowledge, name).num_rows, {}))
    return parts
