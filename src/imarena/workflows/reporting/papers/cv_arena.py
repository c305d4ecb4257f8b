"""CV-Arena (000): tables from the document of `imarena route report`, the agent's stages, and galleries."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from imarena import reports
from imarena.core import UserError
from imarena.core.records import Item, Output
from imarena.reports.tables import CellValue, Column, Table
from imarena.workflows.boards import BoardQuery, describe_source
from imarena.workflows.editing import STAGE_NAMES
from imarena.workflows.reporting.papers.data import NOTHING, Block, PaperData

TOP = 5
_SHOWN = 2
_COMPLEX = re.compile(r"reason|complex|logic|physic|geometr|multi", re.IGNORECASE)
_LOW_LEVEL = re.compile(
    r"restor|enhanc|photo|denois|deblur|derain|dehaz|super.?res|low.?light|low.?level", re.IGNORECASE
)


def _section(data: PaperData, title: str, part: str = "") -> Block:
    """A section of the page of `imarena route report`, found by the beginning of its title.

    If there is none, the block has the report's reason for the missing part.
    """
    if not data.active:
        return NOTHING
    sections = [each for each in reports.active_page(dict(data.active)).sections if each.title.startswith(title)]
    if not sections:
        return Block(needs=data.active["missing"].get(part, ""))
    return Block(tuple(table for section in sections for table in section.tables if table.rows), text=sections[0].text)


def _boards(data: PaperData, top: int | None) -> Block:
    """The boards side by side; models that never met are in tables of their own."""
    if not data.active:
        return NOTHING
    boards: dict[str, list[dict[str, Any]]] = dict(data.active["boards"])
    if data.main is not None and data.main.chosen.source == "human" and "human" not in boards:
        boards = {"people": [row.model_dump() for row in data.main.ranking.models], **boards}
    groups: list[Sequence[str]] = max(data.active["groups"].values(), key=len, default=[])
    if "people" in boards and data.main is not None and len(data.main.ranking.groups) > 1:
        groups = [*data.main.ranking.groups]
    in_groups = {model for group in groups for model in group}
    if groups and (rest := {row["model"] for rows in boards.values() for row in rows} - in_groups):
        groups = [*groups, sorted(rest)]
    notes = (f"Judge: {data.active['judge']}, {data.active_judge[1]}.", _boards_note(data))
    if not groups:
        return Block((_boards_table(boards, top, "", notes),))
    apart = f"The models form {len(groups)} groups that never met: ratings of different groups cannot be compared."
    tables = []
    for number, group in enumerate(sorted(groups, key=len, reverse=True), 1):
        part = {name: [row for row in rows if row["model"] in group] for name, rows in boards.items()}
        tables.append(_boards_table(part, top, f"group {number}", (apart, *notes)))
    return Block(tuple(tables))


def _boards_table(
    boards: dict[str, list[dict[str, Any]]], top: int | None, title: str, notes: tuple[str, ...]
) -> Table:
    boards = {name: rows[:top] for name, rows in boards.items()}
    names = list(boards)
    lines: list[tuple[CellValue, ...]] = []
    for index in range(max((len(rows) for rows in boards.values()), default=0)):
        cells: list[CellValue] = [index + 1]
        for rows in boards.values():
            cells += _model_cells(rows[index]) if index < len(rows) else ["", None, ""]
        lines.append(tuple(cells))
    head = [Column("place")]
    for name in names:
        board = "leaderboard of people" if name == "people" else reports.active_tables.title_of(name)
        head += [
            Column(f"{board}: model"),
            Column("Elo", ".0f", key=f"{name} Elo"),
            Column("95% CI", key=f"{name} CI"),
        ]
    return Table(tuple(head), tuple(lines), title, notes, notes_first=True)


def _boards_note(data: PaperData) -> str:
    """A note on why these boards can differ from the leaderboard."""
    leaderboard = ""
    if data.main is not None:
        chosen = data.main.chosen
        by_judge = chosen.source == "judge" and chosen.judge
        how = f"battles that {chosen.judge} judged" if by_judge else describe_source(chosen)
        leaderboard = f" The first leaderboard of this report ranks by {how}."
    votes, judge = data.active["votes"], data.active["judge"]
    by = f"scores of {judge} and by votes" if votes else f"scores of {judge}"
    pairs = "both have a score or were voted on" if votes else "both have a score"
    return (
        f"These boards rank by {by}, on pairs of outputs in single mode that {pairs}.{leaderboard} "
        "The orders can differ."
    )


def _model_cells(row: dict[str, Any]) -> list[CellValue]:
    """Model, rating and interval, formatted as in the paper: +50/-48."""
    low, high, rating = row["low"], row["high"], row["rating"]
    has_interval = low is not None and high is not None and low != high
    return [row["model"], rating, f"+{high - rating:.0f}/-{rating - low:.0f}" if has_interval else ""]


def _calibration(data: PaperData) -> Block:
    block = _section(data, "Calibration")
    return Block(tuple(table for table in block.tables if "table 5" in table.title), text=block.text)


def _chart(name: str, caption: str, draw: Callable[[Any], Any]) -> Callable[[PaperData], Block]:
    def make(data: PaperData) -> Block:
        chart = draw(data.active) if data.active else None
        return NOTHING if chart is None else Block(charts=(reports.chart_of(name, caption, chart),))

    return make


def _stages(data: PaperData) -> Block:
    """The agent's four settings around one editor, as `imarena agent-ablation` ranks them."""
    editors = set(data.editors)
    wrapped = sorted(name.removeprefix("agent-none:") for name in editors if name.startswith("agent-none:"))
    tables = []
    for editor in wrapped:
        names = {f"{kind}:{editor}": title for kind, title in STAGE_NAMES.items() if f"{kind}:{editor}" in editors}
        try:
            query = BoardQuery(source="judge", kind="compared", editors=tuple(names), notes=False)
            standings = {row.model: row for row in data.boards.board(query).ranking.models}
        except UserError:  # nothing was compared yet
            continue
        rows = tuple(
            (title, name, standings[name].rating, reports.interval(standings[name].low, standings[name].high))
            for name, title in names.items()
            if name in standings
        )
        head = reports.columns("configuration", "editor", Column("rating", ".0f"), Column("95% interval", ".0f", "–"))
        tables.append(Table(head, rows, editor))
    return Block(tuple(tables))


