"""`imarena edival build` and `objects`: a folder of images becomes chains, and every image is accounted for."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from imarena.core import object_plan
from imarena.core.records import Evidence, Item, Output, Status
from imarena.storage import open_workspace
from tests.command import ROOT, Imarena, run_at_terminal
from tests.servers.fake_endpoint import Server, fake_server

PHOTOGRAPHS = ROOT / "src" / "imarena" / "studio" / "photographs"
EDITOR = "function:tests.workflow.edival_building.fake_vlm:same_image"
TABLE = """
[endpoints.{name}]
base_url = "{url}"
model = "{name}"
timeout_s = 20
max_attempts = 1
input_usd_per_million = 2.0
output_usd_per_million = 8.0
"""


def put_images(folder: Path, *names: str) -> Path:
    folder.mkdir(parents=True)
    for name in names:
        shutil.copy(PHOTOGRAPHS / name, folder / name)
    return folder


def items_in(root: Path, dataset: str) -> list[Item]:
    with open_workspace(root) as workspace:
        return list(workspace.store.records(Item, dataset=dataset))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a benchmark of two photographs; four other files are left out."""
    root = tmp_path_factory.mktemp("build")
    images = put_images(root / "pictures", "coffee.jpg", "dogs.jpg", "rocket.jpg")
    (images / "below").mkdir()
    shutil.copy(images / "dogs.jpg", images / "below" / "same dogs.jpg")
    Image.fromarray(np.full((90, 120, 3), 128, np.uint8)).save(images / "blank.png")
    (images / "broken.png").write_bytes(b"no image at all")
    (images / "notes.txt").write_text("not read")
    run = Imarena(root)
    run("-w", "a", "init")
    run("-w", "a", "edival", "build", "pictures", "--turns", "4", "--seed", "5", "--licence", "CC0-1.0")
    return root


def test_items_carry_chains_and_plans(built: Path) -> None:
    items = {item.key: item for item in items_in(built / "a", "pictures")}
    assert set(items) == {"coffee.jpg", "below/same dogs.jpg"}, "of two files with the same bytes, the first by name"
    coffee = items["coffee.jpg"]
    plan = object_plan(coffee)
    assert plan is not None
    assert {thing.object for thing in plan.objects} == {"cup", "spoon"}
    assert all(thing.material is None for thing in plan.objects), "nobody can see a material offline"
    assert plan.seed == 5
    assert plan.tools["detector"] == "efficientdet"
    assert [turn.task for turn in coffee.turns] == [turn.type for turn in plan.turns]
    assert (coffee.licence, coffee.taxonomy, len(coffee.turns)) == ("CC0-1.0", "edival", 4)


def test_every_file_is_counted_and_a_second_build_adds_nothing(built: Path) -> None:
    again = Imarena(built)("-w", "a", "--json", "edival", "build", "pictures", "--turns", "4", "--seed", "5").json
    assert again["outcomes"] == {"ok": 2, "no_objects": 1, "unsuitable": 1, "invalid_image": 1, "same_image": 1}
    assert (again["images"], again["items"], again["items_before"], again["decomposed_before"]) == (6, 0, 2, 4)
    reasons = " ".join(cause["reason"] for cause in again["reasons"])
    assert "blank" in reasons
    assert "the detector finds no object" in reasons
    assert again["statistics"]["images"] == 2
    assert sum(map(sum, again["statistics"]["types"].values())) == 8
    assert again["statistics"]["categories"]["Food & Kitchen"] == 2


def test_reasons_are_kept_in_the_store(built: Path) -> None:
    with open_workspace(built / "a") as workspace:
        kept = [evidence.value for evidence in workspace.store.records(Evidence, kind="edival.scene")]
    outcomes = sorted(str(value["outcome"]) for value in kept if isinstance(value, dict))
    assert outcomes == ["no_objects", "ok", "ok", "unsuitable"]
    assert any("dining table" in str(value) for value in kept), "objects that were left out are kept with their reasons"


