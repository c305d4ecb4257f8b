"""objects: the objects that a correct output shows, per item, as raters tick them off (ImagenWorld, section 4).

A list is made from the instruction and the item's own images, before anybody sees an output. It is stored as evidence
under the hash of exactly these words and images, so that items without a source have lists too.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from imarena.core import Judge, canonical_json, content_id, sha256_hex
from imarena.core.records import Evidence, ImageRef, Item, JsonDict, Mode, Output, Status
from imarena.judges import objects_from_reasons, offline_objects
from imarena.storage import Workspace
from imarena.workflows.questions.cases import chosen_items
from imarena.workflows.views import instruction_of, references_of

KIND = "expected_objects"
OFFLINE = "builtin"
MOST = 50


@dataclass(frozen=True)
class ObjectListSubject:
    """What a list is made from. Two items with the same words and images share a list."""

    instruction: str
    sources: tuple[ImageRef, ...] = ()
    references: tuple[ImageRef, ...] = ()

    @cached_property
    def subject(self) -> str:
        """The hash under which the lists are stored."""
        pictures = [[image.sha256 for image in images] for images in (self.sources, self.references)]
        return sha256_hex(canonical_json([KIND, self.instruction, *pictures]).encode("utf-8", "surrogatepass"))


def objects_question(item: Item, turn: int, mode: Mode) -> ObjectListSubject:
    """Return the question for an output's place. After several turns the list covers all of them, by any editor."""
    joined = turn > 0 and mode is not Mode.SINGLE
    instruction = instruction_of(item, turn, Mode.COMPLEX) if joined else item.turns[turn].instruction
    turns = range(turn + 1) if joined else (turn,)
    references = [image for n in turns for image in references_of(item, n)]
    return ObjectListSubject(instruction, item.sources, tuple({image.sha256: image for image in references}.values()))


def questions(
    workspace: Workspace, *, datasets: Sequence[str] | None = None, tasks: Sequence[str] | None = None
) -> dict[str, ObjectListSubject]:
    """Return all questions about the items by subject: each item's first turn, and later places with an output."""
    items = {item.item_id: item for item in chosen_items(workspace, datasets, tasks)}
    slots = {(item_id, 0, Mode.SINGLE): None for item_id in items}
    for row in workspace.store.rows(Output):
        if row["item_id"] in items and row["turn"] > 0:
            slots[row["item_id"], row["turn"], Mode(row["mode"])] = None
    subjects = (objects_question(items[item_id], turn, mode) for item_id, turn, mode in slots)
    return {question.subject: question for question in subjects}


# ---------------------------------------------------------------- stored lists


@dataclass(frozen=True)
class StoredObjectList:
    """A stored list, or the status that explains why there is none."""

    subject: str
    lister: str
    status: Status
    objects: tuple[str, ...]
    attempt: int
    identity: str


def identity_of(lister: Judge) -> str:
    """Return the identity of a lister with its prompt and settings: another model or prompt counts as other work."""
    return canonical_json([lister.name, _version(lister), _params(lister)])


def _version(lister: Judge) -> str:
    return f"{lister.version}+{lister.prompt_version}" if lister.prompt_version else lister.version


def _params(lister: Judge) -> JsonDict:
    return {**lister.params, **({"prompt_id": lister.prompt_id} if lister.prompt_id else {})}


def work_of(lister: Judge, subject: str) -> str:
    """Return the identity of the question to this lister."""
    return content_id("work", KIND, identity_of(lister), subject)


def objects_evidence(
    lister: Judge, subject: str, attempt: int, value: JsonDict, status: Status, error: str
) -> Evidence:
    """Return the evidence record of one attempt. Attempts are numbered, so that a later list can replace a failure."""
    return Evidence(
        image_sha256=subject, tool=lister.name, tool_version=_version(lister), kind=KIND,
        params={**_params(lister), "attempt": attempt}, value=value, status=status, error=error,
    )  # fmt: skip


def stored_object_lists(workspace: Workspace, **where: Any) -> Iterator[StoredObjectList]:
    """Yield stored attempts, oldest first."""
    for evidence in workspace.store.records(Evidence, kind=KIND, **where):
        params = dict(evidence.params)
        attempt = params.pop("attempt", 0)
        value = evidence.value if isinstance(evidence.value, dict) else {}
        yield StoredObjectList(
            evidence.image_sha256,
            evidence.tool,
            evidence.status,
            tuple(str(name) for name in objects_from_reasons(value)),
            attempt if isinstance(attempt, int) else 0,
            canonical_json([evidence.tool, evidence.tool_version, params]),
        )


def expected_objects(workspace: Workspace, item: Item, turn: int = 0, mode: Mode = Mode.SINGLE) -> tuple[str, ...]:
    """Return the list that raters see for an output's place.

    The first that exists: the data set's own, the newest stored one by a model, the built-in reader's.
    """
    return _objects(item, turn, mode, lambda subject: _by_models(workspace, image_sha256=subject).get(subject))


def all_object_lists(workspace: Workspace) -> Callable[[Item, int, Mode], tuple[str, ...]]:
    """Same as `expected_objects`, for many places: the store is read once."""
    by_models = _by_models(workspace)
    lists: dict[tuple[str, int, Mode], tuple[str, ...]] = {}

    def look(item: Item, turn: int, mode: Mode) -> tuple[str, ...]:
        slot = (item.item_id, turn, mode)
        if slot not in lists:
            lists[slot] = _objects(item, turn, mode, by_models.get)
        return lists[slot]

    return look


def _by_models(workspace: Workspace, **where: Any) -> dict[str, tuple[str, ...]]:
    lists = stored_object_lists(workspace, status=Status.OK.value, **where)
    return {entry.subject: entry.objects for entry in lists if entry.lister != OFFLINE}


def _objects(item: Item, turn: int, mode: Mode, by_models: Callable[[str], tuple[str, ...] | None]) -> tuple[str, ...]:
    imported = item.provenance.get(KIND)
    if isinstance(imported, list):
        return tuple(name for name in imported if isinstance(name, str))[:MOST]
    question = objects_question(item, turn, mode)
    objects = by_models(question.subject)
    return objects if objects is not None else tuple(str(name) for name in offline_objects(question.instruction))


@dataclass(frozen=True)
class ListedObjects:
    """The objects that a correct output of an item shows."""

    dataset: str
    key: str
    objects: tuple[str, ...]


def shown_object_lists(
    workspace: Workspace, *, datasets: Sequence[str] | None = None, tasks: Sequence[str] | None = None
) -> list[ListedObjects]:
    """Return the list of every item's first turn, as raters see it."""
    look = all_object_lists(workspace)
    return [
        ListedObjects(item.dataset, item.key, look(item, 0, Mode.SINGLE))
        for item in chosen_items(workspace, datasets, tasks)
    ]
