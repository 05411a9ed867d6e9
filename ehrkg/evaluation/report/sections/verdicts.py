"""What was proposed and what held: by predicate, by source, by proposer, against the planted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.evaluation.report.data import ReportData
from ehrkg.verify.worth import VERDICTS, by_proposer, found_beyond_cooccurrence

SHOWN_FINDS = 10
"""Supported relations shown of each proposer that co-occurrence did not find."""


def collect(data: ReportData) -> dict[str, Any] | str:
    """Verdicts in four views."""
    relations = data.verified.relations
    if not relations.num_rows:
        return "no relation was proposed"
    named = data.hospital.codes
    names = dict(zip(named["id"].to_pylist(), named["name"].to_pylist(), strict=True))
    return {
        "names": list(VERDICTS),
        "by_predicate": _by(relations["predicate"], relations["verdict"]),
        "by_source": by_source(relations),
        "proposers": proposers(relations, names),
        "planted": list(data.manifest.get("planted", ())),
    }


def by_source(relations: pa.Table) -> list[dict[str, Any]]:
    """Of each source: the relations on which it has something to say, by verdict.

    A relation counts under every source that evidence for or against it comes from;
    ``falls_without`` counts the supported ones that no other source carries.
    """
    source = pc.list_flatten(relations["sources"])
    verdict = relations["verdict"].take(pc.list_parent_indices(relations["sources"]))
    needed = relations.filter(pc.equal(relations["verdict"], "supported"))["depends_on"]
    falls = {
        row["values"]: row["counts"] for row in pc.list_flatten(needed).value_counts().to_pylist()
    }
    return [row | {"falls_without": falls.get(row["name"], 0)} for row in _by(source, verdict)]


def proposers(relations: pa.Table, names: Mapping[str, str]) -> list[dict[str, Any]]:
    """What each proposer's word was worth, with the best of what co-occurrence did not find.

    Args:
        relations: RELATIONS.
        names: code id to name.
    """
    rows: list[dict[str, Any]] = by_proposer(relations).to_pylist()
    for row in rows:
        found = []
        if row["beyond_cooccurrence"] is not None:
            found = found_beyond_cooccurrence(relations, row["proposer"]).to_pylist()
        row["found"] = [claim_words(relation, names) for relation in found[:SHOWN_FINDS]]
    return rows


def claim_words(relation: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """A relation as a sentence; "" for none."""
    if not relation:
        return ""
    head, tail = (names.get(relation[end], relation[end]) for end in ("head", "tail"))
    words = str(relation["predicate"]).lower().replace("_", " ")
    return f"{head} — {words} — {tail}"


def _by(name: pa.ChunkedArray, verdict: pa.ChunkedArray) -> list[dict[str, Any]]:
    """A row a name, with how many of each verdict and in all."""
    table = pa.table({"name": name, "verdict": verdict})
    counted = table.group_by(["name", "verdict"]).aggregate([([], "count_all")])
    rows: dict[str, dict[str, Any]] = {}
    for one in counted.sort_by([("name", "ascending")]).to_pylist():
        row = rows.setdefault(one["name"], {"name": one["name"], **dict.fromkeys(VERDICTS, 0)})
        row[one["verdict"]] = one["count_all"]
    for row in rows.values():
        row["all"] = sum(row[name] for name in VERDICTS)
    return list(rows.values())
