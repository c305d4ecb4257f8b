"""curate run on a local library: the closed loop, checks, logs, bad files, keywords, instructions."""

import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from imarena.core.records import Evidence, Item
from imarena.storage import open_workspace
from tests.command import Imarena
from tests.small_data.curation_library import make_instructions, make_library, photograph

SMALL = ("--min-long-side", 300, "--pool", 1)
PUPPY = ("turn", "Turn the puppy so that it looks to the left.", "pose_transformation", "animals")


@pytest.fixture
def workspace(imarena: Imarena, tmp_path: Path) -> Path:
    imarena("init", tmp_path / "ws")
    return tmp_path / "ws"


def of(document: Any, key: str) -> Any:
    return next(entry for entry in document["requests"] if entry["key"] == key)


@pytest.mark.slow
def test_the_loop_recovers_by_reflection(imarena: Imarena, workspace: Path, tmp_path: Path) -> None:
    """The only image whose text says puppy shows a cup; the reflection makes the planner search for a dog."""
    library = make_library(
        tmp_path / "library",
        {"coffee": "puppy latte, a cup of coffee", "dogs": "a dog looks out of a door", "rocket": "a rocket at night"},
    )
    table = make_instructions(tmp_path / "t.csv", PUPPY)
    run = ("-w", workspace, "curate", "run", table, "-s", library, "-d", "pets", "--no-describe", *SMALL)
    done = imarena("--json", *run).json
    entry = of(done, "turn")
    assert entry["rounds"] == 2, "the first round has no dog"
    assert len(entry["items"]) == 1
    story = imarena("--json", "-w", workspace, "curate", "log", entry["items"][0]).json
    assert story["provenance"]["source_key"] == "dogs.jpg"
    assert story["licence"] == "CC-BY-4.0"
    steps = [line["step"] for line in story["story"]]
    assert steps.count("plan") == 2
    reflection = next(line for line in story["story"] if line["step"] == "reflect")
    assert reflection["facts"]["missing"] == ["thing: puppy"]
    assert reflection["facts"]["unexpected"] == ["cup"]
    plans = [line["facts"]["queries"] for line in story["story"] if line["step"] == "plan"]
    assert not any("dog" in query["text"] for query in plans[0])
    assert all("dog" in query["text"] for query in plans[1])
    assert all(query["exclude"] == ["cup"] for query in plans[1])
    text = imarena("-w", workspace, "curate", "log", entry["items"][0]).out
    assert "score 1.00 (thing: puppy 1.00)" in text
    # without the dog in the library, the same instruction ends with a person
    (library / "dogs.jpg").unlink()
    left = imarena("--json", *run, "--dataset", "none", code=3).json
    assert (
        "no image reached the threshold in 4 rounds; the best other candidate, coffee.jpg, scores 0.50 and lacks thing: puppy"
        in of(left, "turn")["review"]
    )
    assert of(left, "turn")["candidates"] == {"below": 1}


