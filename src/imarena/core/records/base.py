"""The common base of all records: frozen, versioned, JSON round-trip, with time and software version."""

from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, PlainSerializer

from imarena.core.version import VERSION

JsonDict = dict[str, JsonValue]


def now() -> datetime:
    """The present moment, in UTC, at the microsecond."""
    return datetime.now(UTC)


def moment_text(value: datetime) -> str:
    """Return the canonical spelling of a moment."""
    return value.astimezone(UTC).isoformat(timespec="microseconds")


Moment = Annotated[datetime, PlainSerializer(moment_text, return_type=str, when_used="json")]
"""A time in UTC. One spelling in JSON and in the database, so that text order is time order."""


class FrozenModel(BaseModel):
    """A frozen value without an identity of its own."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Record(FrozenModel):
    """A stored fact. `schema_version` is the version of the record's shape."""

    schema_version: int = 1
    created_at: Moment = Field(default_factory=now)
    software: str = VERSION

    def to_json(self) -> str:
        """One line of JSON that `from_json` reads back to an equal record."""
        return self.model_dump_json()

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read a record from JSON. Raises for an unknown field or a wrong value."""
        return cls.model_validate_json(text)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a changed copy. Cached ids are computed again."""
        copy = super().model_copy(update=update, deep=deep)
        for name in set(copy.__dict__) - set(type(self).model_fields):
            del copy.__dict__[name]
        return copy

    def same_fact(self, other: "Record") -> bool:
        """Whether two records are equal, ignoring the time and the software version."""
        return type(self) is type(other) and self._fact() == other._fact()

    def _fact(self) -> dict[str, Any]:
        return self.model_dump(exclude={"created_at", "software"})


class Status(StrEnum):
    """How an attempt ended. Only `ok` has a verdict; no other status is ever turned into one."""

    OK = "ok"
    REFUSED = "refused"
    UNPARSABLE = "unparsable"
    API_ERROR = "api_error"
    TIMEOUT = "timeout"
    MISSING_OUTPUT = "missing_output"
    INVALID_IMAGE = "invalid_image"


class Outcome(StrEnum):
    """The outcome of a battle between the left and the right side."""

    LEFT = "left"
    RIGHT = "right"
    TIE = "tie"
    BOTH_BAD = "both_bad"

    def mirrored(self) -> "Outcome":
        """Return the same outcome with the sides swapped."""
        if self is Outcome.LEFT:
            return Outcome.RIGHT
        return Outcome.LEFT if self is Outcome.RIGHT else self


def outcome_of_both(first: Outcome, second: Outcome) -> Outcome:
    """Combine a battle's outcomes in its two orders: equal outcomes stay, different ones become a tie.

    All code that combines orders uses this rule: a judge's own battles, boards, health, pages and exports.
    """
    return first if first is second else Outcome.TIE


class ImageRef(FrozenModel):
    """An image by content: the bytes are in the blob store under their SHA-256."""

    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    size_bytes: int = Field(ge=0)
    media_type: str
    width: int | None = None
    height: int | None = None


class Origin(FrozenModel):
    """Where an imported record came from: the source's name, the file's hash and the row's key in it.

    Without pixels, a record's identity depends on this.
    """

    source: str
    file: str = ""
    file_sha256: str = ""
    row: str = ""
