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

ExecutorOption = Annotated[
    str, typer.Option("--executor", metavar="<auto|threads|processes|ray>", help="Where answers are computed.")
]

ItemColumnsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--columns",
        help="OURS=THEIRS for a table of items, such as instruction=prompt; repeatable, or separated by commas.",
    ),
]
ColumnsOption = Annotated[
    list[str] | None,
    typer.Option("--columns", help="OURS=THEIRS, such as left=model_a, if columns have other names; repeatable."),
]
AllVotes = Annotated[
    bool,
    typer.Option(
        "--all-votes", help="With --from: include votes marked as not counted (rater tests, excluded raters)."
    ),
]
Only = Annotated[
    list[str] | None,
    typer.Option("--only", help="COLUMN=VALUE: only ratings that fit, such as criterion=overall; repeatable."),
]
MaxCost = Annotated[
    float | None,
    typer.Option("--max-cost-usd", min=0, help="Stop before the cost exceeds this many US dollars."),
]
Editors = Annotated[
    list[str] | None,
    typer.Option("--editors", "-e", help="Only these editors; repeatable, or separated by commas."),
]
Datasets = Annotated[list[str] | None, typer.Option("--datasets", "-d", help="Only these data sets; repeatable.")]
Tasks = Annotated[list[str] | None, typer.Option("--tasks", "-t", help="Only these tasks; repeatable.")]
BaseUrl = Annotated[list[str] | None, typer.Option("--base-url", help="An endpoint's address, up to /v1; repeatable.")]
Csv = Annotated[Path | None, typer.Option("--csv", help="Also write the table to this file.")]
EditInstruction = Annotated[str, typer.Argument(help="The edit instruction.")]
NewFolder = Annotated[Path, typer.Argument(metavar="DIR", help="A new or empty folder.")]
Tau = Annotated[float | None, typer.Option("--tau", help="Quality gate: minimum score of both sides.")]
Delta = Annotated[float | None, typer.Option("--delta", help="Ambiguity gate: maximum score gap.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed.")]
UnitRounds = Annotated[int, typer.Option("--rounds", min=0, help="Bootstrap rounds over units; 0 for none.")]
BootstrapSeed = Annotated[int, typer.Option("--seed", min=0, help="Seed of the bootstrap.")]
Verifiers = Annotated[int, typer.Option(min=1, help="Number of people who must have checked an item.")]
LicenceIfNone = Annotated[
    str, typer.Option(metavar="ID", help="Licence of the items that state none, such as CC-BY-4.0.")
]
LatexTables = Annotated[bool, typer.Option("--latex", help="Print the tables as LaTeX.")]
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


def parse_renames(values: list[str] | None, option: str = "--columns") -> dict[str, str]:
    """Parse ``["unit=image,value=mark"]`` of --columns and --labels. In --names one pair is a value, and the first
    name may contain `=`.
    """
    pairs: dict[str, str] = {}
    for word in values or []:
        for part in word.split(",") if option in ("--columns", "--labels") else [word]:
            key, equals, value = part.rpartition("=") if option == "--names" else part.partition("=")
            if not equals or not key or not value:
                raise UserError(f"{option} takes NAME=VALUE, not '{part}'.")
            pairs[key] = value
    return pairs
