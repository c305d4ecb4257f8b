"""Every board that the data allow: people's first, then the judges', each by comparisons and by scores."""

from collections.abc import Iterator
from dataclasses import replace

from imarena.core import UserError
from imarena.workflows.boards.board import Board, Boards
from imarena.workflows.boards.default_source import judge_called
from imarena.workflows.boards.query import BoardQuery, rank_command
from imarena.workflows.views import WHOLE, BattleKind, View, people_battles, read_ratings

ALL = BoardQuery()
"""The query of a report without any options."""
_KINDS: tuple[tuple[BattleKind, str], ...] = (("scored", "scores of"), ("compared", "pairs compared by"))


def all_boards(boards: Boards, selection: BoardQuery = ALL) -> list[Board]:
    """Return one board for people and one per judge and kind of verdict: first overall, then for each dimension.

    Scores and comparisons by one judge are different evidence and get separate boards.
    """
    result = []
    queries = list(board_queries(boards, selection))
    all_overall = all(query.dimension == WHOLE for _, query in queries)
    for title, query in queries:
        command = rank_command(replace(query, dimension=None) if all_overall else query)
        try:
            result.append(replace(boards.board(query), title=title, command=command))
        except UserError:  # fewer than two models, or no decisions: there is no such board
            continue
    return result


def board_queries(boards: Boards, selection: BoardQuery = ALL) -> Iterator[tuple[str, BoardQuery]]:
    """Yield the title and the query of every board; some have nothing to rank."""
    boards.check_editors(selection.editors)
    judge = None if selection.judge is None else judge_called(boards.view, selection.judge)
    for title, query in _queries(boards.view):
        if judge is None or query.judge == judge:
            yield title, replace(query, editors=selection.editors, samples=selection.samples)


def _queries(view: View) -> Iterator[tuple[str, BoardQuery]]:
    voted = people_battles(view)
    dimensions = {voted.dimension.names[code] for code in set(voted.dimension.of.tolist())}
    rated = read_ratings(view).criterion.used()
    for dimension in sorted(dimensions.union(rated), key=lambda name: (name != WHOLE, name)):
        yield _title("verdicts of people", dimension), BoardQuery(source="human", dimension=dimension)
    judged = {(variant.judge, variant.dimension) for variant in view.variants.counting()}
    for judge, dimension in sorted(judged, key=lambda pair: (pair[1] != WHOLE, *pair)):
        for kind, word in _KINDS:
            query = BoardQuery(source="judge", judge=judge, dimension=dimension, kind=kind)
            yield _title(f"{word} the judge {judge}", dimension), query


def _title(source: str, dimension: str) -> str:
    return source if dimension == WHOLE else f"{source} about {dimension}"
