"""GenArena's tables of a judge whose low scores are good: people prefer what it scores low."""

from pathlib import Path

import pytest

from imarena.core.records import Item, Judgment, Order, Outcome, Output, Rater, Turn, Vote
from imarena.reports.tables import Number
from imarena.storage import init_workspace
from imarena.workflows.boards import Boards
from imarena.workflows.reporting.papers import genarena, side_by_side
from imarena.workflows.reporting.papers.data import PaperData
from imarena.workflows.views import View
from tests.samples import kept

DISTANCE = {"near": 0.1, "middle": 0.3, "far": 0.6}
LOW = {"higher_is_better": False}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> PaperData:
    """An arena of items of two tracks."""
    return arena(tmp_path_factory.mktemp("genarena") / "w", ("art", "photo"))


def arena(folder: Path, tracks: tuple[str, ...]) -> PaperData:
    """Twelve items; a vote prefers the nearer output of each pair but one, and the judge compares all pairs too."""
    workspace = init_workspace(folder)
    workspace.store.add([Rater(rater_id="ann")])
    for number in range(12):
        item = Item(
            dataset="d", key=f"i{number}", turns=(Turn(instruction="x"),), sources=(kept(workspace, number),),
            track=tracks[number % len(tracks)],
        )  # fmt: skip
        made = {
            editor: Output(item_id=item.item_id, editor=editor, image=kept(workspace, 100 + 10 * number + place))
            for place, editor in enumerate(DISTANCE)
        }
        workspace.store.add([item, *made.values()])
        for editor, output in made.items():
            workspace.store.add([
                Judgment(
                    work_id=output.output_id, judge="distance", item_id=item.item_id, left_id=output.output_id,
                    score=DISTANCE[editor] + number / 1000, params=LOW,
                )
            ])  # fmt: skip
        for left, right in (("near", "middle"), ("near", "far"), ("middle", "far")):
            sides = {
                "item_id": item.item_id, "left_id": made[left].output_id, "right_id": made[right].output_id,
            }  # fmt: skip
            odd = number == 0 and left == "near"
            liked = Outcome.RIGHT if odd else Outcome.LEFT
            workspace.store.add([
                Vote(rater_id="ann", preference=liked, idempotency_key=f"{number}{left}{right}", **sides),
                *(
                    Judgment(
                        work_id=f"{number}{left}{right}{order}", judge="distance", order=order, params=LOW,
                        preference=Outcome.LEFT, **sides,
                    )
                    for order in (Order.LEFT_FIRST, Order.RIGHT_FIRST)
                ),
            ])  # fmt: skip
    view = View(workspace)
    return PaperData(view, Boards(view), None, lambda image: image.sha256)


def test_a_low_score_wins_the_pair(data: PaperData) -> None:
    (table,) = genarena.judge_protocols(data).tables
    assert [(row[1], row[4]) for row in table.rows] == [("pointwise", 36), ("pairwise", 36)]
    assert [row[2] for row in table.rows] == pytest.approx([34 / 36, 34 / 36])
    (tracks,) = genarena.judge_tracks(data).tables
    assert [column.title for column in tracks.columns] == ["judge", "art", "photo", "overall", "n"]
    assert tracks.rows[0][1:] == pytest.approx((16 / 18, 1, 34 / 36, 36))


def test_one_track_is_the_overall(tmp_path: Path) -> None:
    block = genarena.judge_tracks(arena(tmp_path / "w", ("art",)))
    assert block.empty
    assert "one track" in block.needs


def test_the_histogram_is_of_the_other_less_the_preferred_output(data: PaperData) -> None:
    block = genarena.score_differences(data)
    assert block.text == (
        "distance: of 36 votes that decide, 94.4% have a lower (better) score for the preferred output and 0.0% equal "
        "scores.",
    )
    assert block.charts[0].caption == "distance: score of the other less that of the preferred output"


def test_means_are_as_given_and_ranked_from_the_lowest(data: PaperData) -> None:
    (table,) = side_by_side.point_and_pair_ranks(data).tables
    rows = {str(row[0]): row for row in table.rows}
    for rank, (editor, distance) in enumerate(DISTANCE.items(), 1):
        assert rows[editor][1:3] == pytest.approx((distance + 0.0055, rank))
        assert rows[editor][4] == rank
    correlation = rows["Spearman with people"][1]
    assert isinstance(correlation, Number)
    assert correlation.value == pytest.approx(1)


def test_the_example_shows_scores_as_given_and_the_lower_one_as_preferred(data: PaperData) -> None:
    (exhibit,) = genarena.one_pair(data).exhibits
    notes = {image.caption: image.note for image in exhibit.pictures}
    shown = {name: float(note.removeprefix("pointwise score ")) for name, note in notes.items() if name in DISTANCE}
    assert all(score > 0 for score in shown.values())
    assert exhibit.remarks[0] == f"Pointwise (distance): prefers {min(shown, key=lambda name: shown[name])}."
