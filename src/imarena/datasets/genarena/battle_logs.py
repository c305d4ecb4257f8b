"""Write GenArena's battle and audit logs."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from imarena.core import Archive, outcome_of_both
from imarena.core.records import Judgment, Order, Outcome, Reply, Status
from imarena.datasets.folder import safe_name
from imarena.datasets.genarena.logs import AUDIT, SOURCE, UNRECORDED

_BUFFERED = 500
NO_SCORES = "GenArena has no scores of single images"


@dataclass(frozen=True)
class OutputLocation:
    """The position of an output in a GenArena folder."""

    subset: str
    index: int
    editor: str


@dataclass
class _Pair:
    """The judgment of one pair that counts in each order (see `_keep`)."""

    calls: dict[Order, Judgment] = field(default_factory=dict)


class BattleWriter:
    """Writes judgments as lines: combined verdicts at once, battles of two calls when all calls are known."""

    def __init__(
        self, root: Path, experiment: str, outputs: Mapping[str, OutputLocation], left_out: Counter[tuple[str, str]]
    ) -> None:
        self._root = root
        self._default = experiment
        self._outputs = outputs
        self._left_out = left_out
        self._judges: dict[tuple[str, str], str] = {}
        self._lines: dict[Path, list[str]] = {}
        self._configs: dict[Path, dict[str, str]] = {}

    def write(self, archive: Archive) -> None:
        """Write all pairwise judgments of the exported outputs."""
        uncounted = archive.uncounted_judgments()
        pairs: dict[tuple[Any, ...], _Pair] = {}
        for judgment in archive.records(Judgment):
            why = uncounted.get(judgment.judgment_id, "")
            if judgment.left_id not in self._outputs or why == "superseded":
                continue
            reason = why or self._cannot(judgment)
            if reason:
                self._left_out["judgments", reason] += 1
            elif judgment.order is Order.BOTH and judgment.preference is not None:
                self._line(judgment, judgment.preference, judgment.consistent)
            else:
                key = (judgment.judge, _experiment(judgment), judgment.left_id, judgment.right_id, judgment.repeat)
                _keep(pairs.setdefault(key, _Pair()), judgment)
        self._write_pairs(pairs, archive)
        for path in self._lines:
            self._flush(path)
        for folder, config in self._configs.items():
            (folder / "config.json").write_text(json.dumps(config, indent=1, sort_keys=True), encoding="utf-8")

    def _cannot(self, judgment: Judgment) -> str:
        if judgment.right_id is None:
            return NO_SCORES
        if judgment.right_id not in self._outputs:
            return "the other output was left out"
        if judgment.dimension != "overall":
            return f"GenArena has no dimension '{judgment.dimension}'"
        if judgment.preference is Outcome.BOTH_BAD:
            return "GenArena has no verdict 'both bad'"
        if judgment.order not in (Order.BOTH, Order.LEFT_FIRST, Order.RIGHT_FIRST):
            return "the order shown is not known"
        if judgment.order is Order.BOTH and judgment.status is not Status.OK:
            return f"no verdict ({judgment.status})"
        return ""

    def _write_pairs(self, pairs: Mapping[tuple[Any, ...], _Pair], archive: Archive) -> None:
        reply_ids = {call.reply_id for pair in pairs.values() for call in pair.calls.values() if _is_native(call)}
        raw = {reply.reply_id: reply.raw for reply in archive.records(Reply) if reply.reply_id in reply_ids}
        for pair in pairs.values():
            first, second = pair.calls.get(Order.LEFT_FIRST), pair.calls.get(Order.RIGHT_FIRST)
            if first is None or second is None:
                self._left_out["judgments", "only one order was judged"] += 1
                continue
            outcome = None
            consistent = first.preference is not None and first.preference is second.preference
            if first.preference is not None and second.preference is not None:
                outcome = outcome_of_both(first.preference, second.preference)
                self._line(first, outcome, consistent)
            if _is_native(first) and _is_native(second):
                self._audit(first, second, raw, outcome, consistent)
            elif outcome is None:
                self._left_out["judgments", "a call failed"] += 2

    def _line(self, judgment: Judgment, outcome: Outcome, consistent: bool | None) -> None:
        values, path = self._battle(judgment, outcome)
        self._append(path, {**values, "is_consistent": consistent})

    def _audit(
        self, first: Judgment, second: Judgment, raw: Mapping[str, str], outcome: Outcome | None, consistent: bool
    ) -> None:
        values, path = self._battle(first, outcome)
        calls = [_call(first, raw), _call(second, raw)]
        if values["model_a"] != self._outputs[first.left_id].editor:
            calls.reverse()  # sides are sorted by name, so the other call is the original one
        line = {**values, "original_call": calls[0], "swapped_call": calls[1], "is_consistent": consistent}
        self._append(path.parent / AUDIT / path.name, line)

    def _battle(self, judgment: Judgment, outcome: Outcome | None) -> tuple[dict[str, Any], Path]:
        """The fields that both logs share, and the battle log's path."""
        left, right = self._outputs[judgment.left_id], self._outputs[judgment.right_id or ""]
        if left.editor > right.editor:
            left, right = right, left
            outcome = outcome.mirrored() if outcome is not None else None
        winners = {Outcome.LEFT: left.editor, Outcome.RIGHT: right.editor, Outcome.TIE: "tie", None: None}
        values: dict[str, Any] = {
            "model_a": left.editor,
            "model_b": right.editor,
            "sample_index": left.index,
            "final_winner": winners[outcome],
            "timestamp": judgment.params.get("timestamp") or judgment.created_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        if judgment.repeat:
            values["imarena_repeat"] = judgment.repeat
        folder = self._root / left.subset / "pk_logs" / self._home(judgment, left.subset)
        config = {"prompt": judgment.prompt_id} if judgment.prompt_id else {}
        if judgment.judge != UNRECORDED:
            config["judge_model"] = judgment.judge
        self._configs.setdefault(folder, {**config, "exp_name": folder.name})
        name = f"{safe_name(left.editor)}_vs_{safe_name(right.editor)}"
        return values, folder / f"{name}.jsonl"

    def _home(self, judgment: Judgment, subset: str) -> str:
        """The experiment for a judgment. Each has one judge, because GenArena's lines do not name the judge."""
        experiment = _experiment(judgment) or self._default
        name, number = experiment, 1
        while self._judges.setdefault((subset, name), judgment.judge) != judgment.judge:
            number += 1
            stem, _, date = experiment.rpartition("_")
            name = f"{stem}-judge{number}_{date}"
        return name

    def _append(self, path: Path, line: dict[str, Any]) -> None:
        lines = self._lines.setdefault(path, [])
        lines.append(json.dumps(line, ensure_ascii=False, sort_keys=True))
        if len(lines) >= _BUFFERED:
            self._flush(path)

    def _flush(self, path: Path) -> None:
        if self._lines[path]:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a", encoding="utf-8", newline="\n") as file:
                file.write("\n".join(self._lines[path]) + "\n")
            self._lines[path] = []


def _keep(pair: _Pair, judgment: Judgment) -> None:
    """In each order the first ok answer counts, else the newest failure, as on boards."""
    order = judgment.order or Order.UNKNOWN
    earlier = pair.calls.get(order)
    if earlier is None or earlier.status is not Status.OK:
        pair.calls[order] = judgment


def _experiment(judgment: Judgment) -> str:
    name = judgment.params.get("experiment")
    return name if isinstance(name, str) and safe_name(name) == name else ""


def _is_native(judgment: Judgment) -> bool:
    """Was it imported from a GenArena log, so that its reply is in GenArena's format?"""
    return judgment.origin is not None and judgment.origin.source == SOURCE


def _call(judgment: Judgment, raw: Mapping[str, str]) -> dict[str, Any]:
    ok = judgment.status is Status.OK
    return {
        "raw_response": raw.get(judgment.reply_id or "", ""),
        "parsed_result": None,
        "parse_success": ok,
        "parse_error": None if ok else judgment.error,
    }
