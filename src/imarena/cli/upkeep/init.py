"""``imarena init``."""

from pathlib import Path
from typing import Annotated

import typer

from imarena.cli.console import emit, session
from imarena.core import fill_in_commands, suggest_for

NEXT = """Next:
  {imarena} import --list            formats of benchmarks and results that can be imported
  {imarena} edit --studio -e NAME    run an editor on the bundled benchmark
  {imarena} curate describe PHOTOS   collect a benchmark from a folder of photographs"""


def command(
    context: typer.Context,
    directory: Annotated[Path | None, typer.Argument(help="The folder (default: the one of --workspace).")] = None,
    name: Annotated[str, typer.Option(help="Name of the arena.")] = "",
    database: Annotated[str, typer.Option(help="A PostgreSQL URL (default: SQLite in the folder).")] = "",
    blobs: Annotated[
        str, typer.Option(help="Where images are stored: s3://bucket/prefix or a shared folder (default: blobs/).")
    ] = "",
    blobs_endpoint: Annotated[
        str, typer.Option(help="Address of an S3-compatible service (default: AWS_ENDPOINT_URL_S3, or AWS).")
    ] = "",
) -> None:
    """Create a workspace: imarena.toml, arena.db and blobs/. An existing workspace is not changed."""
    from imarena.storage import init_workspace, is_workspace

    root = directory or session(context).workspace
    existed = is_workspace(root)
    with init_workspace(root, name=name, url=database, blobs=blobs, blobs_endpoint=blobs_endpoint) as workspace:
        document = {
            "workspace": str(workspace.root.resolve()),
            "database": workspace.database,
            "made": not existed,
        }
    folder = document["workspace"]
    action = f"{folder} is already a workspace: nothing changed." if existed else f"Created a workspace in {folder}."
    with suggest_for(root):
        emit(context, document, f"{action}\n{fill_in_commands(NEXT)}")
