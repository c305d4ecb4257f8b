"""The tables of the Active Elo report, from the rows of a document; missing figures are empty."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from imarena.reports.tables import CellValue, Column, Range, Table
from imarena.reports.tables.table import columns

TITLES = {
    "corrected": "Active Elo, corrected",
    "active-elo": "Active Elo, online update",
    "mixture": "Active Elo, mixture",
    "human": "human only",
    "judge": "judge only",
}
"""The settings in words; other settings keep their name."""


def title_of(setting: str) -> str:
    """A setting in words."""
    return TITLES.get(setting, setting.replace("reward: ", "reward model only: "))


def board_parts(
    boards: dict[str, list[dict[str, Any]]], groups: Mapping[str, Sequence[Sequence[str]]]
) -> list[tuple[str, str, list[dict[str, Any]]]]:
    """The setting, the title and the rows of each board; those of models that never met are parts of their own."""
    parts = []
    for name, rows in boards.items():
        for number, group in enumerate(groups.get(name, ()), 1):
            part = [row for row in rows if row["model"] in group]
            parts.append((name, f"{title_of(name)}, group {number}", part))
        if not groups.get(name):
            parts.append((name, title_of(name), rows))
    return parts


def boards_table(boards: dict[str, list[dict[str, Any]]], groups: Mapping[str, Sequence[Sequence[str]]]) -> Table:
    """One row per model in the order of the first board, with rank, rating and interval for each setting.

    `groups`: by setting, the groups of models that never met, if there are several; they are named before the rank.
    """
    names = list(boards)
    rows = {name: {row["model"]: row for row in boards[name]} for name in names}
    of = {
        (name, model): f"group {number}: "
        for name in names
        for number, group in enumerate(groups.get(name, ()), 1)
        for model in group
    }
    models = list(dict.fromkeys(row["model"] for name in names for row in boards[name]))
    lines = [
        (model, *(_standing(rows[name].get(model), of.get((name, model), "")) for name in names)) for model in models
    ]
    return Table(columns("model", *(title_of(name) for name in names)), tuple(lines))


def _standing(row: dict[str, Any] | None, group: str = "") -> str:
    if row is None:
        return ""
    text = f"{group}{row['rank']}. {row['rating']:.0f}"
    low, high = row["low"], row["high"]
    if low is None or high is None or low == high:
        return f"{text} ({row['note']})" if row.get("note") else text
    # a dash, not "to": five boards side by side fit a page of 1280 pixels
    return f"{text} ({low:.0f}\u2013{high:.0f})"


def ratings_table(groups: dict[str, dict[str, Any]], setting: str, title: str) -> Table | None:
    """The ratings and ranks of one setting, with a row per model and a column per group."""
    boards = {name: group["boards"][setting] for name, group in groups.items() if setting in group["boards"]}
    if not boards:
        return None
    rows = {name: {row["model"]: row for row in board} for name, board in boards.items()}
    models = list(dict.fromkeys(row["model"] for board in boards.values() for row in board))
    mean = {model: sum(row[model]["rank"] for row in rows.values() if model in row) for model in models}
    lines = [(model, *(_standing(rows[name].get(model)) for name in boards)) for model in sorted(models, key=mean.get)]  # type: ignore[arg-type]
    return Table(columns("model", *(name or "(none)" for name in boards)), tuple(lines), title)


def trial_table(trial: dict[str, Any], title: str, *, what: str | None = None) -> Table:
    """The results of a simulated comparison: Acc_H, Spearman and RankStd, each with its interval."""
    figures = (("Acc_H", "accuracy", ".3f"), ("Spearman", "spearman", ".3f"), ("RankStd", "rank_std", ".2f"))
    head = [
        *([Column(what)] if what else []),
        Column("policy"),
        Column("votes"),
        *(
            column
            for name, key, spec in figures
            for column in (Column(name, spec), Column("95%", spec, key=f"{key} 95%"))
        ),
    ]
    lines: list[tuple[CellValue, ...]] = [
        (
            *([str(line["what"])] if what else []),
            line["policy"],
            line["budget"],
            *(
                cell
                for _, key, _ in figures
                for cell in (line[key]["mean"], Range(line[key]["low"], line[key]["high"]))
            ),
        )
        for line in trial["lines"]
    ]
    return Table(tuple(head), tuple(lines), title)


def plain_table(head: Sequence[str], rows: Iterable[Sequence[Any]], title: str = "") -> Table:
    """A table of any rows; floats have three decimals, None is empty."""
    lines = tuple(tuple(row) for row in rows)
    typed_columns = (
        Column(name, ".3f" if any(isinstance(line[index], float | Range) for line in lines) else "")
        for index, name in enumerate(head)
    )
    return Table(tuple(typed_columns), lines, title)
