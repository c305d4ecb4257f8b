"""``imarena campaign``: create, invite, status, export, close; the other commands are in the neighbouring modules."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from imarena.cli.console import (
    command_group,
    emit,
    fail,
    given_options,
    print_tables,
    session,
    session_workspace,
    stderr,
)
from imarena.cli.options import Datasets, Tasks
from imarena.cli.rating import campaign_change, campaign_people, campaign_raters, campaign_rehearse
from imarena.cli.rating.campaign_people import AddressOption, CampaignName, CampaignOrAll, Days, invitation_document
from imarena.core import command_line, counted, fill_in_commands
from imarena.core.notices import notice_fields, sentences

if TYPE_CHECKING:
    from imarena.workflows.rating import CampaignForecast, CampaignProgress, CampaignStatus, RaterWork

app = command_group("Manage rating campaigns: raters vote through a link.")
_Many = list[str] | None
_NAMES_SHOWN = 10
_NONE = "There is no campaign. Create one: {imarena} campaign create NAME"
UNITS = {"preference": "pair", "rating": "output", "yes_no": "output", "check": "item"}
"""The name of a campaign's unit, by kind."""
PERSON = (
    "rater_id", "name", "params", "votes", "active", "sheet", "median_time_s", "hasty", "flags", "gold_right",
    "gold_asked", "repeats_same", "repeats_asked", "excluded", "excluded_since", "excluded_reason",
    "median_measured_s", "overclaimed", "unseen", "last_active",
)  # fmt: skip
"""The fields of each rater in `campaign status`."""


