"""Which edits to make: items, modes, samples, and what is already stored."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from imarena.core import Cause, CauseTally, Editor, ExecutorKind, Settings, UserError, command_line, content_id
from imarena.core.records import ImageRef, Item, JsonDict, Mode, Output, Status
from imarena.editors import failure_advice
from imarena.storage import Workspace, is_workspace, open_workspace
from imarena.workflows.questions import check_names
from imarena.workflows.wiring import editor_names

if TYPE_CHECKING:
    from imarena.instructions import Connector


@dataclass(frozen=True)
class EditWork:
    """One turn of one item for one editor."""

    item: Item
    editor: Editor
    turn: int
    mode: Mode
    sample: int
    parent: Output | None
    attempt: int
    seed: int | None
    history: tuple[Output, ...] = ()
    """The outputs of all earlier turns, for an in-context editor."""

    @property
    def slot(self) -> "EditSlot":
        """The place of its output."""
        return self.item.item_id, self.turn, self.editor.name, self.mode.value, self.sample


def edit_key(work: EditWork) -> str:
    """Return the identity of an edit, for processes that share the work."""
    return content_id("work", "edit", *work.slot)


@dataclass
class EditTally:
    """Running counts of an edit run; see `EditReport`."""

    outputs: Counter[str] = field(default_factory=Counter)
    done_before: int = 0
    cut_off: int = 0
    failed_elsewhere: int = 0
    stopped: str = ""
    cost_usd: float = 0.0
    by_editor: dict[str, Counter[str]] = field(default_factory=dict)
    flags: dict[str, Counter[str]] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    failures: CauseTally = field(default_factory=CauseTally)


@dataclass(frozen=True)
class EditReport:
    """The result of an edit run."""

    outputs: Counter[str]
    done_before: int
    cut_off: int
    """Number of later turns that were skipped, because the previous turn has no image."""
    failed_elsewhere: int
    """Number of edits that another process tried meanwhile, without an image."""
    stopped: str
    cost_usd: float
    by_editor: dict[str, Counter[str]]
    flags: dict[str, Counter[str]]
    """Failure modes that need no judge, by editor."""
    errors: dict[str, str]
    """The first message of each status, by `editor: status`."""
    failures: tuple[Cause, ...]
    """Why edits have no image, by editor, status and cause."""
    seconds: float

    @property
    def missing(self) -> int:
        """Number of edits in this run that failed, here or in another process."""
        return sum(number for status, number in self.outputs.items() if status != "ok") + self.failed_elsewhere

    def to_json(self) -> dict[str, object]:
        """For ``--json``."""
        by_editor = {name: dict(counts) for name, counts in self.by_editor.items()}
        flags = {name: dict(counts) for name, counts in self.flags.items()}
        counts: dict[str, object] = {"outputs": dict(self.outputs), "by_editor": by_editor, "flags": flags}
        counts["failures"] = [cause.to_json() for cause in self.failures]
        return {**self.__dict__, **counts, "missing": self.missing, "advice": failure_advice(self.outputs, self.errors)}


@dataclass(frozen=True)
class EditSettings:
    """How editors are run."""

    modes: tuple[Mode, ...] = (Mode.SINGLE,)
    samples: int = 1
    seed: int | None = 42
    concurrency: int = 8
    wrap: bool = False
    """Put the task wrapper (004, appendix A.8) around each instruction."""
    checks: bool = False
    """Measure the failure modes of each output and store them as evidence."""
    sheet: bool = False
    """Keep a contact sheet of the first outputs while the run lasts."""
    connector: "Connector" = "concatenate"
    """How to join the instructions in complex mode."""
    all_levels: bool = False
    """Complex mode: also join the first instruction, the first two, and so on, each as one edit of the source."""
    executor: ExecutorKind = "auto"
    max_cost_usd: float | None = None
    """Stop before the cost that editors report exceeds this many US dollars."""

    def run_settings(self, items: int, editors: Sequence[Editor]) -> JsonDict:
        """Return the settings for a run's record."""
        return {
            "editors": [editor.name for editor in editors],
            "modes": [mode.value for mode in self.modes],
            "samples": self.samples,
            "seed": self.seed,
            "items": items,
            **({"wrap": True} if self.wrap else {}),
            **({"connector": self.connector} if self.connector != "concatenate" else {}),
            **({"all_levels": True} if self.all_levels else {}),
        }


EditSlot = tuple[str, int, str | None, str, int]


class StoredOutputs:
    """The stored outputs, by slot."""

    def __init__(self, workspace: Workspace, **where: Any) -> None:
        self.ok: dict[EditSlot, Output] = {}
        self.attempts: Counter[EditSlot] = Counter()
        for output in workspace.store.records(Output, **where):
            slot = (output.item_id, output.turn, output.editor, output.mode.value, output.sample)
            self.attempts[slot] += 1
            if output.status is Status.OK:
                self.ok[slot] = output

    def earlier(self, slot: EditSlot) -> tuple[Output, ...]:
        """Return the outputs of the turns before this slot, in order."""
        item_id, turn, *variant = slot
        return tuple(self.ok[(item_id, before, *variant)] for before in range(turn))  # type: ignore[index]


