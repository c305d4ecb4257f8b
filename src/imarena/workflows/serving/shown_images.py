"""Which picture stands at an address, and who may see it."""

from collections.abc import Mapping, Sequence

from imarena.core.records import ImageRef, Item, Output
from imarena.routing import Answer, check_marks
from imarena.workflows.rating import Voting
from imarena.workflows.serving.explorer import RecordNotFound, may_see, step_image
from imarena.workflows.serving.leaderboards import Leaderboards
from imarena.workflows.serving.previews import Previews


def image_of_task(voting: Voting, address: str, rater_id: str, slot: str) -> ImageRef:
    """A picture of a task that a rater holds: left, right, source-N or reference-N."""
    return _there(voting.shelves.picture(voting.shown(address, rater_id), slot))


def image_of_item(looking: Leaderboards, item_id: str, slot: str, *, leads: bool) -> ImageRef:
    """A picture that an item came with: source-N or reference-N."""
    item = looking.workspace.store.get(Item, item_id)
    if item is None:
        return _there(None)
    may_see(looking, item_id, leads=leads)
    name, _, number = slot.partition("-")
    turns = tuple(image for turn in item.turns for image in turn.references)
    images = item.sources if name == "source" else (*item.references, *turns)
    return _there(images[int(number)] if int(number) < len(images) else None)


def image_of_output(looking: Leaderboards, output_id: str, *, leads: bool) -> ImageRef:
    """What an editor made."""
    return _there(_visible(looking, output_id, leads=leads).image)


def image_of_step(looking: Leaderboards, output_id: str, number: int, *, leads: bool) -> ImageRef:
    """The picture that an agent had after a step."""
    _visible(looking, output_id, leads=leads)
    return _there(step_image(looking, output_id, number))


def count_outputs(looking: Leaderboards, item_ids: Sequence[str] | None = None) -> Mapping[str, int]:
    """How many outputs these items have, or all; an item without any is not named."""
    store = looking.workspace.store
    if item_ids is None:
        found = store.count(Output, "item_id")
    else:
        found = store.count(Output, "item_id", item_id=list(item_ids)) if item_ids else {}
    return {str(key): number for (key,), number in found.items()}


def check_marked_places(voting: Voting, pictures: Previews, address: str, rater_id: str, answer: Answer) -> None:
    """Raise where an answer marks places that are not in the picture of its task."""
    image = voting.shelves.picture(voting.shown(address, rater_id), "left")
    if image is not None:
        shape = pictures.shape(image)
        check_marks(answer, shape.width, shape.height, lambda: len(pictures.regions(image)))


def _visible(looking: Leaderboards, output_id: str, *, leads: bool) -> Output:
    output = looking.workspace.store.get(Output, output_id)
    if output is None:
        raise RecordNotFound("There is no such picture.")
    may_see(looking, output.item_id, leads=leads)
    return output


def _there(image: ImageRef | None) -> ImageRef:
    if image is None:
        raise RecordNotFound("There is no such picture.")
    return image
