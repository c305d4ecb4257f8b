"""Read a file of people's ratings or votes, and match its rows with a workspace's outputs by item and editor."""

from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from pydantic import JsonValue
from sqlalchemy import select

from imarena.agreement import (
    HUMAN_OUTCOMES,
    RatingColumns,
    VerdictColumns,
    last_answers,
    take_rows,
    verdicts_from_file,
)
from imarena.core import UserError, grouped
from imarena.core.notices import Notice
from imarena.storage import reading
from imarena.storage.schema import items
from imarena.tables import TablePath, column_names
from imarena.workflows.studies.agreement_files import (
    EXPECTED,
    bad_value_notices,
    holds_ratings,
    is_written_here,
    plain_ratings,
    ratings_of_file,
)
from imarena.workflows.studies.columns import units
from imarena.workflows.studies.pair_columns import labels_of_items
from imarena.workflows.views import WHOLE, View, fetch_columns

NO_ITEM, NO_OUTPUT, NO_VALUE = "no item with this key", "no output of this editor for the item", "no value"
SEVERAL_ITEMS = "several data sets have this key (add a column dataset)"


@dataclass(frozen=True)
class PeopleFile:
    """A file's ratings or votes on the outputs of a workspace, with notices about rows that match no output."""

    ratings: RatingColumns
    votes: VerdictColumns
    notices: tuple[Notice, ...] = ()
    pairs: VerdictColumns | None = None
    """For a file of ratings: pairs of mean ratings, for judges that compare."""


def read_people_file(view: View, path: TablePath) -> PeopleFile:
    """Read ratings, or votes if the file has a column `winner`. Raises `UserError` if no row matches an output."""
    names = frozenset(column_names(path))
    if "winner" in names and not holds_ratings(path, names):
        return _votes(view, path)
    return _ratings(view, path, names)


class _Outputs:
    """Finds outputs by the names that a file may use: the item's key, its id or the whole unit, and the editor."""

    def __init__(self, view: View) -> None:
        entries = view.entries
        with reading(view.workspace.store.engine) as connection:
            key, dataset = fetch_columns(connection, select(items.c.key, items.c.dataset).order_by(items.c.seq))
        self._items: dict[str, list[tuple[str, str]]] = {}
        for identity, name, source in zip(entries.item_id, key, dataset, strict=True):
            for label in (name, identity):
                self._items.setdefault(label, []).append((identity, source))
        self.known = units(view)
        self._of_id = entries.index_of
        self._of_unit: dict[tuple[str, str], int] = {}
        self._of_place: dict[tuple[str, str], list[int]] = {}
        keys = dict(zip(entries.item_id, key, strict=True))
        self._of_item: dict[tuple[str, str], list[tuple[tuple[int, int, int], int]]] = {}
        for position in range(entries.seq.size):
            unit, editor, _ = self.known[position]
            if entries.ok[position]:
                self._of_unit[unit, editor] = position
                item_id, _, turn = unit.partition(":")
                self._of_place.setdefault((f"{keys[item_id]}:{turn}", editor), []).append(position)
                order = (int(entries.turn[position]), int(entries.mode[position]), int(entries.sample[position]))
                item = entries.item_id[entries.item[position]]
                self._of_item.setdefault((item, editor), []).append((order, position))

    def place(self, unit: str, editor: str) -> int:
        """The position of an output by its whole unit."""
        return self._of_unit[unit, editor]

    def find(self, name: str, editor: str, dataset: str = "") -> int | str:
        """The position of the output, or why there is none. Of several turns, modes and samples, the first counts."""
        if (name, editor) in self._of_unit:
            return self._of_unit[name, editor]
        positions = self._of_place.get((name, editor), [])
        if len(positions) == 1:  # KEY:TURN:MODE:SAMPLE, as in tables of `export scores`
            return positions[0]
        if name in self._of_id:  # an output's id, as in ratings saved by the web application
            return self._of_id[name]
        matches = [item for item, source in self._items.get(name, ()) if dataset in ("", source)]
        if len(matches) != 1:
            return SEVERAL_ITEMS if matches else NO_ITEM
        outputs = self._of_item.get((matches[0], editor))
        return min(outputs)[1] if outputs else NO_OUTPUT


