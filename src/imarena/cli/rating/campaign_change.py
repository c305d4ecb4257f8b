"""``imarena campaign change, history, known``: settings of a campaign under way, and tasks with known answers."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from imarena.cli.console import emit, fail, session
from imarena.core import counted
from imarena.core.notices import sentences

Name = Annotated[str, typer.Argument(help="The campaign's id, or its name.")]


def change(
    context: typer.Context,
    campaign: Name,
    name: Annotated[str | None, typer.Option(help="Another name.")] = None,
    guidelines: Annotated[Path | None, typer.Option(help="A text file with other guidelines.")] = None,
    consent: Annotated[
        Path | None, typer.Option(help="A text file with another consent text; everybody is asked again.")
    ] = None,
    weekly_quota: Annotated[int | None, typer.Option(help="Most votes of a person in seven days.")] = None,
    raters_per_unit: Annotated[
        int | None, typer.Option(help="People for each unit. More: tasks are added. Fewer: free tasks are withdrawn.")
    ] = None,
    lease_s: Annotated[int | None, typer.Option(help="Seconds to answer, for tasks taken from now on.")] = None,
    gold_rate: Annotated[float | None, typer.Option(help="Share of tasks with a known answer.")] = None,
    repeat_rate: Annotated[float | None, typer.Option(help="Share of tasks shown again.")] = None,
    completion_url: Annotated[str | None, typer.Option(help="Where raters are sent at the end; '': nowhere.")] = None,
    paused: Annotated[bool | None, typer.Option("--pause/--resume", help="No tasks for now; or go on.")] = None,
    opened: Annotated[bool | None, typer.Option("--open/--close", help="Open or close it.")] = None,
) -> None:
    """Change settings of a campaign under way. What is asked (kind, items, editors, known answers) never changes."""
    from pydantic import ValidationError

    from imarena.storage import open_workspace
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
        "completion_url": completion_url, "paused": paused, "open": opened,
    }  # fmt: skip
    try:
        changes = CampaignChanges.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        fail(f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}.")
    with open_workspace(session(context).workspace) as workspace:
        before = get_campaign(workspace, campaign)
        changed = change_campaign(workspace, before.campaign_id, changes, "command line")
        document = campaign_progress(workspace, changed).to_json()
    new = history(changed)[: len(history(changed)) - len(history(before))]
    told = ", ".join(new[0].changes) if new else ""
    document["changed"] = new[0].changes if new else {}
    text = f"Changed: {told}." if told else "Nothing changed."
    emit(context, document, lambda console: console.print(text, markup=False))


def _words(path: Path | None) -> str | None:
    if path is None:
        return None
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        fail(f"{path} cannot be read: {error}.")


def show_history(context: typer.Context, campaign: Name) -> None:
    """Who changed what in a campaign, and when; the newest first."""
    from imarena.storage import open_workspace
    from imarena.workflows.rating import get_campaign, history

    with open_workspace(session(context).workspace) as workspace:
        found = history(get_campaign(workspace, campaign))

    def show(console: Any) -> None:
        for entry in found:
            for setting, values in entry.changes.items():
                line = f"{entry.at[:19]}  {entry.by}  {setting}: {_short(values['old'])} -> {_short(values['new'])}"
                console.print(line, markup=False, soft_wrap=True)
        if not found:
            console.print("Nothing was changed since it was made.")

    emit(context, {"history": [asdict(entry) for entry in found]}, show)


def _short(value: object) -> str:
    text = " ".join(str(value).split())
    return f"{text[:60]}…" if len(text) > 60 else text or "(empty)"


def known(
    context: typer.Context,
    kind: Annotated[str, typer.Option(help="preference, rating or yes_no.")] = "preference",
    table: Annotated[Path | None, typer.Option("--from", help="A CSV; without it, votes that agree.")] = None,
    least_votes: Annotated[int, typer.Option(min=1, help="Votes that a task needs.")] = 2,
    least_share: Annotated[float, typer.Option(min=0.01, max=1, help="Share of them that must be the same.")] = 1.0,
) -> None:
    """Tasks with known answers, as `campaign create --settings` takes them: from votes that agree, or from a table."""
    from imarena.storage import open_workspace
    from imarena.workflows.rating import known_tasks_from_table, known_tasks_from_votes

    if kind not in ("preference", "rating", "yes_no"):
        fail(f"There are no known answers for the kind '{kind}'.", hint="Choose preference, rating or yes_no.")
    text = _words(table)
    with open_workspace(session(context).workspace) as workspace:
        found = (
            known_tasks_from_table(workspace, kind, text)
            if text is not None
            else known_tasks_from_votes(workspace, kind, (), least_votes, least_share)
        )
    problems = sentences(found.notices)
    document = {
        "tasks": [one.known.model_dump(mode="json", exclude_defaults=True) for one in found.tasks],
        "problems": problems,
        "notices": [notice.model_dump(mode="json") for notice in found.notices],
    }

    def show(console: Any) -> None:
        for one in found.tasks:
            answer = one.known.preference or one.known.ratings or ("yes" if one.known.answer else "no")
            sides = f"{one.left} | {one.right}" if one.right else one.left
            console.print(f"{one.item}: {sides}: {answer} ({counted(one.votes, 'vote')})", markup=False, soft_wrap=True)
        for problem in problems:
            console.print(problem, markup=False, soft_wrap=True)
        if not found.tasks:
            console.print("No task has a known answer.")

    emit(context, document, show)
