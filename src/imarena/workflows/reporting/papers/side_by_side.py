"""Boards side by side: GenArena's tables 2 and 4 (001), GEditBench v2 (003), EdiVal against a leaderboard (002)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from imarena.core import UserError, grouped
from imarena.reports import columns
from imarena.reports.tables import CellValue, Column, Number, Table
from imarena.stats import spearman
from imarena.workflows.boards import Board, BoardQuery
from imarena.workflows.reporting.papers.data import NOTHING, Block, OutsideBoard, PaperData
from imarena.workflows.reporting.papers.genarena import protocol_pairs
from imarena.workflows.studies import JudgeAnswers

GEDIT_DIMENSIONS = {"instruction_following": "IF", "visual_quality": "VQ", "visual_consistency": "VC"}
_RatingByModel = Mapping[str, float]


def boards_by_track(data: PaperData) -> Block:
    """Table 2: rating and rank by track, with the correlation with another leaderboard if one is given."""
    if data.main is None or len(data.view.entries.labels["track"].used()) < 2:
        return NOTHING
    judge = data.judges[0] if data.judges else None
    track_boards = data.by_column.get("track") or data.boards.boards(BoardQuery(judge=judge, by="track", notes=False))
    boards = [(board.ranking.scope["track"], board) for board in track_boards]
    table = _side_by_side(boards)
    return Block((table if data.leaderboard is None else _with_leaderboard(table, boards, data.leaderboard),))


def _with_leaderboard(table: Table, boards: Sequence[tuple[str, Board]], other: OutsideBoard) -> Table:
    """The table with the leaderboard's ratings and ranks, and a last row of correlations with it."""
    places = _places(other.ratings, [str(row[0]) for row in table.rows])
    rows = [(*row, *_cells(other, str(row[0]), places)) for row in table.rows]
    last: list[CellValue] = [f"Spearman with {other.name}"]
    for _, board in boards:
        if board.ranking.models:
            last += [_correlation(_ratings(board), other.ratings), None]
    head = (
        *table.columns,
        Column(f"{other.name}: rating", ".4g", "–"),
        Column("rank", absent="–", key=f"{other.name} rank"),
    )
    rows.append((*(_two_digits(cell) for cell in last), None, None))
    return replace(table, columns=head, rows=tuple(rows))


def _two_digits(cell: CellValue) -> CellValue:
    return Number(cell, ".2f") if isinstance(cell, float) else cell


def _cells(other: OutsideBoard, model: str, places: Mapping[str, int]) -> tuple[CellValue, CellValue]:
    return (None if other.ranked else other.ratings.get(model)), places.get(model)


def _correlation(ours: _RatingByModel, theirs: _RatingByModel) -> float | None:
    common = [model for model in ours if model in theirs]
    return spearman([ours[model] for model in common], [theirs[model] for model in common]).value


def _places(ratings: _RatingByModel, models: Sequence[str]) -> dict[str, int]:
    """Ranks among these models; equal ratings share one."""
    rated = [model for model in models if model in ratings]
    return {model: 1 + sum(ratings[other] > ratings[model] for other in rated) for model in rated}


def _side_by_side(boards: list[tuple[str, Board]]) -> Table:
    """Rating and rank of every editor by board, the best of the first board first."""
    sides = [(name, {row.model: row for row in board.ranking.models}) for name, board in boards if board.ranking.models]
    models = list(dict.fromkeys(model for _, of in sides for model in of))
    rows = tuple(
        (
            model,
            *(
                cell
                for _, of in sides
                for cell in ((of[model].rating, of[model].rank) if model in of else (None, None))
            ),
        )
        for model in models
    )
    head = [Column("model")]
    for name, _ in sides:
        head += [Column(f"{name}: Elo", ".0f", "–"), Column("rank", absent="–", key=f"{name} rank")]
    return Table(tuple(head), rows if sides else ())


def point_and_pair_ranks(data: PaperData) -> Block:
    """Table 4: one model's mean scores and pairwise ratings, compared with people's board or another leaderboard."""
    references = _references(data)
    tables = []
    for point, pair, _ in protocol_pairs(data) if references else ():
        try:
            board = data.boards.board(BoardQuery(source="judge", judge=pair.name, kind="compared", notes=False))
        except UserError:
            continue
        title = point.name if point.name == pair.name else f"{point.name} and {pair.name}"
        sign = 1 if point.higher_is_better else -1
        tables.append(_ranks(title, _means(data, point), _ratings(board), references, sign))
    return Block(tuple(table for table in tables if table.rows))


def _references(data: PaperData) -> list[OutsideBoard]:
    """Boards to compare ranks with: people's board, and the given leaderboard."""
    boards = [] if data.leaderboard is None else [data.leaderboard]
    try:
        people = _ratings(data.boards.board(BoardQuery(source="human", notes=False)))
    except UserError:
        return boards
    return [OutsideBoard("people", people), *boards]


