"""The closed loop for one instruction: plan, search, check, score, pool; reflect until the pool is full.

The images of other instructions decide only whether a pool is full, and so how many rounds there are: the questions of
a round do not depend on them. So instructions are asked concurrently, and decided in their order (`result`).
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from imarena.core import FoundImage, ImageQuery, ImageSource, Journal, JsonDict, SourceFailure, first_line, sha256_hex
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
from imarena.curation.scoring import text_evidence
from imarena.curation.settings import CurationSettings
from imarena.curation.steps import CurationSteps, rate_image

LookAt = Callable[[bytes], tuple[Perception, Fingerprint]]
"""Perception and fingerprint of an encoded image; the caller may cache them by content."""


@dataclass(frozen=True)
class CurationResult:
    """The result for one instruction."""

    pool: tuple[CandidateRecord, ...]
    """The best K_p, the highest score first."""
    candidates: tuple[CandidateRecord, ...]
    rounds: int
    review: str = ""
    """Why a person has to take over; empty if the pool is full."""
    failures: tuple[str, ...] = ()
    """Failed searches and downloads."""
    more: bool = False
    """The pool is not full, and another round may fill it."""


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
        self._steps = CurationSteps(journal)
        self._records: dict[str, CandidateRecord] = {}
        self._scored: dict[str, tuple[CandidateRecord, Scored, Fingerprint]] = {}
        self._failures: list[str] = []
        self._memory: list[Reflection] = []
        self._empty: list[str] = []
        self._round = 0
        self._limit = 1 if brief.request.keywords else settings.rounds  # a person's keywords are never changed
        self._ended = ""
        """Why there is no further round before the limit."""
        if not brief.english and not tools.planner.reads_all_languages and not brief.request.keywords:
            self._ended = "the instruction is not in English, and no model was given that reads it"

    async def run(self, *, another: bool = False) -> CurationResult:
        """Run rounds until the pool is full or the budget T is used up. `another`: at least one, even if it is full."""
        result = await asyncio.to_thread(self.result)
        while result.more or another:
            another = False
            await self._next_round()
            result = await asyncio.to_thread(self.result)
        return result

    def result(self) -> CurationResult:
        """Choose from the images of as few rounds as needed, beside those that the benchmark has now."""
        pool: list[CandidateRecord] = []
        for number in range(1, self._round + 1):
            pool = self._choose(number)
            if len(pool) >= self._settings.pool:
                return self._result(pool, number)
        if self._round < self._limit and not self._ended:
            return self._result(pool, self._round, more=True)
        least = least_long_side(self._settings, self._brief.needs)
        records = tuple(self._records.values())
        why = explain_shortage(records, self._settings.pool, self._round, least, self._brief.request.task)
        return self._result(pool, self._round, self._ended or why)

    async def _next_round(self) -> None:
        if self._round:
            self._memory.append(await self._reflect(self._round, self._empty))
        self._round += 1
        queries = await self._plan(self._round)
        if not queries:
            self._ended = "the instruction gives no words to search for"
            return
        self._empty, new = await self._search(self._round, queries)
        for result, query in new:
            await self._examine(self._round, result, query)

    # ------------------------------------------------------------------ single steps

    async def _plan(self, number: int) -> tuple[ImageQuery, ...]:
        digest = sha256_hex(repr([entry.to_json() for entry in self._memory]).encode())[:12]
        call = f"plan {number} {digest}"
        entry = await self._steps.find(call)
        if entry is None:
            plan = await self._tools.planner.plan(self._brief, self._memory, self._settings.queries)
            queries: list[Any] = [
                {"text": query.text, "exclude": list(query.exclude), "aspect": query.aspect} for query in plan.queries
            ]
            step: JsonDict = {"step": "plan", "round": number, "queries": queries, "note": plan.note}
            entry = await self._steps.note(call, step, cost_usd=plan.cost_usd)
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
        entry = await self._steps.find(call)
        if entry is None:
            step: JsonDict = {"step": "search", "round": number, "source": source.name, "query": str(query)}
            try:
                results = await source.search(query, self._settings.results_per_query)
            except SourceFailure as error:
                await self._fail(call, step, error)
                return None
            found: list[Any] = [hit.to_json() for hit in results]
            entry = await self._steps.note(call, {**step, "aspect": query.aspect, "results": found})
        rows: Any = entry.value["results"]
        return tuple(FoundImage.from_json(row) for row in rows)

    async def _examine(self, number: int, result: FoundImage, query: ImageQuery) -> None:
        """Licence, download, file, damage, caption, score: the first refusal ends the sequence."""
        record = CandidateRecord(result, number, str(query), "refused")
        entry = await self._steps.find(f"refused {result.source} {result.key}")
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
            perception, fingerprint = await asyncio.to_thread(self._tools.look, data)
            flags += review_flags(perception, f"{result.title} {result.text}")
            record = replace(record, flags=flags)
            refuse_damage(perception, self._settings, self._brief.needs)
        except Refused as error:
            await self._refuse(replace(record, reason=first_line(error), code=error.code))
            return
        except SourceFailure as error:
            self._keep(replace(record, outcome="failed", reason=first_line(error)))
            step: JsonDict = {"step": "image", "round": number, "found": result.to_json()}
            await self._fail(f"image {result.source} {result.key}", step, error)
            return
        candidate = Candidate(result, data, perception)
        try:
            record, score = await rate_image(self._tools.planner, self._steps, self._brief, candidate, record)
        except SourceFailure as error:
            self._keep(replace(record, outcome="failed", reason=first_line(error)))
            self._failures.append(first_line(error))
            return
        record = replace(record, outcome="below")
        self._keep(record)
        self._scored[record.sha256] = (record, Scored(candidate.seen, score, candidate.text), fingerprint)

    async def _image(self, number: int, result: FoundImage) -> tuple[bytes, Any]:
        call = f"image {result.source} {result.key} {result.address}"
        entry = await self._steps.find(call)
        if entry is not None and entry.image is not None:
            return entry.image, entry.value
        source = next(source for source in self._tools.sources if source.name == result.source)
        normal = await asyncio.to_thread(check_file, await source.load(result), self._settings, self._brief.needs)
        value: JsonDict = {
            "step": "image", "round": number, "found": result.to_json(), "sha256": sha256_hex(normal.data),
            "original_sha256": normal.original_sha256, "width": normal.width, "height": normal.height,
            "converted": normal.converted,
        }  # fmt: skip
        await self._steps.note(call, value, image=normal.data)
        return normal.data, value

    def _choose(self, rounds: int) -> list[CandidateRecord]:
        """The best images above the threshold, without near-duplicates of each other or of the benchmark.

        For equal scores, images whose description (or else file name) names the instruction's things come first.
        """
        settings = self._settings
        index = DuplicateIndex(settings.hash_distance, settings.duplicate_likeness)
        pool: list[CandidateRecord] = []
        above = [entry for entry in self._scored.values()
                 if entry[0].round <= rounds and (entry[0].score or 0.0) >= settings.threshold]  # fmt: skip
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
        entry = await self._steps.find(call)
        if entry is None:
            answer = await self._tools.planner.reflect(self._brief, number, below, empty)
            step: JsonDict = {"step": "reflect", **answer.reflection.to_json()}
            entry = await self._steps.note(call, step, cost_usd=answer.cost_usd)
        return read_reflection(entry.value)

    # ------------------------------------------------------------------ storing

    @property
    def _records_by_place(self) -> frozenset[tuple[str, str]]:
        return frozenset(
            (record.found.source, record.found.key) for record in self._records.values() if record.outcome != "failed"
        )

    def _keep(self, record: CandidateRecord) -> None:
        self._records[f"{record.found.source} {record.found.key}"] = record

    async def _refuse(self, record: CandidateRecord) -> None:
        self._keep(record)
        found = record.found
        value: JsonDict = {
            "step": "refused", "round": record.round, "found": found.to_json(), "code": record.code,
            "reason": record.reason, "sha256": record.sha256,
        }  # fmt: skip
        await self._steps.note(f"refused {found.source} {found.key}", value)

    async def _fail(self, call: str, step: JsonDict, error: SourceFailure) -> None:
        self._failures.append(first_line(error))
        await self._steps.fail(call, step, error)

    def _result(
        self, pool: Sequence[CandidateRecord], rounds: int, review: str = "", *, more: bool = False
    ) -> CurationResult:
        return CurationResult(
            tuple(pool[: self._settings.pool]),
            tuple(record for record in self._records.values() if record.round <= rounds),
            rounds, review, tuple(dict.fromkeys(self._failures)), more,
        )  # fmt: skip
