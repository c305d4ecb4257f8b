"""curate repair: the list of items that people marked for repair, and four ways to resolve one of them.

Another candidate of the same pool, a crop, a changed instruction, or discard. A repair makes a new item in a separate
data set, so that a campaign can check exactly those again; the old item keeps its checks. Every repair is a step in the
instruction's log.
"""

import re
from dataclasses import dataclass, replace
from typing import Any

from imarena import curation
from imarena.core import FoundImage, JournalEntry, UserError, command_line, suggestion
from imarena.core.records import Evidence, Item, JsonDict
from imarena.images import describe_image
from imarena.judges import Estimate
from imarena.storage import Workspace
from imarena.workflows.curating.decisions import (
    CANDIDATE,
    DISCARD,
    REPAIR,
    REPAIRS,
    REQUEST,
    STEPS,
    ItemDecision,
    decide_items,
)
from imarena.workflows.curating.image_memory import BenchmarkImages, ImageAnalysisCache
from imarena.workflows.curating.items import make_item
from imarena.workflows.curating.journal import CurationJournal
from imarena.workflows.curating.rating import Rating, plan_rating, rate
from imarena.workflows.curating.requests import curation_settings
from imarena.workflows.curating.sources import CurationChat


@dataclass(frozen=True)
class RepairChange:
    """The action for one item: exactly one of these."""

    candidate: bool = False
    crop: str = ""
    instruction: str = ""
    discard: bool = False

    @property
    def action(self) -> str:
        """The name of the action; raises if none or several are set."""
        options = {
            "candidate": self.candidate,
            "crop": self.crop,
            "instruction": self.instruction,
            DISCARD: self.discard,
        }
        names = [name for name, value in options.items() if value]
        if len(names) != 1:
            raise UserError(
                "Choose one way to repair the item.", hint="Add --candidate, --crop, --instruction or --discard."
            )
        return names[0]


@dataclass(frozen=True)
class RepairEntry:
    """An item on the repair list."""

    key: str
    instruction: str
    image: str
    """Size of its image, in pixels."""
    failed: tuple[str, ...]
    comments: tuple[str, ...]
    candidates: int
    """Number of other images for the same instruction that could replace it."""


@dataclass(frozen=True)
class RepairResult:
    """The result of a repair."""

    key: str
    action: str
    item: str = ""
    """The new item; empty if the old one was discarded."""
    dataset: str = ""
    score: float | None = None
    flags: tuple[str, ...] = ()
    cost_usd: float = 0.0
    stopped: str = ""
    """Why the image was not captioned or scored, so that nothing changed; empty if the item was repaired."""

    def to_json(self) -> JsonDict:
        """For ``--json``."""
        return {
            "key": self.key, "action": self.action, "item": self.item or None, "dataset": self.dataset or None,
            "score": self.score, "flags": list(self.flags), "cost_usd": self.cost_usd, "stopped": self.stopped,
        }  # fmt: skip


@dataclass(frozen=True)
class RepairPlan:
    """A repair that can be carried out: its image passed the checks."""

    item: Item
    decision: ItemDecision
    change: RepairChange
    request: curation.CurationRequest | None = None
    """The instruction of the new item; None if the item is to be discarded."""
    taxonomy: str = ""
    candidate_sha: str = ""
    """The stored candidate from which the new image is made."""
    rating: Rating | None = None

    @property
    def estimates(self) -> list[Estimate]:
        """What the model may be asked and what it costs; nothing without a model."""
        return self.rating.estimates if self.rating else []


