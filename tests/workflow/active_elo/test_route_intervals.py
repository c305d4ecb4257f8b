"""`route rerank` prints no interval of zero width: a family of one item has none, and says why."""

from pathlib import Path
from typing import Any

from imarena.core.records import Item, Judgment, Output, Turn
from imarena.storage import init_workspace
from tests.command import Imarena
from tests.samples import picture_of
from tests.workflow.active_elo.routed_arena import EDITORS, STRENGTH, assigned, fill, vote_all


def test_a_family_of_one_item_has_no_intervals(imarena: Imarena, tmp_path: Path) -> None:
    arena, sheet = tmp_path / "arena", tmp_path / "sheet.csv"
    with init_workspace(arena) as workspace:
        fill(workspace, n_items=8)
        item = Item(dataset="d", key="lone", turns=(Turn(instruction="edit"),), family="lone")
        outputs = [
            Output(item_id=item.item_id, editor=editor, image=picture_of(workspace, f"lone-{editor}"))
            for editor in EDITORS
        ]
        workspace.store.add([item])
        workspace.store.add(outputs)
        workspace.store.add(
            Judgment(
                work_id=f"lone{one.editor}", judge="robot", item_id=item.item_id, left_id=one.output_id,
                score=500 + 120 * STRENGTH[one.editor or ""],
            )
            for one in outputs
        )  # fmt: skip
    more = ("--budget", 72, "--raters", "ann", "--policy", "random", "--repeats", "0")
    assert assigned(imarena, arena, sheet, *more)["battles"] == 72
    imarena("-w", arena, "route", "ingest", vote_all(arena, sheet, 1))
    imarena("-w", arena, "route", "calibrate", "--rounds", "0")
    settings = "corrected,active-elo,mixture,human"
    found = imarena("-w", arena, "--json", "route", "rerank", "--settings", settings, "--by-family").json["boards"]
    assert len(found) == 4 * 3
    standings: list[Any] = [row for board in found for row in board["models"]]
    assert all(row["note"] if row["low"] is None else row["low"] < row["high"] for row in standings)
    (lone,) = (board for board in found if (board["setting"], board["scope"]) == ("mixture", {"family": "lone"}))
    assert all((row["low"], row["high"], row["rank_low"], row["rank_high"]) == (None,) * 4 for row in lone["models"])
    assert {row["note"] for row in lone["models"]} == {"only one item"}
    assert "no_interval" in [notice["code"] for notice in lone["notices"]]
