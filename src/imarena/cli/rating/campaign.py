"""``imarena campaign``: create, invite, status, export, close; change, history and known are in campaign_change."""

import json
from dataclasses import asdict
from pathlib import Path
from shlex import quote as quoted
from typing import Annotated, Any
from urllib.parse import quote

import typer

from imarena.cli.console import emit, fail, session, stderr
from imarena.cli.rating import campaign_change
from imarena.core import counted

app = typer.Typer(
    add_completion=False, rich_markup_mode=None, no_args_is_help=True, help="Rating campaigns: people vote by a link."
)
Name = Annotated[str, typer.Argument(help="The campaign's id, or its name.")]
Many = list[str] | None
PERSON = ("rater_id", "name", "params", "votes", "active", "sheet", "median_time_s", "hasty", "flags")
"""What `campaign status` tells of each rater."""


@app.command("create")
def create(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The campaign's name.")],
    kind: Annotated[str, typer.Option(help="preference, rating, yes_no or check.")] = "preference",
    editor: Annotated[Many, typer.Option(help="Only these editors; repeatable.")] = None,
    dataset: Annotated[Many, typer.Option(help="Only items of these data sets; repeatable.")] = None,
    task: Annotated[Many, typer.Option(help="Only items of these tasks; repeatable.")] = None,
    topic: Annotated[Many, typer.Option(help="Only items of these topics; repeatable.")] = None,
    per_stratum: Annotated[int | None, typer.Option(min=1, help="Items for each task and topic, by chance.")] = None,
    max_units: Annotated[int | None, typer.Option(min=1, help="At most so many pairs, outputs or items.")] = None,
    raters_per_unit: Annotated[int | None, typer.Option(min=1, help="People for each.")] = None,
    gold_rate: Annotated[float, typer.Option(min=0, max=0.5, help="Share of tasks with a known answer.")] = 0.0,
    repeat_rate: Annotated[float, typer.Option(min=0, max=0.5, help="Share of tasks shown again.")] = 0.0,
    weekly_quota: Annotated[int, typer.Option(min=1, help="Most votes of a person in seven days.")] = 200,
    lease_s: Annotated[int, typer.Option(min=10, help="Seconds to answer before others may take the task.")] = 900,
    settings: Annotated[
        Path | None, typer.Option(help="A JSON file with more: gold, practice, qualification, consent, guidelines.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Decides order and sides.")] = 0,
) -> None:
    """Make a campaign and its assignments from what the workspace holds."""
    from pydantic import ValidationError

    from imarena.routing import CampaignPlan
    from imarena.storage import open_workspace
    from imarena.workflows.rating import campaign_progress, create_campaign

    values = {
        "name": name, "kind": kind, "editors": editor or (), "datasets": dataset or (), "tasks": task or (),
        "topics": topic or (), "per_stratum": per_stratum, "max_units": max_units, "raters_per_unit": raters_per_unit,
        "gold_rate": gold_rate, "repeat_rate": repeat_rate, "weekly_quota": weekly_quota, "lease_s": lease_s,
        "seed": seed,
    }  # fmt: skip
    try:
        plan = CampaignPlan.model_validate({**values, **_more(settings)})
    except ValidationError as error:
        first = error.errors()[0]
        fail(f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}.")
    with open_workspace(session(context).workspace) as workspace:
        document = campaign_progress(workspace, create_campaign(workspace, plan)).to_json()
    here = f"imarena -w {quoted(str(session(context).workspace))}"
    text = (
        f"{document['campaign_id']}: {counted(document['units'], 'unit')}, {counted(document['slots'], 'task')}.\n"
        f"Next: {here} campaign invite {quoted(name)} --name WHO   (a rater's link)\n"
        f"      {here} serve   (so that it can be opened)"
    )
    emit(context, document, lambda console: console.print(text, markup=False))


