"""Reward models that consist of a vision-language model with a small head: EditReward, HPSv3 and similar models.

The head is an MLP with ReLUs on the hidden state of one token and gives two numbers: a mean reward and the logarithm
of its uncertainty. Its layers are read from the tensors' names and shapes (``rm_head.*``, ``rm_heads.head_0.*``).
A reward has no bounds; only the order of rewards is meaningful.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from PIL import Image
from pydantic import JsonValue

from imarena.core import Chat, Exhibit, InvalidImage, JudgeTraits, UserError, Verdict, sha256_hex
from imarena.core.records import FrozenModel, JsonDict, Status
from imarena.images import decode
from imarena.judges.options import read_judge_options
from imarena.vision import (
    ModelLock,
    apply_head,
    device_of,
    import_torch,
    load_pretrained,
    model_folder,
    model_label,
    read_heads,
    weights_sha256,
)

_RewardKind = Literal["editreward", "hpsv3"]

QUESTIONS: Mapping[_RewardKind, tuple[str, ...]] = {
    "editreward": (
        "How well does the second picture carry out this instruction for editing the first? {instruction}",
        "How good is the second picture as a picture, as an edit of the first? {instruction}",
    ),
    "hpsv3": ("How good is this picture for the caption: {instruction}",),
}
"""Our questions, one per head. Released models were trained with their own wording: give it as `questions`."""


class RewardSettings(FrozenModel):
    """`token`: the special token whose state is read, by default the last one. `reduce`: how to combine the heads."""

    model: str
    device: str = "auto"
    questions: tuple[str, ...] = ()
    token: str = ""
    reduce: Literal["mean", "min"] = "mean"


@dataclass(frozen=True)
class RewardJudge:
    """A pointwise judge; EditReward sees source and output, HPSv3 only the output."""

    kind: _RewardKind
    settings: RewardSettings
    folder: Path
    version: str = "1"
    prompt_version: str = "1"
    _lock: ModelLock = field(default_factory=ModelLock, repr=False, compare=False)

    @property
    def name(self) -> str:
        return f"{self.kind}/{model_label(self.folder)}"

    @property
    def questions(self) -> tuple[str, ...]:
        return self.settings.questions or QUESTIONS[self.kind]

    @property
    def prompt_id(self) -> str:
        return f"{self.kind}-{sha256_hex(chr(0).join(self.questions).encode())[:12]}"

    @property
    def traits(self) -> JudgeTraits:
        """EditReward also needs the source."""
        return JudgeTraits(needs_source=self.kind == "editreward", gpus=1.0)

    @property
    def params(self) -> JsonDict:
        return {
            "weights_sha256": weights_sha256(self.folder),
            "questions": list(self.questions),
            "token": self.settings.token,
            "reduce": self.settings.reduce,
        }

    async def judge(self, exhibit: Exhibit) -> Verdict:
        """Compute the reward of `exhibit.left`; higher is better, and 0 has no special meaning."""
        if exhibit.right is not None:
            raise UserError(f"{self.kind} scores one output and got two.", hint="Compare its scores instead.")
        if self.kind == "editreward" and not exhibit.sources:
            raise UserError("editreward compares with a source and there is none.", hint="Use hpsv3.")
        return await asyncio.to_thread(self._score, exhibit)

    def _score(self, exhibit: Exhibit) -> Verdict:
        images = [*exhibit.sources[:1], exhibit.left] if self.kind == "editreward" else [exhibit.left]
        try:
            pictures = [decode(data) for data in images]
        except InvalidImage as error:
            return Verdict(Status.INVALID_IMAGE, error=str(error))
        with self._lock:
            heads = [
                self._model.reward(pictures, question.replace("{instruction}", exhibit.instruction), number)
                for number, question in enumerate(self.questions)
            ]
        means = [head[0] for head in heads]
        scores = {f"reward_{number + 1}": mean for number, mean in enumerate(means)}
        scores |= {f"log_uncertainty_{n + 1}": head[1] for n, head in enumerate(heads) if len(head) > 1}
        score = min(means) if self.settings.reduce == "min" else sum(means) / len(means)
        return Verdict(Status.OK, score=score, scores=scores, model=model_label(self.folder))

    @cached_property
    def _model(self) -> "RewardModel":
        return RewardModel(self.folder, self.settings.device, self.settings.token, len(self.questions), self.kind)


class RewardModel:
    """Backbone, processor and heads, loaded once."""

    def __init__(self, folder: Path, device: str, token: str, n_heads: int, kind: str) -> None:
        self._torch, transformers = import_torch(f"The judge '{kind}'")
        device = device_of(self._torch, device)
        self._heads = read_heads(folder, device)
        if len(self._heads) not in (1, n_heads):
            raise UserError(
                f"{folder} has {len(self._heads)} reward heads and {n_heads} questions were given.",
                hint="Give one question a head.",
            )
        loader = transformers.AutoModelForImageTextToText
        self._backbone = load_pretrained(loader, folder, use_safetensors=True).to(device).eval()
        self._processor = load_pretrained(transformers.AutoProcessor, folder)
        self._device = device
        self._token = token

    def reward(self, pictures: list[Image.Image], question: str, head: int) -> tuple[float, ...]:
        """The head's outputs (mean, then log-uncertainty if it has one) for one question about the images."""
        content = [*({"type": "image"} for _ in pictures), {"type": "text", "text": question + self._token}]
        text = self._processor.apply_chat_template([{"role": "user", "content": content}], add_generation_prompt=True)
        inputs = self._processor(text=[text], images=pictures, return_tensors="pt")
        inputs = inputs.to(self._device, dtype=self._backbone.dtype)  # casts only floats; token ids stay whole
        torch = self._torch
        with torch.inference_mode():
            states = self._backbone(**inputs, output_hidden_states=True).hidden_states[-1][0]
            state = states[self._position(inputs["input_ids"][0])]
            return apply_head(torch, self._heads[head if len(self._heads) > 1 else 0], state)

    def _position(self, ids: Any) -> int:
        if not self._token:
            return -1
        token_id = self._processor.tokenizer.convert_tokens_to_ids(self._token)
        positions = (ids == token_id).nonzero().flatten().tolist()
        if len(positions) != 1:
            raise UserError(
                f"The question contains the token '{self._token}' {len(positions)} times, not once.",
                hint="Name a special token that the model's tokenizer knows.",
            )
        return int(positions[0])


def make_editreward(options: Mapping[str, JsonValue], chat: Chat | None) -> RewardJudge:  # noqa: ARG001
    """EditReward: the combined means of two heads (instruction following, visual quality)."""
    return _make("editreward", options)


def make_hpsv3(options: Mapping[str, JsonValue], chat: Chat | None) -> RewardJudge:  # noqa: ARG001
    """HPSv3: one head on the output and its caption."""
    return _make("hpsv3", options)


def _make(kind: _RewardKind, options: Mapping[str, JsonValue]) -> RewardJudge:
    settings = read_judge_options(RewardSettings, options, kind)
    return RewardJudge(kind, settings, model_folder(settings.model, f"The judge '{kind}'"))
