"""Chats that say what a test tells them to, and exhibits to show them."""

import io
import json
from collections.abc import Callable
from dataclasses import dataclass, field

from PIL import Image

from imarena.core.protocols import ChatAnswer, ChatPrompt, Exhibit
from imarena.core.records import Status, Usage


def picture(colour: str = "red", size: tuple[int, int] = (24, 24)) -> bytes:
    """A small PNG of one colour."""
    file = io.BytesIO()
    Image.new("RGB", size, colour).save(file, "PNG")
    return file.getvalue()


RED, GREEN, BLUE = picture("red"), picture("green"), picture("blue")


def exhibit(
    right: bytes | None = None, *, sources: tuple[bytes, ...] = (RED,), instruction: str = "Make it green."
) -> Exhibit:
    return Exhibit(instruction=instruction, left=GREEN, right=right, sources=sources)


@dataclass
class ScriptedChat:
    """Answers by a function of the question and keeps what it was asked."""

    say: Callable[[ChatPrompt], str | ChatAnswer]
    asked: list[ChatPrompt] = field(default_factory=list)

    async def __call__(self, prompt: ChatPrompt) -> ChatAnswer:
        self.asked.append(prompt)
        said = self.say(prompt)
        if isinstance(said, ChatAnswer):
            return said
        return ChatAnswer(
            Status.OK, said, model="tiny-vl", usage=Usage(input_tokens=10, output_tokens=3, latency_s=0.5)
        )


def always(reply: object) -> ScriptedChat:
    """A chat that always gives the same reply; anything but a string is sent as JSON."""
    return ScriptedChat(lambda _: reply if isinstance(reply, str) else json.dumps(reply))


def failing(status: Status, text: str = "") -> ScriptedChat:
    return ScriptedChat(lambda _: ChatAnswer(status, text, error=f"it ended {status.value}"))
