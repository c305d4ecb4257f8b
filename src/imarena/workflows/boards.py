"""Boards of a workspace: one for people, one for each judge and dimension; stored with what made them."""

from dataclasses import dataclass, replace
from typing import Any

from imarena.core.records import Judgment, Ranking, Vote
from imarena.ranking import Options
from imarena.storage import Workspace
from imarena.workflows.battles import BattleTable, battles
from imarena.workflows.independence import driven_by, self_judged
from imarena.workflows.rank import load_battles, rank_table


@dataclass(frozen=True)
class Board:
    """A ranking and the battles it was made from."""

    title: str
    ranking: Ranking
    table: BattleTable


def board(title: str, table: BattleTable, options: Options | None = None, **reading: Any) -> Board:
    """Rank one table of battles; coverage and exclusions of the workspace go into the ranking."""
    used = {name: column for name, column in table.columns.items() if any(value is not None for value in column)}
    ranking = rank_table(load_battles(used), options or Options(), known_coverage=table.coverage, **reading)
    excluded = {**ranking.excluded, **table.excluded}
    return Board(title, ranking.model_copy(update={"excluded": excluded}), table)


def boards(workspace: Workspace, options: Options | None = None) -> list[Board]:
    """Every board that the data allow: people first, then judges by name."""
    made: list[Board] = []
    chosen = options or Options()
    drivers = driven_by(workspace)
    if workspace.store.count(Vote).get((), 0):
        table = battles(workspace, source="human")
        if len(table):
            made.append(board("people", table, chosen))
    for judge, dimension in sorted(workspace.store.count(Judgment, "judge", "dimension", status="ok")):
        table = battles(workspace, source="judge", judge=judge, dimension=dimension)
        for title, part in _kinds(judge, dimension, table):
            if len({*part.columns["left"], *part.columns["right"]}) > 1:
                made.append(_warned(board(title, part, chosen), self_judged(drivers, [judge])))
    return made


def _warned(made: Board, warnings: tuple[str, ...]) -> Board:
    ranking = made.ranking.model_copy(update={"warnings": (*warnings, *made.ranking.warnings)})
    return replace(made, ranking=ranking) if warnings else made


def _kinds(judge: str, dimension: str, table: BattleTable) -> list[tuple[str, BattleTable]]:
    """Scores and battles of one judge are different evidence: a board each."""
    name = judge if dimension == "overall" else f"{judge}, {dimension}"
    parts = []
    for title, wanted in ((f"{name}, scores", True), (f"{name}, battles", False)):
        rows = [n for n, score in enumerate(table.columns["score_left"]) if (score is not None) == wanted]
        if rows:
            columns = {key: [values[n] for n in rows] for key, values in table.columns.items()}
            parts.append((title, replace(table, columns=columns)))
    return parts
