"""``imarena judge``."""

import sys
from contextlib import redirect_stdout
from typing import Annotated, Any

import typer

from imarena.cli.console import session
from imarena.cli.questions import judging_options

CheckOption = Annotated[
    str,
    typer.Option(
        "--check",
        metavar="MODULE:NAME",
        help="Test your own judge on three built-in cases, list what to fix, store nothing.",
    ),
]


@judging_options.with_shared_options(*judging_options.ALL_OPTIONS)
def command(
    context: typer.Context,
    judge: judging_options.Judges = None,
    check: CheckOption = "",
    *,
    asked: judging_options.ChosenOptions,
) -> None:
    """Score outputs one by one. Existing judgments are kept; failures are retried."""
    from imarena.workflows.questions import plan_scores

    if check:
        _check(context, asked, check)

    def plan(workspace: Any, arguments: Any, budget: Any) -> list[Any]:
        judges = judge or ["builtin"]
        return plan_scores(workspace, judges, arguments, budget, repeats=asked.repeats, **asked.what)

    judging_options.run_judging(context, asked, plan, rounds=False)


def _check(context: typer.Context, options: judging_options.ChosenOptions, path: str) -> None:
    """Check a judge. Needs no workspace; inside one, its endpoints can be named."""
    from imarena.cli.questions.plugin_check import check_path, finish_check
    from imarena.core import FILE_NAME, Settings, load_settings
    from imarena.storage import is_workspace
    from imarena.workflows.studies import check_judge

    path = check_path(path, "judge")
    root = session(context).workspace
    settings = load_settings(root / FILE_NAME) if is_workspace(root) else Settings()
    with redirect_stdout(sys.stderr):  # output of the judge
        check = check_judge(settings, path, options.endpoint_arguments())
    finish_check(context, check)
