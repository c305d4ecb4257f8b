"""What `imarena route` refuses, leaves out or asks again: arguments, votes, closed campaigns, copies."""

import csv
from pathlib import Path

import pytest

from imarena.core.records import (
    Assignment,
    Item,
    Judgment,
    Output,
    Turn,
    Vote,
)
from imarena.routing import AssignmentRequest
from imarena.storage import init_workspace, open_workspace
from imarena.storage.upkeep import withdraw_image
from imarena.workflows.active_elo.assigning import assign_battles
from tests.command import Imarena
from tests.samples import kept
from tests.workflow.active_elo.routed_arena import EDITORS, assigned


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("assign", "--budget", 0), "budget is zero"),
        (("assign", "--budget", 5, "--policy", "two-gate", "--tau", 2000), "let nothing through"),
        (("assign", "--budget", 5, "--policy", "quality", "--delta", 50), "does not look at delta"),
        (("assign", "--budget", 5, "--policy", "ambiguity", "--tau", 50), "does not look at tau"),
        (("assign", "--budget", 5, "--policy", "gold"), "no gold set"),
        (("rerank", "--settings", "gold"), "no votes on the gold set"),
        (("assign", "--budget", 5, "--policy", "per-cost"), "has no calibration"),
        (("assign", "--budget", 5, "--policy", "magic"), "No policy 'magic'"),
        (("assign", "--budget", 5, "--place", "nobody"), "No model 'nobody'"),
        (("rerank",), "no votes"),
        (("calibrate",), "too few to calibrate"),
        (("calibrate", "--judge", "nobody"), "gave no scores"),
        (("plan", "--target", 0), "must be above 0"),
        (("plan", "--level", 2), "level of 2"),
        (("plan", "--confidence", 1), "confidence of 1"),
        (("assign", "--budget", 5, "--stop-top", 1, "--confidence", 95), "confidence of 95"),
    ],
)
def test_clear_refusals(imarena: Imarena, arena: Path, arguments: tuple[object, ...], message: str) -> None:
    ended = imarena("-w", arena, "route", *arguments, code=2)
    assert message in ended.err
    assert "Traceback" not in ended.err


def test_votes_that_cannot_be_taken_lose_nothing(imarena: Imarena, arena: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "s.csv"
    assigned(imarena, arena, sheet, "--budget", 4, "--repeats", 0, "--gold", 0)
    with sheet.open() as file:
        ids = [row["assignment"] for row in csv.DictReader(file)]
    lines = [
        (ids[0], "ann", "left"), ("assignment_unknown", "ann", "left"), (ids[1], "ann", "banana"),
        (ids[0], "ann", "right"), (ids[2], "ann", "both_bad"), (ids[3], "", "tie"),
    ]  # fmt: skip
    sheet.write_text("assignment,rater,winner\n" + "".join(",".join(line) + "\n" for line in lines))
    ended = imarena("-w", arena, "route", "ingest", sheet, "--json", code=3)
    assert ended.json["new"] == 2
    reasons = {row["row"]: row["reason"] for row in ended.json["refused"]}
    assert "no such assignment" in reasons[3]
    assert "no outcome" in reasons[4]
    assert "voted left on this assignment already" in reasons[5]
    assert "no rater" in reasons[7]
    with open_workspace(arena) as workspace:
        assert {vote.preference for vote in workspace.store.records(Vote)} == {"left", "both_bad"}
    sheet.write_text("assignment,rater,winner\nnone,ann,left\n")
    imarena("-w", arena, "route", "ingest", sheet, code=2)


def test_what_a_closed_campaign_never_got_answered_can_be_asked_again(
    imarena: Imarena, arena: Path, tmp_path: Path
) -> None:
    sheet = tmp_path / "sheet.csv"
    assigned(imarena, arena, sheet, "--budget", 9999, "--policy", "random", "--campaign", "everything", "--gold", "0")
    told = imarena("-w", arena, "route", "assign", "--budget", 9, "--raters", "ann", "--out", sheet, code=2).err
    assert "by any campaign" in " ".join(told.split())
    imarena("-w", arena, "campaign", "close", "everything")
    assert assigned(imarena, arena, sheet, "--budget", 9, "--raters", "ann", "--gold", "0")["battles"] == 9


def test_nobody_is_asked_about_two_copies_or_a_withdrawn_picture(tmp_path: Path) -> None:
    with init_workspace(tmp_path / "copies") as workspace:
        items = [Item(dataset="d", key=f"i{n}", turns=(Turn(instruction="edit"),)) for n in range(12)]
        workspace.store.add(items)
        outputs = [
            Output(item_id=item.item_id, editor=EDITORS[e], image=kept(workspace, 10 * n + min(e, 1)))
            for n, item in enumerate(items)
            for e in range(3)  # the second and the third editor always give the same picture
        ]
        workspace.store.add(outputs)
        workspace.store.add(
            Judgment(work_id=f"w{n}", judge="robot", item_id=one.item_id, left_id=one.output_id, score=500.0 + n)
            for n, one in enumerate(outputs)
        )
        withdraw_image(workspace, outputs[0].image.sha256 if outputs[0].image else "", "asked to")
        told = assign_battles(workspace, None, AssignmentRequest(budget=30, repeats=0, gold=0, policy="random"))
        editor = {one.output_id: one.editor for one in outputs}
        sides = [{editor[one.left_id or ""], editor[one.right_id or ""]} for one in workspace.store.records(Assignment)]
        assert len(sides) == told.battles == 22
        assert {EDITORS[1], EDITORS[2]} not in sides
        gone = outputs[0].output_id
        assert all(gone not in (one.left_id, one.right_id) for one in workspace.store.records(Assignment))
        assert "Only 22 of 30" in told.to_json()["warnings"][-1]
