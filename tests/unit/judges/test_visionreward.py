"""VisionReward from files in the authors' form: against their formula, over the wire, and on a tiny local model."""

import asyncio
import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imarena.clients import ChatClient, Endpoint
from imarena.clients.fake_answers import ChatQuery
from imarena.clients.fake_server import FakeServer
from imarena.core.errors import UserError
from imarena.core.protocols import ChatPrompt
from imarena.core.records import Status
from imarena.judges import JUDGES
from imarena.judges.chat import visionreward
from imarena.judges.chat.client_chat import chat_over, options_at
from tests.unit.judges.chats import ScriptedChat, always, exhibit

N = 30
HAS_TORCH = importlib.util.find_spec("torch") is not None and importlib.util.find_spec("transformers") is not None


def published(folder: Path, n: int = N, *, coefficients: int = 28, intercept: object = None) -> dict[str, str]:
    """Files in the form of `VisionReward_image_qa_select.txt` and `weight_select.json`, with words of our own."""
    questions = folder / "questions.txt"
    questions.write_text("".join(f"Is thing number {place} right?\n" for place in range(n)))
    weights = folder / "weights.json"
    coef = [round(0.1 * (place + 1) * (-1) ** place, 3) for place in range(coefficients)]
    weights.write_text(json.dumps({"coef": coef, "intercept": [0.25] if intercept is None else intercept}))
    return {"questions": str(questions), "weights": str(weights), "model": "m"}


def theirs(yes: list[bool], alignment: float, coef: list[float], intercept: float) -> float:
    """The published arithmetic, by a second hand: masks multiply, mask features are dropped, alignment leads."""
    reward = np.where(np.array(yes), 1, -1)
    for mask, features in {0: [22, 23, 24, 28, 29], 1: [25, 26], 2: [27]}.items():
        reward[features] *= int(reward[mask] > 0)
    return float(np.dot([alignment, *np.delete(reward, [0, 1, 2])], coef) + intercept)


def answering(yes: list[bool], aligned: bool = True) -> ScriptedChat:
    def say(prompt: ChatPrompt) -> str:
        words = " ".join(part for part in prompt.parts if isinstance(part, str))
        if "number" not in words:
            return "Yes." if aligned else "no"
        return "yes<|end_of_text|>" if yes[int(words.split("number ")[1].split()[0])] else "no<|end_of_text|>"

    return ScriptedChat(say)


@settings(max_examples=40, deadline=None)
@given(yes=st.lists(st.booleans(), min_size=N, max_size=N), aligned=st.booleans())
def test_the_score_is_the_authors_formula(
    tmp_path_factory: pytest.TempPathFactory, yes: list[bool], aligned: bool
) -> None:
    options = published(tmp_path_factory.mktemp("vr"))
    chat = answering(yes, aligned)
    judge = visionreward.make(options, chat)
    verdict = asyncio.run(judge.judge(exhibit()))
    coef = json.loads(Path(options["weights"]).read_text())["coef"]
    assert verdict.score == pytest.approx(theirs(yes, float(aligned), coef, 0.25))
    assert len(chat.asked) == 31
    assert all(sum(isinstance(part, bytes) for part in prompt.parts) == 1 for prompt in chat.asked)
    assert judge.reread(verdict.raw).score == verdict.score


def test_known_answers(tmp_path: Path) -> None:
    options = published(tmp_path)
    coef = json.loads(Path(options["weights"]).read_text())["coef"]
    every = asyncio.run(visionreward.make(options, answering([True] * N)).judge(exhibit()))
    assert every.score == pytest.approx(sum(coef) + 0.25)
    none = asyncio.run(visionreward.make({**options, "alignment": "none"}, answering([False] * N)).judge(exhibit()))
    assert none.score == pytest.approx(0.25 - sum(coef[1:20]))  # questions 22 to 29 are switched off
    assert "alignment" not in none.scores
    assert len(none.scores) == 22


def test_a_bare_list_of_weights_is_a_mean(tmp_path: Path) -> None:
    options = published(tmp_path, 4)
    Path(options["weights"]).write_text("[1, 2, 3, 4]")
    verdict = asyncio.run(visionreward.make(options, answering([True, False, True, True])).judge(exhibit()))
    assert verdict.score == pytest.approx((1 - 2 + 3 + 4) / 4)


def test_the_mark_for_the_prompt_becomes_the_instruction(tmp_path: Path) -> None:
    options = published(tmp_path, 1)
    Path(options["questions"]).write_text("Does it show [[prompt]] in {full}?\n")
    Path(options["weights"]).write_text("[1]")
    chat = always("yes")
    asyncio.run(visionreward.make(options, chat).judge(exhibit(instruction="a {green} dog")))
    words = str(chat.asked[0].parts)
    assert "a {green} dog" in words
    assert "[[prompt]]" not in words


