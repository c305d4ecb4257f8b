"""The words used in instructions, from `vocabulary.yaml`."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

from pydantic import Field

from imarena.core import FrozenModel, package_yaml

OTHER = "Other"
TextLanguage = Literal["en", "zh"]


class ObjectCategory(FrozenModel):
    """One category of objects: its nouns, the nouns for new objects, categories that fit next to it, materials."""

    nouns: tuple[str, ...]
    new: tuple[str, ...]
    beside: tuple[str, ...]
    materials: tuple[str, ...]


class Background(FrozenModel):
    """A background: how to write it, and how to tell that an image cannot already show it."""

    with_article: str
    colors: tuple[str, ...]
    share: float = Field(gt=0, lt=1)
    words: tuple[str, ...]


class Vocabulary(FrozenModel):
    """All words of one version."""

    version: int
    colors: tuple[str, ...]
    categories: Mapping[str, ObjectCategory]
    high: tuple[str, ...]
    materials: Mapping[str, tuple[str, ...]]
    texts: Mapping[TextLanguage, tuple[str, ...]]
    backgrounds: Mapping[str, Background]

    def category_of(self, noun: str) -> str:
        """The category that a noun belongs to, by its longest known ending: `old fire truck` is a vehicle."""
        words = noun.lower().split()
        for start in range(len(words)):
            ending = " ".join(words[start:])
            for form in (ending, ending.removesuffix("s"), ending.removesuffix("es")):
                category = _categories_by_noun().get(form)
                if category is not None:
                    return category
        return OTHER


@lru_cache(maxsize=1)
def vocabulary() -> Vocabulary:
    """The bundled words, validated."""
    return Vocabulary.model_validate(package_yaml("imarena.instructions", "vocabulary.yaml"))


@lru_cache(maxsize=1)
def _categories_by_noun() -> dict[str, str]:
    by_noun: dict[str, str] = {}
    for name, category in vocabulary().categories.items():
        for noun in category.nouns:
            by_noun.setdefault(noun, name)
    return by_noun
