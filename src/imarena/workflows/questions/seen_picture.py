"""Run image tools without a workspace: objects, words, the salient region, colours, faces and quality."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from imarena.core import ImarenaError, InvalidImage, Mask, UserError, first_line, sha256_hex
from imarena.core.records import Evidence, JsonDict, Status
from imarena.images import boxes_in, masks_in, pixels
from imarena.reports import SeenBox, picture_with_boxes
from imarena.vision import PICTURE_TOOLS, PictureTool, find_picture_tool
from imarena.workflows.questions.single_edit import ImageInput, image_bytes

BOXED = ("objects", "faces", "words", "salient")
"""Tools whose results have boxes."""


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The result of one tool for an image; without an answer (`status` is not ok) there is no value."""

    tool: str
    version: str
    kind: str
    status: Status
    value: JsonDict | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class SeenPicture:
    """An image and the result of each tool. Boxes are in pixels, after applying the EXIF orientation."""

    picture: str
    status: Status
    error: str = ""
    sha256: str = ""
    width: int = 0
    height: int = 0
    answers: dict[str, ToolAnswer] = field(default_factory=dict)
    """The result by tool name: objects, words, salient, colours, faces, quality."""

    @property
    def complete(self) -> bool:
        """Whether every tool succeeded."""
        return self.status is Status.OK and all(answer.status is Status.OK for answer in self.answers.values())

    def boxes(self, name: str) -> list[SeenBox]:
        """The results of `objects`, `faces`, `words` or `salient`, with boxes in pixels; empty if the tool failed."""
        answer = self.answers.get(name)
        if answer is None or answer.value is None:
            return []
        evidence = Evidence(image_sha256=self.sha256, tool=answer.tool, kind=answer.kind, value=answer.value)
        if name == "salient":
            return [_region(mask.mask, mask.score) for mask in masks_in(evidence)]
        return [
            SeenBox((round(left, 1), round(top, 1), round(right, 1), round(bottom, 1)), item.score, item.label)
            for item in boxes_in(evidence, self.width, self.height)
            for left, top, right, bottom in [item.box]
        ]

    def to_json(self) -> dict[str, Any]:
        """The document of ``--json``. A tool that failed has null; `tools` contains the reason."""
        data: dict[str, Any] = {name: getattr(self, name) for name in ("picture", "status", "error", "sha256")}
        data |= {"width": self.width, "height": self.height}
        for name, answer in self.answers.items():
            if answer.value is None:
                data[name] = None
            elif name in ("colours", "quality"):
                data[name] = answer.value["colours"] if name == "colours" else answer.value
            else:
                data[name] = [_document(name, box) for box in self.boxes(name)]
        data["tools"] = {
            name: {"tool": answer.tool, "version": answer.version, "status": answer.status, "error": answer.error}
            for name, answer in self.answers.items()
        }
        return data


def _document(name: str, box: SeenBox) -> dict[str, Any]:
    if box.share is not None:
        return {"score": box.score, "share": box.share, "box": list(box.box)}
    return {"text" if name == "words" else "label": box.label, "score": box.score, "box": list(box.box)}


def _region(mask: Mask, score: float) -> SeenBox:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    box = (int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1)
    return SeenBox(box, score, share=round(float(mask.mean()), 4))


def see(picture: ImageInput, tools: Sequence[str] = ()) -> SeenPicture:
    """Run tools on one image, given as a path or as bytes. Without `tools`, run all of `PICTURE_TOOLS`.

    If the image cannot be read or a tool fails, the result has a status; no exception is raised. An unknown tool
    raises `UserError`.
    """
    picture_tools = [find_picture_tool(name) for name in tools or PICTURE_TOOLS]
    name = "image" if isinstance(picture, bytes) else str(picture)
    try:
        data = image_bytes(picture)
        image = pixels(data)
    except (InvalidImage, UserError) as error:
        return SeenPicture(name, Status.INVALID_IMAGE, error=first_line(error))
    answers = {tool.name: _answer(tool, image) for tool in picture_tools}
    return SeenPicture(name, Status.OK, "", sha256_hex(data), image.shape[1], image.shape[0], answers)


def draw_boxes(picture: ImageInput, seen: SeenPicture) -> bytes:
    """Return a PNG of the image with the detected boxes. Raises `UserError` if the image has changed since."""
    data = image_bytes(picture)
    if sha256_hex(data) != seen.sha256:
        raise UserError(f"{seen.picture} has changed since it was looked at.", hint="Run it again.")
    return picture_with_boxes(data, {name: seen.boxes(name) for name in BOXED})


def _answer(tool: PictureTool, image: Any) -> ToolAnswer:
    try:
        value = tool.look(image)
    except ImarenaError as error:
        status, reason = Status.INVALID_IMAGE, first_line(error)
    except Exception as error:  # noqa: BLE001 - a tool's failure is a status, as in a run
        status, reason = Status.INVALID_IMAGE, f"{type(error).__name__}: {error}"[:300]
    else:
        return ToolAnswer(tool.tool, tool.version(), tool.kind, Status.OK, value)
    return ToolAnswer(tool.tool, tool.version(), tool.kind, status, error=reason)
