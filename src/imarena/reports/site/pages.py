"""The content of the pages of a static leaderboard site. All names and texts are ready for publication."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from imarena.core import Standing, counted
from imarena.core.records import Ranking
from imarena.reports.conclusion import board_conclusion
from imarena.reports.pair_differences import model_groups
from imarena.reports.rank_tables import board_tables, interval_cell, interval_spec, ranks_cell, standings_table
from imarena.reports.tables import CellValue, Column, Range, Table
from imarena.reports.tables.table import columns, count_cell

_STEPS = 10
_MOST_TICKS = 5
BAR_MARGIN = 3
"""Percent of the bars' width that is free on both sides."""


@dataclass(frozen=True)
class WinCounts:
    """Results of one model against another, from the first one's view."""

    wins: int
    losses: int
    ties: int

    @property
    def battles(self) -> int:
        """Number of all battles."""
        return self.wins + self.losses + self.ties

    @property
    def share(self) -> float | None:
        """Share won, with ties as half a win; None without battles."""
        return (self.wins + self.ties / 2) / self.battles if self.battles else None

    @property
    def shade(self) -> str:
        """The CSS class of a cell of the win matrix."""
        return "" if self.share is None else f"w{round(self.share * _STEPS)}"


@dataclass(frozen=True)
class IntervalBar:
    """A rating and its interval on a common scale of 0 to 100."""

    point: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class AxisTick:
    """A rating on the scale of the bars: its place in percent of the drawing's width, and its text."""

    place: float
    text: str


@dataclass(frozen=True)
class SiteBoard:
    """A board with its own page."""

    file: str
    title: str
    """Whose verdicts the board is made from."""
    ranking: Ranking
    duels: Mapping[tuple[str, str], WinCounts] = field(default_factory=dict)
    scope: str = ""
    """The group of items, such as `task: colour`; empty for all items."""
    number: int = 0
    """The board's number on the whole site."""
    items: int = 0
    until: str = ""
    """When the newest verdict of the site was given, such as `newest verdict of 2026-01-31`."""

    @property
    def conclusion(self) -> str:
        """The board in one sentence."""
        return board_conclusion(self.ranking) or "This board has fewer than two models."

    @property
    def standings(self) -> Table:
        """The standings in the form that `imarena rank` prints."""
        return standings_table(self.ranking, "report").filled

    @property
    def more_tables(self) -> list[Table]:
        """Further tables of the method, after the standings."""
        return board_tables(self.ranking)[1:]

    @property
    def bars(self) -> list[IntervalBar]:
        """One interval bar per model; each group of models that met has a scale of its own."""
        return [bar for group in model_groups(self.ranking) for bar in _bars(group.models)]

    @property
    def ticks(self) -> list[AxisTick]:
        """Round ratings on the scale of the bars; none if groups of models have scales of their own."""
        groups = model_groups(self.ranking)
        return _ticks(groups[0].models) if len(groups) == 1 else []

    @property
    def subject(self) -> str:
        """What is ranked, on how many items, and when, in one sentence."""
        models, items = counted(len(self.ranking.models), "model"), counted(self.items, "item")
        return f"{models} ranked by {self.title} on {items}{f', {self.until}' if self.until else ''}."

    @property
    def models(self) -> list[str]:
        """The models from best to worst."""
        return [standing.model for standing in self.ranking.models]

    def place(self, standing: Standing) -> tuple[CellValue, ...]:
        """The cells of `PLACE_COLUMNS` for a model of the board, as in its standings."""
        interval = interval_cell(standing)
        if isinstance(interval, Range):
            interval = replace(interval, spec=interval_spec(self.ranking.models))
        return (
            self.title, standing.rank, ranks_cell(standing), standing.rating, interval, count_cell(standing.battles),
            standing.coverage,
        )  # fmt: skip

    def duel(self, one: str, other: str) -> WinCounts:
        """The results of one model against another."""
        return self.duels.get((one, other), WinCounts(0, 0, 0))


