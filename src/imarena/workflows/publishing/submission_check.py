"""submission check: compare a folder of outputs with the items of a benchmark, and list all problems at once."""

import os
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from imarena.core import InvalidImage, Progress, UserError, first_line
from imarena.core.records import ImageRef, Item, Mode
from imarena.datasets import read_kind
from imarena.editors import FolderEditor
from imarena.images import MAX_IMAGE_BYTES, describe_image, read_image_file
from imarena.storage import Workspace
from imarena.workflows.editing import ExpectedOutput, expected_outputs

_LONG_MODES = (Mode.MULTI_TURN, Mode.COMPLEX)
_SKIPPED = frozenset({"thumbs.db", "desktop.ini"})


@dataclass(frozen=True)
class SubmittedFile:
    """A file with an output: the slot, and its image."""

    expected: ExpectedOutput
    path: Path
    image: ImageRef


@dataclass(frozen=True)
class WrongFile:
    """A file that cannot be accepted as it is, and the reason."""

    file: str
    reason: str


@dataclass(frozen=True)
class SubmissionCheck:
    """The checked contents of a folder of outputs."""

    folder: str
    expected: int
    files: tuple[SubmittedFile, ...] = field(repr=False)
    """Files whose image can be read, including those of a wrong size."""
    missing: tuple[str, ...]
    extra: tuple[WrongFile, ...]
    broken: tuple[WrongFile, ...]
    wrong_size: tuple[WrongFile, ...]
    datasets: tuple[str, ...] = ()
    """Data sets that have items with the same key, so that each output is expected in a folder of its data set."""

    @property
    def clean(self) -> bool:
        """Whether every output is there, readable and of the right size, with no other files."""
        return not (self.missing or self.extra or self.broken or self.wrong_size)

    def to_json(self) -> dict[str, object]:
        """For ``--json``."""
        groups = {name: [wrong.__dict__ for wrong in getattr(self, name)] for name in ("extra", "broken", "wrong_size")}
        counts = {name: len(getattr(self, name)) for name in ("missing", "extra", "broken", "wrong_size")}
        usable = len(self.files)
        return {
            "folder": self.folder, "clean": self.clean, "expected": self.expected, "usable": usable, "counts": counts,
            "missing": list(self.missing), **groups, "datasets_with_same_keys": list(self.datasets),
        }  # fmt: skip


def benchmark_items(workspace: Workspace | None, published: Path | None) -> list[Item]:
    """Return the items of a published folder, or of a workspace."""
    if published is not None:
        if not (published / "item.parquet").is_file():
            raise UserError(f"{published} is not a published benchmark.", hint="Name a folder that `publish` wrote.")
        items = [record for record in read_kind(published, "item") if isinstance(record, Item)]
    else:
        items = list(workspace.store.records(Item)) if workspace else []
    if not any(not item.absent for item in items):
        raise UserError("The benchmark has no items with images.", hint="Name another with --items DIR or -w DIR.")
    return items


def all_expected(items: Iterable[Item]) -> list[ExpectedOutput]:
    """Return every output that a benchmark requires."""
    items = list(items)
    return list(expected_outputs(items, _shared_keys(items)))


def _shared_keys(items: Iterable[Item]) -> set[str]:
    """Return the keys that items of several data sets have."""
    numbers = Counter(key for key, _ in {(item.key, item.dataset) for item in items})
    return {key for key, number in numbers.items() if number > 1}


def check_submission(
    folder: Path, items: Iterable[Item], *, any_size: bool = False, progress: Progress | None = None
) -> SubmissionCheck:
    """Compare a folder with the required outputs. Multi-turn items may be answered in either mode or in both."""
    if not folder.is_dir():
        raise UserError(f"There is no folder {folder}.", hint="Name the folder that holds the outputs.")
    root = folder.resolve()
    items = list(items)
    editor = FolderEditor("submission", root)
    paths = [(output, editor.file_of(output.named)) for output in all_expected(items)]
    modes = {output.mode for output, path in paths if path is not None}
    if not modes.intersection(_LONG_MODES):
        modes.add(Mode.MULTI_TURN)
    expected = [(output, path) for output, path in paths if output.mode in {*modes, Mode.SINGLE}]
    good: list[SubmittedFile] = []
    broken: list[WrongFile] = []
    wrong_size: list[WrongFile] = []
    for done, (output, path) in enumerate(expected):
        if progress and done % 50 == 0:
            progress("files", done, len(expected))
        if path is None:
            continue
        name = path.relative_to(root).as_posix()
        try:
            image = describe_image(read_image_file(path))
        except InvalidImage as error:
            broken.append(WrongFile(name, first_line(error)))
            continue
        good.append(SubmittedFile(output, path, image))
        reason = "" if any_size else wrong_size_reason(output.item, image)
        if reason:
            wrong_size.append(WrongFile(name, reason))
    missing = tuple(output.file for output, path in expected if path is None)
    extra = tuple(_extra(root, {path for _, path in paths if path is not None}, missing, _withheld(editor, items)))
    shared = _shared_keys(items)
    datasets = tuple(sorted({item.dataset for item in items if item.key in shared}))
    return SubmissionCheck(
        str(folder), len(expected), tuple(good), missing, extra, tuple(broken), tuple(wrong_size), datasets
    )


def wrong_size_reason(item: Item, image: ImageRef) -> str:
    """Describe how an output's size differs from that of the item's first source image; empty if it does not."""
    source = item.sources[0] if item.sources else None
    if source is None or source.width is None or (source.width, source.height) == (image.width, image.height):
        return ""
    return f"{image.width} x {image.height} pixels, the source image has {source.width} x {source.height}"


def _withheld(editor: FolderEditor, items: list[Item]) -> set[Path]:
    """Return files for items whose images a publication left out, replaced by their hashes."""
    names = {(item.dataset, item.key) for item in items if any(name.startswith("sha256:") for name in item.absent)}
    if not names:
        return set()
    outputs = all_expected(item.model_copy(update={"absent": ()}) for item in items)
    paths = (editor.file_of(output.named) for output in outputs if (output.item.dataset, output.item.key) in names)
    return {path for path in paths if path is not None}


def _extra(root: Path, used: set[Path], missing: tuple[str, ...], withheld: set[Path]) -> Iterator[WrongFile]:
    """Yield files that are not outputs. If a name matches a missing one except for case or Unicode form, say so."""
    near = {_fold(name): name for name in missing}
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(folder, name)
            if name.startswith(".") or name.casefold() in _SKIPPED or path in used:
                continue
            relative = path.relative_to(root).as_posix()
            match = near.get(_fold(relative))
            if path.is_symlink():
                reason = "a link"
            elif path.stat().st_size > MAX_IMAGE_BYTES:
                reason = f"larger than {MAX_IMAGE_BYTES >> 20} MiB"
            elif match is not None:
                reason = f"'{match}' is expected: the name differs in case or Unicode form"
            elif path in withheld:
                reason = "belongs to an item whose image is not in the publication"
            else:
                reason = "no item asks for it"
            yield WrongFile(relative, reason)


def _fold(name: str) -> str:
    """Return a file name without its suffix, folded so that names that some file systems equate are equal."""
    return unicodedata.normalize("NFKC", name.rsplit(".", 1)[0]).casefold()
