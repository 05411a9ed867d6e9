"""A verdict on a pair as text: in one line, or with each of its parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

SECTIONS = {
    "path": "paths",
    "definition": "definitions",
    "coding_rule": "coding rules",
    "statistic": "statistics (shown, never counted)",
}
"""The kinds of evidence in the order in which they are shown."""

PARTS = {
    "score_path": "paths",
    "score_definition": "definitions",
    "score_coding_rule": "coding rules",
    "score_contradiction": "against",
}
"""The parts of the score."""

_SIGN = {"supports": "+", "contradicts": "-", "neutral": "o"}


def told(row: Mapping[str, Any]) -> str:
    """A row of RELATIONS in one line."""
    return (
        f"{row['verdict']:<12} {row['score']:.2f}  "
        f"{row['head']} {row['predicate']} {row['tail']}  ({'; '.join(row['reasons'])})"
    )


def explained(rows: Sequence[Mapping[str, Any]], evidence: pa.Table) -> Iterator[str]:
    """Rows of RELATIONS with each of their parts, line by line.

    Args:
        rows: of RELATIONS.
        evidence: EVIDENCE, of these rows and others.
    """
    wanted = pa.array([row["id"] for row in rows], pa.string())
    some = evidence.filter(pc.is_in(evidence.column("relation"), value_set=wanted))
    pieces: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for piece in some.to_pylist():
        pieces.setdefault((piece["relation"], piece["kind"]), []).append(piece)
    for row in rows:
        yield f"{row['head']} {row['predicate']} {row['tail']}"
        parts = ", ".join(f"{words} {row[name]:.2f}" for name, words in PARTS.items())
        yield f"  {row['verdict']}, score {row['score']:.2f} ({parts})"
        ends = [row[f"{end}_concept"] or "no concept" for end in ("head", "tail")]
        yield f"  ends: {ends[0]}, {ends[1]}"
        for reason in row["reasons"]:
            yield f"  why: {reason}"
        if row["depends_on"]:
            yield f"  falls without any of: {', '.join(row['depends_on'])}"
        for kind, words in SECTIONS.items():
            found = pieces.get((row["id"], kind), [])
            yield f"  {words}:{'' if found else ' none'}"
            for piece in sorted(found, key=lambda one: (-(one["weight"] or 0.0), one["id"])):
                yield f"    {_piece(piece)}"
        yield ""


def _piece(piece: Mapping[str, Any]) -> str:
    weight = f" {piece['weight']:.2f}" if piece["weight"] else ""
    source = piece["source"]
    if piece["origin"] not in ("", None, source):
        source += f", first stated by {piece['origin']}"
    if piece["passage"]:
        source += f", passage {piece['passage']}"
    judged = f" [judged: {piece['judged']}]" if piece["judged"] else ""
    kind = f" [{piece['meta_path']}]" if piece["meta_path"] else ""
    return f"{_SIGN[piece['polarity']]}{weight} {piece['text']} ({source}){kind}{judged}"


__all__ = ["explained", "told"]
