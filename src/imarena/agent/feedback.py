"""Ask the judge that drives an agent, and turn its verdict into short feedback for the editor."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from imarena.agent.completion import completion_of
from imarena.agent.sub_edits import clauses_in, restore_quotes
from imarena.core import Exhibit, Judge, Verdict

LONGEST = 400
_TELLING = ("feedback", "suggestion", "reason", "explanation", "comment", "note", "text")
_NOT_DONE = 0.8
_UNTOUCHED = 0.25
_RISE = 0.2
_SMALL = 0.03
_OF_THE_CHANGE = ("edit", "follow", "instruct", "prompt", "success")
"""Parts of the names of dimensions about whether the change was made, not about the quality of the image."""


@dataclass(frozen=True)
class Feedback:
    """What a judge says is wrong: in words and, if it checks each change, which changes are missing."""

    comment: str = ""
    missing: tuple[str, ...] = ()
    """Clauses that are not fully done, in the judge's words. Empty if it does not check each one, or all are done."""
    overlooked: tuple[str, ...] = ()
    """Missing clauses that are at most half as complete as the most complete change."""
    untouched: int = 0
    """Number of changes that have hardly begun."""
    done: tuple[tuple[str, float], ...] = ()
    """How complete each change is, if the judge checks each one."""
    spoilt: bool = False
    """All changes are done, and the judge's lowest score is for the quality of the image."""


def feedback_of(verdict: Verdict, instruction: str = "") -> Feedback:
    """What is missing if the judge checks each change, else its own words, else its weakest dimension.

    `instruction` is the instruction that the judge was given; quoted words are restored from it.
    """
    done = tuple((restore_quotes(clause, instruction), share) for clause, share in _checked(verdict.reasons))
    furthest = max((share for _, share in done), default=0.0)
    open_clauses = [(clause, share) for clause, share in done if share < _NOT_DONE]
    untouched = sum(1 for _, share in done if share < _UNTOUCHED)
    if open_clauses:
        missing = tuple(clause for clause, _ in open_clauses)
        overlooked = tuple(clause for clause, share in open_clauses if share <= furthest / 2)
        return Feedback(_lacking_comment(verdict, instruction, missing), missing, overlooked, untouched, done)
    comments = list(dict.fromkeys(_comments(verdict.reasons)))
    weakest = min(verdict.scores, key=lambda name: verdict.scores[name], default="")
    if not comments and weakest:
        comments = [f"weakest: {weakest.replace('_', ' ')}"]
    spoilt = bool(done and weakest) and not any(part in weakest for part in _OF_THE_CHANGE)
    return Feedback("; ".join(comments)[:LONGEST], done=done, spoilt=spoilt)


def _lacking_comment(verdict: Verdict, instruction: str, missing: tuple[str, ...]) -> str:
    """What the judge finds not done, then what is done but could go further, then what it cannot check."""
    completion = completion_of(verdict, instruction)
    further = tuple(clause for clause in missing if clause in completion.done)
    parts = {
        "not done yet": completion.not_done, "could go further": further, "not checked": completion.not_checked,
    }  # fmt: skip
    return ". ".join(f"{title}: {'; '.join(clauses)}" for title, clauses in parts.items() if clauses)[:LONGEST]


def improved_changes(before: Feedback, after: Feedback, order: str) -> frozenset[str]:
    """The changes that an order asked for and that improved with it; none if it asked for all changes.

    The effect of an order on its own change says more than the score of the whole image, which a judge may lower at
    the same time because it misjudges another change.
    """
    order_clauses = clauses_in(order, tuple(clause for clause, _ in after.done))
    if len(order_clauses) == len(after.done):
        return frozenset()
    was = dict(before.done)
    return frozenset(
        clause for clause, share in after.done if clause in order_clauses and share - was.get(clause, 0.0) >= _RISE
    )


def looks_alike(first: Verdict, second: Verdict) -> bool:
    """Does the judge see no notable difference between two images, in any dimension or any change?"""
    pairs = list(zip(_checked(first.reasons), _checked(second.reasons), strict=False))
    changes = all(abs(a - b) <= _SMALL for (_, a), (_, b) in pairs)
    names = set(first.scores) | set(second.scores)
    scores = [(first.scores.get(name, 0.0), second.scores.get(name, 0.0)) for name in names]
    scores.append((first.score or 0.0, second.score or 0.0))
    return changes and all(abs(a - b) <= _SMALL * max(abs(a), abs(b)) for a, b in scores)


def _checked(reasons: Mapping[str, JsonValue]) -> list[tuple[str, float]]:
    """Clauses and how complete each is, from judges that list clauses under `asked` and their checks under `checks`."""
    parts, checks = reasons.get("asked"), reasons.get("checks")
    if not isinstance(parts, list) or not isinstance(checks, list) or len(parts) != len(checks):
        return []
    checked: list[tuple[str, float]] = []
    for part, check in zip(parts, checks, strict=True):
        if not isinstance(part, dict) or not isinstance(check, dict):
            continue
        clause, done = part.get("clause"), check.get("done")
        if isinstance(clause, str) and clause and isinstance(done, int | float) and not isinstance(done, bool):
            checked.append((clause, float(done)))
    return checked


def _comments(reasons: Mapping[str, JsonValue]) -> list[str]:
    """Strings in fields that usually hold comments; from a list of checks, the notes of those that are not done."""
    comments: list[str] = []
    for name, value in reasons.items():
        if isinstance(value, str) and value.strip() and (name in _TELLING or len(value) > 12):
            comments.append(" ".join(value.split()))
        elif isinstance(value, list):
            for entry in value:
                if isinstance(entry, dict) and not _done(entry):
                    comments += [str(entry[key]) for key in _TELLING if isinstance(entry.get(key), str) and entry[key]]
        elif isinstance(value, dict):
            comments += _comments(value)
    return comments


def _done(entry: Mapping[str, JsonValue]) -> bool:
    done = entry.get("done")
    return isinstance(done, int | float) and not isinstance(done, bool) and done >= _NOT_DONE


async def judge_in_thread(judge: Judge, exhibit: Exhibit) -> Verdict:
    """Ask a judge; one that computes locally runs in a thread, so that other edits continue."""
    if judge.traits.cpu_bound:
        return await asyncio.to_thread(lambda: asyncio.run(judge.judge(exhibit)))
    return await judge.judge(exhibit)
