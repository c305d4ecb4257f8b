"""Estimate of an edit run: number of edits, dollars, time, and the basis of each figure."""

import difflib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from statistics import median

from imarena.core import Editor, FinishedFiles, counted, fill_in_commands, plural, sha256_hex
from imarena.core.records import ImageRef, Item, Mode, Output, Status
from imarena.editors import file_names, price_age
from imarena.storage import Workspace
from imarena.workflows.editing.agent_costs import MissingOutput, estimate_extra_questions
from imarena.workflows.editing.agent_journal import paid_before, steps_of
from imarena.workflows.editing.expected_files import unmatched_files
from imarena.workflows.editing.plan import EditSettings, EditSlot, EditWork, edited_turns, named_in_folder
from imarena.workflows.editing.variants import is_same_variant

ENOUGH = 5
"""Minimum number of earlier outputs for a mean cost."""
_OTHERS = (
    "{:,} of those done before were made with other options or by another version, and stay as they are: "
    "--as NAME stores new ones under another name, so that the two can be compared."
)
_CHANGED = (
    "{} in the folder differ{} from the stored outputs ({}). The stored outputs and their verdicts stay, and the new "
    "images are not added under this name: --as {}-2 adds the folder under another name."
)
_UNMATCHED = "{} in the folder match{} no item ({})."
_RENAME = "Names are keys of items, in the same case: rename {}."
_ABSENT = "{} {} expected and not in the folder ({})."
_ALL_NAMES = "`{imarena} status --items` lists the names."
_KEYS_SHOWN = 3
_ALIKE = 0.8
"""How alike two names must be for one to be a misspelling of the other (`difflib`)."""


@dataclass(frozen=True)
class EditEstimate:
    """The estimate for one editor. None for unknown values."""

    editor: str
    new: int
    done_before: int
    cost_usd: float | None
    seconds: float | None
    basis: str
    price_as_of: str | None = None
    """The date of the published price behind the figure; None if there is another basis."""
    notice: str = ""
    """What to know before the start: a model withdrawn by its provider, outputs that were made in another way."""
    unmatched_files: tuple[str, ...] = ()
    """Images in a folder of finished outputs that belong to no item."""
    absent_files: tuple[str, ...] = ()
    """Files missing from a folder of finished outputs, by the name that each must have."""

    @property
    def spends(self) -> bool:
        """Whether the run may cost money."""
        return self.new > 0 and self.cost_usd != 0


@dataclass
class _History:
    costs: list[float]
    latencies: list[float]
    ok: int = 0

    @property
    def is_enough(self) -> bool:
        """Whether there are enough outputs to predict the cost of the next ones."""
        return self.ok > 0 and len(self.costs) >= ENOUGH


def estimate_edits(
    workspace: Workspace, items: Sequence[Item], editors: Sequence[Editor], settings: EditSettings
) -> list[EditEstimate]:
    """Count missing edits; price them by the cost of earlier edits, else by the stated price."""
    past: dict[str, _History] = defaultdict(lambda: _History([], []))
    by_name = {editor.name: editor for editor in editors}
    done: dict[EditSlot, tuple[bool, Output]] = {}
    stored: dict[EditSlot, ImageRef] = {}
    for output in workspace.store.records(Output, editor=list(by_name)):
        earlier, alike = past[output.editor or ""], is_same_variant(output, by_name[output.editor or ""])
        if output.cost_usd is not None and alike and not _says_nothing(output):
            earlier.costs.append(output.cost_usd)
        if output.status is Status.OK:
            earlier.ok += alike
            slot = (output.item_id, output.turn, output.editor, output.mode.value, output.sample)
            done[slot] = (alike, output)
            if output.image is not None:
                stored[slot] = output.image
            if output.latency_s is not None:
                earlier.latencies.append(output.latency_s)
    paid = paid_before(workspace) if any(editor.traits.resumable for editor in editors) else {}
    estimates = []
    for editor in editors:
        estimate, files = _estimate(editor, items, settings, past[editor.name], done, paid), editor.traits.files
        if files is not None:
            unmatched = unmatched_files(files, [*items, *workspace.store.records(Item)])
            absent = _absent_files(files, editor.name, items, settings, done)
            estimate = replace(estimate, unmatched_files=tuple(unmatched), absent_files=tuple(absent))
            estimate = _with_changed(_with_names(estimate), files, items, stored)
        estimates.append(estimate)
    return estimates


def _absent_files(
    files: FinishedFiles, editor: str, items: Sequence[Item], settings: EditSettings, done: Mapping[EditSlot, object]
) -> Iterator[str]:
    """Yield the file names that a folder lacks, because users cannot guess the file names of each mode."""
    for item, mode, turn in edited_turns(items, settings.modes, all_levels=settings.all_levels):
        values = named_in_folder(item, mode, turn)
        if (item.item_id, turn, editor, mode.value, 0) not in done and files.file_of(values) is None:
            yield f"{file_names(values)[0]}.png"


