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
from tests.conftest import ROOT
from tests.cross_cutting.docs.blocks import blocks_of
from tests.cross_cutting.docs.programs import vllm_serve
from tests.cross_cutting.docs.services import Stage, block_with
from tests.unit.judges.chats import BLUE, always, exhibit, picture


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mood.yaml").write_text(block_with("write-your-own-judge.md", "prompt_id: mood"))
    stage = Stage(tmp_path)
    stage.run(blocks_of("write-your-own-judge.md", __file__))
    return stage.names


def test_the_first_judge_is_short_and_works(written: dict[str, Any]) -> None:
    code = [line for line in block_with("write-your-own-judge.md", "def make_brightness").splitlines() if line.strip()]
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
    text = (ROOT / "docs/guide/judges.md").read_text(encoding="utf-8")
    for name in CARDS:
        short = name.removeprefix("geditbench")
        assert f"`{name}`" in text or f"`{short}`" in text, name


def test_the_guides_checklist_is_valid() -> None:
    assert len(Checklist.model_validate(yaml.safe_load(block_with("judges.md", "questions:"))).questions) == 3


def test_the_server_example_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The printed program asks the model that the page's `vllm serve` names; the fake server answers."""
    for name, colour in (("car.png", "grey"), ("old.png", "blue"), ("new.png", "red")):
        (tmp_path / name).write_bytes(picture(colour))
    serve, ask = blocks_of("judges.md", __file__)
    with vllm_serve(serve, lambda query: json.dumps({"winner": "AB"[not query.first_is_better]})) as replaced:
        Stage(tmp_path, replaced).run([ask])
    assert re.fullmatch(r"ok (left|right) True", capsys.readouterr().out.strip())
