"""Names that a user types: comma-separated lists, and the hint in an error about an unknown name."""

import difflib
from collections.abc import Collection, Iterable, Set
from typing import TypeVar

from imarena.core.errors import UnknownName

Known = TypeVar("Known", bound=str)


def suggestion(name: str, known: Iterable[str], listed: str | None = None) -> str:
    """Suggest the nearest known name in any case, same beginning first; then `listed` (default: all known names)."""
    names = {candidate.casefold(): candidate for candidate in known}
    typed = name.casefold()
    begun = [candidate for candidate in names if len(typed) > 2 and candidate.startswith(typed)]
    near = begun[:1] or difflib.get_close_matches(typed, names, n=1)
    if listed is None:
        listed = f"Known: {', '.join(sorted(names.values())) or 'none'}."
    return f"Did you mean '{names[near[0]]}'? {listed}".rstrip() if near else listed


def unknown_name(problem: str, name: str, known: Iterable[str]) -> UnknownName:
    """Make the error for a name that is not `known`; `problem` begins its sentence: "There is no executor called".

    Lists the known names in their order; a set's in alphabetical order.
    """
    names = sorted(known) if isinstance(known, Set) else list(known)
    return UnknownName(f"{problem} '{name}'.", hint=suggestion(name, names, f"Known: {', '.join(names) or 'none'}."))


def known_name(problem: str, name: str, known: Collection[Known]) -> Known:
    """Return the known name that equals `name`; raise `unknown_name` if there is none."""
    for candidate in known:
        if candidate == name:
            return candidate
    raise unknown_name(problem, name, known)


def split_names(names: Iterable[str], known: Collection[str]) -> tuple[str, ...]:
    """Split names, given one by one or in comma-separated lists; known names may contain commas."""
    parts = (part for name in names for part in ([name] if name in known else name.split(",")))
    return tuple(dict.fromkeys(stripped for part in parts if (stripped := part.strip())))