def _gallery(
    pattern: re.Pattern[str] | None, *, several: bool = False, worst: bool = False
) -> Callable[[PaperData], Block]:
    def make(data: PaperData) -> Block:
        items = [item for item in data.workspace.store.records(Item) if item.sources]
        labels = {item.item_id: " ".join(filter(None, (item.track, item.family, item.task))) for item in items}
        sample = [
            item
            for item in sorted(items, key=lambda item: item.item_id)
            if (pattern is not None and pattern.search(labels[item.item_id])) or (several and len(item.turns) > 1)
        ]
        if worst:
            sample = _hardest(data, items)
        sample = sample[:_SHOWN]
        if not sample:
            return NOTHING
        outputs = {item.item_id: list(data.workspace.store.records(Output, item_id=item.item_id)) for item in sample}
        pictured = [item for item in sample if any(output.image for output in outputs[item.item_id])]
        if not pictured:
            return NOTHING
        return Block(exhibits=reports.gallery_section(pictured, len(items), outputs, {}, {}, data.picture).exhibits)

    return make


def _hardest(data: PaperData, items: list[Item]) -> list[Item]:
    """Items by people's mean overall rating or, without ratings, the first judge's mean score; worst first."""
    source = data.people.get("overall") or next(iter(data.judged.values()), None)
    if source is None:
        return []
    entries = data.view.entries
    rows = np.flatnonzero(np.isfinite(source.values))
    count = np.bincount(entries.item[rows], minlength=len(entries.item_id))
    total = np.bincount(entries.item[rows], source.upward[rows], len(entries.item_id))
    mean = {entries.item_id[at]: total[at] / count[at] for at in np.flatnonzero(count).tolist()}
    return sorted((item for item in items if item.item_id in mean), key=lambda item: (mean[item.item_id], item.item_id))


MAKERS: dict[str, Callable[[PaperData], Block]] = {
    "active_policies": lambda data: _section(data, "Policies on the votes", "policies"),
    "active_boards": lambda data: _boards(data, TOP),
    "active_all": lambda data: _boards(data, None),
    "active_gaps": _calibration,
    "active_dimensions": lambda data: _section(data, "Mean scores of the best", "dimensions"),
    "active_deferral": lambda data: _section(data, "Deferral by task family"),
    "active_metrics": lambda data: _section(data, "Other judges and metrics", "metrics"),
    "active_thresholds": lambda data: _section(data, "Thresholds loosened", "thresholds"),
    "active_weights": lambda data: _section(data, "Dimension weights", "weights"),
    "active_wins": _chart(
        "win-rates", "Average win rate against the ten best, by setting",
        reports.top_ten_wins_chart,
    ),
    "active_bootstrap": _chart(
        "bootstrap-ratings", "Bootstrap ratings of the ten best, by setting",
        reports.bootstrap_chart,
    ),
    "agent_stages": _stages,
    "gallery_complex": _gallery(_COMPLEX, several=True),
    "gallery_low_level": _gallery(_LOW_LEVEL),
    "gallery_failures": _gallery(None, worst=True),
}  # fmt: skip
