"""A code has one canonical form, the same for one string and for a column."""

from __future__ import annotations

import ibis
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ehrkg.ehr import codes, routes
from ehrkg.foundation.errors import UsageError

RAW = st.text(alphabet="eEvVxX0123456789. \t\u00a0iI", max_size=9)


@pytest.mark.parametrize(
    ("system", "raw", "canonical"),
    [
        ("ICD10CM", "I5023", "I50.23"),
        ("ICD10CM", "i50.23", "I50.23"),
        ("ICD10CM", "I10", "I10"),
        ("ICD10CM", "E119", "E11.9"),
        ("ICD10CM", "T8612XA", "T86.12XA"),
        ("ICD9CM", "4280", "428.0"),
        ("ICD9CM", "0088", "008.8"),
        ("ICD9CM", "042", "042"),
        ("ICD9CM", "V5861", "V58.61"),
        ("ICD9CM", "E8497", "E849.7"),
        ("ICD9CM", "E001", "E001"),
        ("ICD9PROC", "3961", "39.61"),
        ("ICD9PROC", "0066", "00.66"),
        ("ICD10PCS", "02100z9 ", "02100Z9"),
        ("DRUGNAME", "HYDROmorphone  (Dilaudid) ", "hydromorphone (dilaudid)"),
    ],
)
def test_layouts(system: str, raw: str, canonical: str) -> None:
    assert codes.normalise(system, raw) == canonical
    assert codes.normalise(system, canonical) == canonical


@pytest.fixture(scope="module")
def engine() -> ibis.BaseBackend:
    return ibis.duckdb.connect()


@settings(max_examples=15, deadline=None)
@given(raw=st.lists(RAW, min_size=1, max_size=40))
def test_a_column_is_normalised_as_each_string_is(engine: ibis.BaseBackend, raw: list[str]) -> None:
    table = ibis.memtable({"raw": raw}, schema={"raw": "string"})
    columns = {s: codes.normalise_column(s, table.raw) for s in codes.CODE_SYSTEMS}
    folded = routes.route_column(routes.fold_column(table.raw))
    rows = engine.to_pyarrow(table.select("raw", route=folded, **columns)).to_pylist()
    for row in rows:
        assert row["route"] == routes.route_class(row["raw"])
        for system in codes.CODE_SYSTEMS:
            assert row[system] == codes.normalise(system, row["raw"])


def test_identity_is_system_and_code() -> None:
    nine, ten = codes.code_id("ICD9CM", "E849.7"), codes.code_id("ICD10CM", "E84.97")
    assert nine != ten
    assert codes.system_of(nine) == "ICD9CM"
    with pytest.raises(UsageError, match="ICD10CM"):
        codes.normalise("ICD11", "1A00")
    with pytest.raises(UsageError):
        codes.system_of("I50.23")
    with pytest.raises(UsageError):
        codes.system_of("MONDO:0005252")


def test_each_route_word_has_one_class_and_flushes_stand_apart() -> None:
    words = [word for route in routes.ROUTES.values() for word in route.words]
    assert len(words) == len(set(words))
    assert all(word == word.upper() for word in words)
    assert {"flush", "topical", "ophthalmic"} <= routes.APART
    assert not {"oral", "intravenous", "subcutaneous"} & routes.APART


def test_every_route_of_the_demo_has_a_class(mimic4_demo) -> None:
    import pandas as pd

    drugs = pd.read_csv(mimic4_demo / "hosp" / "prescriptions.csv.gz", dtype=str)
    words = drugs["route"].dropna().unique()
    assert [word for word in words if routes.route_class(word) == routes.UNKNOWN] == []
