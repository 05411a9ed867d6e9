"""Derive the knowledge that ships from folders of open tables.

``python -m ehrkg.ontology.derive OPEN_TABLES [--out ontologies]`` reads drugcentral/, everycure/,
mondo/, hdo/, maxo/, drugbank-vocabulary/, pharmgkb/ and openfda-ndc/ and writes a folder a source
under ``--out``: ids, names and relations only, each with its licence. The same tables give the same
bytes.
"""

from ehrkg.ontology.derive.run import Derived, derive

__all__ = ["Derived", "derive"]
