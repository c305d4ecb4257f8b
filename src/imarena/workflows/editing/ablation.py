"""The effect of each stage of CV-Agent (000, table 11): four settings of one editor, edited, compared and ranked."""

from collections.abc import Sequence
from dataclasses import dataclass

from imarena.core import Progress, UserError
from imarena.core.records import Item, JsonDict, Ranking
from imarena.storage import Workspace
from imarena.workflows.boards import BoardQuery, Boards
from imarena.workflows.editing.estimate import estimate_edits
from imarena.workflows.editing.plan import EditSettings
from imarena.workflows.editing.run import edit_items
from imarena.workflows.questions import ask_jobs, plan_battles
from imarena.workflows.views import View
from imarena.workflows.wiring import EditorArguments, EndpointArguments, wire_editors

STAGE_NAMES = {
    "agent-none": "editor only", "agent-understand": "+ understanding", "agent-plan": "+ understanding and planning",
    "agent": "full agent (closed loop)",
}  # fmt: skip
"""The four settings by the kind of editor, in the order of the table."""


@dataclass(frozen=True)
class StageRating:
    """One setting with its rating."""

    setting: str
    editor: str
    outputs: int
    rating: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class AgentAblation:
    """The settings in the order of the table, and the board with their ratings."""

    stages: tuple[StageRating, ...]
    ranking: Ranking


def ablate_agent(
    workspace: Workspace,
    editor: str,
    items: Sequence[Item],
    *,
    driver: str = "builtin",
    judge: str = "builtin",
    options: JsonDict | None = None,
    settings: EditSettings | None = None,
    accept_cost: bool = False,
    progress: Progress | None = None,
) -> AgentAblation:
    """Edit the items with all four settings, compare the outputs with a judge, and rank the settings.

    `driver` is the judge inside the agent, `judge` the one that ranks; `options` are those of the agent. Finished work
    is not repeated. Raises `UserError` before any step that costs money, unless `accept_cost` is set.
    """
    names = [f"{kind}:{editor}" for kind in STAGE_NAMES]
    editors = wire_editors(workspace, names, EditorArguments({"judge": driver, **(options or {})}))
    settings = settings or EditSettings()
    estimates = estimate_edits(workspace, items, editors, settings)
    jobs_cost = [estimate.editor for estimate in estimates if estimate.spends]
    if jobs_cost and not accept_cost:
        raise UserError(f"Edits with {', '.join(jobs_cost)} cost money.", hint="Add --yes to accept the cost.")
    edit_items(workspace, items, editors, settings, progress=progress)
    variants = [editor.name for editor in editors]
    jobs = plan_battles(workspace, [judge], EndpointArguments(), editors=variants)
    if any(job.estimate.cost_usd != 0 and job.estimate.new for job in jobs) and not accept_cost:
        raise UserError(f"Battles judged by {judge} may cost money.", hint="Add --yes to accept the cost.")
    ask_jobs(workspace, jobs)
    view = View(workspace)
    board = Boards(view).board(BoardQuery(source="judge", judge=judge, kind="compared", editors=tuple(variants)))
    standings = {standing.model: standing for standing in board.ranking.models}
    editor_names = [name or "" for name in view.entries.editor.list(view.entries.ok)]
    stages = tuple(
        StageRating(
            title, name, editor_names.count(name), standings[name].rating, standings[name].low, standings[name].high
        )
        for title, name in zip(STAGE_NAMES.values(), variants, strict=True)
        if name in standings
    )
    return AgentAblation(stages, board.ranking)
