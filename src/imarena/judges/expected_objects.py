"""The expected-object list: what a result should show, and its form in verdicts and records."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from imarena.core.records import JsonDict

MAX_OBJECTS = 10
REMOVED = "(should not be present)"


@dataclass(frozen=True)
class ExpectedObject:
    """Something that the result should show, or should no longer show."""

    name: str
    present: bool = True

    def __str__(self) -> str:
        return self.name if self.present else f"{self.name} {REMOVED}"


def reasons_from_objects(objects: Iterable[ExpectedObject]) -> JsonDict:
    """The list in the form in which verdicts and records store it."""
    return {"objects": [{"name": thing.name, "present": thing.present} for thing in objects]}


def objects_from_reasons(reasons: Mapping[str, JsonValue]) -> tuple[ExpectedObject, ...]:
    """Read what `reasons_from_objects` wrote; entries of another form are skipped."""
    objects = reasons.get("objects")
    entries = [entry for entry in objects if isinstance(entry, dict)] if isinstance(objects, list) else []
    return tuple(
        ExpectedObject(str(entry["name"]), entry.get("present") is not False)
        for entry in entries
        if isinstance(entry.get("name"), str)
    )
