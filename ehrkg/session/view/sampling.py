"""Which questions and relations readers are given: the same for every reader, drawn by hash."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ehrkg.benchmark.opened.cuts import shares
from ehrkg.benchmark.opened.reviews import QUESTION, folder_of
from ehrkg.benchmark.opened.source import Source
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.workspace import write_json
from ehrkg.session.view.filters import pattern_of
from ehrkg.session.view.samples import SAMPLE, read_samples

SIZE = 200
"""How many are drawn where nothing is said."""

QUESTION_STRATA = ("task", "format", "n_options", "strategy")
RELATION_STRATA = ("verdict", "predicate", "proposers")

_QUESTIONS = f"""
WITH own AS (
    SELECT item_id, template_id, relation_id, {", ".join(QUESTION_STRATA)},
        md5(concat(?, chr(31), item_id)) AS luck
    FROM items WHERE format <> 'oeq'
), one AS (
    SELECT *, row_number() OVER (PARTITION BY template_id ORDER BY luck) AS turn FROM own
), spread AS (
    SELECT *, row_number() OVER (PARTITION BY relation_id ORDER BY luck) AS again
    FROM one WHERE turn = 1
)
SELECT item_id, luck, dense_rank() OVER (ORDER BY {", ".join(QUESTION_STRATA)}) - 1 AS stratum,
    row_number() OVER (PARTITION BY {", ".join(QUESTION_STRATA)} ORDER BY again, luck) AS place
FROM spread
"""  # noqa: S608

_RELATIONS = f"""
WITH own AS (
    SELECT id, verdict, md5(concat(?, chr(31), id)) AS luck, row_number() OVER (
        PARTITION BY {", ".join(RELATION_STRATA)} ORDER BY md5(concat(?, chr(31), id))) AS place
    FROM read_parquet(?)
), turns AS (
    SELECT *, row_number() OVER (PARTITION BY verdict ORDER BY place, luck) AS turn FROM own
)
SELECT id FROM (SELECT * FROM turns ORDER BY turn, verdict, luck LIMIT ?) ORDER BY luck, id
"""  # noqa: S608


def draw_questions(source: Source, n: int, *, seed: int) -> list[str]:
    """Questions for readers, in the order in which they are read.

    Each task, format, number of options and strategy gets one, then its share of the rest. No case
    is drawn twice, as the key of one question tells the next one's; a relation is drawn again only
    where there are no others. Open questions are left out: they have the stems and keys of those
    with options, and what answers them right is for no program to say.

    Args:
        source: the benchmark's.
        n: how many; all cases, where there are no more.
        seed: names the draw.

    Raises:
        UsageError: no question has options.
    """
    drawn = source.ask(_QUESTIONS, [str(seed)])
    if not drawn.num_rows:
        raise UsageError(
            "no question here has options to choose from",
            todo="build with --question mcq4, or read another benchmark",
        )
    stratum = drawn["stratum"].to_numpy().astype(np.int64)
    sizes = np.bincount(stratum)
    many = min(n, drawn.num_rows)
    first = np.ones_like(sizes) if many >= len(sizes) else np.zeros_like(sizes)
    taken = (
        drawn["place"].to_numpy()
        <= (first + shares(sizes - first, many - int(first.sum())))[stratum]
    )
    rows = zip(drawn["luck"].to_pylist(), drawn["item_id"].to_pylist(), taken, strict=True)
    return [item for _, item, is_in in sorted(rows) if is_in]


def draw_relations(source: Source, relations: Path, n: int, *, seed: int) -> list[str]:
    """Relations for readers, in the order in which they are read.

    Verdicts get as many each; within a verdict the predicates and proposers take turns.

    Args:
        source: whose engine is asked.
        relations: relations.parquet.
        n: how many; all, where there are no more.
        seed: names the draw.
    """
    drawn = source.ask(_RELATIONS, [str(seed), str(seed), pattern_of(relations), n])
    names: list[str] = drawn["id"].to_pylist()
    return names


def sample(
    out: Path, source: Source, what: str, *, n: int | None = None, seed: int = 7
) -> list[str]:
    """The sample of a build: drawn once, and kept for all readers in OUT/review/sample.json.

    Args:
        out: the build's folder.
        source: its questions.
        what: ``question`` or ``relation``.
        n: how many to draw; 200, or as many as were drawn, for ``None``.
        seed: names the draw.

    Raises:
        UsageError: another number was drawn before.
        InputError: the file can't be read or written.
    """
    path = folder_of(out) / SAMPLE
    kept = read_samples(path)
    if what not in kept:
        many = n or SIZE
        ids = (
            draw_questions(source, many, seed=seed)
            if what == QUESTION
            else draw_relations(source, out / "relations.parquet", many, seed=seed)
        )
        strata = QUESTION_STRATA if what == QUESTION else RELATION_STRATA
        kept[what] = {"ids": ids, "asked": many, "by": list(strata), "seed": seed}
        write_json(kept, path)
    elif n is not None and n != kept[what]["asked"]:
        raise UsageError(
            f"a sample of {kept[what]['asked']} is being read here, not of {n}",
            todo=f"leave --sample away, or take {path} away to draw anew",
        )
    names: list[str] = kept[what]["ids"]
    return names
