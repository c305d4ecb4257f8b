"""The closed loop for one instruction: plan, search, check, score, pool; reflect until the pool is full.

Every step is written to a journal before the next begins. After a kill, the run reads the journal first, so nothing is
searched, downloaded or paid for twice; failures are not stored as answers and are tried again.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from imarena.core import (
    FoundImage,
    ImageQuery,
    ImageSource,
    Journal,
    JournalEntry,
    JsonDict,
    SourceFailure,
    sha256_hex,
)
from imarena.core.records import Status
from imarena.curation.brief import ImageBrief
from imarena.curation.candidate_record import CandidateRecord, explain_shortage
from imarena.curation.checks import Refused, check_file, check_licence, least_long_side
from imarena.curation.file_names import path_words, stated_text
from imarena.curation.filters import refuse_damage, review_flags
from imarena.curation.fingerprint import Fingerprint
from imarena.curation.mind import Candidate, CurationMind
from imarena.curation.near_duplicates import DuplicateIndex, NearDuplicate, caption_similarity
from imarena.curation.perception import Perception
from imarena.curation.reflection import Reflection, Scored, read_reflection
from imarena.curation.scoring import ImageScore, text_evidence
from imarena.curation.settings import CurationSettings

LookAt = Callable[[bytes], tuple[Perception, Fingerprint]]
"""Perception and fingerprint of an encoded image; the caller may cache them by content."""


@dataclass(frozen=True)
class CurationResult:
    """The result for one instruction."""

    brief: ImageBrief
    pool: tuple[CandidateRecord, ...]
    """The best K_p, the highest score first."""
    candidates: tuple[CandidateRecord, ...]
    reflections: tuple[Reflection, ...]
    rounds: int
    review: str = ""
    """Why a person has to take over; empty if the pool is full."""
    failures: tuple[str, ...] = ()
    """Failed searches and downloads."""
    cost_usd: float = 0.0


@dataclass(frozen=True)
class CurationTools:
    """The tools that the loop uses."""

    sources: Sequence[ImageSource]
    mind: CurationMind
    look: LookAt
    benchmark: Callable[[Fingerprint], Sequence[NearDuplicate]]
    """Finds near-duplicates among the images of the benchmark."""


class CurationLoop:
    """The loop for one instruction."""

    def __init__(self, brief: ImageBrief, tools: CurationTools, settings: CurationSettings, journal: Journal) -> None:
        self._brief = brief
        self._tools = tools
        self._settings = settings
        self._journal = journal
        self._records: dict[str, CandidateRecord] = {}
        self._scored: dict[str, tuple[CandidateRecord, Scored, Fingerprint]] = {}
        self._failures: list[str] = []
        self._memory: list[Reflection] = []
        self._cost_usd = 0.0

    async def run(self) -> CurationResult:
        """Run rounds until the pool is full or the budget T is used up."""
        brief, settings = self._brief, self._settings
        if not brief.english and not self._tools.mind.reads_all_languages and not brief.request.keywords:
            return self._result((), 0, "the instruction is not in English, and no model was given that reads it")
        chosen: list[CandidateRecord] = []
        number = 0
        limit = 1 if brief.request.keywords else settings.rounds  # a person's keywords are never changed
        while number < limit:
            number += 1
            queries = await self._plan(number)
            if not queries:
                return self._result(chosen, number, "the instruction gives no words to search for")
            empty, new = await self._search(number, queries)
            for found, query in new:
                await self._examine(number, found, query)
            chosen = self._choose()
            if len(chosen) >= settings.pool:
                return self._result(chosen, number)
            if number < limit:
                self._memory.append(await self._reflect(number, empty))
        least = least_long_side(settings, brief.needs)
        why = explain_shortage(tuple(self._records.values()), settings.pool, number, least, brief.request.task)
        return self._result(chosen, number, why)

    # ------------------------------------------------------------------ single steps

    async def _plan(self, number: int) -> tuple[ImageQuery, ...]:
        digest = sha256_hex(repr([entry.to_json() for entry in self._memory]).encode())[:12]
        call = f"plan {number} {digest}"
        known = self._journal.find(call)
        if known is None:
            plan = await self._tools.mind.plan(self._brief, self._memory, self._settings.queries)
            queries: list[Any] = [
                {"text": query.text, "exclude": list(query.exclude), "aspect": query.aspect} for query in plan.queries
            ]
            known = self._note(call, {"step": "plan", "round": number, "queries": queries, "note": plan.note},
                               cost_usd=plan.cost_usd)  # fmt: skip
        listed: Any = known.value["queries"]
        return tuple(ImageQuery(each["text"], tuple(each["exclude"]), each["aspect"]) for each in listed)

    async def _search(
        self, number: int, queries: Sequence[ImageQuery]
    ) -> tuple[list[str], list[tuple[FoundImage, ImageQuery]]]:
        asked = [(source, query) for query in queries for source in self._tools.sources]
        answers = await asyncio.gather(*(self._results(number, source, query) for source, query in asked))
        empty = [str(query) for (_, query), results in zip(asked, answers, strict=True) if results == ()]
        new: dict[tuple[str, str], tuple[FoundImage, ImageQuery]] = {}
        for (_, query), results in zip(asked, answers, strict=True):
            for found in results or ():
                key = (found.source, found.key)
                if key not in self._records_by_place:
                    new.setdefault(key, (found, query))
        return empty, list(new.values())

    async def _results(self, number: int, source: ImageSource, query: ImageQuery) -> tuple[FoundImage, ...] | None:
        """None if the source gave no answer."""
        call = f"search {source.identity} {query}"
        known = self._journal.find(call)
        if known is None:
            step: JsonDict = {"step": "search", "round": number, "source": source.name, "query": str(query)}
            try:
                results = await source.search(query, self._settings.results_per_query)
            except SourceFailure as error:
                self._fail(call, step, error)
                return None
            known = self._note(call, {**step, "aspect": query.aspect, "results": [each.to_json() for each in results]})
        listed: Any = known.value["results"]
        return tuple(FoundImage.from_json(each) for each in listed)

    async def _examine(self, number: int, found: FoundImage, query: ImageQuery) -> None:
        """Licence, download, file, damage, caption, score: the first refusal ends the sequence."""
        record = CandidateRecord(found, number, str(query), "refused")
        known = self._journal.find(f"refused {found.source} {found.key}")
        if known is not None:
            known_sha, code = str(known.value["sha256"]), str(known.value["code"])
            self._keep(replace(record, reason=str(known.value["reason"]), code=code, sha256=known_sha))
            return
        try:
            flags = check_licence(found)
            data, value = await self._image(number, found)
            record = replace(
                record, sha256=str(value["sha256"]), original_sha256=str(value["original_sha256"]),
                width=int(value["width"]), height=int(value["height"]),
            )  # fmt: skip
            if record.sha256 in self._scored:
                self._keep(replace(record, outcome="duplicate", reason="the same file as another candidate"))
                return
            seen, fingerprint = self._tools.look(data)
            flags += review_flags(seen, f"{found.title} {found.text}")
            record = replace(record, flags=flags)
            refuse_damage(seen, self._settings, self._brief.needs)
        except Refused as error:
            self._keep(replace(record, reason=str(error).splitlines()[0], code=error.code))
            self._note_refusal(number, record, error)
            return
        except SourceFailure as error:
            self._keep(replace(record, outcome="failed", reason=str(error).splitlines()[0]))
            self._fail(f"image {found.source} {found.key}", {"step": "image", "round": number,
                       "found": found.to_json()}, error)  # fmt: skip
            return
        await self._judge(Candidate(found, data, seen), record, fingerprint)

    async def _image(self, number: int, found: FoundImage) -> tuple[bytes, Any]:
        call = f"image {found.source} {found.key} {found.address}"
        known = self._journal.find(call)
        if known is not None and known.image is not None:
            return known.image, known.value
        source = next(each for each in self._tools.sources if each.name == found.source)
        normal = check_file(await source.load(found), self._settings, self._brief.needs)
        value: JsonDict = {
            "step": "image", "round": number, "found": found.to_json(), "sha256": sha256_hex(normal.data),
            "original_sha256": normal.original_sha256, "width": normal.width, "height": normal.height,
            "converted": normal.converted,
        }  # fmt: skip
        self._note(call, value, image=normal.data)
        return normal.data, value

    async def _judge(self, candidate: Candidate, record: CandidateRecord, fingerprint: Fingerprint) -> None:
        mind = self._tools.mind
        call = f"caption {mind.name} {record.sha256} {candidate.text}"
        known = self._journal.find(call)
        if known is None:
            caption = await mind.caption(candidate)
            known = self._note(call, {"step": "caption", "round": record.round, "sha256": record.sha256,
                               "caption": caption.text, "note": caption.note}, cost_usd=caption.cost_usd)  # fmt: skip
        record = replace(record, caption=str(known.value["caption"]))
        call = f"score {mind.name} {record.sha256} {sha256_hex(record.caption.encode())[:12]}"
        known = self._journal.find(call)
        if known is None:
            answer = await mind.score(self._brief, candidate, record.caption)
            step: JsonDict = {"step": "score", "round": record.round, "sha256": record.sha256}
            if answer.status is not Status.OK or answer.score is None:
                self._keep(replace(record, outcome="failed", reason=f"no score: {answer.error or answer.status.value}"))
                self._fail(call, step, SourceFailure(f"no score ({answer.status.value}): {answer.error}"))
                return
            known = self._note(call, {**step, **answer.score.to_json()}, cost_usd=answer.cost_usd)
        parts: Any = known.value["parts"]
        value: Any = known.value["score"]
        score = ImageScore(float(value), dict(parts), str(known.value.get("note") or ""))
        record = replace(record, outcome="below", score=score.value, parts=score.parts)
        self._keep(record)
        self._scored[record.sha256] = (record, Scored(candidate.seen, score, candidate.text), fingerprint)

    def _choose(self) -> list[CandidateRecord]:
        """The best images above the threshold, without near-duplicates of each other or of the benchmark.

        For equal scores, images whose description (or else file name) names the instruction's things come first.
        """
        settings = self._settings
        mine = DuplicateIndex(settings.hash_distance, settings.duplicate_likeness)
        chosen: list[CandidateRecord] = []
        above = [each for each in self._scored.values() if (each[0].score or 0.0) >= settings.threshold]
        for record, _, fingerprint in sorted(above, key=lambda each: self._order(each[0])):
            near = mine.search(fingerprint) or self._tools.benchmark(fingerprint)
            if near:
                why = f"near-duplicate of {near[0].key} (likeness {near[0].likeness:.2f})"
                self._keep(replace(record, outcome="duplicate", reason=why))
                continue
            alike = [other for other in chosen if caption_similarity(other.caption, record.caption)
                     >= settings.caption_similarity]  # fmt: skip
            flags = (
                (*record.flags, "similar_caption") if alike and "similar_caption" not in record.flags else record.flags
            )
            record = replace(record, outcome="pooled", flags=flags)  # noqa: PLW2901
            mine.add(f"{record.found.source}/{record.found.key}", fingerprint)
            self._keep(record)
            chosen.append(record)
        return chosen

    def _order(self, record: CandidateRecord) -> tuple[float, int, str]:
        found = record.found
        named = text_evidence(self._brief, stated_text(found), path_words(found.key))
        return -(record.score or 0.0), -named, record.sha256

    async def _reflect(self, number: int, empty: Sequence[str]) -> Reflection:
        below = [scored for record, scored, _ in self._scored.values() if record.score is not None
                 and record.score < self._settings.threshold]  # fmt: skip
        inputs = sorted(f"{sha} {record.score}" for sha, (record, _, _) in self._scored.items())
        call = f"reflect {number} {sha256_hex(repr((inputs, sorted(empty))).encode())[:12]}"
        known = self._journal.find(call)
        if known is None:
            answer = await self._tools.mind.reflect(self._brief, number, below, empty)
            known = self._note(call, {"step": "reflect", **answer.reflection.to_json()}, cost_usd=answer.cost_usd)
        return read_reflection(known.value)

    # ------------------------------------------------------------------ storing

    @property
    def _records_by_place(self) -> frozenset[tuple[str, str]]:
        return frozenset(
            (record.found.source, record.found.key) for record in self._records.values() if record.outcome != "failed"
        )

    def _keep(self, record: CandidateRecord) -> None:
        self._records[f"{record.found.source} {record.found.key}"] = record

    def _note(self, call: str, value: JsonDict, *, image: bytes | None = None, cost_usd: float = 0.0) -> JournalEntry:
        entry = JournalEntry(value, image, cost_usd)
        self._journal.note(call, entry)
        self._cost_usd += cost_usd
        return entry

    def _note_refusal(self, number: int, record: CandidateRecord, error: Refused) -> None:
        call = f"refused {record.found.source} {record.found.key}"
        if self._journal.find(call) is None:
            value: JsonDict = {
                "step": "refused", "round": number, "found": record.found.to_json(), "code": error.code,
                "reason": str(error).splitlines()[0], "sha256": record.sha256,
            }  # fmt: skip
            self._note(call, value)

    def _fail(self, call: str, step: JsonDict, error: SourceFailure) -> None:
        text = str(error).splitlines()[0]
        self._failures.append(text)
        self._journal.note(call, JournalEntry({**step, "failed": text, "retriable": error.retriable}, ok=False))

    def _result(self, chosen: Sequence[CandidateRecord], rounds: int, review: str = "") -> CurationResult:
        return CurationResult(
            self._brief, tuple(chosen[: self._settings.pool]), tuple(self._records.values()), tuple(self._memory),
            rounds, review, tuple(dict.fromkeys(self._failures)), self._cost_usd,
        )  # fmt: skip
