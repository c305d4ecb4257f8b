"""Wire types for one model."""

from imarena.web.wire import Wire
from imarena.web.wire_look import Cell, StandingOut


class GroupOut(Wire):
    """The results of a model on the items that share a value."""

    by: str
    """task, topic, family, track, dataset or mode."""
    value: str
    """Empty for items without a value."""
    counts: Cell


class ExampleOut(Wire):
    """An output of a model, and its results against the other outputs for the same item."""

    item_id: str
    instruction: str
    task: str | None
    source: str | None
    """URL of the item's picture."""
    picture: str | None
    """URL of the model's output."""
    counts: Cell


class ModelOut(Wire):
    """One model: its place on the board, and its results by opponent and group."""

    model: str
    standing: StandingOut | None
    models: int
    """Number of models that it is ranked among: those on the board, or in its group."""
    group: int | None
    """Number of its group, from 1, if groups of models never met; each has ratings and ranks of its own."""
    method: str
    n_battles: int
    verdicts: str
    """Whose verdicts these are, in words."""
    reason: str
    """Reason if the model has no place on the board."""
    total: Cell
    opponents: list[Cell]
    groups: list[GroupOut]
    best: list[ExampleOut]
    """Outputs with more wins than losses, the clearest first."""
    worst: list[ExampleOut]
    some_hidden: bool
    """True if examples on items that raters are working on are left out. Leads see them."""
