"""The measurements of `difference` and `quality`, one number each: implementations of the port `Metric`."""

from PIL import Image

from imarena.core import Pixels
from imarena.vision.comparison import peak_signal_to_noise, required_source, scale_to
from imarena.vision.difference import Difference, measure_difference
from imarena.vision.frame import Frame, frame_of
from imarena.vision.quality import measure_quality
from imarena.vision.ssim import ssim

HIGHEST_PSNR = 100.0


def colour_change(pixels: Pixels, against: Pixels | None = None) -> float:
    """Mean CIE Lab distance to the source at working size; 0 for a copy."""
    return float(_compared(pixels, against, "colour-change").colour.mean())


def structure_changed(pixels: Pixels, against: Pixels | None = None) -> float:
    """Mean of 1 minus the structure term of SSIM against the source: 0 for a copy, 1 unrelated, 2 inverted."""
    return float(_compared(pixels, against, "structure-change").structure.mean())


def changed_area(pixels: Pixels, against: Pixels | None = None) -> float:
    """Share of the image inside regions that differ from the source, 0 to 1."""
    return _compared(pixels, against, "changed-area").area


def similarity(pixels: Pixels, against: Pixels | None = None) -> float:
    """SSIM with the source, at the source's size: 1 for a copy."""
    return ssim(*_fitted_pair(pixels, against, "ssim"))


def signal_to_noise(pixels: Pixels, against: Pixels | None = None) -> float:
    """PSNR with the source in dB, at the source's size; 100 for a copy and for anything closer than that."""
    psnr = peak_signal_to_noise(*_fitted_pair(pixels, against, "psnr"))
    return HIGHEST_PSNR if psnr is None else min(psnr, HIGHEST_PSNR)


def colour_difference(pixels: Pixels, against: Pixels | None = None) -> float:
    """Mean CIEDE2000 to the source, at the source's size; 0 for a copy, about 1 for a just visible difference."""
    from imarena.vision.ciede2000 import colour_difference_map

    return float(colour_difference_map(*_fitted_pair(pixels, against, "colour-difference")).mean())


def sharpness(pixels: Pixels, against: Pixels | None = None) -> float:  # noqa: ARG001
    """Log of the variance of the Laplacian at working size."""
    return measure_quality(_frame(pixels)).sharpness


def noise(pixels: Pixels, against: Pixels | None = None) -> float:  # noqa: ARG001
    """Standard deviation of noise, in units of lightness (0 to 100)."""
    return measure_quality(_frame(pixels)).noise


def blocking_strength(pixels: Pixels, against: Pixels | None = None) -> float:  # noqa: ARG001
    """Strength of JPEG blocks, as a log ratio: 0 means none, 1 is plainly visible."""
    return measure_quality(_frame(pixels)).blocking


def _frame(pixels: Pixels) -> Frame:
    return frame_of(Image.fromarray(pixels))


def _compared(pixels: Pixels, against: Pixels | None, name: str) -> Difference:
    return measure_difference(_frame(required_source(against, name)), Image.fromarray(pixels))


def _fitted_pair(pixels: Pixels, against: Pixels | None, name: str) -> tuple[Pixels, Pixels]:
    source = required_source(against, name)
    return source, scale_to(pixels, source)
