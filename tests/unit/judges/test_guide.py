"""The code in the guides runs as it is printed."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from imarena.core.protocols import Exhibit
from imarena.core.records import Outcome, Status
from imarena.judges import CARDS, ask_both_orders
from imarena.judges.chat.checklist import Checklist
from tests.fake_endpoint import serve_here
from tests.unit.judges.chats import BLUE, always, exhibit, picture

GUIDES = Path(__file__).parents[3] / "docs" / "guide"


def blocks(name: str, language: str) -> list[str]:
    text = (GUIDES / name).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mood.yaml").write_text(blocks("write-your-own-judge.md", "yaml")[0])
    namespace: dict[str, Any] = {"__name__": "guide"}
    for block in blocks("write-your-own-judge.md", "python"):
        exec(compile(block, "write-your-own-judge.md", "exec"), namespace)  # noqa: S102
    return namespace


def test_the_first_judge_is_short_and_works(written: dict[str, Any]) -> None:
    code = [line for line in blocks("write-your-own-judge.md", "python")[0].splitlines() if line.strip()]
    assert len(code) <= 20
    judge = written["Brightness"]()
    white = asyncio.run(judge.judge(Exhibit("x", left=picture("white"))))
    black = asyncio.run(judge.judge(Exhibit("x", left=picture("black"))))
    assert (white.score, black.score) == (1.0, 0.0)
    assert asyncio.run(judge.judge(Exhibit("x", left=b"?"))).status is Status.INVALID_IMAGE


def test_the_prompted_judge_works(written: dict[str, Any]) -> None:
    judge = written["make_mood"]({"model": "m"}, always({"winner": "A"}))
    verdict = asyncio.run(ask_both_orders(judge, exhibit(BLUE)))
    assert (verdict.preference, verdict.consistent) == (Outcome.TIE, False)
    refused = written["make_mood"]({}, always("I'm sorry, but I can't do that."))
    assert asyncio.run(refused.judge(exhibit(BLUE))).status is Status.REFUSED


def test_the_guide_names_every_judge() -> None:
    text = (GUIDES / "judges.md").read_text(encoding="utf-8")
    for name in CARDS:
        short = name.removeprefix("geditbench")
        assert f"`{name}`" in text or f"`{short}`" in text, name


def test_the_guides_checklist_is_valid() -> None:
    assert len(Checklist.model_validate(yaml.safe_load(blocks("judges.md", "yaml")[0])).questions) == 3


def test_the_server_example_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The printed program, against the fake server in place of vLLM."""
    monkeypatch.chdir(tmp_path)
    for name, colour in (("car.png", "grey"), ("old.png", "blue"), ("new.png", "red")):
        (tmp_path / name).write_bytes(picture(colour))
    with serve_here(lambda query: json.dumps({"winner": "AB"[not query.first_is_better]})) as address:
        (program,) = blocks("judges.md", "python")
        assert "http://localhost:8000/v1" in program
        code = compile(program.replace("http://localhost:8000/v1", address), "judges.md", "exec")
        exec(code, {"__name__": "guide"})  # noqa: S102
    assert re.fullmatch(r"ok (left|right) True", capsys.readouterr().out.strip())
