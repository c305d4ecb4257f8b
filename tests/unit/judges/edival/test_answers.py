"""Answers of a model and of the offline tools: what they say, and what they leave open."""

import asyncio
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from imarena.core import ChatAnswer, ChatPrompt, Exhibit, ObjectPlan, ObjectTurn, Pixels, PlannedEdit, SceneObject
from imarena.core.records import Mode, Status
from imarena.judges.edival.judge import EdiValJudge, make
from imarena.judges.edival.offline_answers import ColourAnswers
from imarena.judges.edival.settings import EdiValSettings
from imarena.judges.edival.tools import YesNoQuestion
from imarena.judges.edival.vlm_answers import VlmAnswers
from imarena.studio import encode_pixels


class Says:
    """A chat that gives one answer and keeps what it was asked."""

    def __init__(self, text: str, status: Status = Status.OK) -> None:
        self.answer = ChatAnswer(status, text, error="" if status is Status.OK else "the server is down")
        self.asked: list[ChatPrompt] = []

    async def __call__(self, prompt: ChatPrompt) -> ChatAnswer:
        self.asked.append(prompt)
        return self.answer


def plain(*, inside: tuple[int, int, int] = (200, 30, 30), behind: tuple[int, int, int] = (90, 120, 90)) -> Pixels:
    """A square of one colour in front of a noisy ground."""
    rng = np.random.default_rng(0)
    pixels = np.clip(np.array(behind) + rng.normal(0, 14, (128, 128, 1)), 0, 255)
    pixels[32:96, 32:96] = inside
    return np.asarray(pixels, np.uint8)


BOX = (0.25, 0.25, 0.75, 0.75)
COLOUR = YesNoQuestion("color", "Is the ball red?", "red", BOX)


@pytest.mark.parametrize(
    ("reply", "says"), [("Yes.", True), ("no", False), ("I think the answer is YES", True), ("cannot tell", None)]
)
def test_a_reply_is_read_as_yes_or_no(reply: str, says: bool | None) -> None:
    chat = Says(reply)
    assert asyncio.run(VlmAnswers(chat, "model").answer(COLOUR, plain(), plain())) is says
    (prompt,) = chat.asked
    image, text = prompt.parts
    assert isinstance(image, bytes)
    assert Image.open(BytesIO(image)).size == (64, 64), "the crop of the object"
    assert "Is the ball red?" in str(text)


def test_a_replacement_is_asked_with_both_images() -> None:
    chat = Says("yes")
    question = YesNoQuestion("replaced", "Was the ball replaced with the cup?", "cup")
    assert asyncio.run(VlmAnswers(chat, "model").answer(question, plain(), plain())) is True
    assert sum(isinstance(part, bytes) for part in chat.asked[0].parts) == 2


@pytest.mark.parametrize(("reply", "text"), [('{"text": "OPEN"}', "OPEN"), ("OPEN", "OPEN"), ('{"text": ""}', "")])
def test_a_text_is_read_from_json_or_as_it_is(reply: str, text: str) -> None:
    lines = asyncio.run(VlmAnswers(Says(reply), "model").read(plain(), None))
    assert "".join(line.text for line in lines) == text


def color_edit(color: str) -> ObjectPlan:
    ball = SceneObject(name="ball", object="ball", boxes=((32.0, 32.0, 96.0, 96.0),))
    return ObjectPlan(objects=(ball,), turns=(ObjectTurn(type="color_alter", object="ball", color=color),))


def test_a_model_that_fails_is_a_status_and_what_was_measured_is_kept() -> None:
    chat = Says("", Status.TIMEOUT)
    judge = make({"dimension": "instruction_following", "model": "m", "detector": "efficientdet"}, chat)
    planned = PlannedEdit(color_edit("red"), 0, Mode.SINGLE, (encode_pixels(plain()),))
    verdict = asyncio.run(judge.judge(Exhibit("", left=encode_pixels(plain()), planned=planned)))
    assert (verdict.status, verdict.error) == (Status.TIMEOUT, "the server is down")
    assert judge.name == "edival/m"
    assert {evidence.kind for evidence in verdict.evidence} <= {"boxes"}


@pytest.mark.parametrize(
    ("after", "wanted", "says"),
    [
        (plain(inside=(30, 40, 210)), "blue", True),
        (plain(inside=(200, 30, 30)), "blue", False),
        (plain(inside=(30, 40, 210)), "red", False),
        (plain(inside=(200, 30, 30)), "red", False),  # it was red before
    ],
)
def test_colours_are_named(after: Pixels, wanted: str, says: bool) -> None:
    question = YesNoQuestion("color", f"Is the ball {wanted}?", wanted, BOX)
    assert asyncio.run(ColourAnswers().answer(question, after, plain())) is says


def test_what_pixels_cannot_tell_is_left_open() -> None:
    tool = ColourAnswers()
    for question in (
        YesNoQuestion("material", "Is the ball made of wood?", "wood", BOX),
        YesNoQuestion("color", "Is the ball sparkling?", "sparkling", BOX),
        YesNoQuestion("replaced", "Was the ball replaced with the cup?", "cup"),
    ):
        assert asyncio.run(tool.answer(question, plain(), plain())) is None


def test_a_background_has_to_change_by_more_than_a_tone() -> None:
    question = YesNoQuestion("background", "Does the background show blue?", "blue", others=(BOX,))
    tool = ColourAnswers()
    darker = np.asarray(plain() * 0.6, np.uint8)
    flipped = np.asarray(plain(behind=(40, 60, 200))[::-1, ::-1], np.uint8)
    assert asyncio.run(tool.answer(question, plain(), plain())) is False
    assert asyncio.run(tool.answer(question, darker, plain())) is False
    assert asyncio.run(tool.answer(question, flipped, plain())) is True
    library = YesNoQuestion("background", "Does the background show a library?", "a library", others=(BOX,))
    assert asyncio.run(tool.answer(library, flipped, plain())) is None


def test_an_item_without_a_plan_is_refused() -> None:
    judge = EdiValJudge(EdiValSettings(detector="efficientdet", answers="colour-names", reader="rapidocr",
                                       features="st-lpips", quality="brisque"))  # fmt: skip
    assert asyncio.run(judge.judge(Exhibit("", left=b"x"))).status is Status.REFUSED
