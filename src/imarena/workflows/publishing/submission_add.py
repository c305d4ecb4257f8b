"""submission add: store all outputs of a pack in a workspace, or none. Adding a pack twice changes nothing."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from imarena.core import InvalidImage, Progress, StoreError, UserError, counted, file_sha256, first_line, sha256_hex
from imarena.core.records import ImageRef, Item, Mode, Origin, Output, Status
from imarena.datasets import (
    PACK_LIMITS,
    PackedFile,
    PackLimits,
    PackManifest,
    SubmissionPack,
    check_editor_name,
    lookalike_key,
    open_pack,
    refuse_pack,
)
from imarena.images import describe_image
from imarena.storage import Workspace, withdrawn_images
from imarena.workflows.editing import ExpectedOutput
from imarena.workflows.exchange import WorkspaceIntake
from imarena.workflows.publishing.record_redaction import original_content_id
from imarena.workflows.publishing.submission_check import all_expected, wrong_size_reason
from imarena.workflows.wiring import record_run

_KEYS = 5
"""Maximum number of items without an output that are named."""
_OutputSlot = tuple[str, str, Mode, int]
"""Data set, key, mode and turn."""


@dataclass(frozen=True)
class AddReport:
    """The result of adding a pack."""

    pack: str
    editor: str
    new: int
    same: int
    """Number of outputs that the workspace already had from the same pack."""
    missing: int
    """Number of outputs that the workspace's items require but that are not in the pack."""
    missing_keys: tuple[str, ...]
    """Keys of the first such items."""
    wrong_size: int
    dry_run: bool


def add_submission(
    workspace: Workspace,
    path: Path,
    *,
    name: str = "",
    dry_run: bool = False,
    limits: PackLimits = PACK_LIMITS,
    progress: Progress | None = None,
) -> AddReport:
    """Check the whole pack, then store it. `name` replaces the editor's name from the pack."""
    with open_pack(path, limits) as pack:
        manifest = pack.read_manifest()
        editor = name or manifest.editor
        check_editor_name(editor, "Give a plain one with --as NAME.")
        outputs = all_expected(workspace.store.records(Item))
        expected = {(output.item.dataset, output.item.key, output.mode, output.turn): output for output in outputs}
        _check_slots(pack, manifest, expected)
        images = _check_images(pack, manifest, withdrawn_images(workspace), progress)
        packed_outputs = _outputs(manifest, editor, expected, images, file_sha256(path))
        stored = _check_editor(workspace, editor, packed_outputs)
        fresh = [output for output in packed_outputs if output.output_id not in stored]
        if fresh and not dry_run:
            _store(workspace, pack, manifest, editor, fresh)
    wrong = sum(bool(wrong_size_reason(expected[_slot(packed)].item, images[packed.file])) for packed in manifest.files)
    modes = {packed.mode for packed in manifest.files} | {Mode.SINGLE}
    packed_slots = {_slot(packed) for packed in manifest.files}
    missing = [
        output.item.key for slot, output in expected.items() if output.mode in modes and slot not in packed_slots
    ]
    keys = tuple(dict.fromkeys(missing))[:_KEYS]
    return AddReport(
        str(path), editor, len(fresh), len(packed_outputs) - len(fresh), len(missing), keys, wrong, dry_run
    )  # fmt: skip


def _slot(packed: PackedFile) -> _OutputSlot:
    return packed.dataset, packed.key, packed.mode, packed.turn


def _check_slots(pack: SubmissionPack, manifest: PackManifest, expected: Mapping[_OutputSlot, ExpectedOutput]) -> None:
    """Check that every file answers one unchanged item of this workspace, once, and that no earlier turn is missing."""
    problems: list[str] = []
    filled: set[_OutputSlot] = set()
    for packed in manifest.files:
        slot = _slot(packed)
        output = expected.get(slot)
        where = f"{packed.file!a} ({packed.dataset!a}, {packed.key!a}, {packed.mode.value}, turn {packed.turn + 1})"
        if output is None:
            problems.append(f"{where}: no item of this workspace asks for it")
        elif packed.content_id not in (output.item.content_id, original_content_id(output.item)):
            problems.append(f"{where}: the item has other images or instructions here")
        elif slot in filled:
            problems.append(f"{where}: there is another file for it")
        filled.add(slot)
    problems += [
        f"{packed.file!a}: the turn before is not in the pack"
        for packed in manifest.files
        if packed.mode is Mode.MULTI_TURN and packed.turn and (*_slot(packed)[:3], packed.turn - 1) not in filled
    ]
    refuse_pack(pack.name, problems)


