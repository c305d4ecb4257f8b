"""From measured outputs of one item to preference pairs: z-scores, tiers, and a winner that is never worse.

Functions accept candidates in any order and under any name: pairs depend only on images and values.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Literal

import numpy as np

from imarena.core.records import ImageRef, Outcome
from imarena.preferences.pair import PreferencePair
from imarena.preferences.task_rules import (
    HIGHER_IS_BETTER,
    RegionName,
    TaskRule,
    TaskRules,
    TierQuantiles,
    TierThresholds,
)

Tier = Literal["A", "B", "C"]
IDENTICAL = "identical_outputs"
FEW = "fewer_than_two_candidates"
NO_SPREAD = "no_spread"
UNAVAILABLE = "metric_unavailable"


@dataclass(frozen=True)
class MeasuredCandidate:
    """One output of an item: its image, metric values by region, and the details behind them."""

    image: ImageRef
    values: Mapping[RegionName, Mapping[str, float]]
    details: Mapping[str, Any] = field(default_factory=dict)
    """Region, missing metrics with reasons, the editor: stored, but never used for pairs."""


@dataclass(frozen=True)
class MeasuredGroup:
    """The measured outputs of one item, and the number of outputs that could not be measured, by status."""

    item: str
    instruction: str
    task: str
    source: ImageRef
    candidates: tuple[MeasuredCandidate, ...]
    failures: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class GroupScores:
    """Z-scores of one group by image and region, from the primary metrics that all candidates have."""

    group: MeasuredGroup
    z: Mapping[str, Mapping[RegionName, float]]
    primary: Mapping[RegionName, tuple[str, ...]]
    secondary: Mapping[RegionName, tuple[str, ...]]
    status: str = "ok"


@dataclass(frozen=True)
class ChosenThreshold:
    """Z-score thresholds of a region's tiers: published, or quantiles of the candidates."""

    tiers: TierThresholds
    quantiles: TierQuantiles | None = None
    """None if published."""
    candidates: int = 0

    @property
    def origin(self) -> str:
        """`published` or `quantiles`."""
        return "published" if self.quantiles is None else "quantiles"

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        document = {**self.tiers.model_dump(), "from": self.origin}
        if self.quantiles is not None:
            document |= {"quantiles": self.quantiles.model_dump(), "candidates": self.candidates}
        return document


@dataclass(frozen=True)
class PairSet:
    """Pairs with a winner, ties listed separately, and counts of skipped groups and candidates by reason."""

    pairs: tuple[PreferencePair, ...]
    ties: tuple[PreferencePair, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)
    thresholds: Mapping[str, Mapping[RegionName, ChosenThreshold]] = field(default_factory=dict)
    """By task and region."""

    def to_json(self) -> dict[str, Any]:
        """Counts and thresholds; the pairs are in their file."""
        return {
            "pairs": len(self.pairs), "ties": len(self.ties), "by_task": self.by_task(),
            "skipped": dict(sorted(self.skipped.items())),
            "thresholds": {
                task: {region: threshold.to_json() for region, threshold in regions.items()}
                for task, regions in self.thresholds.items()
            },
        }  # fmt: skip

    def by_task(self) -> dict[str, int]:
        """The number of pairs by task, sorted by its name."""
        return dict(sorted(Counter(pair.task for pair in self.pairs).items()))


def unique_candidates(candidates: Sequence[MeasuredCandidate]) -> list[MeasuredCandidate]:
    """Candidates in the order of their images' hashes, each image once."""
    return [candidate for _, candidate in sorted({c.image.sha256: c for c in candidates}.items())]


def score_group(group: MeasuredGroup, rule: TaskRule) -> GroupScores:
    """Z-scores over a group: (value - mean) / standard deviation, times the metric's direction, mean over primaries.

    A metric that one candidate lacks is not used for any of them.
    """
    candidates = unique_candidates(group.candidates)
    primary: dict[RegionName, tuple[str, ...]] = {}
    secondary: dict[RegionName, tuple[str, ...]] = {}
    if len(candidates) < 2:
        return GroupScores(group, {}, primary, secondary, FEW)
    scores: dict[str, dict[RegionName, float]] = {candidate.image.sha256: {} for candidate in candidates}
    for region, metrics in rule.regions().items():
        shared = [set(candidate.values.get(region, {})) for candidate in candidates]
        common = set.intersection(*shared)
        primary[region] = tuple(name for name in metrics.primary if name in common)
        secondary[region] = tuple(name for name in metrics.secondary if name in common)
        if not primary[region]:
            return GroupScores(group, {}, primary, secondary, UNAVAILABLE)
        columns = np.array([[candidate.values[region][name] for name in primary[region]] for candidate in candidates])
        spread = columns.std(axis=0)
        signs = np.array([1.0 if HIGHER_IS_BETTER[name] else -1.0 for name in primary[region]])
        centred = (columns - columns.mean(axis=0)) * signs
        z = np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 1e-12).mean(axis=1)
        for candidate, value in zip(candidates, z.tolist(), strict=True):
            scores[candidate.image.sha256][region] = value
    status = NO_SPREAD if not any(value for by_region in scores.values() for value in by_region.values()) else "ok"
    return GroupScores(group, scores, primary, secondary, status)


def choose_thresholds(
    scored: Sequence[GroupScores], rule: TaskRule, rules: TaskRules
) -> dict[RegionName, ChosenThreshold]:
    """The thresholds of a task's regions, and the origin of each."""
    thresholds: dict[RegionName, ChosenThreshold] = {}
    for region in rule.regions():
        published = rule.thresholds.get(region)
        if published is not None:
            thresholds[region] = ChosenThreshold(published)
            continue
        values = [by_region[region] for group in scored if group.status == "ok" for by_region in group.z.values()]
        if not values:
            continue
        shares = rules.quantiles
        failure, elite = np.quantile(values, [min(shares.failure, shares.elite), shares.elite]).tolist()
        thresholds[region] = ChosenThreshold(TierThresholds(elite=elite, failure=failure), shares, len(values))
    return thresholds


