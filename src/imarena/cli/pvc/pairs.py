"""``imarena pvc pairs`` and ``imarena pvc export``."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Console

from imarena.cli.console import emit, print_tables, progress_bars, session_workspace
from imarena.cli.options import Datasets, Tasks
from imarena.core import counted

if TYPE_CHECKING:
    from imarena.workflows.preferences import PairReport

Regions = Annotated[
    Literal["auto", "objects", "changes"],
    typer.Option("--regions", help="Find edit regions by named objects, by shared changes, or the first that works."),
]
DetectorOption = Annotated[
    str,
    typer.Option("--detector", metavar="<efficientdet|grounding-dino|owl-vit|owlv2>", help="Detector of the objects."),
]
SegmenterOption = Annotated[
    str, typer.Option("--segmenter", metavar="<mobile-sam|sam|sam2>", help="Use masks of this tool instead of boxes.")
]
Grounding = Annotated[
    Literal["paper", "public"], typer.Option("--grounding", help="Where objects are searched for, per task.")
]
Seed = Annotated[int, typer.Option("--seed", help="Seed for the sides and the split.")]


def make(
    context: typer.Context,
    out: Annotated[Path, typer.Argument(help="A new folder for the pairs and their images.", show_default=False)],
    origin: Annotated[
        Literal["metrics", "votes", "judgments"], typer.Option("--from", help="What decides the winner.")
    ] = "metrics",
    dataset: Datasets = None,
    task: Tasks = None,
    editor: Annotated[
        list[str] | None, typer.Option("--editors", "-e", help="Only outputs of these editors; repeatable.")
    ] = None,
    rules: Annotated[
        Path | None, typer.Option("--rules", help="A YAML file of metrics and thresholds per task.")
    ] = None,
    regions: Regions = "auto",
    detector: DetectorOption = "efficientdet",
    segmenter: SegmenterOption = "",
    grounding: Grounding = "paper",
    dimension: Annotated[
        str, typer.Option("--dimension", help="With --from votes or judgments: what the verdicts are about.")
    ] = "visual_consistency",
    judge: Annotated[
        str, typer.Option("--judge", "-j", help="With --from judgments: the judge whose verdicts are used.")
    ] = "",
    min_votes: Annotated[
        int, typer.Option("--min-votes", min=1, help="With --from votes: minimum number of votes per pair.")
    ] = 1,
    min_share: Annotated[
        float, typer.Option("--min-share", min=0.01, max=1.0, help="Share of the votes that the winner needs.")
    ] = 0.5,
    one_order: Annotated[
        bool, typer.Option("--one-order", help="With --from judgments: accept pairs judged in one order only.")
    ] = False,
    seed: Seed = 42,
) -> None:
    """Make preference pairs from a workspace: by metrics of edit and non-edit regions, by votes or by judgments.

    Global tasks (style, tone, background, camera, enhancement) have no region: use --from judgments for them. Ties are
    written to a file of their own. Items that give no pair are counted by reason.
    """
    from imarena.preferences import AgreementFilter
    from imarena.workflows.preferences import PairOptions, RegionOptions, write_pairs

    options = PairOptions(
        origin, dimension, judge, rules, RegionOptions(regions, detector, segmenter, grounding),
        AgreementFilter(min_votes=min_votes, min_share=min_share, both_orders=not one_order),
        tuple(dataset or ()), tuple(task or ()), tuple(editor or ()), seed,
    )  # fmt: skip
    with session_workspace(context) as workspace, progress_bars("pairs") as progress:
        report = write_pairs(workspace, out, options, progress)
    emit(context, report.to_json(), lambda console: _show(console, report))


def _show(console: Console, report: "PairReport") -> None:
    from imarena.reports.tables import Column, Table

    pairs = report.made
    print_tables(
        console,
        [Table((Column("task"), Column("pairs", ",")), tuple(pairs.by_task().items()))],
    )
    console.print(f"{counted(len(pairs.pairs), 'pair')} and {counted(len(pairs.ties), 'tie')} in {report.folder}")
    if pairs.skipped:
        head = (Column("gave no pair"), Column("items or outputs", ","))
        print_tables(console, [Table(head, tuple(sorted(pairs.skipped.items())))])
    lines = [
        (task, region, choice.tiers.elite, choice.tiers.failure, choice.origin)
        for task, of_task in pairs.thresholds.items()
        for region, choice in of_task.items()
    ]
    if lines:
        columns = (Column("task"), Column("region"), Column("elite", ".2f"), Column("failure", ".2f"), Column("from"))
        print_tables(console, [Table(columns, tuple(lines))])


def export(
    context: typer.Context,
    form: Annotated[str, typer.Argument(help="training, trl, diffusion-dpo, vcreward or pairs.", show_default=False)],
    pairs: Annotated[Path, typer.Argument(help="The folder that `imarena pvc pairs` wrote.", show_default=False)],
    out: Annotated[Path, typer.Argument(help="A new folder.", show_default=False)],
    split: Annotated[
        str, typer.Option("--split", help="Shares of train, validation and test. Items are never divided.")
    ] = "0.8,0.1,0.1",
    per_task: Annotated[int | None, typer.Option("--per-task", min=1, help="Maximum number of pairs per task.")] = None,
    prompt: Annotated[str, typer.Option("--prompt", help="The judge's prompt: a name, or a YAML file.")] = "pvc-judge",
    seed: Seed = 42,
) -> None:
    """Export pairs: chats for fine-tuning, TRL preference data, diffusion DPO, or a benchmark like VCReward-Bench."""
    from imarena.workflows.preferences import export_pair_folder

    report = export_pair_folder(form, pairs, out, split=split, seed=seed, prompt=prompt, limit=per_task)

    def show(console: Console) -> None:
        for part, rows in report.rows.items():
            console.print(f"{part}: {rows:,} rows")
        if report.ties_left_out:
            console.print(f"{counted(report.ties_left_out, 'tie')} left out: this format has no place for them")

    emit(context, asdict(report), show)
