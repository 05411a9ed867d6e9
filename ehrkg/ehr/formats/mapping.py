"""A user's own tables, described by a short mapping of column names (the format ``tables``).

A YAML file beside the tables, ``ehrkg-tables.yaml``, or any other that is named:

    patients: {table: pts, patient: pid, sex: gender, birth: dob}
    visits: {table: stays, patient: pid, visit: stay, admitted: came, discharged: left}
    diagnoses: {table: dx, patient: pid, visit: stay, code: icd, system: ICD10CM}
    drugs: {table: rx, patient: pid, visit: stay, code: drug, system: DRUGNAME, start: begun}
    procedures: {table: px, patient: pid, visit: stay, code: [p1, p2, p3], system: ICD10PCS}

Each line names a table and, for our fields (``formats/README.md``), its columns. ``system`` is a
code system; where the version stands in a column, ``system: {column: ver, "9": ICD9CM, "10":
ICD10CM}``. Several columns of ``code`` are codes side by side. ``visits`` and one of the three
kinds of events are needed; of each kind there may be a list of tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from ehrkg.ehr.codes import code_system
from ehrkg.ehr.formats.language import Format, as_format
from ehrkg.foundation.errors import InputError, UsageError

MAPPING_FILE = "ehrkg-tables.yaml"
"""What the mapping is called where it lies beside the tables."""

_KINDS = {"diagnoses": "diagnosis", "drugs": "drug", "procedures": "procedure"}
_FIELDS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "patients": {
        "patient": {"type": "id"},
        "sex": {},
        "birth": {"type": "time"},
        "birth_year": {"type": "int"},
        "death": {"type": "time"},
        "year_group": {},
    },
    "visits": {
        "patient": {"type": "id"},
        "visit": {"type": "id"},
        "admitted": {"type": "time", "needed": True},
        "discharged": {"type": "time", "needed": True},
        "death": {"type": "time"},
        "died": {},
        "kind": {},
    },
    "events": {
        "patient": {"type": "id"},
        "visit": {"type": "key"},
        "code": {},
        "name": {},
        "seq": {"type": "int"},
        "start": {"type": "time"},
        "stop": {"type": "time"},
        "route": {},
        "drug_type": {},
        "ndc": {"type": "key"},
    },
}
_NEEDED = {
    "patients": ("patient",),
    "visits": ("patient", "visit", "admitted", "discharged"),
    "events": ("patient", "code", "system"),
}


def is_mapping(named: str) -> bool:
    """Whether what was named as a format is the path of a mapping.

    >>> is_mapping("my/tables.yaml"), is_mapping("mimic4")
    (True, False)
    """
    return named.lower().endswith((".yaml", ".yml"))


def format_of_mapping(path: Path) -> Format:
    """The format that a mapping describes.

    Raises:
        InputError: the file is not there, is no YAML, or names a field that there is none of.
        UsageError: a code system is unknown.
    """
    try:
        rows = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        raise InputError(
            "the mapping of tables can't be read",
            file=path,
            line=mark.line + 1 if mark else None,
            found=str(error).splitlines()[0],
            todo="write it as YAML: see ehrkg/ehr/formats/mapping.py",
        ) from error
    if not isinstance(rows, dict) or "visits" not in rows or not set(rows) & set(_KINDS):
        raise _wrong(path, rows, "visits, and one of " + ", ".join(_KINDS))
    unknown = sorted(set(rows) - {"patients", "visits", "folders", *_KINDS})
    if unknown:
        raise _wrong(path, ", ".join(unknown), "patients, visits, folders, " + ", ".join(_KINDS))
    visits = _unit(path, "visits", rows["visits"])
    return as_format(
        {
            "name": "tables",
            "title": f"the tables of {path.name}",
            "folders": rows.get("folders", [""]),
            "patients": _unit(path, "patients", rows["patients"])
            if "patients" in rows
            else _patients_of(visits),
            "visits": visits,
            "events": [
                _event_unit(path, kind, row)
                for name, kind in _KINDS.items()
                for row in _listed(rows.get(name, []))
            ],
        }
    )


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else [value]


def _patients_of(visits: Mapping[str, Any]) -> dict[str, Any]:
    """Patients who stand in no table of their own: those of the visits."""
    column = visits["columns"]["patient"]["column"]
    return {
        "table": visits["table"],
        "distinct": column,
        "columns": {"patient": {"column": column, "type": "id"}},
    }


def _unit(path: Path, section: str, row: Any, extra: Sequence[str] = ()) -> dict[str, Any]:
    fields = _FIELDS["events" if section in _KINDS.values() else section]
    known = ["table", *fields, *extra]
    needed = _NEEDED["events" if section in _KINDS.values() else section]
    if not isinstance(row, dict):
        raise _wrong(path, row, f"{section}: table and columns")
    unknown = sorted(set(row) - set(known))
    lacking = [name for name in ("table", *needed) if name not in row]
    if unknown or lacking:
        found = ", ".join(unknown) or "no " + ", no ".join(lacking)
        raise _wrong(path, f"{section}: {found}", ", ".join(known))
    return {
        "table": str(row["table"]).lower(),
        "columns": {
            name: {"column": _lower(row[name]), **rule}
            for name, rule in fields.items()
            if name in row
        },
    }


def _event_unit(path: Path, kind: str, row: Any) -> dict[str, Any]:
    unit = _unit(path, kind, row, extra=("system",))
    columns, system = unit["columns"], row["system"]
    unit["kind"] = kind
    unit["duplicates"] = "keep" if kind == "drug" else "drop"
    unit["without_visit"] = "by_date" if "start" in columns else "drop"
    columns.setdefault("visit", {"value": "", "type": "key"})
    if kind == "drug":
        columns.setdefault("drug_type", {"value": "MAIN"})
    if isinstance(system, dict):
        columns["version"] = {"column": _lower(system.get("column", "")), "type": "key"}
        unit["systems"] = {str(k): str(v) for k, v in system.items() if k != "column"}
    else:
        unit["systems"] = {"": str(system)}
    for name in unit["systems"].values():
        try:
            code_system(name)
        except UsageError as error:
            raise _wrong(path, f"{kind}: {name}", error.todo) from error
    if isinstance(row["code"], list):
        unit["wide"] = _lower(row["code"])
        columns["code"] = {"column": "wide.code"}
        columns["seq"] = {"column": "wide.place", "type": "int"}
    return unit


def _lower(value: Any) -> Any:
    return [str(v).lower() for v in value] if isinstance(value, list) else str(value).lower()


def _wrong(path: Path, found: Any, expected: str) -> InputError:
    return InputError(
        "the mapping of tables does not say what is needed",
        file=path,
        found=found,
        expected=expected,
        todo="see ehrkg/ehr/formats/mapping.py for an example",
    )
