"""The query of a board: which battles it covers, and how it is computed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, cast, get_args

from imarena.core import UserError, command_line, suggestion, unknown_name
from imarena.core.records import Ranking
from imarena.ranking import Options
from imarena.workflows.views import EVERYTHING, BattleKind, Window

Source = Literal["auto", "human", "judge", "all"]
SamplesShown = Literal["never", "auto", "always"]
SOURCES: Mapping[str, Source] = {
    "auto": "auto", "all": "all",
    "human": "human", "humans": "human", "people": "human", "raters": "human", "votes": "human",
    "judge": "judge", "judges": "judge",
}  # fmt: skip
"""The names of the sources that a user may type."""
ALL_JUDGES = "all"
"""The name for the verdicts of all judges together."""
WEIGHED = ("active-elo", "mixture", "corrected")
"""Methods that weigh people against one judge, as Active Elo does."""
ITEM_FILTERS = ("dataset", "family", "task", "topic", "track", "mode")


def read_source(text: str) -> Source:
    """Parse a source: one of auto, human, judge and all. Raises `UserError`."""
    if text not in SOURCES:
        hint = suggestion(text, SOURCES, "Known: auto, human (or people), judge, all.")
        raise UserError(f"No source '{text}'.", hint=hint)
    return SOURCES[text]


def read_battle_kind(text: str | None) -> BattleKind | None:
    """Parse a kind: compared, scored or None. Raises `UserError`."""
    if text is not None and text not in get_args(BattleKind):
        raise unknown_name("No kind of verdict", text, get_args(BattleKind))
    return cast("BattleKind | None", text)


@dataclass(frozen=True)
class BoardQuery:
    """Which verdicts a board uses, and how it ranks. The default is the board of `imarena rank` without options."""

    source: Source = "auto"
    judge: str | None = None
    """The name of one judge, or `all` for all of them together."""
    dimension: str | None = None
    """The dimension of the verdicts; None: overall."""
    dimensions_together: bool = False
    """Rank by the verdicts about all dimensions together."""
    kind: BattleKind | None = None
    """For a judge: only pairs that it compared, or only pairs of its scores. None: both, each pair once."""
    filters: Mapping[str, str] = field(default_factory=dict)
    """Values of `ITEM_FILTERS` that the battles must have."""
    window: Window = EVERYTHING
    options: Options = field(default_factory=Options)
    both_bad: str = "tie"
    missing: str = "exclude"
    covariates: tuple[str, ...] = ()
    by: str | None = None
    """One board per value of this column."""
    resume: Ranking | None = None
    weigh_routing: bool = False
    """Weight votes by 1 / probability of being routed."""
    notes: bool = True
    """Check for models that are missing from the board or were compared on fewer items than others."""
    editors: tuple[str, ...] = ()
    """Only battles between these editors; empty: all."""
    outputs: frozenset[str] | None = None
    """Only battles between these outputs (ids); None: all."""
    samples: SamplesShown = "never"
    """Figures over the samples of each editor; `auto` computes them if an editor has several per item."""
    success: float | None = None
    """Minimum score of a success. None: from the settings, otherwise the judge's own threshold."""


def rank_command(query: BoardQuery) -> str:
    """Return the command that prints the board of a query."""
    source = {"human": "people", "all": "all", "judge": "" if query.judge else "judge"}.get(query.source, "")
    options = {
        "--source": source, "--judge": query.judge, "--kind": query.kind, "--dimension": query.dimension,
        "--by": query.by,
    }  # fmt: skip
    words = [word for name, value in options.items() if value for word in (name, value)]
    words += [word for name in query.editors for word in ("--editors", name)]
    return command_line("rank", *words)
