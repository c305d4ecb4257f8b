"""Remove anything that looks like a key from a text before it is shown."""

import re

_KEYS = re.compile(
    r"(?i)\b(?:sk|pk|rk|hf|gh[opsu]|xox[abp]|imarena)[-_][A-Za-z0-9_-]{16,}|\bAIza[A-Za-z0-9_-]{20,}"
    r"|\bAKIA[A-Z0-9]{12,}|(?<=bearer )[A-Za-z0-9._~+/-]{16,}"
)
"""Pattern of keys. Keys are removed before a reply is stored; this is for replies that came from elsewhere."""


def without_keys(text: str) -> str:
    """The text, with anything that looks like a key removed."""
    return _KEYS.sub("[key removed]", text)
