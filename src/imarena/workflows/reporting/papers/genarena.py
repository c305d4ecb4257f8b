"""GenArena (001): pointwise compared with pairwise judging, from the figures of `imarena health`."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from imarena.agreement import AlignOptions
from imarena.core.records import Item, Outcome, Output
from imarena.judges import health as figures
from imarena.reports import Chart, GalleryItem, PageImage, columns, histogram
from imarena.reports.tables import CellValue, Column, Range, Table
from imarena.stats import Figure
from imarena.workflows import studies
from imarena.workflows.reporting.papers.data import NOTHING, Block, PaperData
from imarena.workflows.views import AT, WHOLE, chain_of, edit_question

POINTWISE, PAIRWISE = "pointwise", "pairwise"


def _by_protocol(
    answers: studies.JudgeAnswers, key: studies.OutputIdPair, protocol: str, repeat: int = 0
) -> Outcome | None:
    if protocol == PAIRWISE:
        return answers.battles.get((key, repeat))
    return replace(answers, battles={}, fought={}).battle(key, repeat)


def _accuracy(answers: studies.JudgeAnswers, people: studies.PeopleVotes, protocol: str) -> dict[str, Figure]:
    """How often the judge agrees with people where they decide, overall and by track; a tie counts as wrong."""
    alone = replace(answers, battles={}, fought={}) if protocol == POINTWISE else replace(answers, points={})
    rows = [(vote, verdict, track) for key, vote, track in people.votes for verdict in alone.verdicts(key)]
    if not rows:
        return {}
    human, judge, tracks = (list(column) for column in zip(*rows, strict=True))
    return figures.accuracy_by_group(human, judge, tracks)


def _figure(figure: Figure | None) -> tuple[CellValue, CellValue, CellValue]:
    if figure is None or figure.value is None:
        return None, None, None
    ends = None if figure.low is None or figure.high is None else Range(figure.low, figure.high)
    return figure.value, ends, figure.n


def judge_protocols(data: PaperData) -> Block:
    """Table 1: accuracy with people of each judge, pointwise and pairwise."""
    rows: list[tuple[CellValue, ...]] = []
    for answers, people in data.answers:
        for protocol in (POINTWISE, PAIRWISE):
            overall = _accuracy(answers, people, protocol).get("overall")
            if overall is not None and overall.n:
                rows.append((answers.judge, protocol, *_figure(overall)))
    head = columns("judge", "protocol", Column("accuracy", ".1%"), Column("95% interval", ".1%"), Column("n", ","))
    return Block((Table(head, tuple(rows), notes=("A tie of the judge is wrong; pairs that people decide.",)),))


def judge_consistency(data: PaperData) -> Block:
    """Table 3: Krippendorff's alpha over repeated questions, pointwise and pairwise."""
    rows: list[tuple[CellValue, ...]] = []
    for answers, _ in data.answers:
        for protocol, repeats, keys in (
            (POINTWISE, {repeat for _, repeat in answers.points}, studies.pairs_of_points(answers)),
            (PAIRWISE, {repeat for _, repeat in answers.battles}, sorted(answers.keys())),
        ):
            if len(repeats) > 1 and keys:
                runs = [[_by_protocol(answers, key, protocol, repeat) for key in keys] for repeat in sorted(repeats)]
                figure = figures.self_consistency(runs)
                rows.append((answers.judge, protocol, *_figure(figure.alpha), figure.n_runs))
    head = columns(
        "judge", "protocol", Column("alpha", ".4f"), Column("95% interval", ".3f"), Column("pairs", ","), "runs"
    )
    return Block((Table(head, tuple(rows)),))


def judge_confusion(data: PaperData) -> Block:
    """Table 5: outcomes of people and of each overall judge on the same battles, as `imarena align` prints them."""
    options = AlignOptions(rounds=0)
    judges = sorted({variant.judge for variant in data.view.variants.counting(data.judges or None, WHOLE)})
    if not judges:
        return NOTHING
    aligned = studies.align_columns(studies.read_aligned_columns(data.workspace, judges, options), options)
    tables = studies.verdict_tables(aligned.verdicts, ()) if aligned.verdicts else []
    return Block(tuple(table for table in tables if table.title.startswith("Verdicts of people")))


def judge_tracks(data: PaperData) -> Block:
    """Table 6: accuracy of each judge by track (or task)."""
    accuracies = [(answers.judge, _accuracy(answers, people, PAIRWISE if answers.fought else POINTWISE))
             for answers, people in data.answers]  # fmt: skip
    tracks = sorted({track for _, figures_of in accuracies for track in figures_of} - {"overall"})
    if len(tracks) < 2:
        return Block(needs="all pairs are of one track: table 1 has their accuracy")
    rows = tuple(
        (judge, *(of[name].value if name in of else None for name in (*tracks, "overall")), of["overall"].n)
        for judge, of in accuracies
        if of
    )
    track_columns = (Column(name, ".1%", "–") for name in (*tracks, "overall"))
    return Block((Table(columns("judge", *track_columns, Column("n", ",")), rows),))


