"""Training examples: chats with a question about a pair and its answer, in the format of Qwen-VL trainers."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from imarena.core import UserError, command_line

ANSWERS = ("A", "B")
"""The first image shown, and the second."""


@dataclass(frozen=True)
class TrainingExample:
    """One chat. `messages` end with the question; `images` are files, in the order of the chat's images."""

    messages: tuple[dict[str, Any], ...]
    images: tuple[Path, ...]
    answer: str
    """The reply that the model should write."""
    winner: str
    """`A` or `B`."""
    task: str = ""
    item: str = ""

    def chat(self) -> list[dict[str, Any]]:
        """The messages with image bytes in place of the images."""
        files = iter(self.images)
        return [{**message, "content": [_loaded(part, files) for part in message["content"]]} for message in
                self.messages]  # fmt: skip


def _loaded(part: dict[str, Any], files: Any) -> dict[str, Any]:
    return {"type": "image", "image": next(files).read_bytes()} if part["type"] == "image" else part


def winner_answer(letter: str) -> str:
    """The reply that states a winner, in the format that the judge's prompt asks for."""
    return json.dumps({"winner": letter})


def read_examples(path: Path) -> tuple[TrainingExample, ...]:
    """Read a JSON Lines file: `messages` (a chat that ends with the assistant's answer), `winner`, `task`, `item`.

    Images are paths relative to the file. An unusable line raises `UserError` with its number.
    """
    if not path.is_file():
        raise UserError(
            f"There is no training file {path}.",
            hint=f"Make one with `{command_line('pvc export training PAIRS OUT')}`.",
        )
    examples = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if line.strip():
            try:
                examples.append(_example(json.loads(line), path.parent))
            except (ValueError, KeyError, TypeError) as error:
                raise UserError(
                    f"{path}, line {number}, is not a training example: {error}",
                    hint=f"Each line has messages, winner and task, as `{command_line('pvc export training')}` "
                    "writes them.",
                ) from error
    if not examples:
        raise UserError(f"{path} holds no training example.", hint="Export pairs that have a winner.")
    return tuple(examples)


def _example(values: dict[str, Any], folder: Path) -> TrainingExample:
    *prompt, answer = values["messages"]
    if answer["role"] != "assistant" or not prompt:
        raise ValueError("the last message is not the assistant's")
    images = []
    for message in prompt:
        for part in message["content"]:
            if part["type"] == "image":
                file = folder / part["image"]
                if not file.is_file():
                    raise ValueError(f"there is no image {part['image']}")
                images.append(file)
    if values["winner"] not in ANSWERS:
        raise ValueError(f"the winner is {values['winner']!r}, not A or B")
    return TrainingExample(
        messages=tuple(prompt),
        images=tuple(images),
        answer="".join(part["text"] for part in answer["content"]),
        winner=values["winner"],
        task=str(values.get("task", "")),
        item=str(values.get("item", "")),
    )


def write_examples(path: Path, examples: Iterable[TrainingExample]) -> int:
    """Write examples as lines with absolute image paths; returns the number of lines."""
    count = 0
    with path.open("w", encoding="utf-8") as stream:
        for example in examples:
            files = iter(example.images)
            messages = [
                {**message, "content": [_with_path(part, files) for part in message["content"]]}
                for message in example.messages
            ]
            messages.append({"role": "assistant", "content": [{"type": "text", "text": example.answer}]})
            row = {"messages": messages, "winner": example.winner, "task": example.task, "item": example.item}
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")
            count += 1
    return count


def _with_path(part: dict[str, Any], files: Any) -> dict[str, Any]:
    return {"type": "image", "image": str(next(files).resolve())} if part["type"] == "image" else part