def _means(data: PaperData, answers: JudgeAnswers) -> dict[str, float]:
    """The mean score by editor, over outputs and repeats; higher is better."""
    entries = data.view.entries
    points = answers.points.items()
    scores = grouped((data.editors[entries.index_of[output]], score) for (output, _), score in points)
    return {editor: float(np.mean(values)) for editor, values in scores.items() if editor}


def _ratings(board: Board) -> dict[str, float]:
    return {row.model: row.rating for row in board.ranking.models}


def _ranks(
    title: str, point: _RatingByModel, pair: _RatingByModel, references: Sequence[OutsideBoard], sign: int
) -> Table:
    """A table of ranks. Means are multiplied by `sign` for printing: -1 if low scores are good."""
    models = [model for model in pair if model in point and any(model in ref.ratings for ref in references)]
    ours = [_places(of, models) for of in (point, pair)]
    theirs = [_places(ref.ratings, models) for ref in references]
    rows: list[tuple[CellValue, ...]] = [
        (
            model, sign * point[model], ours[0][model], pair[model], ours[1][model],
            *(cell for ref, places in zip(references, theirs, strict=True) for cell in _cells(ref, model, places)),
        )
        for model in models
    ]  # fmt: skip
    for ref in references if models else ():
        left, right = (_two_digits(_correlation(_only(of, models), ref.ratings)) for of in (point, pair))
        rows.append((f"Spearman with {ref.name}", left, None, right, None, *(None for _ in range(2 * len(references)))))
    head = [
        Column("model"), Column("pointwise mean", ".4g", "–"), Column("rank", absent="", key="pointwise rank"),
        Column("pairwise Elo", ".0f", "–"), Column("rank", absent="", key="pairwise rank"),
    ]  # fmt: skip
    for ref in references:
        head += [Column(f"{ref.name}: rating", ".4g"), Column("rank", absent="", key=f"{ref.name} rank")]
    return Table(columns(*head), tuple(rows), title)


def _only(ratings: _RatingByModel, models: Sequence[str]) -> dict[str, float]:
    return {model: ratings[model] for model in models}


def edival_ranks(data: PaperData) -> Block:
    """EdiVal's table 14: ranks by EdiVal and by another leaderboard, on the models that both have."""
    if data.edival is None or data.leaderboard is None:
        return NOTHING
    scores = next((table for table in data.edival.tables if table.title.startswith("EdiVal scores")), None)
    if scores is None:
        return NOTHING
    edival = {str(row[0]): -float(str(row[-1])) for row in scores.rows}
    common = [model for model in edival if model in data.leaderboard.ratings]
    if len(common) < 2:
        return NOTHING
    ours, theirs = _places(edival, common), _places(data.leaderboard.ratings, common)
    rows: list[tuple[CellValue, ...]] = [(model, theirs[model], ours[model]) for model in common]
    rows.append(("Spearman", None, _two_digits(_correlation(_only(edival, common), data.leaderboard.ratings))))
    head = columns("model", Column(f"{data.leaderboard.name}: rank"), Column("EdiVal: rank"))
    return Block((Table(head, tuple(rows), scores.title),))


def dimensions_by_task(data: PaperData) -> Block:
    """GEditBench v2: a rating per task for instruction following, visual quality and visual consistency."""
    by_column: dict[str, list[Board]] = {}
    for name, judge, dimension in _dimension_judges(data):
        query = BoardQuery(source="judge", judge=judge, dimension=dimension, notes=False)
        try:
            by_column[name] = [data.boards.board(query), *data.boards.boards(replace(query, by="task"))]
        except UserError:
            continue
    tasks = dict.fromkeys(board.ranking.scope.get("task", "all") for group in by_column.values() for board in group)
    tables = []
    for task in tasks:
        boards = [
            (name, board)
            for name, group in by_column.items()
            for board in group
            if board.ranking.scope.get("task", "all") == task
        ]
        table = _side_by_side(boards)
        if table.rows:
            tables.append(replace(table, title=f"task {task}" if task != "all" else "all tasks"))
    return Block(tuple(tables))


def _dimension_judges(data: PaperData) -> Iterator[tuple[str, str, str]]:
    """Column, judge and dimension: comparing judges, else scoring ones; columns name the judge if there are several."""
    variants = data.view.variants.counting(data.judges or None)
    for dimension, short in GEDIT_DIMENSIONS.items():
        about = [variant for variant in variants if variant.dimension == dimension]
        comparing = [variant for variant in about if variant.pairwise]
        judges = sorted({variant.judge for variant in comparing or about})
        for judge in judges:
            yield short if len(judges) == 1 else f"{short}, {judge}", judge, dimension


MAKERS: dict[str, Callable[[PaperData], Block]] = {
    made.__name__: made for made in (boards_by_track, point_and_pair_ranks, edival_ranks, dimensions_by_task)
}
