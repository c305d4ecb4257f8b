"""GenArena (001): pointwise against pairwise judging, by the figures of `imarena health`; and GEditBench v2 (003)."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from imarena.agreement import AlignOptions
from imarena.core import UserError
from imarena.core.records import Item, Outcome, Output
from imarena.judges import health as figures
from imarena.reports import Chart, GalleryItem, PageImage, columns, histogram
from imarena.reports.tables import Cell, Column, Range, Table
from imarena.stats import Figure, spearman
from imarena.workflows.boards import Board, BoardQuery
from imarena.workflows.reporting.papers.data import NOTHING, Block, PaperData
from imarena.workflows.studies import (
    JudgeAnswers,
    PairKey,
    PeopleVotes,
    align_columns,
    pairs_of_points,
    people_for,
    read_aligned_columns,
    read_judges,
    read_people,
    verdict_tables,
)
from imarena.workflows.views import WHOLE, chosen_judges

GEDIT_DIMENSIONS = {"instruction_following": "IF", "visual_quality": "VQ", "visual_consistency": "VC"}
POINTWISE, PAIRWISE = "pointwise", "pairwise"


def _answers(data: PaperData) -> Iterator[tuple[JudgeAnswers, PeopleVotes]]:
    """The newest form of each judge about the whole, and the votes that it is compared with."""
    chosen = chosen_judges(data.view, data.judges)
    people = read_people(data.view)
    about = {named.name: named.dimensions for named in chosen}
    for _, versions in sorted(read_judges(data.view, chosen).items()):
        newest = versions[-1]
        if newest.dimension == WHOLE:
            yield newest, people_for(newest, about[newest.name], people)


def _by_protocol(answers: JudgeAnswers, key: PairKey, protocol: str, repeat: int = 0) -> Outcome | None:
    if protocol == PAIRWISE:
        return answers.battles.get((key, repeat))
    return replace(answers, battles={}, fought={}).battle(key, repeat)


def _accuracy(answers: JudgeAnswers, people: PeopleVotes, protocol: str) -> dict[str, Figure]:
    """How often it chooses as people do where they decide, overall and by track; a tie is wrong."""
    alone = replace(answers, battles={}, fought={}) if protocol == POINTWISE else replace(answers, points={})
    rows = [(vote, verdict, track) for key, vote, track in people.votes for verdict in alone.verdicts(key)]
    if not rows:
        return {}
    human, judge, tracks = (list(column) for column in zip(*rows, strict=True))
    return figures.accuracy_by_group(human, judge, tracks)


def _figure(figure: Figure | None) -> tuple[Cell, Cell, Cell]:
    if figure is None or figure.value is None:
        return None, None, None
    ends = None if figure.low is None or figure.high is None else Range(figure.low, figure.high)
    return figure.value, ends, figure.n


def judge_protocols(data: PaperData) -> Block:
    """Table 1: accuracy with people of each judge, pointwise and pairwise."""
    rows: list[tuple[Cell, ...]] = []
    for answers, people in _answers(data):
        for protocol in (POINTWISE, PAIRWISE):
            overall = _accuracy(answers, people, protocol).get("overall")
            if overall is not None and overall.n:
                rows.append((answers.judge, protocol, *_figure(overall)))
    head = columns("judge", "protocol", Column("accuracy", ".1%"), Column("95 % interval", ".1%"), Column("n", ","))
    return Block((Table(head, tuple(rows), notes=("A tie of the judge is wrong; pairs that people decide.",)),))


def judge_consistency(data: PaperData) -> Block:
    """Table 3: Krippendorff's alpha over repeated questions, pointwise and pairwise."""
    rows: list[tuple[Cell, ...]] = []
    for answers, _ in _answers(data):
        for protocol, repeats, keys in (
            (POINTWISE, {repeat for _, repeat in answers.points}, pairs_of_points(answers)),
            (PAIRWISE, {repeat for _, repeat in answers.battles}, sorted(answers.keys())),
        ):
            if len(repeats) > 1 and keys:
                runs = [[_by_protocol(answers, key, protocol, repeat) for key in keys] for repeat in sorted(repeats)]
                found = figures.self_consistency(runs)
                rows.append((answers.judge, protocol, *_figure(found.alpha), found.n_runs))
    head = columns(
        "judge", "protocol", Column("alpha", ".4f"), Column("95 % interval", ".3f"), Column("pairs", ","), "runs"
    )
    return Block((Table(head, tuple(rows)),))


