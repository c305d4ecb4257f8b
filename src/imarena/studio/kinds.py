"""The catalogue of kinds: how each is drawn, how wide it is, and where and how large it usually is."""

from collections.abc import Mapping

from pydantic import TypeAdapter

from imarena.core import FrozenModel, package_yaml, unknown_name
from imarena.studio.pen import Stroke


class ObjectKind(FrozenModel):
    """One kind of thing. `table, room, open_air` are usual heights (fractions of the image); 0: not found there."""

    strokes: tuple[Stroke, ...]
    aspect: float
    material: str = "plastic"
    table: float = 0.0
    room: float = 0.0
    open_air: float = 0.0
    floats: bool = False
    flat: bool = False
    casts: bool = True
    """Does it cast a shadow?"""
    texts: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    colours: tuple[str, ...] = ()


KINDS: Mapping[str, ObjectKind] = TypeAdapter(dict[str, ObjectKind]).validate_python(
    {
        name: kind
        for group in ("home", "food", "outdoor", "graphic")
        for name, kind in package_yaml("imarena.studio", "kinds", f"{group}.yaml").items()
    }
)


def object_kind(name: str) -> ObjectKind:
    """The kind called `name`."""
    if name not in KINDS:
        raise unknown_name("There is no kind of thing called", name, sorted(KINDS))
    return KINDS[name]


def plural_noun(kind: str) -> str:
    """Plural of a kind: ``mug`` -> ``mugs``, ``box`` -> ``boxes``, ``bench`` -> ``benches``."""
    return kind + ("es" if kind.endswith(("x", "ch", "s")) else "s")


def article(word: str) -> str:
    """``a`` or ``an``."""
    return "an" if word[0] in "aeiou" else "a"