def _ratings(view: View, path: TablePath, names: frozenset[str]) -> PeopleFile:
    written = ratings_of_file(path) if is_written_here(names) else plain_ratings(path, names, by_key=True)
    outputs, causes = _Outputs(view), Counter[str]()
    dataset = written.labels.get("dataset", [""] * len(written))
    rows, about = [], []
    for row, (unit, model) in enumerate(zip(written.unit, written.labels["model"], strict=True)):
        if written.value[row] is None and row + 1 in written.bad_values:
            continue  # listed by a separate notice
        position = outputs.find(unit, model, dataset[row])
        position = NO_VALUE if written.value[row] is None else position
        if isinstance(position, str):
            causes[position] += 1
        else:
            rows.append(row)
            about.append(outputs.known[position])
    fitting = take_rows(written, rows)
    labels = {"criterion": fitting.labels["criterion"]} if "criterion" in fitting.labels else {}
    ratings = RatingColumns(
        [unit for unit, *_ in about], fitting.rater, fitting.value,
        {**labels, "model": [model for _, model, _ in about], "task": [task for *_, task in about]},
        str(path), scales=fitting.scales,
    )  # fmt: skip
    notices = (*bad_value_notices(written), *_unmatched_notices(path, causes, len(written)))
    last = last_answers(ratings)
    return PeopleFile(last, NO_VOTES, notices, _pairs_of_means(view, outputs, last))


def _pairs_of_means(view: View, outputs: "_Outputs", ratings: RatingColumns) -> VerdictColumns:
    """Turn mean ratings into votes, for a judge that compares: of two outputs for one item, the higher mean wins.

    Uses the overall rating, or the file's only criterion; without an overall, several criteria give no votes.
    """
    entries = view.entries
    means = {outputs.place(*output): mean for output, mean in mean_marks(ratings).items()}
    groups = grouped((int(entries.unit[index]), index) for index in sorted(means, key=entries.id_of))
    pairs = [pair for places in groups.values() for pair in combinations(places, 2)]
    item = [entries.item_id[entries.item[left]] for left, _ in pairs]
    return VerdictColumns(
        item, [entries.id_of(left) for left, _ in pairs], [entries.id_of(right) for _, right in pairs],
        [higher_side(means[left], means[right]) for left, right in pairs], ["people's mean rating"] * len(pairs),
        {**labels_of_items(view, item), "dimension": [WHOLE] * len(pairs)},
        f"pairs of mean ratings in {ratings.source}",
    )  # fmt: skip


def mean_marks(ratings: RatingColumns) -> dict[tuple[str, str], float]:
    """The mean rating by unit and model: the overall rating, or that of the only criterion; else empty."""
    criteria = ratings.labels.get("criterion", [""] * len(ratings))
    about = WHOLE if WHOLE in criteria else criteria[0] if len(set(criteria)) == 1 else None
    rows = zip(criteria, ratings.unit, ratings.labels["model"], ratings.value, strict=True)
    marks = grouped(
        ((unit, model), value)
        for criterion, unit, model, value in rows
        if criterion == about and isinstance(value, float)
    )
    return {output: sum(values) / len(values) for output, values in marks.items()}


def higher_side(left: float, right: float) -> Literal["left", "right", "tie"]:
    """The side with the higher value; values that are equal to nine decimals are a tie."""
    gap = round(left - right, 9)
    return "tie" if gap == 0 else "left" if gap > 0 else "right"


def _votes(view: View, path: TablePath) -> PeopleFile:
    table = verdicts_from_file(path, outcomes=HUMAN_OUTCOMES)
    outputs, causes = _Outputs(view), Counter[str]()
    dataset = table.labels.get("dataset", [""] * len(table))
    rows, sides = [], []
    for row in range(len(table)):
        places = [outputs.find(table.item[row], editor, dataset[row]) for editor in (table.left[row], table.right[row])]
        wrong = next(
            (position for position in places if isinstance(position, str)), "" if table.winner[row] else NO_VALUE
        )
        if wrong:
            causes[wrong] += 1
        else:
            rows.append(row)
            sides.append([int(position) for position in places])
    fitting, entries = take_rows(table, rows), view.entries
    item = [entries.item_id[entries.item[left]] for left, _ in sides]
    dimension = fitting.labels.get("dimension", [""] * len(item))
    votes = VerdictColumns(
        item, [entries.id_of(left) for left, _ in sides], [entries.id_of(right) for _, right in sides],
        fitting.winner, fitting.rater,
        {**labels_of_items(view, item), "dimension": [name or WHOLE for name in dimension]}, str(path),
    )  # fmt: skip
    return PeopleFile(NO_RATINGS, votes, _unmatched_notices(path, causes, len(table)))


def _unmatched_notices(path: TablePath, causes: Counter[str], rows: int) -> tuple[Notice, ...]:
    if not causes:
        return ()
    ordered: dict[str, JsonValue] = dict(causes.most_common())
    if causes.total() == rows:
        counts = ", ".join(f"{number:,} {cause}" for cause, number in causes.most_common())
        raise UserError(
            f"No row of {path} is about an output of the workspace: {counts}.", hint=f"Expected columns. {EXPECTED}"
        )
    return (Notice(code="people_rows_not_used", values={"file": path.name, "rows": rows, "causes": ordered}),)


NO_RATINGS = RatingColumns([], [], [], {"criterion": [], "model": [], "task": []})
NO_VOTES = VerdictColumns([], [], [], [], [], {"dimension": []})
