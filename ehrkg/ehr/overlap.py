"""Two hospitals that may be one: MIMIC-III and MIMIC-IV hold the same admissions under other ids.

A joint graph or benchmark would know the answer to its own questions and split a patient over both
sides. So the two are refused together, unless the former is its CareVue part (admissions before
2008, which MIMIC-IV does not hold) or an exclusion list takes the shared ones out. Dates can't be
compared, since each data set shifts them by patient; a stay's length, its time of day, the sex and
the ICD-9 codes are the same in both.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Collection
from pathlib import Path

import pyarrow as pa

from ehrkg.ehr.formats import formats
from ehrkg.ehr.schema import Hospital
from ehrkg.ehr.sources.files import FileTables
from ehrkg.ehr.sources.finding import find_tables
from ehrkg.foundation.errors import InputError, UsageError

ALIKE = pa.schema(
    [
        ("visit", pa.string()),
        ("patient", pa.string()),
        ("other_visit", pa.string()),
        ("other_patient", pa.string()),
        ("shared", pa.int32()),  # ICD-9 diagnoses in both
        ("either", pa.int32()),  # ICD-9 diagnoses in one or both
    ]
)
"""Pairs of visits that look the same. Sorted by visit, other_visit."""

LEAST_SHARED = 0.5
"""Share of ICD-9 diagnoses that two visits must have in common, of those that either has."""

_SHOWN = 5


def alike(one: Hospital, other: Hospital) -> pa.Table:
    """Pairs of visits of two hospitals that look the same (ALIKE).

    Same sex, same length of stay to the second, admitted at the same time of day, and at least half
    of the ICD-9 diagnoses in common.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from ehrkg.ehr import synth
    >>> folder = Path(tempfile.mkdtemp()) / "tables"
    >>> synth.write(folder, patients=3, shape="demo")
    >>> from ehrkg import ehr
    >>> hospital = ehr.read(folder)
    >>> found = alike(hospital, hospital)
    >>> found["visit"].to_pylist() == found["other_visit"].to_pylist()
    True
    """
    there: dict[tuple[str, int, int], list[str]] = defaultdict(list)
    for visit, key in _shapes(other).items():
        there[key].append(visit)
    ours, theirs = _diagnoses(one), _diagnoses(other)
    owner, other_owner = _owners(one), _owners(other)
    found = []
    for visit, key in _shapes(one).items():
        for candidate in there.get(key, ()):
            both = len(ours[visit] & theirs[candidate])
            either = len(ours[visit] | theirs[candidate])
            if both and both >= LEAST_SHARED * either:
                people = owner[visit], other_owner[candidate]
                found.append((visit, people[0], candidate, people[1], both, either))
    columns = zip(*sorted(found), strict=True) if found else [[] for _ in ALIKE]
    return pa.table([list(column) for column in columns], schema=ALIKE)


def refuse_overlap(
    one: Hospital,
    other: Hospital,
    *,
    exclude: Collection[str] = (),
    carevue: Collection[str] = (),
) -> None:
    """Raise where two hospitals hold the same admissions under other ids.

    MIMIC-III and MIMIC-IV do, whatever extract of them is given; any others are judged by whether
    some of their visits look the same.

    Args:
        one: a hospital.
        other: one that shall stand beside it.
        exclude: visits that are left out of either.
        carevue: the visits of MIMIC-III's CareVue part (``carevue_visits``).

    Raises:
        UsageError: they do, and neither the CareVue part nor an exclusion list parts them; the
            message lists visits that look the same.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from ehrkg.ehr import synth
    >>> folder = Path(tempfile.mkdtemp()) / "tables"
    >>> synth.write(folder, patients=3, shape="demo")
    >>> from ehrkg import ehr
    >>> hospital = ehr.read(folder)
    >>> refuse_overlap(hospital, hospital)
    Traceback (most recent call last):
    ehrkg.foundation.errors.UsageError: mimic4 and mimic4 hold the same admissions ...
      do: use one of the two; ...
    """
    shares = one.format in formats() and other.format in formats()[one.format].shares_with
    older = one if one.format == "mimic3" else other
    left = set(older.visits["id"].to_pylist()) - set(exclude)
    if carevue and older.format == "mimic3" and left <= set(carevue):
        return
    pairs = [
        row
        for row in alike(one, other).to_pylist()
        if row["visit"] not in exclude and row["other_visit"] not in exclude
    ]
    if not pairs and (exclude or not shares):
        return
    shown = ", ".join(f"{row['visit']} = {row['other_visit']}" for row in pairs[:_SHOWN])
    raise UsageError(
        f"{one.format} and {other.format} hold the same admissions under other ids; "
        f"{len(pairs):,} visits look the same" + (f" ({shown})" if shown else ""),
        todo="use one of the two; or MIMIC-III's CareVue part; or list the visits to leave out",
    )


def carevue_visits(source: str | Path) -> frozenset[str]:
    r"""The visits of MIMIC-III whose stays on intensive care are all in CareVue.

    Args:
        source: the folder of MIMIC-III's tables, ICUSTAYS among them.

    Raises:
        InputError: ICUSTAYS is not there, or does not say which visit and system a stay is of.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> rows = "HADM_ID,DBSOURCE", "1,carevue", "2,carevue", "2,metavision"
    >>> _ = (folder / "ICUSTAYS.csv").write_text("\n".join(rows))
    >>> carevue_visits(folder)
    frozenset({'1'})
    """
    files = find_tables(Path(source), formats()["mimic3"].folders)
    needed = {"hadm_id", "dbsource"}
    if "icustays" not in files:
        raise InputError(
            "missing table: icustays",
            file=source,
            expected="MIMIC-III's ICUSTAYS, which says what is CareVue",
            todo="put the table beside the others",
        )
    with tempfile.TemporaryDirectory(prefix="ehrkg-") as scratch, FileTables(files, scratch) as con:
        raw = con.open("icustays", needed, name="icustays")
        if not needed <= raw.columns.keys():
            raise InputError(
                "the table does not say which visit or system a stay is of",
                **raw.where(),
                found=", ".join(raw.columns.values()),
                expected="HADM_ID and DBSOURCE",
                todo="use the table of the official release",
            )
        rows = raw.text.select("hadm_id", "dbsource").distinct().to_pyarrow().to_pylist()
    systems: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        systems[(row["hadm_id"] or "").strip()].add((row["dbsource"] or "").strip().lower())
    return frozenset(visit for visit, found in systems.items() if found == {"carevue"})


def _shapes(hospital: Hospital) -> dict[str, tuple[str, int, int]]:
    """Sex, seconds of stay and second of the day at admission, of each visit."""
    sex = dict(
        zip(hospital.patients["id"].to_pylist(), hospital.patients["sex"].to_pylist(), strict=True)
    )
    return {
        row["id"]: (
            sex[row["patient"]],
            int((row["discharged"] - row["admitted"]).total_seconds()),
            row["admitted"].hour * 3600 + row["admitted"].minute * 60 + row["admitted"].second,
        )
        for row in hospital.visits.to_pylist()
    }


def _diagnoses(hospital: Hospital) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    rows = hospital.visit_codes.select(["visit", "code"])
    for visit, code in zip(rows["visit"].to_pylist(), rows["code"].to_pylist(), strict=True):
        if code.startswith("ICD9CM:"):
            found[visit].add(code)
    return found


def _owners(hospital: Hospital) -> dict[str, str]:
    rows = hospital.visits
    return dict(zip(rows["id"].to_pylist(), rows["patient"].to_pylist(), strict=True))
