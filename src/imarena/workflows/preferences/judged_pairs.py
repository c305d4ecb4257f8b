"""Pairs of a workspace with what people or a judge said about them."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from imarena.core.records import Outcome, Output
from imarena.preferences import JudgedPair
from imarena.storage import Workspace
from imarena.workflows import views
from imarena.workflows.preferences.measuring import NO_SOURCE, shared_source
from imarena.workflows.questions import ShowableOutputs, load_outputs

Said = tuple[str, str, tuple[Outcome, ...], bool | None]
"""Left and right output, outcomes, and whether both orders agree."""


def voted_pairs_of(
    workspace: Workspace, dimension: str, datasets: Sequence[str] | None, tasks: Sequence[str] | None
) -> tuple[list[JudgedPair], Counter[str]]:
    """Pairs that people voted on, with all votes of the dimension that count."""
    view = views.View(workspace)
    battles = views.people_battles(view, dimension=dimension)
    votes: dict[tuple[str, str], list[Outcome]] = defaultdict(list)
    columns = (battles.left.tolist(), battles.right.tolist(), battles.winner.tolist())
    for left, right, code in zip(*columns, strict=True):
        first, second = view.entries.id_of(left), view.entries.id_of(right)
        outcome = Outcome(views.PREFERENCES[code])
        key = (first, second) if first < second else (second, first)
        votes[key].append(outcome if first < second else outcome.mirrored())
    said = [(left, right, tuple(outcomes), None) for (left, right), outcomes in votes.items()]
    return _pairs(load_outputs(workspace, datasets=datasets, tasks=tasks), said, "people")


def judged_pairs_of(
    workspace: Workspace, judge: str, dimension: str, datasets: Sequence[str] | None, tasks: Sequence[str] | None
) -> tuple[list[JudgedPair], Counter[str]]:
    """Pairs that a judge compared in both orders; failed ones are counted by their status."""
    view = views.View(workspace)
    said: list[Said] = []
    failures: Counter[str] = Counter()
    for chosen in views.chosen_judges(view, [judge]):
        forms = [form for form in chosen.forms if form.pairwise and form.dimension == dimension]
        columns = views.live_judgments(view, forms)
        fought = views.combine_columns(
            columns, columns.of_forms([0] * len(columns.forms)).astype("int32"), view.entries
        )
        failures.update(fought.incomplete())
        for row in fought.decided.nonzero()[0].tolist():
            code, agreed = int(fought.outcome[row]), int(fought.agreed[row])
            name = views.PREFERENCES[code]
            outcome = Outcome.TIE if name == "equal" else Outcome(name)
            left, right = (view.entries.id_of(int(side[row])) for side in (fought.left, fought.right))
            said.append((left, right, (outcome,), None if agreed < 0 else bool(agreed)))
    pairs, skipped = _pairs(load_outputs(workspace, datasets=datasets, tasks=tasks), said, judge)
    return pairs, skipped + failures


def _pairs(board: ShowableOutputs, said: Sequence[Said], who: str) -> tuple[list[JudgedPair], Counter[str]]:
    skipped: Counter[str] = Counter()
    shown = {output.output_id: output for outputs in board.slots.values() for output in outputs}
    return list(_known(board, shown, said, skipped, who)), skipped


def _known(
    board: ShowableOutputs, shown: dict[str, Output], said: Sequence[Said], skipped: Counter[str], who: str
) -> Iterator[JudgedPair]:
    for left_id, right_id, outcomes, agreed in said:
        left, right = shown.get(left_id), shown.get(right_id)
        if left is None or right is None or left.image is None or right.image is None:
            skipped["pixels_absent_or_not_chosen"] += 1
            continue
        item = board.items[left.item_id]
        source = shared_source(item, (left, right), board.parents)
        if source is None:
            skipped[NO_SOURCE] += 1
            continue
        details = {"by": who, "left": {"output": left_id, "editor": left.editor},
                   "right": {"output": right_id, "editor": right.editor}}  # fmt: skip
        yield JudgedPair(
            item.item_id, views.instruction_of(item, left.turn, left.mode),
            item.turns[left.turn].task or item.task or "", source, left.image, right.image, outcomes, agreed, details,
        )  # fmt: skip
