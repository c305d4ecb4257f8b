"""Taking out of a text what looks like a key, before it is shown."""

import re

_KEYS = re.compile(
    r"(?i)\b(?:sk|pk|rk|hf|gh[opsu]|xox[abp]|imarena)[-_][A-Za-z0-9_-]{16,}|\bAIza[A-Za-z0-9_-]{20,}"
    r"|\bAKIA[A-Z0-9]{12,}|(?<=bearer )[A-Za-z0-9._~+/-]{16,}"
)
"""What looks like a key. Keys are taken out before a reply is stored; this is for replies that came from elsewhere."""


def without_keys(text: str) -> str:
    """The text, with anything that looks like a key taken out."""
    return _KEYS.sub("[key removed]", text)
