"""MIMIC-IV on BigQuery, read where it lies: nothing is downloaded but what is counted and kept.

    pip install "ehrkg[bigquery]"
    gcloud auth application-default login
    python examples/mimic4_on_bigquery.py MY-BILLING-PROJECT

PhysioNet gives access to the data set ``physionet-data.mimiciv_3_1_hosp`` to those who signed its
agreement and asked for BigQuery; the queries run, and are paid for, in a project of your own. The
tables that come back hold patients' rows: they stay on your machine, as the agreement wants.
"""

from __future__ import annotations

import sys
from typing import Any

import pyarrow as pa

import ehrkg.ehr as ehr
from ehrkg.foundation.ledger import Ledger
from ehrkg.propose.counting import count_pairs

DATASET = ("physionet-data", "mimiciv_3_1_hosp")
"""Project and data set, as Ibis names them."""


def read_and_count(con: Any, database: Any = DATASET) -> tuple[ehr.Hospital, pa.Table]:
    """The hospital, and how often each drug and each diagnosis stand in one visit."""
    ledger = Ledger()
    hospital = ehr.read(con, format="mimic4", database=database, ledger=ledger)
    for entry in ledger:
        print(f"{entry.unit}: {entry.rows_in:,} rows, {entry.rows_out:,} used, {entry.dropped}")
    counts = count_pairs(hospital, head_kind="drug", tail_kind="diagnosis")
    return hospital, counts.pairs


def main() -> None:
    import ibis

    con = ibis.bigquery.connect(project_id=sys.argv[1])
    hospital, pairs = read_and_count(con)
    print(f"{hospital.visits.num_rows:,} visits, {hospital.codes.num_rows:,} codes")
    print(pairs.sort_by([("n_within", "descending")]).slice(0, 10).to_pandas())


if __name__ == "__main__":
    main()
