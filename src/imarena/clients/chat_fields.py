"""Prompt files and replies of stages that ask a model for a JSON object and have rules to fall back on."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from imarena.core import ChatAnswer, package_yaml
from imarena.core.records import JsonDict, Status


@dataclass(frozen=True)
class StagePrompt:
    """A prompt file: the system message, and the question with `{names}` to fill in."""

    prompt_id: str
    version: str
    system: str
    ask: str
    tasks: Mapping[str, str] = field(default_factory=dict)
    """A part of the question for each kind of task, if it has such parts."""

    @property
    def text(self) -> str:
        """All its text with the longest part, without the values that are filled in; for estimates."""
        return self.system + self.ask + max(self.tasks.values(), key=len, default="")


@cache
def stage_prompt(package: str, name: str) -> StagePrompt:
    """The prompt file `prompts/NAME.yaml` of a package."""
    fields = package_yaml(package, "prompts", f"{name}.yaml")
    return StagePrompt(**{**fields, "version": str(fields["version"])})


def json_object(text: str) -> JsonDict | None:
    """The JSON object in a reply, fenced or not; None if there is none."""
    for candidate in (text, *re.findall(r"\{.*\}", text, re.DOTALL)):
        try:
            fields = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(fields, dict):
            return fields
    return None


def read_fields(answer: ChatAnswer) -> tuple[JsonDict, str]:
    """The JSON object in an answer; empty if there is none, which is noted in the trace."""
    if answer.status is not Status.OK:
        return {}, f"{answer.status.value}: {answer.error}; rules were used"
    fields = json_object(answer.text)
    return ({}, "the reply is not JSON; rules were used") if fields is None else (fields, "")


def field_text(value: Any, longest: int) -> str:
    """A string of a reply, in one line; empty if it is not a string."""
    return " ".join(value.split())[:longest] if isinstance(value, str) else ""


def field_texts(value: Any, longest: int, most: int) -> tuple[str, ...]:
    """The non-empty strings of a list in a reply."""
    entries = value[:most] if isinstance(value, list) else []
    return tuple(text for entry in entries if (text := field_text(entry, longest)))
