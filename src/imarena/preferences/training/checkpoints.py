"""Checkpoints of a training run: adapter and optimiser as safetensors, and their step."""

import json
import os
import shutil
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from imarena.core import UserError

FOLDER = "checkpoints"
KEPT = 2
_STATE = "state.json"


def save_checkpoint(
    out: Path, step: int, parameters: Mapping[str, Any], optimizer: Any, progress: dict[str, Any]
) -> None:
    """Write the checkpoint of a step. It gets its name once it is completely on the disk; older ones are deleted."""
    files = import_module("safetensors.torch")
    root = out / FOLDER
    part = root / f".step-{step:08d}.part"
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    files.save_file(
        {name: value.detach().contiguous() for name, value in parameters.items()}, part / "adapter.safetensors"
    )
    state = {
        f"{slot}/{name}": value.contiguous()
        for name, parameter in parameters.items()
        for slot, value in optimizer.state.get(parameter, {}).items()
    }
    files.save_file(state, part / "optimizer.safetensors")
    (part / _STATE).write_text(json.dumps({"step": step, **progress}), encoding="utf-8")
    for file in part.iterdir():
        with file.open("rb") as stream:
            os.fsync(stream.fileno())
    target = root / f"step-{step:08d}"
    shutil.rmtree(target, ignore_errors=True)
    part.rename(target)
    for old in sorted(root.glob("step-*"))[:-KEPT]:
        shutil.rmtree(old)


def last_checkpoint(out: Path) -> Path | None:
    """The newest complete checkpoint of a run."""
    folders = sorted((out / FOLDER).glob("step-*"))
    return folders[-1] if folders else None


def restore_checkpoint(folder: Path, parameters: Mapping[str, Any], optimizer: Any) -> dict[str, Any]:
    """Restore a checkpoint into the parameters and the optimiser; returns the values given to `save_checkpoint`."""
    files = import_module("safetensors.torch")
    torch = import_module("torch")
    saved = files.load_file(folder / "adapter.safetensors")
    if saved.keys() != parameters.keys():
        raise UserError(f"{folder} belongs to another model.", hint="Give another output folder.")
    with torch.no_grad():
        for name, value in saved.items():
            parameters[name].copy_(value)
    for name, value in files.load_file(folder / "optimizer.safetensors").items():
        slot, _, owner = name.partition("/")
        parameter = parameters[owner]
        optimizer.state[parameter][slot] = value if slot == "step" else value.to(parameter.device)
    progress: dict[str, Any] = json.loads((folder / _STATE).read_text(encoding="utf-8"))
    return progress
