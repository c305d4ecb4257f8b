"""The expected files in a folder of finished outputs: one for every output that an item requires."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from imarena.core import FinishedFiles
from imarena.core.records import Item, JsonDict, Mode
from imarena.editors import file_names
from imarena.storage import Workspace
from imarena.workflows.editing.plan import edited_turns, named_in_folder
from imarena.workflows.views import instruction_of


@dataclass(frozen=True)
class ItemFile:
    """A required output: its file name, and the edit to make."""

    file: str
    dataset: str
    key: str
    mode: str
    turn: int
    """Counts from 1, as in the file's name."""
    task: str | None
    instruction: str


@dataclass(frozen=True)
class ExpectedOutput:
    """An output that an item requires."""

    item: Item
    mode: Mode
    turn: int
    """Counts from 0."""
    key_is_shared: bool
    """Another data set has an item with this key: the file is in a folder named after the data set."""

    @property
    def named(self) -> JsonDict:
        """The values that a folder editor looks up."""
        values = named_in_folder(self.item, self.mode, self.turn)
        return {**values, "key": f"{self.item.dataset}/{self.item.key}"} if self.key_is_shared else values

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"{file_names(self.named)[0]}.png"


def expected_outputs(items: Iterable[Item], shared: Collection[str]) -> Iterator[ExpectedOutput]:
    """Yield every output that the items require; `shared` are keys that occur in several data sets."""
    for item, mode, turn in edited_turns((item for item in items if not item.absent), Mode):
        yield ExpectedOutput(item, mode, turn, item.key in shared)


def item_files(workspace: Workspace) -> Iterator[ItemFile]:
    """Yield every output that the items require. Items with a shared key have a folder per data set."""
    numbers = Counter(key for (key, _), _ in workspace.store.count(Item, "key", "dataset").items())
    shared = {key for key, number in numbers.items() if number > 1}
    for expected in expected_outputs(workspace.store.records(Item), shared):
        item, turn = expected.item, expected.turn
        yield ItemFile(
            file=expected.file,
            dataset=item.dataset,
            key=item.key,
            mode=expected.mode.value,
            turn=turn + 1,
            task=item.turns[turn].task or item.task,
            instruction=instruction_of(item, turn, expected.mode),
        )


def unmatched_files(files: FinishedFiles, items: Iterable[Item]) -> list[str]:
    """Return images in the folder that match no item in any mode: misspelt names, or another benchmark's."""
    expected = {
        stem
        for item, mode, turn in edited_turns(items, Mode, all_levels=True)
        for stem in file_names(named_in_folder(item, mode, turn))
    }
    return files.files_beside(expected)