def missing_edits(
    items: Iterable[Item],
    editors: Sequence[Editor],
    settings: EditSettings,
    turn: int,
    stored: StoredOutputs,
    tally: EditTally,
) -> Iterator[EditWork]:
    """Yield every edit of one turn that has no ok output yet and can be made now."""
    for item in items:
        for mode in settings.modes:
            if not has_turn(item, mode, turn, all_levels=settings.all_levels):
                continue
            for editor in editors:
                for sample in range(settings.samples):
                    slot = (item.item_id, turn, editor.name, mode.value, sample)
                    if slot in stored.ok:
                        tally.done_before += 1
                        continue
                    parent = None
                    if mode is Mode.MULTI_TURN and turn > 0:
                        parent = stored.ok.get((item.item_id, turn - 1, editor.name, mode.value, sample))
                        if parent is None or parent.image is None:
                            tally.cut_off += 1
                            continue  # the chain broke earlier: that turn counts as missing in coverage
                    seed = None if settings.seed is None else settings.seed + sample
                    history = stored.earlier(slot) if parent is not None and editor.traits.in_context else ()
                    yield EditWork(item, editor, turn, mode, sample, parent, stored.attempts[slot], seed, history)


def has_turn(item: Item, mode: Mode, turn: int, *, all_levels: bool = False) -> bool:
    """Single mode edits items of one turn; multi-turn, every turn of longer ones; complex, all in one, at the last.

    With `all_levels`, complex mode has every turn: the instructions up to it in one.
    """
    last = len(item.turns) - 1
    if mode is Mode.SINGLE:
        return last == 0 and turn == 0
    if mode is Mode.COMPLEX:
        return last > 0 and (turn == last or (all_levels and turn <= last))
    return last > 0 and turn <= last


def edited_turns(
    items: Iterable[Item], modes: Iterable[Mode], *, all_levels: bool = False
) -> Iterator[tuple[Item, Mode, int]]:
    """Yield the items with the modes and turns in which they are edited."""
    for item in items:
        for mode in modes:
            for turn in range(len(item.turns)):
                if has_turn(item, mode, turn, all_levels=all_levels):
                    yield item, mode, turn


def named_in_folder(item: Item, mode: Mode, turn: int) -> JsonDict:
    """Return the item fields for editors that look up files; no other editor receives them."""
    turns = len(item.turns) if mode is Mode.MULTI_TURN else 1
    level = {"level": turn + 1} if mode is Mode.COMPLEX and turn + 1 < len(item.turns) else {}
    return {"key": item.key, "dataset": item.dataset, "turn": turn, "turns": turns, "mode": mode.value, **level}


def list_editors(folder: Path) -> dict[str, str]:
    """Return every editor's name and description, including the workspace's own tables if the folder is a workspace."""
    if not is_workspace(folder):
        return editor_names(Settings())
    with open_workspace(folder) as workspace:
        return editor_names(workspace.settings)


def add_studio(workspace: Workspace, keys: tuple[str, ...] | None = None) -> None:
    """Add the bundled benchmark's items (all of them, or these) to the workspace; existing ones stay."""
    from imarena.workflows.exchange import WorkspaceIntake

    intake = WorkspaceIntake(workspace)
    added = missing_studio_items(workspace, lambda data, name: intake.keep(data, name=name), keys)
    intake.flush()
    workspace.store.add(added)


def missing_studio_items(
    workspace: Workspace, keep: Callable[[bytes, str], ImageRef], keys: tuple[str, ...] | None = None
) -> list[Item]:
    """Return bundled items (all of them, or these) that the workspace lacks; `keep` stores their images."""
    from imarena.datasets import DATASET, studio_items
    from imarena.studio import entries

    all_keys = keys if keys is not None else tuple(entry.key for entry in entries())
    present = {item.key for item in workspace.store.records(Item, dataset=DATASET)}
    missing = tuple(key for key in all_keys if key not in present)
    return list(studio_items(keep, missing)) if missing else []


def choose_items(
    workspace: Workspace,
    *,
    datasets: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
    keys: Sequence[str] | None = None,
    unstored: Sequence[Item] = (),
) -> list[Item]:
    """Return stored items by name, in import order, then those of `unstored`. An unknown name raises."""
    if not unstored:
        check_names(workspace, datasets=datasets, tasks=tasks, keys=keys)
    where = {c: list(v) for c, v in (("dataset", datasets), ("task", tasks), ("key", keys)) if v}
    stored = [item for item in workspace.store.records(Item, **where) if not item.absent]
    items = [*stored, *(item for item in unstored if _fits(item, where))]
    if not items:
        raise UserError(
            "There are no items to edit.",
            hint=f"Import a benchmark first: `{command_line('import FORMAT PATH')}`, or `demo`.",
        )
    return items


def _fits(item: Item, where: Mapping[str, Sequence[str]]) -> bool:
    """Return whether the item matches one of the values for each given field."""
    fields = {"dataset": item.dataset, "task": item.task, "key": item.key}
    return all(fields[name] in values for name, values in where.items())


def items_in_modes(items: Sequence[Item], modes: Sequence[Mode], limit: int | None = None) -> tuple[list[Item], int]:
    """Return the first items that can be edited in these modes, and the number of items that cannot."""
    fit = [item for item in items if any(edited_turns([item], modes))]
    if not fit:
        turns = "one turn" if len(items[0].turns) == 1 else "several turns"
        raise UserError(
            f"None of the {len(items):,} items can be edited in this mode: they have {turns}.",
            hint="--mode single takes items of one turn; multi-turn and complex take longer ones; all takes both.",
        )
    return fit[:limit], len(items) - len(fit)
