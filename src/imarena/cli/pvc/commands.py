"""``imarena pvc``: candidates, pairs, export, train, merge, evaluate, ablation, regions, campaign."""

from imarena.cli.console import command_group
from imarena.cli.pvc import campaign, candidates, evaluate, pairs, regions, train

app = command_group("PVC-Judge: candidates, preference pairs, training data, training, meta-evaluation.")
app.command("candidates")(candidates.command)
app.command("pairs")(pairs.make)
app.command("export")(pairs.export)
app.command("train")(train.train)
app.command("merge")(train.merge)
app.command("evaluate")(evaluate.command)
app.command("ablation")(train.ablation)
app.command("regions")(regions.command)
app.command("campaign")(campaign.command)
