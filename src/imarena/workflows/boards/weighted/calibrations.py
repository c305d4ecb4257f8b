"""Route: stored calibrations of a judge, and whether they still match its scores."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from imarena.core import UserError, command_line
from imarena.core.notices import Notice
from imarena.core.records import Calibration, JsonDict
from imarena.routing import (
    FINE_EDGES,
    RIDGE,
    TABLE_EDGES,
    CalibrationMethod,
    Curve,
    GapRow,
    agreement_table,
    fit_curve,
    reliability,
)
from imarena.stats import ScoreRange
from imarena.storage import Workspace

ALL = "all"
_COLUMNS = ("gap", "agreement", "low", "high", "empirical", "n")
"""The columns of a `Curve` that a record holds."""


@dataclass(frozen=True)
class CalibrationOptions:
    """How to calibrate: the method, its ridge if logistic, and the user's settings for the scores."""

    method: CalibrationMethod = "isotonic"
    ridge: float = RIDGE
    gap_edges: tuple[float, ...] = ()
    """Edges of the agreement table, as gaps between the judge's own scores; none: table 5's on the judge's range."""
    score_range: ScoreRange | None = None
    rounds: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        rising = all(low < high for low, high in pairwise((0.0, *self.gap_edges)))
        if not (rising and all(map(math.isfinite, self.gap_edges))):
            raise UserError(
                "The gap edges must rise from above 0.", hint="Such as --edges 0.5,1,2 for scores of 0 to 10."
            )

    @property
    def data(self) -> JsonDict:
        """Return what a stored calibration records about it; defaults are left out, so that old ids stay valid."""
        values: JsonDict = {}
        if self.method == "logistic" and self.ridge != RIDGE:
            values["ridge"] = self.ridge
        if self.gap_edges:
            values["gap_edges"] = list(self.gap_edges)
        if self.score_range is not None:
            values["score_range"] = [self.score_range.low, self.score_range.high]
        return values


def calibration_record(
    judge: str, group: str, curve: Curve, gap: Any, agrees: Any, versions: Mapping[str, int], fit: CalibrationOptions
) -> Calibration:
    """A curve with the pairs behind it and the versions of the judge that scored them."""
    points: JsonDict = {
        **{name: getattr(curve, name).tolist() for name in _COLUMNS},
        "q_mixture": reliability(curve.agreement).tolist(),
        "parameters": None if curve.parameters is None else list(curve.parameters),
        "edges": None if curve.edges is None else curve.edges.tolist(),
    }
    data: JsonDict = {"gap": gap.tolist(), "agrees": agrees.tolist(), "versions": [*sorted(versions)], **fit.data}
    return Calibration(judge=judge, method=curve.method, group=group, data=data, curve=points, n_pairs=int(gap.size))


def newest_calibrations(workspace: Workspace, judge: str) -> dict[str, Calibration]:
    """The newest calibration of a judge for each group."""
    return {record.group: record for record in workspace.store.records(Calibration, judge=judge)}


def store_newest(workspace: Workspace, record: Calibration) -> Calibration:
    """Store a calibration as the newest of its group, even if an identical one was stored earlier.

    Its id is a hash of its content: it can be stored again only by naming the one that it follows.
    """
    last = newest_calibrations(workspace, record.judge).get(record.group)
    if last is not None and workspace.store.get(Calibration, record.calibration_id) is not None:
        content = {key: value for key, value in last.data.items() if key != "after"}
        if (last.method, last.curve, content) == (record.method, record.curve, record.data):
            return last
        record = record.model_copy(update={"data": {**record.data, "after": last.calibration_id}})
    workspace.store.add([record])
    return record


def calibration_for(workspace: Workspace, judge: str, group: str = ALL) -> Calibration:
    """Return the newest one for a group; for all, if the group had too few pairs."""
    calibrations = newest_calibrations(workspace, judge)
    if ALL not in calibrations:
        raise UserError(
            f"Judge '{judge}' has no calibration.",
            hint=f"Make one first: {command_line('route calibrate --judge', judge)}",
        )
    return calibrations.get(group, calibrations[ALL])


