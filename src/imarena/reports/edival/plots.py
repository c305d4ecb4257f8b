"""Plots of EdiVal's figures: Pareto fronts for each pair of axes and turn, and trends over turns."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from imarena.reports.charts import BLUE, ORANGE, Chart, chart_of
from imarena.reports.edival.figures import AXIS_PAIRS, COMPLEX, all_figures, axis_points, pareto_front
from imarena.reports.edival.scored import ScoredSet, known_mean


def fronts(scored: ScoredSet, mode: str) -> Iterator[tuple[str, str, Any]]:
    """Name, caption and chart of the front for each pair of axes and turn with at least two editors."""
    figures = all_figures(scored, mode)
    for turn in scored.turns:
        for first, second in AXIS_PAIRS:
            points = axis_points((row for row in figures if row.turn == turn), first, second)
            if len(points) > 1:
                name = f"pareto-{mode}-{turn + 1}-{first}-{second}".lower()
                caption = f"{first} and {second} at turn {turn + 1}, {mode.replace('_', '-')}"
                yield name, caption, front_chart(points, first, second)


def front_chart(points: dict[str, tuple[float, float]], first: str, second: str) -> Any:
    """Editors as points, with a line along the front."""
    import altair

    alt: Any = altair
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

    def shares(name: str) -> list[tuple[str, int, float]]:
        known = ((row, getattr(row, name)) for row in figures)
        return [(row.editor, row.turn + 1, 100 * share) for row, share in known if share is not None]

    lines = {
        "luminance": ("99.9% luminance quantile", luminance_points(scored, mode)),
        "last-instruction": ("success on the last instruction, percent", shares("task_success")),
        "passing": ("images with CC of 90 and VQ of 6, percent", shares("passes")),
    }
    mode_name = mode.replace("_", "-")
    for name, (title, points) in lines.items():
        if points:
            caption = f"{title[0].upper()}{title[1:]}, by {label}, {mode_name}"
            yield f"{name}-{mode_name}", caption, line_chart(points, label, title)


def _plots(scored: ScoredSet) -> Iterator[tuple[str, str, Any]]:
    """Name, caption and chart of all fronts and trends."""
    for mode in ("multi_turn", "complex", "single"):
        yield from fronts(scored, mode)
        yield from trends(scored, mode)


def save_edival_plots(scored: ScoredSet, folder: Path) -> list[Path]:
    """Save one PNG per front and trend into an existing folder."""
    paths = []
    for name, _, chart in _plots(scored):
        paths.append(folder / f"{name}.png")
        chart.save(str(paths[-1]), scale_factor=2)
    return paths


def edival_charts(scored: ScoredSet) -> list[Chart]:
    """All fronts and trends as charts of a page."""
    return [chart_of(name, caption, plot) for name, caption, plot in _plots(scored)]


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
    """One line per editor."""
    import altair

    alt: Any = altair
    rows = [{"editor": editor, "x": x, "y": y} for editor, x, y in points]
    axis = alt.X("x:O", title=across, axis=alt.Axis(labelAngle=0))
    chart = alt.Chart(alt.InlineData(values=rows)).mark_line(point=True)
    chart = chart.encode(axis, alt.Y("y:Q", title=up, scale=alt.Scale(zero=False)), color="editor:N")
    return chart.properties(width=420, height=300)
