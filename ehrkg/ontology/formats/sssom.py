"""SSSOM TSV: mappings between vocabularies, with their predicate and confidence."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.foundation.errors import InputError
from ehrkg.ontology.categories import kind_of_curie, read_yaml
from ehrkg.ontology.curies import normalise
from ehrkg.ontology.formats.parts import Parts
from ehrkg.ontology.formats.tsv import column, header, read_tsv
from ehrkg.ontology.sources import read_source
from ehrkg.ontology.sql import mapped, run
from ehrkg.ontology.tables import knowledge

COLUMNS = ("subject_id", "predicate_id", "object_id")
CODE_PREFIXES = ("ICD10CM:", "ICD9CM:", "ICD9PROC:", "ICD10PCS:")
"""A row that has one of these as its subject is turned round: the concept is the subject."""


@cache
def match_predicates() -> pa.Table:
    """match_predicates.yaml as a table: name, predicate, confidence, inverse."""
    rows: list[dict[str, Any]] = read_yaml("match_predicates.yaml")
    return pa.Table.from_pylist(rows)


def detect(path: Path) -> bool:
    """Whether a file has SSSOM's three columns."""
    return path.is_file() and set(COLUMNS) <= set(header(path)[0])


def read(path: Path) -> Parts:
    """Read an SSSOM file; labels of subjects become names of concepts.

    Rows with the modifier ``Not``, what they deny, rows with a predicate that is no match, and
    those without an object are dropped, counted and quarantined.

    Raises:
        InputError: see ``read_tsv``; also where a confidence is no number in [0, 1].
    """
    rows = read_tsv(path, COLUMNS)
    described = path.parent / "source.yaml"
    default = (
        read_source(described).infores
        if described.is_file()
        else f"infores:{path.name.split('.')[0].lower()}"
    )
    given = pa.table(
        {
            "row": pa.array(range(1, rows.num_rows + 1), pa.int64()),
            "subject": mapped(column(rows, "subject_id"), normalise),
            "label": column(rows, "subject_label"),
            "object_label": column(rows, "object_label"),
            "stated": column(rows, "predicate_id"),
            "modifier": column(rows, "predicate_modifier"),
            "object": mapped(column(rows, "object_id"), normalise),
            "confidence": column(rows, "confidence"),
            "provider": column(rows, "mapping_provider"),
        }
    )
    judged = _judge(given, default)
    _check_confidence(judged, path)
    kept = run(
        "SELECT subject, predicate, object, confidence, source FROM judged WHERE reason = ''",
        judged=judged,
    )
    refused = judged.filter(pc.not_equal(judged["reason"], ""))
    counts = {
        row["values"]: row["counts"] for row in pc.value_counts(refused["reason"]).to_pylist()
    }
    parts = Parts(
        knowledge(concepts=_concepts(judged), mappings=kept),
        rows=[("mappings", rows.num_rows, counts)],
    )
    if refused.num_rows:
        parts.quarantine["mappings"] = refused.drop_columns(["predicate"])
    return parts


def _judge(given: pa.Table, default: str) -> pa.Table:
    """Each row with its SKOS predicate, the concept as subject, and a reason to drop it, if any."""
    turned = " OR ".join(f"starts_with(subject, '{prefix}')" for prefix in CODE_PREFIXES)
    other = " OR ".join(f"starts_with(object, '{prefix}')" for prefix in CODE_PREFIXES)
    turned_rows = run(
        f"""
        WITH joined AS (
          SELECT given.*, m.predicate, m.inverse, m.confidence AS usual,
                 ({turned}) AND NOT ({other}) AS turned
          FROM given LEFT JOIN matches m ON given.stated = m.name)
        SELECT row,
               CASE WHEN turned THEN object ELSE subject END AS subject,
               CASE WHEN turned THEN object_label ELSE label END AS label,
               stated,
               CASE WHEN turned THEN inverse ELSE predicate END AS predicate,
               CASE WHEN turned THEN subject ELSE object END AS object,
               confidence AS stated_confidence,
               CASE WHEN trim(confidence) = '' THEN usual
                    ELSE try_cast(confidence AS DOUBLE) END AS confidence,
               CASE WHEN starts_with(provider, 'infores:') THEN provider
                    ELSE $default END AS source,
               CASE WHEN lower(trim(modifier)) = 'not' THEN 'negated'
                    WHEN predicate IS NULL THEN 'no_match_predicate'
                    WHEN subject = '' OR object = '' OR object = 'sssom:NoTermFound'
                      THEN 'no_term'
                    ELSE '' END AS reason
        FROM joined ORDER BY row""",  # noqa: S608
        given=given,
        matches=match_predicates(),
        parameters={"default": default},
    )
    return run(
        """
        WITH denied AS (
          SELECT DISTINCT subject, predicate, object FROM turned WHERE reason = 'negated')
        SELECT * REPLACE (
          CASE WHEN reason = '' AND (subject, predicate, object) IN
                 (SELECT (subject, predicate, object) FROM denied) THEN 'denied'
               ELSE reason END AS reason)
        FROM turned ORDER BY row""",
        turned=turned_rows,
    )


def _check_confidence(judged: pa.Table, path: Path) -> None:
    wrong = run(
        "SELECT row, stated_confidence AS cell FROM judged WHERE reason = '' "
        "AND (confidence IS NULL OR confidence < 0 OR confidence > 1) ORDER BY row LIMIT 1",
        judged=judged,
    )
    if wrong.num_rows:
        comments = header(path)[1]
        raise InputError(
            "not a confidence",
            file=path,
            line=comments + 1 + wrong["row"][0].as_py(),
            column="confidence",
            found=wrong["cell"][0].as_py(),
            expected="a number from 0 to 1",
            todo="mend the cell, or leave it empty",
        )


def _concepts(judged: pa.Table) -> pa.Table:
    named = run(
        "SELECT DISTINCT subject AS id, label AS name, source FROM judged "
        "WHERE label <> '' AND subject <> ''",
        judged=judged,
    )
    return pa.table(
        {
            "id": named["id"],
            "name": named["name"],
            "kind": mapped(named["id"], kind_of_curie),
            "definition": pa.repeat("", named.num_rows),
            "source": named["source"],
        }
    )