def curve_of(record: Calibration, *, paper_compat: bool = False) -> Curve:
    """Return the curve of a stored calibration.

    `paper_compat`: isotonic regression is read as the paper's step function, fitted to the same pairs. The paper's
    other form, a logistic curve, is used as stored.
    """
    if paper_compat and record.method == "isotonic":
        gap, agrees = pairs_of(record)
        return fit_curve(gap, agrees, method="piecewise", rounds=0)
    curve: Any = record.curve
    columns = {name: np.array(curve[name], np.float64) for name in _COLUMNS}
    parameters, edges = curve.get("parameters"), curve.get("edges")
    return Curve(
        record.method,
        **columns,
        parameters=None if parameters is None else (parameters[0], parameters[1]),
        edges=None if edges is None else np.array(edges, np.float64),
    )


def pairs_of(record: Calibration) -> tuple[Any, Any]:
    """Score gap (k,) and agreement (k,) of the pairs behind a calibration."""
    return tuple(np.array(record.data[name], np.float64) for name in ("gap", "agrees"))  # type: ignore[return-value]


def describe_calibration(record: Calibration, curve: Curve | None = None) -> JsonDict:
    """Return what a board reports about its calibration, and about the `curve` if it is not the stored one."""
    return {
        "judge": record.judge,
        "group": record.group,
        "method": record.method if curve is None else curve.method,
        "n_pairs": record.n_pairs,
        "made_at": record.created_at.isoformat(timespec="seconds"),
    }


def stale_calibration_notices(record: Calibration, versions: Mapping[str, int]) -> tuple[Notice, ...]:
    """Return a notice if the judge's scores are of another version than the calibrated ones."""
    calibrated = record.data.get("versions")
    if not isinstance(calibrated, list) or set(calibrated) == set(versions):
        return ()
    values: JsonDict = {
        "judge": record.judge,
        "calibrated": [*sorted(map(str, calibrated))],
        "scored": [*sorted(versions)],
    }
    return (Notice(code="calibration_stale", values=values),)


@dataclass(frozen=True, slots=True)
class GapTables:
    """Agreement by score gap: in the bands of table 5 or of the user's own edges, and in finer bands."""

    table: tuple[GapRow, ...]
    fine_table: tuple[GapRow, ...]


@dataclass(frozen=True, slots=True)
class ReportedCalibration:
    """A stored calibration with agreement by score gap."""

    record: Calibration
    tables: GapTables

    def to_json(self) -> dict[str, Any]:
        """For ``--json`` and reports."""
        return {**describe_calibration(self.record), **self.record.curve, **asdict(self.tables)}


def calibrations_of(workspace: Workspace, judge: str, scores: ScoreRange) -> tuple[ReportedCalibration, ...]:
    """Return the newest calibration of each group, for a report.

    `scores`: the range of the judge's scores, which defines the bands of gaps.
    """
    reported = []
    for record in newest_calibrations(workspace, judge).values():
        ends: Any = record.data.get("score_range")
        edges: Any = record.data.get("gap_edges")
        tables = gap_tables(*pairs_of(record), ScoreRange(*ends) if ends else scores, edges or ())
        reported.append(ReportedCalibration(record, tables))
    return tuple(reported)


def gap_tables(gap: Any, agrees: Any, scores: ScoreRange, edges: Sequence[float] = ()) -> GapTables:
    """Return agreement by score gap, in the bands of table 5 or of the given `edges`, and in finer bands."""
    return GapTables(
        agreement_table(gap, agrees, tuple(edges) or scores.edges(TABLE_EDGES)),
        agreement_table(gap, agrees, scores.edges(FINE_EDGES)),
    )
