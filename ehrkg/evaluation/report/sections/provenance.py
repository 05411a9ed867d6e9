"""Settings, versions and hashes: what another needs to make the same again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ehrkg.evaluation.published import LABEL, publications
from ehrkg.evaluation.report.data import ReportData
from ehrkg.evaluation.report.sections.settings_words import setting_words


def collect(data: ReportData) -> dict[str, Any]:
    """The manifest, as tables."""
    manifest = data.manifest
    graph = dict(manifest.get("graph", {}))
    return {
        "consent": manifest.get("consent", ""),
        "program": manifest.get("program", ""),
        "settings": as_text(manifest["settings"]),
        "versions": [{"name": name, "is": text} for name, text in manifest["versions"].items()],
        "inputs": [{"name": name, "hash": text} for name, text in manifest["inputs"].items()],
        "outputs": [{"name": name, **facts} for name, facts in manifest["outputs"].items()],
        "graph": {
            "content": graph.get("content", ""),
            "counts": [
                {"name": name, "count": count}
                for name, count in sorted(graph.get("counts", {}).items())
            ],
        },
        "evaluations": _evaluations(manifest),
        "judges": [_asked(one) for one in manifest.get("judges", ())],
        "forgotten": manifest.get("forgotten", {}).get("patients", 0),
    }


def published(data: ReportData) -> dict[str, Any] | None:  # noqa: ARG001 - a section's shape
    """Figures measured on other data, for an appendix."""
    return {
        "label": LABEL,
        "sources": [
            {
                "title": one.title,
                "year": str(one.year),
                "identifier": one.identifier,
                "url": one.url,
                "measured_on": one.measured_on,
                "figures": [
                    {
                        "measure": figure.measure.replace("_", " "),
                        "group": figure.group,
                        "words": figure.words,
                    }
                    for figure in one.figures
                ],
            }
            for one in publications()
        ],
    }


def as_text(value: object) -> str:
    """Plain values as indented JSON."""
    return json.dumps(value, indent=1, ensure_ascii=False, default=str)


def _evaluations(manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the manifest tells of models that answered, a row a model."""
    found: dict[str, dict[str, Any]] = {}
    for one in manifest.get("evaluations", ()):
        row = found.setdefault(
            one["model"],
            _asked(one) | {"settings": ""},
        )
        row["settings"] += (", " if row["settings"] else "") + setting_words(one["setting"])
    return list(found.values())


def _asked(one: Mapping[str, Any]) -> dict[str, Any]:
    """A model that was asked: where, under which consent, by which packages."""
    return {
        "model": one["model"],
        "where": "another machine" if one["remote"] else "this machine",
        "consent": as_words(one["consent"]),
        "versions": as_words(one["versions"]),
    }


def as_words(value: Any) -> str:
    """Plain values in one line.

    >>> as_words({"inspect-ai": "0.3", "no_retention": True}), as_words(None)
    ('inspect-ai: 0.3; no retention: yes', '')
    """
    if value is None:
        return ""
    if isinstance(value, Mapping):
        said = {True: "yes", False: "no"}
        return "; ".join(
            f"{key.replace('_', ' ')}: {said[part] if isinstance(part, bool) else part}"
            for key, part in value.items()
            if part is not None
        )
    return str(value)
