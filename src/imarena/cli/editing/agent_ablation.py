"""``imarena agent-ablation``."""

from dataclasses import asdict
from typing import Annotated, Any

import typer

from imarena.cli.console import emit, print_tables, progress_bars, session_workspace
from imarena.cli.options import Latex, parse_pairs
from imarena.cli.questions.judging_options import Yes
from imarena.core.notices import sentences
from imarena.reports import columns, interval
from imarena.reports.tables import Column, Table


def command(
    context: typer.Context,
    editor: Annotated[str, typer.Argument(help="The editor that the agent wraps.")],
    judge: Annotated[str, typer.Option("--judge", "-j", help="The judge that compares the outputs.")] = "builtin",
    driver: Annotated[str, typer.Option("--driver", help="The judge inside the agent's loop.")] = "builtin",
    items: Annotated[list[str] | None, typer.Option("--items", "-i", help="Only this item; repeatable.")] = None,
    tasks: Annotated[list[str] | None, typer.Option("--tasks", help="Only items of this task; repeatable.")] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Maximum number of items.")] = None,
    studio: Annotated[bool, typer.Option("--studio", help="Add the bundled benchmark first.")] = False,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the edits.")] = 42,
    option: Annotated[list[str] | None, typer.Option("--option", "-o", help="key=value, for the agent.")] = None,
    yes: Yes = False,
    latex: Latex = False,
) -> None:
    """Measure what each stage of CV-Agent adds: the editor alone, with understanding, with planning, in a closed loop.

    Edits the items with all four settings, compares the outputs and ranks the settings. The report has the table.
    """
    from imarena.workflows.editing import EditSettings, ablate_agent, add_studio, choose_items, items_in_modes
    from imarena.workflows.wiring import parse_option_values

    with session_workspace(context) as workspace, progress_bars("agent-ablation") as tell:
        if studio:
            add_studio(workspace, tuple(items or ()) or None)
        settings = EditSettings(seed=seed)
        chosen_items, _ = items_in_modes(choose_items(workspace, tasks=tasks, keys=items), settings.modes, limit)
        options: dict[str, Any] = dict(parse_option_values(parse_pairs(option)))
        ablation = ablate_agent(
            workspace, editor, chosen_items, driver=driver, judge=judge, options=options, settings=settings,
            accept_cost=yes, progress=tell,
        )  # fmt: skip
    rows = tuple(
        (stage.setting, stage.editor, stage.outputs, stage.rating, interval(stage.low, stage.high))
        for stage in ablation.stages
    )
    head = columns(
        "configuration", "editor", Column("outputs", ","), Column("rating", ".0f"), Column("95% interval", ".0f", "–")
    )
    notes = tuple(sentences(ablation.ranking.notices))
    table = Table(head, rows, f"Stages of the agent around {editor}, ranked by {judge}", notes)
    document = {"stages": [asdict(stage) for stage in ablation.stages], "notices": list(notes)}
    emit(context, document, lambda console: print_tables(console, [table], latex=latex))
