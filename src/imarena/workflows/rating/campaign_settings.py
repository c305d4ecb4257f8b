"""The settings of a new campaign: from the command line and a file."""

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from imarena.core import UserError, validation_problem
from imarena.routing import CampaignPlan


def read_campaign_plan(values: Mapping[str, Any], given: Collection[str], file: Path | None = None) -> CampaignPlan:
    """Return the plan with these values; a file replaces all of them except those in `given`."""
    chosen = {name: value for name, value in values.items() if name in given}
    try:
        return CampaignPlan.model_validate({**values, **_read_settings(file), **chosen})
    except ValidationError as error:
        problem = validation_problem(error, CampaignPlan)
        raise UserError(f"{problem.text}.", hint=problem.hint) from error


def _read_settings(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read as JSON: {error}.") from error
    if not isinstance(settings, dict):
        raise UserError(f"{path} does not hold a JSON object.", hint="Write an object of settings: {...}.")
    return settings
