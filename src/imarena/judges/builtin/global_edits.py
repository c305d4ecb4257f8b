"""Checks for edits of the whole image: light and restoration, style and weather, another background."""

from collections.abc import Callable

import cv2
import numpy as np

from imarena.core.records import JsonDict
from imarena.judges.builtin.checks import RuleInput, RuleResult
from imarena.judges.builtin.curves import logistic_fall, plateau, ramp
from imarena.language import Edit, EditKind
from imarena.vision import Difference, Frame, noise_level, structure_change


def same_layout(difference: Difference) -> float:
    """Are the large shapes where they were? 0 to 1, regardless of colour, grain and brush strokes."""
    left = cv2.GaussianBlur(difference.source.slope, (0, 0), 3.0).ravel()
    right = cv2.GaussianBlur(difference.output.slope, (0, 0), 3.0).ravel()
    if left.std() < 1e-3 or right.std() < 1e-3:
        return 1.0 if left.std() < 1e-3 and right.std() < 1e-3 else 0.0
    edges = float(np.corrcoef(left, right)[0, 1])
    smooth = [
        np.asarray(cv2.GaussianBlur(f.light, (0, 0), 2.0), dtype=np.float32)
        for f in (difference.source, difference.output)
    ]
    light = 1.0 - float(np.median(structure_change(smooth[0], smooth[1], 6.0)))
    return ramp(max(edges, light), 0.35, 0.8)


def _edge_sharpness(frame: Frame) -> float:
    """Log slope of the strongest edges (lightness units per pixel), which noise hardly affects."""
    return float(np.log(np.quantile(frame.slope, 0.98) + 1.0))


def _haze(frame: Frame) -> float:
    """The mean of the dark channel (He et al. 2009): high if haze covers everything."""
    darkest = cv2.erode(frame.rgb.min(axis=2), np.ones((9, 9), np.uint8))
    return float(darkest.mean())


def _cast(frame: Frame) -> float:
    """How far the image's mean colour is from grey."""
    return float(np.hypot(frame.lab[..., 1].mean(), frame.lab[..., 2].mean()))


def _gain(
    measure: Callable[[Frame], float], sign: float, low: float, high: float
) -> Callable[[Difference], tuple[float, float]]:
    def gained(difference: Difference) -> tuple[float, float]:
        change = sign * (measure(difference.output) - measure(difference.source))
        return ramp(change, low, high), change

    return gained


def _light(frame: Frame) -> float:
    return float(frame.light.mean())


def _vivid(frame: Frame) -> float:
    return float(frame.chroma.mean())


OPERATIONS: dict[str, Callable[[Difference], tuple[float, float]]] = {
    "brighten": _gain(_light, 1.0, 1.0, 12.0),
    "darken": _gain(_light, -1.0, 1.0, 12.0),
    "contrast": _gain(lambda frame: float(frame.light.std()), 1.0, 0.3, 4.0),
    "saturate": _gain(_vivid, 1.0, 0.3, 5.0),
    "desaturate": _gain(_vivid, -1.0, 0.3, 5.0),
    "denoise": _gain(lambda frame: noise_level(frame.light), -1.0, 0.1, 1.5),
    "deblur": _gain(_edge_sharpness, 1.0, 0.03, 0.4),
    "upscale": _gain(_edge_sharpness, 1.0, 0.03, 0.4),
    "dehaze": _gain(_haze, -1.0, 0.01, 0.12),
    "white_balance": _gain(_cast, -1.0, 0.3, 5.0),
    "colourize": _gain(_vivid, 1.0, 1.0, 10.0),
}
"""Per enhancement: how far it was done (0 to 1), and the measured change, positive in the requested direction."""