def judge_confusion(data: PaperData) -> Block:
    """Table 5: what people and each judge say on the same battles, as `imarena align` prints it."""
    options = AlignOptions(rounds=0)
    try:
        aligned = align_columns(read_aligned_columns(data.workspace, data.judges, options), options)
    except UserError:
        return NOTHING
    tables = verdict_tables(aligned.verdicts, ()) if aligned.verdicts else []
    return Block(tuple(table for table in tables if table.title.startswith("What people")))


def judge_tracks(data: PaperData) -> Block:
    """Table 6: accuracy of each judge by track (or task)."""
    found = [(answers.judge, _accuracy(answers, people, PAIRWISE if answers.fought else POINTWISE))
             for answers, people in _answers(data)]  # fmt: skip
    tracks = sorted({track for _, figures_of in found for track in figures_of} - {"overall"})
    rows = tuple(
        (judge, *(of[name].value if name in of else None for name in (*tracks, "overall")), of["overall"].n)
        for judge, of in found
        if of
    )
    shown = (Column(name, ".1%", "–") for name in (*tracks, "overall"))
    return Block((Table(columns("judge", *shown, Column("n", ",")), rows),))


def score_differences(data: PaperData) -> Block:
    """Figure A.3: the score of the output that people prefer less that of the other."""
    charts: list[Chart] = []
    texts: list[str] = []
    for answers, people in _answers(data):
        gaps = [
            (answers.points[winner, 0] - answers.points[loser, 0])
            for key, vote, _ in people.votes
            if vote in (Outcome.LEFT, Outcome.RIGHT)
            for winner, loser in [key if vote is Outcome.LEFT else key[::-1]]
            if (winner, 0) in answers.points and (loser, 0) in answers.points
        ]
        if gaps:
            right, tied = sum(gap > 0 for gap in gaps), sum(gap == 0 for gap in gaps)
            texts.append(
                f"{answers.judge}: of {len(gaps):,} votes that decide, {right / len(gaps):.1%} have a higher score for "
                f"the preferred output and {tied / len(gaps):.1%} equal scores."
            )
            name = f"score-differences-{len(charts) + 1}"
            caption = f"{answers.judge}: score of the preferred output less that of the other"
            charts.append(histogram(name, caption, gaps, title="score difference"))
    return Block(charts=tuple(charts), text=tuple(texts))


def one_pair(data: PaperData) -> Block:
    """Figures A.4 to A.6: a pair that scores and comparison of one judge decide differently, else any."""
    entries, store = data.view.entries, data.workspace.store
    for answers, people in _answers(data):
        both = [
            key
            for key in sorted(answers.keys())
            if all((one, 0) in answers.points and entries.pictured[entries.index_of[one]] for one in key)
        ]
        if not both:
            continue
        votes = {key: vote for key, vote, _ in people.votes}
        key = min(both, key=lambda pair: (_by_protocol(answers, pair, POINTWISE) is answers.battle(pair), pair))
        outputs = [next(iter(store.records(Output, id=one))) for one in key]
        item = next(iter(store.records(Item, id=outputs[0].item_id)))
        shown = [PageImage(data.picture(image), "source") for image in item.sources]
        for output, one in zip(outputs, key, strict=True):
            if output.image is not None:
                note = f"pointwise score {answers.points[one, 0]:g}"
                shown.append(PageImage(data.picture(output.image), output.editor or "(not named)", note))
        names = {Outcome.LEFT: outputs[0].editor, Outcome.RIGHT: outputs[1].editor}
        remarks = [
            f"Pointwise: {_preferred(_by_protocol(answers, key, POINTWISE), names)}.",
            *(
                f"Pairwise, {order.replace('_', ' ')}: {_preferred(outcome, names)}."
                for order, outcome in sorted(answers.pairs.get((key, 0), {}).items())
            ),
            f"Pairwise, all orders together: {_preferred(answers.battles.get((key, 0)), names)}.",
            *([f"People: {_preferred(votes[key], names)}."] if key in votes else []),
        ]
        title = f"{answers.judge} · {item.key}"
        exhibit = GalleryItem(title, item.turns[outputs[0].turn].instruction, tuple(shown), tuple(remarks))
        return Block(exhibits=(exhibit,))
    return NOTHING


def _preferred(outcome: Outcome | None, names: dict[Outcome, str | None]) -> str:
    if outcome is None:
        return "no verdict"
    return f"prefers {names[outcome]}" if outcome in names else str(outcome.value).replace("_", " ")


def boards_by_track(data: PaperData) -> Block:
    """Table 2: rating and rank by track."""
    if data.main is None or len(data.view.entries.labels["track"].used()) < 2:
        return NOTHING
    judge = data.judges[0] if data.judges else None
    made = data.by_column.get("track") or data.boards.boards(BoardQuery(judge=judge, by="track", notes=False))
    return Block((_side_by_side([(board.ranking.scope["track"], board) for board in made]),))


