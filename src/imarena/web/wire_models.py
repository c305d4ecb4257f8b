"""What goes over the wire about one model."""

from imarena.web.wire import Wire
from imarena.web.wire_look import Cell, StandingOut


class GroupOut(Wire):
    """The results of a model on the items that share a value."""

    by: str
    """task, topic, family, track, dataset or mode."""
    value: str
    """Empty: items without one."""
    counts: Cell


class ExampleOut(Wire):
    """An output of a model, and its results against the other outputs for the same item."""

    item_id: str
    instruction: str
    task: str | None
    source: str | None
    """The address of the item's picture."""
    picture: str | None
    """The address of what the model made of it."""
    counts: Cell


class ModelOut(Wire):
    """One model: its place on the board, and its results by opponent and group."""

    model: str
    standing: StandingOut | None
    models: int
    """How many models the board has."""
    method: str
    n_battles: int
    verdicts: str
    """Whose verdicts these are, in words."""
    reason: str
    """Why the model has no place on the board, where it has none."""
    total: Cell
    opponents: list[Cell]
    groups: list[GroupOut]
    best: list[ExampleOut]
    """Outputs with more wins than losses, the clearest first."""
    worst: list[ExampleOut]
    some_hidden: bool
    """Examples on items that raters look at now are left out for everybody but leads."""
