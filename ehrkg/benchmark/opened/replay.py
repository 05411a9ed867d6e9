"""Doing again what a recipe says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ehrkg.benchmark.opened.recipes import Recipe, Step, digest_of, in_words
from ehrkg.foundation.errors import InputError, UsageError

if TYPE_CHECKING:
    from ehrkg.benchmark.opened.benchmark import Benchmark

_OTHER_GRAPH = "ask the graph of the build that the recipe was made on; ehrkg diff compares two"


def replay(recipe: Recipe, wholes: Sequence[Benchmark], *, store: Any = None) -> Benchmark:
    """Cut a benchmark again; see ``Benchmark.from_recipe``.

    Raises:
        InputError: the recipe is of another benchmark, or gives other questions than it did.
    """
    known = {whole.fingerprint: whole for whole in wholes}
    if recipe.source not in known:
        raise InputError(
            "this recipe is of another benchmark",
            found=", ".join(sorted(known)) or "no benchmark",
            expected=recipe.source,
            todo="give the benchmark it was cut from: the same tables, settings and version; "
            "bench.fingerprint tells",
        )
    bench = known[recipe.source]
    for step in recipe.steps:
        bench = _again(bench, step, wholes, store)
    if (
        len(bench) != recipe.items
        or digest_of(bench.column("item_id").to_pylist()) != recipe.digest
    ):
        raise InputError(
            "this recipe gives other questions than it did",
            found=f"{len(bench):,} items",
            expected=f"{recipe.items:,} items with the digest {recipe.digest}",
            todo=_OTHER_GRAPH,
        )
    return bench


def _again(bench: Benchmark, step: Step, wholes: Sequence[Benchmark], store: Any) -> Benchmark:
    said = {name: value for name, value in step.items() if name != "do"}
    how = STEPS.get(str(step.get("do")))
    if how is None:
        raise InputError(
            f"a recipe can't do {step.get('do')!r} again",
            found=in_words({"do": "?", **step}),
            expected=", ".join(STEPS),
            todo="cut the benchmark by these",
        )
    return how(bench, said, wholes, store)


def _filter(
    bench: Benchmark, said: Mapping[str, Any], _wholes: Sequence[Benchmark], _store: Any
) -> Benchmark:
    return bench.filter(**said)


def _subset(
    bench: Benchmark, said: Mapping[str, Any], _wholes: Sequence[Benchmark], store: Any
) -> Benchmark:
    if "ids" in said:
        return bench.subset(said["ids"])
    try:
        found = bench.subset(said["query"], store=store, **said["parameters"])
    except UsageError as error:
        if "ids are of no template" not in error.message:
            raise
        raise InputError(
            "the recipe's query finds what this benchmark lacks: the graph is another one",
            found=error.message,
            todo=_OTHER_GRAPH,
        ) from error
    if found._steps[-1]["found"] != said["found"]:
        raise InputError(
            "the recipe's query finds something else in this graph",
            found=f"ids with the digest {found._steps[-1]['found']}",
            expected=said["found"],
            todo=_OTHER_GRAPH,
        )
    return found


def _sample(
    bench: Benchmark, said: Mapping[str, Any], _wholes: Sequence[Benchmark], _store: Any
) -> Benchmark:
    return bench.sample(said["n"], by=said["by"], seed=said["seed"])


def _split(
    bench: Benchmark, said: Mapping[str, Any], _wholes: Sequence[Benchmark], _store: Any
) -> Benchmark:
    parts = bench.split(said["by"], test=said["test"], seed=said["seed"])
    return parts.train if said["part"] == "train" else parts.test


def _join(
    bench: Benchmark, said: Mapping[str, Any], _wholes: Sequence[Benchmark], store: Any
) -> Benchmark:
    if "rows" in said:
        return bench.join(said["rows"], on=said["on"])
    return bench.join(said["query"], on=said["on"], store=store, **said["parameters"])


def _concat(
    bench: Benchmark, said: Mapping[str, Any], wholes: Sequence[Benchmark], store: Any
) -> Benchmark:
    return bench.concat(*(replay(Recipe.of(one), wholes, store=store) for one in said["others"]))


def _reviewed(
    bench: Benchmark, said: Mapping[str, Any], _wholes: Sequence[Benchmark], _store: Any
) -> Benchmark:
    found = bench._cut_reviewed(said["reviewed"], said["bytes"])
    if found._steps[-1]["marks"] != said["marks"]:
        raise InputError(
            "the marks of readers that this recipe was made with are not there any more",
            found=f"other marks in the first {found._steps[-1]['bytes']:,} bytes",
            expected=f"the hash {said['marks']} of the first {said['bytes']:,} bytes",
            todo="put back the review/marks.jsonl that it was made with (it only grows, unless a "
            "patient was forgotten), or filter anew",
        )
    return found


STEPS: Mapping[str, Callable[..., Benchmark]] = {
    "filter": _filter,
    "reviewed": _reviewed,
    "subset": _subset,
    "sample": _sample,
    "split": _split,
    "join": _join,
    "concat": _concat,
}
"""How each step of a recipe is done again."""
