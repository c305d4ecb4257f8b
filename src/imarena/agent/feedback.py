"""Asking the judge that drives an agent, and turning its verdict into a few words for the editor."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from imarena.agent.orders import with_quotes
from imarena.core.protocols import Exhibit, Judge, Verdict

LONGEST = 400
_TELLING = ("feedback", "suggestion", "reason", "explanation", "comment", "note", "text")
_NOT_DONE = 0.8


@dataclass(frozen=True)
class Feedback:
    """What a judge says is wrong: in words, and where it tells the changes apart, which of them are missing."""

    words: str = ""
    missing: tuple[str, ...] = ()
    """Clauses of the instruction, as the judge names them. Empty: it does not tell them apart, or all are there."""


def feedback_of(verdict: Verdict, instruction: str = "") -> Feedback:
    """What is missing where the judge checks each change, else its own words, else its weakest dimension.

    `instruction` is what the judge was asked about: quoted words come from there.
    """
    missing = tuple(with_quotes(clause, instruction) for clause in _missing(verdict.reasons))
    if missing:
        return Feedback(f"not done yet: {'; '.join(missing)}"[:LONGEST], missing)
    said = list(dict.fromkeys(_said(verdict.reasons)))
    if not said and verdict.scores:
        weakest = min(verdict.scores, key=lambda name: verdict.scores[name])
        said = [f"weakest: {weakest.replace('_', ' ')}"]
    return Feedback("; ".join(said)[:LONGEST])


def _missing(reasons: Mapping[str, JsonValue]) -> tuple[str, ...]:
    """Judges that list what was asked (`asked`, with clauses) beside one check each (`checks`, with `done`)."""
    asked, checks = reasons.get("asked"), reasons.get("checks")
    if not isinstance(asked, list) or not isinstance(checks, list) or len(asked) != len(checks):
        return ()
    found: list[str] = []
    for part, check in zip(asked, checks, strict=True):
        if isinstance(part, dict) and isinstance(check, dict) and isinstance(check.get("done"), int | float):
            clause = part.get("clause")
            if not _done(check) and isinstance(clause, str) and clause:
                found.append(clause)
    return tuple(found)


def _said(reasons: Mapping[str, JsonValue]) -> list[str]:
    """Strings under telling names; of a list of checks, the notes of those that are not done."""
    found: list[str] = []
    for name, value in reasons.items():
        if isinstance(value, str) and value.strip() and (name in _TELLING or len(value) > 12):
            found.append(" ".join(value.split()))
        elif isinstance(value, list):
            for entry in value:
                if isinstance(entry, dict) and not _done(entry):
                    found += [str(entry[key]) for key in _TELLING if isinstance(entry.get(key), str) and entry[key]]
        elif isinstance(value, dict):
            found += _said(value)
    return found


def _done(entry: Mapping[str, JsonValue]) -> bool:
    done = entry.get("done")
    return isinstance(done, int | float) and not isinstance(done, bool) and done >= _NOT_DONE


async def judged(judge: Judge, shown: Exhibit) -> Verdict:
    """Ask a judge; one that computes here does so in a thread, so that other edits go on."""
    if getattr(judge, "cpu_bound", False):
        return await asyncio.to_thread(lambda: asyncio.run(judge.judge(shown)))
    return await judge.judge(shown)
