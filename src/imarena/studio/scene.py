"""A scene: everything that an image of the rendered world shows, as a frozen value that can be stored as JSON."""

from collections.abc import Callable

from pydantic import Field

from imarena.core import FrozenModel, UserError


class Thing(FrozenModel):
    """One object. `x, y` is the middle of its foot, `size` its height; all are fractions of the image's sides."""

    uid: str
    kind: str
    x: float
    y: float
    size: float = Field(gt=0)
    colour: str
    material: str = "plastic"
    text: str = ""
    state: str = ""
    angle: float = 0.0
    flip: bool = False
    stretch: float = Field(default=1.0, gt=0)
    layer: int = 0
    """Depth: higher layers are in front; within a layer, things lower in the image are nearer."""
    foreground: bool = True
    shadow: bool = True

    @property
    def name(self) -> str:
        """Its name in instructions: ``red mug``."""
        return f"{self.colour} {self.kind}"


class Effect(FrozenModel):
    """An effect on the whole image: a degradation or a photographic effect."""

    kind: str
    amount: float = 1.0
    text: str = ""
    seed: int = 0


class Viewport(FrozenModel):
    """The part of the drawn world that the image shows, in fractions of its sides; values other than 0..1 crop it."""

    left: float = 0.0
    top: float = 0.0
    right: float = 1.0
    bottom: float = 1.0


class Scene(FrozenModel):
    """The whole image. Rendering is a pure function of this value."""

    width: int = Field(default=512, ge=16, le=4096)
    height: int = Field(default=512, ge=16, le=4096)
    seed: int = 0
    backdrop: str = "table"
    mood: str = "day"
    light: str = "left"
    things: tuple[Thing, ...] = ()
    effects: tuple[Effect, ...] = ()
    view: Viewport = Viewport()

    def thing(self, uid: str) -> Thing:
        """The thing called `uid`."""
        for thing in self.things:
            if thing.uid == uid:
                return thing
        uids = ", ".join(thing.uid for thing in self.things) or "none"
        raise UserError(f"The scene has no thing '{uid}'.", hint=f"Things: {uids}.")

    def in_depth_order(self) -> tuple[Thing, ...]:
        """Things from the farthest to the nearest."""
        return tuple(sorted(self.things, key=lambda thing: (thing.layer, thing.y, thing.uid)))

    def with_things(self, things: tuple[Thing, ...]) -> "Scene":
        """The same scene with other things."""
        return self.model_copy(update={"things": things})

    def changed(self, uid: str, change: Callable[[Thing], Thing]) -> "Scene":
        """The scene with one thing changed."""
        self.thing(uid)
        return self.with_things(tuple(change(thing) if thing.uid == uid else thing for thing in self.things))

    def count(self, kind: str) -> int:
        """Number of things of a kind."""
        return sum(thing.kind == kind for thing in self.things)
