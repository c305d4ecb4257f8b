"""Coverage: the share that exists of all outputs that an editor's data sets need.

A data set needs one output per item, and one per turn of the items that any editor was run on turn by turn.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from imarena.core import UserError
from imarena.core.records import Mode, Status
from imarena.tables import build_column, empty_column, release_pages, row_slices, sorted_parts, used_codes
from imarena.workflows.views.codes import MODES, OK, STATUSES, Names
from imarena.workflows.views.entries import Entries
from imarena.workflows.views.slots import NOT_TRIED, slots_of
from imarena.workflows.views.view import View

_SINGLE, _CHAIN = MODES.index(Mode.SINGLE.value), MODES.index(Mode.MULTI_TURN.value)


@dataclass(frozen=True)
class OutputCoverage:
    """e editors and u units (an item, a turn and a mode).

    `share` (e, u) is the fraction of requested samples that are ok: 0 if the editor has none, NaN if none was expected,
    because the editor was never run on that data set, or because the items of the data set hold only pairs of outputs.
    """

    editors: tuple[str, ...]
    item: NDArray[np.int64]
    turn: NDArray[np.int64]
    mode: NDArray[np.int64]
    share: NDArray[np.float64]
    status: NDArray[np.int16]
    """(e, u) the result of the newest attempt, as an index into `STATES`."""
    tried: NDArray[np.bool_]
    """(e, u) whether the editor was asked, with or without an output."""
    unit: NDArray[np.int64]
    """(k,) the unit of each output of the view."""
    cut_off: NDArray[np.int64]
    """(c, 3) editor, unit and sample of later turns that could not be tried, because the turn before has no output."""

    @cached_property
    def _row_of(self) -> dict[str, int]:
        return {editor: row for row, editor in enumerate(self.editors)}

    def coverage(self, units: NDArray[np.bool_] | None = None) -> dict[str, float]:
        """Return each editor's share of these units (default: all) with an output; omit editors without units."""
        parts = ((editor, row if units is None else row[units]) for editor, row in self._rows())
        meant = ((editor, part[np.isfinite(part)]) for editor, part in parts)
        return {editor: float(part.sum() / part.size) for editor, part in meant if part.size}

    def needed(self) -> dict[str, int]:
        """Return the number of outputs that each editor's data sets need; omit editors without any."""
        numbers = ((editor, int(np.isfinite(row).sum())) for editor, row in self._rows())
        return {editor: number for editor, number in numbers if number}

    def units_with(self, view: View, filters: Mapping[str, str]) -> NDArray[np.bool_]:
        """(u,) units whose item or mode matches these filters."""
        return matching_rows(view, filters, self.item, self.mode)

    def not_run(self) -> dict[str, int]:
        """Return the number of units that each editor was never asked for but should have an output for; omit zeros."""
        numbers = ((name, np.isfinite(row) & ~self.tried[self._row_of[name]]) for name, row in self._rows())
        return {editor: int(never.sum()) for editor, never in numbers if never.any()}

    def _rows(self) -> Iterator[tuple[str, NDArray[np.float64]]]:
        """Yield each editor with its fractions, one by one: all at once would take most of a board's memory."""
        for editor, row in zip(self.editors, self.share, strict=True):
            yield editor, row
            release_pages()

    def missing(self, ranked: Collection[str], units: NDArray[np.bool_]) -> "MissingBattles":
        """Return battles that a missing output prevented: an editor on the board without one, against each with one."""
        rows = np.array([self._row_of[name] for name in self.editors if name in ranked], np.int64)
        lacks = np.array([(self.share[row] == 0) & units for row in rows]).reshape(rows.size, units.size)
        has = np.array([self.share[row] > 0 for row in rows]).reshape(rows.size, units.size)
        editor, unit = np.nonzero(lacks)
        order = np.lexsort((editor, unit))
        editor, unit = editor[order], unit[order]
        left, right, at = [], [], []
        for model, column in zip(editor.tolist(), unit.tolist(), strict=True):
            opponents = np.flatnonzero(has[:, column])
            left += [model] * opponents.size
            right += opponents.tolist()
            at += [column] * opponents.size
        columns = np.array(at, np.int64)
        first = rows[np.array(left, np.int64)]
        return MissingBattles(
            left=first, right=rows[np.array(right, np.int64)], item=self.item[columns], mode=self.mode[columns],
            status=self.status[first, columns],
        )  # fmt: skip


def matching_rows(
    view: View, filters: Mapping[str, str], item: NDArray[np.integer], mode: NDArray[np.integer]
) -> NDArray[np.bool_]:
    """(k,) rows whose item or mode matches these filters; `item` and `mode` (k,) are indices."""
    mask = np.ones(item.size, bool)
    for name, value in filters.items():
        labels = Names(mode.astype(np.int32), MODES) if name == "mode" else view.item_label(name)
        if labels is None:
            raise UserError(f"No item has a {name}.")
        code = labels.names.index(value) if value in labels.names else -2
        mask &= (labels.of if name == "mode" else labels.of[item]) == code
    return mask


