"""Turn a table of options into validated settings; a wrong name or value reports what is allowed."""

from collections.abc import Mapping
from typing import Literal, TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from imarena.core.errors import UserError
from imarena.core.validation import validation_problem

S = TypeVar("S", bound=BaseModel)
_OWNERS = {"judges": "The judge", "editors": "The editor kind"}


def read_options(
    settings: type[S], options: Mapping[str, JsonValue], table: Literal["judges", "editors"], kind: str
) -> S:
    """Validate `options` of the judge or editor kind called `kind`; `table` is where imarena.toml lists it."""
    owner = f"{_OWNERS[table]} '{kind}'"
    try:
        return settings.model_validate({name: _as_text(settings, name, value) for name, value in options.items()})
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False, include_input=False)
        problem = validation_problem(error, settings)
    missing = [str(p["loc"][0]) for p in problems if p["type"] == "missing" and len(p["loc"]) == 1]
    if missing:
        raise UserError(
            f"{owner} needs the option {', '.join(missing)}.",
            hint=f"Add --option {missing[0]}=VALUE, or write it into [{table}.NAME] of imarena.toml.",
        )
    names = ", ".join(sorted(settings.model_fields))
    raise UserError(f"{owner} does not take these options: {problem.text}.", hint=problem.hint or f"Known: {names}.")


def _as_text(settings: type[BaseModel], name: str, value: JsonValue) -> JsonValue:
    """Convert a number given for a text field: `--option version=2` means the text 2."""
    field = settings.model_fields.get(name)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return str(value) if field is not None and field.annotation is str and is_number else value
