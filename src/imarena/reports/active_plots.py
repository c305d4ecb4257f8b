"""The reliability diagram of a judge: agreement with people by score gap, raw and fitted (CV-Arena appendix E, J)."""

from pathlib import Path
from typing import Any

from imarena.core.errors import UserError


def reliability_chart(judge: str, curves: list[dict[str, Any]]) -> Any:
    """Points: raw agreement of equal-count bins. Line and band: the fitted curve with its interval."""
    import altair as alt

    rows = [
        {"group": curve["group"], "gap": gap, "agreement": fitted, "low": low, "high": high, "raw": raw, "pairs": n}
        for curve in curves
        for gap, fitted, low, high, raw, n in zip(
            curve["gap"], curve["agreement"], curve["low"], curve["high"], curve["empirical"], curve["n"], strict=True
        )
    ]
    base = alt.Chart(alt.InlineData(values=rows)).encode(x=alt.X("gap:Q", title="score gap"))
    scale = alt.Scale(domain=[0, 1])
    colour = alt.Color("group:N", title=None)
    band = base.mark_area(opacity=0.2).encode(
        y=alt.Y("low:Q", scale=scale, title="agreement with people"), y2="high:Q", color=colour
    )
    line = base.mark_line().encode(y=alt.Y("agreement:Q", scale=scale), color=colour)
    points = base.mark_circle(size=50).encode(
        y=alt.Y("raw:Q", scale=scale), color=colour, tooltip=["gap:Q", "raw:Q", "pairs:Q"]
    )
    guess = alt.Chart(alt.InlineData(values=[{"y": 0.5}])).mark_rule(strokeDash=[4, 4], color="#999999").encode(y="y:Q")
    return (band + line + points + guess).properties(width=520, height=320, title=f"{judge}: agreement by score gap")


def save_reliability(judge: str, curves: list[dict[str, Any]], path: Path) -> Path:
    """Save it; the ending says how: png, svg or html."""
    if path.suffix.lower() not in (".png", ".svg", ".html"):
        raise UserError(f"Cannot save a plot as '{path.suffix}'.", hint="Use .png, .svg or .html.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        reliability_chart(judge, curves).save(str(path), **({"scale_factor": 2} if path.suffix == ".png" else {}))
    except OSError as error:
        raise UserError(f"Cannot write {path}: {error.strerror}.") from error
    return path
