"""Data for paper tables: values by output from one view, each read once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.agreement import AlignOptions, RatingColumns, ScoreColumns
from imarena.core import FloatArray, UserError, grouped
from imarena.core.records import ImageRef
from imarena.editors import model_cards
from imarena.ranking import load_outside_board
from imarena.reports import Chart, GalleryItem
from imarena.reports.tables import CellValue, Table
from imarena.stats import spearman
from imarena.storage import Workspace
from imarena.workflows.active_elo import SimulationPlan, active_report
from imarena.workflows.boards import Board, Boards
from imarena.workflows.reporting.papers.edival import EdiValReport, edival_report
from imarena.workflows.studies import (
    JudgeAnswers,
    PeopleVotes,
    people_for,
    read_aligned_columns,
    read_judges,
    read_people,
)
from imarena.workflows.views import WHOLE, View, chosen_judges, first_scores, live_judgments, read_ratings

TRIAL_SEEDS = 20
LEAST_VOTES = 20


@dataclass(frozen=True)
class Block:
    """A table or figure of a paper; empty if the workspace has no data for it."""

    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()
    exhibits: tuple[GalleryItem, ...] = ()
    text: tuple[str, ...] = ()
    needs: str = ""
    """If empty: what is missing, if more specific than the catalogue."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to show."""
        return not (any(table.rows for table in self.tables) or self.charts or self.exhibits)


NOTHING = Block()


@dataclass(frozen=True)
class OutputValues:
    """Values (k,) by output: a criterion that people rated, or a dimension that a judge scored. NaN: none."""

    name: str
    values: FloatArray
    """Values on their original scale."""
    scale: tuple[float, float] | None = None
    higher_is_better: bool = True

    @property
    def upward(self) -> FloatArray:
        """Values with the sign changed if low values are good, as in `imarena align`: higher is better."""
        return self.values if self.higher_is_better else -self.values

    @property
    def title(self) -> str:
        """The name, with a note if low values are good."""
        return self.name if self.higher_is_better else f"{self.name} (lower is better)"

    @property
    def on_unit_scale(self) -> FloatArray:
        """Values from 0 to 1 if the scale is known, else unchanged."""
        if self.scale is None:
            return self.values
        low, high = self.scale
        return (self.values - low) / (high - low)


@dataclass(frozen=True)
class OutsideBoard:
    """A leaderboard from a file: ratings by our model names, higher is better."""

    name: str
    ratings: Mapping[str, float]

    @property
    def ranked(self) -> bool:
        """Whether the file has only ranks, which are stored as negative ratings."""
        return all(value < 0 and value == int(value) for value in self.ratings.values())


def read_leaderboard(path: Path, names: Mapping[str, str] | None = None) -> OutsideBoard:
    """Read a leaderboard from a file with `model` and `rating` or `rank`. `names` maps our names to theirs."""
    theirs, _ = load_outside_board(path)
    unknown = next((name for name in (names or {}).values() if name not in theirs), None)
    if unknown is not None:
        raise UserError(f"{path}: no model '{unknown}'.", hint="--names takes OUR_NAME=THEIR_NAME.")
    ours = {name: own for own, name in (names or {}).items()}
    return OutsideBoard(path.stem, {ours.get(name, name): value for name, value in theirs.items()})


