"""Plots of a data sheet as SVG: tasks, sources, resolution, and a word cloud of the instructions."""

import math
from collections.abc import Mapping
from pathlib import Path
from xml.sax.saxutils import escape

from imarena.reports.tables import printable

_LONGEST = 60
_WIDTH, _HEIGHT = 720, 360
_COLOURS = ("#1f5fa8", "#b3541e", "#2f7d4f", "#7a4fa3", "#8a6d00", "#a3324c")
BAR_HEIGHT, BAR_GAP, LABEL_WIDTH = 22, 8, 260


def save_datasheet_plots(
    groups: Mapping[str, Mapping[str, int]], keywords: Mapping[str, int], folder: Path
) -> list[str]:
    """Write one bar chart per group and the keyword cloud; returns the names of the files."""
    folder.mkdir(parents=True, exist_ok=True)
    names = []
    for group, counts in groups.items():
        if counts:
            name = f"datasheet-{group}.svg"
            (folder / name).write_text(bar_chart(group, counts), encoding="utf-8")
            names.append(name)
    if keywords:
        (folder / "datasheet-keywords.svg").write_text(keyword_cloud(keywords), encoding="utf-8")
        names.append("datasheet-keywords.svg")
    return names


def bar_chart(title: str, counts: Mapping[str, int]) -> str:
    """Horizontal bars, in the given order."""
    most = max(counts.values())
    room = _WIDTH - LABEL_WIDTH - 60
    lines = []
    for row, (label, count) in enumerate(counts.items()):
        top = 34 + row * (BAR_HEIGHT + BAR_GAP)
        width = max(2, round(room * count / most))
        lines.append(
            f'<text x="{LABEL_WIDTH - 8}" y="{top + 16}" text-anchor="end">{_shown(label)}</text>'
            f'<rect x="{LABEL_WIDTH}" y="{top}" width="{width}" height="{BAR_HEIGHT}" fill="{_COLOURS[0]}"/>'
            f'<text x="{LABEL_WIDTH + width + 6}" y="{top + 16}">{count:,}</text>'
        )
    height = 44 + len(counts) * (BAR_HEIGHT + BAR_GAP)
    return _svg(height, f'<text x="8" y="20" font-weight="bold">Items by {_shown(title)}</text>' + "".join(lines))


def keyword_cloud(keywords: Mapping[str, int]) -> str:
    """Words on a spiral from the centre, larger if they are more frequent, without overlap."""
    most = max(keywords.values())
    placed: list[tuple[float, float, float, float]] = []
    texts = []
    for at, (word, count) in enumerate(sorted(keywords.items(), key=lambda pair: (-pair[1], pair[0]))):
        size = 12 + 26 * math.sqrt(count / most)
        width, height = 0.6 * size * len(word[:_LONGEST]), size * 1.05
        spot = _free_spot(placed, width, height)
        if spot is None:
            continue
        placed.append((*spot, width, height))
        texts.append(
            f'<text x="{spot[0]:.0f}" y="{spot[1] + 0.35 * size:.0f}" font-size="{size:.0f}" text-anchor="middle" '
            f'fill="{_COLOURS[at % len(_COLOURS)]}">{_shown(word)}</text>'
        )
    return _svg(_HEIGHT, "".join(texts))


def _free_spot(
    placed: list[tuple[float, float, float, float]], width: float, height: float
) -> tuple[float, float] | None:
    for step in range(1500):
        angle, radius = 0.35 * step, 1.6 * math.sqrt(step) * math.sqrt(step) ** 0.55
        x, y = _WIDTH / 2 + 1.7 * radius * math.cos(angle), _HEIGHT / 2 + 0.8 * radius * math.sin(angle)
        inside = width / 2 <= x <= _WIDTH - width / 2 and height / 2 <= y <= _HEIGHT - height / 2
        if inside and not any(
            abs(x - other[0]) * 2 < width + other[2] and abs(y - other[1]) * 2 < height + other[3] for other in placed
        ):
            return x, y
    return None


def _shown(text: str) -> str:
    plain = printable(text)
    return escape(plain if len(plain) <= _LONGEST else f"{plain[: _LONGEST - 1]}…")


def _svg(height: float, body: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height:.0f}" '
        f'viewBox="0 0 {_WIDTH} {height:.0f}" font-family="sans-serif" font-size="13">'
        f'<rect width="100%" height="100%" fill="#ffffff"/>{body}</svg>\n'
    )
