"""Reports of workspaces that settle nothing: no verdicts, only ties, only bad outputs."""

import re
from itertools import combinations
from pathlib import Path

from imarena.core.records import Item, Judgment, Order, Outcome, Output, Rater, Turn, Vote
from imarena.storage import init_workspace, open_workspace
from imarena.workflows.reporting import write_report
from tests.command import Imarena
from tests.samples import kept

EDITORS = ("ash", "elm", "fir")


def report_of(root: Path, outcome: Outcome | None) -> str:
    """The Markdown report of six items; a judge gives this outcome on every pair, None: no judge was asked."""
    with init_workspace(root) as workspace:
        for number in range(6):
            item = Item(
                dataset="d", key=f"i{number}", turns=(Turn(instruction="red"),), sources=(kept(workspace, number),)
            )
            made = [
                Output(item_id=item.item_id, editor=editor, image=kept(workspace, 100 + 10 * number + place))
                for place, editor in enumerate(EDITORS)
            ]
            workspace.store.add([item, *made])
            workspace.store.add(
                Judgment(
                    work_id=f"{order}{left.output_id}{right.output_id}", judge="robot", item_id=item.item_id,
                    left_id=left.output_id, right_id=right.output_id, order=order, preference=outcome,
                )
                for left, right in combinations(made, 2)
                for order in (Order.LEFT_FIRST, Order.RIGHT_FIRST)
                if outcome is not None
            )  # fmt: skip
    with open_workspace(root) as workspace:
        write_report(workspace, root / "out", gallery=0)
    return (root / "out" / "report.md").read_text()


def test_a_report_without_verdicts_states_why_in_one_line(tmp_path: Path) -> None:
    lead = report_of(tmp_path / "w", None).splitlines()[2]
    assert lead.startswith(
        "There is no leaderboard yet. There are no votes or verdicts in this workspace to rank by. Run "
    )


def test_a_workspace_of_failed_requests_is_not_asked_for_judgments(tmp_path: Path) -> None:
    root = tmp_path / "w"
    with init_workspace(root) as workspace:
        item = Item(dataset="d", key="i", turns=(Turn(instruction="red"),))
        failed = [Output(item_id=item.item_id, editor=editor, status="refused") for editor in EDITORS]
        workspace.store.add([item, *failed])
        write_report(workspace, root / "out", gallery=0)
    lead = (root / "out" / "report.md").read_text().splitlines()[2]
    assert lead.startswith("There is no leaderboard yet. There are no outputs to compare: no editor has made one yet. ")
    assert "imarena judge" not in lead


def test_ties_have_neither_best_nor_worst_outputs(tmp_path: Path) -> None:
    text = report_of(tmp_path / "w", Outcome.TIE)
    assert not re.search("^## Outputs that .* rated (best|worst)", text, re.MULTILINE)
    assert "- Outputs that were rated best: needs battles that outputs with stored images won. Command: " in text
    assert "- Outputs that were rated worst: needs battles that outputs with stored images lost. Command: " in text


def test_groups_of_few_items_have_no_board(tmp_path: Path) -> None:
    """Six items of three tasks: no group has the six items that can show a difference."""
    root = tmp_path / "w"
    with init_workspace(root) as workspace:
        for number in range(6):
            item = Item(
                dataset="d", key=f"i{number}", task=f"t{number % 3}", turns=(Turn(instruction="red"),),
                sources=(kept(workspace, number),),
            )  # fmt: skip
            left, right = (
                Output(item_id=item.item_id, editor=editor, image=kept(workspace, 100 + 10 * number + place))
                for place, editor in enumerate(EDITORS[:2])
            )
            workspace.store.add([item, left, right])
            workspace.store.add([
                Judgment(
                    work_id=str(number), judge="robot", item_id=item.item_id, left_id=left.output_id,
                    right_id=right.output_id, order=Order.LEFT_FIRST, preference=Outcome.LEFT,
                )
            ])  # fmt: skip
    with open_workspace(root) as workspace:
        write_report(workspace, root / "out", gallery=0)
    text = (root / "out" / "report.md").read_text()
    assert "There is no board by task: every group has too few items to show a difference." in text
    assert "## Leaderboard by task" not in text


