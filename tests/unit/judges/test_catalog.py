"""Every judge in the catalogue can be made and keeps the port's promise."""

import asyncio
import subprocess
import sys
from dataclasses import replace

import pytest

from imarena.core.errors import UnknownName, UserError
from imarena.core.ids import canonical_json, sha256_hex
from imarena.core.protocols import Exhibit, Judge, Verdict
from imarena.core.records import Outcome, Status
from imarena.judges import CARDS, JUDGES, ask_both_orders
from imarena.judges.chat.prompt import load_prompt
from imarena.judges.recorded import RecordedRow, judge_from_rows
from tests.unit.judges.chats import BLUE, RED, always, exhibit, picture

PHOTO, BRIGHT, DARK = (picture(colour, (64, 48)) for colour in ("#606060", "#a0a0a0", "#202020"))
CHATTING = [name for name, card in CARDS.items() if card.needs == "chat" and name not in ("checklist", "visionreward")]
"""Those that need no file beside the model."""
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
    with pytest.raises(UserError, match="--base-url"):
        JUDGES.get(name)({}, None)


@pytest.mark.parametrize("name", CHATTING)
def test_model_and_temperature_are_identity(name: str) -> None:
    make = JUDGES.get(name)
    params = [canonical_json(make(o, always("")).params) for o in ({}, {"model": "m"}, {"temperature": 1}, {"seed": 1})]
    assert len(set(params)) == 4


def offline_judges() -> list[Judge]:
    """Every kind of judge that runs without a network, each ready to be asked about `PHOTO` edits."""
    rows = [
        RecordedRow(left_sha256=sha256_hex(BRIGHT), score=0.9),
        RecordedRow(left_sha256=sha256_hex(DARK), score=0.1),
        RecordedRow(left_sha256=sha256_hex(BRIGHT), right_sha256=sha256_hex(DARK), preference=Outcome.LEFT),
    ]
    return [JUDGES.get("builtin")({}, None), judge_from_rows(rows)]


@pytest.mark.parametrize("judge", offline_judges(), ids=lambda judge: judge.name)
def test_offline_judges_keep_the_contract(judge: Judge) -> None:
    """Same question, same verdict; sides swapped, verdict mirrored; a broken picture is a status."""
    one = Exhibit("Make it brighter", left=BRIGHT, sources=(PHOTO,))
    first, again = asyncio.run(judge.judge(one)), asyncio.run(judge.judge(one))
    assert first.status is Status.OK
    assert (first.score, dict(first.scores)) == (again.score, dict(again.scores))
    assert canonical_json(judge.params)
    pair = replace(one, right=DARK)
    straight, swapped = asyncio.run(judge.judge(pair)), asyncio.run(judge.judge(replace(pair, left=DARK, right=BRIGHT)))
    assert straight.preference is not None
    assert swapped.preference is straight.preference.mirrored()
    assert asyncio.run(ask_both_orders(judge, pair)).consistent is True
    broken = asyncio.run(judge.judge(replace(one, left=b"no picture")))
    assert broken.status is not Status.OK
    assert broken.score is None


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


def test_an_option_that_is_lacking_is_named_with_the_way_to_give_it() -> None:
    with pytest.raises(UserError, match=r"needs the option path\.\n.*--option path=VALUE"):
        JUDGES.get("recorded")({}, None)
