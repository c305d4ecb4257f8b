"""``imarena score``."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from imarena.cli.console import Exit, emit, print_tables, session
from imarena.cli.questions import judging_options

if TYPE_CHECKING:
    from imarena.reports.tables import Table
    from imarena.workflows.questions import EditScore


@judging_options.with_shared_options(*judging_options.ENDPOINT, "max_cost_usd", "option")
def command(
    context: typer.Context,
    output: Annotated[list[Path], typer.Option("--output", "-O", help="The edited image; repeatable.")],
    instruction: Annotated[str, typer.Option("--instruction", "-i", help="The edit instruction.")],
    source: Annotated[
        Path | None,
        typer.Option("--source", "-s", help="The image before the edit. Leave it out for a generated image."),
    ] = None,
    judge: Annotated[
        str,
        typer.Option("--judge", "-j", help="A judge of `judge --list` or of imarena.toml, or function:MODULE:NAME."),
    ] = "builtin",
    *,
    asked: judging_options.ChosenOptions,
) -> None:
    """Score one edit: the score, its dimensions, the reasons, and what the judge cannot judge. Stores nothing.

    Needs no workspace. Inside a workspace (or with -w DIR), --judge and --endpoint also take names from imarena.toml.
    """
    from imarena.core.records import Status
    from imarena.workflows.questions import score_outputs, settings_at
    from imarena.workflows.wiring import wire_judge

    wired = wire_judge(settings_at(session(context).workspace), judge, asked.endpoint_arguments(), asked.budget())
    scores = score_outputs(wired, source, output, instruction)
    document = {"judge": wired.judge.name, "instruction": instruction, "outputs": [asdict(score) for score in scores]}

    def show(console: Console) -> None:
        if len(scores) == 1:
            _show_one(console, scores[0])
        else:
            _show_several(console, scores)

    emit(context, document, show)
    if any(score.status is not Status.OK for score in scores):
        raise typer.Exit(Exit.PARTIAL)


def _show_one(console: Console, score: "EditScore") -> None:
    if score.score is None:
        console.print(f"No score from {score.judge}: {score.status.value}. {score.error}".rstrip())
        return
    scale = "" if score.scale is None else f" (scale {score.scale[0]:g} to {score.scale[1]:g})"
    confidence = "" if score.confidence is None else f"; the judge's confidence: {score.confidence:.0%}"
    console.print(f"Score {score.score:.4g}{scale}; judge {score.judge}{confidence}")
    if score.success is not None:
        rule = "" if score.success_above is None else f" (a success needs {_success_rule(score)})"
        console.print(f"{'A success' if score.success else 'Not a success'}{rule}.")
    if score.dimensions:
        print_tables(console, [_dimension_table(score)])
    _print_lines(console, "Reasons", reason_lines(score.reasons))
    _print_lines(console, f"What {score.judge} cannot judge", list(score.cannot_judge))


def _success_rule(score: "EditScore") -> str:
    return f"more than {score.success_above:g} on every dimension, and no limit of the score"


def _show_several(console: Console, scores: "tuple[EditScore, ...]") -> None:
    print_tables(console, [_output_table(scores)])
    for score in scores:
        if score.score is None:
            console.print(f"{score.output}: {score.status.value}. {score.error}".rstrip())
        else:
            _print_lines(console, score.output, reason_lines(score.reasons))
    limits = dict.fromkeys(limit for score in scores if score.score is not None for limit in score.cannot_judge)
    _print_lines(console, f"What {scores[0].judge} cannot judge", list(limits))


def _dimension_table(score: "EditScore") -> "Table":
    from imarena.reports.tables import Column, Table

    return Table((Column("dimension"), Column("score", ".1f")), tuple(score.dimensions.items()))


def _output_table(scores: "tuple[EditScore, ...]") -> "Table":
    from imarena.reports.tables import Column, Table

    dimensions = list(dict.fromkeys(name for score in scores for name in score.dimensions))
    columns = (
        Column("output"),
        Column("status"),
        Column("score", ".1f"),
        *(Column(name, ".1f") for name in dimensions),
    )
    rows = (
        (score.output, score.status.value, score.score, *(score.dimensions.get(name) for name in dimensions))
        for score in scores
    )
    return Table(tuple(columns), tuple(rows))


def _print_lines(console: Console, title: str, lines: list[str]) -> None:
    if lines:
        console.print(f"{title}:")
        for line in lines:
            console.print(f"  - {line}")


CAPS = {
    "edit_failed": "the edit was not made",
    "semantics_lost": "too much of the rest of the image changed",
    "quality_lost": "the quality of the image is too low",
}
"""Why a score is limited, by the judge's word."""


def reason_lines(reasons: dict[str, Any]) -> list[str]:
    """Return the textual reasons, one per line; measurements are in --json."""
    lines: list[str] = []
    for name, value in reasons.items():
        entries = value if isinstance(value, list) else [value]
        for entry in entries:
            if name == "caps" and isinstance(entry, str):
                lines.append(f"the score is limited: {CAPS.get(entry, entry.replace('_', ' '))}")
            elif isinstance(entry, str) and entry:
                lines.append(f"{name}: {entry}")
            elif isinstance(entry, dict) and isinstance(entry.get("note"), str):
                done, trust = entry.get("done"), entry.get("trust")
                measured = (
                    f": {done:.0%} done (the check is {trust:.0%} sure)"
                    if done is not None and trust is not None
                    else ""
                )
                lines.append(f"{entry['note']}{measured}")
            elif isinstance(entry, dict) and isinstance(entry.get("text"), str):
                lines.append(f"{name}: {entry['text']}")
    return lines
