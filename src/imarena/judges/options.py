"""Validate a table of options as a judge's settings."""

from collections.abc import Mapping
from typing import TypeVar

from pydantic import BaseModel, JsonValue

from imarena.core import read_options

S = TypeVar("S", bound=BaseModel)


def read_judge_options(settings: type[S], options: Mapping[str, JsonValue], kind: str) -> S:
    """Validate `options` as settings of the judge called `kind`."""
    return read_options(settings, options, "judges", kind)
