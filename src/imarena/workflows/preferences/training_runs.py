"""Training runs from the command line's words."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from imarena.core import Progress, UserError
from imarena.preferences import (
    TrainingReport,
    TrainingSettings,
    merge_adapter,
    read_training_settings,
    train_judge,
)
from imarena.workflows.preferences.ablation import SIZES, AblationRow, run_ablation


def settings_from(file: Path | None, changes: Mapping[str, str]) -> TrainingSettings:
    """The defaults, a YAML file, and single values as they are typed."""
    values: dict[str, Any] = {name: _value(text) for name, text in changes.items()}
    return read_training_settings(file, values)


def _value(text: str) -> Any:
    """YAML reads `2e-6` as a text; here it is a number."""
    try:
        return float(text) if "e" in text.lower() and text.strip()[:1].isdigit() else yaml.safe_load(text)
    except (ValueError, yaml.YAMLError) as error:
        raise UserError(f"'{text}' is not a value of a setting.", hint="Give a number, a word or a list.") from error


def train_from_files(
    examples: Path,
    model: str,
    out: Path,
    settings: Path | None,
    changes: Mapping[str, str],
    *,
    device: str,
    stop_after: int | None,
    validation: Path | None,
    progress: Progress | None,
) -> TrainingReport:
    """Train, or continue; see `train_judge`."""
    chosen = settings_from(settings, changes)
    return train_judge(
        examples, model, out, chosen, device=device, stop_after=stop_after, validation=validation, progress=progress
    )


def merge_run(model: str, run: Path, target: Path) -> None:
    """Merge the adapter of a finished run into its model."""
    if target.exists() and any(target.iterdir()):
        raise UserError(f"{target} is not empty.", hint="Give a new folder.")
    merge_adapter(model, run / "adapter" if (run / "adapter").is_dir() else run, target)


def ablation_from_files(
    examples: Path,
    held_out: Path,
    model: str,
    out: Path,
    settings: Path | None,
    changes: Mapping[str, str],
    *,
    sizes: Sequence[int] | None,
    device: str,
    progress: Progress | None,
) -> tuple[AblationRow, ...]:
    """Run the ablation over sizes; see `run_ablation`."""
    chosen = settings_from(settings, changes)
    return run_ablation(examples, held_out, model, out, chosen, sizes=sizes or SIZES, device=device, progress=progress)
