"""How much of three real sets of tables reaches a concept, with what ships and with more.

    python tests/benchmarks/mapping_reach.py ../shared/data

Prints, for the MIMIC-IV demo, the MIMIC-III demo and the OMOP sample, the share of rows and of
distinct codes that reach a concept at the exact or near level (one level up at most). Targets on
the MIMIC-IV demo: diagnoses 75 %, drugs 85 %, procedures 40 % of rows with what ships; 85, 92, 60 %
with the open tables beside it. What fails, by frequency, is what ``ehrkg coverage OUT`` lists.
"""

from __future__ import annotations

import sys
from pathlib import Path

from ehrkg import ehr, ontology
from ehrkg.ehr.schema import Hospital
from ehrkg.ontology.schema import Knowledge
from ehrkg.session.coverage import measure

HOSPITALS = {
    "MIMIC-IV demo": "mimic-iv-demo-2.2",
    "MIMIC-III demo": "mimic-iii-demo-1.4",
    "OMOP sample": "omop-synthea27nj",
}

FURTHER = (
    "mondo/*.sssom.tsv",
    "mondo/edges_*.tsv",
    "hdo/doid-simple_*.obo",
    "hdo/HumanDO.tsv",
    "drugbank-vocabulary/*.csv",
    "pharmgkb/pharmgkb.drug.sssom.tsv",
    "openfda-ndc/openfda_single.csv",
    "everycure/drugs.csv.gz",
)
"""Open tables beside what ships, as patterns below the folder."""


def show(title: str, what: str, hospital: Hospital, knowledge: Knowledge) -> None:
    """A line a group of codes: rows, the share reached, distinct codes, the share reached."""
    for row in measure(hospital, knowledge).reach.to_pylist():
        rows, codes = row["rows"], row["codes"]
        print(
            f"{title:<15} {what:<11} {row['group']:<33} {rows:>7,} "
            f"{(row['exact'] + row['near']) / max(rows, 1):>8.1%} {codes:>6,} "
            f"{row['codes_reached'] / max(codes, 1):>8.1%}",
            flush=True,
        )


def main(data: Path) -> None:
    ships = ontology.shipped()
    head = f"{'tables':<15} {'knowledge':<11} {'rows of':<33} {'rows':>7} {'reached':>8}"
    print(f"{head} {'codes':>6} {'reached':>8}")
    hospitals = {title: ehr.read(data / folder) for title, folder in HOSPITALS.items()}
    for title, hospital in hospitals.items():
        show(title, "what ships", hospital, ships)
    further = [ontology.load(path) for pattern in FURTHER for path in sorted(data.glob(pattern))]
    more = ontology.merge(ships, *further)
    for title, hospital in hospitals.items():
        show(title, "and more", hospital, more)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
