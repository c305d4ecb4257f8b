"""``imarena pvc evaluate``."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from imarena.cli.console import emit, print_tables, session_workspace
from imarena.cli.options import Datasets, LatexTables

if TYPE_CHECKING:
    from imarena.reports.tables import Table
    from imarena.stats import Figure
    from imarena.workflows.preferences import MetaEvaluation


def command(
    context: typer.Context,
    judge: Annotated[
        list[str] | None,
        typer.Option("--judge", "-j", help="A judge as `imarena status` names it; repeatable. Default: all judges."),
    ] = None,
    dataset: Datasets = None,
    against: Annotated[
        str, typer.Option("--against", help="Print differences to this judge with paired-bootstrap intervals.")
    ] = "",
    rounds: Annotated[int, typer.Option("--rounds", min=100, help="Bootstrap rounds of the mean over tasks.")] = 1000,
    by_task: Annotated[bool, typer.Option("--by-task", help="Also print one row per task.")] = False,
    latex: LatexTables = False,
) -> None:
    """Report how far judges agree with people, by data set, dimension and task.

    Strict accuracy counts a judge's ties and failures as wrong; paper-compat accuracy leaves them out. Pointwise rows
    compare two scores. Ask the judges first with `imarena battle` (pairwise, both orders) or `imarena judge`.
    """
    from imarena.workflows.preferences import evaluate_workspace

    with session_workspace(context) as workspace:
        result = evaluate_workspace(workspace, judge or (), datasets=dataset or (), against=against, rounds=rounds)

    def show(console: Console) -> None:
        print_tables(console, _tables(result, by_task=by_task), latex=latex)

    emit(context, result.to_json(), show)


def _tables(result: "MetaEvaluation", *, by_task: bool) -> "list[Table]":
    from imarena.reports.tables import Column, Table

    tables = []
    groups = dict.fromkeys((row.dataset, row.dimension) for row in result.rows)
    head = (
        Column("judge"), Column("scheme"), Column("task"), Column("pairs", ","), Column("strict"),
        Column("95% interval"), Column("paper-compat"), Column("order consistency"), Column("ties", ","),
        Column("failures", ","),
    )  # fmt: skip
    for dataset, dimension in groups:
        rows = [row for row in result.rows if (row.dataset, row.dimension) == (dataset, dimension)]
        table_rows = [row for row in rows if by_task or row.task in ("all", "mean over tasks")]
        lines = tuple(
            (
                row.judge, row.scheme, row.task, row.pairs, _share(row.strict), _ends(row.strict),
                _share(row.paper_compat), _share(row.consistency), row.ties, sum(row.failures.values()),
            )
            for row in table_rows
        )  # fmt: skip
        ties = rows[0].people_ties if rows else 0
        notes = (f"People tie on {max(row.people_ties for row in rows):,} more pairs.",) if ties else ()
        tables.append(Table(head, lines, f"{dataset}, {dimension}", notes=notes))
    if result.schemes:
        tables.append(_scheme_table(result))
    if result.differences:
        columns = (Column("judge"), Column("less"), Column("data set"), Column("dimension"), Column("difference"),
                   Column("95% interval"))  # fmt: skip
        rows_of = tuple(
            (row.judge, row.against, row.dataset, row.dimension, _share(row.difference), _ends(row.difference))
            for row in result.differences
        )
        tables.append(Table(columns, rows_of, "Differences of strict accuracy"))
    return tables


def _scheme_table(result: "MetaEvaluation") -> "Table":
    """Return figure 2 of GEditBench v2: what a model gains by comparing two outputs instead of scoring each."""
    from imarena.reports.tables import Column, Table

    head = ("data set", "dimension", "model", "pairwise", "strict", "pointwise", "strict", "difference",
            "95% interval")  # fmt: skip
    rows = tuple(
        (
            row.dataset, row.dimension, row.model, _kind(row.pairwise.judge, row.model),
            _share(row.pairwise.strict), _kind(row.pointwise.judge, row.model), _share(row.pointwise.strict),
            _share(row.difference), _ends(row.difference),
        )
        for row in result.schemes
    )  # fmt: skip
    return Table(tuple(Column(name) for name in head), rows, "Pairwise less pointwise, same model and pairs")


def _kind(judge: str, model: str) -> str:
    """Return a judge's name without its model, which has its own column."""
    return judge.replace(f"/{model}", "")


def _share(figure: "Figure") -> str:
    return "n/a" if figure.value is None else f"{figure.value:.3f}"


def _ends(figure: "Figure") -> str:
    return "" if figure.low is None or figure.high is None else f"{figure.low:.3f} to {figure.high:.3f}"
