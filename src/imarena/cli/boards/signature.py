"""``imarena signature``."""

from typing import Annotated

import typer

from imarena.cli.console import emit, print_tables
from imarena.reports import columns
from imarena.reports.tables import Column, Table


def command(
    context: typer.Context,
    line: Annotated[str, typer.Argument(help="The line below a board, in quotes.")],
) -> None:
    """Explain a board's signature. Two boards with the same signature have the same numbers."""
    from imarena.ranking import explain_signature

    parts = explain_signature(line)
    document = {"parts": [{"name": name, "value": value, "meaning": meaning} for name, value, meaning in parts]}
    table = Table(columns("part", "value", Column("meaning", wrap=True)), tuple(parts), "Signature of a board")
    emit(context, document, lambda console: print_tables(console, [table]))
