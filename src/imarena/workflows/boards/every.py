"""Every board that the data allow: people's first, then the judges', each by comparisons and by scores."""

from collections.abc import Iterator
from dataclasses import replace

from imarena.core import UserError
from imarena.ranking import Options
from imarena.workflows.boards.board import Board, Boards
from imarena.workflows.boards.query import BoardQuery
from imarena.workflows.views import WHOLE, Kind, people_battles, read_ratings

_KINDS: tuple[tuple[Kind, str], ...] = (("scored", "scores"), ("compared", "battles"))


def all_boards(boards: Boards, options: Options | None = None) -> list[Board]:
    """One board for people and one per judge and kind of verdict, for the whole and then for each dimension.

    Scores and comparisons of one judge are different evidence: a board each.
    """
    base = BoardQuery(options=options or Options())
    made = []
    for title, query in _queries(boards, base):
        try:
            made.append(replace(boards.board(query), title=title))
        except UserError:  # fewer than two models, or nothing decided: there is no such board
            continue
    return made


def _queries(boards: Boards, base: BoardQuery) -> Iterator[tuple[str, BoardQuery]]:
    view = boards.view
    voted = people_battles(view)
    asked = {voted.dimension.names[code] for code in set(voted.dimension.of.tolist())}
    rated = {WHOLE} & set(read_ratings(view).criterion.names)
    for dimension in sorted(asked | rated, key=_whole_first):
        yield _named("people", dimension), replace(base, source="human", dimension=dimension)
    judged = {(form.judge, form.dimension) for form in view.forms.counting()}
    for judge, dimension in sorted(judged, key=lambda pair: (pair[1] != WHOLE, *pair)):
        for kind, word in _KINDS:
            query = replace(base, source="judge", judge=judge, dimension=dimension, kind=kind)
            yield f"{_named(judge, dimension)}, {word}", query


def _whole_first(dimension: str) -> tuple[bool, str]:
    return dimension != WHOLE, dimension


def _named(who: str, dimension: str) -> str:
    return who if dimension == WHOLE else f"{who}, {dimension}"
