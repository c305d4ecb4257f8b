"""``imarena edival score``."""

from typing import Any

import typer

from imarena.cli.questions import judging_options


@judging_options.with_shared_options
def command(context: typer.Context, asked: judging_options.JudgingOptions) -> None:
    """Score outputs of items with a plan by EdiVal's rules: one judgment for each dimension.

    The same work as `imarena judge --judge edival` with `-o dimension=...` four times. What the tools see is stored as
    evidence: no image is looked at twice.
    """
    from imarena.workflows.questions import plan_edival

    def plan(workspace: Any, arguments: Any, budget: Any) -> list[Any]:
        return plan_edival(workspace, asked.judge, arguments, budget, **asked.what)

    judging_options.run_judging(context, asked, plan, rounds=False)
