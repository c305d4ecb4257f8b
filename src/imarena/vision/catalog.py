"""Every vision tool by name, under the port that it has. Adding one is a line here and a file.

Other packages add names through the entry points `imarena.detector`, `.segmenter`, `.embedder`, `.depth` and `.metric`.
GLIP is not here: transformers has no such model, and its weights are published as pickles for code of their own that
needs compiled CUDA operators. Grounding DINO, OWL-ViT and OWLv2 do the same job.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from imarena.core import DepthEstimator, Detector, Embedder, Metric, Registry, Segmenter

_ROOM = "imarena.vision"
_PRETRAINED = f"{_ROOM}.pretrained"


@dataclass(frozen=True)
class Tool:
    """What a user has to know to choose a tool."""

    path: str
    about: str
    compares: bool = False
    """A metric of two images: the one that was made, and the one that it was made from."""
    copy: float = 0.0
    """The value of a metric of two images for a copy. Above 0: the more alike the images, the higher the value."""
    extra: str = ""
    """The optional dependency of this package that the tool needs."""
    weights: str = ""
    """The name of weights that are not bundled: `imarena weights get NAME` installs them."""

    @property
    def gpus(self) -> float:
        """GPUs that each worker on a cluster gets for it."""
        return 1.0 if self.extra == "vision" else 0.0


DETECTOR_TOOLS: Mapping[str, Tool] = {
    "efficientdet": Tool(
        f"{_ROOM}.efficientdet:detect_things", "80 everyday kinds of things (EfficientDet-Lite2, bundled)."
    ),
    "yunet": Tool(f"{_ROOM}.faces:detect_faces", "Faces (YuNet, bundled)."),
    "rapidocr": Tool(f"{_ROOM}.ocr:detect_text", "Lines of text, each with what it says as the label (PP-OCR)."),
    "grounding-dino": Tool(
        f"{_PRETRAINED}.grounding_dino:detect_grounding_dino",
        "Things that phrases name (Grounding DINO, Swin-T); COCO's 80 kinds without phrases.",
        extra="vision",
        weights="grounding-dino-tiny",
    ),
    "owl-vit": Tool(
        f"{_PRETRAINED}.owl:detect_owl_vit",
        "Things that phrases name (OWL-ViT B/32); COCO's 80 kinds without phrases.",
        extra="vision",
        weights="owlvit-base-patch32",
    ),
    "owlv2": Tool(
        f"{_PRETRAINED}.owl:detect_owlv2",
        "Things that phrases name (OWLv2 B/16); COCO's 80 kinds without phrases.",
        extra="vision",
        weights="owlv2-base-patch16-ensemble",
    ),
}
SEGMENTER_TOOLS: Mapping[str, Tool] = {
    "u2netp": Tool(f"{_ROOM}.saliency:segment_salient", "The thing that the image is about (U²-Net small, bundled)."),
    "watershed": Tool(f"{_ROOM}.segments:segment_masks", "Up to 24 regions of like colour that cover the image."),
    "sam": Tool(
        f"{_PRETRAINED}.sam:segment_sam",
        "Everything with a clear edge (SAM ViT-B).",
        extra="vision",
        weights="sam-vit-base",
    ),
    "sam2": Tool(
        f"{_PRETRAINED}.sam2:segment_sam2",
        "Everything with a clear edge (SAM 2.1, smallest).",
        extra="vision",
        weights="sam2.1-hiera-tiny",
    ),
    "mobile-sam": Tool(
        f"{_PRETRAINED}.mobile_sam:segment_mobile_sam",
        "Everything with a clear edge, on a processor (MobileSAM).",
        extra="vision",
        weights="mobile-sam",
    ),
}
EMBEDDER_TOOLS: Mapping[str, Tool] = {
    "colour-layout": Tool(f"{_ROOM}.colour_layout:embed", "Mean colours on a grid of 8 x 8: near copies lie close."),
    "clip": Tool(
        f"{_ROOM}.clip:embed_clip",
        "Image features of CLIP ViT-L/14: what is shown, more than how it looks.",
        extra="vision",
        weights="clip-vit-large-patch14",
    ),
    "dino": Tool(
        f"{_ROOM}.dino:embed_dino",
        "Class token of DINOv2 ViT-B/14: which things are shown, in detail.",
        extra="vision",
        weights="dinov2-base",
    ),
    "dinov3": Tool(
        f"{_PRETRAINED}.dinov3:embed_dinov3",
        "Class token of DINOv3 ViT-B/16: which things are shown, in detail.",
        extra="vision",
        weights="dinov3-vitb16",
    ),
    "siglip": Tool(
        f"{_PRETRAINED}.siglip:embed_siglip",
        "Image features of SigLIP base: what is shown, more than how it looks.",
        extra="vision",
        weights="siglip-base-patch16-224",
    ),
}
DEPTH_TOOLS: Mapping[str, Tool] = {
    "depth-anything": Tool(
        f"{_PRETRAINED}.depth_anything:estimate_depth",
        "Inverse depth of each pixel, without a unit (Depth Anything V2, small).",
        extra="vision",
        weights="depth-anything-v2-small",
    ),
}
METRIC_TOOLS: Mapping[str, Tool] = {
    "ssim": Tool(f"{_ROOM}.metrics:similarity", "SSIM with the source (Gaussian window); 1 for a copy.", True, 1.0),
    "psnr": Tool(f"{_ROOM}.metrics:signal_to_noise", "PSNR with the source in dB; 100 for a copy.", True, 100.0),
    "colour-difference": Tool(
        f"{_ROOM}.metrics:colour_difference", "Mean CIEDE2000 to the source; 0 for a copy.", True
    ),
    "colour-change": Tool(f"{_ROOM}.metrics:colour_change", "Mean CIE Lab distance to the source; 0 for a copy.", True),
    "structure-change": Tool(
        f"{_ROOM}.metrics:structure_changed", "1 minus SSIM's structure term, mean; 0 for a copy, up to 2.", True
    ),
    "changed-area": Tool(f"{_ROOM}.metrics:changed_area", "Share of the image inside changed regions, 0 to 1.", True),
    "st-lpips": Tool(
        f"{_ROOM}.lpips:perceptual_distance",
        "Shift-tolerant LPIPS to the source (AlexNet, bundled); 0 for a copy, 21 pixels a side at least.",
        True,
    ),
    "lpips": Tool(
        f"{_ROOM}.plain_lpips:lpips_alex",
        "LPIPS to the source (AlexNet, version 0.1); 0 for a copy, 31 pixels a side at least.",
        True,
        weights="lpips-alex",
    ),
    "lpips-vgg": Tool(
        f"{_ROOM}.plain_lpips:lpips_vgg",
        "LPIPS to the source (VGG16, version 0.1); 0 for a copy, 16 pixels a side at least.",
        True,
        weights="lpips-vgg",
    ),
    "sharpness": Tool(f"{_ROOM}.metrics:sharpness", "Fine detail: log of the variance of the Laplacian."),
    "noise": Tool(f"{_ROOM}.metrics:noise", "Standard deviation of noise, in units of lightness (0 to 100)."),
    "brisque": Tool(
        f"{_ROOM}.brisque:blind_quality", "BRISQUE: about 0 for a clean photograph, 100 for a badly damaged one."
    ),
    "blocking": Tool(f"{_ROOM}.metrics:blocking_strength", "JPEG blocks: 0 is none, 1 is plain to see."),
    "hpsv3": Tool(
        f"{_PRETRAINED}.hpsv3:human_preference",
        "How much people like the image (HPSv3, our wording); no bounds, higher is better.",
        extra="vision",
        weights="hpsv3",
    ),
}

DETECTORS: Registry[Detector] = Registry("detector", {name: tool.path for name, tool in DETECTOR_TOOLS.items()})
SEGMENTERS: Registry[Segmenter] = Registry("segmenter", {name: tool.path for name, tool in SEGMENTER_TOOLS.items()})
EMBEDDERS: Registry[Embedder] = Registry("embedder", {name: tool.path for name, tool in EMBEDDER_TOOLS.items()})
METRICS: Registry[Metric] = Registry("metric", {name: tool.path for name, tool in METRIC_TOOLS.items()})
DEPTH_ESTIMATORS: Registry[DepthEstimator] = Registry("depth", {name: tool.path for name, tool in DEPTH_TOOLS.items()})
