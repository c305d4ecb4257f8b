"""Does a judge order two outputs of the same unit as people do? Figures per judge, criterion and group."""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np

from imarena.agreement.matches import Match
from imarena.stats import agreement_by_gap, calibrate_ties, decisive_accuracy, pair_accuracy, pairs_within


class PairOptions(Protocol):
    """What pairs need to know of the command's options."""

    @property
    def by(self) -> tuple[str, ...]: ...
    @property
    def gaps(self) -> tuple[float, ...]: ...


def pairs_document(matches: Sequence[Match], places: Sequence[int], options: PairOptions) -> Iterable[dict[str, Any]]:
    """One document for each judge, criterion and group; `places` are the group columns that a pair may share."""
    groups: dict[tuple[Any, ...], list[Match]] = {}
    for match in matches:
        group = tuple((options.by[place], match.group[place]) for place in places)
        groups.setdefault((match.judge, match.criterion, group), []).append(match)
    for (judge, criterion, group), rows in sorted(groups.items(), key=str):
        yield {"judge": judge, "criterion": criterion, "group": dict(group), **_figures(rows, options)}


def _figures(rows: Sequence[Match], options: PairOptions) -> dict[str, Any]:
    codes = np.unique(np.array([row.unit for row in rows]), return_inverse=True)[1]
    scores = [np.nan if row.score is None else row.score for row in rows]
    pairs = pairs_within(codes, [row.human for row in rows], scores)
    accuracy, decisive, calibrated = pair_accuracy(pairs), decisive_accuracy(pairs), calibrate_ties(pairs)
    document: dict[str, Any] = {
        "n_pairs": len(pairs), "n_human_ties": int((pairs.human == 0).sum()),
        "n_judge_ties": int((pairs.judge == 0).sum()),
        "pair_accuracy": accuracy.value, "decisive_accuracy": decisive.value, "n_decisive": decisive.n,
        "tie_calibrated_accuracy": calibrated.accuracy.value, "tie_threshold": calibrated.threshold,
        "methods": {
            "pair_accuracy": accuracy.method, "decisive_accuracy": decisive.method,
            "tie_calibrated_accuracy": calibrated.accuracy.method,
        },
        "status": accuracy.status, "reason": accuracy.reason or decisive.reason or None,
    }  # fmt: skip
    if options.gaps:
        bands, same = agreement_by_gap(pairs, options.gaps)
        document["by_gap"] = [
            {"low": band.low, "high": band.high, "n": band.n, "agreement": band.agreement} for band in bands
        ]
        document["n_gap_zero"] = same
    return document
