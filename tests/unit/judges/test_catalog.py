"""Every judge in the catalogue can be made and keeps the port's promise."""

import asyncio
import subprocess
import sys

import pytest
from tests.unit.judges.chats import BLUE, RED, always, exhibit

from imarena.core.errors import UnknownName, UserError
from imarena.core.ids import canonical_json
from imarena.core.protocols import Judge, Verdict
from imarena.core.records import Status
from imarena.judges import CARDS, JUDGES
from imarena.judges.prompt import load_prompt

CHATTING = [name for name, card in CARDS.items() if card.needs == "chat" and name != "checklist"]
WITHOUT_SOURCE = ("cv-judge-generate", "viescore-generate", "unifiedreward")


@pytest.mark.parametrize("name", CHATTING)
def test_a_judge_has_five_names_and_ends_with_a_status(name: str) -> None:
    judge: Judge = JUDGES.get(name)({"model": "m"}, always("no verdict here"))
    assert judge.name.startswith(name)
    assert judge.name.endswith("/m")
    assert judge.version
    assert judge.prompt_id
    assert judge.prompt_version
    assert canonical_json(judge.params)
    shown = exhibit(BLUE if CARDS[name].shape == "pairwise" else None, sources=() if name in WITHOUT_SOURCE else (RED,))
    verdict = asyncio.run(judge.judge(shown))
    assert isinstance(verdict, Verdict)
    assert verdict.status is Status.UNPARSABLE
    assert verdict.score is None
    assert verdict.preference is None
    for prompt in judge.prompt_id.split("+"):
        assert load_prompt(prompt).input.right == (CARDS[name].shape == "pairwise")


@pytest.mark.parametrize("name", CHATTING)
def test_options_are_checked_and_a_chat_is_asked_for(name: str) -> None:
    with pytest.raises(UserError, match="Known"):
        JUDGES.get(name)({"temprature": 1}, always(""))
    with pytest.raises(UserError, match="endpoint"):
        JUDGES.get(name)({}, None)


@pytest.mark.parametrize("name", CHATTING)
def test_model_and_temperature_are_identity(name: str) -> None:
    make = JUDGES.get(name)
    params = [canonical_json(make(o, always("")).params) for o in ({}, {"model": "m"}, {"temperature": 1}, {"seed": 1})]
    assert len(set(params)) == 4


@pytest.mark.parametrize("name", CARDS)
def test_every_card_points_at_a_maker(name: str) -> None:
    assert callable(JUDGES.get(name))


def test_the_catalogue_itself_loads_no_judge() -> None:
    code = "import sys, imarena.judges; print([m for m in sys.modules if m.startswith(('imarena.vision', 'torch', 'cv2', 'numba', 'scipy'))])"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )


def test_unknown_judges_are_suggested() -> None:
    with pytest.raises(UnknownName, match="cv-judge"):
        JUDGES.get("cvjudge")
