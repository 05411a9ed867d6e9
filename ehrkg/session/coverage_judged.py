"""What a person said of mapped rows: right, broad, wrong or unsure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from ehrkg.benchmark.facts.intervals import wilson
from ehrkg.foundation.errors import InputError
from ehrkg.ontology.formats.tsv import header, read_tsv

JUDGEMENTS = ("right", "broad", "wrong", "unsure")
"""right: the concept is what the code says, or one level wider and said so; broad: true, but too
wide to say much of the code; wrong: another thing; unsure: the reader can't tell."""
NOTES = 1
"""The header's own line."""


@dataclass(frozen=True)
class Share:
    """How many of a kind's judged rows are right.

    Attributes:
        kind: diagnosis, drug, procedure, or "all".
        right, judged: rows; unsure rows are not counted as judged.
        low, high: 95 % Wilson interval of the share.
        counts: rows by judgement.
    """

    kind: str
    right: int
    judged: int
    low: float
    high: float
    counts: dict[str, int]


@dataclass(frozen=True)
class Judged:
    """A filled-in sample.

    Attributes:
        file: its name.
        shares: a Share a kind, "all" last.
    """

    file: str
    shares: tuple[Share, ...]


def read_judged(path: Path) -> Judged:
    """Read a sample that a person has filled in.

    Raises:
        InputError: the file is not there or not in the form, a judgement is none of JUDGEMENTS, or
            nothing is judged.
    """
    if not path.is_file():
        raise InputError("there is no such file", file=path, todo="check the path that you gave")
    table = read_tsv(path, ("kind", "code", "judgement"))
    first = header(path)[1] + NOTES + 1
    kinds = table["kind"].to_pylist()
    said = [text.strip().lower() for text in table["judgement"].to_pylist()]
    for at, text in enumerate(said):
        if text and text not in JUDGEMENTS:
            raise InputError(
                "no such judgement",
                file=path,
                line=first + at,
                column="judgement",
                found=text,
                expected=", ".join(JUDGEMENTS),
                todo="use one of these words, or leave the cell empty",
            )
    if not any(said):
        raise InputError(
            "nothing is judged",
            file=path,
            column="judgement",
            expected=", ".join(JUDGEMENTS),
            todo="fill in the column",
        )
    rows = [(kind, text) for kind, text in zip(kinds, said, strict=True) if text]
    return Judged(
        path.name,
        tuple(
            _share(kind, [text for of, text in rows if kind in ("all", of)])
            for kind in (*sorted({kind for kind, _ in rows}), "all")
        ),
    )


def _share(kind: str, said: list[str]) -> Share:
    counts = Counter(said)
    judged = len(said) - counts["unsure"]
    low, high = wilson(counts["right"], judged) if judged else (0.0, 1.0)
    return Share(
        kind,
        counts["right"],
        judged,
        low,
        high,
        {name: counts[name] for name in JUDGEMENTS if counts[name]},
    )
