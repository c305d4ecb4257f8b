"""What a new user reads on the command line: which images were chosen, why others were not, and the next step."""

import io
import re
import shlex
from pathlib import Path

import pytest
from PIL import Image

from imarena.core.records import Item, Rater, Verification
from imarena.storage import open_workspace
from tests.command import Imarena
from tests.small_data.curation_library import make_instructions, make_library, photograph

CAT = ("cat", "Make the cat black.", "", "animals")
CUP = ("cup", "Paint the cup blue.", "", "food")


@pytest.fixture
def workspace(imarena: Imarena, tmp_path: Path) -> Path:
    imarena("init", tmp_path / "ws")
    return tmp_path / "ws"


def cut_cat() -> bytes:
    """The right three quarters of the bundled cat."""
    image = Image.open(io.BytesIO(photograph("cat")))
    file = io.BytesIO()
    image.crop((image.width // 4, 0, image.width, image.height)).save(file, "JPEG", quality=90)
    return file.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("swapped", [False, True])
def test_of_equal_scores_the_file_name_decides(
    imarena: Imarena, workspace: Path, tmp_path: Path, *, swapped: bool
) -> None:
    """The detector sees a cat in both; whichever image is called cat is chosen, and the command prints it."""
    folder = tmp_path / "photos"
    folder.mkdir()
    for name, data in zip(("cat", "ear"), (cut_cat(), photograph("cat"))[:: -1 if swapped else 1], strict=True):
        (folder / f"{name}.jpg").write_bytes(data)
    run = ("-w", workspace, "curate", "run", make_instructions(tmp_path / "t.csv", CAT), "-s", folder,
           "--licence", "CC0-1.0", "--min-long-side", 200, "--pool", 1)  # fmt: skip
    out = imarena(*run).out
    chosen = re.search(r"^  (cat-[0-9a-f]{8}): photos/cat\.jpg, score 1\.00$", out, re.MULTILINE)
    assert chosen, out
    assert f"imarena -w {workspace} curate log {chosen[1]}" in out
    (entry,) = imarena("--json", *run).json["requests"]
    assert entry["chosen"] == [{"item": chosen[1], "source": "photos", "file": "cat.jpg", "score": 1.0}]


def test_a_file_name_counts_less_than_a_description(imarena: Imarena, workspace: Path, tmp_path: Path) -> None:
    """No detector knows a fig: one file is called so, of the other its owner says so; a title does not hide a name."""
    folder = make_library(tmp_path / "photos", {"fig": "", "flower=plant": "a fig on a branch"}, licence="CC0-1.0")
    table = make_instructions(tmp_path / "t.csv", ("fig", "Paint the fig gold.", "", "food"))
    run = ("-w", workspace, "curate", "run", table, "-s", folder, "--no-describe", "--min-long-side", 200, "-d")
    out = imarena(*run, "two", "--pool", 2).out
    assert re.search(r"photos/plant\.jpg, score 0\.90\n  fig-\w+: photos/fig\.jpg, score 0\.85\n", out), out
    metadata = folder / "metadata.csv"
    metadata.write_text("file_name,title,licence\nfig.jpg,holiday,CC0-1.0\nplant.jpg,holiday,CC0-1.0\n")
    assert "photos/fig.jpg, score 0.85" in imarena(*run, "one", "--pool", 1).out


def test_images_that_are_too_small_are_the_reason_given_first(
    imarena: Imarena, workspace: Path, tmp_path: Path
) -> None:
    folder = make_library(tmp_path / "photos", {"cat": "a cat and a cup", "coffee": "a cup and a cat"})
    table = make_instructions(tmp_path / "t.csv", CAT, CUP)
    out = imarena("-w", workspace, "curate", "run", table, "-s", folder, "--no-describe", code=3).out
    why = "all 2 candidates are smaller than 2048 pixels (long side); lower the limit with --min-long-side N"
    assert out.count(f"manual review: {why}") == 2
    assert "left out: 2 x the long side is below 2048 pixels, such as photos/cat.jpg (400 x " in out
    assert "Images were too small: lower the limit with --min-long-side N" in out
    assert "describe your images" not in out, "words would not help"


@pytest.mark.slow
def test_a_near_duplicate_is_named_as_the_reason(imarena: Imarena, workspace: Path, tmp_path: Path) -> None:
    folder = make_library(tmp_path / "photos", {"cat": "a cat", "cat=same": "a cat", "coffee": "a cup"})
    (folder / "same.jpg").write_bytes(photograph("cat", long_side=380, quality=60))
    table = make_instructions(tmp_path / "t.csv", CAT, ("again", "Make the cat white.", "", "animals"))
    run = ("-w", workspace, "curate", "run", table, "-s", folder, "--min-long-side", 200, "--pool", 1)
    out = imarena(*run, code=3).out
    key = re.search(r"^  (cat-[0-9a-f]{8}): ", out, re.MULTILINE)
    assert key, out
    line = next(line for line in out.splitlines() if line.startswith("again: "))
    assert "no image was chosen in 4 rounds; the best other candidate, " in line
    assert f"scores 1.00 but is a near-duplicate of {key[1]} (likeness " in line
    assert "threshold" not in line
    assert "a near-duplicate of an image that was chosen, such as photos/" in out


def test_release_names_the_next_step(imarena: Imarena, workspace: Path, tmp_path: Path) -> None:
    folder = make_library(tmp_path / "photos", {"cat": "a cat"})
    table = make_instructions(tmp_path / "t.csv", CAT)
    imarena("-w", workspace, "curate", "run", table, "-s", folder, "-d", "raw", "--min-long-side", 200, "--pool", 1)
    release = ("-w", workspace, "curate", "release", "raw", "--to", "bench")
    out = imarena(*release, code=3).out
    here = f"imarena -w {workspace}"
    command = next(line.strip() for line in out.splitlines() if "campaign create" in line)
    assert command == (
        f"{here} campaign create 'Image check' --kind check --datasets raw --raters-per-unit 2 --adjudication rater"
    )
    imarena(*shlex.split(command)[1:])
    assert f"{here} campaign invite 'Image check' --name NAME" in imarena(*release, code=3).out
    assert "campaign create" not in imarena(*release, code=3).out, "it exists now"
    assert "--raters-per-unit 1" not in imarena(*release, "--verifiers", 1, code=3).out
    assert "verifiers" in imarena(*release, "--verifiers", 0, code=2).err


def test_progress_names_the_folder(tmp_path: Path) -> None:
    from imarena.curation import LocalLibrary

    folder = make_library(tmp_path / "photos", {"cat": "a cat"})
    stages: list[tuple[str, int, int | None]] = []
    LocalLibrary(folder, tmp_path / "index.db", name=folder.name).build(
        progress=lambda stage, done, total: stages.append((stage, done, total))
    )
    assert stages == [("images of photos", 1, 1)]


@pytest.mark.slow
def test_other_words_under_the_same_key_are_refused(imarena: Imarena, workspace: Path, tmp_path: Path) -> None:
    """An item is never changed: a run that kept the old words and reported the new ones would be a lie."""
    folder = make_library(tmp_path / "photos", {"cat": "a cat", "coffee": "a cup", "flower": "a blossom"})
    run = ("-w", workspace, "curate", "run", "-s", folder, "--no-describe", "--min-long-side", 200, "--pool", 1, "-d")
    first = imarena(*run, "raw", make_instructions(tmp_path / "t.csv", CAT, CUP)).out
    cat = re.search(r"^  (cat-\w+): photos/cat\.jpg", first, re.MULTILINE)
    assert cat, first
    white = make_instructions(tmp_path / "white.csv", ("cat", "Make the cat white.", "", "animals"), CUP)
    refused = imarena(*run, "raw", white, code=2).err
    assert "The data set 'raw' has items with another instruction, task or topic for: cat." in refused
    assert "--dataset NAME" in refused
    assert imarena(*run, "other", white).code == 0
    # another image for the same words: the first one stays, and the run names it
    (folder / "metadata.csv").write_text("file_name,shows,licence\nflower.jpg,a cat,CC0-1.0\n")
    out = imarena(*run, "raw", make_instructions(tmp_path / "t.csv", CAT)).out
    assert f"'raw' also has 1 item that earlier runs chose: {cat[1]}. To leave them out," in out


def test_a_task_is_read_in_any_spelling_and_an_unknown_one_is_named(
    imarena: Imarena, workspace: Path, tmp_path: Path
) -> None:
    folder = make_library(tmp_path / "photos", {"cat": "a cat", "coffee": "a cup"})
    table = make_instructions(
        tmp_path / "t.csv",
        ("cat", "Make the cat visible.", "Low-light enhancement", "animals"),
        ("cup", "Paint the cup blue.", "colour_change", "food"),
    )
    run = imarena("-w", workspace, "curate", "run", table, "-s", folder, "--min-long-side", 200, "--pool", 1, code=3)
    assert "and lacks condition: dark (for the task low_light_enhancement)" in run.out
    assert "cup: 'colour_change' is not a task of cv_arena and adds no requirements." in run.err
    assert "exposure_correction" in run.err
    assert run.err.count("is not a task") == 1


@pytest.mark.slow
def test_the_checks_that_are_missing_decide_the_next_step(imarena: Imarena, workspace: Path, tmp_path: Path) -> None:
    """One of two checks; a repair in a data set of its own; a dispute in a campaign without adjudication."""
    folder = make_library(tmp_path / "photos", {"cat": "a cat", "coffee": "a cup", "dogs": "two dogs"})
    dogs = ("dogs", "Turn the dogs around.", "", "animals")
    imarena("-w", workspace, "curate", "run", make_instructions(tmp_path / "t.csv", CAT, CUP, dogs), "-s", folder,
            "-d", "raw", "--no-describe", "--min-long-side", 200, "--pool", 1)  # fmt: skip
    imarena("-w", workspace, "campaign", "create", "It's first", "--kind", "check", "--dataset", "raw")
    answers = {"cat": ("repair", "repair"), "cup": ("accept",), "dogs": ("accept", "discard")}
    with open_workspace(workspace) as opened:
        opened.store.add([Rater(rater_id=name, name=name) for name in ("ann", "bob")])
        items = {str(item.provenance["request"]): item for item in opened.store.records(Item, dataset="raw")}
        opened.store.add(
            Verification(item_id=items[key].item_id, rater_id=name, checks={"feasible": decision == "accept"},
                         decision=decision, comment="too dark")
            for key, decisions in answers.items() for name, decision in zip(("ann", "bob"), decisions, strict=False)
        )  # fmt: skip
    imarena("-w", workspace, "curate", "repair", "raw", items["cat"].key, "--instruction", "Remove the cat.")
    out = imarena("-w", workspace, "curate", "release", "raw", "--to", "bench", code=3).out
    here = f"imarena -w {workspace}"
    assert f"{items['cup'].key}: 1 of 2 checks\n" in out
    assert "Verifiers agree on 50% of the items that several checked." in out, "the repaired item's checks count"
    quoted = shlex.quote("It's first")
    assert f"  {here} campaign change {quoted} --adjudication rater\n  {here} campaign invite {quoted} --name" in out
    assert (
        f"Next: let 2 people check each item of 'raw-repaired' (a third person decides about disputed ones):\n"
        f"  {here} campaign create 'Check of raw-repaired' --kind check --datasets raw-repaired --raters-per-unit 2"
        " --adjudication rater\n"
    ) in out
    for line in out.splitlines():
        if " campaign create " in line or " campaign change " in line:
            imarena(*shlex.split(line)[1:])
