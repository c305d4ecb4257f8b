"""`imarena rank` on a workspace: the boards that a user asked for, stored once."""

from pathlib import Path
from typing import Any

from imarena.core.records import Ranking
from imarena.ranking import Options
from imarena.storage import open_workspace
from imarena.workflows.boards.board import Boards
from imarena.workflows.boards.query import BoardQuery, read_source
from imarena.workflows.boards.store import store_boards
from imarena.workflows.views import View


def rank_workspace(folder: Path, options: Options, *, source: str = "auto", **asked: Any) -> list[Ranking]:
    """The board of a workspace, or one per value of the column `by`. `asked` are fields of `BoardQuery`.

    Davidson's method, and weights per dimension, take verdicts about all dimensions together.
    """
    together = options.method == "davidson" or options.dimension_weight == "balanced"
    query = BoardQuery(source=read_source(source), options=options, dimensions_together=together, **asked)
    with open_workspace(folder) as workspace:
        made = [board.ranking for board in Boards(View(workspace)).boards(query)]
        unstored = store_boards(workspace, made)
    return [board.model_copy(update={"notices": (*board.notices, *unstored)}) for board in made]