def _side_by_side(boards: list[tuple[str, Board]], digits: str = ".0f") -> Table:
    """Rating and rank of every editor by board, the best of the first board first."""
    known = [(name, {one.model: one for one in board.ranking.models}) for name, board in boards if board.ranking.models]
    models = list(dict.fromkeys(model for _, of in known for model in of))
    rows = tuple(
        (
            model,
            *(
                cell
                for _, of in known
                for cell in ((of[model].rating, of[model].rank) if model in of else (None, None))
            ),
        )
        for model in models
    )
    head = [Column("model")]
    for name, _ in known:
        head += [Column(f"{name}: Elo", digits, "–"), Column("rank", absent="–", key=f"{name} rank")]
    return Table(tuple(head), rows if known else ())


def point_and_pair_ranks(data: PaperData) -> Block:
    """Table 4: mean scores and pairwise ratings of a judge beside people's board, with Spearman's correlation."""
    try:
        people = data.boards.board(BoardQuery(source="human", notes=False))
    except UserError:
        return NOTHING
    tables = []
    for answers, _ in _answers(data):
        if not answers.points or not answers.fought:
            continue
        try:
            pairs = data.boards.board(BoardQuery(source="judge", judge=answers.name, kind="compared", notes=False))
        except UserError:
            continue
        source = data.judged[answers.name]
        means = _means(data, source.values)
        tables.append(_ranks(answers.name, means, _ratings(pairs), _ratings(people)))
    return Block(tuple(tables))


def _means(data: PaperData, values: np.ndarray) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for editor, value in zip(data.editors, values.tolist(), strict=True):
        if editor and np.isfinite(value):
            found.setdefault(editor, []).append(value)
    return {editor: float(np.mean(some)) for editor, some in found.items()}


def _ratings(board: Board) -> dict[str, float]:
    return {one.model: one.rating for one in board.ranking.models}


def _ranks(judge: str, point: dict[str, float], pair: dict[str, float], people: dict[str, float]) -> Table:
    models = [model for model in people if model in point and model in pair]
    places = {name: {m: r for r, m in enumerate(sorted(models, key=lambda m: -of[m]), 1)}
              for name, of in (("point", point), ("pair", pair), ("people", people))}  # fmt: skip
    rows: list[tuple[Cell, ...]] = [
        (m, point[m], places["point"][m], pair[m], places["pair"][m], people[m], places["people"][m]) for m in models
    ]
    human = [people[m] for m in models]
    rows.append(("Spearman with people", spearman([point[m] for m in models], human).value, None,
                 spearman([pair[m] for m in models], human).value, None, None, None))  # fmt: skip
    head = columns(
        "model", Column("pointwise mean", ".3g"), Column("rank", key="pointwise rank"), Column("pairwise Elo", ".4g"),
        Column("rank", key="pairwise rank"), Column("people's Elo", ".4g"), Column("rank", key="people's rank"),
    )  # fmt: skip
    return Table(head, tuple(rows), judge)


def dimensions_by_task(data: PaperData) -> Block:
    """GEditBench v2: a rating per task for instruction following, visual quality and visual consistency."""
    tables = []
    forms = data.view.forms.counting(data.judges or None)
    judges = sorted({form.judge for form in forms if form.dimension in GEDIT_DIMENSIONS})
    by_dimension: dict[str, list[Board]] = {}
    for judge in judges:
        for dimension in GEDIT_DIMENSIONS:
            if not any(form.judge == judge and form.dimension == dimension for form in forms):
                continue
            query = BoardQuery(source="judge", judge=judge, dimension=dimension, notes=False)
            try:
                made = [data.boards.board(query), *data.boards.boards(replace(query, by="task"))]
            except UserError:
                continue
            by_dimension.setdefault(dimension, []).extend(made)
    tasks = dict.fromkeys(board.ranking.scope.get("task", "all") for some in by_dimension.values() for board in some)
    for task in tasks:
        boards = [
            (GEDIT_DIMENSIONS[dimension], board)
            for dimension, some in by_dimension.items()
            for board in some
            if board.ranking.scope.get("task", "all") == task
        ]
        table = _side_by_side(boards)
        if table.rows:
            tables.append(replace(table, title=f"task {task}" if task != "all" else "all tasks"))
    return Block(tuple(tables))


MAKERS: dict[str, Callable[[PaperData], Block]] = {
    made.__name__: made
    for made in (
        judge_protocols, judge_consistency, judge_confusion, judge_tracks, score_differences, one_pair,
        boards_by_track, point_and_pair_ranks, dimensions_by_task,
    )
}  # fmt: skip
