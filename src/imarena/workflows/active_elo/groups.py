"""Route: leaderboards side by side, for everything and for each family, task, topic, track and dimension."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.core import UserError
from imarena.core.records import Ranking
from imarena.ranking import Options
from imarena.storage import Workspace
from imarena.workflows.boards import ALL, LABELS, SETTINGS, Arena, setting_board, subset

Boards = dict[str, Ranking]


def side_by_side(
    workspace: Workspace, arena: Arena, rewards: dict[str, Arena], options: Options, group: str = ALL
) -> tuple[Boards, dict[str, str]]:
    """A board by every setting, one for each reward model on its own, and why a setting has none."""
    boards: Boards = {}
    missing: dict[str, str] = {}
    for name in SETTINGS:
        try:
            boards[name] = setting_board(workspace, arena, name, options, group=group)
        except UserError as error:
            missing[name] = str(error).splitlines()[0]
    for reward, other in rewards.items():
        try:
            boards[f"reward: {reward}"] = setting_board(workspace, other, "judge", options)
        except UserError as error:
            missing[f"reward: {reward}"] = str(error).splitlines()[0]
    return boards, missing


def group_boards(
    workspace: Workspace, arena: Arena, rewards: dict[str, Arena], options: Options
) -> dict[str, dict[str, dict[str, Any]]]:
    """By label, then by value, the settings' standings. A label with one value or none says what the whole says."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for label in LABELS:
        names = np.unique(arena.labels[label])
        if names.size < 2:
            continue
        found[label] = {str(name): _one(workspace, arena, rewards, options, (label, str(name))) for name in names}
    return found


def _one(
    workspace: Workspace, arena: Arena, rewards: dict[str, Arena], options: Options, group: tuple[str, str]
) -> dict[str, Any]:
    def of(whole: Arena) -> Arena:
        return subset(whole, whole.labels[group[0]] == group[1])

    part = of(arena)
    alone = {name: of(other) for name, other in rewards.items()}
    boards, missing = side_by_side(workspace, part, alone, options, group[1] if group[0] == "family" else ALL)
    return {
        "items": part.pool.n_items,
        "votes": len(part.votes),
        "boards": {name: standing_rows(board) for name, board in boards.items()},
        "missing": missing,
    }


def dimension_boards(
    workspace: Workspace, arena: Arena, tables: dict[str, NDArray[np.float64]], options: Options
) -> dict[str, dict[str, Any]]:
    """For each dimension that the judge scores: the judge's board on it, and people's where they voted on it."""
    from dataclasses import replace

    from imarena.workflows.boards import dimension_votes

    found = {}
    for name, scores in tables.items():
        votes = dimension_votes(workspace, arena, name)
        other = replace(arena, pool=replace(arena.pool, scores=scores), votes=votes)
        wanted = ("corrected", "human", "judge") if len(votes) else ("judge",)
        boards = {one: setting_board(workspace, other, one, options) for one in wanted}
        found[name] = {
            "items": arena.pool.n_items,
            "votes": len(votes),
            "boards": {one: standing_rows(board) for one, board in boards.items()},
            "missing": {} if len(votes) else {"corrected, human": "nobody voted on this dimension alone"},
        }
    return found


def standing_rows(board: Ranking) -> list[dict[str, Any]]:
    """A board as plain rows."""
    names = ("model", "rating", "low", "high", "rank", "battles", "note")
    return [{name: getattr(standing, name) for name in names} for standing in board.models]