@dataclass(frozen=True)
class MissingBattles:
    """n battles that could not be fought. `left` (no output) and `right` index the editors of `OutputCoverage`."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    item: NDArray[np.int64]
    mode: NDArray[np.int64]
    status: NDArray[np.int16]


STATES = (*STATUSES, NOT_TRIED)


def read_output_coverage(view: View) -> OutputCoverage:
    """Read the coverage. An item without any output counts as a single-turn edit."""
    entries = view.entries
    cut_off = [slot for slot, state in slots_of(view.workspace).failed.items() if state == NOT_TRIED]
    unit_item, unit_turn, unit_mode, of_output = _units(entries, cut_off)
    editors = entries.editor.names
    shape = (len(editors), unit_item.size)
    share = _shares(entries, of_output, shape)
    dataset = entries.labels["dataset"].of[unit_item].astype(np.int64)
    used = np.zeros((shape[0], int(dataset.max(initial=0)) + 1), bool)
    status = _full_array(shape, np.int16, STATES.index(Status.MISSING_OUTPUT.value))
    tried = _full_array(shape, bool, False)
    for rows in row_slices(of_output.size):
        has_editor = entries.editor.of[rows] >= 0
        editor, unit = entries.editor.of[rows][has_editor], of_output[rows][has_editor]
        used[editor, dataset[unit]] = True
        status[editor, unit] = entries.status[rows][has_editor]  # the newest comes last
        tried[editor, unit] = True
    pairs_only = _pairs_only(tried, dataset)
    for row, uses in enumerate(used):
        share[row, ~uses[dataset] | (pairs_only[dataset] & ~tried[row])] = np.nan
    later: list[tuple[int, int, int]] = []
    if cut_off:
        item_row = {name: row for row, name in enumerate(entries.item_id)}
        units = zip(unit_item.tolist(), unit_turn.tolist(), unit_mode.tolist(), strict=True)
        at = {key: row for row, key in enumerate(units)}
        later = [
            (editors.index(name), at[item_row[item], turn, _CHAIN], sample) for item, turn, name, _, sample in cut_off
        ]
    for editor_row, unit_row, _ in later:
        tried[editor_row, unit_row] = True
        status[editor_row, unit_row] = STATES.index(NOT_TRIED)
    never = np.array(later, np.int64).reshape(-1, 3)
    return OutputCoverage(editors, unit_item, unit_turn, unit_mode, share, status, tried, of_output, never)


def _pairs_only(tried: NDArray[np.bool_], dataset: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(d,) the data sets that are collections of compared pairs: each unit has outputs of two editors, by design.

    There are more editors than two, and none of them was run on every unit; otherwise, the others are incomplete.
    """
    number = int(dataset.max(initial=0)) + 1
    editors = np.zeros(dataset.size, np.int64)
    for row in tried:  # one by one: all at once would take most of a board's memory
        editors += row
        release_pages()
    units = np.bincount(dataset[editors > 0], minlength=number)
    pairs = np.bincount(dataset[editors == 2], minlength=number) == units
    ran, full = np.zeros(number, np.int64), np.zeros(number, bool)
    for row in tried:
        own_units = np.bincount(dataset[row], minlength=number)
        ran += own_units > 0
        full |= (own_units == units) & (units > 0)
        release_pages()
    return np.asarray(pairs & (units > 0) & (ran > 2) & ~full)


def _units(entries: Entries, cut_off: Sequence[tuple[str, int, str, str, int]]) -> tuple[NDArray[np.int64], ...]:
    item_row = {name: number for number, name in enumerate(entries.item_id)} if cut_off else {}
    later = [(item_row[item], turn, _CHAIN) for item, turn, *_ in cut_off]
    bare = np.flatnonzero(~used_codes(len(entries.item_id), entries.item))
    alone = np.column_stack([bare, np.zeros_like(bare), np.full_like(bare, _SINGLE)])
    more = np.concatenate([alone, np.array(later, np.int64).reshape(-1, 3)])
    turns = int(max(entries.turn.max(initial=0), more[:, 1].max(initial=0))) + 1

    def codes(rows: slice) -> NDArray[np.int64]:
        return (entries.item[rows].astype(np.int64) * turns + entries.turn[rows]) * len(MODES) + entries.mode[rows]

    parts = [np.unique(codes(rows)) for rows in row_slices(entries.seq.size)]
    unit_codes = np.unique(np.concatenate([*parts, (more[:, 0] * turns + more[:, 1]) * len(MODES) + more[:, 2]]))
    of_output = build_column(entries.seq.size, np.int64, lambda rows: np.searchsorted(unit_codes, codes(rows)))
    mode, item_turn = unit_codes % len(MODES), unit_codes // len(MODES)
    return item_turn // turns, item_turn % turns, mode, of_output


def _shares(entries: Entries, unit: NDArray[np.int64], shape: tuple[int, int]) -> NDArray[np.float64]:
    """(e, u) fraction of each slot's samples that are ok; 0 if there are none."""
    samples = int(entries.sample.max(initial=0)) + 1

    def slots(rows: slice) -> list[NDArray[Any]]:
        cell = entries.editor.of[rows].astype(np.int64) * shape[1] + unit[rows]  # negative without an editor
        return [cell * samples + entries.sample[rows], entries.status[rows] == OK]

    tried, done = (_full_array(shape, np.int32, 0).reshape(-1) for _ in range(2))
    for slot, ok in sorted_parts(unit.size, slots):
        for number, tries in ((tried, slot), (done, slot[ok])):
            np.add.at(number, np.unique(tries[tries >= 0]) // samples, 1)
    return build_column(tried.size, np.float64, lambda rows: done[rows] / np.maximum(tried[rows], 1)).reshape(shape)


def _full_array(shape: tuple[int, int], dtype: DTypeLike, value: int) -> NDArray[Any]:
    """Return an array of one value, in a file if it is large."""
    column = empty_column(shape[0] * shape[1], dtype)
    for rows in row_slices(column.size):
        column[rows] = value
    return column.reshape(shape)
