"""Plots of EdiVal's figures: Pareto fronts for each pair of axes and turn, and trends over turns."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from imarena.core import UserError
from imarena.reports.charts import BLUE, ORANGE, Chart, chart_of
from imarena.reports.edival.figures import COMPLEX, TurnFigures, all_figures, pareto_front
from imarena.reports.edival.scored import ScoredSet, known_mean

_AXES = {"IF": "image_success", "CC": "consistency", "VQ": "quality"}


def fronts(scored: ScoredSet, mode: str) -> Iterator[tuple[str, str, Any]]:
    """Name, caption and chart of the front for each pair of axes and turn with at least two editors."""
    figures = all_figures(scored, mode)
    for turn in scored.turns:
        of_turn = [row for row in figures if row.turn == turn]
        for first, second in (("IF", "CC"), ("IF", "VQ"), ("CC", "VQ")):
            chart = front_chart(of_turn, first, second)
            if chart is not None:
                name = f"pareto-{mode}-{turn + 1}-{first}-{second}".lower()
                yield name, f"{first} and {second} at turn {turn + 1}, {mode.replace('_', '-')}", chart


def save_fronts(scored: ScoredSet, mode: str, folder: Path) -> list[Path]:
    """Save one PNG per front."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"Cannot write plots into {folder}: {error.strerror}.") from error
    return [_saved(chart, folder / f"{name}.png") for name, _, chart in fronts(scored, mode)]


def _saved(chart: Any, path: Path) -> Path:
    chart.save(str(path), scale_factor=2)
    return path


def front_chart(figures: list[TurnFigures], first: str, second: str) -> Any:
    """Editors as points, with a line along the front; None if fewer than two have both figures."""
    import altair

    alt: Any = altair

    points = {
        row.editor: (x, y)
        for row in figures
        if (x := getattr(row, _AXES[first])) is not None and (y := getattr(row, _AXES[second])) is not None
    }
    if len(points) < 2:
        return None
    front = set(pareto_front(points))
    rows = [
        {"editor": name, "x": x, "y": y, "front": "yes" if name in front else "no"} for name, (x, y) in points.items()
    ]
    across = alt.X("x:Q", title=first, scale=alt.Scale(zero=False, padding=24, nice=False))
    up = alt.Y("y:Q", title=second, scale=alt.Scale(zero=False, padding=24, nice=False))
    colours = alt.Scale(domain=["yes", "no"], range=[ORANGE, BLUE])
    dots = alt.Chart(alt.InlineData(values=rows)).mark_circle(size=70, opacity=1)
    dots = dots.encode(across, up, color=alt.Color("front:N", title="on the front", scale=colours))
    names = alt.Chart(alt.InlineData(values=rows)).mark_text(align="left", dx=7).encode(across, up, text="editor:N")
    line = alt.Chart(alt.InlineData(values=[row for row in rows if row["front"] == "yes"]))
    line = line.mark_line(strokeDash=[4, 3], color=ORANGE)
    return (line.encode(across, up) + dots + names).properties(width=420, height=320)


def trends(scored: ScoredSet, mode: str) -> Iterator[tuple[str, str, Any]]:
    """Luminance drift (figure 26), success on the last instruction (figures 5 and 25), images that pass (figure 1)."""
    figures = all_figures(scored, mode)
    label = "C" if mode == COMPLEX else "turn"
    lines = {
        "luminance": ("99.9% luminance quantile", luminance_points(scored, mode)),
        "last-instruction": (
            "success on the last instruction, percent",
            [(row.editor, row.turn + 1, 100 * row.task_success) for row in figures if row.task_success is not None],
        ),
        "passing": (
            "images with CC of 90 and VQ of 6, percent",
            [(row.editor, row.turn + 1, 100 * row.passes) for row in figures if row.passes is not None],
        ),
    }
    for name, (title, points) in lines.items():
        chart = line_chart(points, label, title)
        if chart is not None:
            mode_name = mode.replace("_", "-")
            yield f"{name}-{mode_name}", f"{title[0].upper()}{title[1:]}, by {label}, {mode_name}", chart


def save_trends(scored: ScoredSet, mode: str, folder: Path) -> list[Path]:
    """Save one PNG per trend."""
    return [_saved(chart, folder / f"{name}.png") for name, _, chart in trends(scored, mode)]


def edival_charts(scored: ScoredSet) -> list[Chart]:
    """All fronts and trends as charts of a page."""
    return [
        chart_of(name, caption, plot)
        for mode in ("multi_turn", "complex", "single")
        if scored.editors(mode)
        for plots in (fronts, trends)
        for name, caption, plot in plots(scored, mode)
    ]


def luminance_points(scored: ScoredSet, mode: str) -> list[tuple[str, int, float]]:
    """(editor, turn, mean of the 99.9% quantile); turn 0 is the base images of the editor's first outputs."""
    points: list[tuple[str, int, float]] = []
    for editor in scored.editors(mode):
        for turn in scored.turns:
            outputs = scored.of(editor, mode, turn)
            if not any(point[0] == editor for point in points):
                base = known_mean([output.quality.get("base_luminance_p999") for output in outputs])
                points += [] if base is None else [(editor, 0, base)]
            value = known_mean([output.quality.get("luminance_p999") for output in outputs])
            points += [] if value is None else [(editor, turn + 1, value)]
    return points


def line_chart(points: list[tuple[str, int, float]], across: str, up: str) -> Any:
    """One line per editor; None if there is nothing to draw."""
    import altair

    alt: Any = altair
    if not points:
        return None
    rows = [{"editor": editor, "x": x, "y": y} for editor, x, y in points]
    axis = alt.X("x:O", title=across, axis=alt.Axis(labelAngle=0))
    chart = alt.Chart(alt.InlineData(values=rows)).mark_line(point=True)
    chart = chart.encode(axis, alt.Y("y:Q", title=up, scale=alt.Scale(zero=False)), color="editor:N")
    return chart.properties(width=420, height=300)
