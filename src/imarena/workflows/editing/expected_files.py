"""Which files a folder of finished outputs holds: one for every output that an item asks for."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from imarena.core.records import Item, JsonDict, Mode
from imarena.editors import FolderEditor, file_names
from imarena.storage import Workspace
from imarena.workflows.editing.plan import has_turn, named_in_folder
from imarena.workflows.views import instruction_of


@dataclass(frozen=True)
class ItemFile:
    """An output that is asked for: what its file is called, and what is to be done."""

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
    """An output that an item asks for."""

    item: Item
    mode: Mode
    turn: int
    """Counts from 0."""
    key_is_shared: bool
    """Another data set has an item of this key: the file is in a folder named by the data set."""

    @property
    def named(self) -> JsonDict:
        """What an editor that hands out files looks for."""
        named = named_in_folder(self.item, self.mode, self.turn)
        return {**named, "key": f"{self.item.dataset}/{self.item.key}"} if self.key_is_shared else named

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"{file_names(self.named)[0]}.png"


def expected_outputs(items: Iterable[Item], shared: Collection[str]) -> Iterator[ExpectedOutput]:
    """Every output that the items ask for; `shared` are the keys that several data sets have."""
    for item in items:
        for mode in Mode:
            for turn in range(len(item.turns)):
                if not item.absent and has_turn(item, mode, turn):
                    yield ExpectedOutput(item, mode, turn, item.key in shared)


def item_files(workspace: Workspace) -> Iterator[ItemFile]:
    """Every output that the items ask for. Keys that two data sets share are kept apart by a folder each."""
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


def unmatched_files(editor: FolderEditor, items: Iterable[Item]) -> list[str]:
    """Pictures in the folder that are the output of no item, in no mode: misspelt names, or another benchmark's."""
    expected = {
        stem
        for item in items
        for mode in Mode
        for turn in range(len(item.turns))
        if has_turn(item, mode, turn, all_levels=True)
        for stem in file_names(named_in_folder(item, mode, turn))
    }
    return editor.files_beside(expected)