@dataclass
class PaperData:
    """One view of a workspace, and the data that several makers need from it."""

    view: View
    boards: Boards
    main: Board | None
    picture: Callable[[ImageRef], str]
    judges: Sequence[str] = ()
    by_column: Mapping[str, Sequence[Board]] = field(default_factory=dict)
    """The first board split by columns of the items, if already computed."""
    leaderboard: OutsideBoard | None = None
    """Another board to correlate ratings with."""

    @property
    def workspace(self) -> Workspace:
        """The workspace."""
        return self.view.workspace

    @cached_property
    def people(self) -> dict[str, OutputValues]:
        """The mean rating of each output by criterion; the overall comes last."""
        ratings = read_ratings(self.view)
        values = {}
        for criterion in sorted(ratings.criterion.used(), key=lambda name: (name == WHOLE, name)):
            rows = ratings.of(criterion)
            mean = self._means(ratings.output[rows], ratings.value[rows])
            values[criterion] = OutputValues(criterion, np.round(mean, 9), ratings.scales.get(criterion))
        return values

    @cached_property
    def judged(self) -> dict[str, OutputValues]:
        """The mean score of each output by judge and dimension."""
        values = {}
        for variant in self.view.variants.counting(self.judges or None, pairwise=False):
            columns = first_scores(live_judgments(self.view, [variant]))
            rows = np.flatnonzero(np.isfinite(columns.score))
            if not rows.size:
                continue
            name = variant.judge if variant.dimension == WHOLE else f"{variant.judge}, {variant.dimension}"
            mean = self._means(columns.left[rows], columns.raw_score[rows])
            values[name] = OutputValues(name, mean, higher_is_better=variant.higher_is_better)
        return dict(sorted(values.items()))

    def _means(self, output: NDArray[np.int32], values: FloatArray) -> FloatArray:
        """(k,) the mean of the values of each output; NaN without any."""
        number = len(self.view.entries.output_id)
        count, total = np.bincount(output, minlength=number), np.bincount(output, values, number)
        return np.asarray(np.divide(total, count, out=np.full(number, np.nan), where=count > 0))

    @cached_property
    def active(self) -> Mapping[str, Any]:
        """The document of `imarena route report --seeds 20 --no-groups`; empty if there is no such report."""
        trial = SimulationPlan(seeds=TRIAL_SEEDS) if int(self.view.votes.counts.sum()) >= LEAST_VOTES else None
        try:
            return active_report(self.workspace, self.active_judge[0], trial=trial, groups=False).to_json()
        except UserError:  # no scores of single outputs, or of fewer than two editors
            return {}

    @cached_property
    def active_judge(self) -> tuple[str | None, str]:
        """The judge whose scores `active` uses, and why: the report's, the first board's, or the one with most editors.

        Of several judges that scored the same editors, it is the one that agrees best with people within tasks.
        """
        if self.judges:
            return self.judges[0], "the judge of this report"
        scored = {name: source for name, source in self.judged.items() if "," not in name}
        main_judge = self.main.chosen.judge if self.main is not None else None
        if main_judge in scored:  # a first board's judge that only compares has no scores
            return main_judge, "the judge of the first leaderboard"
        if len(scored) < 2:
            return next(iter(scored), None), "the only judge with scores of single outputs"
        scored_rows = {name: np.isfinite(source.values) for name, source in scored.items()}
        covered = {
            name: len({self.editors[row] for row in np.flatnonzero(mask)} - {""}) for name, mask in scored_rows.items()
        }
        most = [name for name in scored if covered[name] == max(covered.values())]
        why = f"of {len(scored)} judges with scores, it scored the most editors ({max(covered.values())})"
        if len(most) == 1:
            return most[0], why
        agreed = {name: self._agreement(scored[name]) for name in most}
        best = max(most, key=lambda name: (agreed[name] or -1.0, int(scored_rows[name].sum())))
        if agreed[best] is None:
            return best, f"{why} and, of {len(most)} such judges, the most outputs"
        return best, (
            f"of {len(most)} judges that scored the most editors ({max(covered.values())}), it agrees best with "
            f"people's ratings (mean Spearman correlation within tasks {agreed[best]:.2f})"
        )

    def _agreement(self, source: OutputValues) -> float | None:
        """The mean over tasks of the rank correlation with people's overall ratings of the same outputs."""
        if WHOLE not in self.people:
            return None
        ours, tasks = self.people[WHOLE].values, np.array(self.label("task"))
        rows = np.isfinite(ours) & np.isfinite(source.values)
        by_task = [
            spearman(source.upward[rows & (tasks == task)], ours[rows & (tasks == task)]).value
            for task in np.unique(tasks[rows]).tolist()
        ]
        values = [value for value in by_task if value is not None]
        return float(np.mean(values)) if values else None

    @cached_property
    def answers(self) -> tuple[tuple[JudgeAnswers, PeopleVotes], ...]:
        """The newest form of each overall judge, and the votes that it is compared with."""
        choices = chosen_judges(self.view, self.judges)
        people = read_people(self.view)
        about = {choice.name: choice.dimensions for choice in choices}
        newest = [versions[-1] for _, versions in sorted(read_judges(self.view, choices).items())]
        return tuple((form, people_for(form, about[form.name], people)) for form in newest if form.dimension == WHOLE)

    @cached_property
    def ratings_and_scores(self) -> tuple[RatingColumns, ScoreColumns]:
        """People's ratings and judges' scores of single outputs, as `imarena align` reads them; either may be empty."""
        try:
            pairs = read_aligned_columns(self.workspace, self.judges, AlignOptions())
        except UserError:  # no answers of judges and people on the same outputs
            return RatingColumns([], [], []), ScoreColumns([], [], [])
        return pairs.ratings, pairs.scores

    @cached_property
    def edival(self) -> EdiValReport | None:
        """The report of `imarena edival report`; None without scores."""
        try:
            return edival_report(self.workspace)
        except UserError:
            return None

    @property
    def unified(self) -> set[str]:
        """Editors with rated outputs on every task."""
        rated = np.isfinite(self.people[WHOLE].values).tolist()
        rows = zip(self.editors, self.label("task"), rated, strict=True)
        done = grouped((editor, task) for editor, task, is_rated in rows if editor and task and is_rated)
        every = {task for tasks in done.values() for task in tasks}
        return {editor for editor, tasks in done.items() if every <= {*tasks}}

    @property
    def kinds(self) -> dict[str, list[str]]:
        """Closed and open models among the editors, according to their cards."""
        cards = model_cards()
        editors = [name for name in sorted(set(self.editors)) if name in cards]
        return {kind: [name for name in editors if cards[name].kind == kind] for kind in ("closed", "open")}

    def label(self, name: str) -> list[str]:
        """(k,) the value of each output's item in a column; '' if it has none."""
        column = self.view.item_label(name)
        items = self.view.entries.item.astype(np.int64)
        return [value or "" for value in column.list(items)] if column is not None else [""] * items.size

    @cached_property
    def editors(self) -> list[str]:
        """(k,) the editor of each output; '' if it has no name."""
        return [name or "" for name in self.view.entries.editor.list()]


def spread_cell(values: FloatArray) -> CellValue:
    """Mean and standard deviation, as in the papers; None without a value. One value is shown alone."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return None
    return f"{finite.mean():.2f}" + (f"±{finite.std(ddof=1):.2f}" if finite.size > 1 else "")


def groups_of(*columns: Sequence[str]) -> dict[tuple[str, ...], NDArray[np.int64]]:
    """Rows by the values of several columns, sorted; rows with an empty value are left out."""
    rows_of = grouped((key, row) for row, key in enumerate(zip(*columns, strict=True)) if all(key))
    return {key: np.array(rows, np.int64) for key, rows in sorted(rows_of.items())}
