"""From records to what an editor or a judge gets to see: words and pixels, nothing else."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from imarena.core import EditRequest, Exhibit, PastEdit, UserError, object_plan
from imarena.core.records import ImageRef, Item, Mode, Output
from imarena.storage import Workspace

if TYPE_CHECKING:
    from imarena.instructions import Connector


def sources_of(item: Item, output: Output, parents: dict[str, Output]) -> tuple[ImageRef, ...]:
    """The pictures that an output was made from: the turn before in multi-turn mode, else the item's own."""
    if output.mode is Mode.MULTI_TURN and output.parent_id is not None:
        parent = parents.get(output.parent_id)
        if parent is not None and parent.image is not None:
            return (parent.image,)
    return item.sources


def references_of(item: Item, turn: int) -> tuple[ImageRef, ...]:
    """Reference pictures of the item and of one of its turns."""
    return (*item.references, *item.turns[turn].references)


def instruction_of(item: Item, turn: int, mode: Mode, connector: "Connector" = "concatenate") -> str:
    """One turn's instruction; in complex mode all of them up to that turn, in one."""
    if mode is not Mode.COMPLEX:
        return item.turns[turn].instruction
    from imarena.instructions import join_instructions

    steps = [step.instruction for step in item.turns[: turn + 1]]
    plan = object_plan(item) if connector == "keep-unchanged" else None
    if connector == "keep-unchanged" and plan is None:
        raise UserError(
            f"Item {item.key!r} of {item.dataset!r} does not list which objects stay unchanged.",
            hint="The connector keep-unchanged needs items that 'imarena edival build' made, or the studio's.",
        )
    unchanged = () if plan is None else plan.turns[turn].unchanged
    return join_instructions(steps, connector, key=f"{item.item_id}:{turn}", unchanged=unchanged)


def exhibit_of(
    workspace: Workspace, item: Item, left: Output, right: Output | None, parents: dict[str, Output]
) -> Exhibit:
    """What a judge sees of one output or of a pair. Both must have pixels."""
    if left.image is None or (right is not None and right.image is None):
        raise ValueError("an output without pixels cannot be shown")
    turn = item.turns[left.turn]
    return Exhibit(
        instruction=instruction_of(item, left.turn, left.mode),
        left=workspace.load(left.image),
        right=workspace.load(right.image) if right is not None and right.image is not None else None,
        sources=tuple(workspace.load(image) for image in sources_of(item, left, parents)),
        references=tuple(workspace.load(image) for image in references_of(item, left.turn)),
        task=turn.task or item.task,
    )


def request_of(
    workspace: Workspace,
    item: Item,
    turn: int,
    mode: Mode,
    parent: Output | None,
    seed: int | None,
    connector: "Connector" = "concatenate",
    history: Sequence[Output] = (),
) -> EditRequest:
    """What an editor gets for one turn of an item. `history`: outputs of earlier turns, for an in-context editor."""
    sources = (parent.image,) if parent is not None and parent.image is not None else item.sources
    return EditRequest(
        instruction=instruction_of(item, turn, mode, connector),
        sources=tuple(workspace.load(image) for image in sources),
        references=tuple(workspace.load(image) for image in references_of(item, turn)),
        masks=tuple(workspace.load(image) for image in (*item.masks, *item.turns[turn].masks)),
        mode=mode,
        task=item.turns[turn].task or item.task,
        topic=item.topic,
        seed=seed,
        history=_history(workspace, item, history),
    )


def _history(workspace: Workspace, item: Item, outputs: Sequence[Output]) -> tuple[PastEdit, ...]:
    """Each earlier turn: what was shown first, what was asked, and what came of it."""
    past: list[PastEdit] = []
    for output in sorted(outputs, key=lambda output: output.turn):
        if output.image is None:
            continue
        shown = () if past else tuple(workspace.load(image) for image in item.sources)
        past.append(PastEdit(item.turns[output.turn].instruction, shown, workspace.load(output.image)))
    return tuple(past)
