"""SSIM and colour difference of two images: CPU seconds per pair beside scikit-image, in one process on one core.

python -m benchmarks.vision.metrics [--side 2048] [--repeats 3]
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import cv2
import numpy as np
from skimage import color, data, metrics

from imarena.vision import compare_images
from imarena.vision.ciede2000 import colour_difference_map
from imarena.vision.ssim import ms_ssim, ssim, ssim_in


def cpu_seconds(function: Callable[[], object], repeats: int) -> float:
    """The smallest CPU time of a few calls, after one that compiles and warms."""
    function()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--side", type=int, default=2048)
    parser.add_argument("--repeats", type=int, default=3)
    chosen = parser.parse_args()
    cv2.setNumThreads(1)
    source = np.asarray(cv2.resize(data.astronaut(), (chosen.side, chosen.side), interpolation=cv2.INTER_CUBIC))
    noise = np.random.default_rng(0).normal(0, 9, source.shape)
    output = np.clip(source + noise, 0, 255).astype(np.uint8)
    mask = np.zeros(source.shape[:2], dtype=np.bool_)
    mask[chosen.side // 4 : chosen.side // 2, chosen.side // 4 :] = True

    def their_ssim(full: bool = False) -> Any:
        return metrics.structural_similarity(
            source, output, gaussian_weights=True, sigma=1.5, use_sample_covariance=False, data_range=255,
            channel_axis=-1, full=full,
        )  # fmt: skip

    def their_colour() -> Any:
        return color.deltaE_ciede2000(color.rgb2lab(source), color.rgb2lab(output))

    rows = {
        "SSIM": (lambda: ssim(source, output), their_ssim),
        "SSIM inside and outside of a mask": (
            lambda: (ssim_in(source, output, mask), ssim_in(source, output, ~mask)), lambda: their_ssim(True)
        ),
        "CIEDE2000": (lambda: colour_difference_map(source, output), their_colour),
        "MS-SSIM": (lambda: ms_ssim(source, output), None),
        "all metrics, with the mask": (lambda: compare_images(source, output, mask), None),
    }  # fmt: skip
    print(f"{chosen.side} x {chosen.side} pixels, CPU seconds per pair")
    for name, (ours, theirs) in rows.items():
        own = cpu_seconds(ours, chosen.repeats)
        if theirs is None:
            print(f"{name:36} {own:6.3f}")
        else:
            peer = cpu_seconds(theirs, chosen.repeats)
            print(f"{name:36} {own:6.3f}   scikit-image {peer:6.3f}   {peer / own:4.1f} times its rate")
    apart = abs(ssim(source, output) - float(their_ssim()))
    print(f"largest difference of values: SSIM {apart:.1e}, CIEDE2000", end=" ")
    print(f"{np.abs(colour_difference_map(source, output) - their_colour()).max():.1e}")


if __name__ == "__main__":
    main()
