"""Which battles to fight: all, those that people voted on, some per pair, as many as needed, or a new model's.

Every choice depends only on the seed and the outputs, and a larger sample contains the smaller one, so that no battle
is fought twice.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, Protocol

from imarena.core import UnknownName, UserError, content_id, suggestion, unknown_name
from imarena.core.records import Output, Ranking
from imarena.stats import Z95

TurnSlot = tuple[str, int, str]
"""Item id, turn and mode: outputs of one slot answer the same question and can be compared."""
EditorPair = tuple[str, str]
"""Two editors, in the order of their names."""
SamplerKind = Literal["full", "voted", "per-pair", "adaptive", "new-model"]
_UNTIL = ("pairs", "models")


class ComparableOutputs(Protocol):
    """The outputs that can be compared."""

    @property
    def slots(self) -> Mapping[TurnSlot, Sequence[Output]]:
        """The outputs, by what they answer."""

    @property
    def editors(self) -> Sequence[str]:
        """The names of their editors."""

    @property
    def voted(self) -> frozenset[tuple[str, str]]:
        """Pairs of outputs that people voted on, the smaller id first."""


@dataclass(frozen=True)
class Sampler:
    """How battles are chosen. If the sampler is adaptive, `per_pair` is the size of a round."""

    kind: SamplerKind = "full"
    per_pair: int = 10
    width: float = 0.0
    """Adaptive: continue until every 95% interval is narrower than this many Elo points."""
    until: Literal["pairs", "models"] = "pairs"
    """Adaptive: measure intervals of the differences of all pairs, or to the models' own ratings."""
    model: str = ""
    seed: int = 0


def parse_sampler(text: str, *, width: float | None = None, until: str = "pairs", seed: int = 0) -> Sampler:
    """Parse ``full``, ``voted``, ``per-pair:20``, ``adaptive`` (with a width) or ``new-model:NAME``."""
    kind, _, value = text.partition(":")
    if until not in _UNTIL:
        raise unknown_name("Unknown --until", until, _UNTIL)
    if kind == "full" and not value:
        return Sampler(seed=seed)
    if kind == "voted" and not value:
        return Sampler("voted", seed=seed)
    if kind == "per-pair" and value.isdecimal() and int(value) > 0:
        return Sampler("per-pair", int(value), seed=seed)
    if kind == "adaptive" and (not value or (value.isdecimal() and int(value) > 0)):
        if width is None or not width > 0:
            raise UserError(
                "An adaptive sampler needs a width.",
                hint="--sampler adaptive --width 60 continues until every interval is narrower than 60 Elo points.",
            )
        return Sampler("adaptive", int(value or 10), width, "models" if until == "models" else "pairs", seed=seed)
    if kind == "new-model" and value:
        return Sampler("new-model", model=value, seed=seed)
    raise UserError(
        f"'{text}' is not a sampler.",
        hint="Known: full; voted; per-pair:20; adaptive --width 60 (adaptive:20 for rounds of 20); new-model:NAME.",
    )


def assign_sides(first: Output, second: Output) -> tuple[Output, Output]:
    """Assign left and right by a coin that depends only on the two outputs."""
    low, high = sorted((first, second), key=lambda output: output.output_id)
    coin = int(content_id("side", low.output_id, high.output_id)[-1], 16) % 2
    return (low, high) if coin else (high, low)


@dataclass(frozen=True)
class OutputPair:
    """Two outputs of one slot."""

    slot: TurnSlot
    left: Output
    right: Output

    @property
    def pair(self) -> EditorPair:
        """The two editors."""
        first, second = sorted((self.left.editor or "", self.right.editor or ""))
        return first, second


