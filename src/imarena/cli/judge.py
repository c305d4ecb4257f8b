"""``imarena judge``."""

import typer

from imarena.cli import asking
from imarena.cli.console import session


def command(
    context: typer.Context,
    judge: asking.Judges = None,
    endpoint: asking.EndpointName = "",
    base_url: asking.BaseUrl = None,
    model: asking.Model = "",
    api_key_env: asking.ApiKeyEnv = None,
    editors: asking.Editors = None,
    datasets: asking.Datasets = None,
    tasks: asking.Tasks = None,
    repeats: asking.Repeats = 1,
    concurrency: asking.Concurrency = None,
    max_cost_usd: asking.MaxCost = None,
    option: asking.Option = None,
    yes: asking.Yes = False,
    dry_run: asking.DryRun = False,
) -> None:
    """Score outputs one by one. Resumes: what was judged is not judged again; failures are tried again."""
    from imarena.storage import open_workspace
    from imarena.workflows.asking import ask, plan_scores

    chosen = asking.Chosen(endpoint, base_url, model, api_key_env, concurrency, max_cost_usd, option, yes, dry_run)
    with open_workspace(session(context).workspace) as workspace:
        jobs = plan_scores(
            workspace,
            judge or ["builtin"],
            chosen.words(),
            chosen.budget(),
            datasets=datasets,
            editors=editors,
            tasks=tasks,
            repeats=repeats,
        )
        estimates = [job.estimate for job in jobs]
        reports = []
        if asking.go_on(context, chosen, estimates):
            with asking.watching() as watch:
                reports = ask(workspace, jobs, watch=watch)
    document = {
        "dry_run": dry_run,
        "estimates": [found.to_json() for found in estimates],
        "reports": [report.to_json() for report in reports],
    }
    asking.finish(context, document, reports, dry_run)
