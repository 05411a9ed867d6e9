"""The links that a graph holds, as the stage after mapping takes them."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.graph import GraphStore, readers
from ehrkg.mapping.chain import map_codes
from ehrkg.mapping.schema import LINKS, Mapping
from ehrkg.ontology.schema import Knowledge


def stored_mapping(store: GraphStore, codes: pa.Table, knowledge: Knowledge) -> Mapping | None:
    """The links a graph holds, with the kind of each drug string; None where it holds no link.

    The kinds are not in the graph; they follow from the strings and the knowledge.
    """
    links = readers.read_links(store)
    if not links.num_rows:
        return None
    drugs = codes.filter(pc.equal(codes["kind"], "drug"))
    kinds = map_codes(drugs, knowledge).drug_strings
    return Mapping(links.select(LINKS.names).cast(LINKS), kinds)