@pytest.mark.parametrize("reply", ["maybe", "", "yes and no", "I'm sorry, I can't help with that."])
def test_an_unread_answer_is_no_no(tmp_path: Path, reply: str) -> None:
    def say(prompt: ChatPrompt) -> str:
        return reply if "number 5 " in str(prompt.parts) else "yes"

    verdict = asyncio.run(visionreward.make(published(tmp_path), ScriptedChat(say)).judge(exhibit()))
    assert verdict.status in (Status.UNPARSABLE, Status.REFUSED)
    assert verdict.score is None


def test_a_question_that_is_switched_off_need_not_be_answered(tmp_path: Path) -> None:
    def say(prompt: ChatPrompt) -> str:
        words = str(prompt.parts)
        return "there are no hands" if "number 27 " in words else "no" if "number 2 " in words else "yes"

    verdict = asyncio.run(visionreward.make(published(tmp_path), ScriptedChat(say)).judge(exhibit()))
    assert verdict.status is Status.OK
    assert "q28" not in verdict.scores


@pytest.mark.parametrize(
    ("n", "coefficients", "intercept", "message"),
    [(30, 30, 0, "need 27 weights"), (29, 28, 0, None), (0, 1, 0, "0 questions"), (30, 28, "x", "intercept is not"),
     (30, 28, [], "intercept is not"), (30, 28, True, "intercept is not")],
)  # fmt: skip
def test_files_that_do_not_fit(
    tmp_path: Path, n: int, coefficients: int, intercept: object, message: str | None
) -> None:
    options = published(tmp_path, n, coefficients=coefficients, intercept=intercept)
    with pytest.raises(UserError, match=message):
        visionreward.make(options, always("yes"))


def test_wrong_masks_and_missing_files_are_told(tmp_path: Path) -> None:
    options = published(tmp_path)
    for masks in ({"0": [30]}, {"0": [1], "1": [5]}, {"-1": [3]}):
        with pytest.raises(UserError, match="masks"):
            visionreward.make({**options, "masks": masks}, always("yes"))  # type: ignore[dict-item]
    with pytest.raises(UserError, match="cannot read its weights file"):
        visionreward.make({**options, "weights": str(tmp_path / "none.json")}, always("yes"))
    Path(options["weights"]).write_text("{")
    with pytest.raises(UserError, match="not JSON"):
        visionreward.make(options, always("yes"))


def test_identity_is_the_files_content(tmp_path: Path) -> None:
    def params(folder: str) -> dict[str, object]:
        (tmp_path / folder).mkdir(exist_ok=True)
        return dict(visionreward.make(published(tmp_path / folder), always("yes")).params)

    assert params("one") == params("two")
    options = published(tmp_path / "two", intercept=[1.0])
    assert visionreward.make(options, always("yes")).params != params("one")


def test_over_the_wire(tmp_path: Path) -> None:
    yes = [place % 3 != 1 for place in range(N)]

    def answer(query: ChatQuery) -> str:
        if "number" not in query.text:
            return "yes"
        return "yes" if yes[int(query.text.split("number ")[1].split()[0])] else "no"

    options = published(tmp_path)

    async def run() -> object:
        async with FakeServer(answer=answer) as server:
            endpoint = Endpoint(base_url=(server.base_url,), model="fake-vlm")
            async with ChatClient(endpoint) as client:
                chat = chat_over(client, endpoint.preparation)
                judge = JUDGES.get("visionreward")({**options, **options_at(endpoint)}, chat)
                verdict = await judge.judge(exhibit())
                assert server.counts.requests == 31
                assert judge.name == "visionreward/fake-vlm"
                return verdict.score

    coef = json.loads(Path(options["weights"]).read_text())["coef"]
    assert asyncio.run(run()) == pytest.approx(theirs(yes, 1.0, coef, 0.25))


@pytest.mark.torch
@pytest.mark.skipif(not HAS_TORCH, reason="needs the vision extra: pip install 'imarena[vision]'")
@pytest.mark.filterwarnings("default")
def test_on_a_tiny_local_model(tmp_path: Path) -> None:
    """Random words are neither yes nor no: the model really answers, and no verdict is made of it."""
    from imarena.clients.local_vlm import load_vlm
    from imarena.images import Preparation
    from tests.contract.clients.tiny_llava import make

    model = load_vlm(make(tmp_path / "model"), device="cpu", dtype="float32")
    options = published(tmp_path, 2)
    Path(options["weights"]).write_text("[1, 2]")
    judge = visionreward.make(options, chat_over(model, Preparation(28)))
    verdict = asyncio.run(judge.judge(exhibit()))
    assert verdict.status is Status.UNPARSABLE
    assert verdict.usage.output_tokens is not None
    assert verdict.usage.output_tokens >= 2
    assert all(isinstance(text, str) and text for text in json.loads(verdict.raw).values())
