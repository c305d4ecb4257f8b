"""The catalogue of kinds: which shape draws them, how wide they are, where and how large they usually stand."""

from collections.abc import Callable
from dataclasses import dataclass

from imarena.core import UserError
from imarena.studio import shapes_food as food
from imarena.studio import shapes_graphic as graphic
from imarena.studio import shapes_home as home
from imarena.studio import shapes_outdoor as outdoor
from imarena.studio.pen import Appearance, Pen

Draw = Callable[[Pen, Appearance], None]


@dataclass(frozen=True)
class ObjectKind:
    """One kind of thing. `table, room, open_air` are usual heights (shares of the picture); 0: not found there."""

    draw: Draw
    aspect: float
    material: str = "plastic"
    table: float = 0.0
    room: float = 0.0
    open_air: float = 0.0
    floats: bool = False
    flat: bool = False
    casts: bool = True
    """Whether it throws a shadow."""
    texts: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    colours: tuple[str, ...] = ()


FRUIT = ("red", "green", "yellow")

KINDS: dict[str, ObjectKind] = {
    "ball": ObjectKind(home.ball, 1.0, table=0.2, room=0.16, open_air=0.12),
    "mug": ObjectKind(home.mug, 1.12, "ceramic", table=0.22, texts=("HELLO", "MUM", "TEA")),
    "book": ObjectKind(home.book, 0.78, "paper", table=0.36, texts=("TALES", "ATLAS", "POEMS")),
    "lamp": ObjectKind(home.lamp, 0.62, "fabric", table=0.5, room=0.52, states=("on", "off")),
    "plant": ObjectKind(home.plant, 0.86, "ceramic", table=0.44, room=0.46),
    "clock": ObjectKind(home.clock, 1.0, "metal", table=0.28),
    "vase": ObjectKind(home.vase, 0.62, "ceramic", table=0.46, room=0.4),
    "cat": ObjectKind(home.cat, 0.86, "fabric", table=0.4, room=0.32, open_air=0.2, colours=("orange", "grey", "black",
         "brown", "white")),
    "box": ObjectKind(home.box, 1.15, "paper", table=0.28, room=0.28, texts=("TOYS", "FRAGILE", "PARTS"),
         states=("closed", "open")),
    "chair": ObjectKind(home.chair, 0.68, "wood", room=0.44, open_air=0.26),
    "picture": ObjectKind(home.framed_picture, 1.3, "wood", flat=True),
    "candle": ObjectKind(home.candle, 0.52, "plastic", table=0.3, states=("on", "off")),
    "gift": ObjectKind(home.gift, 1.0, "paper", table=0.28, room=0.24),
    "laptop": ObjectKind(home.laptop, 1.45, "metal", table=0.36, texts=("WELCOME", "LOADING", "DONE"), states=("open",
         "closed"),
                   colours=("grey", "white", "black", "blue", "pink")),
    "apple": ObjectKind(food.apple, 1.0, "plastic", table=0.18, colours=FRUIT),
    "pear": ObjectKind(food.pear, 0.74, "plastic", table=0.22, colours=FRUIT),
    "banana": ObjectKind(food.banana, 1.6, "plastic", table=0.15, colours=("yellow", "green")),
    "bottle": ObjectKind(food.bottle, 0.36, "glass", table=0.46, texts=("OLIVE", "JUICE", "WATER")),
    "teapot": ObjectKind(food.teapot, 1.32, "ceramic", table=0.3),
    "cake": ObjectKind(food.cake, 1.1, "plastic", table=0.32, colours=("pink", "brown", "yellow", "orange")),
    "bowl": ObjectKind(food.bowl, 1.45, "ceramic", table=0.22),
    "crate": ObjectKind(food.crate, 1.25, "wood", table=0.26, room=0.26, open_air=0.16,
         texts=("FRUIT", "TOOLS", "FARM")),
    "car": ObjectKind(outdoor.car, 2.1, "metal", open_air=0.2),
    "house": ObjectKind(outdoor.house, 1.05, "stone", open_air=0.42),
    "tree": ObjectKind(outdoor.tree, 0.8, "fabric", open_air=0.5, colours=("green", "orange", "yellow", "red")),
    "pine tree": ObjectKind(outdoor.pine, 0.66, "fabric", open_air=0.46, colours=("green", "teal")),
    "sign": ObjectKind(outdoor.sign, 0.95, "metal", open_air=0.3, texts=("STOP", "CAFE", "BEACH", "MUSEUM", "PARK")),
    "bench": ObjectKind(outdoor.bench, 1.9, "wood", open_air=0.18),
    "bicycle": ObjectKind(outdoor.bicycle, 1.5, "metal", open_air=0.22),
    "mailbox": ObjectKind(outdoor.mailbox, 0.72, "metal", open_air=0.22, texts=("MAIL", "POST")),
    "bird": ObjectKind(outdoor.bird, 1.15, "fabric", open_air=0.12),
    "boat": ObjectKind(outdoor.boat, 1.05, "wood"),
    "balloon": ObjectKind(outdoor.balloon, 0.6, "plastic", open_air=0.26, floats=True),
    "umbrella": ObjectKind(outdoor.umbrella, 1.1, "fabric", open_air=0.34),
    "snowman": ObjectKind(outdoor.snowman, 0.62, "fabric"),
    "title": ObjectKind(graphic.title, 7.0, "paper", flat=True, casts=False),
    "caption": ObjectKind(graphic.caption, 10.0, "paper", flat=True, casts=False),
    "banner": ObjectKind(graphic.banner, 4.2, "fabric", flat=True),
    "button": ObjectKind(graphic.button, 3.0, "paper", flat=True),
    "card": ObjectKind(graphic.card, 0.92, "paper", flat=True),
    "popup": ObjectKind(graphic.popup, 1.6, "paper", flat=True),
    "avatar": ObjectKind(graphic.avatar, 1.0, "paper", flat=True),
    "bar": ObjectKind(graphic.bar, 0.34, "paper", flat=True),
    "star": ObjectKind(graphic.star, 1.02, "paper", flat=True, casts=False),
    "heart": ObjectKind(graphic.heart, 1.05, "paper", flat=True, casts=False),
    "moon": ObjectKind(graphic.moon, 1.0, "paper", flat=True, casts=False),
    "rocket": ObjectKind(graphic.rocket, 0.6, "metal", flat=True, casts=False),
    "receipt": ObjectKind(graphic.receipt, 0.68, "paper", flat=True),
}  # fmt: skip


def object_kind(name: str) -> ObjectKind:
    """The kind called `name`."""
    if name not in KINDS:
        raise UserError(f"There is no kind of thing called '{name}'.", hint="Known: " + ", ".join(sorted(KINDS)) + ".")
    return KINDS[name]


def plural_noun(kind: str) -> str:
    """``mug`` -> ``mugs``, ``box`` -> ``boxes``, ``bench`` -> ``benches``."""
    return kind + ("es" if kind.endswith(("x", "ch", "s")) else "s")


def article(word: str) -> str:
    """``a`` or ``an``."""
    return "an" if word[0] in "aeiou" else "a"
