"""Embedding scores as judges: CLIPScore, CLIP-I and DINO, on any model folder of that kind (the `vision` extra).

They measure similarity, not success: CLIP-I and DINO are highest for an editor that returns its input
(CV-Arena, appendix L). So they are recorded under one dimension (see the catalog) and never enter a board about
overall quality. Use them in addition to a judge, not instead of one.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, JsonValue

from imarena.core import Chat, Exhibit, InvalidImage, JudgeTraits, UserError, Verdict
from imarena.core.records import FrozenModel, JsonDict, Status
from imarena.images import decode
from imarena.judges.catalog import MakeJudge
from imarena.judges.options import read_judge_options
from imarena.vision import ModelLock, clip_embedder, dino_embedder, model_folder, model_label, weights_sha256

_EmbeddingKind = Literal["clipscore", "clip-i", "dino"]


class EmbeddingSettings(FrozenModel):
    """`model`: the model's folder. `device`: `auto` uses CUDA if available.

    `scale`: CLIPScore's factor (2.5 in its paper); the other judges give the plain cosine.
    """

    model: str
    device: str = "auto"
    scale: float = Field(default=2.5, gt=0)


@dataclass(frozen=True)
class EmbeddingJudge:
    """A pointwise judge: the cosine of two embeddings."""

    kind: _EmbeddingKind
    settings: EmbeddingSettings
    folder: Path
    version: str = "2"
    """Version 1 gave the same numbers but recorded them as overall quality."""
    prompt_id: str = ""
    prompt_version: str = ""
    _lock: ModelLock = field(default_factory=ModelLock, repr=False, compare=False)

    @property
    def name(self) -> str:
        return f"{self.kind}/{model_label(self.folder)}"

    @property
    def traits(self) -> JudgeTraits:
        """CLIPScore compares with the instruction, the others with the source."""
        return JudgeTraits(needs_source=self.kind != "clipscore", gpus=1.0)

    @property
    def params(self) -> JsonDict:
        """The hash of the weights instead of their path, and CLIPScore's scale; not the device."""
        scale: JsonDict = {"scale": self.settings.scale} if self.kind == "clipscore" else {}
        return {"weights_sha256": weights_sha256(self.folder), **scale}

    async def judge(self, exhibit: Exhibit) -> Verdict:
        """Score `exhibit.left`; an image that cannot be decoded gives a status."""
        if exhibit.right is not None:
            raise UserError(f"{self.kind} scores one output and got two.", hint="Compare its scores instead.")
        if self.kind != "clipscore" and not exhibit.sources:
            raise UserError(f"{self.kind} compares with a source and there is none.", hint="Use clipscore.")
        return await asyncio.to_thread(self._score, exhibit)

    def _score(self, exhibit: Exhibit) -> Verdict:
        try:
            output = decode(exhibit.left)
            reference = exhibit.instruction if self.kind == "clipscore" else decode(exhibit.sources[0])
        except InvalidImage as error:
            return Verdict(Status.INVALID_IMAGE, error=str(error))
        with self._lock:
            cosine = float(self._embed(output) @ self._embed(reference))
        score = self.settings.scale * max(cosine, 0.0) if self.kind == "clipscore" else cosine
        return Verdict(Status.OK, score=score, scores={"cosine": cosine}, model=model_label(self.folder))

    @cached_property
    def _embed(self) -> Callable[..., NDArray[np.float32]]:
        load = dino_embedder if self.kind == "dino" else clip_embedder
        return load(self.folder, self.settings.device, f"The judge '{self.kind}'")


def _maker(kind: _EmbeddingKind) -> MakeJudge:
    def make(options: Mapping[str, JsonValue], _: Chat | None) -> EmbeddingJudge:
        settings = read_judge_options(EmbeddingSettings, options, kind)
        return EmbeddingJudge(kind, settings, model_folder(settings.model, f"The judge '{kind}'"))

    return make


make_clipscore = _maker("clipscore")
"""A judge that gives `scale` * max(cos(image, instruction), 0)."""
make_clip_i = _maker("clip-i")
"""A judge that gives cos(first source, output) of CLIP image embeddings."""
make_dino = _maker("dino")
"""A judge that gives cos(first source, output) of DINO class tokens."""
