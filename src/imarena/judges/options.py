"""Turning a table of options into a judge's settings; a wrong name or value says what is allowed."""

from collections.abc import Mapping
from typing import TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from imarena.core import UserError

S = TypeVar("S", bound=BaseModel)


def read_judge_options(settings: type[S], options: Mapping[str, JsonValue], kind: str) -> S:
    """`options` as checked settings of the judge called `kind`."""
    try:
        return settings.model_validate(dict(options))
    except ValidationError as error:
        lacking = [str(e["loc"][0]) for e in error.errors() if e["type"] == "missing" and len(e["loc"]) == 1]
        if lacking:
            raise UserError(
                f"The judge '{kind}' needs the option {', '.join(lacking)}.",
                hint=f"Add --option {lacking[0]}=VALUE, or write it into [judges.NAME] of imarena.toml.",
            ) from error
        found = "; ".join(f"{'.'.join(str(p) for p in e['loc']) or 'options'}: {e['msg']}" for e in error.errors())
        known = ", ".join(sorted(settings.model_fields))
        raise UserError(f"The judge '{kind}' does not take these options: {found}.", hint=f"Known: {known}.") from error
