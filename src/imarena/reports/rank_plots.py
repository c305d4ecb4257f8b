"""Plots of a board as PNG, SVG and HTML: ratings with their intervals, and who beat whom."""

import re
from pathlib import Path
from typing import Any

from imarena.core import UserError
from imarena.core.records import Ranking
from imarena.reports.pair_differences import group_numbers

LABEL_LIMIT = 260
WIN_COLOURS = ("#e08a63", "#f6f8fa", "#7aaaf2")
"""A win share of 0, one half and 1: the colours of every win matrix (`site.css`; `look.css` of the web pages)."""
_SAVING: dict[str, dict[str, Any]] = {"png": {"scale_factor": 2}, "svg": {}, "html": {"inline": True}}
"""Options for saving each format; the HTML contains its scripts, so that it opens without a network."""
FORMS = tuple(_SAVING)
METHOD_TITLES = {
    "bt": "Bradley-Terry", "davidson": "Davidson", "elo": "Elo", "active-elo": "Active Elo", "mixture": "mixture",
    "corrected": "corrected by people's votes",
}  # fmt: skip
"""Usual names of the methods of `imarena rank`."""
_WORDS = {"labelFontSize": 12, "titleFontSize": 12}
_PAGE: dict[str, Any] = {"axis": _WORDS, "legend": _WORDS}
_LIGHT, _LINES = {"labelColor": "#c9d1d9", "titleColor": "#e6edf3"}, "#6e7681"
_DARK: dict[str, Any] = {
    "background": "transparent",
    "title": {"color": "#e6edf3"},
    "axis": {**_WORDS, **_LIGHT, "gridColor": "#30363d", "domainColor": _LINES, "tickColor": _LINES},
    "legend": {**_WORDS, **_LIGHT},
    "view": {"stroke": "#30363d"},
    "text": {"color": "#c9d1d9"},
}
"""Configuration for dark pages: a transparent background with light text and lines."""


def save_plots(ranking: Ranking, folder: Path) -> list[Path]:
    """Write ``ratings`` and, if the board has pairwise tables, ``wins``, each as PNG, SVG and HTML."""
    if not ranking.models:
        return []
    if folder.suffix.lower() in {f".{form}" for form in FORMS}:
        raise UserError(f"--plot takes a folder, not the file {folder}.", hint="It gets PNG, SVG and HTML files.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"Cannot write plots into {folder}: {error.strerror}.") from error
    suffix = "".join(f"-{_plain(key)}-{_plain(value)}" for key, value in ranking.scope.items())
    charts = {"ratings": ratings_chart(ranking), "wins": wins_chart(ranking)}
    saved = []
    for name, chart in charts.items():
        for form in FORMS if chart is not None else ():
            path = folder / f"{name}{suffix}.{form}"
            chart.save(str(path), **_SAVING[form])
            saved.append(path)
    return saved


def save_pair(chart: Any, folder: Path, name: str) -> tuple[str, str]:
    """Write a chart as two PNG files, for light and for dark pages; returns both names."""
    light, dark = f"{name}.png", f"{name}-dark.png"
    chart.configure(**_PAGE).save(str(folder / light), **_SAVING["png"])
    chart.configure(**_DARK).save(str(folder / dark), **_SAVING["png"])
    return light, dark


def ratings_chart(ranking: Ranking) -> Any:
    """One point per model with its interval, the best on top."""
    import altair as alt

    names, group = _names([standing.model for standing in ranking.models]), group_numbers(ranking)
    rows = [
        {
            "model": name,
            "rating": s.rating,
            "low": None if s.low == s.high else s.low,
            "high": s.high,
            "battles": s.battles,
            **({"group": f"group {group[s.model]}: ratings hold within the group"} if group else {}),
        }
        for name, s in zip(names, ranking.models, strict=True)
    ]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=names_axis("model:N", names),
        tooltip=["model:N", alt.Tooltip("rating:Q", format=".1f"), "low:Q", "high:Q", "battles:Q"],
    )
    level = ranking.settings.get("level")
    title = f"rating, {level:.0%} interval" if isinstance(level, float) else "rating"
    scale = alt.Scale(zero=False, nice=True, padding=12)
    lines = base.transform_filter("isValid(datum.low) && datum.low < datum.high").mark_rule(
        strokeWidth=2, color="#8aa4c8"
    )
    points = base.mark_circle(size=70, opacity=1, color="#3b78c4").encode(
        x=alt.X("rating:Q", title=title, scale=scale, axis=alt.Axis(labelFlush=False, tickCount=8))
    )
    spans = lines.encode(
        x=alt.X("low:Q", scale=scale, title=title, axis=alt.Axis(labelFlush=False, tickCount=8)), x2="high:Q"
    )
    chart = spans + points
    if not group_numbers(ranking):
        return chart.properties(width=470, height={"step": 22}, title=_title(ranking))
    rows_apart = chart.properties(width=470, height={"step": 22}).facet(
        row=alt.Row("group:N", title=None, header=alt.Header(labelAngle=0, labelAlign="left", labelOrient="top"))
    )
    return rows_apart.resolve_scale(x="independent", y="independent").properties(title=_title(ranking))


