"""What a user can choose. Every choice that shaped a board is written into its settings."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from imarena.core.errors import UserError

METHODS = ("bt", "davidson", "elo", "active-elo", "mixture", "corrected")
INTERVALS = ("bootstrap", "sandwich", "none")
CLUSTERS = ("battle", "item", "rater")
ORDERS = ("given", "shuffled")
DIMENSION_WEIGHTS = ("count", "balanced")
RELIABILITIES = ("rater", "source", "gap")


@dataclass(frozen=True)
class EloOptions:
    """Online Elo. `k` is the step; `order` is the rows' or, for a board that does not hang on it, shuffled by seed."""

    k: float = 4.0
    order: str = "given"


@dataclass(frozen=True)
class ActiveEloOptions:
    """CV-Arena section 4.2, equations 5 to 7. The paper gives no numbers for K_H, alpha and the floor of S."""

    k_human: float = 32.0
    alpha: float = 0.5
    """K_AI = alpha K_H."""
    q_human: float = 0.99
    q_judge: float = 0.8
    """Reliability of a judge where no curve is given."""
    q_by_gap: tuple[tuple[float, float], ...] = ()
    """Points (score gap, q) of a calibrated curve, read with straight lines between them (appendix E)."""
    scale_floor: float = 100.0
    """Least instance scale S: without it two outputs near score 0 would swing the board."""
    paper_compat: bool = False
    """The paper's z = [s_left >= s_right]: equal scores go to the left side. Otherwise they are half a win."""


@dataclass(frozen=True)
class MixtureOptions:
    """The order-free form of appendix G. `reliability` says what shares one q: a rater, a source or a score-gap bin."""

    reliability: str = "rater"
    gap_bins: int = 5
    q_human: float | None = 1.0
    """Fixed reliability of people where the source is known: it holds the scale. None estimates it."""


@dataclass(frozen=True)
class Options:
    """How to rank. The defaults are the command's: Bradley-Terry, ties as half wins, 1,000 rounds, mean 1000."""

    method: str = "bt"
    rounds: int = 1000
    seed: int = 0
    interval: str | None = None
    """bootstrap, sandwich or none. None: sandwich for mixtures and covariates (refits cost much), else bootstrap."""
    cluster: str | None = None
    """What is resampled. None: items where they are given, else battles."""
    level: float = 0.95
    base: float = 10.0
    scale: float = 400.0
    centre: float = 1000.0
    anchors: Mapping[str, float] = field(default_factory=dict)
    """Models whose ratings are fixed. With anchors the board is not centred."""
    position: bool = False
    """Fit the advantage of the left side."""
    dimension_weight: str = "count"
    matrices: bool = True
    """Keep the pairwise tables in `details` (boards of up to 100 models)."""
    elo: EloOptions = EloOptions()
    active: ActiveEloOptions = ActiveEloOptions()
    mixture: MixtureOptions = MixtureOptions()

    def __post_init__(self) -> None:
        _one_of("method", self.method, METHODS)
        _one_of("interval", self.interval, (*INTERVALS, None))
        _one_of("cluster", self.cluster, (*CLUSTERS, None))
        _one_of("order", self.elo.order, ORDERS)
        _one_of("dimension weight", self.dimension_weight, DIMENSION_WEIGHTS)
        _one_of("reliability", self.mixture.reliability, RELIABILITIES)
        if self.rounds < 0 or (self.rounds < 20 and self.interval == "bootstrap"):
            raise UserError(f"{self.rounds} rounds are too few for an interval.", hint="Use 1000, or --interval none.")
        if not 0.5 <= self.level < 1:
            raise UserError(f"Level {self.level} is not between 0.5 and 1.", hint="0.95 is the usual one.")
        if not (self.base > 1 and self.scale > 0 and math.isfinite(self.base * self.scale)):
            raise UserError("The scale must be above 0 and its base above 1.", hint="Usual: base 10, scale 400.")
        if self.elo.k <= 0 or self.active.k_human <= 0 or self.active.alpha < 0 or self.active.scale_floor <= 0:
            raise UserError("K and the scale floor must be above 0.", hint="Usual: K 4, K_H 32.")

    @property
    def per_log(self) -> float:
        """Rating points per unit of natural-log strength."""
        return self.scale / math.log(self.base)


def _one_of(what: str, value: str | None, known: tuple[str | None, ...]) -> None:
    if value not in known:
        words = ", ".join(word for word in known if word)
        raise UserError(f"No {what} '{value}'.", hint=f"Known: {words}.")
