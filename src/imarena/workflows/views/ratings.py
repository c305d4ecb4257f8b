"""People's ratings as columns: one per output, rater and criterion, on one scale per criterion, and an overall by rule.

Rules: ``geometric-mean`` is ImagenHub's, sqrt(SC x PQ) of each rater, then the mean over raters; ``mean`` is
ImagenWorld's, the mean of the criteria. Both use marks from 0 to 1.
"""

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select

from imarena.core import CodeArray, IntArray, unknown_name
from imarena.storage import reading
from imarena.storage.schema import votes
from imarena.workflows.views.battles import WHOLE, BattleColumns, joined_battles, live_votes, pairs_of_units
from imarena.workflows.views.codes import LEFT, RIGHT, TIE, ByteArray, Names, encode_names
from imarena.workflows.views.entries import Entries
from imarena.workflows.views.fetch import fetch_columns
from imarena.workflows.views.view import View
from imarena.workflows.views.window import EVERYTHING, Window

_RatingScale = tuple[float, float]
RULES = ("geometric-mean", "mean")
_WINDOWS = 8
KNOWN: Mapping[frozenset[str], str] = {
    frozenset({"SC", "PQ"}): "geometric-mean",
    frozenset({"prompt_relevance", "aesthetic_quality", "content_coherence", "artifacts"}): "mean",
}
"""Criteria of published data sets, and the rule by which their authors combine them."""


@dataclass(frozen=True)
class PeopleRatings:
    """n marks. `output` are positions of outputs; `value` is on the criterion's scale in `scales` (None: unknown)."""

    output: CodeArray
    rater: Names
    criterion: Names
    value: NDArray[np.float64]
    created_us: IntArray
    scales: Mapping[str, _RatingScale | None]
    rule: str = ""
    """The rule by which `overall` marks were computed; empty if raters gave them or there are none."""

    def __len__(self) -> int:
        return int(self.output.size)

    def of(self, criterion: str) -> NDArray[np.int64]:
        """Rows of one criterion."""
        names = self.criterion.names
        return np.flatnonzero(self.criterion.of == (names.index(criterion) if criterion in names else -2))


def read_ratings(view: View, window: Window = EVERYTHING) -> PeopleRatings:
    """The ratings that count, including the overall; if a rater rated an output twice, the last mark counts."""
    cached = view.computed.get(("ratings", window))
    if not isinstance(cached, PeopleRatings):
        cached = _read_ratings(view, window)
        if len(view.computed) >= _WINDOWS:  # a server shows any window that somebody requests
            view.computed.clear()
        view.computed["ratings", window] = cached
    return cached


def _read_ratings(view: View, window: Window) -> PeopleRatings:
    cast = live_votes(view, window)
    rows = np.flatnonzero((cast.right < 0) & (cast.preference == 0))
    marks: dict[tuple[int, int, str], tuple[float, _RatingScale | None, int]] = {}
    for row, body in zip(rows.tolist(), _bodies(view, cast.seq[rows]), strict=True):
        vote = json.loads(body)
        scale = tuple(vote["scale"]) if vote.get("scale") else None
        for criterion, value in vote.get("ratings", {}).items():
            key = (int(cast.left[row]), int(cast.rater.of[row]), criterion)
            marks.pop(key, None)
            marks[key] = (float(value), scale, int(cast.created_us[row]))
    scales = _scales(marks)
    value = [_on(scales[key[2]], mark, scale) for key, (mark, scale, _) in marks.items()]
    ratings = PeopleRatings(
        output=np.array([key[0] for key in marks], np.int32),
        rater=Names(np.array([key[1] for key in marks], np.int32), cast.rater.names),
        criterion=encode_names(key[2] for key in marks),
        value=np.array(value, np.float64),
        created_us=np.array([moment for _, _, moment in marks.values()], np.int64),
        scales=scales,
    )
    return with_overall(ratings, view.entries, view.workspace.settings.board.overall)


