"""``imarena pvc``: candidates, pairs, export, train, merge, evaluate, ablation, regions, campaign."""

import typer

from imarena.cli.pvc import campaign, candidates, evaluate, pairs, regions, train

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="PVC-Judge: candidates, preference pairs, training data, training, meta-evaluation.",
)
app.command("candidates")(candidates.command)
app.command("pairs")(pairs.make)
app.command("export")(pairs.export)
app.command("train")(train.train)
app.command("merge")(train.merge)
app.command("evaluate")(evaluate.command)
app.command("ablation")(train.ablation)
app.command("regions")(regions.command)
app.command("campaign")(campaign.command)
