"""A benchmark in a notebook: its counts, one question, and the evidence behind the answer."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from ehrkg.foundation.errors import EhrkgError
from ehrkg.foundation.hashing import hash64
from ehrkg.graph.explain import explain_template

if TYPE_CHECKING:
    from ehrkg.benchmark.opened.benchmark import Benchmark


def as_html(bench: Benchmark) -> str:
    """Counts, and under them one question with its evidence where the graph can be asked.

    The question is one of the multiple-choice ones, where there are such; which, is a hash.
    """
    shown = bench.describe()._repr_html_()
    choices = bench.filter(format="mcq")
    asked = choices if len(choices) else bench
    if not len(asked):
        return shown
    item = asked[hash64("shown", len(asked)) % len(asked)]
    return shown + _question(item) + _evidence(bench, item)


def _question(item: dict[str, Any]) -> str:
    options = "".join(f"<li>{escape(option)}</li>" for option in item["options"])
    return (
        f"<p>{escape(item['stem'])}</p>"
        + (f"<ol type='A'>{options}</ol>" if options else "")
        + f"<p>Answer: {escape('; '.join(item['answer']))}</p>"
        + f"<p><small>{escape(item['item_id'])}</small></p>"
    )


def _evidence(bench: Benchmark, item: dict[str, Any]) -> str:
    try:
        with bench.asking() as store:
            if store is None:
                return "<p><small>No graph lies beside these questions.</small></p>"
            asked = getattr(store, "store", store)
            return explain_template(asked, item["template_id"]).frame()
    except EhrkgError as error:  # the question is shown all the same
        return f"<p><small>No evidence can be shown: {escape(error.message)}</small></p>"
