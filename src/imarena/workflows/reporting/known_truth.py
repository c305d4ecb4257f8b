"""Known truth about outputs for the bundled benchmark, compared with the boards. Judges never see it."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from imarena.core import grouped
from imarena.core.records import Item, Mode, Output, Status
from imarena.datasets import DATASET
from imarena.editors import QUALITY_ORDER, describe_habit, studio_editors
from imarena.reports import Section, columns
from imarena.reports.tables import Column, Table
from imarena.stats import kendall
from imarena.storage import Workspace
from imarena.studio import entries, true_quality
from imarena.workflows.boards import Board


@dataclass(frozen=True)
class KnownTruth:
    """True qualities (0..1) by output, the section about them, and each board's Kendall's tau with their order."""

    qualities: dict[str, float]
    section: Section
    tau: dict[str, float]


def known_truth(workspace: Workspace, boards: Sequence[Board], editors: Collection[str] = ()) -> KnownTruth | None:
    """The truth for a workspace in which several studio editors worked on bundled items; None for any other.

    `editors`: only these; empty: all.
    """
    habits = {editor.name: editor.habit for editor in studio_editors()}
    where = {"editor": list(editors)} if editors else {}
    with_outputs = {key[0] for key in workspace.store.count(Output, "editor", status=Status.OK.value, **where)}
    if len(with_outputs & habits.keys()) < 2:
        return None
    outputs = list(workspace.store.records(Output, status=Status.OK.value, **where))
    truth = true_qualities(workspace, workspace.store.records(Item, dataset=DATASET), outputs)
    quality = grouped(
        (output.editor, truth[output.output_id])
        for output in outputs
        if output.editor is not None and output.output_id in truth
    )
    if len(quality) < 2:
        return None
    means = {editor: sum(values) / len(values) for editor, values in quality.items()}
    tau = {}
    for board in boards:
        ratings = _ratings(board)
        names = [name for name in ratings if habits.get(name) in QUALITY_ORDER and name in means]
        value = kendall([ratings[name] for name in names], [means[name] for name in names]).value
        if value is not None:
            tau[board.title] = value
    return KnownTruth(truth, _section(means, habits, tau, boards), tau)


def true_qualities(workspace: Workspace, items: Iterable[Item], outputs: Iterable[Output]) -> dict[str, float]:
    """The true quality (0..1) of outputs for items of the bundled benchmark, by id; judges never see it."""
    bundled = {entry.key: [step.instruction for step in entry.steps] for entry in entries()}
    keys = {
        item.item_id: item.key
        for item in items
        if item.dataset == DATASET and bundled.get(item.key) == [turn.instruction for turn in item.turns]
    }
    scores = {}
    for output in sorted(outputs, key=lambda output: (output.item_id, output.turn)):  # each exact image is drawn once
        if output.image is not None and output.item_id in keys and output.status is Status.OK:
            pixels, is_complex = workspace.load(output.image), output.mode is Mode.COMPLEX
            truth = true_quality(keys[output.item_id], pixels, turn=output.turn, complex_mode=is_complex)
            scores[output.output_id] = truth.score
    return scores


def _section(
    means: Mapping[str, float], habits: Mapping[str, str], tau: Mapping[str, float], boards_shown: Sequence[Board]
) -> Section:
    boards = [(board.title, _ratings(board)) for board in boards_shown]
    rows = tuple(
        (editor, means[editor], *(ratings.get(editor) for _, ratings in boards), _habit(editor, habits))
        for editor in sorted(means, key=lambda name: -means[name])
    )
    agreement = "; ".join(f"{title} {value:.2f}" for title, value in tau.items())
    text = [
        "The studio editors are programs with known habits: studio-exact does what was asked, and each of the others"
        " makes one kind of mistake (see the table). The bundled benchmark, called studio, draws the exact answer to"
        " every instruction, so the true quality of each image is known (0 to 1; the table has the"
        " mean over an editor's outputs). Judges see only images and instructions.",
        "A judge can rank the editors correctly and still be wrong about single images: the gallery shows where.",
    ]
    if agreement:
        text.append(
            f"Kendall's tau of each board with the true order (1: identical): {agreement}."
            " studio-flaky is excluded: its true place depends on how its missing outputs count."
        )
    head = columns(
        "editor", Column("true quality", ".2f"), *(Column(title, ".0f") for title, _ in boards),
        Column("what it does", wrap=True),
    )  # fmt: skip
    return Section("Known truth", tuple(text), tables=(Table(head, rows),))


def _ratings(board: Board) -> dict[str, float]:
    return {standing.model: standing.rating for standing in board.ranking.models}


def _habit(editor: str, habits: Mapping[str, str]) -> str:
    """What a studio editor does."""
    about = describe_habit(habits[editor]) if editor in habits else ""
    return f"{about[:1].lower()}{about[1:].rstrip('.')}"
