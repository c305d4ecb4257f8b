"""Read settings of the methods by name, such as ``k_human=16``, into the options. All commands use this reader."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from imarena.core import UserError, unknown_name
from imarena.ranking.options import MixtureOptions, Options
from imarena.stats import score_range_from

WHOLE = ("base", "scale", "centre")
"""Settings of the board, not of a method."""
METHOD_PARTS = ("elo", "active", "mixture")
METHOD_OF = {"elo": "elo", "active": "active-elo", "mixture": "mixture"}
"""The method that reads each part; the other methods have no settings of their own."""
EPSILON = "epsilon"
"""The paper's name: q_human = 1 - epsilon (CV-Arena E.3)."""


def with_settings(
    options: Options, assignments: Iterable[str] | None, reliability: str | None = None, *, refuse_unused: bool = False
) -> Options:
    """Apply every ``key=value`` to the options. `reliability`: see `MixtureOptions`.

    `refuse_unused`: raise `UserError` for a setting that the method of `options` does not read.
    """
    parts: dict[str, Any] = {name: getattr(options, name) for name in METHOD_PARTS}
    if reliability is not None:
        parts["mixture"] = replace(options.mixture, reliability=reliability)
    for key, text in _read(assignments).items():
        owners = [name for name in METHOD_PARTS if key in _names(parts[name])]
        if not owners and key not in WHOLE:
            raise unknown_name("No setting", key, known_settings())
        if not owners:
            parts[key] = _number(key, text)
        for owner in owners:  # active Elo and the mixture both have a q_human
            parts[owner] = replace(parts[owner], **{key: _value(key, text)})
        if owners and refuse_unused:
            _check_used(key, owners, options.method, parts)
    if refuse_unused and reliability not in (None, MixtureOptions().reliability):
        _check_used("reliability", ["mixture"], options.method, parts)
    return replace(options, **parts)


def _check_used(key: str, owners: Sequence[str], method: str, parts: Mapping[str, Any]) -> None:
    """Refuse a setting of parts that the method does not read."""
    methods = [METHOD_OF[part] for part in owners]
    if method in methods:
        return
    own = [name for part, reader in METHOD_OF.items() if reader == method for name in _names(parts[part])]
    raise UserError(
        f"The method '{method}' has no setting '{key}'.",
        hint=f"--method {method} takes {', '.join([*own, *WHOLE])}; '{key}' belongs to "
        f"{' and '.join(f'--method {name}' for name in methods)}.",
    )


def known_settings() -> list[str]:
    """Every name that `with_settings` knows."""
    of_methods = [name for part in METHOD_PARTS for name in _names(getattr(Options(), part))]
    return [*WHOLE, *dict.fromkeys(of_methods), EPSILON]


def _names(part: Any) -> list[str]:
    return [field.name for field in fields(part)]


def _read(assignments: Iterable[str] | None) -> dict[str, str]:
    settings: dict[str, str] = {}
    for word in assignments or ():
        key, equals, text = word.partition("=")
        if not equals or not key or not text:
            raise UserError(f"--set takes NAME=VALUE, not '{word}'.", hint="Such as --set alpha=0.25.")
        settings[key] = text
    if EPSILON in settings:
        if "q_human" in settings:
            raise UserError(
                "'epsilon' and 'q_human' are one setting.", hint="q_human is 1 - epsilon: give one of them."
            )
        settings["q_human"] = repr(1 - _number(EPSILON, settings.pop(EPSILON)))
    return settings


def _value(key: str, text: str) -> Any:
    if key in ("order", "reliability"):
        return text
    if key == "paper_compat":
        if text not in ("true", "false"):
            raise UserError(f"'{key}' is true or false, not '{text}'.")
        return text == "true"
    if key == "q_by_gap":
        points = [point.partition(":") for point in text.split(",")]
        return tuple(sorted((_number(key, gap), _number(key, q)) for gap, _, q in points))
    if key == "score_range":
        return score_range_from(text)
    number = _number(key, text)
    return int(number) if key == "gap_bins" else number


def _number(key: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UserError(f"'{key}' needs a number, not '{text}'.") from None