def _check_images(
    pack: SubmissionPack, manifest: PackManifest, withdrawn: Mapping[str, str], progress: Progress | None
) -> dict[str, ImageRef]:
    """Check that every file is the image in the manifest, and that none was withdrawn from the workspace."""
    problems: list[str] = []
    images: dict[str, ImageRef] = {}
    for number, packed in enumerate(manifest.files):
        if progress and number % 50 == 0:
            progress("checked", number, len(manifest.files))
        data = pack.read(packed.file)
        if sha256_hex(data) != packed.sha256:
            problems.append(f"{packed.file!a}: its bytes do not match the hash in the manifest")
            continue
        if packed.sha256 in withdrawn:
            problems.append(f"{packed.file!a}: the image was withdrawn from this workspace")
            continue
        try:
            image = describe_image(data)
        except InvalidImage as error:
            problems.append(f"{packed.file!a}: {first_line(error)}")
            continue
        described = (packed.size_bytes, packed.media_type, packed.width, packed.height)
        if (image.size_bytes, image.media_type, image.width, image.height) != described:
            problems.append(f"{packed.file!a}: another type or size than the manifest lists")
        images[packed.file] = image
    refuse_pack(pack.name, problems)
    return images


def _outputs(
    manifest: PackManifest,
    editor: str,
    expected: Mapping[_OutputSlot, ExpectedOutput],
    images: Mapping[str, ImageRef],
    pack_sha256: str,
) -> list[Output]:
    """Return the pack's outputs, earlier turns first: each later turn refers to the one before."""
    ids: dict[_OutputSlot, str] = {}
    outputs: list[Output] = []
    for packed in sorted(manifest.files, key=lambda packed: packed.turn):
        slot = _slot(packed)
        before = (*slot[:3], packed.turn - 1)
        output = Output(
            item_id=expected[slot].item.item_id,
            editor=editor,
            editor_version=manifest.editor_version,
            turn=packed.turn,
            mode=packed.mode,
            seed=manifest.seed,
            parent_id=ids.get(before) if packed.mode is Mode.MULTI_TURN else None,
            image=images[packed.file],
            origin=Origin(source="submission", file_sha256=pack_sha256, row=packed.file),
        )
        ids[slot] = output.output_id
        outputs.append(output)
    return outputs


def _check_editor(workspace: Workspace, editor: str, outputs: list[Output]) -> set[str]:
    """Return the ids of outputs that are already stored. Raises if the editor has any other output."""
    advice = "Give the submission another name with --as NAME."
    key = lookalike_key(editor)
    for (stored,) in workspace.store.count(Output, "editor"):
        if stored is not None and stored != editor and lookalike_key(stored) == key:
            raise UserError(
                f"The workspace has an editor {stored!r}, whose name looks like {editor!a}; nothing was stored.",
                hint=advice,
            )
    statuses = {row["id"]: row["status"] for row in workspace.store.rows(Output, editor=editor)}
    other = statuses.keys() - {output.output_id for output in outputs}
    if other:
        # A pack cannot contain failures, so failures do not count as missing from it.
        lacking = sum(statuses[output_id] == Status.OK.value for output_id in other)
        failed = counted(len(other), "failed output")
        own = f"{counted(lacking, 'output')} of an editor '{editor}' that the pack does not hold"
        text = own if lacking else f"{failed} of an editor '{editor}'"
        raise UserError(f"The workspace has {text}; nothing was stored.", hint=advice)
    return set(statuses)


def _store(
    workspace: Workspace, pack: SubmissionPack, manifest: PackManifest, editor: str, outputs: list[Output]
) -> None:
    """Store images first, then all records in one transaction."""
    intake = WorkspaceIntake(workspace)
    settings = manifest.model_dump(mode="json", exclude={"files"})
    origin = outputs[0].origin
    settings |= {"editor": editor, "submitted_as": manifest.editor, "pack_sha256": origin.file_sha256 if origin else ""}
    with record_run(workspace, "submission", settings) as run:
        output_of = {output.origin.row: output for output in outputs if output.origin}
        for file, output in output_of.items():
            image = intake.keep(pack.read(file), name=file)
            if image != output.image:
                raise UserError(f"{pack.name} changed while it was read.", hint="Run the same command again.")
        intake.flush()
        added = workspace.store.add([output.model_copy(update={"run_id": run.run_id}) for output in outputs])
        if added.conflicts:
            raise StoreError(f"{counted(len(added.conflicts), 'output')} not stored: {added.conflicts[0].reason}.")
        run.counts = {"outputs": added.new}
