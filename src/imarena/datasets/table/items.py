"""Make an item from a row of a table: its turns, images and labels, with other columns as provenance."""

import json
from collections.abc import Mapping
from datetime import date, datetime, time
from pathlib import Path, PurePosixPath
from typing import Any

from imarena.core import Intake, UserError
from imarena.core.records import ImageRef, Item, Turn
from imarena.datasets.folder import MAX_CELL, Folder
from imarena.datasets.hf_parquet import picture_bytes
from imarena.datasets.imported import json_facts, naming
from imarena.datasets.table.column_names import LABELS, ROLES, TURN_TEXTS, ColumnNames, is_known, numbered

MAX_TURNS = 100


class ItemReader:
    """Makes items from the rows of one table file. `columns` records the columns that are not fields of an item."""

    def __init__(
        self, folder: Folder, file: Path, intake: Intake, dataset: str, columns: ColumnNames, rows: int = 0
    ) -> None:
        self._folder = folder
        self._below = PurePosixPath(Path(folder.name(file)).parent.as_posix())
        self._intake = intake
        self._dataset = dataset
        self._columns = columns
        self.rows = rows
        """Number of rows so far, including those of earlier tables."""

    def item(self, row: Mapping[str, Any]) -> Item:
        """Make the item of a row. Raises `UserError` with the reason if that is not possible."""
        self.rows += 1
        cells = {column: value for column, value in row.items() if value is not None and value != ""}
        extra = self._extra(row, cells)
        dataset = _text(cells, "dataset") or self._dataset
        if dataset != self._dataset:
            raise UserError(f"the data set is '{dataset}', the import is about '{self._dataset}'")
        key = str(self.rows) if self._columns.numbered_rows else _key(cells.get("key"))
        turns = _turns(cells)
        pictures = {role: self._pictures(cells, role) for role in ROLES}
        return Item(
            dataset=dataset,
            key=key,
            turns=turns,
            sources=pictures["source"],
            references=pictures["reference"],
            masks=pictures["mask"],
            language=_text(cells, "language") or "en",
            provenance={**_provenance(cells.get("provenance")), **extra},
            **{label: _text(cells, label) for label in LABELS if label != "task"},
            task=next(iter(_turn_texts(cells, "task")), None) or None,
        )

    def count_bad_row(self) -> None:
        """Count a row that could not be read, so that later rows keep their numbers."""
        self.rows += 1

    def _extra(self, row: Mapping[str, Any], cells: Mapping[str, Any]) -> dict[str, Any]:
        """Columns that are not fields of an item, in the form in which they are kept with it."""
        extra: dict[str, Any] = {}
        for column in row:
            if is_known(column):
                continue
            value = cells.get(column)
            if holds_picture(value):
                self._columns.drop(column, "it holds images")
                continue
            self._columns.keep(column)
            if value is not None:
                facts = json_facts(value)
                if len(facts if isinstance(facts, str) else json.dumps(facts)) > MAX_CELL:
                    raise UserError(f"the column {column} holds more than {MAX_CELL:,} characters")
                extra[column] = facts
        return extra

    def _pictures(self, cells: Mapping[str, Any], role: str) -> tuple[ImageRef, ...]:
        """The images of source, source_2, ... in the order of their numbers; a cell may contain a list of them."""
        columns = sorted((number[1], column) for column in cells if (number := numbered(column)) and number[0] == role)
        values = [value for _, column in columns for value in _as_list(cells[column])]
        return tuple(self._picture(value, role) for value in values)

    def _picture(self, value: Any, role: str) -> ImageRef:
        name = value.get("path") if isinstance(value, dict) else value
        label = name if isinstance(name, str) and name else role
        if label.startswith(("http://", "https://")) and not (isinstance(value, dict) and value.get("bytes")):
            raise UserError(f"{label[:200]} is an address; download the image and name its file")
        with naming(label[:200]):
            return self._intake.keep(picture_bytes(self._located(value), self._folder), name=label)

    def _located(self, value: Any) -> Any:
        """Resolve a path relative to the table's folder or, if there is no such file, to the folder that was named."""
        path = value.get("path") if isinstance(value, dict) and not value.get("bytes") else value
        if isinstance(path, str) and path:
            beside = str(self._below / path)
            return beside if self._below.parts and self._folder.has(beside) else path
        return value


