"""``imarena judge-study``."""

from typing import Annotated

import typer
from rich.console import Console

from imarena.cli.console import emit, print_tables, session_workspace
from imarena.cli.options import LatexTables, Leaderboard, LeaderboardNames, parse_renames


def command(
    context: typer.Context,
    judge: Annotated[
        list[str] | None, typer.Option("--judge", "-j", help="A judge's name or kind; repeatable (default: all).")
    ] = None,
    leaderboard: Leaderboard = None,
    names: LeaderboardNames = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the tables as Markdown.")] = False,
    latex: LatexTables = False,
) -> None:
    """Compare pointwise and pairwise judging: the judge studies of GenArena on the data of a workspace.

    Accuracy with people, boards by track, self-consistency, ranks, confusion with ties, score differences. Pointwise
    and pairwise judges are paired if they ask the same model. Tables without data name the command that makes them.
    """
    from imarena.workflows.reporting import judge_study, read_leaderboard

    board = None if leaderboard is None else read_leaderboard(leaderboard, parse_renames(names, "--names"))
    with session_workspace(context) as workspace:
        study = judge_study(workspace, judge or (), board)

    def show(console: Console) -> None:
        print_tables(console, study.tables, markdown=markdown, latex=latex)
        if latex:
            return
        for text in study.texts:
            console.print(text)
        for paper_place, needs, how in study.missing:
            console.print(f"{paper_place}: not available. It needs {needs}. Command: {how}.")

    emit(context, study.to_json(), show)
