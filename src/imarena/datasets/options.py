"""The options of an importer or exporter: strings by name, checked before anything is read."""

from collections.abc import Mapping

from imarena.core import UserError, suggestion


def check_options(format_name: str, options: Mapping[str, str], **allowed: tuple[str, ...] | None) -> None:
    """Reject unknown options and, for options with choices, unknown values."""
    for name, value in options.items():
        if name not in allowed:
            hint = suggestion(name, allowed) if allowed else "It has no options."
            raise UserError(f"The format '{format_name}' has no option '{name}'.", hint=hint)
        choices = allowed[name]
        if choices is not None and value not in choices:
            raise UserError(f"{name}={value} is not a choice.", hint=suggestion(value, choices))
