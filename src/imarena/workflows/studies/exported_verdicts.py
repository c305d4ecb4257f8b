"""Verdicts on pairs in a table that `export scores` wrote, as `align` reads them: both orders of a battle combined."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

from imarena.agreement import EXPORTED, RatingColumns, VerdictColumns
from imarena.core import outcome_of_both
from imarena.core.records import Order, Outcome, Status
from imarena.stats import EQUAL
from imarena.tables import column_names, read_file
from imarena.workflows.studies.pair_columns import REASONS
from imarena.workflows.views import WHOLE


def is_export_of_scores(path: Path) -> bool:
    """Did `export scores` write this table?"""
    return frozenset(column_names(path)) >= EXPORTED


@dataclass
class _Battle:
    """What a judge said about one pair in one repeat."""

    row: dict[str, Any]
    by_order: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, row: dict[str, Any]) -> None:
        """Keep the first answer of each order, or its newest failure."""
        known = self.by_order.get(row["order"])
        if known is None or known["status"] != Status.OK.value:
            self.by_order[row["order"]] = row

    def outcome(self, *, both_needed: bool) -> tuple[str | None, str]:
        """The winner, or None with the reason. The same outcome twice is that outcome; two different ones are a tie."""
        rows = list(self.by_order.values())
        failed = next((row["status"] for row in rows if row["status"] != Status.OK.value), "")
        if failed:
            return None, str(failed)
        if both_needed and len(rows) < 2 and Order.BOTH.value not in self.by_order:
            return None, REASONS["one order missing"]
        words = [row["preference"] for row in rows]
        if not all(words):
            return None, REASONS["no preference"]
        if len(set(words)) == 1:
            return words[0], ""
        if EQUAL in words:
            return Outcome.TIE.value, ""
        return outcome_of_both(Outcome(words[0]), Outcome(words[1])).value, ""


def exported_verdicts(path: Path) -> VerdictColumns:
    """The verdicts that count, by item and the two models; empty where the table holds scores alone."""
    rows: list[dict[str, Any]] = read_file(path, text=frozenset(column_names(path)), wanted=None).to_pylist()
    battles: dict[tuple[str, ...], _Battle] = {}
    orders: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        if row["kind"] != "verdict" or row.get("not_counted"):
            continue
        judge = row["judge"] if row["dimension"] == WHOLE else f"{row['judge']}, {row['dimension']}"
        key = (judge, row["unit"], row["output_id"] or row["model"], row["other_output_id"] or "", row["repeat"] or "")
        battles.setdefault(key, _Battle(row)).add(row)
        orders[judge].add(row["order"] or "")
    outcomes = [battle.outcome(both_needed=len(orders[key[0]]) > 1) for key, battle in battles.items()]
    kept = [battle.row for battle in battles.values()]
    several = {row["dimension"] for row in kept} != {WHOLE}
    return VerdictColumns(
        [row["unit"] for row in kept], [row["model"] for row in kept], [row["other_model"] for row in kept],
        [winner for winner, _ in outcomes], [key[0] for key in battles],
        {"dimension": [row["dimension"] for row in kept]} if several else {}, str(path),
        reason=[reason for _, reason in outcomes],
    )  # fmt: skip


def pairs_of_ratings(ratings: RatingColumns) -> VerdictColumns:
    """Mean ratings as votes on pairs: of two models on one unit the higher mean wins, and equal means are a tie.

    By the overall, or by the only criterion that the table has; of several others none stands for the whole.
    """
    criteria = ratings.labels.get("criterion", [""] * len(ratings))
    counts = Counter(criteria)
    about = WHOLE if WHOLE in counts else next(iter(counts)) if len(counts) == 1 else None
    marks: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row, value in enumerate(ratings.value):
        if criteria[row] == about and isinstance(value, float):
            marks[ratings.unit[row]][ratings.labels["model"][row]].append(value)
    lines = []
    for unit, models in marks.items():
        means = {model: sum(values) / len(values) for model, values in models.items()}
        for left, right in combinations(sorted(means), 2):
            gap = round(means[left] - means[right], 9)
            lines.append((unit, left, right, "tie" if gap == 0 else "left" if gap > 0 else "right"))
    return VerdictColumns(
        [line[0] for line in lines], [line[1] for line in lines], [line[2] for line in lines],
        [line[3] for line in lines], ["people's mean rating"] * len(lines), {},
        f"pairs of mean ratings in {ratings.source}",
    )  # fmt: skip
