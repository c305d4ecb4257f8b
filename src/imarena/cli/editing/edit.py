"""``imarena edit``."""

import sys
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from imarena.cli.console import Exit, emit, session, stderr
from imarena.cli.options import Executor, parse_pairs
from imarena.cli.progress import progress_bars
from imarena.cli.questions.judging_options import duration_text
from imarena.core import UserError, counted, plural
from imarena.core.records import Mode

_MODES = {"single": Mode.SINGLE, "multi-turn": Mode.MULTI_TURN, "complex": Mode.COMPLEX}


def command(
    context: typer.Context,
    editor: Annotated[
        list[str] | None, typer.Option("--editor", "-e", help="Which editor; repeatable. --list shows them.")
    ] = None,
    datasets: Annotated[list[str] | None, typer.Option("--datasets", "-d", help="Only these data sets.")] = None,
    tasks: Annotated[list[str] | None, typer.Option("--tasks", "-t", help="Only items of these tasks.")] = None,
    items: Annotated[list[str] | None, typer.Option("--items", "-i", help="Only items with these keys.")] = None,
    studio: Annotated[bool, typer.Option("--studio", help="Add the bundled benchmark's items first.")] = False,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Only the first so many items.")] = None,
    mode: Annotated[list[str] | None, typer.Option("--mode", help="single, multi-turn, complex or all.")] = None,
    samples: Annotated[int, typer.Option("--samples", min=1, help="Outputs for each item; seeds count up.")] = 1,
    seed: Annotated[int, typer.Option("--seed", help="The first sample's seed; -1 sends none.")] = 42,
    concurrency: Annotated[int, typer.Option("--concurrency", min=1, max=4096, help="Edits at once.")] = 8,
    executor: Executor = "",
    max_cost_usd: Annotated[
        float | None, typer.Option("--max-cost-usd", min=0, help="Stop before it is passed.")
    ] = None,
    option: Annotated[list[str] | None, typer.Option("--option", "-o", help="key=value, for the editors.")] = None,
    as_: Annotated[
        str, typer.Option("--as", help="Store the one editor's outputs under this name, beside those made otherwise.")
    ] = "",
    mixed: Annotated[
        bool, typer.Option("--mixed", help="Go on under one name with other options than stored outputs have.")
    ] = False,
    wrap: Annotated[bool, typer.Option("--wrap", help="Put task, definition and topic around instructions.")] = False,
    checks: Annotated[bool, typer.Option(help="Measure failure modes that need no judge.")] = True,
    sheet: Annotated[
        bool, typer.Option(help="Draw contact-sheet.html (and .jpg) in the workspace while it runs.")
    ] = True,
    trust: Annotated[bool, typer.Option("--trust", help="Run commands and functions that imarena.toml names.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before money is spent.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Plan and estimate only.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="Show the editors and stop.")] = False,
) -> None:
    """Run editors over the workspace's items. Resumes: what was made is not made again; failures are tried again."""
    from imarena.clients import Budget
    from imarena.storage import open_workspace
    from imarena.workflows.editing import (
        EditSettings,
        add_studio,
        check_same_variant,
        choose_items,
        edit_items,
        estimate_edits,
        items_in_modes,
        sheet_path,
    )
    from imarena.workflows.questions import executor_of_editors
    from imarena.workflows.wiring import EditorArguments, parse_option_values, wire_editors

    if list_:
        _list_editors(context)
        return
    with open_workspace(session(context).workspace) as workspace:
        if not editor:
            raise UserError("No editor was named.", hint="Name one with --editor NAME; --list shows them.")
        budget = None if max_cost_usd is None else Budget(max_cost_usd)
        editors = wire_editors(
            workspace, editor, EditorArguments(parse_option_values(parse_pairs(option)), trust, as_.strip()), budget
        )
        if studio:
            add_studio(workspace, tuple(items) if items else None)
        modes = _modes(mode)
        found = choose_items(workspace, datasets=datasets, tasks=tasks, keys=items)
        chosen, unfit = items_in_modes(found, modes, limit)
        if unfit:
            words = "of several turns" if modes == (Mode.SINGLE,) else "of one turn"
            stderr().print(
                f"{counted(unfit, 'item')} {words} {plural('is', unfit)} left out: --mode all takes them too.",
                highlight=False,
            )
        settings = EditSettings(
            modes, samples, None if seed < 0 else seed, concurrency, wrap=wrap, checks=checks, sheet=sheet,
            executor=executor_of_editors(workspace.settings, executor, editors),
        )  # fmt: skip
        if not mixed and not dry_run:
            check_same_variant(workspace, editors, settings)
        estimates = estimate_edits(workspace, chosen, editors, settings)
        report = None
        shown = sheet_path(workspace) if sheet and not dry_run else None
        if _go_on(context, estimates, yes, dry_run):
            if shown is not None:
                stderr().print(f"Contact sheet: {escape(str(shown.resolve()))}", soft_wrap=True, highlight=False)
            with progress_bars("edit") as tell:
                report = edit_items(workspace, chosen, editors, settings, progress=tell)
        drivers = {e.name: e.params.get("driven_by") for e in editors}
    named = {name: judge for name, judge in drivers.items() if judge}
    document = {
        "dry_run": dry_run,
        "estimates": [found.to_json() for found in estimates],
        "report": report.to_json() if report else None,
        "driven_by": named,
        "sheet": str(shown) if report and shown else None,
    }
    emit(context, document, lambda console: _show(console, report, named))
    if report and (report.stopped or report.missing):
        raise typer.Exit(Exit.PARTIAL)


def _modes(names: list[str] | None) -> tuple[Mode, ...]:
    chosen: list[Mode] = []
    for name in names or ["single"]:
        if name == "all":
            return tuple(_MODES.values())
        if name not in _MODES:
            raise UserError(f"There is no mode called '{name}'.", hint=f"Known: {', '.join(_MODES)}, all.")
        chosen.append(_MODES[name])
    return tuple(dict.fromkeys(chosen))


def _go_on(context: typer.Context, estimates: list[Any], yes: bool, dry_run: bool) -> bool:
    console = stderr()
    for found in estimates:
        known = "free" if found.cost_usd == 0 else f"about {found.cost_usd or 0:,.4f} USD"
        cost = "cost not known" if found.cost_usd is None else known
        took = "" if found.seconds is None else f", about {duration_text(found.seconds)}"
        counts = f"{counted(found.new, 'edit')} to make, {found.done_before:,} done before"
        console.print(f"[bold]{escape(found.editor)}[/]: {counts}; {cost}{took}")
        console.print("  " + escape(found.basis), style="dim", highlight=False)
        if found.notice:
            console.print("  " + escape(found.notice), style="yellow", highlight=False)
    if dry_run:
        return False
    if not any(estimate.spends for estimate in estimates) or yes or session(context).json or not sys.stdin.isatty():
        return True
    return typer.confirm("Go on?", err=True)


def _show(console: Console, report: Any, drivers: dict[str, Any]) -> None:
    from imarena.editors import failure_advice

    if report is None:
        console.print("Nothing was edited.")
        return
    for name, counts in report.by_editor.items():
        told = ", ".join(f"{number:,} {status}" for status, number in sorted(counts.items()))
        flags = ", ".join(f"{number:,} {flag}" for flag, number in sorted(report.flags.get(name, {}).items()))
        console.print(f"{name}: {told}" + (f"; {flags}" if flags else ""), markup=False)
    cost = f", {report.cost_usd:.4f} USD" if report.cost_usd else ""
    made = report.outputs.get("ok", 0)
    console.print(
        f"{made:,} made, {report.done_before:,} done before{cost}, {duration_text(report.seconds)}", markup=False
    )
    if report.cut_off:
        told = "later turn was" if report.cut_off == 1 else "later turns were"
        console.print(f"{report.cut_off:,} {told} not tried: the turn before has no picture", markup=False)
    for where, error in sorted(report.errors.items()):
        console.print(f"  {where}: {error}", markup=False, soft_wrap=True)
    for status, words in failure_advice(report.outputs, report.errors).items():
        console.print(f"What to do about {status}: {words}", markup=False, soft_wrap=True)
    for name, judge in drivers.items():
        console.print(f"{name} was driven by the judge '{judge}': rank it with another one.", markup=False)
    if report.stopped:
        console.print(f"stopped: {report.stopped}", markup=False)


def _list_editors(context: typer.Context) -> None:
    """What there is, with the workspace's own tables where there is a workspace."""
    from imarena.core import Settings
    from imarena.storage import is_workspace, open_workspace
    from imarena.workflows.wiring import editor_names

    root = session(context).workspace
    settings = Settings()
    if is_workspace(root):
        with open_workspace(root) as workspace:
            settings = workspace.settings
    names = editor_names(settings)

    def show(console: Console) -> None:
        for name, about in names.items():
            console.print(f"{name:28} {about}", markup=False)

    emit(context, names, show)