def tier_of(z: Mapping[RegionName, float], thresholds: Mapping[RegionName, TierThresholds]) -> Tier:
    """C if one region fails, A if all are in the elite, else B."""
    if any(value <= thresholds[region].failure for region, value in z.items()):
        return "C"
    return "A" if all(value > thresholds[region].elite for region, value in z.items()) else "B"


def pairs_of_group(
    scored: GroupScores, thresholds: Mapping[RegionName, TierThresholds], margin: float, seed: int
) -> list[PreferencePair]:
    """Pairs of different tiers (A over C, B over C, A over B by the margin) whose winner is never worse.

    The winner is not worse on any primary metric, and better on more secondary metrics than worse, if there are any.
    """
    candidates = unique_candidates(scored.group.candidates)
    tiers = {candidate.image.sha256: tier_of(scored.z[candidate.image.sha256], thresholds) for candidate in candidates}
    pairs = []
    for first, second in combinations(candidates, 2):
        ranks = tiers[first.image.sha256], tiers[second.image.sha256]
        if ranks[0] == ranks[1]:
            continue
        better, worse = (first, second) if ranks[0] < ranks[1] else (second, first)
        gap = _mean_z(scored, better) - _mean_z(scored, worse)
        least_gap = margin if set(ranks) == {"A", "B"} else 0.0
        if gap > least_gap and _nowhere_worse(scored, better, worse):
            pairs.append(_pair(scored, better, worse, gap, tiers).arranged(seed))
    return pairs


def _mean_z(scored: GroupScores, candidate: MeasuredCandidate) -> float:
    return float(np.mean(list(scored.z[candidate.image.sha256].values())))


def _nowhere_worse(scored: GroupScores, better: MeasuredCandidate, worse: MeasuredCandidate) -> bool:
    votes = []
    for region, names in scored.primary.items():
        if any(_lead(better, worse, region, name) < 0 for name in names):
            return False
        votes += [np.sign(_lead(better, worse, region, name)) for name in scored.secondary[region]]
    return not votes or sum(votes) > 0


def _lead(better: MeasuredCandidate, worse: MeasuredCandidate, region: RegionName, name: str) -> float:
    sign = 1.0 if HIGHER_IS_BETTER[name] else -1.0
    return sign * (better.values[region][name] - worse.values[region][name])


def _pair(
    scored: GroupScores,
    better: MeasuredCandidate,
    worse: MeasuredCandidate,
    gap: float,
    tiers: Mapping[str, Tier],
) -> PreferencePair:
    group = scored.group
    return PreferencePair(
        item=group.item, instruction=group.instruction, task=group.task, source=group.source,
        left=better.image, right=worse.image, winner=Outcome.LEFT, made_by="metrics", strength=gap,
        provenance={
            "left": _explained(scored, better, tiers), "right": _explained(scored, worse, tiers),
            "candidates": len(unique_candidates(group.candidates)),
            "primary": {region: list(names) for region, names in scored.primary.items()},
            "secondary": {region: list(names) for region, names in scored.secondary.items()},
        },
    )  # fmt: skip


def _explained(scored: GroupScores, candidate: MeasuredCandidate, tiers: Mapping[str, Tier]) -> dict[str, Any]:
    sha256 = candidate.image.sha256
    return {
        "tier": tiers[sha256], "z": dict(scored.z[sha256]),
        "values": {region: dict(values) for region, values in candidate.values.items()}, **candidate.details,
    }  # fmt: skip


def make_pairs(groups: Sequence[MeasuredGroup], rules: TaskRules, seed: int) -> PairSet:
    """Pairs of all groups. Unpublished thresholds are quantiles over all groups of a task."""
    pairs: list[PreferencePair] = []
    ties: list[PreferencePair] = []
    skipped: Counter[str] = Counter()
    by_task: dict[str, Mapping[RegionName, ChosenThreshold]] = {}
    for task in sorted({group.task for group in groups}):
        rule = rules.rule(task)
        of_task = [group for group in groups if group.task == task]
        scored = [score_group(group, rule) for group in of_task]
        by_task[task] = choose_thresholds(scored, rule, rules)
        thresholds = {region: threshold.tiers for region, threshold in by_task[task].items()}
        for result in scored:
            skipped.update(result.group.failures)
            ties += identical_ties(result.group)
            if result.status != "ok":
                skipped[result.status] += 1
                continue
            new_pairs = pairs_of_group(result, thresholds, rules.margin, seed)
            skipped["no_clear_winner"] += not new_pairs
            pairs += new_pairs
    pairs.sort(key=lambda pair: (pair.task, pair.item, pair.pair_id))
    return PairSet(tuple(pairs), tuple(ties), {name: n for name, n in skipped.items() if n}, by_task)


def identical_ties(group: MeasuredGroup) -> list[PreferencePair]:
    """One tie for each image that several candidates of the group share."""
    counts = Counter(candidate.image.sha256 for candidate in group.candidates)
    return [
        PreferencePair(
            item=group.item, instruction=group.instruction, task=group.task, source=group.source,
            left=candidate.image, right=candidate.image, winner=Outcome.TIE, made_by="metrics",
            provenance={"reason": IDENTICAL, "candidates": counts[candidate.image.sha256]},
        )
        for candidate in unique_candidates(group.candidates)
        if counts[candidate.image.sha256] > 1
    ]  # fmt: skip
