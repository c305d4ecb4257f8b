"""Which files a folder of finished outputs holds: one for every output that an item asks for."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from imarena.core.records import Item, Mode
from imarena.editors import file_names
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

    def to_json(self) -> dict[str, object]:
        """For ``--json``."""
        return dict(self.__dict__)


def item_files(workspace: Workspace) -> Iterator[ItemFile]:
    """Every output that the items ask for. Keys that two data sets share are told apart by a folder each."""
    shared = Counter(key for (key, _), _ in workspace.store.count(Item, "key", "dataset").items())
    for item in workspace.store.records(Item):
        for mode in Mode:
            for turn in range(len(item.turns)):
                if not item.absent and has_turn(item, mode, turn):
                    plain, apart = file_names(named_in_folder(item, mode, turn))
                    yield ItemFile(
                        file=f"{apart if shared[item.key] > 1 else plain}.png",
                        dataset=item.dataset,
                        key=item.key,
                        mode=mode.value,
                        turn=turn + 1,
                        task=item.turns[turn].task or item.task,
                        instruction=instruction_of(item, turn, mode),
                    )
