"""A small workspace on which the tables of four papers can be worked out by hand.

Twice the same 24 items, three editors, a model `tiny` that scores (`cv-judge/tiny`) and compares (`genarena/tiny`), a metric, three
judges of one dimension each, and two raters who vote on every pair and rate outputs.
"""

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

from imarena.core.records import Issue, Item, Judgment, Outcome, Output, Rater, Turn, Vote
from imarena.images import describe_image
from imarena.storage import Workspace, init_workspace
from tests.workflow.reporting.test_report_command import picture

PERIOD, ITEMS = 24, 48
CLOSED, OPEN, THIRD = EDITORS = ("gpt-image-1", "bagel", "omnigen2")
RATERS = ("ann", "bob")
SCORER, COMPARER, METRIC = "cv-judge/tiny", "genarena/tiny", "clip-i"
DIMENSIONS = {
    "geditbench-instruction-following/tiny": "instruction_following",
    "geditbench-visual-quality/tiny": "visual_quality",
    "pvc-judge": "visual_consistency",
}
REPEATS = (0, 1)


def is_swapped(number: int) -> bool:
    """A quarter of the items: the scorer prefers the second editor, the comparer the picture that it sees first."""
    return number % 4 == 3


def point_score(number: int, editor: str, repeat: int = 0) -> float:
    """Gaps of 60, 140 and 200. The second answer about the first item turns one pair round."""
    if (number % PERIOD, editor, repeat) == (0, CLOSED, 1):
        return 630.0
    scores = (640.0, 700.0, 500.0) if is_swapped(number) else (700.0, 640.0, 500.0)
    return scores[EDITORS.index(editor)] + 40.0 * (number % 6)


def point_dimensions(score: float, editor: str) -> dict[str, float]:
    """The four of CV-Judge; their weighted sum is the score."""
    if editor == THIRD:
        sem, edit, prompt, perc = score + 300, score - 100, score - 100, score
    else:
        sem, edit, prompt, perc = score + 40, score, score, score - 40
    return {
        "semantic_consistency": sem, "editing_success": edit, "prompt_following": prompt, "perceptual_quality": perc,
    }  # fmt: skip


def people_prefer(number: int, first: str, second: str) -> str | None:
    """The editor that both raters prefer; None: they call it a tie, on one pair of one item."""
    if (first, second) == (CLOSED, OPEN):
        return OPEN if number % 8 == 7 else CLOSED
    if (first, second) == (OPEN, THIRD):
        return None if number % PERIOD == 1 else THIRD if number % 6 == 5 else OPEN
    return CLOSED


def comparer_prefers(number: int, first: str, second: str, order: str, repeat: int) -> str:
    """As people do; but the first picture on six pairs, the second editor once, and never a tie."""
    if (first, second) == (CLOSED, OPEN) and is_swapped(number):
        return first if order == "left_first" else second
    if (number % PERIOD, first, second, repeat) == (0, CLOSED, OPEN, 1):
        return OPEN
    return people_prefer(number, first, second) or OPEN


def overall(number: int, editor: str, rater: str) -> float | None:
    """From 1 to 5; the third editor is not rated on odd items, which are of the task TIE."""
    if editor == THIRD and number % 2:
        return None
    marks = (5, 4, 2) if number % 3 else (3, 4, 1)
    return marks[EDITORS.index(editor)] - (number % 2 if rater == "bob" else 0)


def make_item(workspace: Workspace, number: int) -> Item:
    image = picture(number)
    return Item(
        dataset="d", key=f"i{number:02}", task="TIE" if number % 2 else "TIG",
        family="Restoration" if number % PERIOD < 6 else "Objects", track="Basic" if number % PERIOD < 12 else "Reasoning",
        topic="Artworks" if number % 3 else "Screenshots", subtopic=f"s{number % 4}",
        turns=(Turn(instruction="make it red"),), sources=(workspace.keep(describe_image(image), image),),
    )  # fmt: skip


def _scores(number: int, made: dict[str, Output]) -> Iterator[Judgment]:
    for place, (editor, output) in enumerate(made.items()):
        about = {"item_id": output.item_id, "left_id": output.output_id, "judge_version": "1", "run_id": "r"}
        for repeat in REPEATS:
            score = point_score(number, editor, repeat)
            yield Judgment(
                work_id=f"p{repeat}{output.output_id}", judge=SCORER, score=score, scores=point_dimensions(score, editor),
                repeat=repeat, **about,
            )  # fmt: skip
        value = (0.7, 0.8, 0.3)[place] + 0.01 * ((number + place) % 3 - 1)
        yield Judgment(
            work_id=f"m{output.output_id}", judge=METRIC, score=value, dimension="visual_consistency", **about
        )


def _battles(number: int, made: dict[str, Output]) -> Iterator[Judgment]:
    for first, second in combinations(EDITORS, 2):
        left, right = made[first], made[second]
        about = {
            "item_id": left.item_id, "left_id": left.output_id, "right_id": right.output_id, "judge_version": "1",
            "run_id": "r",
        }  # fmt: skip
        for repeat in REPEATS:
            for order in ("left_first", "right_first"):
                chosen = comparer_prefers(number, first, second, order, repeat)
                yield Judgment(
                    work_id=f"b{repeat}{order}{left.output_id}{right.output_id}", judge=COMPARER, order=order,
                    repeat=repeat, preference="left" if chosen == first else "right", **about,
                )  # fmt: skip
    about |= {"left_id": made[CLOSED].output_id, "right_id": made[OPEN].output_id}
    for judge, dimension in DIMENSIONS.items():
        lost = {"instruction_following": number % 8 in (6, 7), "visual_quality": number % 4 in (2, 3)}
        preference = "right" if lost.get(dimension, number % 8 not in (6, 7)) else "left"
        yield Judgment(
            work_id=f"{judge}{about['left_id']}", judge=judge, dimension=dimension, order="both",
            preference=preference, **about,
        )  # fmt: skip


def _votes(number: int, made: dict[str, Output]) -> Iterator[Vote]:
    for rater in RATERS:
        for first, second in combinations(EDITORS, 2):
            chosen = people_prefer(number, first, second)
            yield Vote(
                rater_id=rater, item_id=made[first].item_id, left_id=made[first].output_id,
                right_id=made[second].output_id, idempotency_key=f"{rater}{number}{first}{second}",
                preference=Outcome.TIE if chosen is None else Outcome.LEFT if chosen == first else Outcome.RIGHT,
            )  # fmt: skip
        for editor, output in made.items():
            mark = overall(number, editor, rater)
            if mark is not None:
                yield Vote(
                    rater_id=rater, item_id=output.item_id, left_id=output.output_id, scale=(1, 5),
                    ratings={"overall": mark, "artifacts": 3.0}, idempotency_key=f"{rater}{output.output_id}",
                    issues=(Issue(kind="none", label="objects"),),
                )  # fmt: skip


def make_paper_arena(root: Path) -> None:
    """Fill a new workspace."""
    with init_workspace(root) as workspace:
        workspace.store.add([Rater(rater_id=name) for name in RATERS])
        for number in range(ITEMS):
            item = make_item(workspace, number)
            made = {}
            for place, editor in enumerate(EDITORS):
                image = picture(1000 + 10 * number + place)
                made[editor] = Output(
                    item_id=item.item_id, editor=editor, image=workspace.keep(describe_image(image), image)
                )
            workspace.store.add([item])
            workspace.store.add(list(made.values()))
            workspace.store.add([*_scores(number, made), *_battles(number, made)])
            workspace.store.add(list(_votes(number, made)))