def _bodies(view: View, seqs: IntArray) -> list[str]:
    if not seqs.size:
        return []
    query = select(votes.c.seq, votes.c.body).where(votes.c.right_seq.is_(None)).order_by(votes.c.seq)
    with reading(view.workspace.store.engine) as connection:
        seq, body = fetch_columns(connection, query)
    return [body[at] for at in np.searchsorted(np.array(seq, np.int64), seqs).tolist()]


def _scales(
    marks: Mapping[tuple[int, int, str], tuple[float, _RatingScale | None, int]],
) -> dict[str, _RatingScale | None]:
    """For each criterion, the most common known scale of its marks."""
    used: dict[str, Counter[_RatingScale | None]] = {}
    for (_, _, criterion), (_, scale, _) in marks.items():
        used.setdefault(criterion, Counter())[scale] += 1
    return {
        criterion: max(counts, key=lambda scale: (scale is not None, counts[scale], str(scale)))
        for criterion, counts in used.items()
    }


def _on(target: _RatingScale | None, mark: float, scale: _RatingScale | None) -> float:
    """Convert a mark from another scale of the same criterion to the wanted scale."""
    if target is None or scale is None or target == scale:
        return mark
    return target[0] + (mark - scale[0]) / (scale[1] - scale[0]) * (target[1] - target[0])


def overall_rule(criteria: Collection[str], setting: str = "") -> tuple[str, tuple[str, ...]]:
    """The rule that combines several marks into one, and the criteria that it uses; empty if there is no rule.

    No rule is needed if raters gave overall marks. A rule from the settings uses all criteria; without one, the rule
    of a published data set applies if all its criteria are present.
    """
    if WHOLE in criteria or not criteria:
        return "", ()
    if setting:
        if setting not in RULES:
            raise unknown_name("[board] overall: no rule", setting, RULES)
        return setting, tuple(sorted(criteria))
    for names, rule in KNOWN.items():
        if names <= frozenset(criteria):
            return rule, tuple(sorted(names))
    return "", ()


def with_overall(ratings: PeopleRatings, entries: Entries, setting: str = "") -> PeopleRatings:
    """Add an overall mark for every rater who marked all criteria of an output.

    Every data set has its own rule. The mark is from 0 to 1, or on the scale of overall marks that raters of another
    data set gave.
    """
    dataset = entries.labels["dataset"].of[entries.item[ratings.output]]
    scale = ratings.scales.get(WHOLE) or (0.0, 1.0)
    parts, rules = [ratings], set()
    for code in np.unique(dataset).tolist():
        rows = np.flatnonzero(dataset == code)
        marked = {ratings.criterion.names[number] for number in np.unique(ratings.criterion.of[rows]).tolist()}
        rule, criteria = overall_rule(marked, setting)
        if rule and all(ratings.scales[name] is not None for name in criteria):
            parts.append(_overall(ratings, rows, criteria, rule, scale))
            rules.add(rule)
    return _join(parts, scale, ", ".join(sorted(rules))) if rules else ratings


