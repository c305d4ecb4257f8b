"""Image quality without a reference, and artefacts that an edit introduced."""

from dataclasses import dataclass

import cv2
import numpy as np

from imarena.core import Floats, Mask
from imarena.vision.difference import Difference, blocks
from imarena.vision.frame import Frame


@dataclass(frozen=True)
class Quality:
    """Quality of a single image. `noise` is in lightness units (0 to 100), `blocking` a log ratio."""

    sharpness: float
    noise: float
    blocking: float
    clipped: float
    contrast: float
    colourfulness: float


def noise_level(light: Floats) -> float:
    """Standard deviation of noise (Immerkaer 1996), measured where the image is flattest: texture is not noise."""
    kernel = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], dtype=np.float32)
    response = np.abs(cv2.filter2D(light, cv2.CV_32F, kernel))
    busy = cv2.blur(np.abs(cv2.Laplacian(cv2.GaussianBlur(light, (0, 0), 2.0), cv2.CV_32F)), (7, 7))
    flat = busy <= np.quantile(busy, 0.4)
    return float(np.sqrt(np.pi / 2.0) / 6.0 * response[flat].mean())


def blocking(detail: Floats) -> float:
    """How much stronger steps are at every eighth line than elsewhere: JPEG blocks. 0 means none, 1 is plainly visible.

    `detail` is lightness at the image's own size; resizing removes the block grid.
    """

    def excess(steps: Floats) -> float:
        # Steps are clipped at 8: a block border is a small step, an object's edge a large one.
        at = [float(np.minimum(steps[:, phase::8], 8.0).mean()) for phase in range(8) if steps[:, phase::8].size]
        return float(np.log((max(at) + 0.02) / (np.median(at) + 0.02))) if len(at) == 8 else 0.0

    across = np.abs(np.diff(detail, axis=1))
    down = np.ascontiguousarray(np.abs(np.diff(detail, axis=0)).T)
    return (excess(across) + excess(down)) / 2.0


def measure_quality(frame: Frame) -> Quality:
    """Sharpness, noise, blocks, clipping, contrast and colourfulness of one image."""
    return Quality(
        sharpness=float(np.log1p(frame.curve.var())),
        noise=noise_level(frame.light),
        blocking=blocking(frame.detail),
        clipped=float(((frame.rgb < 0.01) | (frame.rgb > 0.99)).all(axis=2).mean()),
        contrast=float(frame.light.std()),
        colourfulness=float(frame.chroma.mean()),
    )


@dataclass(frozen=True)
class Artefacts:
    """How the edit changed the image's texture, as logs of ratios: 0 is unchanged, negative is less than before."""

    detail_outside: float
    """Fine detail outside the edit: negative is blur, positive is noise or ringing."""
    edges_outside: float
    """Edge strength in the half that changed least."""
    edges_peak: float
    """Strength of the strongest edges (99th percentile)."""
    contrast: float
    """Spread of lightness."""
    edges_inside: float
    """The 90th percentile of edge strength inside the edit, in lightness units per pixel."""
    edges_beyond_source: float
    """Share of the edit's pixels with an edge steeper than the source's steepest 1%."""
    seam: float
    """Edge strength gained along the border of the edit, in lightness units per pixel."""
    noise: float
    blocking: float


def _log_ratio(above: float, below: float, plus: float) -> float:
    return float(np.log((above + plus) / (below + plus)))


def _seam(difference: Difference) -> float:
    border = cv2.morphologyEx(difference.mask.astype(np.uint8), cv2.MORPH_GRADIENT, np.ones((3, 3), np.uint8)) > 0
    if not border.any():
        return 0.0
    return float(difference.output.slope[border].mean() - difference.source.slope[border].mean())


def measure_artefacts(difference: Difference) -> Artefacts:
    """Compare the texture of output and source, inside and outside the changed area."""
    source, output = difference.source, difference.output
    outside: Mask = difference.outside
    before, after = blocks(source.slope), blocks(output.slope)
    changed = difference.colour_blocks
    calm = changed <= np.median(changed)
    inside = difference.mask
    steep = float(np.quantile(source.slope, 0.99))
    return Artefacts(
        detail_outside=_log_ratio(float(output.curve[outside].mean()), float(source.curve[outside].mean()), 0.3),
        edges_outside=_log_ratio(float(after[calm].mean()), float(before[calm].mean()), 0.5),
        edges_peak=_log_ratio(float(np.quantile(output.slope, 0.99)), steep, 0.5),
        contrast=_log_ratio(float(output.light.std()), float(source.light.std()), 1.0),
        edges_inside=float(np.quantile(output.slope[inside], 0.9)) if inside.sum() > 60 else 0.0,
        edges_beyond_source=float((output.slope[inside] > steep).mean()) if inside.sum() > 60 else 0.0,
        seam=_seam(difference),
        noise=noise_level(output.light) - noise_level(source.light),
        blocking=blocking(output.detail) - blocking(source.detail),
    )
