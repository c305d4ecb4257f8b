"""Tools for a single image: objects, text, the salient region, colours, faces, quality. None needs torch.

Each result is the value of an `Evidence` record and is stored as it is. Its key is the image's hash and the
tool's version, which changes with the weights and with `_REVISION`.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version as package_version
from typing import Any

import numpy as np
from PIL import Image

from imarena.core import VERSION, Detection, Pixels, SegmentMask, UnknownName, suggestion
from imarena.core.records import JsonDict
from imarena.images import BOXES, MASKS, boxes_value, masks_value, shrink_pixels
from imarena.vision import catalog
from imarena.vision.catalog import Tool
from imarena.vision.model_weights.entries import weights_entries
from imarena.vision.model_weights.installed import installed_folder, read_weights_manifest
from imarena.vision.networks import network_version

Look = Callable[[Pixels], JsonDict]

EMBEDDING = "embedding"
METRIC = "metric"


def catalog_tool(name: str) -> tuple[Tool, str, Look] | None:
    """A registered tool: its description, its kind of evidence, and a function that runs it; None if unknown.

    A metric of two images does not work on one and is not found.
    """
    if name in catalog.DETECTOR_TOOLS:
        return catalog.DETECTOR_TOOLS[name], BOXES, _detections(name)
    if name in catalog.SEGMENTER_TOOLS:
        return catalog.SEGMENTER_TOOLS[name], MASKS, lambda pixels: masks_value(catalog.SEGMENTERS.get(name)(pixels))
    if name in catalog.EMBEDDER_TOOLS:
        return catalog.EMBEDDER_TOOLS[name], EMBEDDING, _vector(name)
    if name in catalog.METRIC_TOOLS and not catalog.METRIC_TOOLS[name].compares:
        return catalog.METRIC_TOOLS[name], METRIC, lambda pixels: {name: catalog.METRICS.get(name)(pixels)}
    return None


def catalog_names() -> list[str]:
    """The names that `catalog_tool` knows."""
    metrics = [name for name, tool in catalog.METRIC_TOOLS.items() if not tool.compares]
    return [*catalog.DETECTOR_TOOLS, *catalog.SEGMENTER_TOOLS, *catalog.EMBEDDER_TOOLS, *metrics]


def catalog_version(tool: Tool) -> str:
    """This program's version plus the hash or revision of the tool's weights: other weights give other results."""
    if not tool.weights:
        return VERSION
    folder = installed_folder(tool.weights)
    if folder is not None:
        files = read_weights_manifest(folder).files
        hash_lines = "".join(f"{name} {files[name].sha256}\n" for name in sorted(files))
        return f"{VERSION}+{hashlib.sha256(hash_lines.encode()).hexdigest()[:12]}"
    hub = weights_entries()[tool.weights].hub
    return f"{VERSION}+{hub.revision[:12]}" if hub is not None and hub.revision else VERSION


def _detections(name: str) -> Look:
    return lambda pixels: boxes_value(catalog.DETECTORS.get(name)(pixels), pixels.shape[1], pixels.shape[0])


def _vector(name: str) -> Look:
    def look(pixels: Pixels) -> JsonDict:
        vector: list[Any] = [round(float(number), 6) for number in catalog.EMBEDDERS.get(name)(pixels)]
        return {"vector": vector}

    return look


_REVISION = "1"
"""Version of the code around the weights; increase it when results may change."""
_SALIENT_SIDE = 1024
_QUALITY_SIDE = 2048
_SMALL_SHARE = 0.01
"""Colours that cover less of the image are not listed."""


@dataclass(frozen=True)
class PictureTool:
    """A tool that answers one question about an image."""

    name: str
    """The name that a user types."""
    tool: str
    kind: str
    """The kind of evidence."""
    about: str
    version: Callable[[], str]
    look: Callable[[Pixels], JsonDict]
    """Takes pixels (height, width, 3) and returns the value of the evidence."""
    gpus: float = 0.0
    """GPUs per worker on a cluster."""


def find_picture_tool(name: str) -> PictureTool:
    """A tool of `PICTURE_TOOLS` or of the catalog; an unknown name raises an error that suggests the nearest one."""
    if name in PICTURE_TOOLS:
        return PICTURE_TOOLS[name]
    entry = catalog_tool(name)
    if entry is None:
        names = [*PICTURE_TOOLS, *catalog_names()]
        raise UnknownName(f"There is no tool called '{name}' for one image.", hint=suggestion(name, names))
    tool, kind, look = entry
    return PictureTool(name, name, kind, tool.about, lambda: catalog_version(tool), look, gpus=tool.gpus)


def _rounded(detections: tuple[Detection, ...], pixels: Pixels) -> JsonDict:
    height, width = pixels.shape[:2]
    short = [
        Detection(_rounded_box(detection.box, width, height), detection.label, round(detection.score, 3))
        for detection in detections
    ]
    return boxes_value(short, width, height)


def _rounded_box(box: tuple[float, float, float, float], width: int, height: int) -> tuple[float, float, float, float]:
    """Round to a tenth of a pixel if the image is large enough for that."""
    left, top, right, bottom = (round(end, 1 if min(width, height) > 10 else 4) for end in box)
    return left, top, right, bottom


def _objects(pixels: Pixels) -> JsonDict:
    from imarena.vision.efficientdet import find_objects

    return _rounded(find_objects(pixels), pixels)


def _faces(pixels: Pixels) -> JsonDict:
    from imarena.vision.faces import detect_faces

    return _rounded(detect_faces(pixels), pixels)


def _words(pixels: Pixels) -> JsonDict:
    from imarena.vision.ocr import read_lines

    lines: list[Any] = [
        [line.text, round(line.confidence, 3), [round(end, 4) for end in line.box]]
        for line in read_lines(Image.fromarray(pixels))
    ]
    return {"lines": lines}


def _salient(pixels: Pixels) -> JsonDict:
    """A large image is scaled down first: the map has only 320 pixels per side anyway."""
    import cv2

    from imarena.vision.saliency import segment_salient

    height, width = pixels.shape[:2]
    masks = segment_salient(shrink_pixels(pixels, _SALIENT_SIDE))
    return masks_value(
        [
            SegmentMask(
                cv2.resize(mask.mask.astype(np.uint8), (width, height), interpolation=cv2.INTER_NEAREST) > 0,
                mask.label,
                round(mask.score, 3),
            )
            for mask in masks
        ]
    )


def _colours(pixels: Pixels) -> JsonDict:
    from imarena.vision.colour import BASIC_COLOURS, basic_names

    names = basic_names(np.asarray(shrink_pixels(pixels, _SALIENT_SIDE // 2), np.float32) / np.float32(255))
    shares = np.bincount(names.ravel(), minlength=len(BASIC_COLOURS)) / names.size
    colours: list[Any] = [
        {"name": BASIC_COLOURS[at], "share": round(float(shares[at]), 3)}
        for at in np.argsort(-shares, kind="stable")
        if shares[at] >= _SMALL_SHARE
    ]
    return {"colours": colours}


def _quality(pixels: Pixels) -> JsonDict:
    """BRISQUE uses the middle of an image of more than 2048 pixels per side: scaling it down would hide its damage."""
    from imarena.vision.brisque import brisque_score
    from imarena.vision.frame import frame_of
    from imarena.vision.quality import measure_quality

    height, width = pixels.shape[:2]
    top, left = max(0, (height - _QUALITY_SIDE) // 2), max(0, (width - _QUALITY_SIDE) // 2)
    brisque = brisque_score(pixels[top : top + _QUALITY_SIDE, left : left + _QUALITY_SIDE])
    figures = asdict(measure_quality(frame_of(Image.fromarray(pixels))))
    value: JsonDict = {name: round(figure, 4) for name, figure in figures.items()}
    value["brisque"] = None if brisque is None else round(brisque, 3)
    return value


def _network(name: str) -> Callable[[], str]:
    return lambda: f"{_REVISION}+{network_version(name)}"


def _plain_revision() -> str:
    return _REVISION


PICTURE_TOOLS: Mapping[str, PictureTool] = {
    tool.name: tool
    for tool in (
        PictureTool(
            "objects", "efficientdet", BOXES, "80 everyday kinds of things", _network("efficientdet_lite2"), _objects
        ),
        PictureTool("words", "rapidocr", "text", "lines of text", lambda: package_version("rapidocr"), _words),
        PictureTool("salient", "u2netp", MASKS, "what the image is about", _network("u2netp"), _salient),
        PictureTool("colours", "colour-names", "colours", "shares of basic colours", _plain_revision, _colours),
        PictureTool("faces", "yunet", BOXES, "faces", _network("yunet"), _faces),
        PictureTool("quality", "quality", "quality", "sharpness, noise, BRISQUE and more", _plain_revision, _quality),
    )
}
"""By the name that a user types."""
