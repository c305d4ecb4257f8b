"""``imarena edit``."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from imarena.cli.console import (
    Exit,
    confirm_spending,
    emit,
    print_causes,
    progress_bars,
    session,
    session_workspace,
    stderr,
)
from imarena.cli.options import ExecutorOption, MaxCost, parse_pairs
from imarena.cli.questions.judging_options import DryRun, Yes, duration_text
from imarena.core import UserError, counted, plural, suggestion, unknown_name
from imarena.core.records import Mode

if TYPE_CHECKING:
    from imarena.instructions import Connector
    from imarena.workflows.editing import EditEstimate, EditReport

_MODES = {"single": Mode.SINGLE, "multi-turn": Mode.MULTI_TURN, "complex": Mode.COMPLEX}


# Over 60 lines for its options alone: each is one line of the contract.
def command(
    context: typer.Context,
    editor: Annotated[
        list[str] | None, typer.Option("--editors", "-e", help="The editor; repeatable. --list prints all.")
    ] = None,
    datasets: Annotated[
        list[str] | None, typer.Option("--datasets", "-d", help="Only these data sets; repeatable.")
    ] = None,
    tasks: Annotated[
        list[str] | None, typer.Option("--tasks", "-t", help="Only items of these tasks; repeatable.")
    ] = None,
    items: Annotated[
        list[str] | None, typer.Option("--items", "-i", help="Only items with these keys; repeatable.")
    ] = None,
    studio: Annotated[bool, typer.Option("--studio", help="Add the bundled benchmark's items first.")] = False,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Only the first N items.")] = None,
    mode: Annotated[
        list[str] | None,
        typer.Option(
            "--mode",
            metavar="<single|multi-turn|complex|all>",
            help="How items of several turns are edited; repeatable.",
        ),
    ] = None,
    connector: Annotated[
        str,
        typer.Option(
            "--connector",
            metavar="<concatenate|shuffle|sequential|keep-unchanged>",
            help="Complex mode: how several instructions become one.",
        ),
    ] = "concatenate",
    levels: Annotated[
        str,
        typer.Option(
            "--levels", metavar="<last|all>", help="Complex mode: all instructions, or the first 1, 2, 3, ... of them."
        ),
    ] = "last",
    samples: Annotated[int, typer.Option("--samples", min=1, help="Outputs per item; each has the next seed.")] = 1,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the first sample; -1: none.")] = 42,
    concurrency: Annotated[int, typer.Option("--concurrency", min=1, max=4096, help="Number of concurrent edits.")] = 8,
    executor: ExecutorOption = "",
    max_cost_usd: MaxCost = None,
    option: Annotated[
        list[str] | None, typer.Option("--option", "-o", help="An option of the editors, key=value; repeatable.")
    ] = None,
    as_: Annotated[str, typer.Option("--as", help="Store the outputs under this editor name (one editor only).")] = "",
    mixed: Annotated[
        bool, typer.Option("--mixed", help="Allow outputs made with different options under one editor name.")
    ] = False,
    wrap: Annotated[bool, typer.Option("--wrap", help="Add task, definition and topic to each instruction.")] = False,
    checks: Annotated[bool, typer.Option(help="Measure failure modes that need no judge.")] = True,
    sheet: Annotated[
        bool, typer.Option(help="Write contact-sheet.html (and .jpg) into the workspace during the run.")
    ] = True,
    trust: Annotated[bool, typer.Option("--trust", help="Run commands and functions that imarena.toml names.")] = False,
    yes: Yes = False,
    dry_run: DryRun = False,
    list_: Annotated[bool, typer.Option("--list", help="List the editors.")] = False,
    check: Annotated[
        str,
        typer.Option(
            "--check",
            metavar="MODULE:NAME",
            help="Test your own editor on three built-in cases, list what to fix, store nothing.",
        ),
    ] = "",
) -> None:
    """Run editors on the items of the workspace. Existing outputs are kept; failures are retried."""
    from imarena.clients import Budget
    from imarena.workflows import editing
    from imarena.workflows.questions import executor_of_editors
    from imarena.workflows.wiring import EditorArguments, parse_option_values, wire_editors

    if list_:
        _list_editors(context)
        return
    if check:
        _check(context, check, option)
    with session_workspace(context) as workspace:
        if not editor:
            raise UserError("No editor was named.", hint="Name one with --editors NAME; --list shows them.")
        budget = None if max_cost_usd is None else Budget(max_cost_usd)
        editors = wire_editors(
            workspace, editor, EditorArguments(parse_option_values(parse_pairs(option)), trust, as_.strip()), budget
        )
        settings = editing.EditSettings(
            _modes(mode), samples, None if seed < 0 else seed, concurrency, wrap=wrap, checks=checks, sheet=sheet,
            connector=_connector(connector), all_levels=_all_levels(levels),
            executor=executor_of_editors(workspace.settings, executor, editors), max_cost_usd=max_cost_usd,
        )  # fmt: skip
        choice = editing.ItemChoice(tuple(datasets or ()), tuple(tasks or ()), tuple(items or ()), limit, studio)
        prepared = editing.prepare_edits(workspace, editors, choice, settings, mixed=mixed, dry_run=dry_run)
        if prepared.unfit:
            kind = "multi-turn" if settings.modes == (Mode.SINGLE,) else "single-turn"
            left_out = f"{counted(prepared.unfit, f'{kind} item')} {plural('is', prepared.unfit)} skipped"
            stderr().print(f"{left_out}. Add --mode all to include them.")
        report = None
        contact_sheet = editing.sheet_path(workspace) if sheet and not dry_run else None
        if _go_on(context, prepared.estimates, yes, dry_run):
            if contact_sheet is not None:
                stderr().print(f"Contact sheet: {contact_sheet.resolve()}", soft_wrap=True)
            with progress_bars("edit") as tell:
                report = editing.edit_items(workspace, prepared.items, editors, settings, progress=tell)
    document = {
        "dry_run": dry_run,
        "estimates": [asdict(estimate) for estimate in prepared.estimates],
        "report": report.to_json() if report else None,
        "driven_by": prepared.drivers,
        "sheet": str(contact_sheet) if report and contact_sheet else None,
    }
    emit(context, document, lambda console: _show(console, report, prepared.drivers))
    if report and (report.stopped or report.missing):
        raise typer.Exit(Exit.PARTIAL)


def _modes(names: list[str] | None) -> tuple[Mode, ...]:
    modes: list[Mode] = []
    for name in names or ["single"]:
        if name == "all":
            return tuple(_MODES.values())
        if name not in _MODES:
            raise unknown_name("There is no mode called", name, (*_MODES, "all"))
        modes.append(_MODES[name])
    return tuple(dict.fromkeys(modes))


def _connector(name: str) -> "Connector":
    from imarena.instructions import CONNECTORS

    for connector in CONNECTORS:
        if connector == name:
            return connector
    raise UserError(f"There is no connector called '{name}'.", hint=suggestion(name, CONNECTORS))


def _all_levels(levels: str) -> bool:
    if levels not in ("last", "all"):
        raise UserError(f"There are no levels called '{levels}'.", hint="Known: last, all.")
    return levels == "all"


def _go_on(context: typer.Context, estimates: "Sequence[EditEstimate]", yes: bool, dry_run: bool) -> bool:
    console = stderr()
    printed: set[str] = set()
    for estimate in estimates:
        price = "free" if estimate.cost_usd == 0 else f"about {estimate.cost_usd or 0:,.4f} USD"
        cost = "cost not known" if estimate.cost_usd is None else price
        took = "" if estimate.seconds is None else f", about {duration_text(estimate.seconds)}"
        absent = len(estimate.absent_files)
        new = (
            counted(estimate.new - absent, "file") + " to read"
            if absent
            else counted(estimate.new, "edit") + " to make"
        )
        counts = f"{new}, {estimate.done_before:,} done before"
        console.print(f"[bold]{escape(estimate.editor)}[/]: {counts}; {cost}{took}", markup=True)
        if estimate.basis not in printed:
            console.print("  " + estimate.basis, style="dim")
            printed.add(estimate.basis)
        if estimate.notice:
            console.print("  " + estimate.notice, style="yellow")
    spends = any(estimate.spends for estimate in estimates)
    return confirm_spending(context, spends=spends, yes=yes, dry_run=dry_run)


def _show(console: Console, report: "EditReport | None", drivers: Mapping[str, str]) -> None:
    from imarena.editors import failure_advice, failure_modes

    if report is None:
        console.print("Nothing was edited.")
        return
    for name, counts in report.by_editor.items():
        statuses = ", ".join(f"{number:,} {status}" for status, number in sorted(counts.items()))
        flags = ", ".join(f"{number:,} {flag}" for flag, number in sorted(report.flags.get(name, {}).items()))
        console.print(f"{name}: {statuses}" + (f"; {flags}" if flags else ""))
    for flag in sorted({flag for counts in report.flags.values() for flag in counts}):
        console.print(f"  {flag}: {failure_modes.FLAG_MEANINGS.get(flag, 'measured by a check of another package')}")
    cost = f", {report.cost_usd:.4f} USD" if report.cost_usd else ""
    n_made = report.outputs.get("ok", 0)
    console.print(f"{n_made:,} made, {report.done_before:,} done before{cost}, {duration_text(report.seconds)}")
    if report.cut_off:
        turns = "later turn was" if report.cut_off == 1 else "later turns were"
        console.print(f"{report.cut_off:,} {turns} skipped: the previous turn has no image")
    print_causes(console, report.failures, "  failed")
    for status, advice in failure_advice(report.outputs, report.errors).items():
        console.print(f"What to do about {status}: {advice}", soft_wrap=True)
    for name, judge in drivers.items():
        console.print(f"{name} was driven by the judge '{judge}': rank it with another one.")
    if report.stopped:
        console.print(f"stopped: {report.stopped}")


def _check(context: typer.Context, path: str, option: list[str] | None) -> None:
    """Check an editor, without a workspace."""
    from imarena.cli.questions.plugin_check import check_path, finish_check
    from imarena.workflows.studies import check_editor
    from imarena.workflows.wiring import parse_option_values

    path, options = check_path(path, "edit"), parse_option_values(parse_pairs(option))
    with redirect_stdout(sys.stderr):  # output of the editor
        check = check_editor(path, options)
    finish_check(context, check)


def _list_editors(context: typer.Context) -> None:
    from imarena.workflows.editing import list_editors

    names = list_editors(session(context).workspace)

    def show(console: Console) -> None:
        for name, about in names.items():
            console.print(f"{name:28} {about}")

    emit(context, names, show)
