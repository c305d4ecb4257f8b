"""``imarena judge``."""

from typing import Any

import typer

from imarena.cli.questions import judging_options


@judging_options.with_shared_options
def command(context: typer.Context, asked: judging_options.JudgingOptions) -> None:
    """Score outputs one by one. Resumes: what was judged is not judged again; failures are tried again."""
    from imarena.workflows.questions import plan_scores

    def plan(workspace: Any, words: Any, budget: Any) -> list[Any]:
        return plan_scores(workspace, asked.judge or ["builtin"], words, budget, **asked.what)

    judging_options.run_judging(context, asked, plan, rounds=False)
