"""``imarena campaign rehearse``: simulated raters go through a campaign in a copy of the workspace."""

from pathlib import Path
from typing import Annotated, Any

import typer

from imarena.cli.console import emit, session_workspace
from imarena.cli.rating.campaign_people import CampaignName
from imarena.core import command_line, counted
from imarena.core.notices import sentences


def rehearse(
    context: typer.Context,
    campaign: CampaignName,
    to: Annotated[Path, typer.Option("--to", help="A new folder for the copy of the workspace.")],
    careful: Annotated[int, typer.Option(min=0, max=50, help="Number of careful raters, who mostly agree.")] = 2,
    fast: Annotated[int, typer.Option(min=0, max=50, help="Number of raters who answer within a second.")] = 1,
    one_sided: Annotated[int, typer.Option(min=0, max=50, help="Number of raters who always choose left.")] = 1,
    random: Annotated[int, typer.Option(min=0, max=50, help="Number of raters who answer at random.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the simulated answers.")] = 0,
) -> None:
    """Run a campaign with simulated raters in a copy of the workspace, to check its pages, agreement and export.

    By default two careful raters, and one each who answers fast, always chooses left, or answers at random.
    Example: imarena campaign rehearse spring --to rehearsal
    """
    from imarena.workflows.rating import rehearse_campaign

    with session_workspace(context) as workspace:
        result = rehearse_campaign(
            workspace,
            campaign,
            to,
            {"careful": careful, "fast": fast, "one_sided": one_sided, "random": random},
            seed=seed,
        )

    def show(console: Any) -> None:
        real = f" (plus {counted(result.real_votes, 'real vote')} of the campaign)" if result.real_votes else ""
        disputed = f"disputed units: {result.disputed:,}" if result.adjudication else "adjudication is off"
        console.print(
            f"{counted(result.votes, 'simulated vote')}{real}, {result.complete_units:,} of "
            f"{counted(result.units, 'unit')} complete; {disputed}.",
            soft_wrap=True,
        )
        if result.why_incomplete:
            console.print(f"Not all units are complete: {result.why_incomplete}.", soft_wrap=True)
        for criterion in result.agreement:
            alpha = "undefined" if criterion.alpha is None else f"{criterion.alpha:.3f}"
            console.print(f"  alpha of {criterion.criterion}: {alpha}")
        for rater in result.raters:
            ended = (rater.outcome or rater.stage).replace("_", " ")
            console.print(f"  {rater.rater_id}: {counted(rater.votes, 'vote')}, {ended}")
            for text in sentences(rater.notices):
                console.print(f"    warning: {text}", soft_wrap=True)
        console.print(
            f"Next: {command_line('serve', workspace=to)}   (its pages)\n"
            f"      {command_line('campaign export', campaign, workspace=to)}"
        )

    emit(context, result.to_json(), show)
