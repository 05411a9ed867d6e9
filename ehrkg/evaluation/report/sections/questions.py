"""A sample of questions to read, with the evidence behind each answer and what models said."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from markupsafe import Markup

from ehrkg.evaluation.report.data import ReportData
from ehrkg.evaluation.report.sections.overview import form_words
from ehrkg.evaluation.report.sections.settings_words import as_asked, setting_words
from ehrkg.evaluation.report.sections.verdicts import claim_words
from ehrkg.foundation.hashing import order_by_hash

SAMPLE = {"mcq": 6, "oeq": 3, "yesno": 3, "multi": 3}
"""Questions shown of each task, by format; with several numbers of options, of the least."""

SHOWN_EVIDENCE = 6
"""Pieces of evidence told of each question, the heaviest first."""

LETTERS = "ABCDEFGH"


def collect(data: ReportData) -> dict[str, Any] | str:
    """The sampled questions."""
    chosen = sampled_items(data.items, data.scores, seed=data.seed)
    if not chosen.num_rows:
        return "there is no question"
    codes = data.hospital.codes
    names = dict(zip(codes["id"].to_pylist(), codes["name"].to_pylist(), strict=True))
    backing = chosen["relation_id"].to_pylist()
    facts = {row["id"]: row for row in only(data.verified.relations, "id", backing).to_pylist()}
    pieces: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in only(data.verified.evidence, "relation", backing).to_pylist():
        pieces[row["relation"]].append(row)
    answers = _answers(data.scores, chosen)
    questions = [
        _question(
            row,
            facts.get(row["relation_id"], {}),
            pieces[row["relation_id"]],
            names,
            answers[row["item_id"]],
        )
        | {"picture": Markup(data.pictures.get(row["template_id"], ""))}  # noqa: S704 - our SVG
        for row in chosen.to_pylist()
    ]
    return {
        "tasks": sorted({row["task"] for row in questions}),
        "forms": sorted({row["form"] for row in questions}),
        "questions": questions,
    }


def sampled_items(items: pa.Table, scores: pa.Table, *, seed: int) -> pa.Table:
    """A few questions of each task and format, those first that most models have answered.

    Args:
        items: all items.
        scores: what models answered.
        seed: names the draw.

    Returns:
        Rows of ``items``, by task, format and item id.
    """
    answered = Counter(
        {
            row["item_id"]: row["model_count_distinct"]
            for row in scores.group_by("item_id")
            .aggregate([("model", "count_distinct")])
            .to_pylist()
        }
    )
    groups: dict[tuple[str, str], dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    columns = (items[name].to_pylist() for name in ("item_id", "task", "format", "n_options"))
    for item, task, form, n_options in zip(*columns, strict=True):
        groups[task, form][n_options].append(item)
    wanted: list[str] = []
    for (_, form), by_options in groups.items():
        held = by_options[min(by_options)]
        most = max(answered[item] for item in held)
        first = [item for item in held if answered[item] == most]
        rest = [item for item in held if answered[item] != most]
        drawn = [*order_by_hash(first, seed, "sample"), *order_by_hash(rest, seed, "sample")]
        wanted += drawn[: SAMPLE.get(form, 0)]
    return only(items, "item_id", wanted).sort_by(
        [("task", "ascending"), ("format", "ascending"), ("item_id", "ascending")]
    )


def only(table: pa.Table, column: str, values: Sequence[str]) -> pa.Table:
    """The rows whose column holds one of some values."""
    return table.filter(pc.is_in(table[column], value_set=pa.array(values, pa.string())))


def _question(
    row: Mapping[str, Any],
    relation: Mapping[str, Any],
    pieces: Sequence[Mapping[str, Any]],
    names: Mapping[str, str],
    answers: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    reasons = row["distractor_reasons"] or [""] * len(row["options"])
    heaviest = sorted(pieces, key=lambda e: (-(e["weight"] or 0.0), e["id"]))[:SHOWN_EVIDENCE]
    return {
        "id": row["item_id"],
        "task": row["task"],
        "form": form_words(row["format"], row["n_options"]),
        "stem": row["stem"],
        "options": [
            {
                "letter": LETTERS[at],
                "text": text,
                "right": at == row["answer_index"] or reason == "answer",
                "why": "" if reason == "answer" else reason,
            }
            for at, (text, reason) in enumerate(zip(row["options"], reasons, strict=True))
        ],
        "answer": row["answer"],
        "claim": claim_words(relation, names),
        "verdict": relation.get("verdict", ""),
        "score": relation.get("score"),
        "origins": list(relation.get("origins", ())),
        "reasons": list(relation.get("reasons", ())),
        "evidence": [
            {
                "polarity": piece["polarity"],
                "text": piece["text"],
                "kind": piece["kind"].replace("_", " "),
                "source": piece["source"],
                "origin": piece["origin"],
            }
            for piece in heaviest
        ],
        "left_out": len(pieces) - len(heaviest),
        "answers": [_answer(one, row["options"]) for one in answers],
    }


def _answers(scores: pa.Table, chosen: pa.Table) -> dict[str, list[dict[str, Any]]]:
    """What each model said to each question, in settings that are no control."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    asked = as_asked(only(scores, "item_id", chosen["item_id"].to_pylist()))
    for row in asked.sort_by([("model", "ascending"), ("setting", "ascending")]).to_pylist():
        found[row["item_id"]].append(row)
    return found


def _answer(row: Mapping[str, Any], options: Sequence[str]) -> dict[str, Any]:
    mark = row["coverage"] if row["correct"] is None else row["correct"]
    chosen = [*(row.get("chosen") or ()), row["choice"]]
    said = [
        options[at] for at in dict.fromkeys(chosen) if at is not None and 0 <= at < len(options)
    ]
    text = row["text"] or "; ".join(said) or row["answered"] or ""
    return {
        "model": row["model"],
        "setting": setting_words(row["setting"]),
        "text": text or "no single option",
        "raw": (row["answered"] or "") if row["answered"] != text else "",
        "mark": "right" if mark == 1 else "wrong" if not mark else f"tie, {100 * mark:.0f} %",
        "right": mark == 1,
        "judged": {1.0: "right", 0.0: "wrong"}.get(row["judged"], ""),
        "key_source": row["key_source"],
    }
