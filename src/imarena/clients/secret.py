"""Keys: read from the environment by name, shown to nobody, scrubbed from whatever a server echoes."""

import hmac
import os
from collections.abc import Iterable, Mapping
from typing import NoReturn

from imarena.core.errors import UserError

_HIDDEN = "Secret(***)"
_SCRUBBED = "[key removed]"
_SHORTEST = 8  # "x" or "EMPTY" for a server of one's own is no secret, and its letters are in every reply


class Secret:
    """A value whose text forms hide it. `reveal` is called in one place: where the request is sent."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    @classmethod
    def from_env(cls, name: str, environ: Mapping[str, str] | None = None) -> "Secret":
        """The key in the environment variable `name`; a missing or empty one raises `UserError`."""
        value = (os.environ if environ is None else environ).get(name, "").strip()
        if not value:
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
    """The text without these keys: a server that echoes a key must not bring it into a record."""
    for value in sorted((secret.reveal() for secret in secrets), key=len, reverse=True):  # one may begin another
        if len(value) >= _SHORTEST:
            text = text.replace(value, _SCRUBBED)
    return text