def test_bad_outputs_are_worst_and_never_best(tmp_path: Path) -> None:
    text = report_of(tmp_path / "w", Outcome.BOTH_BAD)
    assert not re.search("^## Outputs that .* rated best", text, re.MULTILINE)
    worst = text[text.index("## Outputs that the judge rated worst") :]
    assert "win share 0% in 2 battles" in worst


def test_verdicts_on_outputs_without_editor_names_point_to_align(imarena: Imarena, tmp_path: Path) -> None:
    """As in GenAI-Bench: the judge compared two outputs of each item, and nobody knows which editors made them."""
    root = tmp_path / "w"
    with init_workspace(root) as workspace:
        item = Item(dataset="d", key="i", turns=(Turn(instruction="red"),), sources=(kept(workspace, 0),))
        left, right = (Output(item_id=item.item_id, editor=None, image=kept(workspace, 100 + n)) for n in (1, 2))
        about = {"item_id": item.item_id, "left_id": left.output_id, "right_id": right.output_id}
        workspace.store.add([item, left, right])
        workspace.store.add([Judgment(work_id="w", judge="robot", preference=Outcome.LEFT, **about)])
    for words in (("rank",), ("rank", "--source", "people"), ("site", "site")):
        error = imarena("-w", root, *words, code=2).err
        assert "The outputs have no editor names, so they cannot be ranked." in error
        assert f"imarena -w {root} align" in error
        assert not re.search(r"imarena [^`]*judge`", error)
    imarena("-w", root, "report", "out", "--gallery", 0)
    assert "The outputs have no editor names" in (tmp_path / "out" / "report.md").read_text().splitlines()[2]


def test_the_next_step_fits_what_is_missing(imarena: Imarena, tmp_path: Path) -> None:
    init_workspace(tmp_path / "empty").close()
    for command in (("rank",), ("site", "site")):
        error = imarena("-w", "empty", *command, code=2).err
        assert "The workspace has no items yet.\nImport a benchmark" in error
    report_of(tmp_path / "w", None)
    people = imarena("-w", "w", "rank", "--source", "people", code=2).err
    assert "imarena -w w campaign create NAME" in people
    assert not re.search(r"imarena [^`]*judge`", people)


def test_a_report_of_votes_without_tasks_does_not_repeat_itself(imarena: Imarena, tmp_path: Path) -> None:
    """Two judges, one without a readable reply, and votes of people on items without task and track."""
    root = tmp_path / "w"
    with init_workspace(root) as workspace:
        rater = Rater(rater_id="ann")
        workspace.store.add([rater])
        for number in range(6):
            item = Item(dataset="d", key=f"i{number}", turns=(Turn(instruction="red"),))
            pair = [Output(item_id=item.item_id, editor=editor, image=kept(workspace, 10 * number + place))
                    for place, editor in enumerate(EDITORS[:2])]  # fmt: skip
            about = {"item_id": item.item_id, "left_id": pair[0].output_id, "right_id": pair[1].output_id}
            vote = Vote(rater_id="ann", preference=Outcome.LEFT, idempotency_key=str(number), **about)
            clear = Judgment(work_id=f"c{number}", judge="clear", preference=Outcome.LEFT, **about)
            mute = Judgment(work_id=f"m{number}", judge="mute", status="unparsable", **about)
            workspace.store.add([item, *pair, vote, clear, mute])
    imarena("-w", root, "report", "out", "--gallery", 0)
    text = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "## Judges against people\n" in text
    assert "## Judges against people, by" not in text
    assert text.count("**Verdicts of people and of clear") == 1, "as `align` prints it"
    assert "Table 5: see the section “Judges against people”: its table “Verdicts of people and of clear" in text
    assert "Verdicts of people and of mute" not in text
    assert "(none)" not in text
    assert "the judge does not score both sides" not in text, "only `--all-figures` prints what needs scores"
