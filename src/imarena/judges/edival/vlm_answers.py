"""Yes-or-no answers and text reading by a vision-language model at an endpoint (in the paper: Qwen2.5-VL-7B)."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO

from PIL import Image

from imarena.core import Chat, ChatPrompt, Pixels, ShareBox, sha256_hex
from imarena.core.records import Status, Usage
from imarena.judges.edival.tools import VLM, QualityMetric, YesNoQuestion, crop
from imarena.vision import TextLine

SYSTEM = "You look at images and answer short questions about them. You say only what can be seen."
READ = (
    'Which text can be read in this image? Answer with JSON: {"text": "..."}. Copy it letter by letter, and leave it '
    "empty where there is none."
)
QUALITY_QUESTION = (
    "How well made is this image? Consider whether it is pleasant to look at, whether it looks natural, and whether "
    "its parts fit together. Answer with one number from 0 to 100 and nothing else: 0 is neither pleasant nor natural, "
    "50 is neutral, 100 is pleasant and natural."
)
"""The zero-shot question of appendix N, in our own words."""
_NUMBER = re.compile(r"(?<![\d.-])\d+(?:\.\d+)?")
_YES_NO = re.compile(r"\b(yes|no)\b", re.IGNORECASE)


class QuestionFailed(Exception):
    """The model gave no usable answer; `status` says why."""

    def __init__(self, status: Status, error: str, usage: Usage) -> None:
        super().__init__(error)
        self.status, self.error, self.usage = status, error, usage


@dataclass(frozen=True)
class VlmAnswers:
    """Asks a model about the edited image or a crop of it."""

    chat: Chat
    model: str
    name: str = VLM
    compares: bool = False

    @property
    def version(self) -> str:
        """The model and the version of the questions."""
        return f"{self.model}+1"

    async def answer(self, question: YesNoQuestion, after: Pixels, before: Pixels) -> bool | None:
        """The first yes or no in the reply. For a replacement, the model sees both images."""
        earlier: list[str | bytes] = []
        if question.kind == "replaced":
            earlier += ["The image before the edit:", png(before, None), "The image after the edit:"]
        parts = (*earlier, png(after, question.box), f"{question.text} Answer with one word: yes or no.")
        answer = _YES_NO.search(await _ask(self.chat, parts))
        return None if answer is None else answer.group(1).lower() == "yes"

    async def read(self, pixels: Pixels, box: ShareBox | None) -> Sequence[TextLine]:
        """Read the text of the image, or of a part of it, as one line."""
        reply = await _ask(self.chat, (png(pixels, box), READ))
        match = re.search(r"\{.*\}", reply, re.DOTALL)
        try:
            text = str(json.loads(match.group(0))["text"]) if match else reply
        except (ValueError, KeyError, TypeError):
            text = reply
        return (TextLine(text.strip(), 1.0, box or (0.0, 0.0, 1.0, 1.0)),) if text.strip() else ()


def vlm_metric(chat: Chat, model: str) -> QualityMetric:
    """Make a quality measure that asks a model for 0 to 100 (appendix N). Its version names model and question."""

    async def measure(pixels: Pixels) -> float:
        reply = await _ask(chat, (png(pixels, None), QUALITY_QUESTION))
        numbers = [float(digits) for digits in _NUMBER.findall(reply.replace("/100", ""))]
        if len(numbers) != 1 or numbers[0] > 100:
            raise QuestionFailed(Status.UNPARSABLE, f"The reply is no number from 0 to 100: {reply[:80]!r}.", Usage())
        return numbers[0]

    return QualityMetric(VLM, f"{model}+{sha256_hex(QUALITY_QUESTION.encode())[:8]}", measure, (0.0, 100.0))


async def _ask(chat: Chat, parts: Sequence[str | bytes]) -> str:
    """Return the reply, or raise `QuestionFailed`."""
    answer = await chat(ChatPrompt(SYSTEM, tuple(parts), max_tokens=128))
    if answer.status is not Status.OK:
        raise QuestionFailed(answer.status, answer.error, answer.usage)
    return answer.text


def png(pixels: Pixels, box: ShareBox | None) -> bytes:
    """Encode an image, or the part of it in a box, as PNG."""
    if box is not None:
        pixels = crop(pixels, box)
    sink = BytesIO()
    Image.fromarray(pixels).save(sink, format="PNG")
    return sink.getvalue()
