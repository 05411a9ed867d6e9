"""MEDS labels: a file a task, from which a model of patient timelines is trained and scored."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.benchmark.exports.export import Export
from ehrkg.benchmark.exports.writing import rendered, write_text
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.hashing import hash64
from ehrkg.foundation.storage import write_parquet

if TYPE_CHECKING:
    from ehrkg.benchmark.opened.benchmark import Benchmark

LABELS = pa.schema(
    [
        ("subject_id", pa.int64()),
        ("prediction_time", pa.timestamp("us")),
        ("categorical_value", pa.string()),  # the answer's Code id
    ]
)
"""MEDS's LabelSchema, with the one value that a question has. Sorted by subject, time, value."""

_VISITS = (
    "MATCH (v:Visit) WHERE v.build = $build "
    "RETURN v.id AS id, v.admitted AS admitted, v.discharged AS discharged"
)


def write(bench: Benchmark, folder: Path) -> None:
    """Write TASK/labels.parquet for each task, and what is to be known of them.

    A label is a template, whatever questions were made of it: the subject, the discharge of the
    visit that is asked about (where the tables lack it, the admission), and the answer's code.

    Raises:
        UsageError: no graph says when the visits were.
    """
    with bench.asking() as store:
        if store is None:
            raise UsageError(
                "no graph says when the visits were",
                todo="export the folder of a build, or give the benchmark a store",
            )
        asked = getattr(store, "store", store)
        visits = asked.query(_VISITS, build=asked.build)
    templates = bench.templates()
    when = pc.coalesce(visits["discharged"], visits["admitted"])
    at = pc.index_in(templates["visit"], value_set=visits["id"])
    times = when.take(at).cast(pa.timestamp("us"))
    if times.null_count:
        lost = templates["visit"].filter(pc.is_null(times))[0].as_py()
        raise UsageError(
            f"the graph does not say when {times.null_count:,} visits were, such as {lost!r}",
            todo="give the graph of the same build",
        )
    subjects = subject_ids(templates["patient"].to_pylist())
    rows: dict[str, list[tuple[int, datetime, str]]] = {}
    for task, subject, time, answer in zip(
        templates["task"].to_pylist(),
        subjects,
        times.to_pylist(),
        templates["answer"].to_pylist(),
        strict=True,
    ):
        rows.setdefault(task, []).extend((subject, time, code) for code in answer)
    for task, labels in sorted(rows.items()):
        columns = [list(column) for column in zip(*sorted(labels), strict=True)]
        (folder / task).mkdir()
        write_parquet(pa.table(columns, schema=LABELS), folder / task / "labels.parquet")
    write_text(rendered("formats/meds_readme.md.j2", tasks=sorted(rows)), folder / "README.md")


def subject_ids(patients: list[str]) -> list[int]:
    """Subject ids: the patients' own where all are numbers, as in MEDS; else 63 bits of a hash.

    >>> subject_ids(["12", "7"]), subject_ids(["p1", "7"])[1] > 2**32
    ([12, 7], True)
    """
    if all(patient.isdecimal() and len(patient) < 19 for patient in patients):
        return [int(patient) for patient in patients]
    return [hash64("subject", patient) >> 1 for patient in patients]


EXPORT = Export("meds", "MEDS labels, a file a task", "meds.LabelSchema.validate(table)", write)
