"""`judge --check` and `edit --check`, and what becomes of a judge with a wrong field in a normal run."""

import os
import re
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from imarena.clients.fake_answers import ChatQuery
from imarena.core import Settings
from imarena.core.records import Evidence, Output, Run, Status
from imarena.storage import open_workspace
from tests.command import Imarena
from tests.servers.fake_endpoint import fake_server
from tests.workflow.studies.plugins_to_check import EDITORS, JUDGES

GUIDE = Path(__file__).parents[3] / "docs" / "guide" / "write-your-own-judge.md"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with judges and editors in it that Python finds; no workspace."""
    (tmp_path / "my_judges.py").write_text(JUDGES)
    (tmp_path / "my_editors.py").write_text(EDITORS)
    monkeypatch.setenv(
        "PYTHONPATH", os.pathsep.join((str(tmp_path), os.environ.get("PYTHONPATH", ""))).rstrip(os.pathsep)
    )
    return tmp_path


@pytest.mark.parametrize(("judge", "does"), [("fine", ["scores"]), ("comparing", ["compares"])])
def test_a_judge_with_nothing_to_fix(imarena: Imarena, folder: Path, judge: str, does: list[str]) -> None:
    before = {path.name for path in folder.iterdir()}
    checked = imarena("--json", "judge", "--check", f"my_judges:{judge}").json
    assert (checked["to_fix"], checked["does"], checked["version"]) == ([], does, "1")
    assert {path.name for path in folder.iterdir()} - before <= {"__pycache__"}
    assert "Nothing to fix." in imarena("judge", "--check", f"function:my_judges:{judge}").out


@pytest.mark.parametrize(
    ("judge", "message"),
    [
        ("wrong_field", "Verdict: score is '0.7' (str), not a number"),
        ("wrong_field", "Verdict: confidence is 85, outside 0 to 1"),
        ("wrong_preference", "Verdict: preference is 'left' (str); known: Outcome.LEFT"),
        ("a_dictionary", "it returned {'score': 1} (dict), not a Verdict"),
        ("misspelt", "`judge` raised TypeError: Verdict.__init__() got an unexpected keyword argument 'scor' (my_judges.py"),
        ("misspelt", "Did you mean 'score'? Fields of Verdict: status, preference, score, scores,"),
        ("wrong_attribute", "Fields of Exhibit: instruction, left, right,"),
        ("leaving", "`judge` raised SystemExit: no licence (my_judges.py"),
        ("leaving_early", "SystemExit: 3 (my_judges.py"),
        ("too_high", "outside the scale that the judge states, 0 to 1"),
        ("text_scale", "`params[\"scale\"]` is '0-1', not two numbers"),
        ("turned_scale", "`params[\"scale\"]` is [1, 0], not two numbers, the lowest score and the highest"),
        ("wrong_traits", "`traits` is {'cpu_bound': True}, not a JudgeTraits"),
        ("first_wins", "the output shown first wins in both orders"),
        ("by_chance", "Two answers to the same question differ"),
        ("empty", "has no method `judge`"),
        ("plain", "`judge` is not a coroutine function"),
        ("Plain", "cannot be called as `make(options, chat)`: TypeError"),
    ],
)  # fmt: skip
def test_what_an_author_has_to_fix(imarena: Imarena, folder: Path, judge: str, message: str) -> None:
    checked = imarena("judge", "--check", f"my_judges:{judge}", code=2)
    assert message in checked.out
    assert "Traceback" not in checked.out + checked.err
    assert [line for line in checked.out.splitlines() if line.startswith("To fix: ")]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import sys\nx = = 1\n", "The module 'broken' cannot be imported: SyntaxError: invalid syntax (broken.py, line 2)"),
        ("import sys\nsys.exit(4)\n", "The module 'broken' cannot be imported: SystemExit: 4 (broken.py, line 2)"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_imported(imarena: Imarena, folder: Path, code: str, message: str) -> None:
    (folder / "broken.py").write_text(code)
    assert message in imarena("judge", "--check", "broken:make", code=2).out
    assert message in " ".join(imarena("edit", "--check", "broken:make", code=2).err.split())


def test_a_judge_with_one_score_for_everything(imarena: Imarena, folder: Path) -> None:
    (note,) = imarena("--json", "judge", "--check", "my_judges:constant").json["notes"]
    assert "both score 0.5: the judge does not distinguish them" in note["message"]
    assert "higher_is_better" not in note["hint"]


@pytest.mark.parametrize(("command", "module"), [("judge", "my_judges"), ("edit", "my_editors")])
def test_plug_ins_that_print_await_or_have_no_words(imarena: Imarena, folder: Path, command: str, module: str) -> None:
    wordless = imarena(command, "--check", f"{module}:wordless", code=2)
    assert "Wordless: its own message cannot be made, `__str__` raised KeyError" in wordless.out
    printing = imarena("--json", command, "--check", f"{module}:printing")
    assert printing.json["to_fix"] == []
    assert "ing\n" in printing.err
    asynchronous = imarena(command, "--check", f"{module}:asynchronous", code=2)
    assert "is made by a coroutine function" in asynchronous.out
    for ended in (wordless, asynchronous):
        assert "Traceback" not in ended.err
        assert "Warning" not in ended.err


@pytest.mark.slow
def test_a_judge_that_blocks_or_never_ends(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from imarena.workflows.studies import check_judge

    monkeypatch.syspath_prepend(str(folder))
    (blocks,) = check_judge(Settings(), "my_judges:blocking").to_fix
    assert "blocks the event loop for 1." in blocks.message
    assert "cpu_bound" in blocks.hint
    endless = check_judge(Settings(), "my_judges:endless", limit_s=0.5)
    assert endless.hangs
    assert "did not return within 0.5 s" in endless.to_fix[0].message


@pytest.mark.parametrize(
    ("editor", "message"),
    [
        ("needs_source", "The function raised IndexError: tuple index out of range (my_editors.py, line"),
        ("text", "The function returned str; give bytes, an image or a result"),
        ("make_noise", "It declares `deterministic`, but the same request gives another image"),
        ("make_broken", "EditResult: status is 'ok', not a Status"),
        ("misspelt", "Did you mean 'image'? Fields of EditResult: status, image, error,"),
        ("earning", "EditResult: cost_usd is -3.0; it must be 0 or more and finite"),
        ("earning", "EditResult: latency_s is nan; it must be 0 or more and finite"),
    ],
)
def test_what_the_author_of_an_editor_has_to_fix(imarena: Imarena, folder: Path, editor: str, message: str) -> None:
    assert message in imarena("edit", "--check", f"my_editors:{editor}", code=2).out


def test_an_editor_with_nothing_to_fix(imarena: Imarena, folder: Path) -> None:
    checked = imarena("--json", "edit", "--check", "my_editors:fine").json
    assert checked["to_fix"] == []
    assert {answer["case"]: answer["answer"] for answer in checked["answers"]} == {
        "simple edit": "an image of 704 x 512",
        "no source image": "refused",
        "source of an odd size with alpha": "an image of 317 x 201",
        "simple edit, asked again": "an image of 704 x 512",
        "simple edit, another seed": "an image of 704 x 512",
    }
    assert checked["notes"][0]["message"] == "status refused: it needs a source"


# ---------------------------------------------------------------- in a run


@pytest.fixture
def arena(imarena: Imarena, folder: Path) -> Path:
    """A workspace with two outputs for one item."""
    for editor, grey in (("dark", 51), ("bright", 204)):
        (folder / "outputs" / editor).mkdir(parents=True)
        Image.new("L", (32, 32), grey).convert("RGB").save(folder / "outputs" / editor / "a.png")
    (folder / "items.csv").write_text("key,instruction\na,Draw a grey wall.\n")
    imarena("init", "arena")
    imarena("-w", "arena", "import", "table", ".")
    return folder / "arena"


@pytest.mark.parametrize(
    ("command", "judge", "message"),
    [
        ("judge", "wrong_field", "score is '0.7' (str), not a number; confidence is 85, outside 0 to 1"),
        ("judge", "a_dictionary", "it returned {'score': 1} (dict), not a Verdict"),
        ("battle", "wrong_preference", "preference is 'left' (str)"),
    ],
)
def test_a_wrong_field_is_a_failure_with_one_line(
    imarena: Imarena, arena: Path, command: str, judge: str, message: str
) -> None:
    ended = imarena("-w", arena, "--json", command, "--judge", f"function:my_judges:{judge}", code=3)
    (report,) = ended.json["reports"]
    assert set(report["judgments"]) == {"unparsable"}
    assert any(message in error for error in report["errors"])
    assert "Traceback" not in ended.err
    name = judge.replace("_", "-")
    assert imarena("-w", arena, "--json", "status").json["judgments"][name] == {"unparsable": 2}


def test_scores_beyond_the_stated_scale_are_stored_with_a_warning(imarena: Imarena, arena: Path) -> None:
    ended = imarena("-w", arena, "judge", "--judge", "function:my_judges:too_high")
    assert "outside its stated scale, 0 to 1, and stored as given" in ended.err
    report = imarena("-w", arena, "--json", "judge", "--judge", "function:my_judges:too_high", "--repeats", 2).json
    assert [notice["code"] for notice in report["reports"][0]["notices"]] == ["scores_beyond_scale"]


def test_a_cost_below_zero_is_not_counted(imarena: Imarena, arena: Path) -> None:
    imarena("-w", arena, "edit", "--editor", "function:my_editors:earning", "--yes")
    with open_workspace(arena) as workspace:
        (output,) = (each for each in workspace.store.records(Output) if each.editor not in ("dark", "bright"))
        runs = list(workspace.store.records(Run))
    assert (output.status, output.cost_usd) == (Status.OK, None)
    assert output.latency_s is not None
    assert output.latency_s >= 0
    assert [run.cost_usd for run in runs if run.command == "edit"] == [0.0]


def always_the_first(_: ChatQuery) -> str:
    """For the fake server."""
    return '{"winner": "A"}'


def test_a_judge_with_a_prompt_is_checked_and_probed_with_its_endpoint(
    imarena: Imarena, arena: Path, folder: Path
) -> None:
    page = GUIDE.read_text()
    code = [text for text in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "def make_mood" in text]
    names = "from imarena.core.protocols import Verdict\nfrom imarena.core.records import JsonDict, Status\n"
    (folder / "mood.py").write_text(names + code[0])
    (folder / "mood.yaml").write_text(re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)[0])
    with fake_server("--answer", f"{__name__}:always_the_first") as server:
        where = ("--base-url", server.url, "--model", "m")
        checked = imarena("--json", "judge", "--check", "mood:make_mood", *where, code=2).json
        assert server.counts()["requests"] == 4, "single outputs do not fit its prompt"
        words = ("--json", "health", "--probe", 1, "--judge", "function:mood:make_mood", *where)
        probed = imarena("-w", arena, *words).json
    assert (checked["does"], checked["name"]) == (["compares"], "mood/m")
    (finding,) = checked["to_fix"]
    assert "the output shown first wins in both orders" in finding["message"]
    assert any("turn the battle" in line["question"] for line in probed["judges"][0]["lines"])


def probe(imarena: Imarena, arena: Path, judge: str) -> Any:
    return imarena("-w", arena, "--json", "health", "--probe", 1, "--judge", f"function:my_judges:{judge}").json


def test_a_probe_finds_out_whether_a_judge_scores_or_compares(imarena: Imarena, arena: Path) -> None:
    scored, compared = (probe(imarena, arena, judge)["judges"][0] for judge in ("fine", "comparing"))
    assert any("raise its score" in line["question"] for line in scored["lines"])
    assert any("turn the battle" in line["question"] for line in compared["lines"])


def test_a_probe_needs_more_than_the_name_of_a_stored_judge(imarena: Imarena, arena: Path) -> None:
    imarena("-w", arena, "judge", "--judge", "function:my_judges:fine")
    refused = imarena("-w", arena, "health", "--probe", 1, "--judge", "fine", code=2).err
    assert "function:MODULE:NAME" in refused


def test_a_probe_shows_evidence(imarena: Imarena, arena: Path, folder: Path) -> None:
    (folder / "boxed.py").write_text(
        "from imarena.core.protocols import JudgeTraits, Verdict\n"
        "from imarena.core.records import Status\n\n\n"
        "class Boxed:\n"
        "    name, version = 'boxed', '1'\n"
        "    traits = JudgeTraits(evidence=('boxes',))\n\n"
        "    async def judge(self, exhibit):\n"
        "        return Verdict(Status.OK, score=len(exhibit.evidence_of('boxes', exhibit.left)))\n\n\n"
        "def make(options, chat):\n"
        "    return Boxed()\n"
    )
    with open_workspace(arena) as workspace:
        image = next(iter(workspace.store.records(Output))).image
        assert image is not None
        workspace.store.add([Evidence(image_sha256=image.sha256, tool="hand", kind="boxes", value=[])])
    words = ("-w", arena, "--json", "health", "--probe", 5, "--judge", "function:boxed:make")
    with open_workspace(arena) as workspace:
        imarena(*words)
        answers = [evidence.value for evidence in workspace.store.records(Evidence, kind="injection_probe")]
    assert answers
    assert {value["score"] for value in answers if isinstance(value, dict)} == {1.0}
