"""Fine-tuning settings: the defaults of `lora.yaml`, overridden by a YAML file and by single values."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from importlib import resources
from pathlib import Path
from typing import Any

from imarena.core import UserError

SCHEDULES = ("cosine", "linear", "constant")
DTYPES = ("auto", "float32", "bfloat16", "float16")


@dataclass(frozen=True)
class TrainingSettings:
    """LoRA and the optimiser. `targets`: linear layers of the language model; the vision tower stays as it is."""

    rank: int
    alpha: int
    dropout: float
    targets: tuple[str, ...]
    learning_rate: float
    schedule: str
    warmup: float
    """Share of all steps in which the learning rate rises."""
    weight_decay: float
    max_gradient: float
    """Maximum gradient norm; larger gradients are scaled down."""
    epochs: int
    batch_size: int
    accumulate: int
    """Batches per step of the optimiser."""
    min_pixels: int
    max_pixels: int
    dtype: str
    gradient_checkpointing: bool
    save_every: int
    """Steps between checkpoints."""
    seed: int

    def __post_init__(self) -> None:
        for name in ("rank", "alpha", "epochs", "batch_size", "accumulate", "min_pixels", "save_every"):
            if not _is_whole(getattr(self, name)) or getattr(self, name) < 1:
                raise _wrong(name, getattr(self, name), "a whole number of at least 1")
        for name in ("learning_rate", "max_gradient"):
            if not _is_number(getattr(self, name)) or getattr(self, name) <= 0:
                raise _wrong(name, getattr(self, name), "a number above 0")
        for name in ("dropout", "warmup"):
            if not _is_number(getattr(self, name)) or not 0 <= getattr(self, name) < 1:
                raise _wrong(name, getattr(self, name), "a number from 0 to below 1")
        if not _is_number(self.weight_decay) or self.weight_decay < 0:
            raise _wrong("weight_decay", self.weight_decay, "a number of at least 0")
        if not _is_whole(self.seed):
            raise _wrong("seed", self.seed, "a whole number")
        if not _is_whole(self.max_pixels) or self.max_pixels < self.min_pixels:
            raise _wrong("max_pixels", self.max_pixels, "a whole number, not below min_pixels")
        if self.schedule not in SCHEDULES:
            raise _wrong("schedule", self.schedule, "one of " + ", ".join(SCHEDULES))
        if self.dtype not in DTYPES:
            raise _wrong("dtype", self.dtype, "one of " + ", ".join(DTYPES))
        if not isinstance(self.gradient_checkpointing, bool):
            raise _wrong("gradient_checkpointing", self.gradient_checkpointing, "true or false")
        if not self.targets or not all(isinstance(name, str) and name for name in self.targets):
            raise _wrong("targets", self.targets, "a list of names of linear layers")

    def rate_at(self, step: int, steps: int) -> float:
        """The learning rate of step `step` (from 0) of `steps`."""
        rising = math.ceil(self.warmup * steps)
        if step < rising:
            return self.learning_rate * (step + 1) / rising
        done = (step - rising) / max(1, steps - rising)
        if self.schedule == "cosine":
            return self.learning_rate * 0.5 * (1.0 + math.cos(math.pi * done))
        return self.learning_rate * (1.0 - done) if self.schedule == "linear" else self.learning_rate

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {**asdict(self), "targets": list(self.targets)}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _wrong(name: str, value: object, expected: str) -> UserError:
    return UserError(f"The training setting {name} is {value!r}.", hint=f"Give {expected}.")


def read_training_settings(file: Path | None = None, changes: Mapping[str, Any] | None = None) -> TrainingSettings:
    """The defaults, overridden by a YAML file and then by single values. An unknown name raises."""
    text = resources.files("imarena.preferences.training").joinpath("lora.yaml").read_text(encoding="utf-8")
    values = _mapping(text, "lora.yaml")
    names = {field.name for field in fields(TrainingSettings)}
    table = {} if file is None else _mapping(_text_of(file), str(file))
    for name, value in [*table.items(), *(changes or {}).items()]:
        if name not in names:
            from imarena.core import suggestion

            raise UserError(f"There is no training setting called '{name}'.", hint=suggestion(name, sorted(names)))
        values[name] = value
    targets = values["targets"]
    return TrainingSettings(**{**values, "targets": tuple(targets) if isinstance(targets, list) else ()})


def _text_of(file: Path) -> str:
    if not file.is_file():
        raise UserError(f"There is no settings file {file}.", hint="Give the path of a YAML file, or leave it out.")
    return file.read_text(encoding="utf-8")


def _mapping(text: str, name: str) -> dict[str, Any]:
    import yaml

    try:
        values = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise UserError(f"{name} is not a YAML file: {error}", hint="See docs/guide/pvc.md.") from error
    if not isinstance(values, dict):
        raise UserError(f"{name} does not hold settings.", hint="Write one `name: value` per line.")
    return values
