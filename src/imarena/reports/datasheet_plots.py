"""Plots of a data sheet as SVG: tasks, sources, resolution, and a word cloud of the instructions."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from imarena.core import shortened
from imarena.reports.charts import BLUE, chart_of
from imarena.reports.rank_plots import names_axis

_LONGEST = 60
_WIDTH, _HEIGHT = 720, 360
_COLOURS = ("#1f5fa8", "#b3541e", "#2f7d4f", "#7a4fa3", "#8a6d00", "#a3324c")
_NO_FRAME = {"stroke": None}


def save_datasheet_plots(
    groups: Mapping[str, Mapping[str, int]], keywords: Mapping[str, int], folder: Path
) -> list[str]:
    """Write one bar chart per group and the keyword cloud; returns the names of the files."""
    charts = {group: bar_chart(group, counts) for group, counts in groups.items() if counts}
    if keywords:
        charts["keywords"] = keyword_cloud(keywords)
    return [chart_of(f"datasheet-{name}", "", chart).save_svg(folder) for name, chart in charts.items()]


def bar_chart(title: str, counts: Mapping[str, int]) -> Any:
    """Horizontal bars, in the given order."""
    import altair as alt

    rows = [{"name": name, "items": count} for name, count in counts.items()]
    base = alt.Chart(alt.InlineData(values=rows), title=f"Items by {title}").encode(
        y=names_axis("name:N", list(counts)), x=alt.X("items:Q", axis=None)
    )
    numbers = base.mark_text(align="left", dx=6).encode(text=alt.Text("items:Q", format=","))
    return (base.mark_bar(color=BLUE) + numbers).properties(width=_WIDTH - 320, view=_NO_FRAME)


def keyword_cloud(keywords: Mapping[str, int]) -> Any:
    """Words on a spiral from the centre, larger if they are more frequent, without overlap."""
    import altair as alt

    most = max(keywords.values())
    boxes: list[tuple[float, float, float, float]] = []
    words = []
    for at, (word, count) in enumerate(sorted(keywords.items(), key=lambda pair: (-pair[1], pair[0]))):
        size = 12 + 26 * math.sqrt(count / most)
        width, height = 0.6 * size * len(word[:_LONGEST]), size * 1.05
        spot = _free_spot(boxes, width, height)
        if spot is not None:
            boxes.append((*spot, width, height))
            colour = _COLOURS[at % len(_COLOURS)]
            words.append(
                {"word": shortened(word, _LONGEST), "size": size, "colour": colour, "x": spot[0], "y": spot[1]}
            )
    return (
        alt.Chart(alt.InlineData(values=words))
        .mark_text()
        .encode(
            x=alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, _WIDTH])),
            y=alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[_HEIGHT, 0])),
            text="word:N",
            size=alt.Size("size:Q", scale=None),
            color=alt.Color("colour:N", scale=None),
        )
        .properties(width=_WIDTH, height=_HEIGHT, view=_NO_FRAME)
    )


def _free_spot(
    boxes: list[tuple[float, float, float, float]], width: float, height: float
) -> tuple[float, float] | None:
    for step in range(1500):
        angle, radius = 0.35 * step, 1.6 * math.sqrt(step) * math.sqrt(step) ** 0.55
        x, y = _WIDTH / 2 + 1.7 * radius * math.cos(angle), _HEIGHT / 2 + 0.8 * radius * math.sin(angle)
        inside = width / 2 <= x <= _WIDTH - width / 2 and height / 2 <= y <= _HEIGHT - height / 2
        if inside and not any(
            abs(x - other[0]) * 2 < width + other[2] and abs(y - other[1]) * 2 < height + other[3] for other in boxes
        ):
            return x, y
    return None
