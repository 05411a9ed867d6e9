"""What stands in the report, worked out from the build's tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.benchmark.templates import age_band
from ehrkg.evaluation.metrics import effective_size
from ehrkg.foundation.hashing import order_by_hash
from ehrkg.foundation.ledger import Ledger
from ehrkg.verify.worth import VERDICTS, by_proposer, found_beyond_cooccurrence

SAMPLE_A_TASK = 5
"""Questions shown of each task."""

SHOWN_FINDS = 10
"""Supported relations shown of each proposer that co-occurrence did not find."""


def headline(templates: pa.Table, items: pa.Table) -> list[tuple[str, str]]:
    """Templates, relations, patients and effective sample size first; items last."""
    clusters = templates["cluster"].to_pylist()
    return [
        ("templates", f"{templates.num_rows:,}"),
        ("distinct relations", f"{len(set(templates['relation'].to_pylist())):,}"),
        ("patients", f"{len(set(clusters)):,}"),
        ("effective sample size", f"{effective_size(clusters):,.0f}"),
        ("items", f"{items.num_rows:,}"),
    ]


def by_task(templates: pa.Table, items: pa.Table) -> list[dict[str, Any]]:
    """Counts a task: templates, relations, patients, items by format."""
    rows = []
    for task in sorted(set(templates["task"].to_pylist())):
        own = [
            row
            for row in templates.select(["task", "relation", "cluster"]).to_pylist()
            if row["task"] == task
        ]
        forms = Counter(
            f"{form}{n or ''}"
            for name, form, n in zip(
                items["task"].to_pylist(),
                items["format"].to_pylist(),
                items["n_options"].to_pylist(),
                strict=True,
            )
            if name == task
        )
        rows.append(
            {
                "task": task,
                "templates": len(own),
                "relations": len({row["relation"] for row in own}),
                "patients": len({row["cluster"] for row in own}),
                "items": dict(sorted(forms.items())),
            }
        )
    return rows


def funnel_steps(
    ledger: Ledger, relations: pa.Table, templates: pa.Table, items: pa.Table
) -> list[tuple[str, int]]:
    """The steps from rows to questions."""
    read = [entry for entry in ledger if entry.stage == "read" and "." not in entry.unit]
    verdict = Counter(relations["verdict"].to_pylist())
    return [
        ("table rows read", sum(entry.rows_in for entry in read)),
        ("rows used", sum(entry.rows_out for entry in read)),
        ("relations proposed", relations.num_rows),
        ("relations supported", verdict.get("supported", 0)),
        ("templates", templates.num_rows),
        ("questions", items.num_rows),
    ]


def verdict_counts(relations: pa.Table) -> dict[str, dict[str, int]]:
    """Verdicts by predicate."""
    counts: dict[str, dict[str, int]] = {}
    for predicate, verdict in zip(
        relations["predicate"].to_pylist(), relations["verdict"].to_pylist(), strict=True
    ):
        row = counts.setdefault(predicate, {})
        row[verdict] = row.get(verdict, 0) + 1
    return counts


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
        row["shares"] = {verdict: row[verdict] / max(row["proposed"], 1) for verdict in VERDICTS}
        row["found"] = [_claim(relation, names) for relation in found[:SHOWN_FINDS]]
    return rows


def selection(visits: pa.Table, patients: pa.Table, templates: pa.Table) -> list[dict[str, Any]]:
    """Who is in the tables and who is left in the questions, by age band and sex."""
    sex_of = dict(zip(patients["id"].to_pylist(), patients["sex"].to_pylist(), strict=True))
    everyone: Counter[tuple[str, str]] = Counter()
    for patient, age in zip(visits["patient"].to_pylist(), visits["age"].to_pylist(), strict=True):
        everyone["age", age_band(age)] += 1
        everyone["sex", sex_of.get(patient, "") or "unknown"] += 1
    chosen: Counter[tuple[str, str]] = Counter()
    seen: set[tuple[str, str]] = set()
    for row in templates.select(["visit", "age_band", "sex"]).to_pylist():
        for key in (("age", row["age_band"]), ("sex", row["sex"] or "unknown")):
            if (row["visit"], key[0]) not in seen:
                chosen[key] += 1
        seen |= {(row["visit"], "age"), (row["visit"], "sex")}
    return [
        {
            "group": f"{group} {value}",
            "visits": everyone[group, value],
            "with_questions": chosen[group, value],
            "share": chosen[group, value] / max(everyone[group, value], 1),
        }
        for group, value in sorted(everyone)
    ]


def sampled_items(items: pa.Table, *, seed: int) -> pa.Table:
    """A few questions of each task: four options, or open-ended where a task has no such question.

    Args:
        items: all items.
        seed: names the draw.

    Returns:
        Rows of ``items``, by task and item id.
    """
    by_task: dict[str, dict[str, list[str]]] = {}
    columns = (items[name].to_pylist() for name in ("item_id", "task", "format", "n_options"))
    for item, task, form, n_options in zip(*columns, strict=True):
        if n_options == 4 or form == "oeq":
            by_task.setdefault(task, {}).setdefault(form, []).append(item)
    wanted = [
        item
        for forms in by_task.values()
        for item in order_by_hash(forms.get("mcq") or forms["oeq"], seed, "sample")[:SAMPLE_A_TASK]
    ]
    return _only(items, "item_id", wanted).sort_by(
        [("task", "ascending"), ("item_id", "ascending")]
    )


def sample_questions(
    items: pa.Table, relations: pa.Table, evidence: pa.Table, names: Mapping[str, str], *, seed: int
) -> list[dict[str, Any]]:
    """The sampled questions, each with the evidence behind its answer.

    Args:
        items: all items.
        relations: for the verdict's score and reasons.
        evidence: for the sentences.
        names: code id to name.
        seed: names the draw.
    """
    chosen = sampled_items(items, seed=seed)
    backing = chosen["relation_id"].to_pylist()
    facts = {row["id"]: row for row in _only(relations, "id", backing).to_pylist()}
    sentences: dict[str, list[dict[str, Any]]] = {}
    for row in _only(evidence, "relation", backing).to_pylist():
        sentences.setdefault(row["relation"], []).append(row)
    return [
        row
        | {
            "relation": facts.get(row["relation_id"], {}),
            "claim": _claim(facts.get(row["relation_id"], {}), names),
            "evidence": sorted(
                sentences.get(row["relation_id"], ()), key=lambda e: (-e["weight"], e["id"])
            )[:6],
        }
        for row in chosen.to_pylist()
    ]


def _only(table: pa.Table, column: str, values: Sequence[str]) -> pa.Table:
    return table.filter(pc.is_in(table[column], value_set=pa.array(values, pa.string())))


def _claim(relation: Mapping[str, Any], names: Mapping[str, str]) -> str:
    if not relation:
        return ""
    head, tail = (names.get(relation[end], relation[end]) for end in ("head", "tail"))
    words = str(relation["predicate"]).lower().replace("_", " ")
    return f"{head} — {words} — {tail}"


def with_controls(accuracy: pa.Table) -> list[dict[str, Any]]:
    """One row a model, task and number of options, with both controls beside the accuracy.

    Args:
        accuracy: ``summary.accuracy_by``.
    """
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in accuracy.to_pylist():
        key = (row["model"], row["task"], row["n_options"])
        rows.setdefault(key, {})[row["setting"]] = row
    return [
        found["plain"]
        | {
            setting: found[setting]["accuracy"] if setting in found else None
            for setting in ("no_stem", "other_stem")
        }
        for _, found in sorted(rows.items())
        if "plain" in found
    ]


def ledger_rows(ledger: Ledger) -> Sequence[dict[str, Any]]:
    """The ledger as rows of a table."""
    return ledger.as_json()