def test_bad_files_and_licences_are_refused_and_the_run_goes_on(
    imarena: Imarena, workspace: Path, tmp_path: Path
) -> None:
    library = tmp_path / "library"
    library.mkdir()
    (library / "cat one.jpg").write_bytes(photograph("cat"))
    (library / "cat copy.jpg").write_bytes(photograph("cat", long_side=380, quality=60))
    (library / "cat page.jpg").write_text("<html>this is a page</html>")
    (library / "cat small.jpg").write_bytes(photograph("cat", long_side=120))
    (library / "cat cut.jpg").write_bytes(photograph("cat")[:4000])
    image = Image.open(io.BytesIO(photograph("cat"))).rotate(90, expand=True)
    image.save(library / "cat turned.webp")
    table = make_instructions(
        tmp_path / "t.csv",
        ("cat", "Turn the cat so that it looks to the left.", "pose_transformation", "animals"),
        (
            "katze",
            "Entferne die Katze aus dem Bild und ersetze sie durch einen Hund.",
            "pose_transformation",
            "animals",
        ),
    )
    run = ("-w", workspace, "curate", "run", table, "-s", library, "-d", "cats", "--no-describe", *SMALL)
    without = imarena("--json", *run, code=3).json
    reasons = (
        [cause["cause"] for cause in without["left_out"]] if "cause" in without["left_out"][0] else without["left_out"]
    )
    assert "the source states no licence" in str(reasons)
    assert of(without, "cat")["items"] == []
    stated = imarena("--json", *run, "--licence", "CC0-1.0", code=3).json
    causes = str(stated["left_out"])
    assert "below 300 pixels" in causes
    assert of(stated, "cat")["candidates"] == {"chosen": 1, "duplicate": 1, "refused": 3, "below": 1} or (
        of(stated, "cat")["candidates"]["refused"] == 3 and of(stated, "cat")["candidates"]["chosen"] == 1
    )
    assert "near-duplicate" in causes
    assert "not in English" in of(stated, "katze")["review"]
    with open_workspace(workspace) as opened:
        item = next(opened.store.records(Item, dataset="cats"))
        assert item.sources[0].media_type in ("image/jpeg", "image/png")
        refused = [step for step in opened.store.records(Evidence, kind="curation_step")
                   if isinstance(step.value, dict) and step.value.get("step") == "refused"]  # fmt: skip
        assert {str(step.value["code"]) for step in refused if isinstance(step.value, dict)} >= {
            "licence", "not_an_image", "small",
        }  # fmt: skip
    imarena(*run, "--licence", "mine", code=2)


def test_a_source_needs_to_exist(imarena: Imarena, workspace: Path, tmp_path: Path) -> None:
    table = make_instructions(tmp_path / "t.csv", PUPPY)
    assert (
        "There is no source 'opnverse'"
        in imarena("-w", workspace, "curate", "run", table, "-s", "opnverse", code=2).err
    )
    assert "No source was named" in imarena("-w", workspace, "curate", "run", table, code=2).err
    (tmp_path / "empty").mkdir()
    assert "no images" in imarena("-w", workspace, "curate", "run", table, "-s", tmp_path / "empty", code=2).err
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("key,text\na,b\n")
    assert "no column 'instruction'" in imarena("-w", workspace, "curate", "run", wrong, "-s", tmp_path, code=2).err


def test_a_person_searches_with_keywords(imarena: Imarena, workspace: Path, tmp_path: Path) -> None:
    library = make_library(tmp_path / "library", {"cat": "a cat", "rocket": "a rocket at night"})
    done = imarena(
        "--json", "-w", workspace, "curate", "base", "Make the cat black.", "-q", "cat", "--key", "cat", "-s", library,
        "-d", "base", *SMALL,
    ).json  # fmt: skip
    story = imarena("--json", "-w", workspace, "curate", "log", of(done, "cat")["items"][0]).json
    assert story["provenance"]["curation_track"] == "base"
    assert [line["facts"]["queries"] for line in story["story"] if line["step"] == "plan"] == [
        [{"text": "cat", "exclude": [], "aspect": "keywords"}]
    ]


def test_instructions_get_variants_and_a_balance(imarena: Imarena, workspace: Path, tmp_path: Path) -> None:
    table = make_instructions(
        tmp_path / "t.csv",
        ("a", "Remove the red car. Add a tree on the left.", "object_insertion", "traffic"),
        ("b", "Close the laptop.", "functional_state_change", "household"),
    )
    report = imarena("--json", "-w", workspace, "curate", "instructions", table, "-O", tmp_path / "more.csv").json
    first = report["instructions"][0]
    assert any(text.startswith(("Erase", "Delete")) for text in first["paraphrases"])
    assert first["easier"].lower().startswith("remove the red car")
    assert len(report["balance"]["missing_tasks"]) == 14
    assert ["object_insertion", "household"] in report["balance"]["missing_cells"]
    again = imarena("--json", "-w", workspace, "curate", "instructions", tmp_path / "more.csv").json
    assert len(again["instructions"]) >= 5
