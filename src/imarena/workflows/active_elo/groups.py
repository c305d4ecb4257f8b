"""Route: leaderboards side by side, for all items and for each family, task, topic, track and dimension."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.core import UserError, first_line
from imarena.core.records import Ranking
from imarena.ranking import Options
from imarena.storage import Workspace
from imarena.workflows.boards import (
    ALL,
    SETTINGS,
    UNIT_LABELS,
    VoteData,
    dimension_votes,
    setting_board,
    vote_data_of_items,
)

RankingByName = dict[str, Ranking]


def side_by_side(
    workspace: Workspace, vote_data: VoteData, rewards: dict[str, VoteData], options: Options, group: str = ALL
) -> tuple[RankingByName, dict[str, str]]:
    """Return a board per setting, one for each reward model alone, and why a setting has no board."""
    boards: RankingByName = {}
    missing: dict[str, str] = {}
    parts = [(name, vote_data, name, group) for name in SETTINGS]
    parts += [(f"reward: {reward}", other, "judge", ALL) for reward, other in rewards.items()]
    for title, data, setting, calibrated in parts:
        try:
            boards[title] = setting_board(workspace, data, setting, options, group=calibrated)
        except UserError as error:
            missing[title] = first_line(error)
    return boards, missing


@dataclass(frozen=True, slots=True)
class GroupBoards:
    """The boards of one group of items, or of one dimension, and why a setting has no board."""

    items: int
    votes: int
    boards: RankingByName
    missing: Mapping[str, str]

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        boards = {name: standing_rows(board) for name, board in self.boards.items()}
        return {"items": self.items, "votes": self.votes, "boards": boards, "missing": dict(self.missing)}


def group_boards(
    workspace: Workspace, vote_data: VoteData, rewards: dict[str, VoteData], options: Options
) -> dict[str, dict[str, GroupBoards]]:
    """Return the settings' boards by label and value, without labels that have fewer than two values."""
    groups: dict[str, dict[str, GroupBoards]] = {}
    for label in UNIT_LABELS:
        names = np.unique(vote_data.labels[label])
        if names.size < 2:
            continue
        groups[label] = {
            str(name): _group(workspace, vote_data, rewards, options, (label, str(name))) for name in names
        }
    return groups


def _group(
    workspace: Workspace, vote_data: VoteData, rewards: dict[str, VoteData], options: Options, group: tuple[str, str]
) -> GroupBoards:
    def of(full: VoteData) -> VoteData:
        return vote_data_of_items(full, full.labels[group[0]] == group[1])

    part = of(vote_data)
    alone = {name: of(other) for name, other in rewards.items()}
    boards, missing = side_by_side(workspace, part, alone, options, group[1] if group[0] == "family" else ALL)
    return GroupBoards(part.pool.n_items, len(part.votes), boards, missing)


def dimension_boards(
    workspace: Workspace, vote_data: VoteData, tables: dict[str, NDArray[np.float64]], options: Options
) -> dict[str, GroupBoards]:
    """Return, for each dimension that the judge scores, the judge's board, and people's if they voted on it."""
    groups = {}
    for name, scores in tables.items():
        votes = dimension_votes(workspace, vote_data, name)
        other = replace(vote_data, pool=replace(vote_data.pool, scores=scores), votes=votes)
        settings = ("corrected", "human", "judge") if len(votes) else ("judge",)
        boards = {setting: setting_board(workspace, other, setting, options) for setting in settings}
        missing = {} if len(votes) else {"corrected, human": "nobody voted on this dimension alone"}
        groups[name] = GroupBoards(vote_data.pool.n_items, len(votes), boards, missing)
    return groups


def standing_rows(board: Ranking) -> list[dict[str, Any]]:
    """Return a board as plain rows, for JSON."""
    names = ("model", "rating", "low", "high", "rank", "battles", "note")
    return [{name: getattr(standing, name) for name in names} for standing in board.models]
