"""What a graph query selects: ids of templates, relations or questions, or places to ask at.

Subsets, instantiation from a query and evaluation of a part all read a query's answer here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.foundation.errors import UsageError
from ehrkg.graph import catalogue
from ehrkg.graph.catalogue import BUILD
from ehrkg.graph.parameters import plain

PLACE = ("visit", "context", "answer", "predicate")
"""The columns of a query that names places to ask at: a visit's id, the codes of the stem, the code
that is asked for, and the predicate that licenses it."""

ID_COLUMNS = ("template", "template_id", "relation", "relation_id", "item", "item_id", "id")
"""Names by which a column of ids is found; failing such, it is the first column."""

RETURN = "return t.id (a Template's), r.id (a Relation's), or the columns " + ", ".join(PLACE)

_NAMES_BUILD = re.compile(rf"\${BUILD}\b")


@dataclass(frozen=True)
class Selection:
    """A query's answer, read.

    Attributes:
        ids: distinct ids, sorted; none where it names places.
        places: a table with the columns PLACE (and the answer's ``route``, if the query gives it);
            ``None`` where it names ids.
        recipe: query text and parameters, for a manifest: what selects the same again.
    """

    ids: pa.Array
    places: pa.Table | None = None
    recipe: Mapping[str, Any] = field(default_factory=dict)


def select(query: str | Path, store: Any, parameters: Mapping[str, Any]) -> Selection:
    """Ask a query and read its answer.

    Args:
        query: Cypher text, the name of a query that ships ("by_age"), or the path of a file.
        store: an object with ``query(cypher, **parameters) -> pa.Table``, or one that holds such
            as ``store``.
        parameters: the query's.

    Returns:
        The ids or places that it names, on both engines alike.

    Raises:
        UsageError: there is no store, the query is refused, or its answer holds neither.
    """
    answer, recipe = ask(query, store, parameters)
    return read_answer(answer, recipe["query"], recipe["parameters"])


def ask(
    query: str | Path, store: Any, parameters: Mapping[str, Any]
) -> tuple[pa.Table, dict[str, Any]]:
    """A query's answer, and what asks the same again: its text and all its parameters.

    Arguments and errors are those of ``select``. A text that names ``$build`` without a value for
    it asks about the store's own build, as named queries do.
    """
    if store is None:
        raise UsageError("a query needs a store", todo="pass store=kg, or a list of ids")
    asked = getattr(store, "store", store)
    text = str(query).strip()
    if isinstance(query, Path) or len(text.split()) == 1:
        named = catalogue.find(text)
        given = named.bind(parameters)
        if BUILD not in parameters:
            given.pop(BUILD, None)
        return named.ask(asked, parameters), {"query": named.text, "parameters": given}
    given = {name: plain(value) for name, value in parameters.items()}
    own = {BUILD: asked.build} if _NAMES_BUILD.search(text) and BUILD not in given else {}
    return asked.query(text, **given, **own), {"query": text, "parameters": given}


def read_answer(answer: pa.Table, query: str, parameters: Mapping[str, Any]) -> Selection:
    """Read the ids or places in a query's answer; see ``select``.

    >>> read_answer(pa.table({"t.id": ["t2", "t1", "t2"]}), "MATCH ...", {}).ids.to_pylist()
    ['t1', 't2']
    """
    names = {name.rpartition(".")[2].casefold(): name for name in answer.column_names}
    recipe = {"query": query, "parameters": dict(sorted(parameters.items()))}
    if set(PLACE) <= set(names):
        wanted = [*PLACE, *(["route"] if "route" in names else [])]
        places = pa.table({name: answer[names[name]] for name in wanted})
        return Selection(pa.array([], pa.string()), places, recipe)
    if not answer.num_columns:
        raise UsageError("the query returns no column", todo=RETURN)
    known = [names[name] for name in ID_COLUMNS if name in names]
    column = answer[known[0] if known else answer.column_names[0]]
    if pa.types.is_null(column.type):
        return Selection(pa.array([], pa.string()), None, recipe)
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        raise UsageError(
            f"the query's column {(known or answer.column_names)[0]!r} holds {column.type}, no ids",
            todo=RETURN,
        )
    found = pc.unique(column.cast(pa.string()).drop_null())
    return Selection(found.take(pc.sort_indices(found)), None, recipe)


def rows_of(
    ids: Iterable[str] | pa.Array,
    columns: Iterable[pa.ChunkedArray],
    *,
    also_known: Iterable[pa.ChunkedArray] = (),
) -> npt.NDArray[np.bool_]:
    """Which rows of a table some ids name.

    Args:
        ids: of templates, relations or items.
        columns: the table's columns of ids, one value a row each.
        also_known: further ids that are no strangers, though they name no row here: the relations
            of the build without a template, say.

    Returns:
        One truth value a row.

    Raises:
        UsageError: an id that nothing here has.

    >>> rows_of(["r1"], [pa.chunked_array([["t1", "t2"]]), pa.chunked_array([["r1", "r2"]])])
    array([ True, False])
    """
    held = ids if isinstance(ids, pa.Array) else pa.array(sorted(set(ids)), pa.string())
    known = np.zeros(len(held), dtype=bool)
    named: npt.NDArray[np.bool_] | None = None
    for column in columns:
        there = np.asarray(pc.is_in(column, value_set=held), dtype=bool)
        named = there if named is None else named | there
        known |= np.asarray(pc.is_in(held, value_set=pc.unique(column)), dtype=bool)
    for column in also_known:
        known |= np.asarray(pc.is_in(held, value_set=pc.unique(column)), dtype=bool)
    strangers = held.filter(pa.array(~known))
    if len(strangers):
        raise UsageError(
            f"{len(strangers)} ids are of no template, relation or item here, such as "
            f"{strangers[0].as_py()!r}",
            todo=f"take ids of this build ({RETURN}); where a database holds several builds, ask "
            f"for those of this one: WHERE t.{BUILD} = ${BUILD}",
        )
    return named if named is not None else np.zeros(0, dtype=bool)
