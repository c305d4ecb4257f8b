"""A campaign that shows edit regions: one region per item, the same in every task about it, and none that is not asked for."""

from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from imarena.core import Detection
from imarena.core.records import Evidence, Item
from imarena.images import EDIT_BOXES, boxes_value
from imarena.storage import open_workspace
from tests.web.people import administrator, campaign, rater, served

QUESTION = "Which result keeps more of what the instruction does not ask to change?"


@pytest.fixture
def app(tmp_path: Path) -> FastAPI:
    """Three items; the first two have regions, the second only one for another instruction."""
    made = served(tmp_path / "arena", items=3)
    with open_workspace(tmp_path / "arena") as workspace:
        items = sorted(workspace.store.records(Item), key=lambda item: item.key)
        for item, words, box in ((items[0], "make it red", (16, 12, 32, 48)), (items[1], "make it blue", (0, 0, 9, 9))):
            value = boxes_value([Detection(box, "edit", 1.0)], 64, 48)
            params: dict[str, Any] = {"instruction": words}
            source = item.sources[0].sha256
            workspace.store.add([Evidence(image_sha256=source, tool="t", kind=EDIT_BOXES, params=params, value=value)])
    return made


def test_every_task_about_an_item_has_its_region(app: FastAPI) -> None:
    admin = administrator(app)
    one = campaign(admin, dimension="visual_consistency", show_region=True)
    person = rater(app, admin, one)
    regions: list[Any] = []
    while (task := person.next(one)["task"]) is not None:
        assert task["question"] == QUESTION
        regions.append(task["region"])
        person.vote(task, preference="tie")
    assert len(regions) == 9
    known = [{"left": 0.25, "top": 0.25, "right": 0.5, "bottom": 1.0}]
    assert sorted(map(len, regions)) == [0] * 6 + [1] * 3, "a region of another instruction is not shown"
    assert [region for region in regions if region] == [known] * 3, "whichever editors are compared"


def test_a_campaign_that_does_not_ask_for_regions_sends_none(app: FastAPI) -> None:
    admin = administrator(app)
    one = campaign(admin)
    assert rater(app, admin, one).next(one)["task"]["region"] is None


def test_a_campaign_cannot_show_what_is_not_there(app: FastAPI, tmp_path: Path) -> None:
    admin = administrator(app)
    said = admin.post("/api/lead/campaigns", {"name": "r", "kind": "rating", "show_region": True}, code=400)
    assert "kind preference only" in said["message"]
    bare = administrator(served(tmp_path / "bare", items=1))
    said = bare.post("/api/lead/campaigns", {"name": "b", "show_region": True}, code=400)
    assert "none of its items has one" in said["message"]