def score_differences(data: PaperData) -> Block:
    """Figure A.3: the score of the output that people prefer minus that of the other."""
    charts: list[Chart] = []
    texts: list[str] = []
    for answers, people in data.answers:
        gaps = [
            (answers.points[winner, 0] - answers.points[loser, 0])
            for key, vote, _ in people.votes
            if vote in (Outcome.LEFT, Outcome.RIGHT)
            for winner, loser in [key if vote is Outcome.LEFT else key[::-1]]
            if (winner, 0) in answers.points and (loser, 0) in answers.points
        ]
        if gaps:
            right, tied = sum(gap > 0 for gap in gaps), sum(gap == 0 for gap in gaps)
            better = "higher" if answers.higher_is_better else "lower (better)"
            texts.append(
                f"{answers.judge}: of {len(gaps):,} votes that decide, {right / len(gaps):.1%} have a {better} score "
                f"for the preferred output and {tied / len(gaps):.1%} equal scores."
            )
            name = f"score-differences-{len(charts) + 1}"
            sides = ("the preferred output", "the other")[:: 1 if answers.higher_is_better else -1]
            caption = f"{answers.judge}: score of {sides[0]} less that of {sides[1]}"
            charts.append(histogram(name, caption, gaps, title="score difference"))
    return Block(charts=tuple(charts), text=tuple(texts))


def protocol_pairs(data: PaperData) -> Iterator[tuple[studies.JudgeAnswers, studies.JudgeAnswers, studies.PeopleVotes]]:
    """Pairs of scoring and comparing judges: one judge that does both, or two judges that ask the same model."""
    for point, _ in data.answers:
        for pair, people in data.answers:
            same_model = point.name == pair.name or (_model(point) and _model(point) == _model(pair))
            if point.points and pair.fought and same_model:
                yield point, pair, people


def _model(answers: studies.JudgeAnswers) -> str:
    """`some/model` for the judge `genarena/some/model`; empty for a judge that asks no model."""
    return answers.name.partition(AT)[0].partition("/")[2]


def one_pair(data: PaperData) -> Block:
    """Figures A.4 to A.6: a pair on which one model's scores and comparison disagree, else any pair."""
    entries, store = data.view.entries, data.workspace.store
    for point, pair, people in protocol_pairs(data):
        keys = [
            key
            for key in sorted(pair.keys())
            if all((side, 0) in point.points and entries.pictured[entries.index_of[side]] for side in key)
        ]
        if not keys:
            continue
        votes = {key: vote for key, vote, _ in people.votes}
        key = min(keys, key=lambda key: (_by_protocol(point, key, POINTWISE) is pair.battles.get((key, 0)), key))
        outputs = [next(iter(store.records(Output, id=side))) for side in key]
        item = next(iter(store.records(Item, id=outputs[0].item_id)))
        edit = edit_question(item, outputs[0], outputs[1], chain_of(data.workspace, *outputs))
        images = [PageImage(data.picture(image), edit.input_name) for image in edit.sources]
        for output, side in zip(outputs, key, strict=True):
            if output.image is not None:
                note = f"pointwise score {point.score(side):g}"
                images.append(PageImage(data.picture(output.image), output.editor or "(not named)", note))
        names = {Outcome.LEFT: outputs[0].editor, Outcome.RIGHT: outputs[1].editor}
        remarks = [
            f"Pointwise ({point.name}): {_winner(_by_protocol(point, key, POINTWISE), names)}.",
            *(
                f"Pairwise ({pair.name}), {_order(order, names)}: {_winner(outcome, names)}."
                for order, outcome in sorted(pair.pairs.get((key, 0), {}).items())
            ),
            f"Pairwise, all orders together: {_winner(pair.battles.get((key, 0)), names)}.",
            *([f"People: {_winner(votes[key], names)}."] if key in votes else []),
        ]
        judges = point.name if point.name == pair.name else f"{point.name} and {pair.name}"
        exhibit = GalleryItem(f"{judges} · {item.key}", edit.instruction, tuple(images), tuple(remarks))
        return Block(exhibits=(exhibit,))
    return NOTHING


def _order(order: str, names: dict[Outcome, str | None]) -> str:
    first = {"left_first": names[Outcome.LEFT], "right_first": names[Outcome.RIGHT]}.get(order)
    return f"{first} first" if first else order.replace("_", " ")


def _winner(outcome: Outcome | None, names: dict[Outcome, str | None]) -> str:
    if outcome is None:
        return "no verdict"
    return f"prefers {names[outcome]}" if outcome in names else str(outcome.value).replace("_", " ")


MAKERS: dict[str, Callable[[PaperData], Block]] = {
    made.__name__: made
    for made in (
        judge_protocols, judge_consistency, judge_confusion, judge_tracks, score_differences, one_pair,
    )
}  # fmt: skip
