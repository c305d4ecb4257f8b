"""The entry point of ranking: from battles to a frozen `Ranking`."""

from imarena.core import FloatArray
from imarena.core.records import Ranking
from imarena.ranking.battles import Battles
from imarena.ranking.boards.board import assemble
from imarena.ranking.boards.corrected import corrected_board
from imarena.ranking.boards.maximum_likelihood import model_board
from imarena.ranking.boards.online import online_board
from imarena.ranking.elo import EMPTY, EloState
from imarena.ranking.options import Options


def rank_battles(
    battles: Battles, options: Options, *, coverage: FloatArray | None = None, state: EloState = EMPTY
) -> Ranking:
    """Rank the models. `coverage` (m,) is shown with the ratings; online Elo continues from `state`."""
    if options.method == "corrected":
        battles, result = corrected_board(battles, options)
    elif options.method in ("elo", "active-elo"):
        result = online_board(battles, options, state)
    else:
        result = model_board(battles, options)
    ranking = assemble(battles, result, options, coverage)
    if options.fragility is None:
        return ranking
    from imarena.ranking.fragility.board import board_fragility

    fragility = board_fragility(battles, options).to_json()
    return ranking.model_copy(update={"details": {**ranking.details, "fragility": fragility}})
