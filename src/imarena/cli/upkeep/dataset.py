"""``imarena dataset``: list, remove."""

from dataclasses import asdict
from typing import Annotated

import typer

from imarena.cli.console import command_group, emit, print_tables, session_workspace
from imarena.core import command_line, counted

app = command_group("Data sets of a workspace: list, remove.")


@app.command("list")
def list_command(context: typer.Context) -> None:
    """List the data sets with their numbers of items, outputs, judgments and votes."""
    from imarena.reports import columns
    from imarena.reports.tables import Column, Table
    from imarena.storage import list_datasets

    with session_workspace(context) as workspace:
        datasets = list_datasets(workspace)
    document = {"datasets": [asdict(row) for row in datasets]}
    if not datasets:
        emit(context, document, f"There are no items. Import some: {command_line('import FORMAT PATH')}")
        return
    head = columns(
        Column("data set", wrap=True), Column("items", ","), Column("attempts", ","), Column("judgments", ","),
        Column("votes", ","),
    )  # fmt: skip
    rows = tuple((row.name, row.items, row.outputs, row.judgments, row.votes) for row in datasets)
    emit(context, document, lambda console: print_tables(console, [Table(head, rows)]))


@app.command("remove")
def remove_command(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The data set; `dataset list` lists them.")],
    yes: Annotated[
        bool, typer.Option("--yes", help="Remove it; without it, only print what would be removed.")
    ] = False,
) -> None:
    """Remove a data set that was imported by mistake: its items and imported outputs. Data sets with judgments, votes,
    tasks of a campaign or outputs of `edit` are not removed.
    """
    from imarena.storage import remove_dataset

    with session_workspace(context) as workspace:
        dataset = remove_dataset(workspace, name, remove=yes)
    document = {"removed": yes, "dataset": dataset.name, "items": dataset.items, "outputs": dataset.outputs}
    content = f"{counted(dataset.items, 'item')} and {counted(dataset.outputs, 'output')} of the data set '{name}'"
    text = f"Removed {content}. Their images stay until you run: {command_line('gc --yes')}"
    emit(context, document, text if yes else f"Would remove {content} (--yes does it).")
