"""Index of a data set's items and outputs: those in the workspace, and those added by the current import."""

from collections.abc import Iterator

from imarena.core import OTHER_OUTPUT, Intake, Skip
from imarena.core.records import Item, Origin, Output


class DatasetIndex:
    """Looks up items by key and outputs by editor without querying the store for each row."""

    def __init__(self, intake: Intake, dataset: str) -> None:
        self.dataset = dataset
        stored_items = intake.items(dataset)
        self._items = {key: item.item_id for key, item in stored_items.items()}
        self._turns = {key: len(item.turns) for key, item in stored_items.items()}
        self._complete = {key for key, item in stored_items.items() if not item.absent}
        self._outputs = dict(intake.outputs(dataset))
        self._fresh_items: set[str] = set()
        self._fresh_outputs: set[tuple[str, str]] = set()
        self._refused: set[str] = set()
        self._left_out: dict[str, str] = {}

    def item_id(self, key: str) -> str | None:
        """The ID of the item with that key, or None."""
        return None if key in self._refused else self._items.get(key)

    def leave_out(self, key: str, where: str) -> None:
        """Note that the row of an item cannot be used."""
        self._left_out.setdefault(key, where)

    def is_left_out(self, key: str) -> bool:
        """Whether the row of the item with that key cannot be used."""
        return key in self._left_out

    def no_item(self, key: str) -> str:
        """Why there is no item with that key."""
        if key in self._left_out:
            return f"its item was left out: see {self._left_out[key]}"
        return f"there is no item with the key '{key}'"

    def turns(self, key: str) -> int:
        """Number of turns of the item with that key; 0 if there is none."""
        return self._turns.get(key, 0)

    def output_id(self, key: str, editor: str) -> str | None:
        """The ID of the editor's output for the item with that key, or None."""
        return self._outputs.get((key, editor))

    def is_described(self, prefix: str = "") -> bool:
        """Does the data set come with its images, so that an unknown key starting with `prefix` is an error?"""
        return any(key.startswith(prefix) for keys in (self._complete, self._refused) for key in keys)

    def place_item(self, item: Item, file: str, row: str) -> Item | Skip:
        """Add an item, or return why that is impossible: its key appears twice, or another item has it."""
        if item.key in self._fresh_items:
            return Skip(file, row, f"the key '{item.key}' appears twice")
        self._fresh_items.add(item.key)
        stored_id = self._items.get(item.key)
        if stored_id is not None and stored_id != item.item_id:
            self._refused.add(item.key)
            return Skip(
                file, row,
                f"the data set '{self.dataset}' has an item '{item.key}' with other content already; "
                "import under another name with the option dataset=NAME",
            )  # fmt: skip
        self._items[item.key] = item.item_id
        self._turns[item.key] = len(item.turns)
        if not item.absent:
            self._complete.add(item.key)
        return item

    def named_output(self, key: str, editor: str, origin: Origin, row: str = "") -> Iterator[Output | Skip]:
        """Add an output without pixels, of which a score or a vote is known, if the editor has none for that item."""
        if self.output_id(key, editor) is None:
            output = Output(item_id=self.item_id(key) or "", editor=editor, origin=origin)
            yield self.place_output(key, output, origin.file, row)

    def place_output(self, key: str, output: Output, file: str, row: str) -> Output | Skip:
        """Add an output, or return why it cannot be added: the editor already has one for that item."""
        editor = output.editor
        if editor is None:
            return output
        slot = (key, editor)
        if slot in self._fresh_outputs:
            return Skip(file, row, f"'{editor}' has an output for '{key}' already")
        self._fresh_outputs.add(slot)
        stored_id = self._outputs.get(slot)
        if stored_id is not None and stored_id != output.output_id:
            why = f"the workspace has another output of '{editor}' for '{key}' already"
            return Skip(file, row, why, code=OTHER_OUTPUT)
        self._outputs[slot] = output.output_id
        return output
