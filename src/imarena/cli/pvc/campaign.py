"""``imarena pvc campaign``."""

from pathlib import Path
from typing import Annotated

import typer

from imarena.cli.console import emit
from imarena.core import command_line


def command(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="A new JSON file for the settings.", show_default=False)],
) -> None:
    """Write settings of a campaign in which expert raters compare visual consistency alone."""
    from imarena.workflows.preferences import write_campaign_template

    write_campaign_template(file)
    emit(context, {"settings": str(file)}, f"Next: {command_line('campaign create NAME --settings', file)}")
