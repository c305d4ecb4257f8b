"""Results as JSON documents."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from imarena.core.notices import notice_fields
from imarena.core.records.base import FrozenModel


class Document:
    """A dataclass whose fields are its JSON document, in their order; `notices` come with their sentences.

    A class with `slots=True` that adds to the document calls `Document.to_json(self)`, since `super()` fails there.
    """

    __slots__ = ()

    def to_json(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        document: dict[str, Any] = {}
        for part in fields(self):  # type: ignore[arg-type]  # its classes are dataclasses
            value = getattr(self, part.name)
            document |= notice_fields(value) if part.name == "notices" else {part.name: plain_value(value)}
        return document


def plain_value(value: Any) -> Any:
    """Return a value of a result as a plain value for JSON."""
    if hasattr(value, "to_json"):
        return value.to_json()
    if isinstance(value, FrozenModel):
        return value.model_dump(mode="json")
    if is_dataclass(value):
        return {part.name: plain_value(getattr(value, part.name)) for part in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): plain_value(entry) for name, entry in value.items()}
    if isinstance(value, tuple | list):
        return [plain_value(entry) for entry in value]
    return str(value) if isinstance(value, Path) else value
