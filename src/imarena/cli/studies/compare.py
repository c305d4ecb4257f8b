"""``imarena compare``."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import shorten
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from imarena.cli.console import Exit, emit, print_tables, session
from imarena.cli.progress import progress_bars
from imarena.cli.questions import judging_options
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
    endpoint: judging_options.EndpointName = "",
    base_url: judging_options.BaseUrl = None,
    model: judging_options.Model = "",
    api_key_env: judging_options.ApiKeyEnv = None,
    repeats: judging_options.Repeats = 1,
    concurrency: judging_options.Concurrency = None,
    max_cost_usd: judging_options.MaxCost = None,
    option: judging_options.Option = None,
    yes: judging_options.Yes = False,
    dry_run: judging_options.DryRun = False,
) -> None:
    """Is NEW better than OLD? Two folders of outputs, a verdict with its interval, and examples side by side.

    Everything is kept in --workspace DIR where one is given, so that the next run asks only what is new.
    """
    from imarena.workflows.questions import parse_orders
    from imarena.workflows.studies import compare, import_folders, name_sides, plan_comparison, write_comparison

    if items is None:
        raise UserError(
            "compare needs to know what was asked for: --items items.csv.",
            hint="A CSV with a row for each item: key (the files are called KEY.png), instruction, source (a picture "
            "beside it). For outputs of items that a workspace has: `imarena edit -e folder:PATH`, then `battle`.",
        )
    chosen = judging_options.ChosenOptions(
        endpoint, base_url, model, api_key_env, concurrency, max_cost_usd, option, yes, dry_run
    )
    sides = name_sides(old, new, old_name, new_name)
    with _workspace(session(context).workspace) as workspace:
        with progress_bars("compare") as tell:
            imported = import_folders(workspace, items, sides, progress=tell)
        _check_keys(imported, workspace, sides)
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
        if not judging_options.confirm_estimate(context, chosen, [job.estimate]):
            emit(
                context, {"dry_run": True, "estimate": job.estimate.to_json()}, lambda c: c.print("Nothing was asked.")
            )
            return
        with judging_options.progress_display() as watch:
            found, done = compare(workspace, sides, job, imported, watch=watch)
        page = write_comparison(workspace, found, report)
    document = {**found.to_json(top=max(top, 10)), "missing": done.missing, "report": str(page)}
    emit(context, document, lambda console: _show(console, found, top, page))
    if done.missing or imported.skipped or any(row["missing"] for row in found.coverage.values()):
        raise typer.Exit(Exit.PARTIAL)


@contextmanager
def _workspace(given: Path) -> Iterator[Any]:
    """The workspace that was named, or one that is gone afterwards."""
    from imarena.storage import init_workspace

    if given != Path():
        with init_workspace(given) as workspace:
            yield workspace
        return
    with tempfile.TemporaryDirectory(prefix="imarena-") as folder, init_workspace(Path(folder) / "arena") as workspace:
        yield workspace


def _check_keys(imported: Any, workspace: Any, sides: Any) -> None:
    """Two folders without one item in common cannot be compared: say what was left out and why."""
    from imarena.core.records import Output

    names = [sides.old_name, sides.new_name]
    counts = {name: workspace.store.count(Output, editor=name).get((), 0) for name in names}
    empty = [name for name in names if not counts[name]]
    if empty:
        why = "; ".join(str(skip) for skip in imported.skips[:3]) or "the folder is empty"
        raise UserError(
            f"No output of {' and '.join(empty)} belongs to an item: {why}.",
            hint="A file is named after its item's key: <key>.png for the key in items.csv; the pictures that "
            "items.csv names lie in its folder or below it.",
        )


def _show(console: Console, found: Any, top: int, page: Path) -> None:
    from imarena.workflows.studies import largest_differences, next_step_text, task_table, verdict_sentence

    verdict, sides = found.verdict, found.sides
    style = "bold green" if verdict.settled else "bold yellow"
    console.print(verdict.words, style=style, markup=False)
    console.print(verdict_sentence(verdict, sides.new_name), markup=False)
    console.print(next_step_text(verdict), markup=False)
    for text in sentences(found.notices):
        console.print(text, style="yellow", markup=False)
    for skip in found.skips[:SKIPS_SHOWN]:
        console.print(f"[yellow]left out:[/] {escape(str(skip))}")
    if len(found.skips) > SKIPS_SHOWN:
        console.print(f"[yellow]... and {len(found.skips) - SKIPS_SHOWN:,} more (--json lists them all)[/]")
    if found.by_task:
        print_tables(console, [task_table(found)])
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
