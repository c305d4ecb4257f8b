"""The command line: one file a command."""

from imarena.cli.app import main

__all__ = ["main"]
