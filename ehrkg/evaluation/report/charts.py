"""Charts of the report; each is drawn from a table that stands beside it, as its alternative."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

VERMILION, ORANGE, GREEN, BLUE, GREY, SKY, PURPLE = (
    "#D55E00",
    "#E69F00",
    "#009E73",
    "#0072B2",
    "#767676",
    "#56B4E9",
    "#CC79A7",
)
"""Okabe and Ito's colours (2008), which colour-blind readers can tell apart."""

VERDICT_COLOURS = {
    "supported": GREEN,
    "contradicted": VERMILION,
    "ambiguous": ORANGE,
    "unsupported": GREY,
}
MODEL_COLOURS = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION)


def plotly_script() -> str:
    """The plotting library itself, to stand once in the page."""
    from plotly.offline import get_plotlyjs

    return str(get_plotlyjs())


def _html(figure: Any, name: str, *, height: int) -> str:
    figure.update_layout(
        template="plotly_white",
        height=height,
        margin={"l": 10, "r": 10, "t": 10, "b": 40},
        font={"family": "system-ui, sans-serif", "size": 13},
        legend={"orientation": "h", "y": -0.2},
    )
    return str(
        figure.to_html(
            full_html=False,
            include_plotlyjs=False,
            div_id=f"chart-{name}",
            config={"displayModeBar": False, "responsive": True},
        )
    )


def funnel(steps: Sequence[tuple[str, int]]) -> str:
    """Horizontal bars, on a logarithmic axis, from rows to questions."""
    import plotly.graph_objects as go

    labels = [label for label, _ in reversed(steps)]
    counts = [count for _, count in reversed(steps)]
    figure = go.Figure(
        go.Bar(
            x=[max(count, 1) for count in counts],
            y=labels,
            orientation="h",
            marker_color=BLUE,
            text=[f"{count:,}" for count in counts],
            textposition="auto",
            hovertemplate="%{y}: %{text}<extra></extra>",
        )
    )
    top = math.log10(max(max(counts, default=1), 1)) + 0.3
    figure.update_xaxes(type="log", title="count (logarithmic)", range=[0, top], dtick=1)
    figure.update_yaxes(automargin=True)
    return _html(figure, "funnel", height=60 + 34 * len(steps))


def verdicts(counts: Mapping[str, Mapping[str, int]]) -> str:
    """Stacked shares of the verdicts of each predicate."""
    import plotly.graph_objects as go

    predicates = sorted(counts, reverse=True)
    figure = go.Figure()
    for verdict, colour in VERDICT_COLOURS.items():
        shares = [
            100 * counts[p].get(verdict, 0) / max(sum(counts[p].values()), 1) for p in predicates
        ]
        figure.add_bar(
            name=verdict,
            x=shares,
            y=predicates,
            orientation="h",
            marker_color=colour,
            customdata=[counts[p].get(verdict, 0) for p in predicates],
            hovertemplate="%{y}, " + verdict + ": %{customdata:,} (%{x:.1f} %)<extra></extra>",
        )
    figure.update_layout(barmode="stack")
    figure.update_xaxes(title="% of proposed relations", range=[0, 100])
    figure.update_yaxes(automargin=True)
    return _html(figure, "verdicts", height=110 + 36 * len(predicates))


def accuracies(table: pa.Table, n_options: int) -> str:
    """Accuracy by task and model with 95 % intervals, at one number of options."""
    import plotly.graph_objects as go

    rows = [
        row
        for row in table.to_pylist()
        if row["n_options"] == n_options and row["setting"] == "plain" and not row["key_source"]
    ]
    tasks = sorted({row["task"] for row in rows})
    figure = go.Figure()
    for colour, model in zip(MODEL_COLOURS, sorted({row["model"] for row in rows}), strict=False):
        own = {row["task"]: row for row in rows if row["model"] == model}
        shown = [task for task in tasks if task in own]
        figure.add_bar(
            name=model,
            x=shown,
            y=[100 * own[task]["accuracy"] for task in shown],
            marker_color=colour,
            error_y={
                "type": "data",
                "symmetric": False,
                "array": [100 * (own[t]["high"] - own[t]["accuracy"]) for t in shown],
                "arrayminus": [100 * (own[t]["accuracy"] - own[t]["low"]) for t in shown],
            },
            hovertemplate="%{x}: %{y:.1f} %<extra>" + model + "</extra>",
        )
    figure.add_hline(y=100 / n_options, line_dash="dot", line_color=GREY)
    figure.update_yaxes(title=f"accuracy, {n_options} options (%)", rangemode="tozero")
    return _html(figure, "accuracy", height=380)
