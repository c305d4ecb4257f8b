"""Registry entry of a pretrained model: a tool that loads the model when the first image arrives."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from imarena.core import Pixels
from imarena.vision.local_models import import_torch, model_folder, weights_sha256
from imarena.vision.pretrained.placement import Placement, placement_from_environment

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class BatchTool(Protocol[R_co]):
    """A loaded model: takes several images and returns one result per image, in the same order."""

    def batch(self, images: Sequence[Pixels]) -> Sequence[R_co]: ...


class PretrainedTool(Generic[R]):
    """A tool by the name of its weights. It is callable as its port requires; `batch` takes several images at once."""

    def __init__(
        self,
        feature: str,
        weights: str,
        load: Callable[[Path, Placement], BatchTool[R]],
        find: Callable[[str, str], Path] = model_folder,
        wording: str = "",
    ) -> None:
        """`wording` names the prompt of a tool that uses one."""
        self._feature = feature
        self._weights = weights
        self._load = load
        self._find = find
        self._wording = wording
        self._model: tuple[Path, Placement, BatchTool[R]] | None = None
        self._lock = threading.Lock()

    def __call__(self, pixels: Pixels) -> R:
        """The result for one image."""
        return self.batch([pixels])[0]

    def batch(self, images: Sequence[Pixels]) -> list[R]:
        """The results for several images, in the same order."""
        with self._lock:
            return list(self.model.batch(images)) if images else []

    @property
    def version(self) -> str:
        """What a result depends on: the hash of the weights, the number format and the wording of a prompt."""
        import_torch(self._feature)
        folder = self._find(self._weights, self._feature)
        parts = (f"{self._weights}@{weights_sha256(folder)[:16]}", placement_from_environment().dtype, self._wording)
        return "+".join(part for part in parts if part)

    @property
    def model(self) -> BatchTool[R]:
        """The loaded model. It is loaded once, and again if the folder or the settings have changed."""
        import_torch(self._feature)  # check for torch before looking for the weights
        folder, placement = self._find(self._weights, self._feature), placement_from_environment()
        if self._model is None or self._model[:2] != (folder, placement):
            self._model = (folder, placement, self._load(folder, placement))
        return self._model[2]
