"""The judges of the guide, as a reader writes them: copied from the page, named on the command line, run."""

from pathlib import Path

import pytest
from PIL import Image

from tests.command import Imarena
from tests.cross_cutting.docs.blocks import blocks_of
from tests.cross_cutting.docs.services import Stage, add_people, block_with
from tests.small_data.small_arena import make_arena

CODE = block_with("write-your-own-judge.md", "def make_brightness")


@pytest.fixture
def outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace `arena` with two outputs for one item, a dark and a bright one; the current folder is importable."""
    for editor, grey in (("dark", 51), ("bright", 204)):
        (tmp_path / "outputs" / editor).mkdir(parents=True)
        Image.new("L", (32, 32), grey).convert("RGB").save(tmp_path / "outputs" / editor / "a.png")
    (tmp_path / "items.csv").write_text("key,instruction\na,Draw a grey wall.\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path


def test_the_commands_of_the_guide_run(tmp_path: Path) -> None:
    """On two items of the demo, which two people rated."""
    (tmp_path / "brightness.py").write_text(CODE)
    make_arena(tmp_path / "imarena-demo", items=2)
    add_people(tmp_path / "imarena-demo")
    checked, judged, board, _, aligned = Stage(tmp_path).run(blocks_of("write-your-own-judge.md", __file__))
    assert "Nothing to fix." in checked.out
    assert "brightness: 6 ok" in judged.out
    assert "studio-exact" in board.out
    assert "Spearman" in aligned.out


def test_the_judge_of_the_guide_scores_and_ranks(imarena: Imarena, outputs: Path) -> None:
    (outputs / "brightness.py").write_text(CODE)
    imarena("init", "arena")
    imarena("-w", "arena", "import", "table", ".")
    words = ("-w", "arena", "judge", "--judge", "function:brightness:make_brightness")
    assert "brightness: 2 ok; 0 done before" in imarena(*words).out
    assert "2 done before" in imarena(*words).out
    assert "The workspace has: brightness" in imarena("-w", "arena", "rank", "--judge", "mood", code=2).err
    board = imarena("-w", "arena", "--json", "rank", "--judge", "brightness").json
    assert [row["model"] for row in board["models"]] == ["bright", "dark"]
    fought = imarena("-w", "arena", "battle", "--judge", "function:brightness:make_brightness", code=2)
    assert "imarena -w arena judge" in fought.err
    stands = imarena("-w", "arena", "--json", "status").json
    assert stands["judgments"] == {"brightness": {"ok": 2}}
    assert not stands["unfinished"]
    assert not stands["missing"]
    assert imarena("-w", "arena", "--json", "rank", "--judge", "brightness").json["models"] == board["models"]
    told = imarena("-w", "arena", "align", "--judge", "brightness", "--against", "people", code=2).err
    assert "imarena -w arena campaign" in told


def test_a_judge_is_tried_on_a_few_items_and_told_that_some_have_no_source(imarena: Imarena, outputs: Path) -> None:
    (outputs / "brightness.py").write_text(CODE)
    Image.new("RGB", (32, 32), "red").save(outputs / "outputs" / "dark" / "b.png")
    (outputs / "items.csv").write_text("key,instruction\na,Draw a grey wall.\nb,Draw a red wall.\n")
    imarena("init", "arena")
    imarena("-w", "arena", "import", "table", ".")
    words = ("-w", "arena", "judge", "--judge", "function:brightness:make_brightness")
    assert "brightness: 2 ok; 0 done before" in imarena(*words, "--limit", "1").out  # both editors, one item
    assert "brightness: 1 ok; 2 done before" in imarena(*words).out
    (outputs / "first.py").write_text(CODE.replace("exhibit.left", "exhibit.references[0]"))
    checked = imarena("judge", "--check", "first:make_brightness", code=2)
    assert "IndexError" in checked.out
    assert "JudgeTraits(needs_source=True)" in checked.out


def test_a_function_is_named_by_the_user_and_never_by_a_workspace(imarena: Imarena, outputs: Path) -> None:
    imarena("init", "arena")
    imarena("-w", "arena", "import", "table", ".")
    assert "PYTHONPATH" in imarena("-w", "arena", "judge", "--judge", "function:nowhere:make", code=2).err
    mark = outputs / "was-run"
    (outputs / "evil.py").write_text(f"open({str(mark)!r}, 'w').close()\n")
    with (outputs / "arena" / "imarena.toml").open("a") as settings:
        settings.write('\n[judges.mine]\nkind = "function:evil:make"\n')
    imarena("-w", "arena", "judge", "--judge", "mine", code=2)
    assert not mark.exists()


FAILING = """
from imarena.core.protocols import Verdict
from imarena.core.records import Status


class Failing:
    name, version, prompt_id, prompt_version = "failing", "1", "", ""
    params = {}
    asked = 0

    async def judge(self, exhibit):
        Failing.asked += 1
        return Verdict(Status.API_ERROR, error=f"no answer to question {Failing.asked} about 'x{Failing.asked}'")


def make(options, chat):
    return Failing()
"""


def test_failures_of_one_cause_are_printed_once(imarena: Imarena, outputs: Path) -> None:
    (outputs / "failing.py").write_text(FAILING)
    imarena("init", "arena")
    imarena("-w", "arena", "import", "table", ".")
    ended = imarena("-w", "arena", "judge", "--judge", "function:failing:make", code=3)
    failed = [line.strip() for line in ended.out.splitlines() if "failed:" in line]
    assert failed == ["failed: 2 x api_error: no answer to question … about …"]
    report = imarena("-w", "arena", "--json", "judge", "--judge", "function:failing:make", code=3).json["reports"][0]
    assert len(report["errors"]) == 2, "JSON has them all"
