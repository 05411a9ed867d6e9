"""RDF as one table, whatever syntax it came in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.ontology.iris import contract
from ehrkg.ontology.sql import mapped

TRIPLES = pa.schema(
    [
        ("s", pa.string()),  # a CURIE, an IRI no prefix fits, or "_:" and a number
        ("p", pa.string()),
        ("o", pa.string()),  # likewise, or the text of a literal
        ("literal", pa.bool_()),
        ("lang", pa.string()),  # of a literal; "" where none
    ]
)
Triple = tuple[str, str, str, bool, str]
"""Subject, predicate and object as IRIs ("_:1" where blank); whether a literal; its language."""
_PIECE = 100_000


def table(triples: Iterable[Triple]) -> pa.Table:
    """Triples with their IRIs as CURIEs; read in pieces, so the source may be a stream.

    >>> table([("http://purl.obolibrary.org/obo/DOID_4",
    ...         "http://www.w3.org/2000/01/rdf-schema#label", "disease", True, "en")]).to_pylist()
    [{'s': 'DOID:4', 'p': 'rdfs:label', 'o': 'disease', 'literal': True, 'lang': 'en'}]
    """
    raw = pa.Table.from_batches(_batches(triples), schema=TRIPLES)
    literal = raw.column("literal")
    texts, named = raw.filter(literal), raw.filter(pc.invert(literal))
    named = named.set_column(2, "o", mapped(named.column("o"), _short))
    both = pa.concat_tables([texts, named])
    both = both.set_column(0, "s", mapped(both.column("s"), _short))
    return both.set_column(1, "p", mapped(both.column("p"), contract)).cast(TRIPLES)


def _short(node: str) -> str:
    return node if node.startswith("_:") else contract(node)


def _batches(triples: Iterable[Triple]) -> Iterator[pa.RecordBatch]:
    source = iter(triples)
    while piece := list(islice(source, _PIECE)):
        columns = zip(*piece, strict=True)
        yield pa.RecordBatch.from_arrays(
            [pa.array(c, f.type) for c, f in zip(columns, TRIPLES, strict=True)], schema=TRIPLES
        )
