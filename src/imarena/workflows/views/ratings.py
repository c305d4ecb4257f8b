"""People's ratings as columns: one per output, rater and criterion, on one scale per criterion, and an overall by rule.

Rules: ``geometric-mean`` is ImagenHub's, sqrt(SC x PQ) of each rater, then the mean over raters; ``mean`` is
ImagenWorld's, the mean of the criteria. Both take marks on 0 to 1.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select

from imarena.core.errors import UserError
from imarena.storage.database import reading
from imarena.storage.schema import votes
from imarena.workflows.views.battles import WHOLE, BattleColumns, pairs_of_units, seen
from imarena.workflows.views.codes import LEFT, RIGHT, TIE, CodeArray, Names, names_of
from imarena.workflows.views.fetch import IntArray, fetch_columns
from imarena.workflows.views.view import EVERYTHING, View, Window

Scale = tuple[float, float]
RULES = ("geometric-mean", "mean")
_WINDOWS = 8
KNOWN: Mapping[frozenset[str], str] = {
    frozenset({"SC", "PQ"}): "geometric-mean",
    frozenset({"prompt_relevance", "aesthetic_quality", "content_coherence", "artifacts"}): "mean",
}
"""Criteria of published data sets, and the rule that their authors combine them by."""


@dataclass(frozen=True)
class Ratings:
    """n marks. `output` are places of outputs; `value` is on the criterion's scale in `scales` (None: not known)."""

    output: CodeArray
    rater: Names
    criterion: Names
    value: NDArray[np.float64]
    created_us: IntArray
    scales: Mapping[str, Scale | None]
    rule: str = ""
    """The rule by which marks called `overall` were made; empty where raters gave them, or where there are none."""

    def __len__(self) -> int:
        return int(self.output.size)

    def of(self, criterion: str) -> NDArray[np.int64]:
        """Rows of one criterion."""
        names = self.criterion.names
        return np.flatnonzero(self.criterion.of == (names.index(criterion) if criterion in names else -2))


def read_ratings(view: View, window: Window = EVERYTHING) -> Ratings:
    """The ratings that count; where one rater rated an output twice, the last mark counts. With the overall."""
    kept = view.computed.get(("ratings", window))
    if not isinstance(kept, Ratings):
        kept = _read_ratings(view, window)
        if len(view.computed) >= _WINDOWS:  # a server shows any days that somebody asks for
            view.computed.clear()
        view.computed["ratings", window] = kept
    return kept


def _read_ratings(view: View, window: Window) -> Ratings:
    cast = view.votes
    kept = cast.counts & (cast.right < 0) & (cast.preference == 0) & seen(view, window)
    rows = np.flatnonzero(kept)
    found: dict[tuple[int, int, str], tuple[float, Scale | None, int]] = {}
    for row, body in zip(rows.tolist(), _bodies(view, cast.seq[rows]), strict=True):
        given = json.loads(body)
        scale = tuple(given["scale"]) if given.get("scale") else None
        for criterion, value in given.get("ratings", {}).items():
            key = (int(cast.left[row]), int(cast.rater.of[row]), criterion)
            found.pop(key, None)
            found[key] = (float(value), scale, int(cast.created_us[row]))
    scales = _scales(found)
    value = [_on(scales[key[2]], mark, scale) for key, (mark, scale, _) in found.items()]
    made = Ratings(
        output=np.array([key[0] for key in found], np.int32),
        rater=Names(np.array([key[1] for key in found], np.int32), cast.rater.names),
        criterion=names_of(key[2] for key in found),
        value=np.array(value, np.float64),
        created_us=np.array([moment for _, _, moment in found.values()], np.int64),
        scales=scales,
    )
    return with_overall(made, view.workspace.settings.board.overall)


def _bodies(view: View, wanted: IntArray) -> list[str]:
    if not wanted.size:
        return []
    query = select(votes.c.seq, votes.c.body).where(votes.c.right_seq.is_(None)).order_by(votes.c.seq)
    with reading(view.workspace.store.engine) as connection:
        seq, body = fetch_columns(connection, query)
    place = np.searchsorted(np.array(seq, np.int64), wanted)
    return [body[at] for at in place.tolist()]


def _scales(found: Mapping[tuple[int, int, str], tuple[float, Scale | None, int]]) -> dict[str, Scale | None]:
    """For each criterion the scale that most of its marks are on."""
    used: dict[str, Counter[Scale | None]] = {}
    for (_, _, criterion), (_, scale, _) in found.items():
        used.setdefault(criterion, Counter())[scale] += 1
    return {
        criterion: max(counts, key=lambda scale: (scale is not None, counts[scale], str(scale)))
        for criterion, counts in used.items()
    }


