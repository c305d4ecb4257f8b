"""Options of the ranking methods. Every option that affects a board is written into its settings."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from imarena.core import ExecutorKind, UserError, unknown_name
from imarena.stats import ScoreRange

METHODS = ("bt", "davidson", "elo", "active-elo", "mixture", "corrected")
INTERVALS = ("bootstrap", "sandwich", "none")
CLUSTERS = ("battle", "item", "rater")
ORDERS = ("given", "shuffled")
DIMENSION_WEIGHTS = ("count", "balanced")
RELIABILITIES = ("rater", "source", "gap")
Q_JUDGE = 0.8
"""Reliability of a judge that was not calibrated."""


@dataclass(frozen=True)
class EloOptions:
    """Online Elo. `k`: the step. `order`: that of the rows or, to be independent of it, shuffled by seed."""

    k: float = 4.0
    order: str = "given"


@dataclass(frozen=True)
class ActiveEloOptions:
    """CV-Arena section 4.2, equations 5 to 7. The paper gives no numbers for K_H, alpha and the floor of S."""

    k_human: float = 32.0
    alpha: float = 0.5
    """K_AI = alpha K_H."""
    q_human: float = 0.99
    """1 - epsilon of appendix E.3."""
    q_judge: float | None = None
    """Reliability of a judge without a curve. None: the judge's calibration if it has one, else `Q_JUDGE`."""
    q_by_gap: tuple[tuple[float, float], ...] = ()
    """Points (score gap, q) of a calibrated curve, interpolated linearly (appendix E)."""
    scale_floor: float = 100.0
    """Minimum of the instance scale S, in rating points: without it, two outputs near the lowest score would swing the
    board. S is the mean of both scores on a scale of 0 to 1000, so the floor is a tenth of any judge's range.
    """
    score_range: ScoreRange | None = None
    """Lowest and highest score of the judge. None: the `observed_range` of the battles."""
    paper_compat: bool = False
    """The paper's z = [s_left >= s_right]: equal scores go to the left side. Otherwise they are half a win."""


@dataclass(frozen=True)
class MixtureOptions:
    """The order-free form of appendix G. `reliability`: each rater, source or score-gap bin has its own q."""

    reliability: str = "rater"
    gap_bins: int | None = None
    """Bins of the score gap. None: 5 for estimated reliabilities, 12 for calibrated ones."""
    q_human: float | None = 1.0
    """Fixed reliability of people if the source is known, which fixes the scale. None: estimate it."""


@dataclass(frozen=True)
class Options:
    """How to rank. The defaults are those of the command: Bradley-Terry, ties as half wins, 1,000 rounds, mean 1000."""

    method: str = "bt"
    rounds: int = 1000
    seed: int = 0
    interval: str | None = None
    """bootstrap, sandwich or none. None: sandwich for mixtures and covariates (refits are costly), else bootstrap."""
    cluster: str | None = None
    """What is resampled. None: items if they are given, else battles."""
    level: float = 0.95
    base: float = 10.0
    scale: float = 400.0
    centre: float = 1000.0
    anchors: Mapping[str, float] = field(default_factory=dict)
    """Fixed ratings, by model. With anchors, the board is not centred."""
    position: bool = False
    """Fit the advantage of the left side."""
    dimension_weight: str = "count"
    fragility: int | None = None
    """Size k: also find the fewest votes, items and raters that decide the first place, the top k, and neighbours."""
    matrices: bool = True
    """Keep the pairwise tables in `details` (boards of up to 100 models)."""
    executor: ExecutorKind = "auto"
    """Where the rounds of `elo` and `active-elo` run. It does not change any figure."""
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
        resampled = self.interval == "bootstrap" or (self.interval is None and self.rounds != 0)
        if self.rounds < 0 or (self.rounds < 20 and resampled):
            raise UserError(f"{self.rounds} rounds are too few for an interval.", hint="Use 1000, or --interval none.")
        if self.seed < 0:
            raise UserError(f"The seed {self.seed} is below 0.", hint="Any whole number from 0 on will do.")
        if not 0.5 <= self.level < 1:
            raise UserError(f"Level {self.level} is not between 0.5 and 1.", hint="0.95 is the usual one.")
        if not (self.base > 1 and self.scale > 0 and math.isfinite(self.base * self.scale)):
            raise UserError("The scale must be above 0 and its base above 1.", hint="Usual: base 10, scale 400.")
        if not math.isfinite(self.centre) or not all(map(math.isfinite, self.anchors.values())):
            raise UserError("The centre and anchors must be finite numbers.", hint="Usual: centre 1000.")
        self._check_methods()

    def _check_methods(self) -> None:
        active, mixture = self.active, self.mixture
        for name, value in (("k", self.elo.k), ("k_human", active.k_human), ("scale_floor", active.scale_floor)):
            if not (value > 0 and math.isfinite(value)):
                raise UserError(f"'{name}' must be above 0, not {value:g}.", hint="Usual: K 4, K_H 32, floor 100.")
        if not (active.alpha >= 0 and math.isfinite(active.alpha)):
            raise UserError(f"'alpha' must be 0 or more, not {active.alpha:g}.", hint="It is K_AI over K_H: 0.5.")
        shares = [
            ("q_human", active.q_human),
            ("q_judge", Q_JUDGE if active.q_judge is None else active.q_judge),
            *(("q_by_gap", q) for _, q in active.q_by_gap),
        ]
        for name, value in [*shares, *([] if mixture.q_human is None else [("q_human", mixture.q_human)])]:
            if not 0 <= value <= 1:
                raise UserError(f"'{name}' is a reliability from 0 to 1, not {value:g}.", hint="1: never guesses.")
        if not all(math.isfinite(gap) for gap, _ in active.q_by_gap):
            raise UserError("A gap of 'q_by_gap' is not finite.", hint="Write GAP:Q,GAP:Q such as 0:0.5,200:0.9.")
        if mixture.q_human == 0:
            raise UserError("'q_human' cannot be 0: people would only guess.", hint="Usual: 1.")
        if mixture.gap_bins is not None and mixture.gap_bins < 1:
            raise UserError("'gap_bins' must be 1 or more.", hint="Usual: 5.")

    @property
    def per_log(self) -> float:
        """Rating points per unit of natural-log strength."""
        return self.scale / math.log(self.base)


def _one_of(noun: str, value: str | None, choices: tuple[str | None, ...]) -> None:
    if value not in choices:
        raise unknown_name(f"No {noun}", str(value), filter(None, choices))
