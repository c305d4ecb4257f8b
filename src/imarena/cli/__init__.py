"""The command line: one file per command."""

from imarena.cli.app import main

__all__ = ["main"]
