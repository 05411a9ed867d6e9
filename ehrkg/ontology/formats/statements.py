"""Edges out of what a file states: predicates by the one table, and whose word it is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from ehrkg.ontology.predicates import UNKNOWN, reading
from ehrkg.ontology.sources import read_source
from ehrkg.ontology.sql import mapped, run
from ehrkg.ontology.tables import with_edge_ids

STATED = pa.schema([("subject", pa.string()), ("relation", pa.string()), ("object", pa.string())])
"""What a file says, in its own words: the relation as the file names it."""
_OWN = ("source", "origin", "licence", "provenance")


def _known(word: str) -> str:
    found = reading(word)
    return found.predicate if found else ""


def _turned(word: str) -> str:
    found = reading(word)
    return "1" if found and found.turned else ""


def _denies(word: str) -> str:
    found = reading(word)
    return "1" if found and found.negated else ""


_READ = {"known": _known, "turned": _turned, "denies": _denies}
"""How a relation is understood, a column each; "" says no."""


@dataclass(frozen=True)
class Owner:
    """Whose word a file is.

    Attributes:
        infores: the source's identifier.
        origin: where its facts were first stated.
        licence: SPDX id, "" where unknown.
        version: the edition, "" where unknown; kept in each edge's provenance.
    """

    infores: str
    origin: str
    licence: str = ""
    version: str = ""


def owner(path: Path, *, licence: str = "", version: str = "") -> Owner:
    """The owner of a file: what source.yaml beside it says, else its name.

    Args:
        path: the file.
        licence: what the file says of itself; source.yaml comes first.
        version: likewise.
    """
    described = path.parent / "source.yaml"
    if described.is_file():
        source = read_source(described)
        return Owner(
            source.infores,
            source.origin,
            source.licence or licence,
            source.version or version,
        )
    infores = f"infores:{path.name.split('.')[0].lower()}"
    return Owner(infores, infores, licence, version)


def edges_of(stated: pa.Table, who: Owner) -> pa.Table:
    """Edges (EDGES) of plain statements.

    Args:
        stated: STATED; also ``label``, what people call the relation, and any of the columns
            negated, source, origin, licence, provenance that a statement may carry itself
            ("" where it does not).
        who: says the rest.
    """
    names = stated.column_names
    own = {name: name if name in names else "''" for name in (*_OWN, "label")}
    relation = stated.column("relation")
    given = stated
    for field, read in _READ.items():
        given = given.append_column(field, mapped(relation, read))
    edges = run(
        f"""
        SELECT CASE WHEN turned = '' THEN subject ELSE object END AS subject,
               CASE WHEN known <> '' THEN known ELSE $unknown END AS predicate,
               CASE WHEN turned = '' THEN object ELSE subject END AS object,
               ({"negated" if "negated" in names else "FALSE"}) <> (denies <> '') AS negated,
               '' AS route,
               coalesce(nullif({own["source"]}, ''), $infores) AS source,
               coalesce(nullif({own["origin"]}, ''), nullif({own["source"]}, ''), $origin)
                 AS origin,
               coalesce(nullif({own["licence"]}, ''), $licence) AS licence,
               concat_ws('; ',
                 CASE WHEN known = '' AND {own["label"]} <> '' THEN
                   relation || ' is "' || {own["label"]} || '"' END,
                 nullif({own["provenance"]}, ''),
                 CASE WHEN $version <> '' THEN 'version ' || $version END) AS provenance,
               CASE WHEN known = '' THEN relation ELSE '' END AS original_predicate
        FROM given""",  # noqa: S608 (names of columns, chosen above)
        given=given,
        parameters={
            "unknown": UNKNOWN,
            "infores": who.infores,
            "origin": who.origin,
            "licence": who.licence,
            "version": who.version,
        },
    )
    return with_edge_ids(edges)
