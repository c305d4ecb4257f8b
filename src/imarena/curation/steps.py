"""The stored steps of a piece of work, and the two questions about an image: a caption, then a score.

Every step is written to a journal before the next begins, so nothing is searched, downloaded or paid for twice. A
failure is not stored as an answer: the next run tries again.
"""

import asyncio
from dataclasses import replace

from imarena.core import Journal, JournalEntry, JsonDict, SourceFailure, first_line, sha256_hex
from imarena.core.records import Status
from imarena.curation.brief import ImageBrief
from imarena.curation.candidate_record import CandidateRecord
from imarena.curation.planner import Candidate, CurationPlanner
from imarena.curation.scoring import ImageScore


class CurationSteps:
    """Finds and stores steps, in threads."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def find(self, call: str) -> JournalEntry | None:
        """Return the stored answer to a call."""
        return await asyncio.to_thread(_answer, self._journal, call)

    async def note(
        self, call: str, value: JsonDict, *, image: bytes | None = None, cost_usd: float = 0.0
    ) -> JournalEntry:
        """Store an answer."""
        entry = JournalEntry(value, image, cost_usd)
        await asyncio.to_thread(self._journal.note, call, entry)
        return entry

    async def fail(self, call: str, step: JsonDict, error: SourceFailure, cost_usd: float = 0.0) -> None:
        """Store a failure; an unusable reply was paid for, too."""
        value: JsonDict = {**step, "failed": first_line(error), "retriable": error.retriable}
        await asyncio.to_thread(self._journal.note, call, JournalEntry(value, None, cost_usd, ok=False))


async def rate_image(
    planner: CurationPlanner, steps: CurationSteps, brief: ImageBrief, candidate: Candidate, record: CandidateRecord
) -> tuple[CandidateRecord, ImageScore]:
    """Caption and score an image that passed the checks. Raises `SourceFailure` without a score."""
    step: JsonDict = {"round": record.round, "sha256": record.sha256}
    call = _caption_call(planner, candidate, record.sha256)
    entry = await steps.find(call)
    if entry is None:
        caption = await planner.caption(candidate)
        value: JsonDict = {"step": "caption", **step, "caption": caption.text, "note": caption.note}
        entry = await steps.note(call, value, cost_usd=caption.cost_usd)
    record = replace(record, caption=str(entry.value["caption"]))
    call = _score_call(planner, record.sha256, record.caption)
    entry = await steps.find(call)
    if entry is None:
        answer = await planner.score(brief, candidate, record.caption)
        if answer.status is not Status.OK or answer.score is None:
            failure = SourceFailure(f"no score ({answer.status.value}): {answer.error}")
            await steps.fail(call, {"step": "score", **step}, failure, answer.cost_usd)
            raise failure
        entry = await steps.note(call, {"step": "score", **step, **answer.score.to_json()}, cost_usd=answer.cost_usd)
    score = ImageScore.from_json(entry.value)
    return replace(record, score=score.value, parts=score.parts), score


def open_questions(planner: CurationPlanner, journal: Journal, candidate: Candidate, sha256: str) -> tuple[str, ...]:
    """Return the questions of `rate_image` that have no stored answer, by the names of their prompts."""
    caption = _answer(journal, _caption_call(planner, candidate, sha256))
    if caption is None:
        return ("caption", "score")
    score = _answer(journal, _score_call(planner, sha256, str(caption.value["caption"])))
    return () if score else ("score",)


def _answer(journal: Journal, call: str) -> JournalEntry | None:
    entry = journal.find(call)
    return None if entry is None or "failed" in entry.value else entry


def _caption_call(planner: CurationPlanner, candidate: Candidate, sha256: str) -> str:
    return f"caption {planner.name} {sha256} {candidate.text}"


def _score_call(planner: CurationPlanner, sha256: str, caption: str) -> str:
    return f"score {planner.name} {sha256} {sha256_hex(caption.encode())[:12]}"
