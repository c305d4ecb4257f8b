"""The parts of an instruction and the judge's finding on each: success requires every part checked and done."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pydantic import JsonValue

from imarena.agent.sub_edits import remove_quote_marks, restore_quotes
from imarena.core import Verdict
from imarena.core.records import JsonDict, Status
from imarena.language import read_instruction

DONE_FROM = 0.5
"""Share from which a part counts as done, if a judge gives a share instead of a finding."""


class PartFinding(StrEnum):
    """A judge's finding on one part of an instruction."""

    DONE = "done"
    NOT_DONE = "not done"
    NOT_CHECKED = "not checked"


class Completeness(StrEnum):
    """What is known about a whole instruction."""

    SUCCESS = "success"
    UNCHECKED = "done as far as it could be checked"
    FAILED = "not done"


@dataclass(frozen=True)
class Completion:
    """The parts of an instruction by finding. `approved` is the judge's verdict on the image as a whole."""

    approved: bool | None = None
    """None: the judge gave no verdict, or none was asked."""
    done: tuple[str, ...] = ()
    not_done: tuple[str, ...] = ()
    not_checked: tuple[str, ...] = ()

    @property
    def outcome(self) -> Completeness | None:
        """The result for the whole instruction; None without a verdict."""
        if self.approved is None:
            return None
        if not self.approved or self.not_done:
            return Completeness.FAILED
        return Completeness.UNCHECKED if self.not_checked else Completeness.SUCCESS

    @property
    def final(self) -> bool:
        """Is nothing left to do, as far as the judge can see?"""
        return self.outcome in (Completeness.SUCCESS, Completeness.UNCHECKED)

    def to_json(self) -> JsonDict:
        """The completion as JSON. `success` is null if a part was not checked and no part is known to be missing."""
        success = {Completeness.SUCCESS: True, Completeness.FAILED: False}.get(self.outcome) if self.outcome else None
        return {
            "success": success, "result": self.outcome.value if self.outcome else None, "done": list(self.done),
            "missing": list(self.not_done), "not_checked": list(self.not_checked),
        }  # fmt: skip


def completion_of(verdict: Verdict, instruction: str, success_score: float | None = None) -> Completion:
    """The judge's finding for each part of the instruction.

    `success_score`: the score from which the judge approves the whole. Without findings for the parts, the approval
    counts for an instruction with one part; with several parts, each one is unchecked.
    """
    if verdict.status is not Status.OK:
        return Completion()
    approved = verdict.success
    if success_score is not None:
        approved = verdict.score is not None and verdict.score >= success_score
    parts = tuple(edit.clause for edit in read_instruction(instruction).edits)
    findings = list(_findings(verdict.reasons))
    if approved is None and findings:
        approved = True  # its findings decide
    if not findings and (len(parts) <= 1 or not approved):
        findings = [(part, PartFinding.DONE) for part in parts if approved]  # else the faulty part is unknown
        return _sorted(approved, findings, instruction)
    return _sorted(approved, [*findings, *_unnamed(parts, findings)], instruction)


def _sorted(approved: bool | None, findings: Sequence[tuple[str, PartFinding]], instruction: str) -> Completion:
    def having(finding: PartFinding) -> tuple[str, ...]:
        return tuple(restore_quotes(part, instruction) for part, own in findings if own is finding)

    return Completion(approved, having(PartFinding.DONE), having(PartFinding.NOT_DONE), having(PartFinding.NOT_CHECKED))


def _unnamed(parts: Sequence[str], findings: Sequence[tuple[str, PartFinding]]) -> Iterator[tuple[str, PartFinding]]:
    """Parts without a finding; none if the judge has as many findings as parts, even if it splits them differently."""
    if len(findings) >= len(parts):
        return
    parts_checked = {remove_quote_marks(part) for part, _ in findings}
    yield from ((part, PartFinding.NOT_CHECKED) for part in parts if remove_quote_marks(part) not in parts_checked)


def _findings(reasons: Mapping[str, JsonValue]) -> Iterator[tuple[str, PartFinding]]:
    """The findings of judges that list the parts under `asked`, a check for each under `checks`, and `kept` parts."""
    parts, checks, kept = reasons.get("asked"), reasons.get("checks"), reasons.get("kept")
    if isinstance(parts, list) and isinstance(checks, list) and len(parts) == len(checks):
        for part, check in zip(parts, checks, strict=True):
            if isinstance(part, dict) and isinstance(check, dict):
                yield from _finding(part.get("clause"), check)
    for part in kept if isinstance(kept, list) else ():
        if isinstance(part, dict):
            yield from _finding(part.get("clause"), part)


def _finding(clause: JsonValue, check: Mapping[str, JsonValue]) -> Iterator[tuple[str, PartFinding]]:
    if not isinstance(clause, str) or not clause:
        return
    finding, done = check.get("finding"), check.get("done")
    if finding in list(PartFinding):
        yield clause, PartFinding(str(finding))
    elif isinstance(done, bool):
        yield clause, PartFinding.DONE if done else PartFinding.NOT_DONE
    elif isinstance(done, int | float):
        yield clause, PartFinding.DONE if done >= DONE_FROM else PartFinding.NOT_DONE
    else:
        yield clause, PartFinding.NOT_CHECKED
