"""The sheet of assignments: nothing is stored where it cannot be written, and no vote is lost in it."""

import csv
import hashlib
from pathlib import Path

import numpy as np
import pytest

from imarena.core.errors import UserError
from imarena.core.records import Assignment, Campaign, ImageRef, Item, Judgment, Output, Turn, Vote
from imarena.routing import AssignmentRequest
from imarena.storage import Workspace
from imarena.workflows.active_elo.assigning import assign_battles
from imarena.workflows.active_elo.ingesting import IngestReport, ingest_votes
from imarena.workflows.active_elo.planning import PlanTarget, plan_votes
from imarena.workflows.active_elo.sheets import write_sheet
from tests.command import Imarena
from tests.samples import picture_of, png

ODD = ("make it\u2028red", "make it\x0bred", "make it\x85red", "make it\nred", 'make it "red", please', "=red")
"""Words with characters that end a line somewhere, and ones that a spreadsheet reads otherwise."""


@pytest.fixture
def arena(workspace: Workspace) -> Workspace:
    rng = np.random.default_rng(0)
    items = [Item(dataset="d", key=f"i{n}", turns=(Turn(instruction=ODD[n % len(ODD)]),)) for n in range(12)]
    outputs = [
        Output(item_id=item.item_id, editor=editor, image=picture_of(workspace, f"{item.key}-{editor}"))
        for item in items
        for editor in "abc"
    ]
    workspace.store.add(items)
    workspace.store.add(outputs)
    workspace.store.add(
        Judgment(
            work_id=f"w{n}", judge="robot", item_id=o.item_id, left_id=o.output_id, score=float(rng.integers(1000))
        )
        for n, o in enumerate(outputs)
    )
    return workspace


