"""Tools of the catalog as questions about one picture, so that `scan --tool NAME` can ask any of them."""

import hashlib
from collections.abc import Callable
from typing import Any

from imarena.core import VERSION, Pixels
from imarena.core.records import JsonDict
from imarena.images import BOXES, MASKS, boxes_value, masks_value
from imarena.vision import catalog
from imarena.vision.catalog import Tool
from imarena.vision.model_weights.entries import weights_entries
from imarena.vision.model_weights.installed import installed_folder, read_weights_manifest

Look = Callable[[Pixels], JsonDict]

EMBEDDING = "embedding"
METRIC = "metric"


def catalog_tool(name: str) -> tuple[Tool, str, Look] | None:
    """A tool by its name in a registry: what is known of it, the kind of evidence, and how to ask it; None: unknown.

    A metric of two images cannot be asked about one.
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
    """This program's version, and what is known of the tool's weights: other weights give other answers."""
    if not tool.weights:
        return VERSION
    folder = installed_folder(tool.weights)
    if folder is not None:
        files = read_weights_manifest(folder).files
        known = "".join(f"{name} {files[name].sha256}\n" for name in sorted(files))
        return f"{VERSION}+{hashlib.sha256(known.encode()).hexdigest()[:12]}"
    hub = weights_entries()[tool.weights].hub
    return f"{VERSION}+{hub.revision[:12]}" if hub is not None and hub.revision else VERSION


def _detections(name: str) -> Look:
    return lambda pixels: boxes_value(catalog.DETECTORS.get(name)(pixels), pixels.shape[1], pixels.shape[0])


def _vector(name: str) -> Look:
    def look(pixels: Pixels) -> JsonDict:
        vector: list[Any] = [round(float(number), 6) for number in catalog.EMBEDDERS.get(name)(pixels)]
        return {"vector": vector}

    return look
