"""curate log: the full history of one image, from the instruction to the people who checked it."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from imarena.core import UserError, counted, suggestion
from imarena.core.records import Evidence, Item, JsonDict, Verification
from imarena.storage import Workspace
from imarena.workflows.curating.decisions import CANDIDATE, STEPS


@dataclass(frozen=True)
class StoryLine:
    """One event: when, which step, and what happened."""

    moment: str
    step: str
    text: str
    own: bool
    """Whether the event is about this image, or about the search that led to it."""
    facts: JsonDict


@dataclass(frozen=True)
class ItemStory:
    """An item and its history, oldest first."""

    item: Item
    lines: tuple[StoryLine, ...]
    candidates: int
    """Number of images examined for the same instruction."""

    def to_json(self) -> JsonDict:
        """For ``--json``."""
        lines: list[Any] = [asdict(line) for line in self.lines]
        return {
            "key": self.item.key, "dataset": self.item.dataset, "item_id": self.item.item_id,
            "instruction": self.item.instruction, "task": self.item.task, "licence": self.item.licence,
            "provenance": self.item.provenance, "candidates": self.candidates, "story": lines,
        }  # fmt: skip


def item_story(workspace: Workspace, name: str) -> ItemStory:
    """Return the history of the item with this key or id."""
    item = find_curated_item(workspace, name)
    work = str(item.provenance.get("curation") or "")
    steps = list(workspace.store.records(Evidence, image_sha256=work, kind=STEPS))
    own = {image.sha256 for image in item.sources} | {str(item.provenance.get(CANDIDATE))}
    lines = [line for step in steps if (line := _line(step, own, item)) is not None]
    item_ids = [copy.item_id for copy in workspace.store.records(Item, key=item.key)
            if copy.provenance.get("curation") == work]  # also the released copy  # fmt: skip
    for chained in (*item_ids, *_replaced_ids(steps, item)):
        lines += [_verification(check) for check in workspace.store.records(Verification, item_id=chained)]
    looked = sum(isinstance(step.value, dict) and step.value.get("step") in ("image", "refused") for step in steps)
    return ItemStory(item, tuple(sorted(lines, key=lambda line: line.moment)), looked)


def _replaced_ids(steps: list[Evidence], item: Item) -> list[str]:
    """Return the ids of the items that it replaced: their checks belong to its history."""
    values: list[Any] = [step.value for step in steps]
    before = {value["new_item"]: value for value in values if value["step"] == "repair" and value.get("new_item")}
    ids, key = [], item.key
    while key in before:
        ids.append(str(before[key]["item_id"]))
        key = before[key]["item"]
    return ids


def find_curated_item(workspace: Workspace, name: str) -> Item:
    """Return the item with this key or id; raise if `curate` did not collect it."""
    items = list(workspace.store.records(Item, key=name)) or list(workspace.store.records(Item, id=name))
    curated = [item for item in items if "curation" in item.provenance]
    if curated:
        return curated[-1]
    if items:
        raise UserError(f"The item {name} was not collected by curate.", hint="Only curated items have a log.")
    keys = [item.key for item in workspace.store.records(Item) if "curation" in item.provenance]
    raise UserError(f"There is no item '{name}'.", hint=suggestion(name, keys, "No item was collected yet."))


def _line(step: Evidence, own: set[str], item: Item) -> StoryLine | None:
    value: Any = step.value
    kind = str(value.get("step"))
    is_own = value.get("sha256") in own or (kind == "repair" and value["item_id"] == item.item_id)
    if kind in ("image", "caption", "score") and not is_own and "failed" not in value:
        return None
    text = _TEXTS[kind](value, item) if "failed" not in value else f"no answer: {value['failed']}"
    facts: JsonDict = {name: entry for name, entry in value.items() if name not in ("step", "picture")}
    return StoryLine(step.created_at.isoformat(timespec="seconds"), kind, text, is_own, facts)


def _verification(check: Verification) -> StoryLine:
    failed = [name for name, passed in check.checks.items() if not passed]
    why = f" (not met: {', '.join(failed)})" if failed else ""
    comment = f": {check.comment}" if check.comment else ""
    facts: JsonDict = {"rater_id": check.rater_id, "checks": {**check.checks}, "decision": check.decision}
    moment = check.created_at.isoformat(timespec="seconds")
    return StoryLine(moment, "verification", f"{check.rater_id}: {check.decision}{why}{comment}", True, facts)


def _plan(value: Any, _: Item) -> str:
    queries = "; ".join(f"[{query['aspect']}] {query['text']}" + "".join(f" -{word}" for word in query["exclude"])
                        for query in value["queries"])  # fmt: skip
    note = f" ({value['note']})" if value.get("note") else ""
    return f"round {value['round']}: queries {queries}{note}"


def _search(value: Any, item: Item) -> str:
    results = enumerate(value["results"], start=1)
    ranked = [(at, result) for at, result in results if result["key"] == item.provenance.get("source_key")]
    rank = ""
    if ranked:
        at, result = ranked[0]
        rank = f"; this image is number {at}" + (f", by {result['found_by']}" if result.get("found_by") else "")
    return f"{value['source']}, '{value['query']}': {counted(len(value['results']), 'result')}{rank}"


def _image(value: Any, _: Item) -> str:
    image = value["found"]
    changed = f"; written anew ({value['converted']})" if value.get("converted") else ""
    address = image.get("page") or image["address"]
    return f"loaded {address}: {value['width']} x {value['height']} pixels, licence {image.get('licence')}{changed}"


def _refusal(value: Any, _: Item) -> str:
    return f"refused {value['found']['source']}/{value['found']['key']}: {value['reason']}"


def _score(value: Any, _: Item) -> str:
    parts = ", ".join(f"{name} {part:.2f}" for name, part in value["parts"].items())
    return f"score {value['score']:.2f}" + (f" ({parts})" if parts else "")


def _reflect(value: Any, _: Item) -> str:
    return f"round {value['round']}: {value['note']}"


def _repair(value: Any, _: Item) -> str:
    failed = f" (not met: {', '.join(value['failed_checks'])})" if value["failed_checks"] else ""
    if value["action"] == "discard":
        return f"{value['item']}{failed}: discarded"
    how = {
        "candidate": "another candidate", "crop": f"cropped to {value.get('crop')}",
        "instruction": f"new instruction '{value.get('instruction')}'",
    }  # fmt: skip
    return f"{value['item']}{failed}: {how[value['action']]}, score {value['score']:.2f}, now {value['new_item']}"


def _caption(value: Any, _: Item) -> str:
    return str(value["caption"])


_TEXTS: Mapping[str, Callable[[Any, Item], str]] = {
    "plan": _plan, "search": _search, "image": _image, "refused": _refusal, "reflect": _reflect, "score": _score,
    "caption": _caption, "repair": _repair,
}  # fmt: skip
