"""``imarena score``: one edit scored without a workspace."""

import asyncio
import os
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

import imarena as package
from imarena.core.records import Status
from tests.command import Imarena
from tests.servers.fake_endpoint import fake_server

ORDER = "make the box blue"


@pytest.fixture
def imarena(tmp_path: Path) -> Imarena:
    for name, colour in {"source": (200, 30, 30), "good": (30, 30, 220), "bad": (200, 30, 30)}.items():
        picture = Image.new("RGB", (200, 150), (230, 230, 220))
        ImageDraw.Draw(picture).rectangle((60, 40, 140, 110), fill=colour)
        picture.save(tmp_path / f"{name}.png")
    (tmp_path / "text.png").write_text("not an image")
    (tmp_path / "cut.png").write_bytes((tmp_path / "good.png").read_bytes()[:200])
    return Imarena(tmp_path)


def score(imarena: Imarena, *outputs: str, code: int = 0, more: tuple[str, ...] = ()) -> str:
    files = [word for output in outputs for word in ("--output", output)]
    ended = imarena("score", "--source", "source.png", *files, "--instruction", ORDER, *more, code=code)
    assert "Traceback" not in ended.err
    return ended.out if code in (0, 3) else ended.err


def test_a_score_its_dimensions_its_reasons_and_what_is_not_judged(imarena: Imarena) -> None:
    shown = score(imarena, "good.png")
    assert shown.startswith("Score ")
    assert "(scale 0 to 1000); judge builtin; the judge's confidence: " in shown
    assert "A success (a success needs more than 500 on every dimension, and no limit of the score)." in shown
    assert "editing_success" in shown
    assert "looks for blue where the image changed" in shown
    assert "What builtin cannot judge:" in shown
    assert "faces" in shown
    assert not (imarena.folder / "arena.db").exists()


def test_a_failed_edit_is_no_success_in_plain_words(imarena: Imarena) -> None:
    shown = score(imarena, "bad.png")
    assert "Not a success (a success needs more than 500 on every dimension" in shown
    assert "the score is limited: the edit was not made" in shown
    assert "0% done (the check is 60% sure)" in shown
    for word in ("no success", "trust", "edit_failed"):
        assert word not in shown


def test_json_has_every_field_and_python_says_the_same(imarena: Imarena) -> None:
    document = imarena(
        "score", "--json", "--source", "source.png", "--output", "good.png", "--output", "bad.png", "-i", ORDER
    ).json
    good, bad = document["outputs"]
    assert document["judge"] == "builtin"
    assert good["score"] > bad["score"] + 300
    assert (good["success"], bad["success"]) == (True, False)
    assert good["scale"] == [0, 1000]
    assert good["cannot_judge"]
    same = package.score_edit(imarena.folder / "source.png", imarena.folder / "good.png", ORDER)
    assert (same.score, same.dimensions, same.reasons) == (good["score"], good["dimensions"], good["reasons"])


def test_only_regular_files_are_read(imarena: Imarena) -> None:
    """A pipe or a device would never end."""
    os.mkfifo(imarena.folder / "pipe.png")
    for path in ("pipe.png", "/dev/zero"):
        assert "not a regular file" in score(imarena, path, code=2)
        assert "not a regular file" in imarena("measure", "source.png", path, code=2).err
        assert "not a regular file" in imarena("agent", "make it blue", path, code=2).err
    with (imarena.folder / "large.png").open("wb") as file:
        file.truncate((256 << 20) + 1)
    assert "larger than 256 MiB" in score(imarena, "large.png", code=2)
    assert "Is a directory" in score(imarena, ".", code=2)


def test_python_scores_bytes_inside_a_running_loop(imarena: Imarena) -> None:
    async def notebook() -> package.EditScore:
        source, output = ((imarena.folder / name).read_bytes() for name in ("source.png", "bad.png"))
        return package.score_edit(source, output, ORDER)

    edit = asyncio.run(notebook())
    assert (edit.status, edit.success) == (Status.OK, False)


def test_several_outputs_are_a_table_and_an_unreadable_one_has_a_status(imarena: Imarena) -> None:
    shown = score(imarena, "good.png", "missing.png", "text.png", "bad.png", code=3)
    rows = {line.split()[0]: line for line in shown.splitlines()[1:5]}
    assert "ok" in rows["good.png"]
    assert "missing_output" in rows["missing.png"]
    assert "invalid_image" in rows["text.png"]
    assert not any(character.isdigit() for character in rows["text.png"])


@pytest.mark.parametrize("file", ["missing.png", "text.png", "cut.png", "."])
def test_an_unreadable_file_is_one_clear_line(imarena: Imarena, file: str) -> None:
    error = score(imarena, file, code=2)
    assert error.startswith(f"error: {file}")
    assert len(error.splitlines()) == 1
    ended = imarena("score", "--source", file, "--output", "good.png", "-i", ORDER, code=2)
    assert ended.err.startswith(f"error: {file}")


def test_a_judge_without_a_verdict_gives_a_status_and_no_score(imarena: Imarena) -> None:
    ended = imarena("score", "--json", "--source", "source.png", "-O", "good.png", "-i", "把盒子变成蓝色", code=3)
    (output,) = ended.json["outputs"]
    assert (output["status"], output["score"]) == ("refused", None)
    assert "English" in output["error"]


def test_a_pairwise_or_unknown_judge_is_refused_with_a_hint(imarena: Imarena) -> None:
    with fake_server() as server:
        where = ("--judge", "genarena", "--base-url", server.url, "--model", "fake-vlm")
        assert "is pairwise" in score(imarena, "good.png", code=2, more=where)
    assert "no judge called 'bultin'" in score(imarena, "good.png", code=2, more=("--judge", "bultin"))


def test_a_model_judge_scores_and_its_failure_is_no_score(imarena: Imarena) -> None:
    with fake_server() as server:
        where = ("--judge", "cv-judge", "--base-url", server.url, "--model", "fake-vlm")
        assert score(imarena, "good.png", more=where).startswith("Score ")
    with fake_server("--fault", "refusal=1") as server:
        where = ("--judge", "cv-judge", "--base-url", server.url, "--model", "fake-vlm")
        shown = score(imarena, "good.png", more=where, code=3)
    assert shown.startswith("No score from cv-judge")
    assert "refused" in shown


def test_a_judge_of_the_users_own_scores(imarena: Imarena) -> None:
    (imarena.folder / "mine.py").write_text(
        "from imarena import Status, Verdict\n"
        "class Mine:\n"
        "    async def judge(self, exhibit):\n"
        "        return Verdict(Status.OK, score=float(len(exhibit.sources)), reasons={'why': 'counts sources'})\n"
        "def make(options, chat):\n"
        "    return Mine()\n"
    )
    words = ("score", "--judge", "function:mine:make", "-s", "source.png", "-O", "good.png", "-i", ORDER)
    shown = imarena(*words, env={"PYTHONPATH": str(imarena.folder)}).out
    assert shown.startswith("Score 1;")
    assert "why: counts sources" in shown
