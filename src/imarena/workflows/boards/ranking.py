"""`imarena rank` on a workspace: the boards that a user asked for, stored once."""

from pathlib import Path
from typing import Any

from imarena.core.notices import Notice
from imarena.core.records import Ranking
from imarena.ranking import Options
from imarena.storage import open_workspace
from imarena.workflows.boards.board import Board, Boards
from imarena.workflows.boards.fragility_names import with_fragility_names
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
        made = Boards(View(workspace, keep_judgments=False)).boards(query)
        unstored = store_boards(workspace, [board.ranking for board in made])
        return [with_fragility_names(workspace, with_samples(board, unstored)) for board in made]


def with_samples(board: Board, notices: tuple[Notice, ...] = ()) -> Ranking:
    """The ranking of a board with these notices, and with the figures over samples among its details.

    Stored boards have no such figures: one signature would stand for different thresholds of success.
    """
    ranking = board.ranking
    details = ranking.details if board.samples is None else {**ranking.details, "samples": board.samples.to_json()}
    return ranking.model_copy(update={"notices": (*ranking.notices, *notices), "details": details})
