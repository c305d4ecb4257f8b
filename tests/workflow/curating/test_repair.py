"""A failed check goes to the repair list: another candidate, a crop or a new instruction, checked again; or discard."""

from pathlib import Path

import pytest

from imarena.core.records import Item, Rater, Verification
from imarena.routing.forms import forms
from imarena.storage import open_workspace
from tests.command import Imarena
from tests.curation_library import make_instructions, make_library

SMALL = ("--min-long-side", 300)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    texts = {"cat": "a cat", "coffee": "a cup of coffee", "dogs": "two dogs", "dogs=small": "dogs at a door"}
    return make_library(tmp_path_factory.mktemp("repair") / "library", texts)


def check(root: Path, dataset: str, failing: dict[str, str]) -> None:
    """Two people check every item; what `failing` names is not feasible for both."""
    with open_workspace(root) as workspace:
        workspace.store.add([Rater(rater_id=name, name=name) for name in ("ann", "bob")])
        for item in list(workspace.store.records(Item, dataset=dataset)):
            decision = failing.get(item.key.split("-")[0], "accept")
            passed = {question.name: decision == "accept" or question.name != "feasible" for question in forms().checks}
            workspace.store.add(
                Verification(item_id=item.item_id, rater_id=name, checks=passed, decision=decision, comment="too dark")
                for name in ("ann", "bob")
            )


def test_failed_items_are_repaired_checked_again_and_released(imarena: Imarena, library: Path, tmp_path: Path) -> None:
    table = make_instructions(
        tmp_path / "t.csv",
        ("cat", "Make the cat black.", "", "animals"),
        ("cup", "Remove the spoon next to the cup.", "", "food"),
        ("dogs", "Turn the dogs around.", "", "animals"),
    )
    workspace = tmp_path / "ws"
    imarena("init", workspace)
    run = imarena("--json", "-w", workspace, "curate", "run", table, "-s", library, "-d", "raw", "--pool", 1, *SMALL)
    keys = {entry["key"]: entry["items"][0] for entry in run.json["requests"]}
    assert imarena("-w", workspace, "curate", "repair", "raw").out == "No item of 'raw' is on the repair list.\n"
    check(workspace, "raw", dict.fromkeys(("cat", "cup", "dogs"), "repair"))
    released = imarena("--json", "-w", workspace, "curate", "release", "raw", "--to", "bench", code=3).json
    assert released["counts"] == {"repair": 3}

    listed = imarena("--json", "-w", workspace, "curate", "repair", "raw", code=3).json["repair"]
    assert {entry["key"] for entry in listed} == set(keys.values())
    assert listed[0]["failed"] == ["feasible"]
    assert listed[0]["comments"] == ["too dark", "too dark"]
    assert {entry["candidates"] for entry in listed} == {0}, "a near-duplicate of a failed image is no candidate"

    repair = ("-w", workspace, "curate", "repair", "raw")
    assert "Choose one way" in imarena(*repair, keys["cat"], code=2).err
    assert "No other candidate is left" in imarena(*repair, keys["cat"], "--candidate", code=2).err
    assert "not a box" in imarena(*repair, keys["cat"], "--crop", "all", code=2).err
    assert "inside the image of 400 x" in imarena(*repair, keys["cat"], "--crop", "0,0,900,900", code=2).err
    assert "below 300 pixels" in imarena(*repair, keys["cat"], "--crop", "0,0,90,90", code=2).err
    cropped = imarena("--json", *repair, keys["cat"], "--crop", "10,0,390,250").json
    assert cropped["dataset"] == "raw-repaired"
    worded = imarena("--json", *repair, keys["cup"], "--instruction", "Make the cup blue.").json
    assert imarena(*repair, keys["dogs"], "--discard").out == f"{keys['dogs']}: discarded.\n"
    assert "not on the repair list" in imarena(*repair, keys["dogs"], "--discard", code=2).err

    with open_workspace(workspace) as opened:
        items = {item.key: item for item in opened.store.records(Item, dataset="raw-repaired")}
        assert (items[cropped["item"]].sources[0].width, items[cropped["item"]].sources[0].height) == (380, 250)
        assert items[worded["item"]].instruction == "Make the cup blue."
        assert items[worded["item"]].licence == "CC0-1.0"
    again = imarena("--json", "-w", workspace, "curate", "release", "raw", "--to", "bench", code=3).json
    assert again["counts"] == {"not checked": 2, "discard": 1}, "a repair has to be checked"

    check(workspace, "raw-repaired", {"cup": "repair"})
    done = imarena("--json", "-w", workspace, "curate", "release", "raw", "--to", "bench", code=3).json
    assert (done["counts"], done["new_items"]) == ({"accept": 1, "repair": 1, "discard": 1}, 1)
    # a repair may fail, too: the second one goes to a data set of its own again
    second = imarena("--json", *repair, worded["item"], "--instruction", "Remove the cup.").json
    assert (second["dataset"], second["item"][-3:]) == ("raw-repaired-2", "-r2")
    check(workspace, "raw-repaired-2", {})
    last = imarena("--json", "-w", workspace, "curate", "release", "raw", "--to", "bench").json
    assert (last["counts"], last["complete"]) == ({"accept": 2, "discard": 1}, True)
    assert [each["replaced"] for each in last["decisions"] if each["key"] == second["item"]] == [
        [keys["cup"], worded["item"]]
    ]
    story = imarena("-w", workspace, "curate", "log", second["item"]).out
    assert f"{keys['cup']} (not met: feasible): new instruction 'Make the cup blue.'" in story
    assert "ann: repair (not met: feasible): too dark" in story
    assert "ann: accept: too dark" in story, "the checks of the repair, for the released item, too"
    assert imarena("-w", workspace, "verify", "--deep").code == 0


def test_another_candidate_of_the_pool_takes_its_place(imarena: Imarena, tmp_path: Path) -> None:
    texts = {"dandelion": "a flower in a meadow", "flower": "an orange flower"}
    library = make_library(tmp_path / "library", texts)
    table = make_instructions(tmp_path / "t.csv", ("bloom", "Make the flower blue.", "", "nature"))
    workspace = tmp_path / "ws"
    imarena("init", workspace)
    run = ("-w", workspace, "curate", "run", table, "-s", library, "-d", "raw", "--pool", 1, *SMALL)
    first = imarena("--json", *run).json["requests"][0]["items"][0]
    check(workspace, "raw", {"bloom": "repair"})
    assert imarena("--json", "-w", workspace, "curate", "repair", "raw", code=3).json["repair"][0]["candidates"] == 1
    made = imarena("--json", "-w", workspace, "curate", "repair", "raw", first, "--candidate").json
    with open_workspace(workspace) as opened:
        old, new = (next(opened.store.records(Item, key=key)) for key in (first, made["item"]))
        assert {old.provenance["source_key"], new.provenance["source_key"]} == {"dandelion.jpg", "flower.jpg"}
        assert new.provenance["repaired_item"] == old.item_id
    assert "another candidate, score" in imarena("-w", workspace, "curate", "log", made["item"]).out
