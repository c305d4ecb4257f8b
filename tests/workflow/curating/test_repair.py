"""A failed check goes to the repair list: another candidate, a crop or a new instruction, checked again; or discard."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from imarena.core import UserError
from imarena.core.records import Item, Rater, Verification
from imarena.curation import CurationRequest, CurationSettings, LocalLibrary, Perception, RuleCurationPlanner
from imarena.routing.forms import forms
from imarena.storage import Workspace, init_workspace, open_workspace
from imarena.workflows.curating import (
    CurationSetup,
    RepairChange,
    RepairSession,
    curate,
    item_story,
    release_items,
)
from imarena.workflows.curating.repair import repaired_dataset
from tests.command import Imarena
from tests.small_data.curation_library import make_instructions, make_library

SMALL = ("--min-long-side", 300)


@pytest.fixture
def collected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    """Two photographs of a blossom, of which one was chosen and sent to repair; no detector runs."""
    monkeypatch.setattr("imarena.curation.perceive", lambda shown: Perception(shown.shape[1], shown.shape[0]))
    folder = make_library(tmp_path / "library", {"dandelion": "a blossom in a meadow", "flower": "an orange blossom"})
    with init_workspace(tmp_path / "ws") as workspace:
        library = LocalLibrary(folder, tmp_path / "index.db", name="library")
        library.build()
        settings = CurationSettings(pool=1, min_long_side=300)
        setup = CurationSetup("raw", [library.source()], RuleCurationPlanner(), settings)
        curate(workspace, [CurationRequest("bloom", "Make the blossom blue.")], setup)
    check(tmp_path / "ws", "raw", {"bloom": "repair"})
    with open_workspace(tmp_path / "ws") as workspace:
        yield workspace


def only(workspace: Workspace, dataset: str) -> Item:
    (item,) = workspace.store.records(Item, dataset=dataset)
    return item


@pytest.mark.parametrize(
    ("change", "size", "instruction"),
    [
        (RepairChange(candidate=True), None, "Make the blossom blue."),
        (RepairChange(crop="10,0,390,210"), (380, 210), "Make the blossom blue."),
        (RepairChange(instruction="Remove  the blossom."), None, "Remove the blossom."),
    ],
)
def test_a_repair_is_a_new_item_with_its_log(
    collected: Workspace, change: RepairChange, size: tuple[int, int] | None, instruction: str
) -> None:
    old = only(collected, "raw")
    (entry,) = RepairSession(collected, "raw", {}).entries()
    assert (entry.key, entry.failed, entry.candidates) == (old.key, ("feasible",), 1)
    result = RepairSession(collected, "raw", {}).repair(old.key, change, RuleCurationPlanner())
    new = only(collected, "raw-repaired")
    assert (result.item, new.provenance["repaired_item"], new.instruction) == (new.key, old.item_id, instruction)
    assert (new.sources[0] != old.sources[0]) == (not change.instruction)
    assert size is None or (new.sources[0].width, new.sources[0].height) == size
    assert new.licence
    assert RepairSession(collected, "raw", {}).entries() == [], "it waits for people now"
    assert release_items(collected, "raw", "bench").counts == {"not checked": 1}
    check(collected.root, "raw-repaired", {})
    report = release_items(collected, "raw", "bench")
    assert (report.counts, report.new_items, report.decisions[0].replaced) == ({"accept": 1}, 1, (old.key,))
    story = [line.text for line in item_story(collected, new.key).lines]
    assert any(
        text.startswith(f"{old.key} (not met: feasible): ") and text.endswith(f"now {new.key}") for text in story
    )
    own = {line.step for line in item_story(collected, new.key).lines if line.own}
    assert {"image", "caption", "score"} <= own, "a crop keeps where its image came from"
    assert {"ann: repair (not met: feasible): too dark", "ann: accept: too dark"} <= set(story)
    with pytest.raises(UserError, match="There is no item"):
        RepairSession(collected, "raw", {}).repair(old.key, change, RuleCurationPlanner())


def test_what_cannot_be_repaired_is_refused_or_discarded(collected: Workspace) -> None:
    key = only(collected, "raw").key
    desk = RepairSession(collected, "raw", {})
    for change, reason in (
        (RepairChange(), "Choose one way"),
        (RepairChange(candidate=True, discard=True), "Choose one way"),
        (RepairChange(crop="0,0,x,9"), "is not a box"),
        (RepairChange(crop="0,0,9000,9000"), "is not inside"),
        (RepairChange(crop="0,0,200,200"), "below 300 pixels"),
    ):
        with pytest.raises(UserError, match=reason):
            desk.repair(key, change, RuleCurationPlanner())
    assert list(collected.store.records(Item, dataset="raw-repaired")) == []
    with pytest.raises(UserError, match="No other candidate"):
        RepairSession(collected, "raw", {"threshold": 0.95}).repair(
            key, RepairChange(candidate=True), RuleCurationPlanner()
        )
    desk.repair(key, RepairChange(discard=True), RuleCurationPlanner())
    report = release_items(collected, "raw", "bench")
    assert (report.counts, report.complete, report.new_items) == ({"discard": 1}, True, 0)
    with pytest.raises(UserError, match="not on the repair list: its decision is 'discard'"):
        RepairSession(collected, "raw", {}).repair(key, RepairChange(discard=True), RuleCurationPlanner())
    assert [repaired_dataset(name) for name in ("a", "a-repaired", "a-repaired-2")] == [
        "a-repaired", "a-repaired-2", "a-repaired-3",
    ]  # fmt: skip


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


@pytest.mark.slow
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