def test_the_same_seed_gives_the_same_items_and_another_does_not(built: Path) -> None:
    run = Imarena(built)
    for dataset, seed in (("one", "5"), ("two", "6")):
        run("-w", "a", "edival", "build", "pictures", "-d", dataset, "--turns", "4", "--seed", seed)
    words = {dataset: [item.turns for item in items_in(built / "a", dataset)] for dataset in ("pictures", "one", "two")}
    assert words["one"] == words["pictures"]
    assert words["two"] != words["pictures"]
    refused = run("-w", "a", "edival", "build", "pictures", "-d", "one", "--seed", "7", code=2)
    assert "made in another way" in refused.err


def test_images_without_objects_are_kept_on_request(built: Path) -> None:
    options = ("--keep-empty", "-d", "empty", "--turns", "2")
    report = Imarena(built)("-w", "a", "--json", "edival", "build", "pictures", *options).json
    assert report["items"] == 3
    [empty] = [item for item in items_in(built / "a", "empty") if item.key == "rocket.jpg"]
    assert empty.turns[0].task == "subject_add"
    assert empty.turns[0].instruction.endswith("to the scene.")


def test_edits_in_every_mode_with_every_connector(built: Path) -> None:
    run = Imarena(built)
    made = {"multi-turn": 8, "shuffle": 2, "sequential": 2, "keep-unchanged": 8}
    for name, number in made.items():
        mode = ("multi-turn",) if name == "multi-turn" else ("complex", "--connector", name)
        levels = ("--levels", "all") if name == "keep-unchanged" else ()
        options = ("--mode", *mode, *levels, "--as", name, "--no-sheet", "--no-checks")
        report = run("-w", "a", "--json", "edit", "-e", EDITOR, "-d", "pictures", *options).json
        assert report["report"]["outputs"] == {"ok": number}, name
    with open_workspace(built / "a") as workspace:
        joined = list(workspace.store.records(Output, editor="keep-unchanged"))
    assert sorted(output.turn for output in joined) == [0, 0, 1, 1, 2, 2, 3, 3]
    assert {output.params["connector"] for output in joined} == {"keep-unchanged"}
    options = ("-d", "pictures", "--mode", "complex", "--connector")
    mixed = run("-w", "a", "edit", "-e", EDITOR, *options, "shuffle", "--as", "sequential", code=2)
    assert "made in another way" in mixed.err
    hint = run("-w", "a", "edit", "-e", EDITOR, *options, "sequental", code=2)
    assert "sequential" in hint.err


def test_an_in_context_editor_gets_the_conversation(built: Path) -> None:
    editor = EDITOR.replace("same_image", "conversation")
    options = ("--mode", "multi-turn", "--as", "chatty", "--option", "in_context=true", "--no-sheet", "--no-checks")
    Imarena(built)("-w", "a", "edit", "-e", editor, "-d", "pictures", *options)
    with open_workspace(built / "a") as workspace:
        made = list(workspace.store.records(Output, editor="chatty"))
    assert sorted(output.image.width or 0 for output in made if output.image) == [16, 16, 17, 17, 18, 18, 19, 19]
    assert all(output.params == {"in_context": True} for output in made)


def test_objects_of_one_picture(built: Path) -> None:
    run = Imarena(built)
    coffee = run("edival", "objects", "pictures/coffee.jpg")
    assert "spoon" in coffee.out
    assert "left out: dining table" in coffee.out
    rocket = run("--json", "edival", "objects", "pictures/rocket.jpg").json
    assert (rocket["outcome"], rocket["contents"]) == ("no_objects", None)
    assert run("--json", "edival", "objects", "pictures/broken.png", code=3).json["outcome"] == "failed"
    assert "There is no detector" in run("edival", "objects", "pictures/coffee.jpg", "--detector", "nosuch", code=2).err


