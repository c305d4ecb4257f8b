"""Boards are stored once per content, so that history shows what was computed."""

from collections.abc import Iterable

from imarena.core import DatabaseFailed
from imarena.core.notices import Notice
from imarena.core.records import Ranking
from imarena.storage import Workspace


def store_boards(workspace: Workspace, made: Iterable[Ranking]) -> tuple[Notice, ...]:
    """Store the boards that were not stored before. Where the workspace cannot be written, a notice says so."""
    try:
        workspace.store.add([_lasting(ranking) for ranking in made if ranking.models])
    except DatabaseFailed as error:
        return (Notice(code="board_not_stored", values={"reason": str(error.args[0])}),)
    return ()


def _lasting(ranking: Ranking) -> Ranking:
    """A board without what only one request asked for: one content is stored once."""
    details = {name: value for name, value in ranking.details.items() if name != "fragility"}
    return ranking if len(details) == len(ranking.details) else ranking.model_copy(update={"details": details})
