"""``imarena compare``."""

from collections.abc import Sequence
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from imarena.cli import gates
from imarena.cli.console import emit, print_causes, print_tables, progress_bars, session
from imarena.cli.options import ItemColumnsOption
from imarena.cli.questions import judging_options
from imarena.core import UserError, command_line, skip_causes
from imarena.core.notices import sentences
from imarena.reports import columns
from imarena.reports.tables import Column, Table

if TYPE_CHECKING:
    from imarena.reports import ComparedItem
    from imarena.stats import GateReport
    from imarena.workflows.studies import ModelComparison

_TIED_SHOWN = 10


# Over 60 lines for its options alone: each is one line of the contract.
@judging_options.with_shared_options(
    *judging_options.ENDPOINT, "repeats", "concurrency", "max_cost_usd", "option", "yes", "dry_run"
)
def command(
    context: typer.Context,
    old: Annotated[Path, typer.Argument(metavar="OLD", help="A folder of outputs: <key>.png.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="A second folder of outputs, for the same items.")],
    items: Annotated[
        Path | None,
        typer.Option(
            "--items",
            help="Required: a CSV with the columns key, instruction and source; task and others are optional.",
        ),
    ] = None,
    columns: ItemColumnsOption = None,
    judge: Annotated[str, typer.Option("--judge", "-j", help="A judge of the catalog or of imarena.toml.")] = "builtin",
    orders: Annotated[
        str, typer.Option("--orders", metavar="<both|single|paper-compat>", help="Orders in which each pair is shown.")
    ] = "both",
    report: Annotated[Path, typer.Option("--report", help="Folder for the page with examples.")] = Path(
        "compare-report"
    ),
    old_name: Annotated[
        str, typer.Option("--old-name", help="Name of OLD in the results (default: its folder's name).")
    ] = "",
    new_name: Annotated[
        str, typer.Option("--new-name", help="Name of NEW in the results (default: its folder's name).")
    ] = "",
    level: Annotated[float, typer.Option("--level", help="Confidence level of the intervals and the verdict.")] = 0.95,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-if",
            help="A gate: worse or not-better; repeatable. Exit code 4 if one fails, 3 if data are missing.",
        ),
    ] = None,
    junit: gates.JUnitFile = None,
    summary: gates.SummaryFile = None,
    top: Annotated[int, typer.Option("--top", min=0, help="Number of items to list where the two differ most.")] = 5,
    *,
    asked: judging_options.ChosenOptions,
) -> None:
    """Is NEW better than OLD? Two folders of outputs, a verdict with its interval, and examples side by side.

    With --workspace DIR the judgments are stored there, and the next run asks only new questions.
    """
    from imarena.workflows import studies
    from imarena.workflows.questions import parse_orders

    if items is None:
        raise UserError(
            "Name the table of items: --items items.csv.",
            hint="It has a row per item: key (outputs are called KEY.png), instruction and source (an image path "
            "relative to the table). For outputs of items that a workspace has: "
            f"`{command_line('edit -e folder:PATH')}`, then "
            "`battle`.",
        )
    studies.check_level(level)
    rules = studies.read_comparison_rules(fail_if or ())
    gates.check_gate_options(junit, gated=bool(rules))
    table = studies.ComparedItems(items, ",".join(columns or ()))
    sides = studies.name_sides(old, new, old_name, new_name)
    with studies.comparison_workspace(session(context).workspace, dry_run=asked.dry_run) as workspace:
        with progress_bars("compare") as tell:
            imported = studies.import_folders(workspace, table, sides, progress=tell)
        studies.need_both_sides(workspace, sides, imported)
        job = studies.plan_comparison(
            workspace,
            sides,
            table,
            imported,
            judge,
            asked.endpoint_arguments(),
            asked.budget(),
            orders=parse_orders(orders),
            repeats=asked.repeats,
        )
        if not judging_options.confirm_estimate(context, asked, [job.estimate]):
            emit(context, {"dry_run": True, "estimate": job.estimate.to_json()}, "Nothing was asked.")
            return
        with judging_options.progress_display() as watch:
            comparison, done = studies.compare(workspace, sides, job, imported, watch=watch, level=level)
        page = studies.write_comparison(workspace, comparison, report)
    gate = studies.comparison_gate(comparison, rules, done)
    document = {**comparison.to_json(top=max(top, 10)), "missing": done.missing, "report": str(page)}
    if gate is not None:
        document["gate"] = gate.to_json()
    emit(context, document, lambda console: _show(console, comparison, top, page, gate))
    gates.write_gate_files(gate, "imarena compare", junit, summary, _summary(comparison, gate))
    missing = done.missing or imported.unusable or any(row.missing for row in comparison.coverage.values())
    gates.gate_exit(gate, partial=bool(missing))


def _summary(comparison: "ModelComparison", gate: "GateReport | None") -> str:
    """Format the comparison for a pull request."""
    from imarena.reports import gate_markdown, next_step_text, task_table, verdict_sentence

    verdict, sides = comparison.verdict, comparison.sides
    lines = [verdict.words, verdict_sentence(verdict, sides.new_name), next_step_text(verdict)]
    tables = [task_table(sides.new_name, comparison.by_task)] if comparison.by_task else []
    title = f"{sides.new_name} against {sides.old_name}"
    notes = sentences(comparison.notices, "report")
    return gate_markdown(title, gate, [*lines, f"Judge: {comparison.judge}."], tables, notes)


def _show(console: Console, comparison: "ModelComparison", top: int, page: Path, gate: "GateReport | None") -> None:
    from imarena.reports import next_step_text, task_table, verdict_sentence
    from imarena.workflows.studies import largest_differences

    verdict, sides = comparison.verdict, comparison.sides
    style = "bold green" if verdict.settled else "bold yellow"
    console.print(verdict.words, style=style)
    console.print(verdict_sentence(verdict, sides.new_name))
    console.print(next_step_text(verdict))
    for text in sentences(comparison.notices):
        console.print(text, style="yellow")
    print_causes(console, skip_causes(comparison.skips))
    if comparison.by_task:
        print_tables(console, [task_table(sides.new_name, comparison.by_task)])
    if rows := largest_differences(comparison.items, top):
        print_tables(console, [_differences(rows, comparison)])
    if comparison.tied:
        names = ", ".join(comparison.tied[:_TIED_SHOWN])
        more = f" and {len(comparison.tied) - _TIED_SHOWN:,} more" if len(comparison.tied) > _TIED_SHOWN else ""
        console.print(f"Tied: {names}{more}")
    console.print(f"Judge: {comparison.judge}. Side by side: {page.resolve()}")
    gates.show_gates(console, gate)


def _differences(rows: "Sequence[ComparedItem]", comparison: "ModelComparison") -> Table:
    from imarena.reports import lead_format, lead_meaning

    sides, scale = comparison.sides, comparison.scale
    lead = Column("ahead by", lead_format(scale))
    head = columns("where they differ most", "better", lead, Column("instruction", wrap=True))
    lines = tuple(
        (
            row.item.key,
            sides.new_name if row.points > 0.5 else sides.old_name,
            row.lead,
            shorten(row.item.turns[0].instruction, 70, placeholder=" …"),
        )
        for row in rows
    )
    leads = [row.lead for row in rows if row.lead is not None]
    notes = [f"ahead by: {lead_meaning(scale)}"] if leads else []
    if any(lead < 0 for lead in leads):
        notes.append("below 0: preferred when the two are compared, although its own score is lower")
    return Table(head, lines, notes=tuple(notes))
