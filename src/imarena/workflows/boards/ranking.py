"""`imarena rank` on a workspace: the requested boards, stored once per content, with names for ids."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from sqlalchemy import select

from imarena.core import DatabaseFailed, split_names
from imarena.core.notices import Notice
from imarena.core.records import Ranking, Rater
from imarena.storage import Workspace, open_workspace, reading
from imarena.storage.schema import items
from imarena.workflows.boards.board import Board, Boards
from imarena.workflows.boards.query import BoardQuery
from imarena.workflows.views import View


def rank_workspace(folder: Path, query: BoardQuery) -> list[Ranking]:
    """Return the board of a workspace, or one per value of the column `by`. Names of editors may be joined by commas.

    Davidson's method, and weights per dimension, take verdicts on all dimensions together.
    """
    options = query.options
    together = options.method == "davidson" or options.dimension_weight == "balanced"
    with open_workspace(folder) as workspace:
        view = View(workspace, keep_judgments=False)
        editors = split_names(query.editors, view.entries.editor.names) if query.editors else ()
        boards = Boards(view).boards(replace(query, editors=editors, dimensions_together=together))
        unstored = store_boards(workspace, [board.ranking for board in boards])
        return [with_fragility_names(workspace, with_samples(board, unstored)) for board in boards]


def with_samples(board: Board, notices: tuple[Notice, ...] = ()) -> Ranking:
    """Return a board's ranking with these notices, and with the sample figures among its details.

    Stored boards have no sample figures: one signature would stand for different thresholds of success.
    """
    ranking = board.ranking
    details = ranking.details if board.samples is None else {**ranking.details, "samples": board.samples.to_json()}
    return ranking.model_copy(update={"notices": (*ranking.notices, *notices), "details": details})


def store_boards(workspace: Workspace, rankings: Iterable[Ranking]) -> tuple[Notice, ...]:
    """Store boards that are not stored yet. If the workspace is not writable, a notice says so."""
    try:
        workspace.store.add([_lasting(ranking) for ranking in rankings if ranking.models])
    except DatabaseFailed as error:
        return (Notice(code="board_not_stored", values={"reason": str(error.args[0])}),)
    return ()


def _lasting(ranking: Ranking) -> Ranking:
    """Return the board without request-specific parts, so that one content is stored once."""
    details = {name: value for name, value in ranking.details.items() if name != "fragility"}
    return ranking if len(details) == len(ranking.details) else ranking.model_copy(update={"details": details})


def with_fragility_names(workspace: Workspace, ranking: Ranking) -> Ranking:
    """Return the ranking with names in its answers to `rank --fragility`; unchanged if fragility was not requested."""
    fragility = cast("dict[str, Any] | None", ranking.details.get("fragility"))
    if fragility is None:
        return ranking
    raters = {rater.rater_id: rater.name or rater.rater_id for rater in workspace.store.records(Rater)}
    names = {"item": _item_names(workspace), "rater": raters}
    orders = [
        {**order, "units": [_with_names(unit, names, order["unit"]) for unit in order["units"]]}
        for order in fragility["orders"]
    ]
    return ranking.model_copy(update={"details": {**ranking.details, "fragility": {**fragility, "orders": orders}}})


def _with_names(unit: dict[str, Any], names: Mapping[str, Mapping[str, str]], kind: str) -> dict[str, Any]:
    if kind in names:
        return {**unit, "name": names[kind].get(unit["name"], unit["name"]), "id": unit["name"]}
    if "votes" not in unit:
        return unit
    votes = [{by: names[by].get(value, value) for by, value in vote.items()} for vote in unit["votes"]]
    return {**unit, "votes": votes}


def _item_names(workspace: Workspace) -> dict[str, str]:
    """Map item ids to keys, with the data set if several items share the key."""
    with reading(workspace.store.engine) as connection:
        rows = list(connection.execute(select(items.c.id, items.c.dataset, items.c.key)))
    times = Counter(key for _, _, key in rows)
    return {identity: key if times[key] == 1 else f"{dataset}/{key}" for identity, dataset, key in rows}
