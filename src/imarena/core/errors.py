"""Errors that a person can act on.

`UserError` is the one that the command line turns into a single message and exit code 2.
"""

import re

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class ImarenaError(Exception):
    """Base class of all errors that this package raises on purpose."""


class UserError(ImarenaError):
    """The user must fix something. The message explains the problem; `hint` explains what to do next."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint

    def __str__(self) -> str:
        message = super().__str__()
        return f"{message}\n{self.hint}" if self.hint else message


class UnknownName(UserError):
    """A name that no registry entry has."""


class InvalidImage(UserError):
    """Bytes that are not an image we are willing to decode."""


class MissingExtra(UserError):
    """An optional package is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(
            f"{feature} needs the '{extra}' extra.",
            hint=f"Install it with: pip install 'imarena[{extra}]' (in a clone: pip install --editable '.[{extra}]').",
        )
        self._made_from = (feature, extra)

    def __reduce__(self) -> tuple[type["MissingExtra"], tuple[str, str]]:
        """Support pickling: the error may come from a worker in another process."""
        return type(self), self._made_from


class StoreError(ImarenaError):
    """The store rejected a change: a conflict, a newer schema, a damaged file."""


class DatabaseFailed(UserError):
    """The database is damaged, closed, busy, full or unreachable: the program cannot fix that."""


class DatabaseAway(DatabaseFailed):
    """A connection broke, or another transaction was in the way: nothing was written, and a retry may succeed soon."""


class DiskFull(DatabaseFailed):
    """There is no space left for new records. Stored records are safe."""


class StorageFailed(DatabaseFailed):
    """The image storage is unreachable or rejects requests. This says nothing about an image."""


class BudgetSpent(ImarenaError):
    """The next call could exceed the cost limit: the run stops before it."""


def error_message(error: BaseException) -> str:
    """Return the text of an error. A plug-in's error may fail to produce one."""
    try:
        return str(error)
    except Exception as failure:  # noqa: BLE001  # the author's own `__str__`, which may raise anything
        return f"its own message cannot be made, `__str__` raised {type(failure).__name__}"


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message, for one-line reports; without a message, its type.

    Control characters, which may come from names in a file, are escaped.
    """
    lines = (line for line in error_message(error).split("\n") if line.strip())
    line = next(lines, type(error).__name__)
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), line.rstrip("\r"))
