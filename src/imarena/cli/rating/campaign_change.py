"""``imarena campaign change, history, known``: settings of a running campaign, and tasks with known answers."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from imarena.cli.console import emit, fail, session_workspace
from imarena.cli.rating.campaign_people import CampaignName
from imarena.core import command_line, counted, unknown_name, validation_problem
from imarena.core.notices import sentences

if TYPE_CHECKING:
    from imarena.workflows.rating import KnownTaskProposal

USES = ("gold", "practice", "qualification")
_NO_ANSWERS = "Votes that agree make known answers (see --least-votes); or give the answers in a table: --from FILE."


# Over 60 lines for its options alone: each is one line of the contract.
def change(
    context: typer.Context,
    campaign: CampaignName,
    name: Annotated[str | None, typer.Option(help="New name.")] = None,
    guidelines: Annotated[Path | None, typer.Option(help="A text file with new guidelines.")] = None,
    consent: Annotated[
        Path | None, typer.Option(help="A text file with a new consent text; all raters are asked again.")
    ] = None,
    weekly_quota: Annotated[int | None, typer.Option(help="Maximum number of votes per rater in seven days.")] = None,
    raters_per_unit: Annotated[
        int | None,
        typer.Option(help="Raters per pair or output. More: tasks are added. Fewer: free tasks are withdrawn."),
    ] = None,
    lease_s: Annotated[int | None, typer.Option(help="Seconds to answer, for tasks taken from now on.")] = None,
    gold_rate: Annotated[float | None, typer.Option(help="Share of tasks with a known answer.")] = None,
    repeat_rate: Annotated[float | None, typer.Option(help="Share of tasks shown again.")] = None,
    completion_url: Annotated[
        str | None, typer.Option(help="Where raters are sent at the end, with {code} for the code; '': nowhere.")
    ] = None,
    completion_code: Annotated[
        list[str] | None,
        typer.Option(help="OUTCOME=CODE: completed, screened_out, quota_full or partial; repeatable."),
    ] = None,
    complete_after: Annotated[int | None, typer.Option(help="Answers that make a participation complete.")] = None,
    min_seconds: Annotated[
        float | None, typer.Option(help="Minimum time in seconds before an answer; 0: none.")
    ] = None,
    adjudication: Annotated[
        str | None,
        typer.Option(metavar="<off|rater|lead>", help="Who answers units on which raters disagree."),
    ] = None,
    adjudication_answers: Annotated[
        str | None, typer.Option(metavar="<hidden|shown>", help="Whether an adjudicator sees the raters' answers.")
    ] = None,
    paused: Annotated[bool | None, typer.Option("--pause/--resume", help="Pause or resume the campaign.")] = None,
    opened: Annotated[bool | None, typer.Option("--open/--close", help="Open or close it.")] = None,
) -> None:
    """Change the settings of a campaign. What is asked (kind, items, editors, known answers) never changes."""
    from pydantic import ValidationError

    from imarena.workflows.rating import (
        CampaignChanges,
        campaign_progress,
        change_campaign,
        get_campaign,
        history,
    )

    values = {
        "name": name, "guidelines": _words(guidelines), "consent": _words(consent), "weekly_quota": weekly_quota,
        "raters_per_unit": raters_per_unit, "lease_s": lease_s, "gold_rate": gold_rate, "repeat_rate": repeat_rate,
        "completion_url": completion_url, "paused": paused, "open": opened, "completion_codes": _codes(completion_code),
        "complete_after": complete_after, "min_seconds": min_seconds, "adjudication": adjudication,
        "adjudication_answers": adjudication_answers,
    }  # fmt: skip
    try:
        changes = CampaignChanges.model_validate(values)
    except ValidationError as error:
        fail(f"{validation_problem(error).text}.")
    with session_workspace(context) as workspace:
        before = get_campaign(workspace, campaign)
        slots = campaign_progress(workspace, before).slots
        changed = change_campaign(workspace, before.campaign_id, changes, "command line")
        document = campaign_progress(workspace, changed).model_dump()
    new = history(changed)[: len(history(changed)) - len(history(before))]
    names = ", ".join(new[0].changes) if new else ""
    document["changed"] = new[0].changes if new else {}
    document["tasks_added"] = added = document["slots"] - slots
    text = f"Changed: {names}." if names else "Nothing changed."
    if raters_per_unit is not None and names:
        text += f" {_added(added)}"
    emit(context, document, text)


def _added(tasks: int) -> str:
    if tasks < 0:
        return f"{counted(-tasks, 'task')} withdrawn."
    return f"{counted(tasks, 'task')} added." if tasks else "No task was added: each unit has as many already."


def _codes(pairs: list[str] | None) -> dict[str, str] | None:
    """Parse OUTCOME=CODE pairs; None if there are none."""
    if not pairs:
        return None
    for pair in pairs:
        if "=" not in pair:
            fail(f"--completion-code '{pair}' is not OUTCOME=CODE.", hint="Such as completed=C1A2B3.")
    return dict(pair.split("=", 1) for pair in pairs)


def _words(path: Path | None) -> str | None:
    if path is None:
        return None
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        fail(f"{path} cannot be read: {error}.")


def show_history(context: typer.Context, campaign: CampaignName) -> None:
    """List changes of a campaign and excluded raters, newest first."""
    from imarena.workflows.rating import campaign_history, get_campaign

    with session_workspace(context) as workspace:
        edits = campaign_history(workspace, get_campaign(workspace, campaign))

    def show(console: Any) -> None:
        for entry in edits:
            if entry.kind != "settings":
                since = f" (votes from {entry.since[:19]} on)" if entry.since else ""
                who = f"{entry.rater} ({entry.rater_id})" if entry.rater else entry.rater_id
                line = f"{entry.at[:19]}  {entry.by}  {entry.kind} {who}{since}: {_short(entry.reason)}"
                console.print(line, soft_wrap=True)
            for setting, values in entry.changes.items():
                line = f"{entry.at[:19]}  {entry.by}  {setting}: {_short(values['old'])} -> {_short(values['new'])}"
                console.print(line, soft_wrap=True)
        if not edits:
            console.print("Nothing was changed since it was made.")

    emit(context, {"history": [entry.model_dump() for entry in edits]}, show)


def _short(value: object) -> str:
    text = " ".join(str(value).split())
    return f"{text[:60]}…" if len(text) > 60 else text or "(empty)"


# Over 60 lines for its options alone: each is one line of the contract.
def known(
    context: typer.Context,
    kind: Annotated[str, typer.Option(metavar="<preference|rating|yes_no>", help="What the tasks ask.")] = "preference",
    table: Annotated[
        Path | None, typer.Option("--from", help="A CSV file of tasks (default: votes that agree).")
    ] = None,
    least_votes: Annotated[int, typer.Option(min=1, help="Minimum number of votes per task.")] = 2,
    least_share: Annotated[float, typer.Option(min=0.01, max=1, help="Minimum share of votes that agree.")] = 1.0,
    to: Annotated[
        Path | None, typer.Option("--to", help="Write the file that `campaign create --settings` reads.")
    ] = None,
    use: Annotated[
        str, typer.Option(metavar="<gold|practice|qualification>", help="Use of tasks without one in the table.")
    ] = "gold",
    most: Annotated[
        int | None, typer.Option(min=1, help="Maximum number of tasks; those with the most votes first.")
    ] = None,
) -> None:
    """Find tasks with known answers, from votes that agree or from a table, for `campaign create --settings`."""
    from imarena.workflows.rating import known_tasks_from_table, known_tasks_from_votes

    if kind not in ("preference", "rating", "yes_no"):
        fail(f"There are no known answers for the kind '{kind}'.", hint="Choose preference, rating or yes_no.")
    if use not in USES:
        raise unknown_name("There is no use", use, USES)
    text = _words(table)
    with session_workspace(context) as workspace:
        known_tasks = (
            known_tasks_from_table(workspace, kind, text)
            if text is not None
            else known_tasks_from_votes(workspace, kind, (), least_votes, least_share)
        )
    problems = sentences(known_tasks.notices)
    tasks = known_tasks.tasks[:most]
    if to is not None:
        if not tasks:
            fail("No task has a known answer: nothing was written.", hint="; ".join(problems) or _NO_ANSWERS)
        to.write_text(json.dumps(_settings(tasks, use), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    document: dict[str, Any] = {
        "file": None if to is None else str(to),
        "tasks": [task.known.model_dump(mode="json", exclude_defaults=True) for task in known_tasks.tasks],
        "problems": problems,
        "notices": [notice.model_dump(mode="json") for notice in known_tasks.notices],
    }

    def show(console: Any) -> None:
        for task in known_tasks.tasks:
            answer = task.known.preference or task.known.ratings or ("yes" if task.known.answer else "no")
            sides = f"{task.left} | {task.right}" if task.right else task.left
            votes = f" ({counted(task.votes, 'vote')})" if task.votes else ""
            console.print(f"{task.item}: {sides}: {answer}{votes}", soft_wrap=True)
        for problem in problems:
            console.print(problem, soft_wrap=True)
        if not known_tasks.tasks:
            console.print("No task has a known answer.")
        if to is not None:
            console.print(f"Wrote {counted(len(tasks), 'task')} to {to}. Next:")
            console.print(
                f"  {command_line('campaign create NAME --kind', kind, '--settings', to)} --gold-rate 0.1",
                soft_wrap=True,
            )

    emit(context, document, show)


def _settings(tasks: "Sequence[KnownTaskProposal]", use: str) -> dict[str, list[dict[str, Any]]]:
    """Return the tasks by use, in the form of a campaign's settings."""
    by_use: dict[str, list[dict[str, Any]]] = {}
    for task in tasks:
        known_task = task.known.model_dump(mode="json", exclude_defaults=True)
        by_use.setdefault(task.use or use, []).append(known_task)
    return by_use