def battles_by_pair(outputs: ComparableOutputs, sampler: Sampler) -> dict[EditorPair, list[OutputPair]]:
    """Return every possible battle, by pair of editors; each list is in the order in which to fight it.

    All pairs traverse the same shuffled ring of slots, from starting positions spread evenly over it: however many
    battles a pair fights, all items are used about equally often.
    """
    if sampler.kind == "new-model":
        _check_model(sampler.model, outputs)
    ring = sorted(outputs.slots, key=lambda slot: content_id("ring", sampler.seed, slot))
    battles: dict[EditorPair, list[tuple[int, OutputPair]]] = defaultdict(list)
    for position, slot in enumerate(ring):
        for first, second in combinations(outputs.slots[slot], 2):
            if not _two_editors(first, second):
                continue
            if sampler.kind == "new-model" and sampler.model not in (first.editor, second.editor):
                continue
            battle = OutputPair(slot, *assign_sides(first, second))
            battles[battle.pair].append((position, battle))
    order = sorted(battles, key=lambda pair: content_id("start", sampler.seed, pair))
    starts = {pair: k * len(ring) // len(order) for k, pair in enumerate(order)}
    return {
        pair: [battle for _, battle in sorted(battles[pair], key=lambda row: (row[0] - starts[pair]) % len(ring))]
        for pair in sorted(battles)
    }


def _check_model(model: str, outputs: ComparableOutputs) -> None:
    if model not in outputs.editors:
        hint = suggestion(model, outputs.editors, f"With outputs to show: {', '.join(outputs.editors) or 'none'}.")
        raise UnknownName(f"There is no editor called '{model}'.", hint=hint)


def sampled_pairs(outputs: ComparableOutputs, sampler: Sampler) -> list[OutputPair]:
    """Return the battles of a sampler with a fixed size; for `adaptive`, all that it may fight."""
    if sampler.kind == "voted":
        return voted_battles(outputs, sampler)
    limit = sampler.per_pair if sampler.kind == "per-pair" else None
    lists = [battles[:limit] for battles in battles_by_pair(outputs, sampler).values()]
    longest = max((len(battles) for battles in lists), default=0)
    battles = [battles[n] for n in range(longest) for battles in lists if n < len(battles)]
    if sampler.kind == "full":  # boards ignore pairs without two names, but `align` compares them with the votes
        battles += [battle for battle in voted_battles(outputs, sampler) if not _two_editors(battle.left, battle.right)]
    return battles


def voted_battles(outputs: ComparableOutputs, sampler: Sampler) -> list[OutputPair]:
    """Return the pairs with votes that can be shown, whatever their editors are called, in shuffled order."""
    pairs = [
        OutputPair(slot, *assign_sides(first, second))
        for slot, of_slot in outputs.slots.items()
        for first, second in combinations(of_slot, 2)
        if (min(first.output_id, second.output_id), max(first.output_id, second.output_id)) in outputs.voted
    ]
    return sorted(pairs, key=lambda battle: content_id("voted", sampler.seed, battle.left.output_id, battle.slot))


def _two_editors(first: Output, second: Output) -> bool:
    """Return whether two different named editors meet. Only such battles count on boards."""
    return first.editor is not None and second.editor is not None and first.editor != second.editor


# ---------------------------------------------------------------- adaptive


@dataclass(frozen=True)
class AdaptiveProgress:
    """The state of an adaptive run: how wide the intervals are, and which battles are next."""

    widest: float
    open: int
    """Number of intervals that are still too wide (or unknown)."""
    of: int
    battles: list[OutputPair]


def next_round(
    by_pair: dict[EditorPair, list[OutputPair]], fought: Counter[EditorPair], ranking: Ranking | None, sampler: Sampler
) -> AdaptiveProgress:
    """Return the next battles: more for each pair whose interval is too wide and that has battles left.

    Intervals are at 95%, from the ranking's covariance: of the difference of two ratings (`until` pairs) or of a rating
    (`until` models).
    """
    models = sorted({model for pair in by_pair for model in pair})
    keys = by_pair if sampler.until == "pairs" else [(model, model) for model in models]
    widths = interval_widths(keys, ranking)
    wide = {key: width for key, width in widths.items() if not width < sampler.width}
    if sampler.until == "pairs":
        open_pairs = set(wide)
    else:
        open_pairs = {pair for pair in by_pair if any((model, model) in wide for model in pair)}
    battles: list[OutputPair] = []
    for pair in sorted(open_pairs):
        done = fought[pair]
        battles += by_pair[pair][done : done + sampler.per_pair]
    if sampler.until == "pairs" and not battles and wide:
        # Pairs that are still too wide have fought all their battles; their rivals' battles narrow them a little.
        touching = {model for pair in wide for model in pair}
        for pair, waiting in by_pair.items():
            if touching & set(pair):
                battles += waiting[fought[pair] : fought[pair] + sampler.per_pair]
    return AdaptiveProgress(max(widths.values(), default=math.inf), len(wide), len(widths), battles)


def interval_widths(keys: Iterable[EditorPair], ranking: Ranking | None) -> dict[EditorPair, float]:
    """Return the width of the 95% interval of the difference of two ratings; for (model, model), of one rating.

    Infinite if it is not known.
    """
    index = {standing.model: n for n, standing in enumerate(ranking.models)} if ranking else {}
    covariance = ranking.covariance if ranking else None
    widths = {}
    for first, second in keys:
        if covariance is None or first not in index or second not in index:
            widths[first, second] = math.inf
            continue
        i, j = index[first], index[second]
        own, other, shared = covariance[i][i], covariance[j][j], covariance[i][j]
        variance = own if i == j else own + other - 2 * shared
        widths[first, second] = 2 * Z95 * math.sqrt(max(variance, 0.0))
    return widths
