"""EdiVal's scores of a workspace: the judge `edival` asked about every dimension."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from imarena.clients import Budget
from imarena.core import UserError
from imarena.judges import EDIVAL_DIMENSIONS
from imarena.storage import Workspace
from imarena.workflows.questions.judging_runs import JudgingJob, plan_scores
from imarena.workflows.wiring import EndpointArguments


def plan_edival(
    workspace: Workspace,
    judges: Sequence[str] | None,
    arguments: EndpointArguments | None = None,
    budget: Budget | None = None,
    **what: Any,
) -> list[JudgingJob]:
    """One job for each dimension; the first ones measure, the later ones find what was measured.

    `judges`: `edival`, or tables of the settings of that kind. `what`: which outputs, as for `plan_scores`.
    """
    asked = arguments or EndpointArguments()
    dimensions = EDIVAL_DIMENSIONS
    if "dimension" in asked.options:
        dimensions = tuple(one for one in EDIVAL_DIMENSIONS if one == asked.options["dimension"])
        if not dimensions:
            raise UserError(
                f"There is no dimension '{asked.options['dimension']}'.", hint=f"Use {', '.join(EDIVAL_DIMENSIONS)}."
            )
    for name in judges or ():
        if str(workspace.settings.judges.get(name, {}).get("kind", name)) != "edival":
            raise UserError(f"'{name}' is not a judge of the kind 'edival'.", hint="Use `imarena judge`.")
    jobs: list[JudgingJob] = []
    for dimension in dimensions:
        options = {**asked.options, "dimension": dimension}
        jobs += plan_scores(workspace, judges or ["edival"], replace(asked, options=options), budget, **what)
    return jobs
