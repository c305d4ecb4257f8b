"""Models that run locally: a folder of safetensors, checked, hashed and loaded without running foreign code."""

import hashlib
import re
import threading
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.core import MissingExtra, UserError, command_line, error_line, file_sha256

_HUB_ID = re.compile(r"^[\w.-]+/[\w.-]+(?:@[\w./-]+)?$")


class ModelLock:
    """One thread at a time uses a model. A copy in another process has its own lock and its own model."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def __reduce__(self) -> tuple[type["ModelLock"], tuple[()]]:
        return ModelLock, ()


def model_folder(path: str, feature: str) -> Path:
    """The folder of a model in Hugging Face format, with safetensors weights; `path` may also be a name or a hub id.

    `feature` is what an error message names, for example ``The judge 'dino'``.
    A name is one that `imarena weights` lists. Listed weights that are not installed are taken from the hub client's
    cache if it has the listed commit; they are not downloaded here, because `weights get` shows their licence.
    A hub id (``owner/name``, or ``owner/name@revision``) is looked up among the downloaded models, then fetched:
    safetensors, JSON and tokenizer files only.
    """
    from imarena.vision.model_weights.entries import weights_entries
    from imarena.vision.model_weights.installed import installed_folder, weights_folder

    folder = Path(path).expanduser()
    if not folder.exists():
        if _HUB_ID.match(path):
            folder = _from_hub(path, feature)
        elif path in weights_entries() or installed_folder(path) is not None:
            folder = installed_folder(path) or _from_hub_cache(path) or weights_folder(path, feature)
    if not path or not folder.is_dir() or not (folder / "config.json").is_file():
        raise UserError(
            f"{feature} needs the folder of a model, and '{path}' is none.",
            hint="Give --model FOLDER with config.json, *.safetensors, tokenizer and preprocessor files, a name of "
            f"`{command_line('weights list')}`, or a hub id.",
        )
    if not any(folder.glob("*.safetensors")):
        raise UserError(
            f"{folder} holds no safetensors file.",
            hint="Weights that can run code (.bin, .pth, .pt) are not loaded: convert them to safetensors first.",
        )
    return folder


def _from_hub_cache(name: str) -> Path | None:
    """Listed weights that another program has downloaded already, at the listed commit."""
    from imarena.vision.model_weights.entries import weights_entries

    source = weights_entries()[name].hub
    if source is None or source.revision is None:
        return None
    try:
        from huggingface_hub import snapshot_download

        return Path(snapshot_download(source.repository, revision=source.revision, local_files_only=True))
    except (ImportError, OSError, ValueError):
        return None


def _from_hub(name: str, feature: str) -> Path:
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError
    except ImportError as error:
        raise MissingExtra(feature, "vision") from error
    from imarena.vision.model_weights.entries import HUB_FILES

    repository, _, revision = name.partition("@")
    for local_only in (True, False):
        try:
            return Path(
                snapshot_download(
                    repository, revision=revision or None, allow_patterns=list(HUB_FILES), local_files_only=local_only
                )
            )
        except (OSError, ValueError, HfHubHTTPError, HFValidationError) as error:
            reason = error_line(error, 300)
    raise UserError(
        f"'{name}' is neither a folder here nor a model that can be fetched: {reason}",
        hint="Check the spelling, or download the model's files and give their folder.",
    )


def model_label(folder: Path) -> str:
    """Display name of a model: its folder's name, or its hub id if it lies in the hub's cache."""
    if folder.parent.name == "snapshots" and folder.parent.parent.name.startswith("models--"):
        return folder.parent.parent.name.removeprefix("models--").replace("--", "/")
    return folder.name


@cache
def weights_sha256(folder: Path) -> str:
    """One hash over the weights and the JSON files next to them: it identifies the model wherever it is stored."""
    total = hashlib.sha256()
    for file in sorted([*folder.glob("*.safetensors"), *folder.glob("*.json")]):
        total.update(f"{file.name}\0{file_sha256(file)}\n".encode())
    return total.hexdigest()


def import_torch(feature: str) -> tuple[Any, Any]:
    """Import torch and transformers, or raise with the command that installs them."""
    try:
        import torch
        import transformers
    except ImportError as error:
        raise MissingExtra(feature, "vision") from error
    return torch, transformers


def load_pretrained(loader: Any, folder: Path, **options: Any) -> Any:
    """Call ``from_pretrained`` on a local folder: no download, no remote code, safetensors only."""
    return loader.from_pretrained(str(folder), local_files_only=True, trust_remote_code=False, **options)


def device_of(torch: Any, device: str) -> str:
    """Where a model runs: `auto` is CUDA if available, else the CPU; any other value is a torch device name."""
    if device != "auto":
        return device
    return "cuda" if torch.cuda.is_available() else "cpu"


def unit_vector(features: Any) -> NDArray[np.float32]:
    """A tensor (d,) scaled to length 1; raises if it has no length (a broken model) rather than give a score."""
    vector = np.asarray(features.float().cpu().numpy(), np.float32)
    length = np.linalg.norm(vector)
    if not np.isfinite(length) or length == 0:
        raise UserError("The model gives an embedding without a direction.", hint="Check its weights.")
    return np.asarray(vector / length, np.float32)