def _on(wanted: Scale | None, mark: float, scale: Scale | None) -> float:
    """A mark on another scale of the same criterion, moved to the wanted one."""
    if wanted is None or scale is None or wanted == scale:
        return mark
    return wanted[0] + (mark - scale[0]) / (scale[1] - scale[0]) * (wanted[1] - wanted[0])


def rule_for(criteria: Sequence[str], setting: str = "") -> str:
    """The rule that makes one mark of several; empty where there is none, or where raters gave an overall mark."""
    if WHOLE in criteria or not criteria:
        return ""
    if setting:
        if setting not in RULES:
            raise UserError(
                f"No rule '{setting}' for the overall.", hint=f"[board] overall is one of: {', '.join(RULES)}."
            )
        return setting
    return KNOWN.get(frozenset(criteria), "")


def with_overall(found: Ratings, setting: str = "") -> Ratings:
    """The ratings with an overall mark of every rater who marked all criteria of an output."""
    criteria = found.criterion.names
    rule = rule_for(criteria, setting)
    if not rule or any(found.scales[name] is None for name in criteria):
        return found
    people = max(len(found.rater.names), 1)
    pair = found.output.astype(np.int64) * people + found.rater.of
    known, place = np.unique(pair, return_inverse=True)
    marks = np.full((known.size, len(criteria)), np.nan)
    for code, name in enumerate(criteria):
        low, high = found.scales[name] or (0.0, 1.0)
        rows = found.criterion.of == code
        marks[place[rows], code] = (found.value[rows] - low) / (high - low)
    moment = np.zeros(known.size, np.int64)
    np.maximum.at(moment, place, found.created_us)
    whole = np.isfinite(marks).all(axis=1)
    marks = marks[whole]
    if rule == "mean":
        overall = marks.mean(axis=1)
    else:
        overall = (
            np.prod(marks, axis=1) ** (1 / len(criteria)) if len(criteria) != 2 else np.sqrt(np.prod(marks, axis=1))
        )
    names = (*criteria, WHOLE)
    return replace(
        found,
        output=np.append(found.output, (known[whole] // people).astype(np.int32)),
        rater=Names(np.append(found.rater.of, (known[whole] % people).astype(np.int32)), found.rater.names),
        criterion=Names(np.append(found.criterion.of, np.full(len(overall), len(criteria), np.int32)), names),
        value=np.append(found.value, overall),
        created_us=np.append(found.created_us, moment[whole]),
        scales={**found.scales, WHOLE: (0.0, 1.0)},
        rule=rule,
    )


def mean_ratings(found: Ratings, criterion: str) -> tuple[CodeArray, NDArray[np.float64], IntArray]:
    """Outputs with a mark on this criterion, the mean over raters, and the moment of the last mark."""
    rows = found.of(criterion)
    output, place = np.unique(found.output[rows], return_inverse=True)
    total = np.bincount(place, found.value[rows], output.size)
    moment = np.zeros(output.size, np.int64)
    np.maximum.at(moment, place, found.created_us[rows])
    mean = np.round(total / np.maximum(np.bincount(place, minlength=output.size), 1), 9)
    return output.astype(np.int32), mean, moment


def rating_battles(view: View, voted: BattleColumns, about: str | None, window: Window = EVERYTHING) -> BattleColumns:
    """People's votes, and beside them a battle for every two outputs for one item that people rated one by one.

    The higher mean rating of the criterion wins, equal means are a tie. `about` None: votes alone.
    """
    if about is None:
        return voted
    output, mean, moment = mean_ratings(read_ratings(view, window), about)
    one, other = pairs_of_units(view.entries, output)
    gap = mean[one] - mean[other]
    winner = np.where(gap == 0, TIE, np.where(gap > 0, LEFT, RIGHT)).astype(np.int8)
    n = one.size
    if not n:
        return voted
    dimension = names_of([*voted.dimension.list(), *([about] * n)])
    return BattleColumns(
        left=np.append(voted.left, output[one]),
        right=np.append(voted.right, output[other]),
        winner=np.append(voted.winner, winner),
        judge=Names(np.full(len(voted) + n, -1, np.int32), ()),
        rater=Names(np.append(voted.rater.of, np.full(n, -1, np.int32)), voted.rater.names),
        dimension=dimension,
        score_left=np.append(voted.score_left, mean[one]),
        score_right=np.append(voted.score_right, mean[other]),
        created_us=np.append(voted.created_us, np.maximum(moment[one], moment[other])),
        excluded=voted.excluded,
    )
