"""``imarena compare``."""

from pathlib import Path
from textwrap import shorten
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from imarena.cli.console import Exit, emit, print_tables, session
from imarena.cli.progress import progress_bars
from imarena.cli.questions import judging_options as asking
from imarena.core import UserError
from imarena.core.notices import sentences
from imarena.reports import columns
from imarena.reports.tables import Column, Table

SKIPS_SHOWN = 5


def command(
    context: typer.Context,
    old: Annotated[Path, typer.Argument(metavar="OLD", help="A folder of outputs: <key>.png.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="Another one, for the same items.")],
    items: Annotated[
        Path | None, typer.Option("--items", help="A CSV: key, instruction, source; task and more if you like. Needed.")
    ] = None,
    judge: Annotated[str, typer.Option("--judge", "-j", help="A judge of the catalog or of imarena.toml.")] = "builtin",
    orders: Annotated[str, typer.Option("--orders", help="both, single or paper-compat.")] = "both",
    report: Annotated[Path, typer.Option("--report", help="Folder of the page with examples.")] = Path(
        "compare-report"
    ),
    old_name: Annotated[str, typer.Option("--old-name", help="What OLD is called; else its folder's name.")] = "",
    new_name: Annotated[str, typer.Option("--new-name", help="What NEW is called; else its folder's name.")] = "",
    top: Annotated[int, typer.Option("--top", min=0, help="Items to list where the two differ most.")] = 5,
    endpoint: asking.EndpointName = "",
    base_url: asking.BaseUrl = None,
    model: asking.Model = "",
    api_key_env: asking.ApiKeyEnv = None,
    repeats: asking.Repeats = 1,
    concurrency: asking.Concurrency = None,
    max_cost_usd: asking.MaxCost = None,
    option: asking.Option = None,
    yes: asking.Yes = False,
    dry_run: asking.DryRun = False,
) -> None:
    """Is NEW better than OLD? Two folders of outputs, a verdict with its interval, and examples side by side.

    Everything is kept in --workspace DIR where one is given, so that the next run asks only what is new.
    """
    from imarena.workflows.questions import parse_orders
    from imarena.workflows.studies import (
        compare,
        comparison_workspace,
        import_folders,
        name_sides,
        need_both_sides,
        plan_comparison,
        write_comparison,
    )

    if items is None:
        raise UserError(
            "compare needs to know what was asked for: --items items.csv.",
            hint="A CSV with a row for each item: key (the files are called KEY.png), instruction, source (a picture "
            "beside it). For outputs of items that a workspace has: `imarena edit -e folder:PATH`, then `battle`.",
        )
    chosen = asking.ChosenOptions(
        endpoint, base_url, model, api_key_env, concurrency, max_cost_usd, option, yes, dry_run
    )
    sides = name_sides(old, new, old_name, new_name)
    with comparison_workspace(session(context).workspace) as workspace:
        with progress_bars("compare") as tell:
            imported = import_folders(workspace, items, sides, progress=tell)
        need_both_sides(workspace, sides, imported)
        job = plan_comparison(
            workspace,
            sides,
            items,
            judge,
            chosen.words(),
            chosen.budget(),
            orders=parse_orders(orders),
            repeats=repeats,
        )
        if not asking.confirm_estimate(context, chosen, [job.estimate]):
            emit(
                context, {"dry_run": True, "estimate": job.estimate.to_json()}, lambda c: c.print("Nothing was asked.")
            )
            return
        with asking.progress_display() as watch:
            found, done = compare(workspace, sides, job, imported, watch=watch)
        page = write_comparison(workspace, found, report)
    document = {**found.to_json(top=max(top, 10)), "missing": done.missing, "report": str(page)}
    emit(context, document, lambda console: _show(console, found, top, page))
    if done.missing or imported.skipped or any(row["missing"] for row in found.coverage.values()):
        raise typer.Exit(Exit.PARTIAL)


def _show(console: Console, found: Any, top: int, page: Path) -> None:
    from imarena.reports import next_words, task_table, verdict_sentence
    from imarena.workflows.studies import largest_differences

    verdict, sides = found.verdict, found.sides
    style = "bold green" if verdict.settled else "bold yellow"
    console.print(verdict.words, style=style, markup=False)
    console.print(verdict_sentence(verdict, sides.new_name), markup=False)
    console.print(next_words(verdict), markup=False)
    for text in sentences(found.notices):
        console.print(text, style="yellow", markup=False)
    for skip in found.skips[:SKIPS_SHOWN]:
        console.print(f"[yellow]left out:[/] {escape(str(skip))}")
    if len(found.skips) > SKIPS_SHOWN:
        console.print(f"[yellow]... and {len(found.skips) - SKIPS_SHOWN:,} more (--json lists them all)[/]")
    if found.by_task:
        print_tables(console, [task_table(sides.new_name, found.by_task)])
    if rows := largest_differences(found.items, top):
        print_tables(console, [_differences(rows, sides)])
    console.print(f"Judge: {found.judge}. Side by side: {page.resolve()}", markup=False)


def _differences(rows: Any, sides: Any) -> Table:
    head = columns("where they differ most", "better", Column("ahead by", ".0f"), Column("instruction", wrap=True))
    lines = tuple(
        (
            row.item.key,
            sides.new_name if row.points > 0.5 else sides.old_name,
            None if row.gap is None else abs(row.gap),
            shorten(row.item.turns[0].instruction, 70, placeholder=" …"),
        )
        for row in rows
    )
    return Table(head, lines)
