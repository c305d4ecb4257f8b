"""Heat maps, histograms and bar charts of a report."""

from collections.abc import Mapping, Sequence
from typing import Any

from imarena.reports.charts import BLUE, Chart, chart_of
from imarena.reports.rank_plots import LABEL_LIMIT, names_axis


def heat_map(
    name: str,
    caption: str,
    cells: Mapping[tuple[str, str], float],
    *,
    title: str,
    spec: str = ".0%",
    step: int = 34,
    rows: Sequence[str] = (),
    domain: tuple[float, float] | None = None,
) -> Chart:
    """A heat map of values by row and column. `rows`: their order; columns keep the order of `cells`."""
    import altair as alt

    across = list(dict.fromkeys(column for _, column in cells))
    down = list(rows or dict.fromkeys(row for row, _ in cells))
    values = [{"row": row, "column": column, "value": value} for (row, column), value in cells.items()]
    low, high = domain or (0.0, max([value for value in cells.values() if value is not None], default=0.0) or 1.0)
    axis = alt.Axis(labelLimit=LABEL_LIMIT, labelOverlap=False, labelAngle=-50)
    base = alt.Chart(alt.InlineData(values=values)).encode(
        x=alt.X("column:N", sort=across, title=None, axis=axis), y=names_axis("row:N", down)
    )
    scheme: Any = "blues" if low >= 0 else "purpleorange"
    colour = alt.Color("value:Q", scale=alt.Scale(scheme=scheme, domain=[low, high]), title=title)
    cell = base.mark_rect(stroke="#888", strokeWidth=0.3).encode(color=colour)
    chart: Any = cell
    if len(values) <= 600:
        dark = f"datum.value > {(low + high) / 2}" if low >= 0 else f"abs(datum.value) > {0.5 * high}"
        shade = alt.condition(dark, alt.value("white"), alt.value("#222"))
        chart = cell + base.mark_text(fontSize=10).encode(text=alt.Text("value:Q", format=spec), color=shade)
    return chart_of(name, caption, chart.properties(width={"step": step + 8}, height={"step": step - 10}))


def histogram(name: str, caption: str, values: Sequence[float], *, title: str, bins: int = 20) -> Chart:
    """A histogram with equal bins between the lowest and highest value, or between 0 and 1 if all values are there."""
    import altair as alt
    import numpy as np

    inside = (0.0, 1.0) if all(0 <= value <= 1 for value in values) else (float(min(values)), float(max(values)))
    counts, edges = np.histogram(np.asarray(values, float), bins=bins, range=inside)
    rows = [
        {"low": float(low), "high": float(high), "count": int(count)}
        for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
        if count
    ]
    bars = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_rect(color=BLUE, stroke="#fff", strokeWidth=0.4)
        .encode(
            x=alt.X("low:Q", title=title, scale=alt.Scale(domain=list(inside), nice=False)),
            x2="high:Q",
            y=alt.Y("count:Q", title="number"),
            y2=alt.datum(0),
        )
    )
    return chart_of(name, caption, bars.properties(width=420, height=180))


def grouped_bars(
    name: str, caption: str, values: Mapping[tuple[str, str], float], *, title: str, spec: str = ".2f"
) -> Chart:
    """One bar per group (rows) and series (colours), labelled with its value."""
    import altair as alt

    rows = [{"group": group, "series": series, "value": value} for (group, series), value in values.items()]
    groups = list(dict.fromkeys(group for group, _ in values))
    series = list(dict.fromkeys(label for _, label in values))
    most = max([0.0, *values.values()]) or 1.0
    room = alt.Scale(domain=[min([0.0, *values.values()]), 1.1 * most], nice=False)  # room for the longest bar's text
    share: dict[str, Any] = {"format": spec} if spec.endswith("%") else {}
    axis = alt.Axis(tickMinStep=1 if spec == ".0f" else 0.01, **share)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=names_axis("group:N", groups),
        yOffset=alt.YOffset("series:N", sort=series),
        x=alt.X("value:Q", title=title, scale=room, axis=axis),
    )
    legend = alt.Legend() if len(series) > 1 else None
    bars = base.mark_bar().encode(
        color=alt.Color("series:N", sort=series, title=None, legend=legend, scale=alt.Scale(scheme="tableau10"))
    )
    texts = base.mark_text(align="left", dx=3, fontSize=10, color="currentColor").encode(
        text=alt.Text("value:Q", format=spec)
    )
    return chart_of(name, caption, (bars + texts).properties(width=420, height={"step": 12 if len(series) > 1 else 18}))
