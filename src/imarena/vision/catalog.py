"""Every vision tool by name, under the port that it has. Adding one is a line here and a file.

Other packages add names through the entry points `imarena.detector`, `.segmenter`, `.embedder` and `.metric`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from imarena.core import Detector, Embedder, Metric, Registry, Segmenter

_ROOM = "imarena.vision"


@dataclass(frozen=True)
class Tool:
    """What a user has to know to choose a tool."""

    path: str
    about: str
    compares: bool = False
    """A metric of two images: the one that was made, and the one that it was made from."""


DETECTOR_TOOLS: Mapping[str, Tool] = {
    "nanodet": Tool(
        f"{_ROOM}.nanodet:detect_objects", "80 everyday kinds of things, in coarse boxes (NanoDet-g, bundled)."
    ),
    "rapidocr": Tool(f"{_ROOM}.ocr:detect_text", "Lines of text, each with what it says as the label (PP-OCR)."),
}
SEGMENTER_TOOLS: Mapping[str, Tool] = {
    "u2netp": Tool(f"{_ROOM}.saliency:segment_salient", "The thing that the image is about (U²-Net small, bundled)."),
    "watershed": Tool(f"{_ROOM}.segments:segment_masks", "Up to 24 regions of like colour that cover the image."),
}
EMBEDDER_TOOLS: Mapping[str, Tool] = {
    "colour-layout": Tool(f"{_ROOM}.colour_layout:embed", "Mean colours on a grid of 8 x 8: near copies lie close."),
}
METRIC_TOOLS: Mapping[str, Tool] = {
    "colour-change": Tool(f"{_ROOM}.metrics:colour_change", "Mean CIE Lab distance to the source; 0 for a copy.", True),
    "structure-change": Tool(
        f"{_ROOM}.metrics:structure_changed", "1 minus SSIM's structure term, mean; 0 for a copy, up to 2.", True
    ),
    "changed-area": Tool(f"{_ROOM}.metrics:changed_area", "Share of the image inside changed regions, 0 to 1.", True),
    "sharpness": Tool(f"{_ROOM}.metrics:sharpness", "Fine detail: log of the variance of the Laplacian."),
    "noise": Tool(f"{_ROOM}.metrics:noise", "Standard deviation of noise, in units of lightness (0 to 100)."),
    "blocking": Tool(f"{_ROOM}.metrics:blocking_strength", "JPEG blocks: 0 is none, 1 is plain to see."),
}

DETECTORS: Registry[Detector] = Registry("detector", {name: tool.path for name, tool in DETECTOR_TOOLS.items()})
SEGMENTERS: Registry[Segmenter] = Registry("segmenter", {name: tool.path for name, tool in SEGMENTER_TOOLS.items()})
EMBEDDERS: Registry[Embedder] = Registry("embedder", {name: tool.path for name, tool in EMBEDDER_TOOLS.items()})
METRICS: Registry[Metric] = Registry("metric", {name: tool.path for name, tool in METRIC_TOOLS.items()})
