"""`judge-study`: GenArena's tables about judges (001) for the votes, scores and battles of a workspace."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from imarena.core import UserError, fill_in_commands
from imarena.reports.tables import Table
from imarena.storage import Workspace
from imarena.workflows.boards import BoardQuery, Boards, judge_called
from imarena.workflows.reporting.papers.catalogue import made_block, paper_entries
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
            "tables": [table.to_json() for table in self.tables],
            "texts": list(self.texts),
            "missing": [
                {"place": paper_place, "needs": needs, "command": command}
                for paper_place, needs, command in self.missing
            ],
        }  # fmt: skip


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
        block = made_block(entry, data)
        if block.empty:
            missing.append((entry.label, entry.needs, fill_in_commands(entry.command)))
        tables += [entry.titled(table) for table in block.tables if table.rows]
        texts += [f"{entry.label}: {text}" for text in block.text]
    return JudgeStudy(tuple(tables), tuple(texts), tuple(missing))
