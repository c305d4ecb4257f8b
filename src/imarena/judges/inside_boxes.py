"""`inside-boxes`: does the change stay inside the boxes of the edit? It uses evidence and pixels, no model.

Boxes are evidence of the kind `edit_boxes` about the first source image. The score is the share of unchanged pixels
outside all boxes, so it is highest for an editor that changes nothing: it measures only consistency.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from pydantic import Field, JsonValue

from imarena.core import Chat, Exhibit, InvalidImage, JudgeTraits, UserError, Verdict
from imarena.core.records import FrozenModel, JsonDict, Status
from imarena.images import EDIT_BOXES, Box, box_to_mask, boxes_in, decode, difference
from imarena.judges.options import read_judge_options


class InsideBoxesSettings(FrozenModel):
    """`tolerance`: a pixel counts as changed if a channel differs by more than this share of its range.

    `margin`: each box grows on every side by this share of its own width or height.
    """

    tolerance: float = Field(default=0.1, ge=0, lt=1)
    margin: float = Field(default=0.05, ge=0, le=1)


@dataclass(frozen=True)
class InsideBoxes:
    """Scores one output on 0 to 1."""

    settings: InsideBoxesSettings = InsideBoxesSettings()
    name: str = "inside-boxes"
    version: str = "1"
    prompt_id: str = ""
    prompt_version: str = ""
    traits: JudgeTraits = JudgeTraits(needs_source=True, evidence=(EDIT_BOXES,), cpu_bound=True, seconds=0.1)

    @property
    def params(self) -> JsonDict:
        """The settings that a verdict depends on."""
        return self.settings.model_dump(mode="json")

    async def judge(self, exhibit: Exhibit) -> Verdict:
        """Compare `exhibit.left` with the first source. No score without boxes, or if they cover all or none of it."""
        if exhibit.right is not None:
            raise UserError("inside-boxes scores one output and got two.", hint="Compare its scores instead.")
        evidence_of_boxes = exhibit.evidence_of(EDIT_BOXES, exhibit.sources[0]) if exhibit.sources else ()
        if not evidence_of_boxes:
            return Verdict(Status.REFUSED, error="There is no source with boxes that the edit should stay in.")
        try:
            source, output = decode(exhibit.sources[0]), decode(exhibit.left)
        except InvalidImage as error:
            return Verdict(Status.INVALID_IMAGE, error=str(error))
        width, height = source.size
        try:
            boxes = [labelled.box for evidence in evidence_of_boxes for labelled in boxes_in(evidence, width, height)]
        except UserError as error:
            return Verdict(Status.UNPARSABLE, error=str(error))
        inside = np.zeros((height, width), np.bool_)
        for box in boxes:
            inside |= box_to_mask(Box(*box).padded(self.settings.margin), width, height)
        if inside.all() or not inside.any():
            return Verdict(Status.REFUSED, error="The boxes cover all of the image or nothing of it.")
        changed = difference(source, output) > self.settings.tolerance
        preserved, done = 1.0 - float(changed[~inside].mean()), float(changed[inside].mean())
        reasons: JsonDict = {"boxes": len(boxes), "inside_area": round(float(inside.mean()), 4)}
        return Verdict(
            Status.OK, score=preserved, scores={"kept_outside": preserved, "changed_inside": done}, reasons=reasons
        )


def make(options: Mapping[str, JsonValue], chat: Chat | None) -> InsideBoxes:  # noqa: ARG001
    """The judge from a table of options."""
    return InsideBoxes(read_judge_options(InsideBoxesSettings, options, "inside-boxes"))
