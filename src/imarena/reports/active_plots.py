"""Plots of the Active Elo report: reliability, bootstrap ratings (figure 4), win rates (figure 3), policies."""

from pathlib import Path
from typing import Any

from imarena.core import UserError
from imarena.reports.active_tables import board_parts
from imarena.reports.rank_plots import names_axis, save_pair

TOP = 10
LABEL_LIMIT = 180
MANY = 2


def reliability_chart(judge: str, curves: list[dict[str, Any]]) -> Any:
    """Points show the raw agreement of equal-count bins, line and band the fitted curve with its interval at the bins.
    A piecewise constant curve has its steps at the bins' edges.
    """
    import altair as alt

    rows = [
        {"group": curve["group"], "gap": gap, "agreement": fitted, "low": low, "high": high, "raw": raw, "pairs": n}
        for curve in curves
        for gap, fitted, low, high, raw, n in zip(
            curve["gap"], curve["agreement"], curve["low"], curve["high"], curve["empirical"], curve["n"], strict=True
        )
    ]
    base = alt.Chart(alt.InlineData(values=rows)).encode(x=alt.X("gap:Q", title="score gap"))
    # bands of many groups would hide each other: in that case only the first (all pairs) has one
    main = base if len(curves) <= MANY else base.transform_filter(alt.datum.group == curves[0]["group"])
    scale = alt.Scale(domain=[0, 1])
    colour = alt.Color("group:N", title=None)
    band = main.mark_area(opacity=0.2).encode(
        y=alt.Y("low:Q", scale=scale, title="agreement with people"), y2="high:Q", color=colour
    )
    line_rows = [row for curve in curves for row in _line(curve)]
    line = alt.Chart(alt.InlineData(values=line_rows)).mark_line().encode(
        x=alt.X("gap:Q", title="score gap"), y=alt.Y("agreement:Q", scale=scale), color=colour, order="place:Q"
    )  # fmt: skip
    points = main.mark_circle(size=50).encode(
        y=alt.Y("raw:Q", scale=scale), color=colour, tooltip=["gap:Q", "raw:Q", "pairs:Q"]
    )
    guess = alt.Chart(alt.InlineData(values=[{"y": 0.5}])).mark_rule(strokeDash=[4, 4], color="#999999").encode(y="y:Q")
    return (band + line + points + guess).properties(width=520, height=320, title=f"{judge}: agreement by score gap")


def _line(curve: dict[str, Any]) -> list[dict[str, Any]]:
    """The points of a curve's line, in order."""
    gaps, levels = list(curve["gap"]), list(curve["agreement"])
    for index, edge in reversed(list(enumerate(curve.get("edges") or (), 1))):
        gaps[index:index] = [edge, edge]
        levels[index:index] = [levels[index - 1], levels[index]]
    return [
        {"group": curve["group"], "gap": gap, "agreement": level, "place": index}
        for index, (gap, level) in enumerate(zip(gaps, levels, strict=True))
    ]


def save_reliability(judge: str, curves: list[dict[str, Any]], path: Path) -> Path:
    """Save the reliability chart as PNG, SVG or HTML, depending on the ending of `path`."""
    if path.suffix.lower() not in (".png", ".svg", ".html"):
        raise UserError(f"Cannot save a plot as '{path.suffix}'.", hint="Use .png, .svg or .html.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        reliability_chart(judge, curves).save(str(path), **({"scale_factor": 2} if path.suffix == ".png" else {}))
    except OSError as error:
        raise UserError(f"Cannot write {path}: {error.strerror}.") from error
    return path


def save_active_plots(document: dict[str, Any], folder: Path) -> dict[str, tuple[str, str]]:
    """Save every figure for which the document of `imarena route report` has data; returns the names of its files, for
    light and for dark pages, by figure.
    """
    charts = {
        "bootstrap": bootstrap_chart(document),
        "wins": top_ten_wins_chart(document),
    }
    if document["calibration"]:
        curves = [{**curve, "group": group} for group, curve in document["calibration"].items()]
        charts["reliability"] = reliability_chart(document["judge"], curves)
    if document["policies"]:
        charts["policies"] = policy_chart(document["policies"]["lines"])
    folder.mkdir(parents=True, exist_ok=True)
    return {name: save_pair(chart, folder, name) for name, chart in charts.items()}


def bootstrap_chart(document: dict[str, Any]) -> Any:
    """One panel per setting: the ratings of its ten best with the intervals of resampled boards (figure 4).

    Each group of models that never met has a panel of its own.
    """
    import altair as alt

    scale = alt.Scale(nice=True, zero=False)  # ratings of different settings cannot be compared
    panels = []
    for _, title, rows in board_parts(document["boards"], document.get("groups") or {}):
        best = rows[:TOP]
        order = [row["model"] for row in best]
        base = alt.Chart(alt.InlineData(values=best)).encode(y=names_axis("model:N", order, LABEL_LIMIT))
        bars = base.transform_filter("isValid(datum.low) && datum.low < datum.high").mark_errorbar(
            ticks=True, color="#8aa4c8", thickness=2
        )
        spans = bars.encode(x=alt.X("low:Q", scale=scale, title="rating"), x2="high:Q")
        points = base.mark_circle(size=60, opacity=1, color="#3f7fd0").encode(x=alt.X("rating:Q", scale=scale))
        panels.append((spans + points).properties(width=230, height={"step": 22}, title=title))
    return alt.concat(*panels, columns=3, spacing=24).resolve_scale(x="independent", y="independent")


def top_ten_wins_chart(document: dict[str, Any]) -> Any:
    """One panel per setting (and group): the average win rate of its ten best against the ten best (figure 3)."""
    import altair as alt

    panels = []
    for name, title, rows in board_parts(document["boards"], document.get("groups") or {}):
        rates = document["win_rates"].get(name) or {}
        best = [
            {"model": row["model"], "rate": rates[row["model"]]}
            for row in rows[:TOP]
            if rates.get(row["model"]) is not None
        ]
        base = alt.Chart(alt.InlineData(values=best)).encode(
            y=names_axis("model:N", [row["model"] for row in best], LABEL_LIMIT),
            x=alt.X("rate:Q", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format=".0%"), title="average win rate"),
        )
        text = base.mark_text(align="left", dx=3, fontSize=10).encode(text=alt.Text("rate:Q", format=".0%"))
        bars = base.mark_bar(color="#8aa4c8")
        panels.append((bars + text).properties(width=230, height={"step": 22}, title=title))
    return alt.concat(*panels, columns=3, spacing=24)


def policy_chart(lines: list[dict[str, Any]]) -> Any:
    """Acc_H of each policy at the same number of votes, with its interval."""
    import altair as alt

    rows = [{"policy": line["policy"], **line["accuracy"]} for line in lines]
    policies = [row["policy"] for row in rows]
    base = alt.Chart(alt.InlineData(values=rows)).encode(y=names_axis("policy:N", policies, 220))
    scale = alt.Scale(zero=False, nice=True)
    title = f"Acc_H on held-out votes, {lines[0]['budget']} votes asked"
    spans = base.mark_rule(strokeWidth=2, color="#8aa4c8").encode(
        x=alt.X("low:Q", scale=scale, title=title), x2="high:Q"
    )
    points = base.mark_circle(size=60, opacity=1, color="#3f7fd0").encode(x=alt.X("mean:Q", scale=scale, title=title))
    return (spans + points).properties(width=460, height={"step": 22})
