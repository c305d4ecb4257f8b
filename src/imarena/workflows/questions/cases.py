"""Cases to show to a judge: outputs with pixels, one by one or in pairs."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import cast, get_args

from imarena.core import ObjectPlan, UnknownName, command_line, content_id, split_names, suggestion, unknown_name
from imarena.core.records import Evidence, ImageRef, Item, Order, Output, Status
from imarena.judges import OrderPolicy, orders_for
from imarena.routing import OutputPair, TurnSlot
from imarena.storage import Workspace
from imarena.workflows.views import View, edit_question, people_battles

_LISTED, _SHOWN = 20, 5
"""Maximum number of names to list, and how many are shown of more."""


@dataclass(frozen=True)
class Case:
    """One question to one judge: an output, or a pair in one order."""

    item: Item
    left: Output
    right: Output | None = None
    order: Order | None = None
    repeat: int = 0
    expected_objects: tuple[str, ...] = ()
    """Only for judges whose traits request the list."""
    evidence: tuple[Evidence, ...] = ()
    """Stored evidence about these images; only for judges whose traits request evidence."""
    plan: ObjectPlan | None = None
    """Only for judges whose traits request the plan."""
    chain: tuple[ImageRef, ...] = ()
    """With a plan: the base image and, in multi-turn mode, the outputs of earlier turns; empty if one is missing."""


@dataclass(frozen=True)
class ShowableOutputs:
    """The outputs that can be shown: ok and with pixels, by item, turn and mode."""

    items: dict[str, Item]
    slots: dict[TurnSlot, list[Output]]
    parents: dict[str, Output]
    """Every ok output by id."""
    hidden: int
    """Number of ok outputs that cannot be shown, because their pixels are absent."""
    voted: frozenset[tuple[str, str]] = frozenset()
    """Pairs of outputs that people voted on, the smaller id first; filled by `load_outputs(..., voted=True)`."""

    @property
    def editors(self) -> list[str]:
        """Names of the editors that can be shown, sorted."""
        return sorted({output.editor for outputs in self.slots.values() for output in outputs if output.editor})


def load_outputs(
    workspace: Workspace,
    *,
    datasets: Sequence[str] | None = None,
    editors: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
    limit: int | None = None,
    only_items: Collection[str] | None = None,
    voted: bool = False,
) -> ShowableOutputs:
    """Read the outputs to be judged. A name that is not in the workspace raises and suggests the nearest one.

    `limit`: only the first items that have outputs. `only_items`: only the items with these ids. `voted`: also read
    which pairs people voted on.
    """
    items = {
        item.item_id: item
        for item in chosen_items(workspace, datasets, tasks)
        if only_items is None or item.item_id in only_items
    }
    if editors:
        all_editors = {str(key[0]) for key in workspace.store.count(Output, "editor") if key[0]}
        editors = split_names(editors, all_editors)
        _check("editor", editors, all_editors)
    slots: dict[TurnSlot, list[Output]] = {}
    parents: dict[str, Output] = {}
    hidden = 0
    for output in workspace.store.records(Output, status=Status.OK.value):
        if output.item_id not in items:
            continue
        parents[output.output_id] = output
        if editors and output.editor not in editors:
            continue
        if output.image is None:
            hidden += 1
            continue
        slots.setdefault((output.item_id, output.turn, output.mode.value), []).append(output)
    if limit is not None:
        first = set(list(dict.fromkeys(item for item, _, _ in slots))[:limit])
        slots = {slot: outputs for slot, outputs in slots.items() if slot[0] in first}
    return ShowableOutputs(items, slots, parents, hidden, voted_pairs(workspace) if voted else frozenset())


def voted_pairs(workspace: Workspace) -> frozenset[tuple[str, str]]:
    """Return the two outputs of every vote that counts, the smaller id first."""
    view = View(workspace)
    battles = people_battles(view)
    sides = zip(battles.left.tolist(), battles.right.tolist(), strict=True)
    pairs = ((view.entries.id_of(left), view.entries.id_of(right)) for left, right in sides)
    return frozenset((min(pair), max(pair)) for pair in pairs)


def chosen_items(workspace: Workspace, datasets: Sequence[str] | None, tasks: Sequence[str] | None) -> Iterator[Item]:
    """Return the items of these data sets and tasks (default: all). An unknown name raises and suggests the nearest."""
    check_names(workspace, datasets=datasets, tasks=tasks)
    where = {name: list(names) for name, names in (("dataset", datasets), ("task", tasks)) if names}
    return workspace.store.records(Item, **where)


def check_names(
    workspace: Workspace,
    *,
    datasets: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
    keys: Sequence[str] | None = None,
) -> None:
    """Raise if the workspace does not have a data set, task or key; suggest the nearest name."""
    for column, kind, names in (("dataset", "data set", datasets), ("task", "task", tasks), ("key", "key", keys)):
        if names:
            _check(kind, names, {str(key[0]) for key in workspace.store.count(Item, column) if key[0]})


def _check(kind: str, names: Sequence[str], existing: set[str]) -> None:
    for name in names:
        if name not in existing:
            raise UnknownName(
                f"There is no {kind} called '{name}'.", hint=suggestion(name, existing, _listed(kind, existing))
            )


def _listed(kind: str, names: set[str]) -> str:
    """The names that a workspace has, or how many and which command lists them."""
    if len(names) <= _LISTED:
        return f"The workspace has: {', '.join(sorted(names)) or 'none'}."
    lists = {
        "key": f"`{command_line('status --items')}` lists them",
        "data set": f"`{command_line('dataset list')}` lists them",
    }
    some = ", ".join(sorted(names)[:_SHOWN])
    return f"The workspace has {len(names):,} {kind}s: {lists.get(kind, f'{some}, ...')}."


def images_of(case: Case, parents: dict[str, Output]) -> list[ImageRef]:
    """Return the sources, references and outputs that a judge sees."""
    outputs = [output.image for output in (case.left, case.right) if output is not None and output.image is not None]
    edit = edit_question(case.item, case.left, case.right, parents)
    return [*edit.sources, *edit.references, *outputs]


def pointwise_cases(showable: ShowableOutputs, *, repeats: int = 1) -> Iterator[Case]:
    """Yield every output once (or `repeats` times)."""
    for repeat in range(repeats):
        for (item_id, _, _), outputs in showable.slots.items():
            for output in outputs:
                yield Case(showable.items[item_id], output, repeat=repeat)


def cases_of(
    showable: ShowableOutputs, battles: Sequence[OutputPair], policy: OrderPolicy, *, repeats: int = 1, seed: int = 0
) -> Iterator[Case]:
    """Yield the questions of battles: one per order and repeat; the orders of a battle are adjacent."""
    for repeat in range(repeats):
        for battle in battles:
            key = content_id("battle", battle.left.output_id, battle.right.output_id, repeat)
            orders: tuple[Order, ...] = orders_for(policy, key, seed)
            for order in orders:
                yield Case(showable.items[battle.slot[0]], battle.left, battle.right, order, repeat)


def parse_orders(text: str) -> OrderPolicy:
    """Parse ``both``, ``single`` or ``paper-compat``."""
    if text not in get_args(OrderPolicy):
        raise unknown_name("Unknown --orders", text, get_args(OrderPolicy))
    return cast(OrderPolicy, text)
