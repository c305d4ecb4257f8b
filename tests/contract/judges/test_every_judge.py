"""What every judge of the catalog declares, and that its declaration holds."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import JsonValue

from imarena.core.errors import UserError
from imarena.core.ids import sha256_hex
from imarena.core.protocols import Exhibit, Judge
from imarena.core.records import Reply, Status
from imarena.judges import CARDS, JUDGES
from imarena.judges.expected_offline import OfflineLister
from tests.unit.judges.chats import BLUE, GREEN, RED, always

CHECKLIST = "name: q\nversion: '1'\nquestions:\n  - {id: sharp, text: 'Is it sharp?', weight: 0.4}\n"


def made(name: str, folder: Path) -> Judge:
    """The judge with the least that it can be made of; skipped where it needs the weights of a model."""
    options: dict[str, JsonValue] = {}
    if CARDS[name].needs == "vision":
        pytest.skip(f"{name} needs the folder of a model")
    if name == "recorded":
        (folder / "rows.csv").write_text(f"left_sha256,score\n{sha256_hex(GREEN)},1\n")
        options = {"path": str(folder / "rows.csv")}
    if name == "checklist":
        (folder / "questions.yaml").write_text(CHECKLIST)
        options = {"questions": str(folder / "questions.yaml")}
    if name == "visionreward":
        (folder / "questions.txt").write_text("Is it sharp?\nIs it bright?\n")
        (folder / "weights.json").write_text('{"coef": [[0.5, 1.0, 1.0]], "intercept": [0.1]}')
        options = {"questions": str(folder / "questions.txt"), "weights": str(folder / "weights.json"), "masks": {}}
    return JUDGES.get(name)(options, always("no verdict here") if CARDS[name].needs == "chat" else None)


def fitting(name: str, judge: Judge) -> Exhibit:
    """An exhibit that its prompts take."""
    exhibit = Exhibit("Make it green.", left=GREEN, sources=(RED,))
    if CARDS[name].shape == "pairwise":
        exhibit = replace(exhibit, right=BLUE)
    try:
        for prompt in judge.traits.prompts.values():
            prompt.check(exhibit)
    except UserError:  # a judge of generated images, which have no source
        return replace(exhibit, sources=())
    return exhibit


@pytest.mark.parametrize("name", CARDS)
def test_its_traits_are_sound(name: str, tmp_path: Path) -> None:
    judge = made(name, tmp_path)
    traits = judge.traits
    assert traits == judge.traits
    assert traits.dimension in (None, CARDS[name].dimension)
    assert traits.passes >= 1
    assert traits.questions >= 1
    assert traits.seconds is None or traits.seconds > 0
    asks = CARDS[name].needs == "chat"
    assert bool(traits.prompts) == asks
    assert (traits.reader is not None) == asks
    assert not (asks and traits.cpu_bound), "a judge that waits for an endpoint must not hold a core"


@pytest.mark.parametrize("name", [name for name, card in CARDS.items() if card.needs == "chat"])
def test_a_judge_that_asks_a_model_declares_exactly_what_it_asks(name: str, tmp_path: Path) -> None:
    judge = made(name, tmp_path)
    exhibit = fitting(name, judge)
    asked = always("no verdict here")
    asking = replace(judge, chat=asked)  # type: ignore[type-var]
    verdict = asyncio.run(asking.judge(exhibit))
    assert len(asked.asked) == judge.traits.questions
    previews = [prompt.preview(exhibit) for prompt in judge.traits.prompts.values()]
    assert {(one.system, *one.parts) for one in asked.asked} == set(previews)
    assert all(one.max_tokens == judge.traits.max_reply_tokens for one in asked.asked)
    reader, partly = judge.traits.reader, judge.traits.resumable
    assert reader is not None
    assert reader.reread(verdict.raw).status is verdict.status is Status.UNPARSABLE
    assert partly is not None
    assert set(partly.usable(Reply(work_id="w", raw=verdict.raw))) <= set(verdict.answered)


@pytest.mark.parametrize("name", [name for name, card in CARDS.items() if card.needs in ("nothing", "records")])
def test_a_judge_that_asks_nobody_answers_without_a_chat(name: str, tmp_path: Path) -> None:
    judge = made(name, tmp_path)
    verdict = asyncio.run(judge.judge(Exhibit("Make it green.", left=GREEN, sources=(RED,))))
    if judge.traits.evidence:
        assert verdict.status is Status.REFUSED, "what it needs is not there"
        assert verdict.score is None
    else:
        assert verdict.status is Status.OK


def test_the_built_in_lister_declares_that_it_is_fast() -> None:
    seconds = OfflineLister().traits.seconds
    assert seconds is not None
    assert seconds < 0.1
