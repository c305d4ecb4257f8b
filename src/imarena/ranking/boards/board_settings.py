"""What a board records about its options. Every method uses this, so that no option is missing from a signature."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, fields, is_dataclass
from typing import Any

from imarena.core.records import JsonDict
from imarena.ranking.options import ActiveEloOptions, EloOptions, MixtureOptions, Options

MethodOptions = EloOptions | ActiveEloOptions | MixtureOptions

NOT_IN_NUMBERS = frozenset({"fragility", "matrices", "executor"})
"""Options that change no rating, interval or rank, and are never recorded."""
ELSEWHERE = frozenset({"method", "elo", "active", "mixture"})
"""The method is a signature's own part; the options of a method are recorded if that method made the board."""


def board_settings(
    options: Options,
    written: Mapping[str, Any],
    part: MethodOptions | None = None,
    *,
    unused: Collection[str] = (),
    sparse: Collection[str] = (),
) -> JsonDict:
    """Return the settings of a board: those `written` by the method, then every other option with another value.

    `written`: settings in the method's own form, such as an interval with its default filled in. Every other field of
    `options`, and of `part` (the options of the method), follows under its own name if it is not at its default: a new
    option is in the settings, and so in the signature, without further work. `unused`: options without effect here.
    `sparse`: options that are otherwise always written, here only if they are not at their defaults.
    """
    values: dict[str, Any] = {"base": options.base, "scale": options.scale, "centre": options.centre}
    values = {name: value for name, value in values.items() if name not in sparse}
    values |= {"ties": written.get("ties"), "interval": written.get("interval")}
    values |= {"level": options.level, "seed": options.seed}
    settings: JsonDict = {name: value for name, value in values.items() if value is not None} | dict(written)
    left = {**_changed(options), **({} if part is None else _changed(part))}
    excluded_names = {*settings, *unused, *NOT_IN_NUMBERS, *ELSEWHERE}
    return settings | {name: value for name, value in left.items() if name not in excluded_names}


def _changed(options: Options | MethodOptions) -> dict[str, Any]:
    """The fields that are not at their defaults, as JSON values."""
    default = type(options)()
    values = {field.name: getattr(options, field.name) for field in fields(options)}
    return {name: _json(value) for name, value in values.items() if value != getattr(default, name)}


def _json(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value