def _with_names(estimate: EditEstimate) -> EditEstimate:
    """Add a notice on the files that match no item, those that are missing, and how to rename one to the other."""
    unmatched, absent = estimate.unmatched_files, estimate.absent_files
    stems = {name.rsplit(".", 1)[0].casefold(): name.rsplit(".", 1)[0] for name in absent}
    renames: dict[str, str] = {}
    for file in unmatched:
        stem, _, suffix = file.rpartition(".")
        near = difflib.get_close_matches(stem.casefold(), stems, n=1, cutoff=_ALIKE)
        if near:
            renames[file] = f"{stems.pop(near[0])}.{suffix}"
    left = [name for name in absent if name.rsplit(".", 1)[0] in stems.values()]
    es = "es" if len(unmatched) == 1 else ""
    parts = [
        estimate.notice,
        _UNMATCHED.format(counted(len(unmatched), "file"), es, _first(unmatched)) if unmatched else "",
        _RENAME.format(_first([f"{file} to {name}" for file, name in renames.items()])) if renames else "",
        _ABSENT.format(counted(len(left), "file"), plural("is", len(left)), _first(left)) if left else "",
        fill_in_commands(_ALL_NAMES) if unmatched or absent else "",
    ]
    return replace(estimate, notice=" ".join(filter(None, parts)))


def _first(names: Sequence[str]) -> str:
    return ", ".join(names[:_KEYS_SHOWN]) + (", ..." if len(names) > _KEYS_SHOWN else "")


def _with_changed(
    estimate: EditEstimate, files: FinishedFiles, items: Sequence[Item], stored: dict[EditSlot, ImageRef]
) -> EditEstimate:
    """Add a notice on files that changed after they were stored: a rerun does not read them by itself."""
    keys = changed_files(files, items, {slot: image for slot, image in stored.items() if slot[2] == estimate.editor})
    if not keys:
        return estimate
    notice = _CHANGED.format(counted(len(keys), "file"), "s" if len(keys) == 1 else "", _first(keys), estimate.editor)
    return replace(estimate, notice=" ".join(filter(None, [estimate.notice, notice])))


def changed_files(files: FinishedFiles, items: Sequence[Item], stored: Mapping[EditSlot, ImageRef]) -> list[str]:
    """Return keys of items whose stored output differs from the folder's current file."""
    items_by_id = {item.item_id: item for item in items}
    changed = []
    for (item_id, turn, _, mode, _), image in stored.items():
        item = items_by_id.get(item_id)
        path = None if item is None else files.file_of(named_in_folder(item, Mode(mode), turn))
        if item is None or path is None:
            continue
        if path.stat().st_size != image.size_bytes or sha256_hex(path.read_bytes()) != image.sha256:
            changed.append(item.key if mode != Mode.MULTI_TURN.value else f"{item.key}/{turn + 1}")
    return changed


def _says_nothing(output: Output) -> bool:
    """Return whether an output says nothing about costs: a rejected key or a server that is down costs nothing."""
    return output.cost_usd == 0 and output.status in (Status.API_ERROR, Status.TIMEOUT)


def _estimate(
    editor: Editor,
    items: Sequence[Item],
    settings: EditSettings,
    past: _History,
    done: dict[EditSlot, tuple[bool, Output]],
    paid: dict[str, float],
) -> EditEstimate:
    outputs: list[MissingOutput] = []
    begun: list[float] = []
    before = other = 0
    for item, mode, turn in edited_turns(items, settings.modes, all_levels=settings.all_levels):
        for sample in range(settings.samples):
            slot = (item.item_id, turn, editor.name, mode.value, sample)
            if slot in done:
                before += 1
                other += not done[slot][0]
                continue
            outputs.append(MissingOutput(item, mode, turn))
            if paid:
                begun.append(paid.get(_steps(outputs[-1], editor, sample, settings, done), 0.0))
    new = len(outputs)
    cost, basis, as_of = _price(editor, past)
    total = None if cost is None else cost * new
    more = (
        None if past.is_enough else estimate_extra_questions(editor, outputs)
    )  # the cost of outputs includes their questions
    if more is not None:
        basis += "; " + more.basis
        total = None if total is None or more.cost_usd is None else total + more.cost_usd
    if total is not None and any(begun):
        less = sum(min(paid_usd, total / new) for paid_usd in begun)
        total, basis = total - less, f"{basis}; less {less:.4f} USD for steps that are paid for"
    seconds = median(past.latencies) * new / max(1, settings.concurrency) if past.latencies else None
    price_date = None if as_of is None else as_of.isoformat()
    notices = [editor.traits.notice, _OTHERS.format(other) if other else ""]
    return EditEstimate(editor.name, new, before, total, seconds, basis, price_date, " ".join(filter(None, notices)))


def _steps(
    output: MissingOutput,
    editor: Editor,
    sample: int,
    settings: EditSettings,
    done: dict[EditSlot, tuple[bool, Output]],
) -> str:
    """Return the name under which an agent's steps for a place would be stored."""
    item, turn, many = output.item, output.turn, output.mode is Mode.MULTI_TURN
    above = done.get((item.item_id, turn - 1, editor.name, output.mode.value, sample)) if many else None
    seed = None if settings.seed is None else settings.seed + sample
    return steps_of(EditWork(item, editor, turn, output.mode, sample, above[1] if above else None, 0, seed))


def _price(editor: Editor, past: _History) -> tuple[float | None, str, date | None]:
    if past.is_enough:
        mean = sum(past.costs) / len(past.costs)
        return mean, f"{mean:.4f} USD an edit: mean of {len(past.costs)} earlier ones, failures included", None
    price, as_of = editor.traits.usd_per_image, editor.traits.price_as_of
    if price is None:
        return None, "its price is not known: set usd_per_image", None
    if price == 0.0:
        return 0.0, "free: local, or its price is 0", None
    if as_of is not None:
        old = price_age(as_of, datetime.now(UTC).date())
        source = editor.traits.price_from
        basis = f"{price:.4f} USD an edit at most: the price of {as_of}, {old} ({source}); usd_per_image replaces it"
        return price, basis, as_of
    return price, f"{price:.4f} USD an edit, as stated", None
