"""Boards of a workspace: one for people, one for each judge and dimension; stored with what made them."""

from dataclasses import dataclass, replace
from typing import Any

from imarena.core.notices import notices_from_texts
from imarena.core.records import Judgment, Ranking, Vote
from imarena.ranking import Options
from imarena.storage import Workspace
from imarena.workflows.battles import WHOLE, BattleTable, battles, one_dimension, part_of
from imarena.workflows.evidence import absent
from imarena.workflows.independence import driven_by, self_judged
from imarena.workflows.rank import load_battles, rank_table
from imarena.workflows.uneven import uneven


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
    told = {
        "excluded": {**ranking.excluded, **table.excluded},
        "notices": (*notices_from_texts(table.warnings), *ranking.notices),
    }
    return Board(title, ranking.model_copy(update=told), table)


def boards(workspace: Workspace, options: Options | None = None) -> list[Board]:
    """Every board that the data allow: people first, then judges by name, those about one dimension last."""
    made: list[Board] = []
    chosen = options or Options()
    drivers = driven_by(workspace)
    if workspace.store.count(Vote).get((), 0):
        table = battles(workspace, source="human")
        for dimension in sorted(set(table.columns["dimension"]), key=_whole_first):
            rows = [n for n, about in enumerate(table.columns["dimension"]) if about == dimension]
            part = _told(part_of(table, rows), dimension)
            made.append(_warned(board(_named("people", dimension), part, chosen), uneven(workspace, part, ())))
    judged = workspace.store.count(Judgment, "judge", "dimension", status="ok")
    for judge, dimension in sorted(judged, key=lambda key: (*_whole_first(key[1])[:1], *key)):
        table = battles(workspace, source="judge", judge=judge, dimension=dimension)
        for title, part in _kinds(judge, dimension, _told(table, dimension)):
            ranked = {*part.columns["left"], *part.columns["right"]}
            if len(ranked) > 1:
                command = "battle" if part.columns["score_left"][0] is None else "judge"
                lacking = absent(workspace, ranked, "judge", judge, workspace.root, command)
                lacking += uneven(workspace, part, {judge})
                made.append(_warned(board(title, part, chosen), (*self_judged(drivers, [judge]), *lacking)))
    return made


def _warned(made: Board, warnings: tuple[str, ...]) -> Board:
    ranking = made.ranking.model_copy(update={"notices": (*notices_from_texts(warnings), *made.ranking.notices)})
    return replace(made, ranking=ranking) if warnings else made


def _whole_first(dimension: str) -> tuple[bool, str]:
    return dimension != WHOLE, dimension


def _named(whose: str, dimension: str) -> str:
    return whose if dimension == WHOLE else f"{whose}, {dimension}"


def _told(table: BattleTable, dimension: str) -> BattleTable:
    return table if dimension == WHOLE else replace(table, warnings=(*table.warnings, one_dimension(dimension)))


def _kinds(judge: str, dimension: str, table: BattleTable) -> list[tuple[str, BattleTable]]:
    """Scores and battles of one judge are different evidence: a board each."""
    name = _named(judge, dimension)
    parts = []
    for title, wanted in ((f"{name}, scores", True), (f"{name}, battles", False)):
        rows = [n for n, score in enumerate(table.columns["score_left"]) if (score is not None) == wanted]
        if rows:
            parts.append((title, part_of(table, rows)))
    return parts
