"""A workspace with two groups of models that never met: generators and editors on items of their own."""

from pathlib import Path

from imarena.core.records import Outcome, Rater
from imarena.storage import init_workspace
from tests import samples

ITEMS = 12
GROUPS = (("oak", "ash", "elm"), ("dog", "cat"))


def fill(root: Path) -> None:
    """Votes of one rater: in each group, each model wins five battles of six against the next one."""
    rater = Rater(rater_id="r")
    with init_workspace(root) as workspace:
        workspace.store.add([rater])
        for number, group in enumerate(GROUPS):
            for key in range(ITEMS):
                item = samples.item(f"{number}-{key}")
                made = [samples.output(item, editor) for editor in group]
                workspace.store.add([item, *made])
                workspace.store.add(
                    samples.vote(rater, made[left], made[right], key=f"{number}{key}{left}",
                                 preference=Outcome.RIGHT if key % 6 == 5 else Outcome.LEFT)
                    for left, right in zip(range(len(made) - 1), range(1, len(made)), strict=True)
                )  # fmt: skip
