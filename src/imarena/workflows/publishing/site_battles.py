"""The battles of a site in files of a few hundred, so that a page loads only what it shows."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.core.records import Mode
from imarena.datasets import load_taxonomy
from imarena.reports import SiteImage, SiteInput, write_site_part
from imarena.reports.tables import printable
from imarena.workflows.publishing.site_images import SiteImages
from imarena.workflows.views import BOTH_BAD, LEFT, MIRRORED, RIGHT, BattleColumns, Entries

LABELS = ("task", "topic", "family", "track", "dataset")
CODED = "imagenworld"
"""The taxonomy whose tasks and topics are codes that a reader does not know."""
_SHIFT = 5
"""By how many battles the first one of an item differs from that of the item before."""
_PART = 400
"""Battles per file."""
_WIN, _LOSS, _TIE, _BOTH_BAD = range(4)


class SiteBattles:
    """Pairs of outputs that any board compares, each with its verdicts."""

    def __init__(
        self, entries: Entries, boards: Sequence[BattleColumns], editors: Sequence[str], images: SiteImages
    ) -> None:
        """`editors`: published names, indexed by the editor's code."""
        self.entries = entries
        self.editors = editors
        self.images = images
        self.pairs, self.verdicts = _pairs(entries, boards)
        taxonomy = load_taxonomy(CODED)
        self.codes = {entry.name: entry.title for entry in (*taxonomy.tasks, *taxonomy.topics)}
        self._label_values: dict[str, set[str]] = {name: set() for name in LABELS}

    @property
    def number(self) -> int:
        """Number of battles."""
        return len(self.pairs)

    @property
    def parts(self) -> int:
        """Number of files."""
        return -(-len(self.pairs) // _PART)

    def write(self, folder: Path, models: Sequence[str]) -> None:
        """Write every file. A battle is [item, left, right, left image, right image, verdicts], models by index."""
        index = {name: number for number, name in enumerate(models)}
        for number in range(self.parts):
            items: list[dict[str, Any]] = []
            item_index: dict[tuple[Any, ...], int] = {}
            battles = []
            for row in self._mixed(number * _PART, min((number + 1) * _PART, len(self.pairs))):
                left, right = self.pairs[row].tolist()
                edit = self._edit_of(left, right)
                unit = (*self._unit(left), edit)
                if unit not in item_index:
                    item_index[unit] = len(items)
                    items.append(self._item(left, *edit))
                sides = [self.editors[self.entries.editor.of[side]] for side in (left, right)]
                images = [_image(self.images.outputs[self.entries.id_of(side)]) for side in (left, right)]
                battles.append([item_index[unit], *(index[name] for name in sides), *images, self.verdicts[row]])
            write_site_part(folder, number, items, battles)

    def _mixed(self, begin: int, end: int) -> list[int]:
        """The rows of a part in rounds: one battle of each item, then a second one of each, with mixed pairs."""
        item = self.entries.item[self.pairs[begin:end, 0]]
        _, number, counts = np.unique(item, return_inverse=True, return_counts=True)
        order = np.argsort(number, kind="stable")
        place = np.empty(item.size, np.int64)
        place[order] = np.arange(item.size) - np.repeat(np.cumsum(counts) - counts, counts)
        turn = (place + number * _SHIFT) % counts[number]  # items begin with different pairs
        rows: list[int] = (begin + np.lexsort((number, turn))).tolist()
        return rows

    def labels(self) -> Mapping[str, Sequence[str]]:
        """Return the values of each label by which the battles are split."""
        return {name: sorted(values) for name, values in self._label_values.items() if len(values) > 1}

    def _unit(self, output: int) -> tuple[str, int, int]:
        entries = self.entries
        return entries.item_id[entries.item[output]], int(entries.turn[output]), int(entries.mode[output])

    def _edit_of(self, left: int, right: int) -> tuple[str, tuple[SiteInput, ...]]:
        item_id = self.entries.item_id[self.entries.item[left]]
        return self.images.asked(item_id, self.entries.id_of(left), self.entries.id_of(right))

    def _item(self, output: int, instruction: str, inputs: tuple[SiteInput, ...]) -> dict[str, Any]:
        item_id, turn, _ = self._unit(output)
        entry = self.images.items[item_id]
        mode = self.images.published[self.entries.id_of(output)].mode
        labels = {name: printable(value) for name in LABELS if (value := getattr(entry.item, name))}
        for name, value in labels.items():
            self._label_values[name].add(value)
        return {
            "key": printable(entry.item.key),
            "instruction": printable(" ".join(instruction.split())),
            "turn": "" if mode is Mode.SINGLE else f"turn {turn + 1}, {mode.value}",
            "labels": labels,
            "codes": {value: self.codes[value] for value in labels.values() if value in self.codes}
            if entry.item.taxonomy == CODED
            else {},
            "credit": printable(entry.credit),
            "inputs": [[source.caption, _image(source.image)] for source in inputs],
        }


def _image(image: SiteImage | None) -> list[str | int] | None:
    return None if image is None else [image.file.removeprefix("images/"), image.width, image.height]


def _pairs(entries: Entries, boards: Sequence[BattleColumns]) -> tuple[NDArray[np.int64], list[list[list[int]]]]:
    """(n, 2) outputs of each battle, and its verdicts as [board, outcome, count].

    Sides are in the order of the editors' names, battles are sorted by item, then by name.
    """
    left = np.concatenate([board.left for board in boards]).astype(np.int64)
    right = np.concatenate([board.right for board in boards]).astype(np.int64)
    winner = np.concatenate([board.winner for board in boards])
    number = np.concatenate([np.full(len(board), index) for index, board in enumerate(boards)])
    turned = entries.editor.of[left] > entries.editor.of[right]
    left, right = np.where(turned, right, left), np.where(turned, left, right)
    winner = np.where(turned, MIRRORED[winner], winner)
    outcome = np.select([winner == LEFT, winner == RIGHT, winner == BOTH_BAD], [_WIN, _LOSS, _BOTH_BAD], _TIE)
    if not left.size:
        return np.zeros((0, 2), np.int64), []
    of = entries.editor.of
    keys = np.stack([entries.unit[left], of[left], of[right], left, right, number, outcome], axis=1)
    rows, counts = np.unique(keys, axis=0, return_counts=True)
    begins = np.flatnonzero(np.any(np.diff(rows[:, 3:5], axis=0, prepend=-1), axis=1))
    ends = [*begins[1:].tolist(), len(rows)]
    verdicts = [
        [[int(rows[row, 5]), int(rows[row, 6]), int(counts[row])] for row in range(begin, end)]
        for begin, end in zip(begins.tolist(), ends, strict=True)
    ]
    return rows[begins, 3:5], verdicts
