"""Convert a table of options to an editor's settings."""

from collections.abc import Mapping
from typing import TypeVar

from pydantic import BaseModel, JsonValue

from imarena.core import read_options

S = TypeVar("S", bound=BaseModel)


def read_editor_options(settings: type[S], options: Mapping[str, JsonValue], kind: str) -> S:
    """`options` as checked settings of the editor kind called `kind`."""
    return read_options(settings, options, f"The editor kind '{kind}'", "editors")
