"""``imarena cluster``: check a Ray cluster."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from imarena.cli.console import Exit, command_group, emit, print_tables, session

if TYPE_CHECKING:
    from imarena.workflows.upkeep import ClusterReport

app = command_group("Check a Ray cluster.")


@app.callback()
def commands() -> None:
    """Check a Ray cluster."""


@app.command("check")
def check(
    context: typer.Context,
    address: Annotated[str, typer.Argument(help="HOST:PORT of the cluster, or auto for the one on this machine.")],
) -> None:
    """List the machines of a cluster, what they offer, and what is missing: versions, extras, weights, storage.

    Exit code 0: all machines can be used; 3: some cannot; 2: none can, or there is no cluster.
    """
    from imarena.workflows.upkeep import check_cluster

    report = check_cluster(address, session(context).workspace)
    emit(context, report.to_json(), lambda console: _show(console, report))
    if report.usable < len(report.nodes):
        raise typer.Exit(Exit.PARTIAL if report.usable else Exit.USER)


def _show(console: Console, report: "ClusterReport") -> None:
    from imarena.reports.tables import Column, Table

    titles = ("machine", "CPUs", "GPUs", "memory", "imarena", "extras", "usable")
    rows = tuple(
        (
            node.host,
            f"{node.cpus:g}",
            f"{node.gpus:g}",
            f"{node.memory_gib:g} GiB",
            node.facts.imarena if node.facts else "",
            ", ".join(node.facts.extras) if node.facts else "",
            "no" if node.problems else "yes",
        )
        for node in report.nodes
    )
    print_tables(console, [Table(tuple(Column(title) for title in titles), rows)])
    for node in report.nodes:
        for problem in node.problems:
            console.print(f"{node.host}: {problem}")
        for warning in node.warnings:
            console.print(f"{node.host}: warning: {warning}", style="yellow")
        if node.lacks:
            console.print(f"{node.host} lacks: {', '.join(node.lacks)}")
    for note in report.notes:
        console.print(note)
