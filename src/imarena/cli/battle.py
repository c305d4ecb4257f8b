"""``imarena battle``."""

from typing import Annotated

import typer

from imarena.cli import asking
from imarena.cli.console import session

Orders = Annotated[
    str, typer.Option("--orders", help="both; single (left first); paper-compat (one order, by a fair coin).")
]
SamplerOption = Annotated[
    str, typer.Option("--sampler", help="full; per-pair:N; adaptive (with --width); new-model:NAME.")
]
Width = Annotated[float | None, typer.Option("--width", help="Adaptive: the widest interval wanted, in Elo points.")]
Until = Annotated[str, typer.Option("--until", help="Adaptive: intervals of 'pairs' or of 'models'.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of the sampler and of the paper-compat coin.")]


def command(
    context: typer.Context,
    judge: asking.Judges = None,
    orders: Orders = "both",
    sampler: SamplerOption = "full",
    width: Width = None,
    until: Until = "pairs",
    seed: Seed = 0,
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
    """Compare outputs in pairs, each pair in both orders. Resumes: only what is missing is asked."""
    from imarena.storage import open_workspace
    from imarena.workflows.asking import ask, plan_battles
    from imarena.workflows.sampling import parse_orders, parse_sampler

    chosen = asking.Chosen(endpoint, base_url, model, api_key_env, concurrency, max_cost_usd, option, yes, dry_run)
    with open_workspace(session(context).workspace) as workspace:
        jobs = plan_battles(
            workspace,
            judge or ["builtin"],
            chosen.words(),
            chosen.budget(),
            sampler=parse_sampler(sampler, width=width, until=until, seed=seed),
            orders=parse_orders(orders),
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
        "rounds": [job.rounds for job in jobs],
    }
    asking.finish(context, document, reports, dry_run)