@dataclass(frozen=True)
class SiteImage:
    """An image file of the site."""

    file: str
    width: int
    height: int


@dataclass(frozen=True)
class SiteInput:
    """An image that an output was made from: a source, a reference, or the output of an earlier turn."""

    caption: str
    image: SiteImage | None
    """None: not published."""


@dataclass(frozen=True)
class SiteExample:
    """An output of a model, and its results against other models' outputs for the same item."""

    key: str
    instruction: str
    inputs: tuple[SiteInput, ...]
    output: SiteImage | None
    counts: WinCounts
    credit: str = ""
    """Licence and author of the item's images."""


@dataclass(frozen=True)
class ModelPage:
    """The page of one model."""

    file: str
    model: str
    board: SiteBoard
    """The site's first board: opponents, groups and examples are about it."""
    places: Sequence[tuple[SiteBoard, tuple[CellValue, ...]]]
    """Each board with the model, and its cells of `PLACE_COLUMNS`."""
    opponents: Sequence[tuple[str, WinCounts]]
    groups: Table
    best: Sequence[SiteExample] = ()
    worst: Sequence[SiteExample] = ()

    @property
    def place_table(self) -> Table:
        """The model's rank and rating on each board."""
        return Table(PLACE_COLUMNS, tuple(cells for _, cells in self.places))


def _scale(models: Sequence[Standing]) -> tuple[float, float]:
    """The lowest rating or end of an interval, and the distance to the highest."""
    ends = [end for model in models for end in (model.rating, model.low, model.high) if end is not None]
    return (min(ends), (max(ends) - min(ends)) or 1.0) if ends else (0.0, 1.0)


def _ticks(models: Sequence[Standing]) -> list[AxisTick]:
    """A few round ratings: multiples of 1, 2 or 5 times a power of ten."""
    start, width = _scale(models)
    power = 10 ** math.floor(math.log10(width / _MOST_TICKS))
    step = next(power * times for times in (1, 2, 5, 10, 20) if width / (power * times) <= _MOST_TICKS)
    first = math.ceil(start / step)
    number = math.floor((start + width) / step) - first + 1
    values = [(first + index) * step for index in range(number)]
    return [
        AxisTick(round((BAR_MARGIN + (value - start) / width * 100) / (100 + 2 * BAR_MARGIN) * 100, 2), f"{value:,g}")
        for value in values
    ]


def _bars(models: Sequence[Standing]) -> list[IntervalBar]:
    start, width = _scale(models)

    def percent(value: float | None) -> float | None:
        return None if value is None else round((value - start) / width * 100, 2)

    return [IntervalBar(percent(model.rating) or 0.0, percent(model.low), percent(model.high)) for model in models]


PLACE_COLUMNS = (
    Column("board"), Column("rank"), Column("ranks", absent="–"), Column("rating", ".1f"),
    Column("interval", absent="–"), Column("battles", ","), Column("coverage", ".1%", absent="–"),
)  # fmt: skip
GROUP_COLUMNS = columns(
    "by", "value", Column("battles", ","), Column("won", ","), Column("lost", ","), Column("tied", ","),
    Column("share won", ".1%", absent="–"),
)  # fmt: skip


@dataclass(frozen=True)
class Site:
    """The whole site. The first board is the one that `imarena rank` prints without options."""

    title: str
    boards: Sequence[SiteBoard]
    groups: Mapping[int, Sequence[SiteBoard]]
    """Boards of groups of items, by the number of the board that they belong to."""
    models: Sequence[ModelPage]
    facts: str
    left_out: Mapping[str, int]
    """Number of images that are not published, by reason."""
    images: int = 0
    """Number of image files of the site."""
    battles: int = 0
    parts: int = 0
    """Number of files with battles."""
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The values of each label of items."""

    def model_file(self, model: str) -> str:
        """The file of a model's page; empty if it has none."""
        return next((page.file for page in self.models if page.model == model), "")
