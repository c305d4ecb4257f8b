"""How much an output differs from its source: every metric that needs no model, overall, inside and outside a mask."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from imarena.core import Mask, Pixels, UserError
from imarena.vision.ssim import ms_ssim, ms_ssim_in, ssim, ssim_in

LUMA = np.array([0.2126, 0.7152, 0.0722])
"""Rec. 709."""
QUANTILES = {"luminance_p99": 0.99, "luminance_p999": 0.999}


@dataclass(frozen=True, slots=True)
class RegionValues:
    """One metric: for the whole image, and inside and outside the mask; None where it is not defined."""

    whole: float | None
    inside: float | None = None
    outside: float | None = None


@dataclass(frozen=True, slots=True)
class ImageComparison:
    """An output compared with its source."""

    metrics: dict[str, RegionValues]
    source: dict[str, RegionValues]
    """Metrics of the source alone: luminance quantiles."""
    output: dict[str, RegionValues]
    """The same metrics of the output; with a mask, at the source's size."""
    resized: bool
    """True if the output had another size than the source and was scaled to it before the comparison."""


def compare_images(source: Pixels, output: Pixels, mask: Mask | None = None) -> ImageComparison:
    """Compare two images (height, width, 3); `mask` (height, width) is true inside the region, at the source's size.

    The value for a region depends only on the pixels of that region.
    """
    if mask is not None and mask.shape != source.shape[:2]:
        raise UserError(
            f"The mask has {mask.shape[1]} x {mask.shape[0]} pixels, the source {source.shape[1]} x {source.shape[0]}.",
            hint="Give a mask of the source's size.",
        )
    fitted = scale_to(output, source)
    metrics = {
        "ssim": _regions(mask, ssim(source, fitted), partial(ssim_in, source, fitted)),
        "ms_ssim": _regions(mask, ms_ssim(source, fitted), partial(ms_ssim_in, source, fitted)),
    }
    for name, (values, summary) in _maps(source, fitted).items():
        metrics[name] = _regions(mask, summary(values), partial(_masked, values, summary))
    light = (_light(source, source, mask), _light(output, fitted, mask))
    return ImageComparison(metrics, *light, resized=source.shape != output.shape)


def distance_in(
    measure: Callable[[Pixels, Pixels], float | None], source: Pixels, output: Pixels, mask: Mask
) -> float | None:
    """A distance that is a mean over the image, restricted to a region; None if the mask is empty.

    The output's other pixels are replaced by the source's, and the distance is divided by the region's share of the
    image, so the output outside the region has no influence. A network sees some surroundings of each pixel, so the
    value for a small region is slightly too large.
    """
    if not mask.any():
        return None
    distance = measure(source, np.where(mask[..., None], scale_to(output, source), source))
    return None if distance is None else distance / float(mask.mean())


def luminance_quantiles(pixels: Pixels) -> dict[str, float]:
    """The 99% and 99.9% quantiles of Rec. 709 luminance, 0 to 255: high for an over-exposed image.

    The last axis of `pixels` is red, green and blue; at least one pixel is required.
    """
    quantiles = np.quantile(pixels.reshape(-1, 3) @ LUMA, list(QUANTILES.values()))
    return {name: float(value) for name, value in zip(QUANTILES, quantiles, strict=True)}


def _light(pixels: Pixels, fitted: Pixels, mask: Mask | None) -> dict[str, RegionValues]:
    def within(part: Pixels) -> dict[str, float | None]:
        return {**luminance_quantiles(part)} if len(part) else dict.fromkeys(QUANTILES)

    quantiles = luminance_quantiles(pixels)
    if mask is None:
        return {name: RegionValues(value) for name, value in quantiles.items()}
    inside, outside = within(fitted[mask]), within(fitted[~mask])
    return {name: RegionValues(value, inside[name], outside[name]) for name, value in quantiles.items()}


Summary = Callable[[NDArray[np.float64]], float | None]


def _maps(left: Pixels, right: Pixels) -> dict[str, tuple[NDArray[np.float64], Summary]]:
    """By metric: its value at each pixel, and the function that aggregates the values."""
    from imarena.vision.ciede2000 import colour_difference_map

    apart = left.astype(np.int16) - right
    square = _squared_error(left, right)
    return {
        "psnr": (square, _psnr),
        "l1": (np.abs(apart).mean(axis=2) / 255.0, _mean),
        "colour_difference": (colour_difference_map(left, right), _mean),
        "changed_share": ((square > 0).astype(np.float64), _mean),
    }


def _squared_error(left: Pixels, right: Pixels) -> NDArray[np.float64]:
    """Mean over the channels at each pixel."""
    return np.asarray(((left.astype(np.int32) - right) ** 2).mean(axis=2))


def _mean(values: NDArray[np.float64]) -> float:
    return float(values.mean())


def _psnr(square: NDArray[np.float64]) -> float | None:
    """Peak signal-to-noise ratio in dB; None for a copy, where it is infinite."""
    error = float(square.mean())
    return float(10.0 * np.log10(255.0**2 / error)) if error else None


def _masked(values: NDArray[np.float64], summary: Summary, mask: Mask) -> float | None:
    return summary(values[mask]) if mask.any() else None


def _regions(mask: Mask | None, value: float | None, measure: Callable[[Mask], float | None]) -> RegionValues:
    return RegionValues(value) if mask is None else RegionValues(value, measure(mask), measure(~mask))


def required_source(against: Pixels | None, name: str) -> Pixels:
    """The source that the metric called `name` compares with; raises if none was given."""
    if against is None:
        raise UserError(f"The metric '{name}' compares two images and got one.", hint="Give the source as `against`.")
    return against


def scale_to(pixels: Pixels, source: Pixels) -> Pixels:
    """An image scaled to the size of its source (Lanczos); returned unchanged if it has that size."""
    if pixels.shape == source.shape:
        return pixels
    size = source.shape[1], source.shape[0]
    return np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.LANCZOS), dtype=np.uint8)


def peak_signal_to_noise(source: Pixels, output: Pixels) -> float | None:
    """PSNR of two images of the same size in dB; None for a copy, where it is infinite."""
    return _psnr(_squared_error(source, output))
