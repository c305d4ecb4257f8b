"""The tables of the Active Elo report: rows of a document as grids, figures that do not exist left empty."""

from collections.abc import Iterable, Sequence
from typing import Any

from imarena.reports.page import Grid

TITLES = {
    "corrected": "Active Elo, corrected",
    "active-elo": "Active Elo, online update",
    "mixture": "Active Elo, mixture",
    "human": "human only",
    "judge": "judge only",
}
"""The settings in words; others keep their name."""


def title_of(setting: str) -> str:
    """A setting in words."""
    return TITLES.get(setting, setting.replace("reward: ", "reward model only: "))


def boards_grid(boards: dict[str, list[dict[str, Any]]], caption: str = "") -> Grid:
    """A row a model in the order of the first board; rank, rating and interval by each setting."""
    names = list(boards)
    rows = {name: {row["model"]: row for row in boards[name]} for name in names}
    models = list(dict.fromkeys(row["model"] for name in names for row in boards[name]))
    lines = [(model, *(_standing(rows[name].get(model)) for name in names)) for model in models]
    return Grid(("model", *(title_of(name) for name in names)), tuple(lines), caption)


def _standing(row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    text = f"{row['rank']}. {row['rating']:.0f}"
    # a dash, not "to": five boards side by side fit a page of 1280 pixels
    return text if row["low"] is None else f"{text} ({row['low']:.0f}\u2013{row['high']:.0f})"


def ratings_grid(groups: dict[str, dict[str, Any]], setting: str, caption: str) -> Grid | None:
    """One setting's ratings with ranks, a row a model and a column a group."""
    held = {name: group["boards"][setting] for name, group in groups.items() if setting in group["boards"]}
    if not held:
        return None
    rows = {name: {row["model"]: row for row in board} for name, board in held.items()}
    models = list(dict.fromkeys(row["model"] for board in held.values() for row in board))
    mean = {model: sum(row[model]["rank"] for row in rows.values() if model in row) for model in models}
    lines = [(model, *(_standing(rows[name].get(model)) for name in held)) for model in sorted(models, key=mean.get)]  # type: ignore[arg-type]
    return Grid(("model", *(name or "(none)" for name in held)), tuple(lines), caption)


def trial_grid(trial: dict[str, Any], caption: str, *, what: str | None = None) -> Grid:
    """Lines of a simulated comparison: Acc_H, Spearman and RankStd, each with its interval."""
    head = (*([what] if what else []), "policy", "votes", "Acc_H", "Spearman", "RankStd")
    lines = [
        (
            *([str(line["what"])] if what else []),
            line["policy"],
            str(line["budget"]),
            *(_span(line[key], digits) for key, digits in (("accuracy", 3), ("spearman", 3), ("rank_std", 2))),
        )
        for line in trial["lines"]
    ]
    return Grid(head, tuple(lines), caption)


def _span(figure: dict[str, float], digits: int) -> str:
    return f"{figure['mean']:.{digits}f} ({figure['low']:.{digits}f} to {figure['high']:.{digits}f})"


def plain_grid(head: Sequence[str], rows: Iterable[Sequence[Any]], caption: str = "") -> Grid:
    """Any rows; floats with three decimals, None empty."""
    return Grid(tuple(head), tuple(tuple(cell(value) for value in row) for row in rows), caption)


def cell(value: Any) -> str:
    """A figure as text; one that does not exist is empty."""
    if value is None:
        return ""
    return f"{value:.3f}" if isinstance(value, float) else str(value)
