"""Pair results in the form that GEditBench v2's evaluation writes: one JSON line per pair and dimension."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from imarena.core import Importable, UserError
from imarena.core.records import Judgment, Order, Origin, Outcome, Reply, Status
from imarena.datasets.imported import judgment_facts

UNRECORDED = "geditv2-judge-not-recorded"
CONSISTENCY = "visual_consistency"
DIMENSIONS = {"if": "instruction_following", "vq": "visual_quality", "vc": CONSISTENCY}
_OUTCOMES = {
    "image a": Outcome.LEFT, "a": Outcome.LEFT,
    "image b": Outcome.RIGHT, "b": Outcome.RIGHT,
    "tie": Outcome.TIE, "equal": Outcome.TIE,
}  # fmt: skip
_FAILED = "failed"


def outcome_of(label: Any) -> Outcome | None:
    """The outcome that a label such as `Image A` names, or None."""
    return _OUTCOMES.get(" ".join(label.lower().replace("_", " ").split())) if isinstance(label, str) else None


def is_result(values: Mapping[str, Any]) -> bool:
    """Is the line a judge's answer about a pair, not a list of candidates or metric values?"""
    results = values.get("results")
    return isinstance(results, dict) and "winner" in results


def result_judgment(
    results: Mapping[str, Any], sides: tuple[str, str, str], origin: Origin, dimension: str, judge: str | None
) -> Iterator[Importable]:
    """Yield the raw reply and the judgment on (item, left, right). The pair was judged once, with left shown first.

    These files grow, so the identity is the row's content: `origin` has no file hash.
    """
    item_id, left_id, right_id = sides
    raw, model = _reply(results.get("raw_responses"))
    name = judge or model or UNRECORDED
    facts = judgment_facts(origin, name, item_id, left_id, right_id, Order.LEFT_FIRST, dimension)
    winner = results["winner"]
    outcome = outcome_of(winner)
    failed = winner is None or (isinstance(winner, str) and winner.strip().lower() == _FAILED)
    if outcome is None and not failed:
        raise UserError(f"unknown outcome {winner!r}: expected 'Image A', 'Image B', 'Tie' or 'Failed'")
    if raw:
        reply = Reply(work_id=facts["work_id"], raw=raw, model=model)
        yield reply
        facts["reply_id"] = reply.reply_id
    if outcome is not None:
        yield Judgment(**facts, preference=outcome)
    else:
        status = Status.UNPARSABLE if raw else Status.API_ERROR
        yield Judgment(**facts, status=status, error="the source recorded 'Failed'")


def _reply(responses: Any) -> tuple[str, str]:
    """The judge's raw text and the model's name, if they were recorded."""
    if not isinstance(responses, dict):
        return "", ""
    entry = responses.get("pair-judge")
    if not isinstance(entry, dict):
        return "", ""
    value, meta = entry.get("value"), entry.get("meta")
    model = meta.get("model") if isinstance(meta, dict) else None
    raw = value if isinstance(value, str) else "" if value is None else json.dumps(value, sort_keys=True)
    return raw, model if isinstance(model, str) else ""
