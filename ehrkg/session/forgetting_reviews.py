"""What readers said, without what they said of a patient's questions."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ehrkg.benchmark.opened.reviews import FOLDER, MARKS, QUESTION, RELATION, folder_of
from ehrkg.foundation.replacing import Replacement
from ehrkg.foundation.workspace import write_json
from ehrkg.session.traces import RELATION as RELATIONS
from ehrkg.session.traces import TEMPLATE, Traces
from ehrkg.session.view.command import LABELS
from ehrkg.session.view.samples import SAMPLE, read_samples


def forget_reviews(out: Path, traces: Traces, new: Replacement) -> tuple[int, list[str]]:
    """Write marks and sample anew without what names something gone.

    Lines that a kill cut off go too, as nothing tells what they were of. Labels are made of the
    marks, and are taken away: ``ehrkg view --relations --agreement`` writes them again.

    Args:
        out: the build's folder.
        traces: what is gone.
        new: where new files go.

    Returns:
        How many marks went, and the files that are to be removed.
    """
    folder, gone = folder_of(out), 0
    if (folder / MARKS).is_file():
        lines = (folder / MARKS).read_bytes().splitlines(keepends=True)
        kept = [line for line in lines if not _is_gone(line, traces)]
        gone = len(lines) - len(kept)
        if gone:
            new.path(f"{FOLDER}/{MARKS}").write_bytes(b"".join(kept))
    samples = read_samples(folder / SAMPLE)
    if samples:
        thinned = {
            what: {**one, "ids": list(_staying(what, one["ids"], traces))}
            for what, one in samples.items()
        }
        if thinned != samples:
            write_json(thinned, new.path(f"{FOLDER}/{SAMPLE}"))
    labels = f"{FOLDER}/{LABELS}"
    return gone, [labels] if gone and (out / labels).is_file() else []


def _is_gone(line: bytes, traces: Traces) -> bool:
    try:
        said: dict[str, Any] = json.loads(line)
    except ValueError:
        return True
    return not list(_staying(said["what"], [said["id"]], traces))


def _staying(what: str, ids: Iterable[str], traces: Traces) -> Iterable[str]:
    """The ids that stay; a question's begins with its template's."""
    for name in ids:
        if what == QUESTION and name.partition(".")[0] in traces[TEMPLATE]:
            continue
        if what == RELATION and name in traces[RELATIONS]:
            continue
        yield name
