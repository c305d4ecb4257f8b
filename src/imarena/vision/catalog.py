"""Every vision tool by name, grouped by port. To add a tool, add an entry to catalog.yaml and a file.

Other packages add names through the entry points `imarena.detector`, `.segmenter`, `.embedder`, `.depth` and `.metric`.
GLIP is not here: transformers has no such model, and its weights are published as pickles for code of their own that
needs compiled CUDA operators. Grounding DINO, OWL-ViT and OWLv2 do the same job.
"""

from collections.abc import Mapping
from typing import Literal

from pydantic import TypeAdapter

from imarena.core import DepthEstimator, Detector, Embedder, FrozenModel, Metric, Registry, Segmenter, package_yaml


class Tool(FrozenModel):
    """What a user needs to know to choose a tool."""

    path: str
    about: str
    compares: bool = False
    """A metric that compares two images: the output and its source."""
    copy_value: float = 0.0
    """For a metric of two images: its value for a copy. Above 0, a higher value means more similar images."""
    prompt: Literal["", "phrases", "boxes"] = ""
    """What a detector or a segmenter accepts besides the image (`prompted_tools.py`)."""
    extra: str = ""
    """The extra of this package that the tool needs."""
    weights: str = ""
    """The name of weights that are not bundled: `imarena weights get NAME` installs them."""

    @property
    def gpus(self) -> float:
        """GPUs per worker on a cluster."""
        return 1.0 if self.extra == "vision" else 0.0


_TOOLS = TypeAdapter(dict[str, dict[str, Tool]]).validate_python(package_yaml("imarena.vision", "catalog.yaml"))
DETECTOR_TOOLS: Mapping[str, Tool] = _TOOLS["detector"]
SEGMENTER_TOOLS: Mapping[str, Tool] = _TOOLS["segmenter"]
EMBEDDER_TOOLS: Mapping[str, Tool] = _TOOLS["embedder"]
DEPTH_TOOLS: Mapping[str, Tool] = _TOOLS["depth"]
METRIC_TOOLS: Mapping[str, Tool] = _TOOLS["metric"]

DETECTORS: Registry[Detector] = Registry("detector", {name: tool.path for name, tool in DETECTOR_TOOLS.items()})
SEGMENTERS: Registry[Segmenter] = Registry("segmenter", {name: tool.path for name, tool in SEGMENTER_TOOLS.items()})
EMBEDDERS: Registry[Embedder] = Registry("embedder", {name: tool.path for name, tool in EMBEDDER_TOOLS.items()})
METRICS: Registry[Metric] = Registry("metric", {name: tool.path for name, tool in METRIC_TOOLS.items()})
DEPTH_ESTIMATORS: Registry[DepthEstimator] = Registry("depth", {name: tool.path for name, tool in DEPTH_TOOLS.items()})
