"""The input of a built-in editor: the given pixels, and the scene they were rendered from."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from imarena.core import EditRequest, Floats, Pixels
from imarena.core.records import Status
from imarena.studio import (
    SHOWN,
    RecognisedRequest,
    Scene,
    align_canvas,
    change_mask,
    decode_pixels,
    detail_agreement,
    encode_pixels,
    is_photo,
    recognise_request,
    render_picture,
    render_scene,
    requests_from_text,
)

TRIES = 5
"""Number of earlier attempts in which an editor recognises its own image."""


@dataclass(frozen=True)
class EditFailed:
    """Status and reason of an editor that returns no image."""

    status: Status
    reason: str


@dataclass(frozen=True)
class StudioRequest:
    """A recognised request: the scenes before and after, the given pixels, and a seeded random generator."""

    request: EditRequest
    asked: RecognisedRequest
    before: Scene | None
    after: Scene
    salt: str

    @property
    def rng(self) -> np.random.Generator:
        """Random generator seeded by the habit, the entry, the turn and the request's seed, not by order or name."""
        text = f"{self.salt}|{self.asked.entry.key}|{self.asked.first}|{self.request.seed}"
        return np.random.default_rng(list(text.encode()))

    @cached_property
    def target(self) -> Pixels:
        """The exact image after the turn, starting from the exact image before it."""
        return render_scene(self.after).pixels

    @cached_property
    def source_pixels(self) -> Pixels:
        """The source on the canvas of the result; plain grey if there is no source."""
        source = decode_pixels(self.request.sources[0]) if self.request.sources else None
        return align_canvas(source, self.before, self.after, (self.target.shape[0], self.target.shape[1]))

    @property
    def start(self) -> Pixels:
        """The starting point of the change: the source, or the empty scene if there is none."""
        return self.source_pixels if self.request.sources else render_scene(self.after.with_things(())).pixels

    @property
    def untouched(self) -> bool:
        """Is the source byte for byte the exact image before the turn?"""
        return self.before is None or (
            bool(self.request.sources) and self.request.sources[0] == render_picture(self.before)
        )

    def applied(self, after: Scene) -> Pixels:
        """Apply the change from the scene before to `after` to the given pixels.

        On the exact image this gives exactly `after`. On another one (an imperfect earlier turn), the pixels that
        should change are taken from `after` and the rest stays as it is.
        """
        pixels = self.target if after == self.after else render_scene(after).pixels
        if self.untouched or self.before is None or pixels.shape != self.target.shape:
            return pixels
        base = align_canvas(render_scene(self.before).pixels, self.before, after, (pixels.shape[0], pixels.shape[1]))
        return np.where(change_mask(base, pixels)[..., None], pixels, self.source_pixels)

    def encode(self, pixels: Pixels | Floats) -> bytes:
        """Encode pixels (bytes, or floats in 0..1) in the entry's format: JPEG for photographs, else PNG."""
        if pixels.dtype != np.uint8:
            pixels = np.asarray(np.clip(pixels * 255 + 0.5, 0, 255), np.uint8)
        return encode_pixels(np.asarray(pixels, np.uint8), photo=is_photo(self.after))


def studio_request(
    request: EditRequest, salt: str, paint: Callable[[StudioRequest], bytes] | None = None
) -> StudioRequest | None:
    """The recognised request; None if it is not from the benchmark.

    `paint` makes the images of an editor that draws something other than the entry: its own image from the turn or
    attempt before is accepted as a source, like the entry's.
    """
    try:
        recognised = recognise_request(request.instruction, request.sources)
        if recognised is None and paint is not None and request.sources:
            recognised = _drawn_before(request, salt, paint)
    except OSError:  # the source is not an image
        return None
    return None if recognised is None else _work(request, recognised, salt)


def _work(request: EditRequest, recognised: RecognisedRequest, salt: str) -> StudioRequest | None:
    after = recognised.entry.scene_after(recognised.last)
    return (
        None
        if after is None
        else StudioRequest(request, recognised, recognised.entry.scene_after(recognised.first), after, salt)
    )


def _drawn_before(request: EditRequest, salt: str, paint: Callable[[StudioRequest], bytes]) -> RecognisedRequest | None:
    source = decode_pixels(request.sources[0])
    for recognised in requests_from_text(request.instruction, request.sources):
        for first, seed in (
            (recognised.first - 1, request.seed),
            *((recognised.first, seed) for seed in _earlier(request.seed)),
        ):
            before = RecognisedRequest(recognised.entry, first, first + 1) if first < recognised.first else recognised
            work = _work(replace(request, seed=seed), before, salt) if first >= 0 else None
            if work is not None and detail_agreement(source, decode_pixels(paint(work))) >= SHOWN:
                return recognised
    return None


def _earlier(seed: int | None) -> list[int | None]:
    """Seeds of the earlier attempts: an agent adds a thousand for each."""
    return [seed] if seed is None else [seed - 1000 * tries for tries in range(TRIES)]