def fill(path: Path, **columns: str) -> None:
    """Write into the columns of every row."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*rows[0], *(name for name in columns if name not in rows[0])])
        writer.writeheader()
        writer.writerows({**row, **columns} for row in rows)


def stored(workspace: Workspace, record: type[Assignment] | type[Vote]) -> int:
    return sum(workspace.store.count(record).values())


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_a_sheet_that_a_spreadsheet_saved_is_read(arena: Workspace, tmp_path: Path, delimiter: str) -> None:
    """With the separator of another country, a byte order mark, its line ends, and a capital that it put there."""
    path = tmp_path / "sheet.csv"
    assign_battles(arena, None, AssignmentRequest(12, raters=("ann",), repeats=0), path)
    fill(path, winner="Left")
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    rows[0] = [name.capitalize() for name in rows[0]]
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)
    assert ingest_votes(arena, path) == IngestReport(new=12, same=0, waiting=0, refused=())
    assert {vote.preference for vote in arena.store.records(Vote)} == {"left"}


def test_sheets_that_a_spreadsheet_or_a_hand_spoilt_are_told(arena: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    assign_battles(arena, None, AssignmentRequest(2, raters=("zoé",), repeats=0))
    one, other = [row.assignment_id for row in arena.store.records(Assignment)]
    spoilt = {
        "not UTF-8": f"assignment,rater,winner\n{one},zoé,left\n".encode("cp1252"),
        "is no CSV": f'assignment,winner\n"{one},left\n{"y" * 200_000}'.encode(),
        "more than one column 'winner'": f"assignment,winner,winner\n{one},left,right\n".encode(),
    }
    for reason, data in spoilt.items():
        path.write_bytes(data)
        with pytest.raises(UserError, match=reason):
            ingest_votes(arena, path)
    assert stored(arena, Vote) == 0
    path.write_bytes(f"assignment\trater\twinner\n{one}\tzoé\tleft\n{other}\tzoé\ttie\n".encode("utf-16"))
    assert ingest_votes(arena, path).new == 2


def test_pictures_lie_beside_the_sheet_and_tell_nobody_whose_they_are(workspace: Workspace, tmp_path: Path) -> None:
    """Sources, references (of the item and of its turn), left and right as files that any tool can show."""

    def kept(seed: int) -> ImageRef:
        data = png(seed)
        name = hashlib.sha256(data).hexdigest()
        return workspace.keep(ImageRef(sha256=name, size_bytes=len(data), media_type="image/png"), data)

    turn = Turn(instruction="paint it like image 3", references=(kept(11),))
    item = Item(dataset="d", key="i", turns=(turn,), sources=(kept(8), kept(9)), references=(kept(10),))
    outputs = [Output(item_id=item.item_id, editor=name, image=kept(n)) for n, name in enumerate("ab")]
    workspace.store.add([item])
    workspace.store.add(outputs)
    workspace.store.add(
        Judgment(work_id=f"w{n}", judge="robot", item_id=item.item_id, left_id=o.output_id, score=5.0)
        for n, o in enumerate(outputs)
    )
    path = tmp_path / "sheet.csv"
    assign_battles(workspace, None, AssignmentRequest(1, raters=("ann",), repeats=0), path)
    with path.open(newline="", encoding="utf-8") as file:
        row = next(csv.DictReader(file))
    given = [*row["source_images"].split(), *row["reference_images"].split()]
    named = [*given, row["left_image"], row["right_image"]]
    assert len(set(named)) == 6
    shown = [hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() for name in named]
    assert shown[:4] == [image.sha256 for image in (*item.sources, *item.references, *turn.references)]
    assert set(shown[4:]) == {output.image.sha256 for output in outputs if output.image}
    assert not [one for one in (tmp_path / "sheet-images").iterdir() if one.name.startswith(".")]


def test_every_row_is_read_whatever_the_words_hold(arena: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    assign_battles(arena, None, AssignmentRequest(24, raters=("ann",), repeats=0), path)
    fill(path, winner="left")
    assert ingest_votes(arena, path) == IngestReport(new=24, same=0, waiting=0, refused=())


def test_a_sheet_that_cannot_be_written_leaves_nothing_behind(arena: Workspace, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no folder"):
        assign_battles(arena, None, AssignmentRequest(5, raters=("ann",)), tmp_path / "nowhere" / "sheet.csv")
    assert stored(arena, Assignment) == 0


def test_votes_that_were_not_read_are_not_written_over(arena: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    assign_battles(arena, None, AssignmentRequest(5, raters=("ann",), repeats=0), path)
    fill(path, winner="tie")
    with pytest.raises(UserError, match="5 votes that were not read"):
        assign_battles(arena, None, AssignmentRequest(5, raters=("ann",), repeats=0), path)
    assert stored(arena, Assignment) == 5
    assert ingest_votes(arena, path).new == 5
    assert assign_battles(arena, None, AssignmentRequest(5, raters=("ann",), repeats=0), path).assignments == 5
    assert [one.name for one in tmp_path.iterdir() if one.is_file()] == ["sheet.csv"]


def test_a_lost_sheet_is_written_once_more(arena: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    told = assign_battles(arena, None, AssignmentRequest(8, raters=("ann", "bob"), repeats=0))
    assert told.for_named_raters == 8
    assert write_sheet(arena, "active elo", path, ("ann",)).assignments == 4
    fill(path, winner="right")
    ingest_votes(arena, path)
    assert write_sheet(arena, "active elo", path).assignments == 4
    with pytest.raises(UserError, match="waits for no vote of ann"):
        write_sheet(arena, "active elo", path, ("ann",))


def test_one_rater_votes_once_on_a_battle_that_is_for_two(arena: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    assign_battles(arena, None, AssignmentRequest(8, votes_per_battle=2), path)
    fill(path, winner="left", rater="ann")
    told = ingest_votes(arena, path)
    assert (told.new, len(told.refused)) == (4, 4)
    assert "voted on this battle already" in told.refused[0].reason
    again = ingest_votes(arena, path)
    assert (again.new, again.same, len(again.refused)) == (0, 4, 4)
    fill(path, rater="bob")
    assert ingest_votes(arena, path).new == 4


def test_a_time_that_is_none_is_refused(arena: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    assign_battles(arena, None, AssignmentRequest(3, raters=("ann",), repeats=0), path)
    for spent in ("-5", "nan", "inf", "soon"):
        fill(path, winner="left", time_spent_s=spent)
        assert [row.reason for row in ingest_votes(arena, path).refused] == [f"'{spent}' is no number of seconds"] * 3
    assert stored(arena, Vote) == 0


def test_nobody_is_asked_in_a_closed_campaign(arena: Workspace) -> None:
    made = assign_battles(arena, None, AssignmentRequest(3))
    held = arena.store.get(Campaign, made.campaign)
    assert held is not None
    arena.store.put(held.model_copy(update={"open": False}))
    with pytest.raises(UserError, match="is closed"):
        assign_battles(arena, None, AssignmentRequest(3))
    assert assign_battles(arena, None, AssignmentRequest(3, name="second")).assignments == 3


def test_a_width_that_is_no_number_is_refused(arena: Workspace) -> None:
    with pytest.raises(UserError, match="above 0"):
        plan_votes(arena, None, PlanTarget(target=float("nan")), None, 0.3)


def test_a_sheet_of_another_workspace_is_told_in_few_words(imarena: Imarena, arena: Workspace, tmp_path: Path) -> None:
    sheet = tmp_path / "other.csv"
    sheet.write_text("assignment,rater,winner\n" + "".join(f"assignment_{n},ann,left\n" for n in range(60)))
    ended = imarena("-w", arena.root, "route", "ingest", sheet, code=2)
    assert ended.err.count("row ") == 50
    assert "and 10 rows more" in " ".join(ended.err.split())
    assert "0 new votes" in ended.out
