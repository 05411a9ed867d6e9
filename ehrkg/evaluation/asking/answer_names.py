"""By which names an open answer may name a code or a concept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from ehrkg.benchmark import Benchmark
from ehrkg.graph import readers


def answer_names(codes: pa.Table, concepts: pa.Table, synonyms: pa.Table) -> dict[str, list[str]]:
    """Names of every code and concept: its own, and its synonyms.

    Args:
        codes: ``id`` and ``name``.
        concepts: ``id`` and ``name``.
        synonyms: ``concept`` and ``text``; related synonyms are too loose for a key, and left out.

    Returns:
        Id to its names, sorted.
    """
    names: dict[str, set[str]] = {}
    for table in (codes, concepts):
        for key, name in zip(table["id"].to_pylist(), table["name"].to_pylist(), strict=True):
            if name:
                names.setdefault(key, set()).add(name)
    columns = (synonyms[column].to_pylist() for column in ("concept", "text", "scope"))
    for key, text, scope in zip(*columns, strict=True):
        if text and scope != "related":
            names.setdefault(key, set()).add(text)
    return {key: sorted(values) for key, values in sorted(names.items())}


def names_of(benchmark: Benchmark) -> Mapping[str, Sequence[str]]:
    """Names by which open answers may name a code: the graph's, where the benchmark has one."""
    with benchmark.asking() as store:
        if store is None:
            return {}
        knowledge = readers.read_knowledge(store)
        codes = store.query("MATCH (c:Code) RETURN c.id AS id, c.name AS name")
    return answer_names(codes, knowledge.concepts, knowledge.synonyms)
