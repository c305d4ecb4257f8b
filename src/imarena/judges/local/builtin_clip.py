"""`builtin-clip`: the judge `builtin` plus the similarity of image and text from an installed CLIP model (the `vision`
extra). Unlike `builtin`, it can see whether a new object looks like the requested one.
"""

from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from pydantic import JsonValue

from imarena.core import Chat, JudgeTraits
from imarena.core.records import JsonDict
from imarena.judges.builtin.judge import BuiltinJudge, BuiltinSettings
from imarena.judges.options import read_judge_options
from imarena.vision import ModelLock, clip_embedder, model_folder, model_label, weights_sha256

_FEATURE = "The judge 'builtin-clip'"
_CACHE_SIZE = 512
"""Number of cached features; all outputs of an item share those of the source and the text."""


class BuiltinClipSettings(BuiltinSettings):
    """The settings of `builtin`, plus the model's folder (`model`) and the device that it runs on (`device`)."""

    model: str = "clip-vit-large-patch14"
    device: str = "auto"


class BuiltinClipJudge(BuiltinJudge):
    """Judges by the evidence of `builtin` and of CLIP. Verdicts have a separate name and include the weights' hash."""

    traits = JudgeTraits(gpus=1.0)

    def __init__(self, settings: BuiltinClipSettings, folder: Path) -> None:
        super().__init__(settings, self._cosine)
        self.name = f"builtin-clip/{model_label(folder)}"
        self._folder = folder
        self._device = settings.device
        self._lock = ModelLock()

    @property
    def params(self) -> JsonDict:
        """The settings, with the hash of the weights instead of their path, and without the device."""
        settings = {k: v for k, v in self.settings.model_dump(mode="json").items() if k not in ("model", "device")}
        return {**settings, "weights_sha256": weights_sha256(self._folder)}

    @cached_property
    def _features(self) -> Callable[[str | tuple[bytes, int, int]], NDArray[np.float32]]:
        embed = clip_embedder(self._folder, self._device, _FEATURE)

        @lru_cache(maxsize=_CACHE_SIZE)
        def features(content: str | tuple[bytes, int, int]) -> NDArray[np.float32]:
            if isinstance(content, str):
                return embed(content)
            data, height, width = content
            return embed(Image.fromarray(np.frombuffer(data, np.uint8).reshape(height, width, 3)))

        return features

    def _cosine(self, picture: NDArray[np.uint8], text: str) -> float:
        key = (picture.tobytes(), picture.shape[0], picture.shape[1])
        with self._lock:
            return float(self._features(key) @ self._features(text))


def make(options: Mapping[str, JsonValue], _: Chat | None = None) -> BuiltinClipJudge:
    """The judge from a table of options."""
    settings = read_judge_options(BuiltinClipSettings, options, "builtin-clip")
    return BuiltinClipJudge(settings, model_folder(settings.model, _FEATURE))
