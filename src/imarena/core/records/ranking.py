"""Ranking: ratings with intervals, and everything needed to reproduce them."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from pydantic import Field, computed_field, model_validator

from imarena.core.ids import content_id
from imarena.core.notices import Notice, notices_from_texts, sentences
from imarena.core.records.base import FrozenModel, JsonDict, Moment, Record


class Standing(FrozenModel):
    """One model's place on a board."""

    model: str
    rating: float
    low: float | None
    high: float | None
    rank: int
    rank_low: int | None
    rank_high: int | None
    battles: float
    wins: float
    losses: float
    ties: float
    coverage: float | None = None
    """Share of the requested items that have an output of the model; None if not known."""
    note: str = ""
    """Why there is no interval: `fixed` (an anchor), or what the data lack."""


def never_met_groups(notices: Iterable[Notice], models: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The groups of models that never met each other, the largest first, each in the order of `models`.

    Ratings of different groups cannot be compared, so ranks and everything made from ranks hold within a group.
    """
    group_names: Any = next((note.values.get("models") for note in notices if note.code == "groups_never_met"), None)
    groups = [frozenset(group) for group in group_names or (models,)]
    parts = (tuple(model for model in models if model in group) for group in groups)
    return tuple(sorted((part for part in parts if part), key=lambda part: -len(part)))


class Ranking(Record):
    """A board: standings from best to worst, the settings and seed that made it, and what was left out.

    If groups of models never met, the standings are in order of groups, and ranks hold within a group.
    """

    method: str
    settings: JsonDict
    n_battles: int
    excluded: dict[str, int] = Field(default_factory=dict)
    """Number of records left out, by reason."""
    notices: tuple[Notice, ...] = ()
    models: tuple[Standing, ...] = ()
    covariance: tuple[tuple[float, ...], ...] | None = None
    """Covariance of the ratings, in the order of `models`."""
    details: JsonDict = Field(default_factory=dict)
    """Additional results of the method: tie parameter, coefficients, convergence, win matrix."""
    cutoff: Moment | None = None
    """Records created after this time were not used."""
    scope: dict[str, str] = Field(default_factory=dict)
    """The group of data that this board covers, such as {"task": "remove"}."""

    @model_validator(mode="before")
    @classmethod
    def _texts_become_notices(cls, values: Any) -> Any:
        """Convert boards from before notices, which hold sentences; JSON that we wrote holds both."""
        if not isinstance(values, dict) or "warnings" not in values:
            return values
        fields = {name: value for name, value in values.items() if name != "warnings"}
        return fields if fields.get("notices") else {**fields, "notices": notices_from_texts(values["warnings"])}

    @computed_field  # type: ignore[prop-decorator]
    @property
    def warnings(self) -> tuple[str, ...]:
        """The notices as sentences, as the terminal prints them."""
        return tuple(sentences(self.notices))

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The groups of models that never met each other, as in `never_met_groups`; usually one group of all models."""
        return never_met_groups(self.notices, [standing.model for standing in self.models])

    def units_of(self, model: str) -> int | None:
        """How many items, battles or raters were resampled in the group of this model; None if none were."""
        units, split = self.settings.get("units"), self.details.get("group_units")
        index = next((at for at, group in enumerate(self.groups) if model in group), 0)
        number = split[index] if isinstance(split, list) and index < len(split) and units is not None else units
        return number if isinstance(number, int) else None

    @cached_property
    def ranking_id(self) -> str:
        """Identity of the board: settings, scope and time."""
        return content_id("ranking", self.method, self.settings, self.scope, self.created_at.isoformat())
