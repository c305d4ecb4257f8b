"""Which image an address shows, who may see it, and the texts beside the pictures of a rater's task."""

from collections.abc import Iterable, Mapping, Sequence

from imarena.core.records import Assignment, ImageRef, Item, Output
from imarena.routing import Answer, check_marks
from imarena.storage import Workspace
from imarena.workflows.questions import expected_objects
from imarena.workflows.rating import RecordCache, Voting, edit_region
from imarena.workflows.serving.explorer import RecordNotFound, require_visible, step_image
from imarena.workflows.serving.leaderboards import Leaderboards
from imarena.workflows.serving.previews import Previews


def image_of_task(voting: Voting, address: str, rater_id: str, slot: str) -> ImageRef:
    """A picture of a task that a rater holds: left, right, source-N or reference-N."""
    return _require_image(voting.records.picture(voting.shown(address, rater_id), slot))


def image_of_item(leaderboards: Leaderboards, item_id: str, slot: str, *, leads: bool) -> ImageRef:
    """An image that belongs to an item: source-N or reference-N."""
    item = leaderboards.workspace.store.get(Item, item_id)
    if item is None:
        return _require_image(None)
    require_visible(leaderboards, item_id, leads=leads)
    name, _, number = slot.partition("-")
    turns = tuple(image for turn in item.turns for image in turn.references)
    images = item.sources if name == "source" else (*item.references, *turns)
    return _require_image(images[int(number)] if int(number) < len(images) else None)


def image_of_output(leaderboards: Leaderboards, output_id: str, *, leads: bool) -> ImageRef:
    """The image of an output."""
    return _require_image(_visible(leaderboards, output_id, leads=leads).image)


def image_of_example(leaderboards: Leaderboards, guidelines: Iterable[str], identity: str) -> ImageRef:
    """An image that guidelines show, as `![caption](output_...)` or `![caption](item_...)`; any other is refused."""
    if not any(f"({identity})" in text for text in guidelines):
        return _require_image(None)
    if identity.startswith("output_"):
        return image_of_output(leaderboards, identity, leads=True)
    item = leaderboards.workspace.store.get(Item, identity)
    images = (*item.sources, *item.references) if item is not None else ()
    return _require_image(images[0] if images else None)


def image_of_step(leaderboards: Leaderboards, output_id: str, number: int, *, leads: bool) -> ImageRef:
    """The image that an agent had after a step."""
    _visible(leaderboards, output_id, leads=leads)
    return _require_image(step_image(leaderboards, output_id, number))


def count_outputs(leaderboards: Leaderboards, item_ids: Sequence[str] | None = None) -> Mapping[str, int]:
    """Number of outputs of each of these items, or of all; items without outputs are left out."""
    store = leaderboards.workspace.store
    if item_ids is None:
        counts = store.count(Output, "item_id")
    else:
        counts = store.count(Output, "item_id", item_id=list(item_ids)) if item_ids else {}
    return {str(key): number for (key,), number in counts.items()}


def check_marked_places(voting: Voting, pictures: Previews, address: str, rater_id: str, answer: Answer) -> None:
    """Raise if an answer marks places outside the picture of its task."""
    image = voting.records.picture(voting.shown(address, rater_id), "left")
    if image is not None:
        shape = pictures.shape(image)
        check_marks(answer, shape.width, shape.height, lambda: len(pictures.regions(image)))


def _visible(leaderboards: Leaderboards, output_id: str, *, leads: bool) -> Output:
    output = leaderboards.workspace.store.get(Output, output_id)
    if output is None:
        raise RecordNotFound("There is no such image.")
    require_visible(leaderboards, output.item_id, leads=leads)
    return output


def _require_image(image: ImageRef | None) -> ImageRef:
    if image is None:
        raise RecordNotFound("There is no such image.")
    return image


def instruction_of_task(records: RecordCache, assignment: Assignment) -> str:
    """The instruction given to the editor; if no output is shown, the instruction of the turn."""
    return records.question_of(assignment).instruction


def objects_of_task(workspace: Workspace, records: RecordCache, assignment: Assignment) -> list[str]:
    """Objects that a result should show: the item's own list, a model's, or what the instruction names."""
    item = records.item(assignment.item_id)
    if assignment.left_id is None:
        return list(expected_objects(workspace, item, assignment.turn))
    output = records.output(assignment.left_id)
    return list(expected_objects(workspace, item, output.turn, output.mode))


def region_of_task(
    workspace: Workspace, records: RecordCache, assignment: Assignment
) -> tuple[tuple[float, float, float, float], ...]:
    """Boxes of the edit as fractions of the image. They depend on item and instruction, so they reveal no output."""
    sources = records.sources(assignment)
    return edit_region(workspace, sources[0], instruction_of_task(records, assignment)) if sources else ()


def classes_of(item: Item) -> str:
    """The family, task and topic that a check compares an item with."""
    return " · ".join(name for name in (item.family, item.task, item.topic) if name)