def _more(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        fail(f"{path} cannot be read as JSON: {error}.")
    if not isinstance(settings, dict):
        fail(f"{path} does not hold a JSON object.")
    return settings


@app.command("invite")
def invite(
    context: typer.Context,
    campaign: Name,
    name: Annotated[str, typer.Option(help="Whom the link is for.")] = "",
    people: Annotated[int, typer.Option(min=1, help="1: a personal link. More: one link for many.")] = 1,
    person_param: Annotated[str, typer.Option(help="The link's parameter that tells people apart.")] = "",
    rater: Annotated[str, typer.Option(help="A rater whom `route assign --raters` names: their tasks only.")] = "",
    days: Annotated[float, typer.Option(min=0.01, max=365, help="How long the link is good.")] = 14.0,
    address: Annotated[str, typer.Option(help="The server's address; without it, that of the one that runs now.")] = "",
) -> None:
    """Make an invitation link. It is told once; only its hash is kept."""
    from imarena.storage import open_workspace
    from imarena.workflows.rating import invite_raters
    from imarena.workflows.serving import USUAL, find_server_address

    if rater and people != 1:
        fail("A link for a named rater is for one person.", hint="Leave --people out.")
    with open_workspace(session(context).workspace) as workspace:
        made = invite_raters(
            workspace, campaign, name=name or rater, days=days, max_people=people, person_param=person_param,
            rater_id=rater or None,
        )  # fmt: skip
    here = address or find_server_address(session(context).workspace)
    link = f"{(here or USUAL).rstrip('/')}/join{_who(person_param)}#{made.secret}"
    document = {
        "invitation_id": made.invitation.invitation_id, "campaign_id": made.invitation.campaign_id,
        "rater_id": made.invitation.rater_id, "link": link,
    }  # fmt: skip
    emit(context, document, lambda console: console.print(link, markup=False, soft_wrap=True))
    if not session(context).json:  # the link alone goes to stdout
        whom = f"the rater {rater}" if rater else "one person" if people == 1 else f"up to {people:,} people"
        stderr().print(
            f"For {whom}, good for {days:g} days, shown this once; it opens while `imarena serve` runs there."
        )
        if here is None:
            stderr().print(
                f"No server runs here now. Where `serve` will listen elsewhere, replace {USUAL} in the link, "
                "or give --address.",
                soft_wrap=True,
            )
        elif "//0.0.0.0" in here or "//[::]" in here:
            stderr().print("Replace the host in the link by the name under which raters reach this machine.")


def _who(param: str) -> str:
    """The place in a link where a crowd platform puts the person, as the page's own links have it."""
    if not param:
        return ""
    return f"?{quote(param, safe='')}=" + ("{{%PROLIFIC_PID%}}" if param == "PROLIFIC_PID" else "WHO")


@app.command("status")
def status(
    context: typer.Context, campaign: Annotated[str, typer.Argument(help="An id or a name; none: all.")] = ""
) -> None:
    """How far campaigns are, who rated, and how far raters agree."""
    from imarena.routing import forms
    from imarena.storage import open_workspace
    from imarena.workflows.rating import (
        agreement,
        all_campaigns,
        campaign_progress,
        get_campaign,
        rater_work,
    )

    documents = []
    with open_workspace(session(context).workspace) as workspace:
        chosen = [get_campaign(workspace, campaign)] if campaign else [one for _, one in all_campaigns(workspace)]
        for one in chosen:
            document = campaign_progress(workspace, one).to_json()
            document["agreement"] = [asdict(found) for found in agreement(workspace, one)]
            document["people"] = [_told(work) for work in rater_work(workspace, one)]
            document["least_look_s"] = forms().pace.least_s.get(one.kind)
            documents.append(document)

    def show(console: Any) -> None:
        for document in documents:
            state = "closed" if not document["open"] else "paused" if document["paused"] else "open"
            console.print(f"{document['name']} ({document['campaign_id']}, {document['kind']}, {state})", markup=False)
            console.print(
                f"  {document['votes']:,} of {document['slots']:,} tasks answered, {document['complete_units']:,} of"
                f" {document['units']:,} units complete; raters: {document['raters']}, skips: {document['skipped']}"
            )
            if document["checks"]:
                console.print(
                    f"  beside them, {document['checks_done']:,} of {document['checks']:,} repeats and known answers"
                )
            for one in document["agreement"]:
                alpha = f"{one['alpha']:.3f}" if one["alpha"] is not None else f"undefined ({one['reason']})"
                if one["alpha_low"] is not None:
                    alpha += f" (95 % interval {one['alpha_low']:.3f} to {one['alpha_high']:.3f})"
                console.print(f"  alpha of {one['criterion']}: {alpha}", markup=False)
            for one in document["people"]:
                console.print(f"  {_person(one)}: {_work(one, document['least_look_s'])}", markup=False)

    emit(context, {"campaigns": documents}, show)


def _told(work: Any) -> dict[str, Any]:
    """A rater's work as a document, with how often they were right and said the same twice."""
    counts = {
        "gold_right": sum(work.gold), "gold_asked": len(work.gold),
        "repeats_same": sum(work.repeats), "repeats_asked": len(work.repeats),
    }  # fmt: skip
    return {**{name: getattr(work, name) for name in PERSON}, **counts}


def _work(rater: dict[str, Any], least_look_s: float | None) -> str:
    """What a rater did, and why they stand out."""
    median = rater["median_time_s"]
    parts = [
        f"{rater['votes']:,} {'vote' if rater['votes'] == 1 else 'votes'}",
        *([] if rater["active"] else ["paused"]),
    ]
    parts += ["on a sheet"] if rater["sheet"] else []
    parts += [f"median {median:.1f} s"] if median is not None else []
    parts += (
        [f"same answer twice {rater['repeats_same']} of {rater['repeats_asked']}"] if rater["repeats_asked"] else []
    )
    parts += [f"known answers {rater['gold_right']} of {rater['gold_asked']}"] if rater["gold_asked"] else []
    flags = [
        f"no time to look ({rater['hasty']:,} under {least_look_s:g} s; they count all the same)"
        if flag == "no_time_to_look" and least_look_s is not None
        else flag.replace("_", " ")
        for flag in rater["flags"]
    ]
    return ", ".join(parts) + (f"; stands out: {', '.join(flags)}" if flags else "")


def _person(person: dict[str, Any]) -> str:
    """A rater by name and by what a crowd platform told of them; the id tells people of one name apart."""
    params = ", ".join(f"{name} {value}" for name, value in person["params"].items())
    known = " · ".join(text for text in (person["name"], params) if text)
    return f"{known} ({person['rater_id']})" if known else str(person["rater_id"])


@app.command("export")
def export(
    context: typer.Context,
    campaign: Name,
    to: Annotated[Path | None, typer.Option("--to", help="The file to write; without it, stdout.")] = None,
) -> None:
    """Write all live votes of a campaign as CSV; `imarena rank --from` reads it."""
    from imarena.storage import open_workspace
    from imarena.workflows.rating import export_csv, get_campaign

    with open_workspace(session(context).workspace) as workspace:
        text = export_csv(workspace, get_campaign(workspace, campaign))
    if to is None:
        typer.echo(text, nl=False)
        return
    to.write_text(text, encoding="utf-8")
    rows = text.count("\n") - 1
    emit(context, {"file": str(to), "lines": rows}, lambda console: console.print(f"Wrote {to}.", markup=False))


@app.command("close")
def close(
    context: typer.Context,
    campaign: Name,
    reopen: Annotated[bool, typer.Option("--reopen", help="Open it again instead.")] = False,
) -> None:
    """Close a campaign: no new tasks are given out, and its items can be looked up again."""
    from imarena.storage import open_workspace
    from imarena.workflows.rating import CampaignChanges, change_campaign, get_campaign

    with open_workspace(session(context).workspace) as workspace:
        found = get_campaign(workspace, campaign)
        changed = change_campaign(workspace, found.campaign_id, CampaignChanges(open=reopen), "command line")
    document = {"campaign_id": changed.campaign_id, "open": changed.open}
    emit(context, document, lambda console: console.print("Open." if changed.open else "Closed.", markup=False))


app.command("change")(campaign_change.change)
app.command("history")(campaign_change.show_history)
app.command("known")(campaign_change.known)