def _overall(
    ratings: PeopleRatings, rows: IntArray, criteria: tuple[str, ...], rule: str, scale: _RatingScale
) -> PeopleRatings:
    """Compute one mark per output and rater from these rows."""
    people = max(len(ratings.rater.names), 1)
    keys, inverse = np.unique(
        ratings.output[rows].astype(np.int64) * people + ratings.rater.of[rows], return_inverse=True
    )
    marks = np.full((keys.size, len(criteria)), np.nan)
    moment = np.zeros(keys.size, np.int64)
    np.maximum.at(moment, inverse, ratings.created_us[rows])
    for column, name in enumerate(criteria):
        low, high = ratings.scales[name] or (0.0, 1.0)
        of = ratings.criterion.of[rows] == ratings.criterion.names.index(name)
        marks[inverse[of], column] = (ratings.value[rows][of] - low) / (high - low)
    complete = np.isfinite(marks).all(axis=1)
    marks = marks[complete]
    product = np.prod(marks, axis=1)
    root = np.sqrt(product) if len(criteria) == 2 else product ** (1 / len(criteria))
    value = marks.mean(axis=1) if rule == "mean" else root
    return replace(
        ratings,
        output=(keys[complete] // people).astype(np.int32),
        rater=Names((keys[complete] % people).astype(np.int32), ratings.rater.names),
        criterion=encode_names([WHOLE] * value.size),
        value=scale[0] + value * (scale[1] - scale[0]),
        created_us=moment[complete],
    )


def _join(parts: Sequence[PeopleRatings], scale: _RatingScale, rule: str) -> PeopleRatings:
    first = parts[0]
    return replace(
        first,
        output=np.concatenate([part.output for part in parts]),
        rater=Names(np.concatenate([part.rater.of for part in parts]), first.rater.names),
        criterion=encode_names([name for part in parts for name in part.criterion.list()]),
        value=np.concatenate([part.value for part in parts]),
        created_us=np.concatenate([part.created_us for part in parts]),
        scales={**first.scales, WHOLE: scale},
        rule=rule,
    )


def mean_ratings(ratings: PeopleRatings, criterion: str) -> tuple[CodeArray, NDArray[np.float64], IntArray]:
    """Outputs with a mark on this criterion, the mean over raters, and the time of the last mark."""
    rows = ratings.of(criterion)
    output, inverse = np.unique(ratings.output[rows], return_inverse=True)
    total = np.bincount(inverse, ratings.value[rows], output.size)
    moment = np.zeros(output.size, np.int64)
    np.maximum.at(moment, inverse, ratings.created_us[rows])
    mean = np.round(total / np.maximum(np.bincount(inverse, minlength=output.size), 1), 9)
    return output.astype(np.int32), mean, moment


@dataclass(frozen=True)
class RatingPairs:
    """n pairs of outputs (positions) for one item, turn and mode, by people's mean ratings on one criterion.

    `winner` is a preference code: the higher mean wins, equal means (to nine decimals) are a tie.
    """

    left: CodeArray
    right: CodeArray
    mean_left: NDArray[np.float64]
    mean_right: NDArray[np.float64]
    winner: ByteArray
    created_us: IntArray

    @property
    def gap(self) -> NDArray[np.float64]:
        """(n,) the mean rating of left minus that of right."""
        return np.round(self.mean_left - self.mean_right, 9)


def rating_pairs(view: View, criterion: str = WHOLE, window: Window = EVERYTHING) -> RatingPairs:
    """Every two outputs for one item that people rated singly, for uses that need votes on pairs."""
    output, mean, moment = mean_ratings(read_ratings(view, window), criterion)
    first, second = pairs_of_units(view.entries, output)
    gap = np.round(mean[first] - mean[second], 9)
    return RatingPairs(
        left=output[first],
        right=output[second],
        mean_left=mean[first],
        mean_right=mean[second],
        winner=np.where(gap == 0, TIE, np.where(gap > 0, LEFT, RIGHT)).astype(np.int8),
        created_us=np.maximum(moment[first], moment[second]),
    )


def rating_battles(view: View, voted: BattleColumns, about: str | None, window: Window = EVERYTHING) -> BattleColumns:
    """People's votes, plus a battle for every two outputs for one item that people rated singly.

    The higher mean rating on the criterion wins, equal means are a tie. `about` None: only votes.
    """
    if about is None:
        return voted
    pairs = rating_pairs(view, about, window)
    nobody = Names(np.full(pairs.left.size, -1, np.int32), ())
    dimension = encode_names([about] * int(pairs.left.size))
    rated = BattleColumns(
        pairs.left, pairs.right, pairs.winner, nobody, nobody, dimension, pairs.mean_left, pairs.mean_right,
        pairs.created_us,
    )  # fmt: skip
    return joined_battles([voted, rated]) if len(rated) else voted
