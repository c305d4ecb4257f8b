"""A hub cache and a folder of weights in which the models that are not bundled are tiny random ones."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

import pytest

from imarena.core import file_sha256
from imarena.vision.catalog import EMBEDDER_TOOLS
from imarena.vision.model_weights.entries import weights_entries
from imarena.vision.model_weights.installed import WeightFile, WeightsManifest, install_folder, prepared_folder
from tests.models.tiny_encoders import make_clip, make_dino
from tests.models.tiny_lpips import make_lpips_alex, make_lpips_vgg
from tests.models.tiny_vision_models import MAKERS


@pytest.fixture(scope="module")
def hub_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tiny models under the hub ids and revisions of the weights that the catalog names, and no way to the hub."""
    cache = tmp_path_factory.mktemp("hub")
    if find_spec("torch") is None or find_spec("transformers") is None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("IMARENA_WEIGHTS", str(cache / "weights"))
            install_lpips()
            yield
        return
    import torch
    from huggingface_hub import constants

    torch.manual_seed(3)
    for name, make in {"clip": make_clip, "dino": make_dino}.items():
        source = weights_entries()[EMBEDDER_TOOLS[name].weights].hub
        assert source is not None
        assert source.revision is not None
        make(cache / f"models--{source.repository.replace('/', '--')}" / "snapshots" / source.revision)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IMARENA_WEIGHTS", str(cache / "weights"))
        patch.setenv("IMARENA_DEVICE", "cpu")
        install_lpips()
        for name, maker in MAKERS.items():
            install_tiny_weights(name, maker)
        patch.setattr(constants, "HF_HUB_CACHE", str(cache))
        patch.setattr(constants, "HF_HUB_OFFLINE", True)
        yield


def install_lpips() -> None:
    """Both networks of plain LPIPS, which need no torch."""
    install_tiny_weights("lpips-alex", make_lpips_alex)
    install_tiny_weights("lpips-vgg", make_lpips_vgg)


def install_tiny_weights(name: str, make: Callable[[Path], object]) -> None:
    """A tiny random model under the name of listed weights, as `imarena weights` installs them."""
    with prepared_folder(name) as folder:
        make(folder)
        files = {
            path.relative_to(folder).as_posix(): WeightFile(sha256=file_sha256(path), size_bytes=path.stat().st_size)
            for path in folder.rglob("*")
            if path.is_file()
        }
        manifest = WeightsManifest(
            name=name, source="folder", licence="MIT", licence_accepted=False, files=files,
            installed_at=datetime.now(UTC), software="test",
        )  # fmt: skip
        install_folder(folder, manifest)
