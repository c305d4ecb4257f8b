"""``imarena battle``."""

from typing import Annotated, Any

import typer

from imarena.cli.questions import judging_options

Orders = Annotated[
    str,
    typer.Option(
        "--orders",
        metavar="<both|single|paper-compat>",
        help="Orders in which each pair is shown; single: left first; paper-compat: one order, by a fair coin.",
    ),
]
SamplerOption = Annotated[
    str,
    typer.Option(
        "--sampler",
        help="full, voted (pairs with votes), per-pair:N, adaptive (until --width is reached) or new-model:NAME.",
    ),
]
Width = Annotated[
    float | None, typer.Option("--width", help="Stop when every interval is narrower than this (Elo points).")
]
Until = Annotated[
    str, typer.Option("--until", metavar="<pairs|models>", help="Adaptive: whose intervals must reach --width.")
]
Seed = Annotated[int, typer.Option("--seed", help="Seed of the sampler and of the paper-compat coin.")]


@judging_options.with_shared_options(*judging_options.ALL_OPTIONS)
def command(
    context: typer.Context,
    judge: judging_options.Judges = None,
    orders: Orders = "both",
    sampler: SamplerOption = "full",
    width: Width = None,
    until: Until = "pairs",
    seed: Seed = 0,
    *,
    asked: judging_options.ChosenOptions,
) -> None:
    """Compare outputs in pairs, each pair in both orders. Existing judgments are kept; failures are retried."""
    from imarena.routing import parse_sampler
    from imarena.workflows.questions import parse_orders, plan_battles

    def plan(workspace: Any, arguments: Any, budget: Any) -> list[Any]:
        return plan_battles(
            workspace,
            judge or ["builtin"],
            arguments,
            budget,
            sampler=parse_sampler(sampler, width=width, until=until, seed=seed),
            orders=parse_orders(orders),
            repeats=asked.repeats,
            **asked.what,
        )

    judging_options.run_judging(context, asked, plan, rounds=True)
