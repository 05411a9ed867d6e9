"""MIMIC-III beside MIMIC-IV: refused, unless CareVue or an exclusion list parts them."""

from __future__ import annotations

import copy
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest

import ehrkg.ehr as ehr
from ehrkg.foundation.errors import InputError, UsageError
from tests.ehr.conftest import Extract


@pytest.fixture
def four(extract: Extract) -> ehr.Hospital:
    return ehr.read(extract.write())


def as_three(four: ehr.Hospital) -> ehr.Hospital:
    """The same patients as another data set would hold them: other ids, other dates."""
    shift = timedelta(days=-3650)

    def other(table: pa.Table, *names: str) -> pa.Table:
        rows = copy.deepcopy(table.to_pylist())
        for row in rows:
            row |= {name: "9" + row[name] for name in names}
            row |= {name: row[name] + shift for name in ("admitted", "discharged") if name in row}
        return pa.Table.from_pylist(rows, schema=table.schema)

    return replace(
        four,
        format="mimic3",
        patients=other(four.patients, "id"),
        visits=other(four.visits, "id", "patient"),
        visit_codes=other(four.visit_codes, "visit"),
    )


def test_visits_that_look_the_same_are_listed(four: ehr.Hospital) -> None:
    pairs = ehr.alike(as_three(four), four).to_pylist()
    assert [(row["visit"], row["other_visit"]) for row in pairs] == [
        ("911", "11"), ("912", "12"), ("921", "21")]  # fmt: skip
    assert ehr.alike(four, replace(four, visits=four.visits.slice(0, 0))).num_rows == 0


def test_the_two_are_refused_together(four: ehr.Hospital) -> None:
    three = as_three(four)
    for pair in ((three, four), (four, three)):
        with pytest.raises(UsageError, match="same admissions under other ids; 3 visits"):
            ehr.refuse_overlap(*pair)
    with pytest.raises(UsageError, match="2 visits"):
        ehr.refuse_overlap(three, four, exclude={"911"})
    ehr.refuse_overlap(three, four, exclude={"911", "12", "921"})
    ehr.refuse_overlap(three, four, carevue={"911", "912", "921"})
    with pytest.raises(UsageError):
        ehr.refuse_overlap(three, four, carevue={"911"})


def test_other_formats_are_judged_by_their_visits(four: ehr.Hospital) -> None:
    with pytest.raises(UsageError, match="911 = 11"):
        ehr.refuse_overlap(replace(as_three(four), format="meds"), four)
    none = four.visit_codes.slice(0, 0)
    ehr.refuse_overlap(replace(four, format="omop", visit_codes=none), four)


def test_carevue_visits_are_those_of_carevue_alone(tmp_path: Path) -> None:
    (tmp_path / "ICUSTAYS.csv").write_text(
        "ROW_ID,HADM_ID,DBSOURCE\n1,10,carevue\n2,11,metavision\n3,12,carevue\n4,12,metavision\n"
    )
    assert ehr.carevue_visits(tmp_path) == {"10"}


def test_the_open_demos_are_refused_together(shared_data: Path, four: ehr.Hospital) -> None:
    three = ehr.read(shared_data / "mimic-iii-demo-1.4")
    with pytest.raises(UsageError, match="mimic3 and mimic4 hold the same admissions"):
        ehr.refuse_overlap(three, four)
    with pytest.raises(InputError, match="which visit or system"):
        ehr.carevue_visits(shared_data / "mimic-iii-demo-1.4")