def wins_chart(ranking: Ranking) -> Any:
    """Win share of the row model against the column model (a tie counts half); empty for pairs that never met."""
    import altair as alt

    pairs = ranking.details.get("pairs")
    if not isinstance(pairs, dict) or not isinstance(pairs.get("win_matrix"), list):
        return None
    details: Any = pairs
    names = _names([str(model) for model in details["models"]])
    rows = [
        {"row": names[i], "column": names[j], "share": share}
        for i, line in enumerate(details["win_matrix"])
        for j, share in enumerate(line)
        if share is not None and i != j
    ]
    axis = alt.Axis(labelLimit=LABEL_LIMIT, labelOverlap=False, labelAngle=-60)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("column:N", sort=names, title="against", axis=axis),
        y=names_axis("row:N", names),
    )
    colour = alt.Color(
        "share:Q",
        scale=alt.Scale(domain=[0, 0.5, 1], range=[*WIN_COLOURS], interpolate="rgb"),
        title="win share of the row",
        legend=alt.Legend(format="%"),
    )
    cells = base.mark_rect().encode(color=colour, tooltip=["row:N", "column:N", alt.Tooltip("share:Q", format=".1%")])
    chart: Any = cells
    if len(names) <= 20:
        text = alt.Text("share:Q", format=".0%")
        chart = cells + base.mark_text(fontSize=10).encode(text=text, color=alt.value("#222"))
    size = {"step": 32 if len(names) <= 20 else 16}
    return chart.properties(width=size, height=size, title=_title(ranking))


def names_axis(field: str, order: list[str], limit: int = LABEL_LIMIT) -> Any:
    """A vertical axis with all names in this order."""
    import altair as alt

    return alt.Y(field, sort=order, title=None, axis=alt.Axis(labelLimit=limit, labelOverlap=False))


def _title(ranking: Ranking) -> list[str]:
    scope = _printable(", ".join(f"{key} {value}" for key, value in ranking.scope.items()))
    method = METHOD_TITLES.get(ranking.method, ranking.method)
    return [*([scope] if scope else []), f"{method}, {ranking.n_battles:,} battles"]


def _names(models: list[str]) -> list[str]:
    """Make names printable, and still distinct after shortening."""
    names = [_printable(model) for model in models]
    return [name if names.count(name) == 1 else f"{name} ({index + 1})" for index, name in enumerate(names)]


def _printable(text: str) -> str:
    """Make text printable and short, without characters that could end the script around it in an HTML page."""
    safe = "".join(letter if letter.isprintable() else "·" for letter in text)
    return safe.replace("<", "‹").replace(">", "›")[:60]


def _plain(text: str) -> str:
    """Make text safe for a file name."""
    return re.sub(r"[^A-Za-z0-9_.]+", "_", text).strip("._")[:60] or "group"