def check_enhance(edit: Edit, scene: RuleInput) -> RuleResult:
    """Check that the requested quantity changed in the right direction."""
    measured = OPERATIONS.get(edit.operation)
    if measured is None:
        done = ramp(scene.facts.colour_top, 2.0, 10.0) * same_layout(scene.difference)
        return RuleResult(
            done, 0.2, f"'{edit.operation}' has no measure of its own: any change that keeps the layout counts", {}
        )
    done, change = measured(scene.difference)
    return RuleResult(
        done, 0.6, f"measures '{edit.operation}'", {"operation": edit.operation, "change": round(change, 4)}
    )


def check_style(edit: Edit, scene: RuleInput) -> RuleResult:
    """Check that the whole image looks different. Only grey styles are recognised."""
    facts = scene.facts
    done = ramp(max(facts.colour_median, 20.0 * facts.structure_median), 2.0, 12.0)
    evidence: JsonDict = {"change": round(facts.colour_median, 3)}
    if edit.value in {"black and white", "monochrome", "grayscale", "greyscale", "noir"}:
        grey = logistic_fall(_vivid(scene.difference.output), 5.0, 1.0)
        return RuleResult(
            grey, 0.8, "looks whether the colours are gone", {"chroma": round(_vivid(scene.difference.output), 2)}
        )
    return RuleResult(done, 0.2, "sees that the whole image changed, not into which style", evidence)


def check_background(edit: Edit, scene: RuleInput) -> RuleResult:
    """Check that much of the image changed or, for a blur, that most fine detail is gone."""
    if edit.operation == "blur":
        before, after = (np.quantile(f.curve, 0.75) for f in (scene.difference.source, scene.difference.output))
        drop = float(np.log((before + 0.3) / (after + 0.3)))
        return RuleResult(
            ramp(drop, 0.05, 0.7), 0.5, "looks whether most fine detail is gone", {"drop": round(drop, 3)}
        )
    changed = float((scene.difference.colour_blocks > 6.0).mean())
    done = ramp(changed, 0.1, 0.5)
    return RuleResult(done, 0.3, "sees that most of the image changed, not into what", {"changed": round(changed, 3)})


def check_view(edit: Edit, scene: RuleInput) -> RuleResult:
    """Check that the framing changed: other lines everywhere or, for an extended image, another aspect ratio."""
    facts = scene.facts
    if edit.kind is EditKind.EXTEND:
        return RuleResult(ramp(facts.aspect_change, 0.02, 0.15), 0.4, "sees whether the shape of the image changed", {})
    done = ramp(facts.structure_median, 0.02, 0.2)
    return RuleResult(
        done, 0.2, "sees that all lines moved, not where to", {"structure_median": round(facts.structure_median, 3)}
    )


def same_palette(difference: Difference) -> float:
    """Share of the colours that both images have in common, 0 to 1; not affected by a moved camera."""
    counts = []
    for frame in (difference.source, difference.output):
        histogram, _ = np.histogramdd(frame.lab.reshape(-1, 3), bins=(8, 8, 8), range=((0, 100), (-64, 64), (-64, 64)))
        counts.append(histogram / max(1.0, histogram.sum()))
    return float(np.minimum(counts[0], counts[1]).sum())


def subject_preservation(difference: Difference) -> float:
    """Is part of the image unchanged? 0 to 1, from the share of blocks with little change in colour and structure."""
    still = (difference.colour_blocks < 8.0) & (difference.structure_blocks < 0.25)
    return ramp(float(still.mean()), 0.02, 0.10)


def global_preservation(kinds: frozenset[EditKind], scene: RuleInput) -> float:
    """How well a global edit keeps what it must: the layout, the palette (new view) or the subject (new background)."""
    if EditKind.BACKGROUND in kinds:
        return subject_preservation(scene.difference)
    if kinds & {EditKind.EXTEND, EditKind.VIEW}:
        return ramp(same_palette(scene.difference), 0.35, 0.75)
    return same_layout(scene.difference) * plateau(scene.facts.aspect_change, 0.0, 0.03, 1.0, 0.4)
