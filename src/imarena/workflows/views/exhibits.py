"""Turn records into what an editor or a judge sees: words and pixels, nothing else."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from imarena.core import EditRequest, Exhibit, PastEdit, UserError, object_plan
from imarena.core.records import ImageRef, Item, Mode, Output
from imarena.storage import Workspace
from imarena.workflows.views.chains import common_turn

if TYPE_CHECKING:
    from imarena.instructions import Connector

_ReadImage = Callable[[ImageRef], bytes]
"""Returns the bytes of an image, such as `Workspace.load`."""


@dataclass(frozen=True)
class EditQuestion:
    """The edit that an output or a pair is judged by: the request, and the images before the edit."""

    instruction: str
    sources: tuple[ImageRef, ...]
    references: tuple[ImageRef, ...]
    task: str | None
    before: str | None = None
    """The output whose image is the source; None: the item's own sources."""
    first_turn: int | None = None
    """For a pair from different chains: the first of the turns that the question covers. None: one turn."""
    input_name: str = "source"
    """What the images before the edit are called: `source`, or the turn that made them."""


def edit_question(item: Item, left: Output, right: Output | None, parents: Mapping[str, Output]) -> EditQuestion:
    """The edit that one output or a pair is shown with, to judges and people alike.

    Outputs of a later turn that were made from different images are shown with what they have in common: the image
    before the turn at which their chains diverge, and all instructions from there on, numbered, as one request.
    `parents`: the outputs of their earlier turns.
    """
    turn = left.turn
    first = common_turn(left, right, parents) if right is not None else turn
    at = left
    while at.turn > first and (parent := parents.get(at.parent_id or "")) is not None:
        at = parent
    parent = _parent_with_image(at, parents)
    before = None if parent is None else parent.output_id
    name = "source" if parent is None else f"turn {parent.turn + 1} of {len(item.turns)} (input)"
    sources = sources_of(item, at, parents)
    if first == turn:
        task, references = item.turns[turn].task or item.task, references_of(item, turn)
        return EditQuestion(instruction_of(item, turn, left.mode), sources, references, task, before, input_name=name)
    turns = range(first, turn + 1)
    references = tuple({image.sha256: image for turn in turns for image in references_of(item, turn)}.values())
    tasks = {item.turns[turn].task or item.task for turn in turns}
    task = tasks.pop() if len(tasks) == 1 else item.task
    return EditQuestion(numbered_instructions(item, first, turn), sources, references, task, before, first, name)


def numbered_instructions(item: Item, first: int, last: int) -> str:
    """The instructions of several turns as one request, each on a numbered line."""
    steps = (" ".join(turn.instruction.split()) for turn in item.turns[first : last + 1])
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))


def chain_of(workspace: Workspace, *outputs: Output) -> dict[str, Output]:
    """The outputs of the earlier turns of these, by id."""
    chain: dict[str, Output] = {}
    ids = {output.parent_id for output in outputs if output.parent_id is not None}
    while ids:
        parents = {output.output_id: output for output in workspace.store.records(Output, id=sorted(ids))}
        chain |= parents
        ids = {output.parent_id for output in parents.values() if output.parent_id is not None} - chain.keys()
    return chain


def _parent_with_image(output: Output, parents: Mapping[str, Output]) -> Output | None:
    parent = parents.get(output.parent_id or "") if output.mode is Mode.MULTI_TURN else None
    return parent if parent is not None and parent.image is not None else None


def sources_of(item: Item, output: Output, parents: Mapping[str, Output]) -> tuple[ImageRef, ...]:
    """The images that an output was made from: the previous turn's in multi-turn mode, else the item's own."""
    parent = _parent_with_image(output, parents)
    return item.sources if parent is None or parent.image is None else (parent.image,)


def references_of(item: Item, turn: int) -> tuple[ImageRef, ...]:
    """Reference images of the item and of one of its turns."""
    return (*item.references, *item.turns[turn].references)


def instruction_of(item: Item, turn: int, mode: Mode, connector: "Connector" = "concatenate") -> str:
    """One turn's instruction; in complex mode, all instructions up to that turn, joined."""
    if mode is not Mode.COMPLEX:
        return item.turns[turn].instruction
    from imarena.instructions import join_instructions

    steps = [step.instruction for step in item.turns[: turn + 1]]
    plan = object_plan(item) if connector == "keep-unchanged" else None
    if connector == "keep-unchanged" and plan is None:
        raise UserError(
            f"Item {item.key!r} of {item.dataset!r} does not list which objects stay unchanged.",
            hint="The connector keep-unchanged needs items that `edival build` made, or the studio's.",
        )
    unchanged = () if plan is None else plan.turns[turn].unchanged
    return join_instructions(steps, connector, key=f"{item.item_id}:{turn}", unchanged=unchanged)


def exhibit_of(load: _ReadImage, item: Item, left: Output, right: Output | None, parents: dict[str, Output]) -> Exhibit:
    """What a judge sees of one output or of a pair. Both must have pixels."""
    if left.image is None or (right is not None and right.image is None):
        raise ValueError("an output without pixels cannot be shown")
    edit = edit_question(item, left, right, parents)
    return Exhibit(
        instruction=edit.instruction,
        left=load(left.image),
        right=load(right.image) if right is not None and right.image is not None else None,
        sources=tuple(load(image) for image in edit.sources),
        references=tuple(load(image) for image in edit.references),
        task=edit.task,
    )


def request_of(
    load: _ReadImage,
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
        sources=tuple(load(image) for image in sources),
        references=tuple(load(image) for image in references_of(item, turn)),
        masks=tuple(load(image) for image in (*item.masks, *item.turns[turn].masks)),
        mode=mode,
        task=item.turns[turn].task or item.task,
        topic=item.topic,
        seed=seed,
        history=_history(load, item, history),
    )


def _history(load: _ReadImage, item: Item, outputs: Sequence[Output]) -> tuple[PastEdit, ...]:
    """Each earlier turn: the images shown (first turn only), the instruction, and the resulting image."""
    past: list[PastEdit] = []
    for output in sorted(outputs, key=lambda output: output.turn):
        if output.image is None:
            continue
        sources = () if past else tuple(load(image) for image in item.sources)
        past.append(PastEdit(item.turns[output.turn].instruction, sources, load(output.image)))
    return tuple(past)
