"""Metrics of two images against second implementations, published values and known truth."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.ndimage import correlate1d
from skimage import color, metrics

from imarena.core import UserError
from imarena.vision.ciede2000 import colour_difference_map, lab_difference
from imarena.vision.comparison import compare_images
from imarena.vision.metrics import signal_to_noise
from imarena.vision.ssim import SCALE_WEIGHTS, ms_ssim, ms_ssim_in, ssim, ssim_in
from tests.unit.vision.pictures import two_images

Pixels = NDArray[np.uint8]

SHARMA = """
50 2.6772 -79.7751 50 0 -82.7485 2.0425
50 3.1571 -77.2803 50 0 -82.7485 2.8615
50 2.8361 -74.0200 50 0 -82.7485 3.4412
50 -1.3802 -84.2814 50 0 -82.7485 1.0000
50 -1.1848 -84.8006 50 0 -82.7485 1.0000
50 -0.9009 -85.5211 50 0 -82.7485 1.0000
50 0 0 50 -1 2 2.3669
50 -1 2 50 0 0 2.3669
50 2.4900 -0.0010 50 -2.4900 0.0009 7.1792
50 2.4900 -0.0010 50 -2.4900 0.0010 7.1792
50 2.4900 -0.0010 50 -2.4900 0.0011 7.2195
50 2.4900 -0.0010 50 -2.4900 0.0012 7.2195
50 -0.0010 2.4900 50 0.0009 -2.4900 4.8045
50 -0.0010 2.4900 50 0.0010 -2.4900 4.8045
50 -0.0010 2.4900 50 0.0011 -2.4900 4.7461
50 2.5 0 50 0 -2.5 4.3065
50 2.5 0 73 25 -18 27.1492
50 2.5 0 61 -5 29 22.8977
50 2.5 0 56 -27 -3 31.9030
50 2.5 0 58 24 15 19.4535
50 2.5 0 50 3.1736 0.5854 1.0000
50 2.5 0 50 3.2972 0 1.0000
50 2.5 0 50 1.8634 0.5757 1.0000
50 2.5 0 50 3.2592 0.3350 1.0000
60.2574 -34.0099 36.2677 60.4626 -34.1751 39.4387 1.2644
63.0109 -31.0961 -5.8663 62.8187 -29.7946 -4.0864 1.2630
61.2901 3.7196 -5.3901 61.4292 2.2480 -4.9620 1.8731
35.0831 -44.1164 3.7933 35.0232 -40.0716 1.5901 1.8645
22.7233 20.0904 -46.6940 23.0331 14.9730 -42.5619 2.0373
36.4612 47.8580 18.3852 36.2715 50.5065 21.2231 1.4146
90.8027 -2.0831 1.4410 91.1528 -1.6435 0.0447 1.4441
90.9257 -0.5406 -0.9208 88.6381 -0.8985 -0.7239 1.5381
6.7747 -0.2908 -2.4247 5.8714 -0.0985 -2.2286 0.6377
2.0776 0.0795 -1.1350 0.9033 -0.0636 -0.5514 0.9082
"""
"""Table 1 of Sharma, Wu and Dalal (2005): two colours in Lab and their difference."""


@pytest.mark.parametrize("line", SHARMA.strip().splitlines())
def test_ciede2000_gives_the_published_values(line: str) -> None:
    *colours, expected = (float(number) for number in line.split())
    assert lab_difference(*colours) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize("seed", range(3))
def test_colour_difference_of_pixels_is_that_of_scikit_image(seed: int) -> None:
    left, right = two_images(seed)
    theirs = color.deltaE_ciede2000(color.rgb2lab(left), color.rgb2lab(right))
    assert np.abs(colour_difference_map(left, right) - theirs).max() < 1e-9


@pytest.mark.parametrize(("height", "width"), [(67, 91), (11, 11), (12, 300), (210, 40)])
def test_ssim_is_that_of_scikit_image(height: int, width: int) -> None:
    left, right = two_images(1, height, width)
    theirs = metrics.structural_similarity(
        left, right, gaussian_weights=True, sigma=1.5, use_sample_covariance=False, data_range=255, channel_axis=-1
    )
    assert ssim(left, right) == pytest.approx(theirs, abs=1e-9)


def test_psnr_and_l1_are_those_of_the_definition() -> None:
    left, right = two_images()
    measured = compare_images(left, right).metrics
    assert measured["psnr"].whole == pytest.approx(metrics.peak_signal_noise_ratio(left, right), abs=1e-9)
    assert measured["l1"].whole == pytest.approx(np.abs(left.astype(float) - right).mean() / 255, abs=1e-12)


def test_psnr_of_opposite_images_is_zero_and_not_that_of_a_copy() -> None:
    black, white = np.zeros((8, 8, 3), np.uint8), np.full((8, 8, 3), 255, np.uint8)
    assert signal_to_noise(black, white) == 0
    assert signal_to_noise(black, black) == 100


def plain_ms_ssim(left: Pixels, right: Pixels) -> float:
    """MS-SSIM written out: one term after the other, with windows inside the image."""
    steps = np.arange(-5, 6)
    window = np.exp(-(steps**2) / (2 * 1.5**2))
    window /= window.sum()
    values = []
    for channel in range(3):
        first, second = left[..., channel].astype(float), right[..., channel].astype(float)
        product = 1.0
        for scale, weight in enumerate(SCALE_WEIGHTS):

            def mean(array: NDArray[np.float64]) -> NDArray[np.float64]:
                smoothed = correlate1d(correlate1d(array, window, axis=0), window, axis=1)
                return np.asarray(smoothed[5:-5, 5:-5])

            mu, nu = mean(first), mean(second)
            var = mean(first**2) - mu**2 + mean(second**2) - nu**2
            structure = (2 * (mean(first * second) - mu * nu) + 58.5225) / (var + 58.5225)
            light = (2 * mu * nu + 6.5025) / (mu**2 + nu**2 + 6.5025)
            last = scale == len(SCALE_WEIGHTS) - 1
            product *= max(float((structure * light if last else structure).mean()), 0.0) ** weight
            rows, columns = first.shape[0] // 2, first.shape[1] // 2
            first, second = (
                a[: 2 * rows, : 2 * columns].reshape(rows, 2, columns, 2).mean(axis=(1, 3)) for a in (first, second)
            )
        values.append(product)
    return float(np.mean(values))


def test_ms_ssim_is_that_of_the_definition() -> None:
    left, right = two_images(2, 190, 181)
    assert ms_ssim(left, right) == pytest.approx(plain_ms_ssim(left, right), abs=1e-9)
    assert ms_ssim(*two_images(2, 175, 400)) is None


def test_ssim_inside_a_region_is_that_of_the_definition() -> None:
    left, right = two_images(3, 24, 30)
    mask = np.zeros((24, 30), dtype=np.bool_)
    mask[3:17, 5:22] = mask[15:20, 20:28] = True
    steps = np.arange(-5, 6)
    window = np.exp(-(steps**2) / (2 * 1.5**2))
    expected = []
    for row, column in zip(*np.nonzero(mask), strict=True):
        near = [
            (window[dr + 5] * window[dc + 5], row + dr, column + dc)
            for dr, dc in itertools.product(range(-5, 6), repeat=2)
            if 0 <= row + dr < 24 and 0 <= column + dc < 30 and mask[row + dr, column + dc]
        ]
        weights = np.array([weight for weight, _, _ in near])
        weights /= weights.sum()
        for channel in range(3):
            x = np.array([left[r, c, channel] for _, r, c in near], dtype=float)
            y = np.array([right[r, c, channel] for _, r, c in near], dtype=float)
            mu, nu = weights @ x, weights @ y
            spread = weights @ x**2 - mu**2 + weights @ y**2 - nu**2
            both = weights @ (x * y) - mu * nu
            luminance = (2 * mu * nu + 6.5025) / (mu**2 + nu**2 + 6.5025)
            expected.append(luminance * (2 * both + 58.5225) / (spread + 58.5225))
    assert ssim_in(left, right, mask) == pytest.approx(np.mean(expected), abs=1e-9)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 40), st.integers(1, 40))
def test_a_region_is_blind_to_the_other_one(seed: int, height: int, width: int) -> None:
    rng = np.random.default_rng(seed)
    source, output, other = rng.integers(0, 256, (3, height, width, 3), dtype=np.uint8)
    mask = rng.random((height, width)) < 0.5
    changed = np.where(mask[..., None], output, other)
    before, after = compare_images(source, output, mask), compare_images(source, changed, mask)
    for name, values in before.metrics.items():
        assert after.metrics[name].inside == values.inside
    swapped = np.where(mask[..., None], other, output)
    after = compare_images(source, swapped, mask)
    for name, values in before.metrics.items():
        assert after.metrics[name].outside == values.outside


@pytest.mark.parametrize(("height", "width"), [(1, 1), (3, 40), (64, 64)])
def test_a_copy_has_the_best_value_of_each_metric(height: int, width: int) -> None:
    image, _ = two_images(4, height, width)
    measured = compare_images(image, image.copy(), np.ones((height, width), dtype=np.bool_)).metrics
    assert measured["ssim"].whole == pytest.approx(1.0)
    assert measured["psnr"].whole is None
    for name in ("l1", "colour_difference", "changed_share"):
        assert measured[name].whole == measured[name].inside == 0.0
        assert measured[name].outside is None


def test_an_output_of_another_size_is_scaled_and_this_is_stated() -> None:
    source, _ = two_images(5, 64, 96)
    small = np.ascontiguousarray(source[::2, ::2])
    compared = compare_images(source, small)
    assert compared.resized
    value = compared.metrics["ssim"].whole
    assert value is not None
    assert 0.5 < value < 1.0
    with pytest.raises(UserError, match="The mask has 48 x 32 pixels, the source 96 x 64"):
        compare_images(source, source, np.ones((32, 48), dtype=np.bool_))


def test_luminance_quantiles_are_those_of_rec_709() -> None:
    image = np.zeros((10, 100, 3), dtype=np.uint8)
    image[0, :15] = (255, 0, 0)
    image[1, :2] = 255
    red = np.zeros((10, 100), dtype=np.bool_)
    red[0, :15] = True
    figures = compare_images(image, image, red).source
    assert figures["luminance_p99"].whole == pytest.approx(255 * 0.2126)
    assert figures["luminance_p999"].whole == pytest.approx(255.0)
    assert figures["luminance_p99"].inside == pytest.approx(255 * 0.2126)
    assert figures["luminance_p99"].outside == 0.0
    assert compare_images(image, image, red & False).output["luminance_p999"].inside is None


def test_ms_ssim_inside_a_region_is_that_of_the_definition() -> None:
    """Over the whole image windows are cut at its edges, so the region is compared with a definition written out."""
    left, right = two_images(3, 190, 184)
    mask = np.ones((190, 184), dtype=np.bool_)
    mask[:70, 60:] = False
    expected = []
    for channel in range(3):
        first, second, inside = left[..., channel].astype(float), right[..., channel].astype(float), mask.astype(float)
        product = 1.0
        for scale, weight in enumerate(SCALE_WEIGHTS):
            last = scale == len(SCALE_WEIGHTS) - 1
            structure, light = masked_terms(first, second, inside)
            term = (structure * light if last else structure)[inside > 0].mean()
            product *= max(float(term), 0.0) ** weight
            rows, columns = first.shape[0] // 2, first.shape[1] // 2
            first, second, inside = (
                array[: 2 * rows, : 2 * columns].reshape(rows, 2, columns, 2).sum(axis=(1, 3))
                for array in (first * inside, second * inside, inside)
            )
            first, second = (array / np.maximum(inside, 1.0) for array in (first, second))
            inside = (inside > 0).astype(float)
        expected.append(product)
    assert ms_ssim_in(left, right, mask) == pytest.approx(np.mean(expected), abs=1e-9)
    assert ms_ssim_in(left, right, mask & (np.arange(190) < 170)[:, None]) is None
    assert ms_ssim_in(left, right, mask & False) is None


def masked_terms(
    left: NDArray[np.float64], right: NDArray[np.float64], inside: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The contrast-structure term and the luminance term, from windows cut to the region."""
    steps = np.arange(-5, 6)
    window = np.exp(-(steps**2) / (2 * 1.5**2))

    def total(array: NDArray[np.float64]) -> NDArray[np.float64]:
        across = correlate1d(array, window, axis=0, mode="constant")
        return np.asarray(correlate1d(across, window, axis=1, mode="constant"))

    count = np.where(inside > 0, total(inside), 1.0)
    mu, nu = total(left * inside) / count, total(right * inside) / count
    spread = total(left**2 * inside) / count - mu**2 + total(right**2 * inside) / count - nu**2
    both = total(left * right * inside) / count - mu * nu
    return (2 * both + 58.5225) / (spread + 58.5225), (2 * mu * nu + 6.5025) / (mu**2 + nu**2 + 6.5025)