# Over 60 lines for its options alone: each is one line of the contract.
@app.command("create")
def create(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The campaign's name.")],
    kind: Annotated[
        str, typer.Option(metavar="<preference|rating|yes_no|check>", help="What raters are asked.")
    ] = "preference",
    editors: Annotated[_Many, typer.Option("--editors", "-e", help="Only these editors; repeatable.")] = None,
    datasets: Datasets = None,
    tasks: Tasks = None,
    topics: Annotated[_Many, typer.Option("--topics", help="Only items of these topics; repeatable.")] = None,
    per_stratum: Annotated[int | None, typer.Option(min=1, help="Number of items drawn per task and topic.")] = None,
    max_units: Annotated[int | None, typer.Option(min=1, help="Maximum number of pairs, outputs or items.")] = None,
    raters_per_unit: Annotated[
        int | None,
        typer.Option(
            min=1, help="Raters per pair, output or item (default: preference 1, rating 3, yes_no 2, check 1)."
        ),
    ] = None,
    gold_rate: Annotated[float, typer.Option(min=0, max=0.5, help="Share of tasks with a known answer.")] = 0.0,
    repeat_rate: Annotated[float, typer.Option(min=0, max=0.5, help="Share of tasks shown again.")] = 0.0,
    weekly_quota: Annotated[int, typer.Option(min=1, help="Maximum number of votes per rater in seven days.")] = 200,
    lease_s: Annotated[int, typer.Option(min=10, help="Seconds to answer before the task is offered to others.")] = 900,
    settings: Annotated[
        Path | None,
        typer.Option(help="A JSON file with more settings: gold, practice, qualification, consent, guidelines."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the order of tasks and of the sides.")] = 0,
    min_seconds: Annotated[float, typer.Option(min=0, max=600, help="Minimum time in seconds before an answer.")] = 0.0,
    adjudication: Annotated[
        str, typer.Option(metavar="<off|rater|lead>", help="Who answers units on which raters disagree.")
    ] = "off",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the number of tasks and create nothing.")] = False,
) -> None:
    """Create a campaign and its tasks from the items and outputs of the workspace."""
    from imarena.workflows.rating import campaign_progress, create_campaign, forecast_campaign, read_campaign_plan

    values = {
        "name": name, "kind": kind, "editors": editors or (), "datasets": datasets or (), "tasks": tasks or (),
        "topics": topics or (), "per_stratum": per_stratum, "max_units": max_units, "raters_per_unit": raters_per_unit,
        "gold_rate": gold_rate, "repeat_rate": repeat_rate, "weekly_quota": weekly_quota, "lease_s": lease_s,
        "seed": seed, "min_seconds": min_seconds, "adjudication": adjudication,
    }  # fmt: skip
    plan = read_campaign_plan(values, given_options(context), settings)
    with session_workspace(context) as workspace:
        forecast = forecast_campaign(workspace, plan)
        if dry_run:
            text = _forecast_text(forecast, UNITS[plan.kind])
            emit(context, {"dry_run": True, **forecast.model_dump()}, text)
            return
        document = campaign_progress(workspace, create_campaign(workspace, plan)).model_dump()
        document["reasons"] = forecast.model_dump()["reasons"]
    unit = UNITS[plan.kind]
    text = (
        f"Created campaign {name}: {counted(document['units'], unit)}, {counted(document['slots'], 'task')} "
        f"({counted(plan.raters, 'rater')} per {unit}).\n"
        + "".join(f"{line}\n" for line in _reason_lines(forecast))
        + f"Next: {command_line('campaign invite', name)} --name WHO   (a rater's link)\n"
        f"      {command_line('serve')}   (starts the server that the link opens)"
    )
    emit(context, document, text)


def _forecast_text(forecast: "CampaignForecast", unit: str) -> str:
    """Describe how many tasks there will be, and why not more."""
    lines = [
        f"{counted(forecast.units, unit)} for {counted(forecast.raters_per_unit, 'rater')} each: "
        f"{counted(forecast.tasks, 'task')}."
    ]
    if forecast.checks:
        lines.append(f"Tasks with known answers (practice, test, gold): {forecast.checks:,}.")
    if forecast.repeats:
        lines.append(f"Tasks shown again (repeats): about {forecast.repeats:,}, fewer with more raters.")
    return "\n".join([*lines, *_reason_lines(forecast)])


def _reason_lines(forecast: "CampaignForecast") -> list[str]:
    return ["Left out:", *(f"  {left.text}" for left in forecast.reasons)] if forecast.reasons else []


@app.command("invite")
def invite(
    context: typer.Context,
    campaign: CampaignName,
    name: Annotated[str, typer.Option(help="The rater's name.")] = "",
    people: Annotated[int, typer.Option(min=1, help="Number of raters who can use the link; 1: a personal link.")] = 1,
    person_param: Annotated[str, typer.Option(help="The URL parameter that identifies the rater.")] = "",
    rater: Annotated[
        str, typer.Option(help="A rater named by `route assign --raters`; the link gives only their tasks.")
    ] = "",
    days: Days = 14.0,
    address: AddressOption = "",
) -> None:
    """Create an invitation link. It is printed once; only its hash is stored."""
    from imarena.workflows.rating import invite_raters
    from imarena.workflows.serving import USUAL, find_server_address

    if rater and people != 1:
        fail("A link for a named rater is for one person.", hint="Leave --people out.")
    with session_workspace(context) as workspace:
        invited = invite_raters(
            workspace, campaign, name=name or rater, days=days, max_people=people, person_param=person_param,
            rater_id=rater or None,
        )  # fmt: skip
    server = address or find_server_address(session(context).workspace)
    link = invited.link(server or USUAL)
    emit(context, invitation_document(invited.invitation, link), lambda console: console.print(link, soft_wrap=True))
    if not session(context).json:  # only the link goes to stdout
        whom = f"the rater {rater}" if rater else "one person" if people == 1 else f"up to {people:,} people"
        stderr().print(
            f"Link for {whom}, valid for {days:g} days. It is printed only once. "
            f"It works while `serve` runs at this address.",
            soft_wrap=True,
        )
        if server is None:
            stderr().print(
                f"No server is running. If it will use another address, replace {USUAL.rstrip('/')} in the link with "
                "that address.",
                soft_wrap=True,
            )
        elif "//0.0.0.0" in server or "//[::]" in server:
            stderr().print("Replace the host in the link by the name under which raters reach this machine.")


@app.command("status")
def status(
    context: typer.Context,
    campaign: CampaignOrAll = "",
) -> None:
    """Print the progress of campaigns, their raters and how well raters agree."""
    from imarena.workflows.rating import all_campaigns, campaign_status, get_campaign

    with session_workspace(context) as workspace:
        records = [get_campaign(workspace, campaign)] if campaign else [row[1] for row in all_campaigns(workspace)]
        reports = [campaign_status(workspace, record) for record in records]

    def show(console: Any) -> None:
        if not reports:
            console.print(fill_in_commands(_NONE))
        for report in reports:
            _show(console, report)

    emit(context, {"campaigns": [_document(report) for report in reports]}, show)


def _document(report: "CampaignStatus") -> dict[str, Any]:
    return {
        **report.progress.model_dump(),
        "agreement": [criterion.model_dump() for criterion in report.agreement],
        "people": [{name: getattr(rater, name) for name in PERSON} for rater in report.raters],
        **notice_fields(notice for rater in report.raters for notice in rater.notices),
        "least_look_s": report.least_look_s,
        "links_not_opened": [
            {"invitation_id": link.invitation_id, "name": link.name, "expires_at": link.expires_at}
            for link in report.unopened
        ],
    }


def _show(console: Any, report: "CampaignStatus") -> None:
    progress = report.progress
    console.print(f"{progress.name} ({progress.campaign_id}, {progress.kind}, {_state(progress)})")
    console.print(
        f"  {progress.votes:,} of {progress.slots:,} tasks answered, {progress.complete_units:,} of"
        f" {progress.units:,} units complete; raters: {progress.raters}, skips: {progress.skipped}"
    )
    if progress.checks:
        console.print(f"  plus {progress.checks_done:,} of {progress.checks:,} check tasks (repeats, known answers)")
    if report.unopened:
        names = [link.name for link in report.unopened if link.name]
        shown = f" ({', '.join(names[:_NAMES_SHOWN])}{', ...' if len(names) > _NAMES_SHOWN else ''})" if names else ""
        console.print(f"  {counted(len(report.unopened), 'link')} not opened yet{shown}", soft_wrap=True)
    for criterion in report.agreement:
        alpha = f"{criterion.alpha:.3f}" if criterion.alpha is not None else f"undefined ({criterion.reason})"
        if criterion.alpha_low is not None:
            alpha += f" (95% interval {criterion.alpha_low:.3f} to {criterion.alpha_high:.3f})"
        console.print(f"  alpha of {criterion.criterion}: {alpha}")
    for rater in report.raters:
        console.print(f"  {_person(rater)}: {_work(rater)}")
        for text in sentences(rater.notices):
            console.print(f"    warning: {text}", soft_wrap=True)
    if progress.disputed:
        console.print(f"  disputed units: {progress.disputed:,}, of these adjudicated: {progress.adjudicated:,}")


def _state(progress: "CampaignProgress") -> str:
    return "closed" if not progress.open else "paused" if progress.paused else "open"


def _work(rater: "RaterWork") -> str:
    """Describe a rater's work."""
    parts = [counted(rater.votes, "vote"), *([] if rater.active else ["paused"])]
    if rater.excluded:
        since = f" from {rater.excluded_since} on" if rater.excluded_since else ""
        parts.append(f"excluded{since} ({rater.excluded_reason})")
    parts += ["on a sheet"] if rater.sheet else []
    clocks = (("the rater's browser", rater.median_time_s), ("the server's clock", rater.median_measured_s))
    times = [f"{time_s:.1f} s by {clock}" for clock, time_s in clocks if time_s is not None]
    parts += [f"median per vote {' and '.join(times)}"] if times else []
    parts += [f"unseen by the server {rater.unseen:,}"] if rater.unseen else []
    parts += [f"same answer twice {rater.repeats_same} of {rater.repeats_asked}"] if rater.repeats_asked else []
    parts += [f"known answers {rater.gold_right} of {rater.gold_asked}"] if rater.gold_asked else []
    return ", ".join(parts)


def _person(rater: "RaterWork") -> str:
    """Return a rater's name and the crowd platform's parameters; the id distinguishes people with the same name."""
    params = ", ".join(f"{name} {value}" for name, value in rater.params.items())
    details = " · ".join(text for text in (rater.name, params) if text)
    return f"{details} ({rater.rater_id})" if details else rater.rater_id


@app.command("list")
def list_command(context: typer.Context) -> None:
    """List the campaigns with their state, votes and raters, newest first."""
    from imarena.reports import columns
    from imarena.reports.tables import Column, Table
    from imarena.workflows.rating import all_campaigns, campaign_progress

    with session_workspace(context) as workspace:
        campaigns = [campaign_progress(workspace, record) for _, record in all_campaigns(workspace)]

    def show(console: Any) -> None:
        if not campaigns:
            console.print(fill_in_commands(_NONE))
            return
        numbers = (Column(name, ",") for name in ("votes", "tasks", "raters"))
        rows = tuple((row.name, row.kind, _state(row), row.votes, row.slots, row.raters) for row in campaigns)
        print_tables(console, [Table(columns(Column("campaign", wrap=True), "kind", "state", *numbers), rows)])

    emit(context, {"campaigns": [row.model_dump() for row in campaigns]}, show)


@app.command("export")
def export(
    context: typer.Context,
    campaign: CampaignName,
    to: Annotated[Path | None, typer.Option("--to", help="The file to write (default: stdout).")] = None,
) -> None:
    """Write all live votes of a campaign as CSV; `imarena rank --from` reads it.

    The column `not_counted` names why a vote does not count: practice, test, gold, repeat or rater excluded.
    """
    from imarena.workflows.rating import export_csv, get_campaign

    with session_workspace(context) as workspace:
        text = export_csv(workspace, get_campaign(workspace, campaign))
    if to is None:
        typer.echo(text, nl=False, file=session(context).out)
        return
    to.write_text(text, encoding="utf-8")
    rows = text.count("\n") - 1
    emit(context, {"file": str(to), "lines": rows}, f"Wrote {to}: {counted(rows, 'vote')}.")


@app.command("close")
def close(
    context: typer.Context,
    campaign: CampaignName,
    reopen: Annotated[bool, typer.Option("--reopen", help="Open the campaign again.")] = False,
) -> None:
    """Close a campaign: no new tasks are offered, and its items become visible to everybody."""
    from imarena.workflows.rating import CampaignChanges, change_campaign, get_campaign

    with session_workspace(context) as workspace:
        campaign_id = get_campaign(workspace, campaign).campaign_id
        changed = change_campaign(workspace, campaign_id, CampaignChanges(open=reopen), "command line")
    document = {"campaign_id": changed.campaign_id, "open": changed.open}
    text = f"{'Opened' if changed.open else 'Closed'} the campaign '{changed.name}'."
    emit(context, document, text)


app.command("change")(campaign_change.change)
app.command("history")(campaign_change.show_history)
app.command("known")(campaign_change.known)
app.command("exclude")(campaign_raters.exclude)
app.command("include")(campaign_raters.include)
app.command("links")(campaign_people.links)
app.command("revoke")(campaign_people.revoke)
app.command("restore")(campaign_people.unrevoke)
app.command("reinvite")(campaign_people.reinvite)
app.command("payments")(campaign_people.payments)
app.command("rehearse")(campaign_rehearse.rehearse)
