"""Every place in a JSON value, and the value with another thing there."""

from copy import deepcopy
from typing import Any


def places(value: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to each place: keys and positions."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [above, *(place for key, inner in inside for place in places(inner, (*above, key)))]


def replaced(value: Any, place: tuple[Any, ...], new: Any) -> Any:
    """The value with `new` at `place`."""
    if not place:
        return new
    copy = deepcopy(value)
    at = copy
    for step in place[:-1]:
        at = at[step]
    at[place[-1]] = new
    return copy
