"""Links of ICD-10-PCS codes by their axes: what was done to which part, however it was reached."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import translate
from functools import cache

from ehrkg.mapping.index import Index, Label
from ehrkg.mapping.links import Link
from ehrkg.mapping.names import Key, key, read_yaml

SYSTEM = "ICD10PCS:"


@cache
def _rows() -> tuple[tuple[re.Pattern[str], str, tuple[str, ...]], ...]:
    return tuple(
        (re.compile(translate(row["axes"])), str(row["axes"]), tuple(row["names"]))
        for row in read_yaml("axes.yaml")
    )


def find(code: str, index: Index, names: Mapping[Key, tuple[Label, ...]]) -> list[Link]:
    """The procedure that the axes of a code say, one level up; none for codes of other systems.

    Args:
        code: a Code id.
        index: of the knowledge.
        names: of procedures (``labels.by_name``).
    """
    if not code.startswith(SYSTEM):
        return []
    plain = code.removeprefix(SYSTEM)
    confidence = read_yaml("rules.yaml")["confidence"]["axes"]
    for pattern, axes, called in _rows():
        if not pattern.match(plain):
            continue
        for name in called:
            found = [label for label in names.get(key(name), ()) if index.linkable(label.concept)]
            if found:
                return [
                    Link(
                        code=code,
                        levels=1,
                        concept=label.concept,
                        method="axes",
                        predicate="skos:broadMatch",
                        confidence=confidence,
                        source=label.source,
                        explanation=f"the axes of {code} ({axes}) are those of {label.text!r}",
                    )
                    for label in found
                ]
    return []
