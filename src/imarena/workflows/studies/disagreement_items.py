"""Find where a judge and people disagree most, with the items, the images, and what the judge and people said."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import select

from imarena import reports
from imarena.agreement import (
    RATING_RULE,
    VOTE_RULE,
    AlignOptions,
    Disagreement,
    rating_disagreements,
    vote_disagreements,
)
from imarena.core import grouped, shortened
from imarena.core.records import Item, Output
from imarena.storage import Workspace, reading
from imarena.storage.schema import votes
from imarena.workflows.studies.alignment import AlignedColumns
from imarena.workflows.studies.columns import VerdictText, units, verdict_texts
from imarena.workflows.studies.comparison_page import preview_file
from imarena.workflows.views import (
    ChosenJudge,
    EditQuestion,
    View,
    chain_of,
    chosen_judges,
    edit_question,
    fetch_columns,
)

_LABELS = ("task", "topic")
_LONGEST = 400
_SIDES = {"left": 0, "right": 1}


@dataclass(frozen=True)
class WorstDisagreements:
    """The largest disagreements of each judge, and a summary of all of them by task and topic."""

    items: tuple[reports.ShownDisagreement, ...]
    groups: tuple[reports.GroupDisagreement, ...]
    rules: tuple[str, ...]
    """How the disagreement was measured."""

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "rules": list(self.rules), "items": [item.to_json() for item in self.items],
            **{f"by_{label}": [group.to_json() for group in self.groups if group.label == label] for label in _LABELS},
        }  # fmt: skip


def worst_disagreements(
    workspace: Workspace, columns: AlignedColumns, options: AlignOptions, count: int
) -> WorstDisagreements:
    """Up to `count` outputs and `count` pairs per judge, sorted by size of the disagreement, then by item key."""
    reader = _Reader(workspace, columns)
    rated, voted = list(_from_ratings(columns, options, reader)), list(_from_votes(columns, reader))
    rules = ((RATING_RULE,) if rated else ()) + ((VOTE_RULE,) if voted else ())
    groups = [*_groups(rated, reader), *_groups(voted, reader)]
    worst = [*_largest(_once_per_output(rated), reader, count), *_largest(voted, reader, count)]
    return WorstDisagreements(tuple(reader.shown(row) for row in worst), tuple(groups), rules)


def write_disagreements(workspace: Workspace, worst: WorstDisagreements, folder: Path) -> Path:
    """Write ``index.html`` and its images; returns the page's path."""
    picture = partial(preview_file, workspace, folder)
    return reports.write_html(reports.build_disagreement_page(worst.items, worst.groups, worst.rules, picture), folder)


def _from_ratings(columns: AlignedColumns, options: AlignOptions, reader: "_Reader") -> Iterator[Disagreement]:
    if len(columns.ratings) and len(columns.scores):
        for row in rating_disagreements(columns.scores, columns.ratings, options.lower_is_better):
            if (row.unit, *row.outputs) in reader.position:
                yield row


def _from_votes(columns: AlignedColumns, reader: "_Reader") -> Iterator[Disagreement]:
    if len(columns.votes) and len(columns.verdicts):
        verdicts = columns.verdicts
        with_gap = {judge for judge, gap in zip(verdicts.rater, verdicts.gap, strict=True) if gap is not None}
        without = [judge for judge in dict.fromkeys(verdicts.rater) if judge not in with_gap]
        yield from vote_disagreements(verdicts, columns.votes, reader.confidence(without))


def _once_per_output(rated: Sequence[Disagreement]) -> list[Disagreement]:
    """Keep one criterion per output: the one with the largest disagreement."""
    largest: dict[tuple[str, str, tuple[str, ...]], Disagreement] = {}
    for row in sorted(rated, key=lambda row: (-row.size, row.about)):
        largest.setdefault((row.judge.removesuffix(f": {row.about}"), row.unit, row.outputs), row)
    return list(largest.values())


def _largest(rows: Sequence[Disagreement], reader: "_Reader", count: int) -> Iterator[Disagreement]:
    by_judge = grouped((reader.judge_of(row).name, row) for row in rows if row.size > 0)
    for _, own_rows in sorted(by_judge.items()):
        yield from sorted(own_rows, key=lambda row: (-row.size, reader.key(row), row.outputs, row.about))[:count]


