"""The words beside the pictures of a rater's task, and where the edit was to happen."""

from imarena.core.records import Assignment, Item
from imarena.storage import Workspace
from imarena.workflows.questions import expected_objects
from imarena.workflows.rating import RecordCache, edit_region


def instruction_of_task(records: RecordCache, assignment: Assignment) -> str:
    """What the editor was asked to do; where no output is shown, the instruction of the turn itself."""
    return records.asked(assignment).instruction


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
    """Boxes of the edit as shares of the image. They belong to item and instruction, so that they tell no output."""
    sources = records.sources(assignment)
    return edit_region(workspace, sources[0], instruction_of_task(records, assignment)) if sources else ()


def classes_of(item: Item) -> str:
    """The family, task and topic that a check holds an item against."""
    return " · ".join(name for name in (item.family, item.task, item.topic) if name)
