"""From hospital tables to a benchmark, step by step.

    python examples/from_tables_to_benchmark.py [FOLDER]

FOLDER is where to work; a temporary one by default. To use MIMIC-IV, leave out the synthetic tables
and name the folder of your release (the one that holds ``hosp``) in ``kg.load_ehr``.
"""

import sys
import tempfile
from pathlib import Path

import ehrkg
from ehrkg.ehr import synth

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp())
synth.write(folder / "tables", patients=150, shape="demo", seed=7)

kg = ehrkg.open(folder / "graph.lbug")
hospital = kg.load_ehr(folder / "tables")
print(f"{hospital.visits.num_rows:,} visits with {hospital.events.num_rows:,} events")

links = kg.map_codes().links
print(f"{len(links['code'].unique()):,} codes reach a concept")

candidates = kg.propose(ehrkg.propose.Cooccurrence())
verified = kg.verify(candidates)
relations = verified.relations
verdicts = relations["verdict"].value_counts().to_pylist()
print({row["values"]: row["counts"] for row in verdicts})

bench = kg.instantiate(tasks=["treatment"], seed=7)
print(bench)

table = kg.query(
    "MATCH (t:Template)-[:ASSERTS]->(r:Relation) "
    "RETURN r.predicate AS predicate, count(t) AS templates ORDER BY templates DESC"
)
print(table.to_pylist())

item = next(iter(bench))
print(kg.explain(item["item_id"]).as_text())
kg.close()
