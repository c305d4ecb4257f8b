"""Options that several commands share: ``key=value`` pairs, score ranges, the executor, tables, and leaderboards."""

from pathlib import Path
from typing import Annotated, Any

import typer

from imarena.core import UserError

ScoreRangeText = Annotated[
    str | None,
    typer.Option(
        "--range",
        help="The judge's lowest and highest score, LOW:HIGH (default: the judge's own range, or the data's).",
    ),
]

Executor = Annotated[
    str, typer.Option("--executor", help="Where answers are computed: auto, threads, processes or ray.")
]

ItemColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--columns",
        help="OURS=THEIRS for a table of items, such as instruction=prompt; repeatable, or separated by commas.",
    ),
]
AllVotes = Annotated[
    bool,
    typer.Option("--all-votes", help="With --from: also votes marked as not counted (rater tests, excluded raters)."),
]
Only = Annotated[
    list[str] | None,
    typer.Option("--only", help="COLUMN=VALUE: only ratings that fit, such as criterion=overall; repeatable."),
]
MaxCost = Annotated[
    float | None,
    typer.Option("--max-cost-usd", min=0, help="Stop before the cost exceeds this many US dollars."),
]
Latex = Annotated[bool, typer.Option("--latex", help="Print LaTeX.")]
Markdown = Annotated[bool, typer.Option("--markdown", help="Print Markdown.")]

Leaderboard = Annotated[
    Path | None,
    typer.Option(
        "--leaderboard", metavar="FILE", help="Correlate ratings with this leaderboard: model and rating or rank."
    ),
]
LeaderboardNames = Annotated[
    list[str] | None, typer.Option("--names", help="OUR_NAME=THEIR_NAME, for --leaderboard; repeatable.")
]


def read_range(text: str | None) -> Any:
    """Parse the range in an option; None if it was not given."""
    from imarena.stats import score_range_from

    return None if text is None else score_range_from(text)


def parse_pairs(values: list[str] | None) -> dict[str, str]:
    """Parse ``["a=1", "b=2"]`` into a dictionary."""
    pairs: dict[str, str] = {}
    for value in values or []:
        key, equals, text = value.partition("=")
        if not equals or not key:
            raise UserError(f"The option '{value}' is not of the form key=value.")
        pairs[key] = text
    return pairs


def parse_names(values: list[str] | None) -> dict[str, str]:
    """Parse ``["ours=theirs"]`` into a dictionary; our name may contain `=`."""
    names: dict[str, str] = {}
    for value in values or []:
        ours, equals, theirs = value.rpartition("=")
        if not equals or not ours or not theirs:
            raise UserError(f"--names takes OUR_NAME=THEIR_NAME, not '{value}'.")
        names[ours] = theirs
    return names
