"""`judge-study`: GenArena's tables about judges (001) for the votes, scores and battles of a workspace."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from imarena.core import UserError, fill_in_commands
from imarena.reports.tables import CellValue, Number, Range, Table
from imarena.storage import Workspace
from imarena.workflows.boards import BoardQuery, Boards, judge_called
from imarena.workflows.reporting.papers.catalogue import makers, paper_entries
from imarena.workflows.reporting.papers.data import OutsideBoard, PaperData
from imarena.workflows.views import View

PAPER = "001"
_SHOWN = ("table", "figure A.3")


@dataclass(frozen=True)
class JudgeStudy:
    """The tables for which there are data, and what each of the others needs."""

    tables: tuple[Table, ...]
    texts: tuple[str, ...]
    missing: tuple[tuple[str, str, str], ...]
    """Table or figure, what it needs, and the command that makes it."""

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "tables": [
                {
                    "title": table.title, "columns": [column.title for column in table.columns],
                    "rows": [[_plain(cell) for cell in row] for row in table.rows],
                }
                for table in self.tables
            ],
            "texts": list(self.texts),
            "missing": [
                {"place": paper_place, "needs": needs, "command": command}
                for paper_place, needs, command in self.missing
            ],
        }  # fmt: skip


def _plain(cell: CellValue) -> Any:
    if isinstance(cell, Range):
        return [cell.low, cell.high]
    return cell.value if isinstance(cell, Number) else cell


def judge_study(
    workspace: Workspace, judges: Sequence[str] = (), leaderboard: OutsideBoard | None = None
) -> JudgeStudy:
    """Make the tables of accuracy, boards by track, self-consistency, ranks, confusion and score differences."""
    view = View(workspace)
    names = [judge_called(view, name) for name in judges]
    boards = Boards(view)
    try:
        main = boards.board(BoardQuery(judge=names[0] if names else None, notes=False))
    except UserError:  # no battles yet
        main = None
    data = PaperData(view, boards, main, lambda _: "", names, leaderboard=leaderboard)
    tables: list[Table] = []
    texts: list[str] = []
    missing = []
    for entry in paper_entries():
        if entry.paper != PAPER or not entry.place.startswith(_SHOWN):
            continue
        block = makers()[entry.make](data)
        paper_place = f"{entry.place[0].upper()}{entry.place[1:]}"
        if block.empty:
            missing.append((paper_place, entry.needs, fill_in_commands(entry.command)))
        for table in block.tables:
            if table.rows:
                title = f"{paper_place}. {entry.title}" + (f": {table.title}" if table.title else "")
                tables.append(replace(table, title=title))
        texts += [f"{paper_place}: {text}" for text in block.text]
    return JudgeStudy(tuple(tables), tuple(texts), tuple(missing))
