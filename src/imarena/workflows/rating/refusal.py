"""A request that the rules of rating forbid."""

from imarena.core import UserError


class Refusal(UserError):
    """A request that the rules forbid; `code` is for programs, `fields` names the parts of the request it is about."""

    def __init__(
        self, code: str, message: str, *, hint: str = "", fields: tuple[str, ...] = (), wait_s: float | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.fields = fields
        self.wait_s = wait_s
        """The same request may be accepted after this many seconds."""
