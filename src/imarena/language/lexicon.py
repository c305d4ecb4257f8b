"""The reader's word lists, from `lexicon.yaml` and `colour_names.yaml`, checked once when first asked for."""

import re
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

import yaml

from imarena.core import UserError


@dataclass(frozen=True)
class Lexicon:
    """Words by meaning. `colours`: word to sRGB value; `colour_names`: the same for names of several words.

    `enhance`: operation to the words that ask for it.
    """

    version: int
    colours: dict[str, str]
    colour_names: dict[str, str]
    materials: frozenset[str]
    styles: tuple[str, ...]
    ambience: frozenset[str]
    numbers: dict[str, int]
    places: dict[str, frozenset[str]]
    enhance: dict[str, tuple[str, ...]]
    enhance_only_when_removed: tuple[str, ...]
    size_up: frozenset[str]
    size_down: frozenset[str]
    verbs: frozenset[str]
    text_words: frozenset[str]
    image_words: frozenset[str]
    shades: frozenset[str]
    also_things: frozenset[str]
    settings: frozenset[str]


def _lower(words: list[str]) -> tuple[str, ...]:
    return tuple(str(word).lower() for word in words)


def _read(name: str) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((files("imarena.language") / name).read_text(encoding="utf-8"))
    return document


def _colours(raw: dict[str, str], file: str) -> dict[str, str]:
    colours = {str(name): str(value) for name, value in raw.items()}
    for name, value in colours.items():
        if not re.fullmatch(r"#[0-9a-f]{6}", value):
            raise UserError(f"{file}: colour {name} is {value!r}.", hint="Write it as #rrggbb.")
    return colours


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """The bundled word lists."""
    raw = _read("lexicon.yaml")
    colours = _colours(raw["colours"], "lexicon.yaml")
    return Lexicon(
        version=int(raw["version"]),
        colours=colours,
        colour_names=_colours(_read("colour_names.yaml")["names"], "colour_names.yaml"),
        materials=frozenset(_lower(raw["materials"])),
        styles=tuple(sorted(_lower(raw["styles"]), key=len, reverse=True)),
        ambience=frozenset(_lower(raw["ambience"])),
        numbers={str(k): int(v) for k, v in raw["numbers"].items()},
        places={str(k): frozenset(_lower(v)) for k, v in raw["places"].items()},
        enhance={str(k): _lower(v) for k, v in raw["enhance"].items()},
        enhance_only_when_removed=_lower(raw["enhance_only_when_removed"]),
        size_up=frozenset(_lower(raw["size_up"])),
        size_down=frozenset(_lower(raw["size_down"])),
        verbs=frozenset(_lower(raw["verbs"])),
        text_words=frozenset(_lower(raw["text_words"])),
        image_words=frozenset(_lower(raw["image_words"])),
        shades=frozenset(_lower(raw["shades"])),
        also_things=frozenset(_lower(raw["also_things"])),
        settings=frozenset(_lower(raw["settings"])),
    )
