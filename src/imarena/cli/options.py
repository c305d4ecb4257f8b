"""Reading ``key=value`` options."""

from imarena.core.errors import UserError


def pairs(values: list[str] | None) -> dict[str, str]:
    """``["a=1", "b=2"]`` as a dictionary."""
    found: dict[str, str] = {}
    for value in values or []:
        key, equals, text = value.partition("=")
        if not equals or not key:
            raise UserError(f"The option '{value}' is not of the form key=value.")
        found[key] = text
    return found
