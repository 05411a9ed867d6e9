"""How long it takes to map 100,000 distinct codes.

    python tests/benchmarks/mapping_speed.py [CODES]

Real codes of ICD-10-CM, ICD-9-CM and ICD-10-PCS, drawn by hash from the public tables, and drug
strings made of the shipped drug names with strengths and forms. Target: mapped under 60 s on two
cores, with what ships. Reading what ships and laying out the code trees are timed apart; CPU
seconds are printed beside, since other work on the machine slows the clock and not the program.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import TypeVar

import pyarrow as pa

from ehrkg import ontology
from ehrkg.ehr.codes import normalise
from ehrkg.foundation.hashing import order_by_hash
from ehrkg.mapping import map_codes
from ehrkg.ontology.code_tables import icd9_tree, titles

TARGET = 60
PARTS = {"ICD10CM": 0.45, "ICD9CM": 0.12, "ICD10PCS": 0.23, "DRUGNAME": 0.2}
FORMS = ("", " 10 mg tablet", " hcl 5mg/5ml oral soln", " (generic) 20 mg", " iv 1 g premix", " xl")
Found = TypeVar("Found")


def timed(what: str, work: Callable[[], Found]) -> Found:
    """Do it and print how long it took."""
    clock, cpu = time.perf_counter(), time.process_time()
    found = work()
    print(
        f"{what:<32} {time.perf_counter() - clock:7.1f} s   {time.process_time() - cpu:7.1f} s CPU"
    )
    return found


def codes(number: int, knowledge: ontology.Knowledge) -> pa.Table:
    """CODES of about so many distinct codes."""
    kinds = {"ICD10CM": "diagnosis", "ICD9CM": "diagnosis", "ICD10PCS": "procedure"}
    concepts = knowledge.concepts
    drugs = [
        name
        for name, kind in zip(
            concepts["name"].to_pylist(), concepts["kind"].to_pylist(), strict=True
        )
        if kind == "drug" and name
    ]
    pools = {
        "ICD10CM": titles("ICD10CM"),
        "ICD9CM": icd9_tree(),
        "ICD10PCS": titles("ICD10PCS"),
        "DRUGNAME": [name + form for name in drugs for form in FORMS],
    }
    rows = []
    for system, share in PARTS.items():
        some = {normalise(system, code) for code in pools[system]}
        rows += [
            (f"{system}:{code}", system, code, "", kinds.get(system, "drug"))
            for code in order_by_hash(sorted(some), "speed")[: round(number * share)]
        ]
    columns = zip(*sorted(rows), strict=True)
    return pa.table(dict(zip(("id", "system", "code", "name", "kind"), columns, strict=True)))


def main() -> None:
    """Print the times."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    shipped = timed("reading what ships", ontology.shipped)
    table = timed("drawing the codes", lambda: codes(number, shipped))
    print(f"{table.num_rows:,} codes: {dict(Counter(table['system'].to_pylist()))}")
    known = timed(
        "laying out the trees", lambda: ontology.merge(shipped, ontology.for_codes(table))
    )
    mapping = timed(f"mapping (target {TARGET} s)", lambda: map_codes(table, known))
    print(f"{len(set(mapping.links['code'].to_pylist())):,} codes linked")


if __name__ == "__main__":
    main()
