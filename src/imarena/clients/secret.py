"""Keys: read from the environment by name, never shown, and removed from anything that a server echoes."""

import base64
import hmac
import html
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NoReturn
from urllib.parse import quote, quote_plus

from imarena.core import UserError

_VARIABLE = re.compile("[A-Z_][A-Z0-9_]*")
_HIDDEN = "Secret(***)"
_SCRUBBED = b"[key removed]"
_SHORTEST = 8  # "x" or "EMPTY" for a private server is not a secret, and its letters occur in every reply


class Secret:
    """A value that its text forms hide. Only the code that sends the request calls `reveal`."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    @classmethod
    def from_env(cls, name: str, environ: Mapping[str, str] | None = None) -> "Secret":
        """The key in the environment variable `name`; raises `UserError` if it is missing or empty."""
        value = (os.environ if environ is None else environ).get(name, "").strip()
        if not value:
            if not _VARIABLE.fullmatch(name):
                raise UserError(
                    "api_key_env names a variable that holds no key; it is not shown, since it may be the key itself.",
                    hint="Put the key into a variable (export MY_KEY=<your key>) and give that name: MY_KEY.",
                )
            raise UserError(
                f"The environment variable {name} holds no key.", hint=f"Set it first: export {name}=<your key>"
            )
        if any(not 0x20 < ord(character) < 0x7F for character in value):
            raise UserError(f"The key in {name} has characters that no HTTP header can carry.", hint="Copy it again.")
        return cls(value)

    def reveal(self) -> str:
        """The value itself."""
        return self._value

    def __repr__(self) -> str:
        return _HIDDEN

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return _HIDDEN

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and hmac.compare_digest(self._value.encode(), other._value.encode())

    def __hash__(self) -> int:
        return hash((Secret, self._value))

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is neither pickled nor copied to a file")


def scrub(text: str, secrets: Iterable[Secret]) -> str:
    """The text without these keys, so that a key echoed by a server never gets into a record."""
    return scrub_bytes(text.encode("utf-8", "surrogatepass"), secrets).decode("utf-8", "surrogatepass")


def scrub_bytes(data: bytes, secrets: Iterable[Secret]) -> bytes:
    """Remove keys from a body: plain, quoted, escaped or in base64, and also keys truncated at its end."""
    for value in sorted((secret.reveal() for secret in secrets), key=len, reverse=True):  # a key may begin with another
        if len(value) < _SHORTEST:
            continue
        for form in _forms(value):
            if form in data:
                data = data.replace(form, _SCRUBBED)
            if form[:_SHORTEST] in data[-len(form) :]:
                data = _without_half(data, form)
    return data


def _without_half(data: bytes, form: bytes) -> bytes:
    """The data without the beginning of a key at its end, where a message was truncated."""
    for length in range(min(len(form) - 1, len(data)), _SHORTEST - 1, -1):
        if data.endswith(form[:length]):
            return data[:-length] + _SCRUBBED
    return data


@lru_cache(maxsize=64)
def _forms(value: str) -> tuple[bytes, ...]:
    """Possible spellings of a key in a reply, the longest first."""
    quoted = {quote(value, safe=""), quote(value), quote_plus(value)}
    escaped = {json.dumps(value)[1:-1], value.replace("/", "\\/"), html.escape(value), value.encode().hex()}
    spelt = {value, *quoted, *(text.replace("%", "%25") for text in quoted), *escaped}
    spelt |= {re.sub("%[0-9A-F]{2}", lambda code: code[0].lower(), text) for text in quoted}
    forms = {text.encode() for text in spelt} | set(_in_base64(value.encode()))
    return tuple(sorted((form for form in forms if len(form) >= _SHORTEST), key=len, reverse=True))


def _in_base64(value: bytes) -> Iterator[bytes]:
    """The base64 characters that depend only on the key, wherever it is in the encoded text ('Bearer <key>')."""
    for before in range(3):
        sure = slice((before * 8 + 5) // 6, (before + len(value)) * 8 // 6)
        padded = b"\0" * before + value
        yield base64.b64encode(padded)[sure]
        yield base64.urlsafe_b64encode(padded)[sure]
