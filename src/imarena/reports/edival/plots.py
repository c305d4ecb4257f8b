"""Plots of EdiVal's figures: the Pareto fronts of each pair of axes and turn."""

from pathlib import Path
from typing import Any

from imarena.core import UserError
from imarena.reports.edival.figures import TurnFigures, all_figures, pareto_front
from imarena.reports.edival.scored import ScoredSet

_AXES = {"IF": "image_success", "CC": "consistency", "VQ": "quality"}


def save_fronts(scored: ScoredSet, mode: str, folder: Path) -> list[Path]:
    """One PNG for each pair of axes and turn that has two editors at least."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"Cannot write plots into {folder}: {error.strerror}.") from error
    saved = []
    figures = all_figures(scored, mode)
    for turn in scored.turns:
        here = [one for one in figures if one.turn == turn]
        for first, second in (("IF", "CC"), ("IF", "VQ"), ("CC", "VQ")):
            chart = front_chart(here, first, second)
            if chart is not None:
                path = folder / f"pareto-{mode}-{turn + 1}-{first}-{second}.png".lower()
                chart.save(str(path), scale_factor=2)
                saved.append(path)
    return saved


def front_chart(figures: list[TurnFigures], first: str, second: str) -> Any:
    """Editors as points, those on the front joined; None where fewer than two have both figures."""
    import altair

    alt: Any = altair

    points = {
        one.editor: (x, y)
        for one in figures
        if (x := getattr(one, _AXES[first])) is not None and (y := getattr(one, _AXES[second])) is not None
    }
    if len(points) < 2:
        return None
    front = set(pareto_front(points))
    rows = [{"editor": name, "x": x, "y": y, "front": name in front} for name, (x, y) in points.items()]
    across = alt.X("x:Q", title=first, scale=alt.Scale(zero=False, padding=20))
    up = alt.Y("y:Q", title=second, scale=alt.Scale(zero=False, padding=20))
    dots = alt.Chart(alt.InlineData(values=rows)).mark_circle(size=70).encode(across, up, color="front:N")
    names = alt.Chart(alt.InlineData(values=rows)).mark_text(align="left", dx=7).encode(across, up, text="editor:N")
    line = alt.Chart(alt.InlineData(values=[row for row in rows if row["front"]])).mark_line(strokeDash=[4, 3])
    return (line.encode(across, up) + dots + names).properties(width=420, height=320)
