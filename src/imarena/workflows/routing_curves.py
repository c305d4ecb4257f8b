"""Route: stored calibrations of a judge, and whether they still fit its scores."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from imarena.core.errors import UserError
from imarena.core.notices import Notice
from imarena.core.records import Calibration, JsonDict
from imarena.routing import Curve, agreement_table, reliability
from imarena.routing.calibration import FINE_EDGES, TABLE_EDGES
from imarena.storage import Workspace

ALL = "all"


def record_of(judge: str, group: str, curve: Curve, gap: Any, agrees: Any, versions: Mapping[str, int]) -> Calibration:
    """A curve with the pairs it was made from and the versions of the judge that scored them."""
    points: JsonDict = {
        "gap": curve.gap.tolist(),
        "agreement": curve.agreement.tolist(),
        "low": curve.low.tolist(),
        "high": curve.high.tolist(),
        "empirical": curve.empirical.tolist(),
        "n": curve.n.tolist(),
        "q_mixture": reliability(curve.agreement).tolist(),
        "parameters": None if curve.parameters is None else list(curve.parameters),
    }
    data: JsonDict = {"gap": gap.tolist(), "agrees": agrees.tolist(), "versions": [*sorted(versions)]}
    return Calibration(judge=judge, method=curve.method, group=group, data=data, curve=points, n_pairs=int(gap.size))


def newest(workspace: Workspace, judge: str) -> dict[str, Calibration]:
    """The newest calibration of a judge for each group."""
    return {record.group: record for record in workspace.store.records(Calibration, judge=judge)}


def calibration_for(workspace: Workspace, judge: str, group: str = ALL) -> Calibration:
    """The newest one for a group, or for all where the group had too few pairs."""
    found = newest(workspace, judge)
    if ALL not in found:
        raise UserError(
            f"Judge '{judge}' has no calibration.", hint=f"Make one first: imarena route calibrate --judge {judge}"
        )
    return found.get(group, found[ALL])


def curve_of(record: Calibration) -> Curve:
    """The curve of a stored calibration."""
    curve: Any = record.curve
    columns = {
        name: np.array(curve[name], np.float64) for name in ("gap", "agreement", "low", "high", "empirical", "n")
    }
    parameters = curve.get("parameters")
    return Curve(record.method, **columns, parameters=None if parameters is None else (parameters[0], parameters[1]))


def told(record: Calibration) -> JsonDict:
    """What a board says of the calibration that it used."""
    return {
        "judge": record.judge,
        "group": record.group,
        "method": record.method,
        "n_pairs": record.n_pairs,
        "made_at": record.created_at.isoformat(timespec="seconds"),
    }


def stale(record: Calibration, versions: Mapping[str, int]) -> tuple[Notice, ...]:
    """A notice where the judge's scores are of another version than those that were calibrated."""
    known = record.data.get("versions")
    if not isinstance(known, list) or set(known) == set(versions):
        return ()
    values: JsonDict = {"judge": record.judge, "calibrated": [*sorted(map(str, known))], "scored": [*sorted(versions)]}
    return (Notice(code="calibration_stale", values=values),)


def calibrations_of(workspace: Workspace, judge: str) -> dict[str, Any] | None:
    """The newest curves by group with agreement by gap (table 5 and finer), for a report; None where there is none."""
    found = newest(workspace, judge)
    return {group: {**told(record), **record.curve, **_tables(record)} for group, record in found.items()} or None


def _tables(record: Calibration) -> dict[str, Any]:
    gap, agrees = (np.array(record.data[name], np.float64) for name in ("gap", "agrees"))
    tables = {"table": TABLE_EDGES, "fine_table": FINE_EDGES}
    return {name: [vars(row) for row in agreement_table(gap, agrees, edges)] for name, edges in tables.items()}
