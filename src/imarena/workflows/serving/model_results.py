"""One model's results: by opponent, by group of items, and the items on which it did best and worst."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from imarena.core import UserError
from imarena.workflows.boards import DuelCounts, ModelOutcomes, outcomes_of_model
from imarena.workflows.serving.explorer import RecordNotFound
from imarena.workflows.serving.leaderboards import BattleFilters, Leaderboards
from imarena.workflows.serving.snapshot import ViewSnapshot
from imarena.workflows.views import LEFT, MODES, RIGHT, Entries

GROUPS = ("task", "topic", "family", "track", "dataset", "mode")
EXAMPLES = 6
"""How many of the best and of the worst examples are shown."""


@dataclass(frozen=True)
class ResultGroup:
    """How a model did on the items that share a value, such as the task "colour"; "" for items without one."""

    by: str
    value: str
    counts: DuelCounts


@dataclass(frozen=True)
class ResultExample:
    """An output of the model, and how it did against the other models' outputs for the same item."""

    item_id: str
    output_id: str
    counts: DuelCounts


@dataclass(frozen=True)
class ModelResults:
    """All results of one model. Opponents are sorted by name, groups by kind and value."""

    model: str
    total: DuelCounts
    opponents: tuple[DuelCounts, ...] = ()
    groups: tuple[ResultGroup, ...] = ()
    best: tuple[ResultExample, ...] = ()
    worst: tuple[ResultExample, ...] = ()


def model_results(
    leaderboards: Leaderboards, model: str, filters: BattleFilters, hidden: Collection[str] = ()
) -> ModelResults:
    """The results of a model in the battles that match the filters; hidden items are not used as examples."""
    snapshot = leaderboards.snapshot()
    if model not in snapshot.view.entries.editor.names:
        raise RecordNotFound("There is no such model.", hint="The leaderboard lists all models.")
    key = ("model", model, filters, frozenset(hidden))
    return snapshot.get_or_compute(key, lambda: _results(leaderboards, snapshot, model, filters, hidden))


def _results(
    leaderboards: Leaderboards, snapshot: ViewSnapshot, model: str, filters: BattleFilters, hidden: Collection[str]
) -> ModelResults:
    entries = snapshot.view.entries
    try:
        battles = leaderboards.battles(filters, snapshot)
    except UserError:  # no such judge
        return ModelResults(model, DuelCounts(model, ""))
    fought = outcomes_of_model(entries, battles, model)
    names = entries.editor.names
    opponents = (
        fought.count(model, names[code], fought.opponent == code) for code in np.unique(fought.opponent).tolist()
    )
    best, worst = _examples(entries, fought, model, hidden)
    return ModelResults(model, fought.count(model), tuple(opponents), _groups(entries, fought, model), best, worst)


def _groups(entries: Entries, fought: ModelOutcomes, model: str) -> tuple[ResultGroup, ...]:
    item = entries.item[fought.output]
    groups: list[ResultGroup] = []
    for by in GROUPS:
        if by == "mode":
            codes, names = entries.mode[fought.output].astype(np.int64), tuple(MODES)
        else:
            codes, names = entries.labels[by].of[item].astype(np.int64), entries.labels[by].names
        for code in np.unique(codes).tolist():
            value = names[code] if code >= 0 else ""
            groups.append(ResultGroup(by, value, fought.count(model, "", codes == code)))
    return tuple(groups)


def _examples(
    entries: Entries, fought: ModelOutcomes, model: str, hidden: Collection[str]
) -> tuple[tuple[ResultExample, ...], tuple[ResultExample, ...]]:
    """The outputs with most wins over losses, and with most losses over wins; ties go to the one with more battles."""
    if not fought.output.size:
        return (), ()
    outputs, position = np.unique(fought.output, return_inverse=True)
    lead = np.bincount(position, (fought.outcome == LEFT).astype(float) - (fought.outcome == RIGHT)).astype(np.int64)
    battles = np.bincount(position)
    visible = np.array([entries.item_id[entries.item[output]] not in hidden for output in outputs.tolist()])
    ids = entries.order[outputs]

    def example(at: int) -> ResultExample:
        output = int(outputs[at])
        item_id = entries.item_id[entries.item[output]]
        return ResultExample(item_id, entries.id_of(output), fought.count(model, "", position == at))

    best = [at for at in np.lexsort((ids, -battles, -lead)).tolist() if visible[at] and lead[at] > 0]
    worst = [at for at in np.lexsort((ids, -battles, lead)).tolist() if visible[at] and lead[at] < 0]
    return tuple(map(example, best[:EXAMPLES])), tuple(map(example, worst[:EXAMPLES]))
