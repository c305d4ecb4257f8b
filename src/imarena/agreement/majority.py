"""The majority of the votes on each battle, as one more voter."""

from collections import Counter
from collections.abc import Sequence

from imarena.agreement.columns import VerdictColumns
from imarena.stats import MIRROR

MAJORITY = "majority"
RULE = "the outcome with the most votes on the battle; a tie where two or more outcomes have the most"


def majority_of(votes: VerdictColumns, keys: Sequence[str]) -> VerdictColumns | None:
    """One row per battle (and per dimension where votes have one); None where no battle has two votes.

    Outcomes are counted with the sides in one order, so that it does not matter on which side a voter saw an output.
    """
    names = list(dict.fromkeys((*keys, *(["dimension"] if "dimension" in votes.labels else []))))
    counts: dict[tuple[str, ...], Counter[str]] = {}
    first_row: dict[tuple[str, ...], int] = {}
    for row, winner in enumerate(votes.winner):
        if winner is None:
            continue
        left, right = votes.left[row], votes.right[row]
        first, second = sorted((left, right))
        battle = (votes.item[row], first, second, *(votes.labels[name][row] for name in names))
        counts.setdefault(battle, Counter())[winner if first == left else MIRROR[winner]] += 1
        first_row.setdefault(battle, row)
    if all(count.total() < 2 for count in counts.values()):
        return None
    rows = list(first_row.values())
    return VerdictColumns(
        [battle[0] for battle in counts],
        [battle[1] for battle in counts],
        [battle[2] for battle in counts],
        [most_frequent(count) for count in counts.values()],
        [MAJORITY] * len(counts),
        {name: [column[row] for row in rows] for name, column in votes.labels.items()},
        f"the majority of {votes.source}",
    )


def most_frequent(count: Counter[str]) -> str:
    """The outcome with the highest count; a tie where several have it."""
    most = max(count.values())
    leading = [outcome for outcome, number in count.items() if number == most]
    return leading[0] if len(leading) == 1 else "tie"
