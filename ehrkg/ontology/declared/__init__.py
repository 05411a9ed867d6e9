r'''Tables that no standard describes, read by a short declaration of their columns.

A declaration is a YAML file. It says who owns the table, which files hold it, which rows to leave
out, and what a row says: concepts, mappings to other vocabularies, edges. Those of
``declared/shipped/`` (Hetionet, PrimeKG, DrugCentral, Every Cure, MAxO, PharmGKB, openFDA's NDC
table, HPO's annotations, PharmacotherapyDB, the Disease Ontology's tables, Mondo's edges) are found
by the columns of a table, or named: ``ontology.load(path, format="hetionet")``. One of your own is
found beside the table (``drugs.tsv`` and ``drugs.yaml``; ``declaration.yaml`` in a folder), or
named by its path: ``ontology.load("drugs.tsv", format="my/drugs.yaml")``, or, with the tables
beside it, ``ontology.load("my/drugs.yaml")``.

>>> import tempfile, textwrap
>>> from pathlib import Path
>>> from ehrkg import ontology
>>> from ehrkg.foundation.ledger import Ledger
>>> folder = Path(tempfile.mkdtemp())
>>> _ = (folder / "trials.csv").write_text(textwrap.dedent("""\
...     # our own reading of trials
...     drug,rxcui,condition,mesh,outcome
...     Aspirin,1191,Fever,D005334,helped
...     Aspirin,1191,Gout,D006073,no effect
...     Colchicine,2683,Gout,D006073,helped
...     Water,,Gout,D006073,helped
...     Aspirin,1191,Asthma,D001249,not finished
...     """))
>>> _ = (folder / "trials.yaml").write_text(textwrap.dedent("""\
...     name: our-trials
...     source: {infores: "infores:our-trials", name: Our trials, licence: CC-BY-4.0,
...              version: "2026-01", reliability: 0.8}
...     predicates:                      # words of this file for predicates of ehrkg
...       helped: TREATS
...       no effect: {predicate: TREATS, negated: true}
...     tables:
...       - files: "trials*.csv"
...         drop:
...           - {column: outcome, equals: not finished, reason: not_finished}
...         concepts:
...           - {id: {column: rxcui, prefix: RXCUI}, name: drug, kind: {text: drug}}
...           - {id: {column: mesh, prefix: MESH}, name: condition, kind: {text: disease}}
...         edges:
...           - subject: {column: rxcui, prefix: RXCUI}
...             predicate: outcome
...             object: {column: mesh, prefix: MESH}
...     """))
>>> ledger = Ledger()
>>> known = ontology.load(folder / "trials.csv", ledger=ledger)
>>> for edge in known.edges.to_pylist():
...     print(edge["subject"], edge["predicate"], edge["object"], edge["negated"], edge["licence"])
RXCUI:1191 TREATS MESH:D005334 False CC-BY-4.0
RXCUI:1191 TREATS MESH:D006073 True CC-BY-4.0
RXCUI:2683 TREATS MESH:D006073 False CC-BY-4.0
>>> ledger.dropped("know", "edges")
{'no_subject': 1, 'not_finished': 1}
>>> ledger.quarantine["know-our-trials"].column("drug").to_pylist()
['Aspirin', 'Water']

A declaration may stand on another: this one reads Hetionet without the pairs that are
PharmacotherapyDB's, for those who measure with the latter::

    extends: hetionet
    name: hetionet-for-measuring
    without: [CtD, CpD]

The words a declaration may hold are the fields of ``Declaration``, ``TableSpec``, ``ConceptSpec``,
``EdgeSpec``, ``MappingSpec``, ``Drop`` and ``Cell``, each with its meaning. Leading lines that
begin with "#" are passed over. Identifiers are normalised (``ehrkg.ontology.curies``).
'''

from ehrkg.ontology.declared.catalogue import declarations
from ehrkg.ontology.declared.declaration import (
    Cell,
    ConceptSpec,
    Condition,
    Declaration,
    Drop,
    EdgeSpec,
    MappingSpec,
    TableSpec,
)

__all__ = [
    "Cell",
    "ConceptSpec",
    "Condition",
    "Declaration",
    "Drop",
    "EdgeSpec",
    "MappingSpec",
    "TableSpec",
    "declarations",
]