def _groups(rows: Sequence[Disagreement], reader: "_Reader") -> Iterator[reports.GroupDisagreement]:
    """Disagreement by task and by topic; for each judge, the largest first."""
    for label in _LABELS:
        grouped: dict[tuple[str, str], list[Disagreement]] = defaultdict(list)
        for row in rows:
            decided = row.kind == "rating" or {row.judge_value, row.people_value} <= _SIDES.keys()
            value = reader.label(row, label)
            if decided and value:
                grouped[row.judge, value].append(row)
        measured = [_group(label, *key, own_rows) for key, own_rows in grouped.items()]
        yield from sorted(measured, key=lambda row: (row.judge, -(row.share or row.mean_size or 0.0), row.value))


def _group(label: str, judge: str, value: str, rows: Sequence[Disagreement]) -> reports.GroupDisagreement:
    if rows[0].kind == "vote":
        opposite = sum(row.judge_value != row.people_value for row in rows)
        return reports.GroupDisagreement("vote", judge, label, value, len(rows), opposite, None, None)
    size = float(np.mean([row.size for row in rows]))
    difference = float(np.mean([row.difference or 0.0 for row in rows]))
    return reports.GroupDisagreement("rating", judge, label, value, len(rows), None, size, difference)


class _Reader:
    """Looks up the item, outputs and answers behind a disagreement in one view of the workspace."""

    def __init__(self, workspace: Workspace, columns: AlignedColumns) -> None:
        self.view = View(workspace)
        self.chosen = {judge.name: judge for judge in chosen_judges(self.view, columns.judges)}
        entries = self.view.entries
        keys = units(self.view)
        self.position = {keys[at][:2]: at for at in range(len(keys)) if entries.ok[at]}
        self._items = {row["id"]: row for row in workspace.store.rows(Item)}

    def judge_of(self, row: Disagreement) -> ChosenJudge:
        """The judge behind a name such as `JUDGE: CRITERION` or `JUDGE, DIMENSION`."""
        names = [name for name in self.chosen if row.judge == name or row.judge.startswith((f"{name}: ", f"{name}, "))]
        return self.chosen[max(names, key=len)]

    def positions(self, row: Disagreement) -> list[int]:
        """Positions of the output, or of both sides, in the view."""
        if row.kind == "rating":
            return [self.position[row.unit, row.outputs[0]]]
        return [self.view.entries.index_of[side] for side in row.outputs]

    def item_row(self, disagreement: Disagreement) -> Mapping[str, Any]:
        """The stored row of the item."""
        entries = self.view.entries
        row: Mapping[str, Any] = self._items[entries.item_id[entries.item[self.positions(disagreement)[0]]]]
        return row

    def key(self, disagreement: Disagreement) -> tuple[str, str]:
        """The item's key, then its data set."""
        row = self.item_row(disagreement)
        return str(row["key"]), str(row["dataset"])

    def label(self, disagreement: Disagreement, name: str) -> str:
        """The item's task or topic; empty if it has none."""
        return str(self.item_row(disagreement)[name] or "")

    def confidence(self, names: Sequence[str]) -> dict[tuple[str, str, str], float]:
        """Map judge and pair to the mean confidence of the verdicts, where stated."""
        values_of: dict[tuple[str, str, str], list[float]] = defaultdict(list)
        entries = self.view.entries
        for name in names:
            judge = self.judge_of(Disagreement("vote", name, "", "", (), 0.0, "", ""))
            pairs = self.view.judgments([variant for variant in judge.variants if variant.pairwise])
            sides = {int(seq): (int(pairs.left[row]), int(pairs.right[row])) for row, seq in enumerate(pairs.seq)}
            for verdict in verdict_texts(self.view, pairs, '"confidence"'):
                if verdict.confidence is not None:
                    left, right = sorted(entries.id_of(side) for side in sides[verdict.seq])
                    values_of[name, left, right].append(float(verdict.confidence))
        return {key: sum(values) / len(values) for key, values in values_of.items()}

    # ------------------------------------------------------------ one disagreement

    def shown(self, row: Disagreement) -> reports.ShownDisagreement:
        """Everything that the page shows about the disagreement."""
        positions = self.positions(row)
        outputs = [self._output(position) for position in positions]
        item = self.view.workspace.store.get(Item, outputs[0].item_id)
        if item is None:
            raise ValueError(f"the item {outputs[0].item_id} is not in the store")
        editors = tuple(self._editor(position) for position in positions)
        first, second = outputs[0], outputs[1] if len(outputs) > 1 else None
        edit = edit_question(item, first, second, chain_of(self.view.workspace, *outputs))
        disagreement = reports.ShownDisagreement(
            row.kind, self.judge_of(row).name, row.about, item.dataset, item.key,
            edit.task or "", item.topic or "", edit.instruction, editors, row.size,
            _answer(row.judge_value, editors), _answer(row.people_value, editors),
            row.judge_value, row.people_value, row.difference, row.certainty, row.answers,
            tuple(self._judge_words(row, positions)), tuple(self._people_words(row, positions, editors)),
        )  # fmt: skip
        return replace(disagreement, images=tuple(_images(edit, outputs, disagreement)))

    def _output(self, position: int) -> Output:
        output = self.view.workspace.store.get(Output, self.view.entries.id_of(position))
        if output is None:
            raise ValueError(f"the output at {position} is not in the store")
        return output

    def _editor(self, position: int) -> str:
        code = int(self.view.entries.editor.of[position])
        return self.view.entries.editor.names[code] if code >= 0 else "(not named)"

    def _judge_words(self, row: Disagreement, positions: Sequence[int]) -> Iterator[str]:
        """Reasons and marks of the judgments behind the judge's answer."""
        variants = self.judge_of(row).variants
        judged = self.view.judgments([variant for variant in variants if variant.pairwise == (len(positions) > 1)])
        if len(positions) > 1 and not np.isin(judged.left, positions).any():  # the judge counts by its scores
            judged = self.view.judgments([variant for variant in variants if not variant.pairwise])
        about = np.isin(judged.left, positions) & (np.isin(judged.right, positions) | (judged.right < 0))
        words: dict[str, None] = {}
        for stored in verdict_texts(self.view, judged.where(about & judged.ok)):
            words.update(dict.fromkeys(_reasons(stored)))
        yield from words

    def _people_words(self, row: Disagreement, positions: Sequence[int], editors: Sequence[str]) -> Iterator[str]:
        """The numbers of votes or the ratings, and the raters' comments."""
        if row.kind == "vote":
            names = {"left": editors[0], "right": editors[1], "both_bad": "both bad"}
            yield ", ".join(f"{number:g} for {names.get(outcome, outcome)}" for outcome, number in row.answers) + "."
        else:
            yield f"Ratings: {', '.join(f'{value:g}' for _, value in row.answers)}."
        yield from (f"Comment: {text}" for text in self._comments(positions))

    def _comments(self, positions: Sequence[int]) -> Iterator[str]:
        cast = self.view.votes
        pair = np.isin(cast.right, positions) if len(positions) > 1 else cast.right < 0
        seqs = cast.seq[np.flatnonzero(cast.counts & np.isin(cast.left, positions) & pair)].tolist()
        if not seqs:
            return
        query = select(votes.c.body).where(votes.c.seq.in_(seqs)).order_by(votes.c.seq)
        with reading(self.view.workspace.store.engine) as connection:
            (bodies,) = fetch_columns(connection, query)
        for body in bodies:
            if comment := str(json.loads(body).get("comment") or "").strip():
                yield shortened(comment, _LONGEST)


