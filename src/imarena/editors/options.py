"""Turning a table of options into an editor's settings; a wrong name or value says what is allowed."""

from collections.abc import Mapping
from typing import TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from imarena.core import UserError

S = TypeVar("S", bound=BaseModel)


def read_editor_options(settings: type[S], options: Mapping[str, JsonValue], kind: str) -> S:
    """`options` as checked settings of the editor kind called `kind`."""
    try:
        return settings.model_validate(dict(options))
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False, include_input=False)
        found = "; ".join(f"{'.'.join(str(p) for p in e['loc']) or 'options'}: {e['msg']}" for e in problems)
    known = ", ".join(sorted(settings.model_fields))
    raise UserError(f"The editor kind '{kind}' does not take these options: {found}.", hint=f"Known: {known}.")
