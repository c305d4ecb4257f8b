"""Reasons for which a board leaves battles or votes out, in words."""

import re
from collections.abc import Mapping
from functools import cache

from imarena.core.package_data import package_yaml
from imarena.core.plurals import counted

_ABOUT = re.compile(r"about (.+), not the whole")


def left_out_texts(numbers: Mapping[str, int]) -> list[str]:
    """Return one text per reason with a number above 0: `42 battles in which one side has no output`."""
    return [_text(reason, number) for reason, number in numbers.items() if number]


def _text(reason: str, number: int) -> str:
    if reason in (texts := _texts()):
        noun, which = texts[reason]
        return f"{counted(number, noun)} {which}"
    if about := _ABOUT.fullmatch(reason):
        return f"{counted(number, 'verdict')} on {about[1].replace('_', ' ')} alone"
    return f"{counted(number, 'battle')} ({reason.replace('_', ' ')})"  # a reason that a table states


@cache
def _texts() -> Mapping[str, tuple[str, str]]:
    texts: dict[str, tuple[str, str]] = package_yaml("imarena.core.notices", "left_out.yaml")
    return texts
