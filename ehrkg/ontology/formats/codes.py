"""Codes of source vocabularies as CURIEs, by one table of vocabularies on the bench."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from ehrkg.ontology.curies import normalise
from ehrkg.ontology.formats.folded import put
from ehrkg.ontology.sql import mapped

if TYPE_CHECKING:
    import duckdb

_PROBE = "aB.01"
_BLOCK = r"^([A-Z][0-9][0-9A-Z.]*-[A-Z][0-9].*|[0-9]{2,3}(\.[0-9]+)?-[0-9]{2,3}(\.[0-9]+)?)$"
"""A block of an ICD ("I00-I99", "390-459"), which is no code."""


def prefixed(bench: duckdb.DuckDBPyConnection, query: str, key: str) -> str:
    """Make a table of (key, object): the CURIEs of codes.

    Most prefixes leave a code as it is and are joined on in the database; codes whose spelling
    ``normalise`` changes (ICD and its dots) pass through it once each.

    Args:
        bench: has the table ``sources`` with sab, prefix and curie.
        query: gives the key, SAB and CODE; blocks ("I00-I99") and placeholders are left out.
        key: the name of the key's column.

    Returns:
        The table's name.
    """
    listed = bench.execute("SELECT sab, prefix, curie FROM sources").fetchall()
    plain, spelt = [], []
    for sab, prefix, curie in listed:
        if curie:
            spelt.append((sab, ""))
        elif prefix:
            probe = normalise(f"{prefix}:{_PROBE}")
            if probe.endswith(f":{_PROBE}"):
                plain.append((sab, probe.removesuffix(_PROBE)))
            else:
                spelt.append((sab, f"{prefix}:"))
    for name, pairs in (("plain", plain), ("spelt", spelt)):
        put(
            bench,
            f"{name}_prefixes",
            pa.table(
                {
                    "sab": pa.array([sab for sab, _ in pairs], pa.string()),
                    "prefix": pa.array([prefix for _, prefix in pairs], pa.string()),
                }
            ),
        )
    bench.execute(
        f"CREATE VIEW coded AS SELECT * FROM ({query}) "  # noqa: S608
        f"WHERE CODE <> '' AND CODE <> 'NOCODE' AND NOT regexp_matches(CODE, '{_BLOCK}')"
    )
    raw = bench.sql(
        "SELECT DISTINCT p.prefix || CODE AS raw FROM coded JOIN spelt_prefixes p USING (SAB)"
    ).to_arrow_table()
    words = mapped(raw["raw"], normalise)
    put(bench, "spellings", pa.table({"raw": raw["raw"], "object": words}))
    bench.execute(
        f"""
        CREATE TABLE codes AS
        SELECT DISTINCT {key}, p.prefix || CODE AS object
        FROM coded JOIN plain_prefixes p USING (SAB)
        UNION
        SELECT DISTINCT {key}, s.object FROM coded JOIN spelt_prefixes p USING (SAB)
        JOIN spellings s ON s.raw = p.prefix || CODE"""  # noqa: S608
    )
    return "codes"
