"""``imarena edival score``."""

from typing import Annotated, Any

import typer

from imarena.cli.questions import judging_options

EdivalJudges = Annotated[
    list[str] | None,
    typer.Option("--judge", "-j", help="A judge of imarena.toml of the kind edival; repeatable (default: edival)."),
]


@judging_options.with_shared_options(*judging_options.ALL_OPTIONS)
def command(context: typer.Context, judge: EdivalJudges = None, *, asked: judging_options.ChosenOptions) -> None:
    """Score outputs of items with a plan by EdiVal's rules: one judgment per dimension.

    Same as `imarena judge --judge edival`, run once for each of the four values of `-o dimension=...`. The tools'
    results are stored as evidence, so each image is analysed once.
    """
    from imarena.workflows.questions import plan_edival

    def plan(workspace: Any, arguments: Any, budget: Any) -> list[Any]:
        return plan_edival(workspace, judge, arguments, budget, repeats=asked.repeats, **asked.what)

    judging_options.run_judging(context, asked, plan, rounds=False)