def _images(
    edit: EditQuestion, outputs: Sequence[Output], disagreement: reports.ShownDisagreement
) -> Iterator[reports.ShownImage]:
    for image in edit.sources:
        yield reports.ShownImage("source", image)
    for image in edit.references:
        yield reports.ShownImage("reference", image)
    for output, editor in zip(outputs, disagreement.editors, strict=True):
        fans = [
            side
            for side, answer in (("judge", disagreement.judge_answer), ("people", disagreement.people_answer))
            if answer == editor
        ]
        note = f"preferred by {' and '.join(fans)}" if fans and len(outputs) > 1 else ""
        yield reports.ShownImage(editor, output.image, note)


def _answer(value: float | str, editors: Sequence[str]) -> str:
    if isinstance(value, str):
        return editors[_SIDES[value]] if value in _SIDES else value.replace("_", " ")
    return f"{value:.4g}"


def _reasons(stored: VerdictText) -> Iterator[str]:
    """A judgment's reasons as text; its marks if it gives no reasons."""
    reasons = {name: value for name, value in stored.reasons.items() if value not in (None, "", [], {})}
    for name, value in sorted(reasons.items(), key=lambda reason: not isinstance(reason[1], str)):  # texts first
        yield f"{name.replace('_', ' ')}: {shortened(_plain(value), _LONGEST)}"
    if not reasons and stored.scores:
        yield ", ".join(f"{name} {float(score):.4g}" for name, score in stored.scores.items())


def _plain(value: Any) -> str:
    """Format a reason that is not text: names and values, without brackets and quotes."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_plain(part)}" for name, part in value.items() if part not in ("", None, [], {}))
    if isinstance(value, list):
        return "; ".join(_plain(part) for part in value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)
