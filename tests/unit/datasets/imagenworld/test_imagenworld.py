"""ImagenWorld folders: items with both prompts, outputs, scores, ratings with issue tags, segment masks."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from imarena.core.errors import UserError
from imarena.core.records import Evidence, Item, Judgment, Output, Rater, Vote
from imarena.datasets import taxonomy
from imarena.datasets.imagenworld import importer as imagenworld
from tests.unit.datasets.bad_pictures import BROKEN, UNUSUAL
from tests.unit.datasets.intake import MemoryIntake, import_all, picture

SCORES = {"prompt_relevance": 5, "aesthetic_quality": 4, "content_coherence": 3, "artifacts": 2}


def told(intake: MemoryIntake) -> list[str]:
    return [str(skip) for skip in intake.skips]


def put(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())


def item(root: Path, key: str, conditions: int, **metadata: Any) -> Path:
    directory = root / key.split("_", maxsplit=1)[0] / key
    names = [f"{n}.png" for n in range(conditions)]
    for n, name in enumerate(names):
        put(directory / name, picture(len(key) * 10 + n))
    entry = {"prompt": "draw cat", "prompt_refined": "Draw a cat.", "task": "x", "cond_images": names, **metadata}
    put(directory / "metadata.json", entry)
    for n, editor in enumerate(("sdxl", "gpt-image-1")):
        put(directory / "model_output" / f"{editor}.png", picture(200 + len(key) + n))
    put(directory / "gemini_result.json", {"gemini": {"sdxl": SCORES, "gpt-image-1": dict.fromkeys(SCORES, 1)}})
    return directory


@pytest.fixture
def world(tmp_path: Path) -> Path:
    item(tmp_path, "TIG_A_000001", 0)
    item(tmp_path, "SRIE_CG_000002", 2)
    item(tmp_path, "MRIG_T_000003", 3)
    return tmp_path


def test_items_outputs_and_scores(world: Path) -> None:
    intake = import_all(imagenworld.read, world)
    assert told(intake) == []
    items = {entry.key: entry for entry in intake.all(Item)}
    assert {key: (len(i.sources), len(i.references), i.family) for key, i in items.items()} == {
        "TIG_A_000001": (0, 0, "generation"),
        "SRIE_CG_000002": (1, 1, "editing"),
        "MRIG_T_000003": (0, 3, "generation"),
    }
    turn = items["TIG_A_000001"].turns[0]
    assert (turn.instruction, turn.original_instruction) == ("Draw a cat.", "draw cat")
    assert len(intake.all(Output)) == 6
    first = intake.all(Judgment)[0]
    assert first.scores == SCORES
    assert first.score == pytest.approx((1 + 0.75 + 0.5 + 0.25) / 4)
    assert {judgment.score for judgment in intake.all(Judgment)} == {first.score, 0.0}


def test_tasks_and_topics_are_those_of_the_taxonomy(world: Path) -> None:
    known = taxonomy.load_taxonomy("imagenworld")
    for entry in import_all(imagenworld.read, world).all(Item):
        assert entry.task in {task.name for task in known.tasks}
        assert entry.topic in {topic.name for topic in known.topics}
        assert entry.family in {family.name for family in known.families}


def test_one_item_folder_can_be_named(world: Path) -> None:
    intake = import_all(imagenworld.read, world / "SRIE" / "SRIE_CG_000002")
    assert told(intake) == []
    assert len(intake.all(Item)[0].references) == 1


def test_human_ratings_and_their_issue_tags(world: Path) -> None:
    directory = world / "TIG" / "TIG_A_000001"
    put(directory / "human_result.json", {"r1": {"sdxl": {**SCORES, "objects": ["cat"], "segments": [3]}}})
    intake = import_all(imagenworld.read, world)
    assert told(intake) == []
    (vote,) = intake.all(Vote)
    assert (vote.ratings, vote.scale) == (SCORES, (1.0, 5.0))
    assert [(issue.kind, issue.label, issue.segment) for issue in vote.issues] == [
        ("object", "cat", None),
        ("segment", "", 3),
    ]
    assert [rater.rater_id for rater in intake.all(Rater)] == ["imagenworld/r1"]


def test_masks_become_evidence(world: Path) -> None:
    directory = world / "TIG" / "TIG_A_000001" / "SoM" / "sdxl"
    directory.mkdir(parents=True)
    stack = np.zeros((2, 16, 24), dtype=bool)
    stack[0, 2:5, 3:9] = True
    np.savez(directory / "masks.npz", masks=stack)
    intake = import_all(imagenworld.read, world)
    (evidence,) = intake.all(Evidence)
    assert evidence.value == {
        "width": 24,
        "height": 16,
        "segments": [
            {"segment": 1, "area": 18, "box": [3, 2, 9, 5]},
            {"segment": 2, "area": 0, "box": None},
        ],
    }
    assert evidence.image_sha256 in intake.blobs


def test_a_map_of_numbers_is_several_masks(world: Path) -> None:
    directory = world / "TIG" / "TIG_A_000001" / "SoM" / "sdxl"
    directory.mkdir(parents=True)
    numbers = np.zeros((4, 4), dtype=np.int32)
    numbers[0], numbers[1] = 1, 2
    np.savez(directory / "masks.npz", numbers)
    (evidence,) = import_all(imagenworld.read, world).all(Evidence)
    assert isinstance(evidence.value, dict)
    assert evidence.value["segments"] == [
        {"segment": 1, "area": 4, "box": [0, 0, 4, 1]},
        {"segment": 2, "area": 4, "box": [0, 1, 4, 2]},
    ]


@pytest.mark.parametrize("content", [b"not a zip", b""])
def test_masks_that_cannot_be_read_are_told(world: Path, content: bytes) -> None:
    put(world / "TIG" / "TIG_A_000001" / "SoM" / "sdxl" / "masks.npz", content)
    (line,) = told(import_all(imagenworld.read, world))
    assert line.startswith("TIG/TIG_A_000001/SoM/sdxl/masks.npz: not masks")


def test_masks_that_would_run_code_are_refused(world: Path) -> None:
    directory = world / "TIG" / "TIG_A_000001" / "SoM" / "sdxl"
    directory.mkdir(parents=True)
    np.savez(directory / "masks.npz", np.array([{"a": 1}], dtype=object))
    (line,) = told(import_all(imagenworld.read, world))
    assert "not masks that can be read" in line


def test_a_second_import_gives_the_same_ids(world: Path) -> None:
    intake = import_all(imagenworld.read, world)
    ids = {judgment.judgment_id for judgment in intake.all(Judgment)}
    intake.take(imagenworld.read(world, intake, {}))
    assert told(intake) == []
    assert {judgment.judgment_id for judgment in intake.all(Judgment)} == ids


@pytest.mark.parametrize(
    ("metadata", "complaint"),
    [
        ({"prompt": "", "prompt_refined": None}, "there is no prompt"),
        ({"cond_images": ["../../x.png"]}, "'SRIE/SRIE_CG_000002/../../x.png' is not there"),
        ({"cond_images": ["../../../x.png"]}, "leads out of the folder"),
        ({"cond_images": ["none.png"]}, "is not there"),
        ({"cond_images": "0.png"}, "not a list of names"),
        ({"cond_images": []}, "an editing task needs a condition image"),
    ],
)
def test_a_bad_item_is_named_and_the_others_stay(world: Path, metadata: dict[str, Any], complaint: str) -> None:
    path = world / "SRIE" / "SRIE_CG_000002" / "metadata.json"
    put(path, {**json.loads(path.read_text()), **metadata})
    intake = import_all(imagenworld.read, world)
    (line,) = told(intake)
    assert line.startswith("SRIE/SRIE_CG_000002/metadata.json: ")
    assert complaint in line
    assert len(intake.all(Item)) == 2


@pytest.mark.parametrize(
    ("scores", "complaint"),
    [
        ({**SCORES, "artifacts": 41}, "artifacts is 41, not a number from 1 to 5"),
        ({**SCORES, "artifacts": "2"}, "artifacts is '2'"),
        ({"artifacts": 2}, "prompt_relevance is None"),
        (7, "expected an object"),
    ],
)
@pytest.mark.parametrize("file", ["gemini_result.json", "human_result.json"])
def test_a_bad_score_is_named(world: Path, file: str, scores: Any, complaint: str) -> None:
    put(world / "TIG" / "TIG_A_000001" / file, {"who": {"sdxl": scores, "gpt-image-1": SCORES}})
    intake = import_all(imagenworld.read, world)
    (line,) = told(intake)
    assert line.startswith(f"TIG/TIG_A_000001/{file}, who/sdxl: ")
    assert complaint in line
    assert len(intake.all(Judgment)) == (5 if file.startswith("gemini") else 6)


def test_a_score_without_its_picture_has_an_output_without_pixels(world: Path) -> None:
    put(world / "TIG" / "TIG_A_000001" / "gemini_result.json", {"gemini": {"../../x": SCORES}})
    intake = import_all(imagenworld.read, world)
    assert told(intake) == []
    assert [output.editor for output in intake.all(Output) if output.image is None] == ["../../x"]


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_a_broken_output_is_named(world: Path, name: str) -> None:
    (world / "TIG" / "TIG_A_000001" / "model_output" / "sdxl.png").write_bytes(BROKEN[name])
    (line,) = told(import_all(imagenworld.read, world))
    assert line.startswith("TIG/TIG_A_000001/model_output/sdxl.png: ")


@pytest.mark.parametrize("name", sorted(UNUSUAL))
def test_unusual_pictures_are_kept(world: Path, name: str) -> None:
    (world / "TIG" / "TIG_A_000001" / "model_output" / "sdxl.png").write_bytes(UNUSUAL[name])
    intake = import_all(imagenworld.read, world)
    assert told(intake) == []
    assert UNUSUAL[name] in intake.blobs.values()


def test_a_git_lfs_pointer_is_told(world: Path) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"
    put(world / "human_eval.json", pointer)
    put(world / "TIG" / "TIG_A_000001" / "gemini_result.json", pointer)
    lines = told(import_all(imagenworld.read, world))
    assert len(lines) == 2
    assert all("Git LFS pointer" in line for line in lines)


@pytest.mark.parametrize(("content", "complaint"), [(b"", "empty"), (b"[", "not JSON"), (b"[]", "expected an object")])
def test_a_file_that_cannot_be_read_is_told(world: Path, content: bytes, complaint: str) -> None:
    put(world / "TIG" / "TIG_A_000001" / "metadata.json", content)
    put(world / "MRIG" / "MRIG_T_000003" / "gemini_result.json", content)
    lines = told(import_all(imagenworld.read, world))
    assert len(lines) == 2
    assert all(complaint in line for line in lines)


def test_an_unknown_task_is_told(world: Path) -> None:
    item(world, "XYZ_A_000001", 0)
    (line,) = told(import_all(imagenworld.read, world))
    assert "the folder 'XYZ_A_000001' is not named <TASK>_<TOPIC>_<number>" in line


def test_an_empty_folder_and_unknown_options_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no metadata"):
        import_all(imagenworld.read, tmp_path)
    with pytest.raises(UserError, match="no option"):
        import_all(imagenworld.read, tmp_path, task="TIG")
