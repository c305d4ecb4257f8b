"""Charts: as an SVG inside a page, with text and lines in the page's colours, and as files in a folder."""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from imarena.reports.tables import printable

BLUE, ORANGE = "#3b78c4", "#d97a1f"
"""Legible on white paper and on dark pages."""
_LINE = {"domainColor": "currentColor", "tickColor": "currentColor", "gridColor": "currentColor", "gridOpacity": 0.15}
_WORDS = {"labelColor": "currentColor", "titleColor": "currentColor", "labelFontSize": 12, "titleFontSize": 12}
_PAGE: dict[str, Any] = {
    "background": "transparent",
    "font": "Arial, Liberation Sans, Helvetica, sans-serif",
    "title": {"color": "currentColor", "subtitleColor": "currentColor", "anchor": "start", "fontSize": 13},
    "axis": {**_WORDS, **_LINE, "domainOpacity": 0.4, "tickOpacity": 0.4},
    "legend": _WORDS,
    "header": _WORDS,
    "text": {"color": "currentColor"},
    "view": {"stroke": None},
}
_FILE: dict[str, Any] = {
    "background": "white",
    "axis": {"labelFontSize": 12, "titleFontSize": 12},
    "legend": {"labelFontSize": 12, "titleFontSize": 12},
}


@dataclass(frozen=True)
class Chart:
    """A Vega-Lite chart with its file name and caption."""

    name: str
    caption: str
    spec: dict[str, Any] = field(repr=False)

    @cached_property
    def svg(self) -> str:
        """The chart as an SVG for a page; text and lines take the colour of the surrounding text."""
        import vl_convert

        return str(vl_convert.vegalite_to_svg({**self.spec, "config": _PAGE}))

    def save(self, folder: Path) -> str:
        """Write the chart as PNG and SVG on white; returns the name of the PNG file."""
        import vl_convert

        self.save_svg(folder)
        (folder / f"{self.name}.png").write_bytes(vl_convert.vegalite_to_png(self._on_white, scale=2))
        return f"{self.name}.png"

    def save_svg(self, folder: Path) -> str:
        """Write the chart as SVG on white; returns the name of the file."""
        import vl_convert

        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{self.name}.svg").write_text(vl_convert.vegalite_to_svg(self._on_white), encoding="utf-8")
        return f"{self.name}.svg"

    @property
    def _on_white(self) -> dict[str, Any]:
        return {**self.spec, "config": _FILE}


def chart_of(name: str, caption: str, drawn: Any) -> Chart:
    """Make a chart from an Altair chart. Control characters in names, which are invalid in SVG, are shown as codes."""
    spec: dict[str, Any] = drawn.to_dict()
    return Chart(name, caption, {key: _plain(value) for key, value in spec.items() if key != "config"})


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return "\n".join(map(printable, value.split("\n")))
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list) else value