def test_a_dry_run_counts_and_stores_nothing(built: Path) -> None:
    run = Imarena(built)
    run("-w", "dry", "init")
    plan = run("-w", "dry", "--json", "edival", "build", "pictures", "--dry-run").json
    assert (plan["images"], plan["unreadable"], plan["same"]) == (6, 1, 1)
    assert (plan["to_decompose"], plan["decomposed_before"], plan["chains_at_most"]) == (4, 0, 4)
    assert (plan["questions_at_most"], plan["cost_usd"]) == (0, 0.0)
    assert plan["seconds"] > 0
    assert "one image measured" in plan["basis"][0]
    with open_workspace(built / "dry") as workspace:
        assert not list(workspace.store.records(Item))
        assert not list(workspace.store.records(Evidence))
    options = ("--turns", "4", "--seed", "5", "--dry-run")
    done = run("-w", "a", "--json", "edival", "build", "pictures", *options).json
    assert (done["to_decompose"], done["decomposed_before"], done["items_before"]) == (0, 4, 2)
    assert done["seconds"] == 0.0
    assert "to decompose: 0 (4 decomposed before)" in run("-w", "a", "edival", "build", "pictures", *options).out
    assert "There is no folder" in run("-w", "a", "edival", "build", "nowhere", "--dry-run", code=2).err


# ---------------------------------------------------------------- with a model


@pytest.fixture(scope="module")
def vlm() -> Iterator[Server]:
    with fake_server("--answer", "tests.workflow.edival_building.fake_vlm:answer") as server:
        yield server


@pytest.fixture
def arena(tmp_path: Path, vlm: Server) -> Path:
    """A workspace and the photograph of two dogs; each endpoint is named after what the model answers."""
    put_images(tmp_path / "pictures", "dogs.jpg")
    Imarena(tmp_path)("-w", "a", "init")
    tables = (
        TABLE.format(name=name, url=vlm.url) for name in ("good", "ghosts", "hostile", "empty", "prose", "private")
    )
    with (tmp_path / "a" / "imarena.toml").open("a") as file:
        file.write("".join(tables))
    return tmp_path


def test_a_model_lists_and_the_detector_confirms(arena: Path, vlm: Server) -> None:
    before = vlm.counts()
    options = ("--decomposer", "good", "--writer", "good", "--turns", "9", "--seed", "3")
    report = Imarena(arena)("-w", "a", "--json", "edival", "build", "pictures", *options).json
    assert report["outcomes"] == {"ok": 1}
    assert report["cost_usd"] > 0
    [item] = items_in(arena / "a", "pictures")
    plan = object_plan(item)
    assert plan is not None
    [dog] = plan.objects
    assert (dog.name, dog.material, dog.count, len(dog.boxes)) == ("fur brown dog", "fur", 2, 2)
    reasons = " ".join(cause["reason"] for cause in report["reasons"])
    assert "a person" in reasons
    assert "the detector does not find it" in reasons
    words = " ".join(turn.instruction for turn in item.turns)
    assert "skateboard" in words
    assert "FETCH IT" in words
    assert item.topic == "indoor"
    again = Imarena(arena)("-w", "a", "--json", "edival", "build", "pictures", *options).json
    assert (again["items"], again["items_before"], again["cost_usd"]) == (0, 1, 0.0)
    asked = {name: vlm.counts()[name] - before[name] for name in ("requests",)}
    Imarena(arena)("-w", "a", "edival", "build", "pictures", *options)
    assert {name: vlm.counts()[name] - before[name] for name in ("requests",)} == asked, "nothing is paid for twice"


@pytest.mark.parametrize(
    ("model", "outcome", "code", "words"),
    [
        ("ghosts", "nothing_found", 0, "finds none of the listed objects"),
        ("empty", "no_objects", 0, "lists no object"),
        ("private", "unsuitable", 0, "an identity card"),
        ("prose", "failed", 3, "unparsable"),
    ],
)
def test_images_that_get_no_chain_have_an_outcome(arena: Path, model: str, outcome: str, code: int, words: str) -> None:
    report = Imarena(arena)("-w", "a", "--json", "edival", "build", "pictures", "--decomposer", model, code=code).json
    assert report["outcomes"] == {outcome: 1}
    assert report["items"] == 0
    assert words in " ".join(cause["reason"] for cause in report["reasons"])
    with open_workspace(arena / "a") as workspace:
        [stored] = workspace.store.records(Evidence, kind="edival.scene")
    assert (stored.status is Status.UNPARSABLE) == (model == "prose")


