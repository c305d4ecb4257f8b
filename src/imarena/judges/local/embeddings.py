"""Embedding scores as judges: CLIPScore, CLIP-I and DINO, on any model folder of that kind (the `vision` extra).

They measure likeness, not success: CLIP-I and DINO are highest for an editor that returns its input
(CV-Arena, appendix L). So they are recorded under one dimension (see the catalog) and never enter a board about the
whole. Use them beside a judge, not in its place.
"""

import asyncio
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from PIL import Image
from pydantic import Field, JsonValue

from imarena.core import Chat, Exhibit, InvalidImage, JudgeTraits, UserError, Verdict
from imarena.core.records import JsonDict, Noun, Status
from imarena.images import decode
from imarena.judges.local.model import (
    device_of,
    import_torch,
    load_pretrained,
    model_folder,
    model_label,
    weights_sha256,
)
from imarena.judges.options import read_judge_options

Kind = Literal["clipscore", "clip-i", "dino"]
Embed = Callable[[Image.Image | str], Any]
"""A picture or a text in, a unit vector (torch, shape (d,)) out."""


class EmbeddingSettings(Noun):
    """`model`: the model's folder. `device`: `auto` is CUDA if there is one.

    `scale`: CLIPScore's factor (2.5 in its paper); the others give the cosine.
    """

    model: str
    device: str = "auto"
    scale: float = Field(default=2.5, gt=0)


@dataclass(frozen=True)
class EmbeddingJudge:
    """A pointwise judge that compares two embeddings by their cosine."""

    kind: Kind
    settings: EmbeddingSettings
    folder: Path
    version: str = "2"
    """1: the same numbers, recorded as if they were about the whole."""
    prompt_id: str = ""
    prompt_version: str = ""
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    @property
    def name(self) -> str:
        return f"{self.kind}/{model_label(self.folder)}"

    @property
    def traits(self) -> JudgeTraits:
        """CLIPScore compares with the words, the others with the source."""
        return JudgeTraits(needs_source=self.kind != "clipscore")

    @property
    def params(self) -> JsonDict:
        """The weights by hash, not by path; the device does not change what is asked."""
        scale: JsonDict = {"scale": self.settings.scale} if self.kind == "clipscore" else {}
        return {"weights_sha256": weights_sha256(self.folder), **scale}

    async def judge(self, exhibit: Exhibit) -> Verdict:
        """Score `exhibit.left`; a picture that cannot be decoded is a status."""
        if exhibit.right is not None:
            raise UserError(f"{self.kind} scores one output and got two.", hint="Compare its scores instead.")
        if self.kind != "clipscore" and not exhibit.sources:
            raise UserError(f"{self.kind} compares with a source and there is none.", hint="Use clipscore.")
        return await asyncio.to_thread(self._score, exhibit)

    def _score(self, exhibit: Exhibit) -> Verdict:
        try:
            shown = decode(exhibit.left)
            other = exhibit.instruction if self.kind == "clipscore" else decode(exhibit.sources[0])
        except InvalidImage as error:
            return Verdict(Status.INVALID_IMAGE, error=str(error))
        with self._lock:
            cosine = float((self._embed(shown) * self._embed(other)).sum())
        score = self.settings.scale * max(cosine, 0.0) if self.kind == "clipscore" else cosine
        return Verdict(Status.OK, score=score, scores={"cosine": cosine}, model=model_label(self.folder))

    @cached_property
    def _embed(self) -> Embed:
        loaders = {"clipscore": clip_embedder, "clip-i": clip_embedder, "dino": dino_embedder}
        return loaders[self.kind](self.folder, self.settings.device)


def make_clipscore(options: Mapping[str, JsonValue], chat: Chat | None) -> EmbeddingJudge:  # noqa: ARG001
    """Scale * max(cos(image, instruction), 0)."""
    return _make("clipscore", options)


def make_clip_i(options: Mapping[str, JsonValue], chat: Chat | None) -> EmbeddingJudge:  # noqa: ARG001
    """cos(source, output) of CLIP image embeddings; the first source counts."""
    return _make("clip-i", options)


def make_dino(options: Mapping[str, JsonValue], chat: Chat | None) -> EmbeddingJudge:  # noqa: ARG001
    """cos(source, output) of DINO class tokens; the first source counts."""
    return _make("dino", options)


def _make(kind: Kind, options: Mapping[str, JsonValue]) -> EmbeddingJudge:
    settings = read_judge_options(EmbeddingSettings, options, kind)
    return EmbeddingJudge(kind, settings, model_folder(settings.model, kind))


def clip_embedder(folder: Path, device: str) -> Embed:
    """CLIP's projected, normalised features of a picture or a text (cut to the model's length)."""
    torch, transformers = import_torch("clipscore")
    device = device_of(torch, device)
    model = load_pretrained(transformers.AutoModel, folder, use_safetensors=True).to(device).eval()
    images = load_pretrained(transformers.AutoImageProcessor, folder)
    tokens = load_pretrained(transformers.AutoTokenizer, folder)
    if not hasattr(model, "get_text_features"):
        raise UserError(f"{folder} is not a CLIP model: it has no text features.", hint="Give a CLIP or SigLIP folder.")
    longest = model.config.text_config.max_position_embeddings

    def embed(given: Image.Image | str) -> Any:
        with torch.inference_mode():
            if isinstance(given, str):
                words = tokens([given], truncation=True, max_length=longest, return_tensors="pt").to(device)
                features = model.get_text_features(**words)
            else:
                pixels = images(images=[given], return_tensors="pt")["pixel_values"].to(device)
                features = model.get_image_features(pixel_values=pixels)
            return _unit(torch, getattr(features, "pooler_output", features)[0])

    return embed


def dino_embedder(folder: Path, device: str) -> Embed:
    """The normalised class token of a DINO, DINOv2 or other ViT encoder."""
    torch, transformers = import_torch("dino")
    device = device_of(torch, device)
    model = load_pretrained(transformers.AutoModel, folder, use_safetensors=True).to(device).eval()
    images = load_pretrained(transformers.AutoImageProcessor, folder)

    def embed(given: Image.Image | str) -> Any:
        with torch.inference_mode():
            pixels = images(images=[given], return_tensors="pt")["pixel_values"].to(device)
            return _unit(torch, model(pixel_values=pixels).last_hidden_state[0, 0])

    return embed


def _unit(torch: Any, vector: Any) -> Any:
    """A vector of length 1; one without a length (a broken model) raises rather than gives a score."""
    length = torch.linalg.vector_norm(vector.float())
    if not bool(torch.isfinite(length)) or float(length) == 0.0:
        raise UserError("The model gives an embedding without a direction.", hint="Check its weights.")
    return vector.float() / length
