"""CLIP_dir (Gal et al. 2022): does an edit move the image's CLIP features in the same direction as the text's?

cos(image after - image before, text after - text before). The texts come from the plan of an object-centric item.
EdiVal-Agent compares its rules with this score at the best threshold for each edit type (section 2.5).
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from pydantic import JsonValue

from imarena.core import Chat, Exhibit, InvalidImage, JudgeTraits, ObjectTurn, PlannedEdit, UserError, Verdict
from imarena.core.records import FrozenModel, JsonDict, Mode, Status
from imarena.images import decode
from imarena.judges.options import read_judge_options
from imarena.vision import ImageOrTextEmbedder, ModelLock, clip_embedder, model_folder, model_label, weights_sha256

KIND = "clip-dir"
_LEAST = 1e-6


class ClipDirectionSettings(FrozenModel):
    """`model`: a folder, a name from `imarena weights list` or a hub ID. `device`: `auto` uses CUDA if available."""

    model: str = "clip-vit-large-patch14"
    device: str = "auto"


@dataclass(frozen=True)
class ClipDirectionJudge:
    """A pointwise judge of items with a plan."""

    settings: ClipDirectionSettings
    folder: Path
    version: str = "1"
    prompt_id: str = ""
    prompt_version: str = ""
    _lock: ModelLock = field(default_factory=ModelLock, repr=False, compare=False)

    @property
    def name(self) -> str:
        return f"{KIND}/{model_label(self.folder)}"

    @property
    def traits(self) -> JudgeTraits:
        """The judge needs the plan and the image before the edit."""
        return JudgeTraits(dimension="instruction_following", needs_source=True, needs_plan=True, gpus=1.0)

    @property
    def params(self) -> JsonDict:
        """The hash of the weights, not their path."""
        return {"weights_sha256": weights_sha256(self.folder)}

    async def judge(self, exhibit: Exhibit) -> Verdict:
        """The cosine, -1 to 1; `refused` if image or text features do not change, since there is no direction."""
        if exhibit.right is not None:
            raise UserError(f"{KIND} scores one output and got two.", hint="Compare its scores instead.")
        if exhibit.planned is None:
            return Verdict(Status.REFUSED, error="The item has no plan of objects and turns.")
        return await asyncio.to_thread(self._score, exhibit.planned, exhibit.left)

    def _score(self, planned: PlannedEdit, output: bytes) -> Verdict:
        complex_mode = planned.mode is Mode.COMPLEX
        turns = planned.plan.turns[: planned.turn + 1] if complex_mode else planned.plan.turns[planned.turn :][:1]
        before, after = edit_captions(turns)
        source = planned.chain[-1] if planned.mode is Mode.MULTI_TURN else planned.chain[0]
        try:
            images = decode(source), decode(output)
        except InvalidImage as error:
            return Verdict(Status.INVALID_IMAGE, error=str(error))
        with self._lock:
            moved = self._embed(images[1]) - self._embed(images[0])
            direction = self._embed(after) - self._embed(before)
        lengths = float(np.linalg.norm(moved)), float(np.linalg.norm(direction))
        if min(lengths) < _LEAST:
            subject = "The features of the image" if lengths[0] < _LEAST else "The features of the words"
            return Verdict(Status.REFUSED, error=f"{subject} are the same before and after the edit: no direction.")
        cosine = float(moved @ direction) / (lengths[0] * lengths[1])
        captions: JsonDict = {"before": before, "after": after}
        return Verdict(Status.OK, score=cosine, reasons=captions, model=model_label(self.folder))

    @cached_property
    def _embed(self) -> ImageOrTextEmbedder:
        return clip_embedder(self.folder, self.settings.device, f"The judge '{KIND}'")


def edit_captions(turns: Sequence[ObjectTurn]) -> tuple[str, str]:
    """Captions for the image before and after the edits."""
    pairs = [_captions(turn) for turn in turns]
    return tuple(", ".join(dict.fromkeys(texts)) for texts in zip(*pairs, strict=True))  # type: ignore[return-value]


def _captions(turn: ObjectTurn) -> tuple[str, str]:
    thing, new, scene = turn.object or "scene", turn.new_object or "", "a photo"
    if turn.type == "subject_add":
        place = f" {_side(turn)} the {turn.reference}" if turn.reference and turn.position else ""
        return scene, f"{scene} with a {new}{place}"
    if turn.type == "subject_remove":
        return f"{scene} with a {thing}", scene
    if turn.type == "subject_replace":
        return f"{scene} of a {thing}", f"{scene} of a {new}"
    if turn.type == "position_change":
        return f"{scene} of a {thing} and a {turn.reference}", f"{scene} of a {thing} {_side(turn)} a {turn.reference}"
    changes = {
        "color_alter": f"{scene} of a {turn.color} {thing}",
        "material_alter": f"{scene} of a {thing} made of {turn.material}",
        "text_change": f"{scene} of a {thing} with the text '{turn.text}'",
        "count_change": f"{scene} of {turn.count} times a {thing}",
        "background_change": f"{scene} of a {thing} in front of {turn.background}",
    }
    return f"{scene} of a {thing}", changes[turn.type]


def _side(turn: ObjectTurn) -> str:
    position = turn.position or "left"
    return f"to the {position} of" if position in ("left", "right") else position


def make(options: Mapping[str, JsonValue], chat: Chat | None) -> ClipDirectionJudge:  # noqa: ARG001
    """The judge from a table of options."""
    settings = read_judge_options(ClipDirectionSettings, options, KIND)
    return ClipDirectionJudge(settings, model_folder(settings.model, f"The judge '{KIND}'"))
