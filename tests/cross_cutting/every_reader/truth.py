"""What counts, worked out a second time: slowly, by plain loops over the stored records, without the code under test.

Only columns that hold what was recorded are read, none that were derived from it. The rules are those of
docs/design/read-model.md.
"""

import json
import sqlite3
from collections import Counter, defaultdict
from contextlib import closing
from itertools import combinations
from pathlib import Path
from typing import Any

Row = dict[str, Any]
Battle = tuple[str, str, str]
"""Left and right output, and the outcome."""
DERIVED = ("form_id", "left_seq", "right_seq", "created_us", "tie_unstated", "superseded", "probability", "driven_by")
PURPOSES = {"practice": "practice", "qualification": "test", "gold": "gold", "repeat": "repeat"}
MIRROR = {"left": "right", "right": "left"}
EARLIER = "by an earlier version, prompt or setting of the judge"
ONE_SIDE = "shown with the source of the left output only"


def mirrored(outcome: str) -> str:
    """The outcome with the sides turned."""
    return MIRROR.get(outcome, outcome)


class Truth:
    """Everything that was recorded, and what of it counts."""

    def __init__(self, root: Path) -> None:
        with closing(sqlite3.connect(f"file:{root / 'arena.db'}?mode=ro", uri=True)) as database:
            database.row_factory = sqlite3.Row
            names = ("items", "outputs", "judgments", "votes", "assignments", "exclusions")
            read = {name: self._rows(database, name) for name in names}
        for name in names[:-1]:
            for row in read[name]:
                for column in (*DERIVED, *(("dimension",) if name == "votes" else ())):
                    row.pop(column, None)
                row.update(json.loads(row.pop("body")))
        self.items = {row["id"]: row for row in read["items"]}
        self.outputs = {row["id"]: row for row in read["outputs"]}
        self.tasks = {row["id"]: row for row in read["assignments"]}
        self.every_judgment, self.every_vote = read["judgments"], read["votes"]
        self.judgment_reasons = self._judgment_reasons()
        self.judgments = [row for row in self.every_judgment if not self.judgment_reasons[row["id"]]]
        self.vote_reasons = self._vote_reasons(read["exclusions"])
        self.votes = [row for row in self.every_vote if not self.vote_reasons[row["id"]]]
        for row in self.every_vote:
            row.setdefault("dimension", "overall")

    @staticmethod
    def _rows(database: sqlite3.Connection, name: str) -> list[Row]:
        query = f"SELECT * FROM {name} ORDER BY seq"  # noqa: S608 - a name from above
        return [dict(row) for row in database.execute(query)]

    # ------------------------------------------------------------ what counts

    def _judgment_reasons(self) -> dict[str, str]:
        """Why a judgment does not count: replaced, or another version of the judge is newer. Failures are apart."""
        replaced = {row["supersedes"] for row in self.every_judgment}
        newest: dict[tuple[str, str, bool], tuple[str, ...]] = {}
        for row in self.every_judgment:
            if self.version(row) is not None:
                newest[self._kind(row)] = self.version(row) or ()
        found = {}
        for row in self.every_judgment:
            version = self.version(row)
            old = version is not None and version != newest[self._kind(row)]
            one_side = row["run_id"] is not None and not row["work_id"].startswith("work-turns") and self._apart(row)
            found[row["id"]] = (
                "superseded" if row["id"] in replaced else EARLIER if old else ONE_SIDE if one_side else ""
            )
        return found

    def _apart(self, row: Row) -> bool:
        """Is this about two outputs of a later turn that were made from different images?"""
        sides = [self.outputs[row[side]] for side in ("left_id", "right_id") if row[side]]
        if len(sides) < 2 or sides[0]["mode"] != "multi_turn" or not sides[0]["turn"]:
            return False
        made_from = [self.outputs.get(side["parent_id"], {}).get("image_sha256") for side in sides]
        return sides[0]["parent_id"] != sides[1]["parent_id"] and made_from[0] != made_from[1]

    @staticmethod
    def _kind(row: Row) -> tuple[str, str, bool]:
        return row["judge"], row["dimension"], row["right_id"] is not None

    @staticmethod
    def version(row: Row) -> tuple[str, ...] | None:
        """None for an imported verdict that names no version and no prompt: it always counts."""
        named = tuple(row.get(name, "") for name in ("judge_version", "prompt_id", "prompt_version"))
        if row["run_id"] is None:
            return (*named, "") if any(named) else None
        params = {name: value for name, value in row.get("params", {}).items() if name != "orders"}
        return (*named, json.dumps(params, sort_keys=True))

    def _vote_reasons(self, exclusions: list[Row]) -> dict[str, str]:
        replaced = {row["supersedes"] for row in self.every_vote}
        found = {}
        for row in self.every_vote:
            purpose = self.tasks[row["assignment_id"]]["purpose"] if row["assignment_id"] else "vote"
            shut_out = any(
                one["rater_id"] == row["rater_id"]
                and not one["lifted_at"]
                and row["created_at"] >= (one["since"] or "")
                for one in exclusions
            )
            one_side = row["assignment_id"] and "first_turn" not in row and self._apart(row)
            found[row["id"]] = (
                "retracted" if row["retracted"] else "superseded" if row["id"] in replaced
                else PURPOSES.get(purpose, "rater excluded" if shut_out else ONE_SIDE if one_side else "")
            )  # fmt: skip
        return found

    # ------------------------------------------------------------ verdicts of judges

    def said(self, judge: str, dimension: str = "overall", *, pairwise: bool) -> list[Row]:
        """The judgments that count, failures included."""
        return [row for row in self.judgments if self._kind(row) == (judge, dimension, pairwise)]

    def compared(self, judge: str, dimension: str = "overall") -> dict[tuple[str, str, int], tuple[str | None, str]]:
        """Left, right and repeat to the outcome of all orders, or None and why there is none."""
        given: dict[tuple[str, str, int], dict[str, Row]] = defaultdict(dict)
        rows = self.said(judge, dimension, pairwise=True)
        for row in rows:
            orders = given[row["left_id"], row["right_id"], row["repeat"]]
            if row["order"] not in orders or orders[row["order"]]["status"] != "ok":
                orders[row["order"]] = row
        swaps = any(row["order"] == "right_first" for row in rows if row["run_id"] is None)
        return {key: self._outcome(list(orders.values()), swaps) for key, orders in given.items()}

    @staticmethod
    def _outcome(rows: list[Row], swaps: bool) -> tuple[str | None, str]:
        failed = [row["status"] for row in rows if row["status"] != "ok"]
        if failed:
            return None, failed[0]
        alone = any(row.get("params", {}).get("orders") for row in rows)
        needs_both = swaps if rows[0]["run_id"] is None else not alone
        if needs_both and len(rows) < 2 and rows[0]["order"] != "both":
            return None, "one order missing"
        unstated = [row.get("reasons", {}).get("tie") == "unstated" for row in rows]
        words = {"equal" if open_ else row["preference"] for row, open_ in zip(rows, unstated, strict=True)}
        return (words.pop() if len(words) == 1 else "tie"), ""

    def scores(self, judge: str, dimension: str = "overall") -> dict[tuple[str, int], float]:
        """Output and repeat to the first score, higher being better."""
        found: dict[tuple[str, int], float] = {}
        for row in self.said(judge, dimension, pairwise=False):
            if row["status"] == "ok" and row["score"] is not None:
                low_is_good = row.get("params", {}).get("higher_is_better") is False
                found.setdefault((row["left_id"], row["repeat"]), -row["score"] if low_is_good else row["score"])
        return found

    def unit(self, output: str) -> tuple[Any, ...]:
        """What was looked at: item, turn and mode."""
        return tuple(self.outputs[output][name] for name in ("item_id", "turn", "mode"))

    def scored(self, judge: str, dimension: str = "overall") -> list[Battle]:
        """Every two scores of one run on the same unit."""
        found = []
        for (one, run), (other, again) in combinations(sorted(self.scores(judge, dimension)), 2):
            if run == again and self.unit(one) == self.unit(other):
                found.append((one, other, self.by_scores(judge, dimension, one, other, run)))
        return found

    def by_scores(self, judge: str, dimension: str, one: str, other: str, run: int) -> str:
        """Who wins by two scores."""
        points = self.scores(judge, dimension)
        gap = round(points[one, run] - points[other, run], 9)
        return "tie" if gap == 0 else "left" if gap > 0 else "right"

    def fought(self, judge: str, dimension: str = "overall") -> list[Battle]:
        """The battles that the judge compared and that have an outcome."""
        found = self.compared(judge, dimension).items()
        return [(left, right, outcome) for (left, right, _), (outcome, _) in found if outcome is not None]

    def battles(self, judge: str, dimension: str = "overall") -> tuple[list[Battle], Counter[str]]:
        """The battles of a judge's board between named, different models, and what it leaves out."""
        out: Counter[str] = Counter()
        every, compared = self.fought(judge, dimension), self.compared(judge, dimension)
        out.update(f"incomplete: {why}" for outcome, why in compared.values() if outcome is None)
        direct = {frozenset(key[:2]) for key in compared} if every else set()
        for battle in self.scored(judge, dimension):
            if frozenset(battle[:2]) in direct:
                out["scores of a pair that the judge also compared directly"] += 1
            else:
                every.append(battle)
        for why in (EARLIER, ONE_SIDE):
            out[why] = sum(
                row["judge"] == judge and self.judgment_reasons[row["id"]] == why for row in self.every_judgment
            )
        return self.between_models(every, out), +out

    # ------------------------------------------------------------ people

    def people(self, dimension: str | None = "overall") -> list[Row]:
        """Votes on two outputs that count, whoever made these."""
        return [row for row in self.votes if row["preference"] and dimension in (None, row["dimension"])]

    def voted(self, dimension: str = "overall") -> tuple[list[Battle], Counter[str]]:
        """The battles of people's board, and what it leaves out."""
        out: Counter[str] = Counter()
        every = [(row["left_id"], row["right_id"], row["preference"]) for row in self.people(dimension)]
        return self.between_models(every, out), out

    def marks(self) -> dict[tuple[str, str], dict[str, float]]:
        """Output and rater to the last marks on 0 to 1, with the overall of SC and PQ."""
        found: dict[tuple[str, str], dict[str, float]] = {}
        for row in self.votes:
            if row["right_id"] is None:
                low, high = row["scale"]
                kept = found.setdefault((row["left_id"], row["rater_id"]), {})
                kept.update({name: (mark - low) / (high - low) for name, mark in row["ratings"].items()})
        for kept in found.values():
            kept["overall"] = (kept["SC"] * kept["PQ"]) ** 0.5
        return found

    # ------------------------------------------------------------ both

    def editor(self, output: str) -> str | None:
        """Who made it."""
        name: str | None = self.outputs[output]["editor"]
        return name

    def between_models(self, battles: list[Battle], out: Counter[str]) -> list[Battle]:
        """Those between two named, different models; the others are counted in `out`."""
        kept = []
        for battle in battles:
            sides = [self.editor(side) for side in battle[:2]]
            if None in sides:
                out["the source does not name the models"] += 1
            elif sides[0] == sides[1]:
                out["both sides are the same editor"] += 1
            else:
                kept.append(battle)
        return kept

    def record(self, battles: list[Battle]) -> dict[str, tuple[int, int, int]]:
        """Model to battles won, lost and tied."""
        counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
        for left, right, outcome in battles:
            for side, won in ((left, "left"), (right, "right")):
                counts[str(self.editor(side))][2 if outcome not in MIRROR else 0 if outcome == won else 1] += 1
        return {model: (won, lost, tied) for model, (won, lost, tied) in counts.items()}

    def verdicts_on(self, judge: str, dimension: str, one: str, other: str) -> list[str]:
        """All verdicts of a judge on two outputs, as seen from the first, each run apart.

        A judge that compared nothing counts by its scores.
        """
        if not self.fought(judge, dimension):
            points = self.scores(judge, dimension)
            runs = sorted(run for output, run in points if output == one and (other, run) in points)
            return [self.by_scores(judge, dimension, one, other, run) for run in runs]
        found = []
        for left, right, outcome in self.fought(judge, dimension):
            if {left, right} == {one, other}:
                found.append(outcome if left == one else mirrored(outcome))
        return found

    def confusion(self, judge: str, dimension: str, votes: list[Row]) -> dict[str, dict[str, int]]:
        """What people said, to what the judge said, to how often, over every vote and every verdict on its pair."""
        found: dict[str, Counter[str]] = defaultdict(Counter)
        for vote in votes:
            words = self.verdicts_on(judge, dimension, vote["left_id"], vote["right_id"])
            found[vote["preference"]].update(words or ["missing"])
        return {said: dict(counts) for said, counts in found.items()}