def test_a_hostile_reply_adds_nothing_but_checked_names(arena: Path) -> None:
    options = ("--decomposer", "hostile", "--writer", "hostile", "--turns", "9")
    report = Imarena(arena)("-w", "a", "--json", "edival", "build", "pictures", *options).json
    [item] = items_in(arena / "a", "pictures")
    plan = object_plan(item)
    assert plan is not None
    assert [(thing.name, thing.count, thing.text, thing.color) for thing in plan.objects] == [("dog", 1, None, None)]
    written = " ".join(turn.instruction for turn in item.turns)
    assert "gnore" not in written
    assert "script" not in written
    assert sum(report["refused_words"].values()) > 0
    assert all("refused" in reason for reason in report["refused_words"])


def test_a_dry_run_with_a_model_has_a_price_and_asks_nothing(arena: Path, vlm: Server) -> None:
    before = vlm.counts()
    options = ("--decomposer", "good", "--writer", "good", "--turns", "3", "--dry-run")
    plan = Imarena(arena)("-w", "a", "--json", "edival", "build", "pictures", *options).json
    assert plan["questions_at_most"] == 2 + 3
    assert plan["cost_usd"] > 0
    assert plan["seconds"] > 0
    assert vlm.counts() == before
    report = Imarena(arena)("-w", "a", "--json", "edival", "build", "pictures", *options[:-1]).json
    assert vlm.counts()["requests"] - before["requests"] <= plan["questions_at_most"]
    assert report["cost_usd"] > 0


def test_an_unknown_endpoint_is_named(arena: Path) -> None:
    assert (
        "There is no endpoint called 'god'"
        in Imarena(arena)("-w", "a", "edival", "build", "pictures", "--decomposer", "god", code=2).err
    )


def test_a_dry_run_estimates_as_judges_do(arena: Path, vlm: Server) -> None:
    """The size of images as sent, the endpoint's rate limit, and what earlier questions took."""
    for number in range(3):
        noise = np.random.default_rng(number).integers(0, 255, (40, 40, 3), np.uint8)
        Image.fromarray(noise).resize((4000, 4000)).save(arena / "pictures" / f"{number}.png", compress_level=1)
    (arena / "pictures" / "dogs.jpg").unlink()
    with (arena / "a" / "imarena.toml").open("a") as file:
        for name, more in (("small", ""), ("slow", "requests_per_minute = 1")):
            file.write(TABLE.format(name=name, url=vlm.url).replace(f'"{name}"', '"good"') + "max_image_side = 512\n")
            file.write(more + "\n")
    run = Imarena(arena)
    large, small, slow = (
        run("-w", "a", "--json", "edival", "build", "pictures", "--decomposer", name, "--dry-run").json
        for name in ("good", "small", "slow")
    )
    assert [plan["questions_at_most"] for plan in (large, small, slow)] == [6, 6, 6]
    image_tokens = 6 * (1536 * 1536 - 512 * 512) / (28 * 28)  # without a limit, images are sent with 1536 pixels
    assert large["cost_usd"] - small["cost_usd"] == pytest.approx(image_tokens * 2e-6, rel=0.01)
    assert slow["seconds"] >= 300
    assert "at most 1 requests a minute" in str(slow["basis"])
    run("-w", "a", "edival", "build", "pictures", "--decomposer", "small", "--limit", "1")
    measured = run("-w", "a", "--json", "edival", "build", "pictures", "--decomposer", "small", "--dry-run").json
    assert "tokens as in 2 earlier replies" in str(measured["basis"])
    assert "median of 2 earlier ones" in str(measured["basis"])


def test_a_person_confirms_before_a_build_costs_money(arena: Path, vlm: Server) -> None:
    command = ("-w", "a", "edival", "build", "pictures", "--decomposer", "good")
    before = vlm.counts()["requests"]
    code, err = run_at_terminal(arena, "n", *command)
    assert code == 0
    assert "questions to models: 2 at most" in err
    assert "Go on?" in err
    assert "Nothing was built" in err
    assert (vlm.counts()["requests"], items_in(arena / "a", "pictures")) == (before, [])
    for reply, options in (("n", ("--yes",)), ("y", ("-d", "second"))):
        code, err = run_at_terminal(arena, reply, *command, *options)
        assert code == 0, err
    assert len(items_in(arena / "a", "pictures")) == len(items_in(arena / "a", "second")) == 1