def holds_picture(value: Any) -> bool:
    """Is the value an image from an image column: bytes, `{"bytes", "path"}`, or a list of them?"""
    if isinstance(value, list):
        return bool(value) and holds_picture(value[0])
    return isinstance(value, bytes) or (isinstance(value, dict) and {"bytes", "path"} == value.keys())


def _as_list(value: Any) -> list[Any]:
    return [entry for entry in value if entry is not None] if isinstance(value, list) else [value]


def _key(value: Any) -> str:
    if value is None:
        raise UserError("the key is empty")
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise UserError(f"the key is {str(value)[:60]}, not a text or a whole number")
    return _plain_text(value, "key")


def _text(cells: Mapping[str, Any], column: str) -> str | None:
    value = cells.get(column)
    return None if value is None else _plain_text(value, column)


def _plain_text(value: Any, column: str) -> str:
    """Convert a text, a number, a truth value or a time to text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if not isinstance(value, str | int | float):
        raise UserError(f"the column {column} holds {type(value).__name__}, not text")
    text = str(value)
    if len(text) > MAX_CELL:
        raise UserError(f"the column {column} holds more than {MAX_CELL:,} characters")
    return text


def _turns(cells: Mapping[str, Any]) -> tuple[Turn, ...]:
    """One turn per instruction, from a list or from `instruction`, `instruction_2`, ..."""
    texts = {name: _turn_texts(cells, name) for name in TURN_TEXTS}
    prompts = texts["instruction"]
    if not prompts or not all(text.strip() for text in prompts):
        raise UserError("the instruction is empty" if len(prompts) < 2 else "an instruction between others is empty")
    if len(prompts) > MAX_TURNS:
        raise UserError(f"there are {len(prompts):,} instructions; at most {MAX_TURNS} are turns of an item")
    for name, values in texts.items():
        if len(values) > len(prompts):
            raise UserError(f"there are {len(values)} of {name}, and {len(prompts)} of instruction")
    columns = {name: [*values, *[""] * (len(prompts) - len(values))] for name, values in texts.items()}
    return tuple(
        Turn(
            instruction=instruction,
            original_instruction=columns["original_instruction"][n] or None,
            expected=columns["expected"][n] or None,
            task=(columns["task"][n] or None) if n else None,  # the first turn's task is the item's
        )
        for n, instruction in enumerate(prompts)
    )


def _turn_texts(cells: Mapping[str, Any], name: str) -> list[str]:
    """The texts of all turns, without empty ones at the end."""
    first = _instruction_list(cells) if name == "instruction" else None
    value = cells.get(name) if first is None else first
    if isinstance(value, list):
        texts = ["" if text is None else _plain_text(text, name) for text in value]
        if any(f"{name}_{n}" in cells for n in range(2, MAX_TURNS + 2)):
            raise UserError(f"the column {name} is a list, and there are also numbered columns")
    else:
        last = max((number[1] for column in cells if (number := numbered(column)) and number[0] == name), default=1)
        names = [name, *(f"{name}_{n}" for n in range(2, last + 1))]
        texts = [_text(cells, column) or "" for column in names]
    while texts and not texts[-1].strip():
        texts.pop()
    return texts


def _instruction_list(cells: Mapping[str, Any]) -> list[Any] | None:
    """The list in the column `instructions`, which in a CSV file is JSON."""
    value = cells.get("instructions")
    if value is None:
        return None
    if "instruction" in cells:
        raise UserError("there is an instruction and a list of instructions: leave one of them empty")
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise UserError("the instructions are not a JSON list of texts") from None
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise UserError("the instructions are not a list of texts")
    return value


def _provenance(value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    try:
        provenance = json.loads(value) if isinstance(value, str) else json_facts(value)
    except (ValueError, RecursionError) as error:
        raise UserError("the provenance is not JSON") from error
    if not isinstance(provenance, dict):
        raise UserError("the provenance is not a JSON object")
    return provenance
