"""Models that run here: a folder of safetensors, checked, hashed and loaded without running anybody's code."""

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from imarena.core.errors import MissingExtra, UserError


def model_folder(path: str, kind: str) -> Path:
    """The folder of a model in Hugging Face form, with its weights as safetensors."""
    folder = Path(path)
    if not path or not folder.is_dir() or not (folder / "config.json").is_file():
        raise UserError(
            f"The judge '{kind}' needs the folder of a model, and '{path}' is none.",
            hint="Download its files (config.json, *.safetensors, tokenizer, preprocessor) and give the folder.",
        )
    if not any(folder.glob("*.safetensors")):
        raise UserError(
            f"{folder} holds no safetensors file.",
            hint="Weights that can run code (.bin, .pth, .pt) are not loaded: convert them to safetensors first.",
        )
    return folder


@cache
def weights_sha256(folder: Path) -> str:
    """One hash over the weights and the JSON files beside them: what the model is, wherever it lies."""
    total = hashlib.sha256()
    for file in sorted([*folder.glob("*.safetensors"), *folder.glob("*.json")]):
        with file.open("rb") as stream:
            total.update(f"{file.name}\0{hashlib.file_digest(stream, 'sha256').hexdigest()}\n".encode())
    return total.hexdigest()


def import_torch(kind: str) -> tuple[Any, Any]:
    """Torch and transformers, or the command that installs them."""
    try:
        import torch
        import transformers
    except ImportError as error:
        raise MissingExtra(f"The judge '{kind}'", "vision") from error
    return torch, transformers


def load_pretrained(loader: Any, folder: Path, **options: Any) -> Any:
    """``from_pretrained`` from disk alone: no download, no remote code, safetensors only."""
    return loader.from_pretrained(str(folder), local_files_only=True, trust_remote_code=False, **options)
