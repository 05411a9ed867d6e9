"""A knowledge graph written in other tools' formats."""

from __future__ import annotations

from pathlib import Path

from ehrkg.graph import GraphStore
from ehrkg.graph.kgx_out import export_kgx
from ehrkg.graph.rdf import write_rdf


class Exports:
    """What ``KnowledgeGraph`` writes for others.

    Attributes:
        store: the engine that holds the graph.
    """

    store: GraphStore

    def to_rdf(self, path: str | Path) -> int:
        """Write knowledge, relations and evidence as RDF, with their provenance (PROV-O).

        ``load_ontology`` reads the knowledge of the file back equal, ``graph.rdf.read_rdf`` all.

        Args:
            path: a file that ends with .nt or .nt.gz (a stream), .ttl or .jsonld.

        Returns:
            How many triples.
        """
        return write_rdf(self.store, Path(path))

    def to_kgx(self, folder: str | Path) -> dict[str, int]:
        """Write the knowledge as KGX JSON Lines and SSSOM; ``load_ontology`` reads it back equal.

        Args:
            folder: a new folder, or an empty one.

        Returns:
            How many lines each file has.
        """
        return export_kgx(self.store, Path(folder))
