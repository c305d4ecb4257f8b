"""Names that a user types: lists with commas, and the hint of an error about a name that is not known."""

import difflib
from collections.abc import Collection, Iterable


def suggestion(name: str, known: Iterable[str], listed: str | None = None) -> str:
    """The nearest known name in any case, one that begins as typed first; then `listed`: by default all known names."""
    names = {candidate.casefold(): candidate for candidate in known}
    typed = name.casefold()
    begun = [candidate for candidate in names if len(typed) > 2 and candidate.startswith(typed)]
    near = begun[:1] or difflib.get_close_matches(typed, names, n=1)
    if listed is None:
        listed = f"Known: {', '.join(sorted(names.values())) or 'none'}."
    return f"Did you mean '{names[near[0]]}'? {listed}".rstrip() if near else listed


def split_names(names: Iterable[str], known: Collection[str]) -> tuple[str, ...]:
    """Names, each given on its own or in a list with commas; a known name may contain a comma itself."""
    parts = (part for name in names for part in ([name] if name in known else name.split(",")))
    return tuple(dict.fromkeys(stripped for part in parts if (stripped := part.strip())))
