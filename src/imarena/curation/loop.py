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
from imarena.curation.near_duplicates import DuplicateIndex, NearDuplicate, caption_similarity
from imarena.curation.perception import Perception
from imarena.curation.planner import Candidate, CurationPlanner
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
    planner: CurationPlanner
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
        if not brief.english and not self._tools.planner.reads_all_languages and not brief.request.keywords:
            return self._result((), 0, "the instruction is not in English, and no model was given that reads it")
        pool: list[CandidateRecord] = []
        number = 0
        limit = 1 if brief.request.keywords else settings.rounds  # a person's keywords are never changed
        while number < limit:
            number += 1
            queries = await self._plan(number)
            if not queries:
                return self._result(pool, number, "the instruction gives no words to search for")
            empty, new = await self._search(number, queries)
            for result, query in new:
                await self._examine(number, result, query)
            pool = self._choose()
            if len(pool) >= settings.pool:
                return self._result(pool, number)
            if number < limit:
                self._memory.append(await self._reflect(number, empty))
        least = least_long_side(settings, brief.needs)
        why = explain_shortage(tuple(self._records.values()), settings.pool, number, least, brief.request.task)
        return self._result(pool, number, why)

    # ------------------------------------------------------------------ single steps

    async def _plan(self, number: int) -> tuple[ImageQuery, ...]:
        digest = sha256_hex(repr([entry.to_json() for entry in self._memory]).encode())[:12]
        call = f"plan {number} {digest}"
        entry = self._journal.find(call)
        if entry is None:
            plan = await self._tools.planner.plan(self._brief, self._memory, self._settings.queries)
            queries: list[Any] = [
                {"text": query.text, "exclude": list(query.exclude), "aspect": query.aspect} for query in plan.queries
            ]
            entry = self._note(call, {"step": "plan", "round": number, "queries": queries, "note": plan.note},
                               cost_usd=plan.cost_usd)  # fmt: skip
        rows: Any = entry.value["queries"]
        return tuple(ImageQuery(row["text"], tuple(row["exclude"]), row["aspect"]) for row in rows)

    async def _search(
        self, number: int, queries: Sequence[ImageQuery]
    ) -> tuple[list[str], list[tuple[FoundImage, ImageQuery]]]:
        calls = [(source, query) for query in queries for source in self._tools.sources]
        answers = await asyncio.gather(*(self._results(number, source, query) for source, query in calls))
        empty = [str(query) for (_, query), results in zip(calls, answers, strict=True) if results == ()]
        new: dict[tuple[str, str], tuple[FoundImage, ImageQuery]] = {}
        for (_, query), results in zip(calls, answers, strict=True):
            for result in results or ():
                key = (result.source, result.key)
                if key not in self._records_by_place:
                    new.setdefault(key, (result, query))
        return empty, list(new.values())

    async def _results(self, number: int, source: ImageSource, query: ImageQuery) -> tuple[FoundImage, ...] | None:
        """None if the source gave no answer."""
        call = f"search {source.identity} {query}"
        entry = self._journal.find(call)
        if entry is None:
            step: JsonDict = {"step": "search", "round": number, "source": source.name, "query": str(query)}
            try:
                results = await source.search(query, self._settings.results_per_query)
            except SourceFailure as error:
                self._fail(call, step, error)
                return None
            entry = self._note(call, {**step, "aspect": query.aspect, "results": [hit.to_json() for hit in results]})
        rows: Any = entry.value["results"]
        return tuple(FoundImage.from_json(row) for row in rows)

    async def _examine(self, number: int, result: FoundImage, query: ImageQuery) -> None:
        """Licence, download, file, damage, caption, score: the first refusal ends the sequence."""
        record = CandidateRecord(result, number, str(query), "refused")
        entry = self._journal.find(f"refused {result.source} {result.key}")
        if entry is not None:
            known_sha, code = str(entry.value["sha256"]), str(entry.value["code"])
            self._keep(replace(record, reason=str(entry.value["reason"]), code=code, sha256=known_sha))
            return
        try:
            flags = check_licence(result)
            data, value = await self._image(number, result)
            record = replace(
                record, sha256=str(value["sha256"]), original_sha256=str(value["original_sha256"]),
                width=int(value["width"]), height=int(value["height"]),
            )  # fmt: skip
            if record.sha256 in self._scored:
                self._keep(replace(record, outcome="duplicate", reason="the same file as another candidate"))
                return
            perception, fingerprint = self._tools.look(data)
            flags += review_flags(perception, f"{result.title} {result.text}")
            record = replace(record, flags=flags)
            refuse_damage(perception, self._settings, self._brief.needs)
        except Refused as error:
            self._keep(replace(record, reason=str(error).splitlines()[0], code=error.code))
            self._note_refusal(number, record, error)
            return
        except SourceFailure as error:
            self._keep(replace(record, outcome="failed", reason=str(error).splitlines()[0]))
            self._fail(f"image {result.source} {result.key}", {"step": "image", "round": number,
                       "found": result.to_json()}, error)  # fmt: skip
            return
        await self._judge(Candidate(result, data, perception), record, fingerprint)

    async def _image(self, number: int, result: FoundImage) -> tuple[bytes, Any]:
        call = f"image {result.source} {result.key} {result.address}"
        entry = self._journal.find(call)
        if entry is not None and entry.image is not None:
            return entry.image, entry.value
        source = next(source for source in self._tools.sources if source.name == result.source)
        normal = check_file(await source.load(result), self._settings, self._brief.needs)
        value: JsonDict = {
            "step": "image", "round": number, "found": result.to_json(), "sha256": sha256_hex(normal.data),
            "original_sha256": normal.original_sha256, "width": normal.width, "height": normal.height,
            "converted": normal.converted,
        }  # fmt: skip
        self._note(call, value, image=normal.data)
        return normal.data, value

    async def _judge(self, candidate: Candidate, record: CandidateRecord, fingerprint: Fingerprint) -> None:
        planner = self._tools.planner
        call = f"caption {planner.name} {record.sha256} {candidate.text}"
        entry = self._journal.find(call)
        if entry is None:
            caption = await planner.caption(candidate)
            entry = self._note(call, {"step": "caption", "round": record.round, "sha256": record.sha256,
                               "caption": caption.text, "note": caption.note}, cost_usd=caption.cost_usd)  # fmt: skip
        record = replace(record, caption=str(entry.value["caption"]))
        call = f"score {planner.name} {record.sha256} {sha256_hex(record.caption.encode())[:12]}"
        entry = self._journal.find(call)
        if entry is None:
            answer = await planner.score(self._brief, candidate, record.caption)
            step: JsonDict = {"step": "score", "round": record.round, "sha256": record.sha256}
            if answer.status is not Status.OK or answer.score is None:
                self._keep(replace(record, outcome="failed", reason=f"no score: {answer.error or answer.status.value}"))
                self._fail(call, step, SourceFailure(f"no score ({answer.status.value}): {answer.error}"))
                return
            entry = self._note(call, {**step, **answer.score.to_json()}, cost_usd=answer.cost_usd)
        parts: Any = entry.value["parts"]
        value: Any = entry.value["score"]
        score = ImageScore(float(value), dict(parts), str(entry.value.get("note") or ""))
        record = replace(record, outcome="below", score=score.value, parts=score.parts)
        self._keep(record)
        self._scored[record.sha256] = (record, Scored(candidate.seen, score, candidate.text), fingerprint)

    def _choose(self) -> list[CandidateRecord]:
        """The best images above the threshold, without near-duplicates of each other or of the benchmark.

        For equal scores, images whose description (or else file name) names the instruction's things come first.
        """
        settings = self._settings
        index = DuplicateIndex(settings.hash_distance, settings.duplicate_likeness)
        pool: list[CandidateRecord] = []
        above = [entry for entry in self._scored.values() if (entry[0].score or 0.0) >= settings.threshold]
        for record, _, fingerprint in sorted(above, key=lambda entry: self._order(entry[0])):
            near = index.search(fingerprint) or self._tools.benchmark(fingerprint)
            if near:
                why = f"near-duplicate of {near[0].key} (likeness {near[0].likeness:.2f})"
                self._keep(replace(record, outcome="duplicate", reason=why))
                continue
            close = [other for other in pool if caption_similarity(other.caption, record.caption)
                     >= settings.caption_similarity]  # fmt: skip
            flags = (
                (*record.flags, "similar_caption") if close and "similar_caption" not in record.flags else record.flags
            )
            record = replace(record, outcome="pooled", flags=flags)  # noqa: PLW2901
            index.add(f"{record.found.source}/{record.found.key}", fingerprint)
            self._keep(record)
            pool.append(record)
        return pool

    def _order(self, record: CandidateRecord) -> tuple[float, int, str]:
        result = record.found
        n_named = text_evidence(self._brief, stated_text(result), path_words(result.key))
        return -(record.score or 0.0), -n_named, record.sha256

    async def _reflect(self, number: int, empty: Sequence[str]) -> Reflection:
        below = [scored for record, scored, _ in self._scored.values() if record.score is not None
                 and record.score < self._settings.threshold]  # fmt: skip
        inputs = sorted(f"{sha} {record.score}" for sha, (record, _, _) in self._scored.items())
        call = f"reflect {number} {sha256_hex(repr((inputs, sorted(empty))).encode())[:12]}"
        entry = self._journal.find(call)
        if entry is None:
            answer = await self._tools.planner.reflect(self._brief, number, below, empty)
            entry = self._note(call, {"step": "reflect", **answer.reflection.to_json()}, cost_usd=answer.cost_usd)
        return read_reflection(entry.value)

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

    def _result(self, pool: Sequence[CandidateRecord], rounds: int, review: str = "") -> CurationResult:
        return CurationResult(
            self._brief, tuple(pool[: self._settings.pool]), tuple(self._records.values()), tuple(self._memory),
            rounds, review, tuple(dict.fromkeys(self._failures)), self._cost_usd,
        )  # fmt: skip