class RepairSession:
    """Repairs one data set. `stores`: keep findings about images; not for a dry run, which writes nothing."""

    def __init__(
        self, workspace: Workspace, dataset: str, options: JsonDict, verifiers: int = 2, *, stores: bool = True
    ) -> None:
        self._workspace = workspace
        self._dataset = dataset
        self._options = options
        self._memory = ImageAnalysisCache(workspace, stores=stores)
        self._decided = decide_items(workspace, dataset, verifiers)

    def entries(self) -> list[RepairEntry]:
        """Return the repair list."""
        return [self._entry(item, decision) for item, decision in self._decided if decision.decision == REPAIR]

    def _entry(self, item: Item, decision: ItemDecision) -> RepairEntry:
        image = item.sources[0]
        return RepairEntry(
            item.key, item.instruction, f"{image.width} x {image.height}", decision.failed, decision.comments,
            len(self._spare(item)),
        )  # fmt: skip

    def plan(self, key: str, change: RepairChange, chosen: CurationChat) -> RepairPlan:
        """Plan a repair of an item of the list: make its image and check it. Nothing is asked."""
        item, decision = self._find(key)
        if change.action == DISCARD:
            return RepairPlan(item, decision, change)
        request, settings, taxonomy = self._request_of(item)
        image, data, candidate_sha = self._changed_image(item, change)
        if change.instruction:
            request = replace(request, instruction=" ".join(change.instruction.split()))
        brief = curation.read_brief(request)
        candidate, record = curation.inspect_image(brief, image, data, self._memory.look, settings)
        rating = plan_rating(self._workspace, item, chosen, settings, brief, candidate, record)
        return RepairPlan(item, decision, change, request, taxonomy, candidate_sha, rating)

    def carry_out(self, plan: RepairPlan) -> RepairResult:
        """Resolve the item. The new one goes to `DATASET-repaired`, and people have to check it."""
        item, change = plan.item, plan.change
        if plan.rating is None or plan.request is None:
            self._note(plan, {})
            return RepairResult(item.key, change.action)
        data = plan.rating.candidate.data
        self._workspace.keep(describe_image(data), data)  # the new item refers to it
        rated = rate(self._workspace, plan.rating)
        record = rated.record
        if record is None:
            return RepairResult(item.key, change.action, cost_usd=rated.cost_usd, stopped=rated.stopped)
        new_key = _next_key(item.key, plan.request.key, record.sha256)
        facts: JsonDict = {
            "new_item": new_key, "sha256": record.sha256, "score": record.score, "crop": change.crop or None,
            "instruction": change.instruction or None, "width": record.width, "height": record.height,
        }  # fmt: skip
        self._note(plan, facts, data)
        more: JsonDict = {REPAIRS: item.item_id, "repair": change.action, CANDIDATE: plan.candidate_sha}
        new_item = make_item(
            self._workspace, repaired_dataset(item.dataset), plan.taxonomy, plan.request,
            str(item.provenance["curation"]), record, key=new_key, more=more,
        )  # fmt: skip
        self._workspace.store.add([new_item])
        return RepairResult(
            item.key, change.action, new_item.key, new_item.dataset, record.score, record.flags, rated.cost_usd
        )

    def repair(self, key: str, change: RepairChange, planner: curation.CurationPlanner) -> RepairResult:
        """Plan and carry out a repair."""
        return self.carry_out(self.plan(key, change, CurationChat(planner)))

    # ------------------------------------------------------------------ parts

    def _find(self, key: str) -> tuple[Item, ItemDecision]:
        for item, decision in self._decided:
            if item.key == key:
                if decision.decision != REPAIR:
                    raise UserError(
                        f"The item {key} is not on the repair list: its decision is '{decision.decision}'.",
                        hint=f"`{command_line('curate repair', self._dataset)}` prints the list.",
                    )
                return item, decision
        keys = [item.key for item, _ in self._decided]
        raise UserError(f"There is no item '{key}' in '{self._dataset}'.", hint=suggestion(key, keys))

    def _request_of(self, item: Item) -> tuple[curation.CurationRequest, curation.CurationSettings, str]:
        """Return the instruction, settings and taxonomy of the item's run; options override the settings."""
        work = str(item.provenance["curation"])
        request = curation.CurationRequest(str(item.provenance["request"]), item.instruction, item.task, item.topic)
        stored: dict[str, Any] = {}
        for evidence in self._workspace.store.records(Evidence, image_sha256=work, kind=REQUEST):
            value: Any = evidence.value
            stored = value
        if stored.get("request", {}).get("keywords"):
            request = replace(request, keywords=tuple(stored["request"]["keywords"]))
        base = stored.get("settings") or {}
        options = {**base, **{name: value for name, value in self._options.items() if value is not None}}
        return request, curation_settings(self._workspace, options), str(stored.get("taxonomy") or item.taxonomy or "")

    def _changed_image(self, item: Item, change: RepairChange) -> tuple[FoundImage, bytes, str]:
        if change.candidate:
            spare = self._spare(item)
            if not spare:
                raise UserError(
                    f"No other candidate is left for {item.key}.",
                    hint="Crop it, change its instruction, discard it, or search with "
                    f"`{command_line('curate base')}`.",
                )
            candidate, sha256 = spare[0]
            return candidate, self._workspace.blobs.get(sha256), sha256
        data = self._workspace.load(item.sources[0])
        sha256 = str(item.provenance.get(CANDIDATE) or item.sources[0].sha256)
        candidate = {sha: image for image, sha, _ in self._candidates(item)}.get(sha256) or _found_of(item)
        return candidate, curation.crop_image(data, curation.read_crop(change.crop)) if change.crop else data, sha256

    def _candidates(self, item: Item) -> list[tuple[FoundImage, str, float]]:
        """Return the stored candidates of an instruction with a score, best first."""
        images: dict[str, FoundImage] = {}
        scores: dict[str, float] = {}
        work = str(item.provenance["curation"])
        for step in self._workspace.store.records(Evidence, image_sha256=work, kind=STEPS):
            value: Any = step.value
            if value["step"] == "image" and "failed" not in value:
                images.setdefault(str(value["sha256"]), FoundImage.from_json(value["found"]))
            elif value["step"] == "score" and "failed" not in value:
                scores[str(value["sha256"])] = float(value["score"])
        ranked = sorted(scores.items(), key=lambda entry: (-entry[1], entry[0]))
        return [(images[sha], sha, score) for sha, score in ranked if sha in images]

    def _spare(self, item: Item) -> list[tuple[FoundImage, str]]:
        """Return possible replacements: above the threshold, in no item, without near-duplicates in the data set."""
        request, settings, _ = self._request_of(item)
        items = [*self._workspace.store.records(Item, dataset=self._dataset), *(own for own, _ in self._decided)]
        benchmark = BenchmarkImages(self._workspace, "", self._memory, settings)
        own = curation.DuplicateIndex(settings.hash_distance, settings.duplicate_likeness)
        used: set[str] = set()
        for other in items:
            benchmark.add(other)
            used |= {image.sha256 for image in other.sources} | {str(other.provenance.get(CANDIDATE))}
            if other.provenance.get("request") == request.key:
                for image in other.sources:
                    own.add(other.key, self._memory.fingerprint(image.sha256))
        spare = []
        for candidate, sha256, score in self._candidates(item):
            if score < settings.threshold or sha256 in used:
                continue
            fingerprint = self._memory.fingerprint(sha256)
            if not own.search(fingerprint) and not benchmark.near(request.key, fingerprint):
                spare.append((candidate, sha256))
        return spare

    def _note(self, plan: RepairPlan, facts: JsonDict, image: bytes | None = None) -> None:
        item = plan.item
        value: JsonDict = {
            "step": "repair", "action": plan.change.action, "item": item.key, "item_id": item.item_id,
            "failed_checks": list(plan.decision.failed), **facts,
        }  # fmt: skip
        journal = CurationJournal(self._workspace, str(item.provenance["curation"]), None)
        journal.note(f"repair {item.item_id}", JournalEntry(value, image))


def repaired_dataset(dataset: str) -> str:
    """Return the data set for repaired items: `raw-repaired`, then `raw-repaired-2` for repairs of repairs."""
    match = re.fullmatch(r"(.+-repaired)(?:-(\d+))?", dataset)
    return f"{match[1]}-{int(match[2] or 1) + 1}" if match else f"{dataset}-repaired"


def _next_key(old: str, request: str, sha256: str) -> str:
    match = re.search(r"-r(\d+)$", old)
    return f"{request}-{sha256[:8]}-r{int(match[1]) + 1 if match else 1}"


def _found_of(item: Item) -> FoundImage:
    """Return what the provenance records about a search result."""
    facts = {name: str(item.provenance.get(name) or "") for name in ("title", "creator", "page", "licence_url")}
    source, key = (str(item.provenance.get(name) or "") for name in ("source", "source_key"))
    return FoundImage(
        source, key, facts["page"] or key, facts["title"], "", item.licence or "", facts["licence_url"],
        facts["creator"], facts["page"], shows=str(item.provenance.get("shows") or ""),
    )  # fmt: skip
