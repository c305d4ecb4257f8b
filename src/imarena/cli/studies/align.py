"""``imarena align``."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from imarena.cli.console import Exit, emit, print_tables, session, stderr, warn
from imarena.cli.options import BootstrapSeed, Csv, Latex, Markdown, Only, UnitRounds, refuse_with_table
from imarena.cli.studies.agree import find_recipe, is_partial
from imarena.core import ROUNDS, SEED, UserError
from imarena.reports.tables import Table, write_csv

if TYPE_CHECKING:
    from imarena.agreement import AlignOptions


def command(
    context: typer.Context,
    from_file: Annotated[
        Path | None,
        typer.Option(
            "--from", help="A table of scores (unit, model, judge, score), of a judge's battles, or of `export scores`."
        ),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(
            "--against",
            help="`people` (those of the workspace), or a file of their ratings (item, editor, value; optional: rater) "
            "or votes (item, left, right, winner).",
        ),
    ] = None,
    judge: Annotated[
        list[str] | None,
        typer.Option("--judge", "-j", help="A judge of the workspace, or NAME@VERSION; repeatable."),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option("--by", help="Group by a column, such as model, or by rater (votes); repeatable."),
    ] = None,
    only: Only = None,
    average: Annotated[
        str, typer.Option("--average", help="How correlations of groups are averaged: fisher, plain or paper-compat.")
    ] = "fisher",
    lower_is_better: Annotated[
        list[str] | None, typer.Option("--lower-is-better", help="A judge where lower scores are better; repeatable.")
    ] = None,
    score_range: Annotated[
        list[str] | None, typer.Option("--score-range", help="LOW,HIGH of all scores, or JUDGE=LOW,HIGH; repeatable.")
    ] = None,
    rating_range: Annotated[str, typer.Option("--rating-range", help="LOW,HIGH of the ratings.")] = "",
    leave_one_out: Annotated[
        bool, typer.Option("--leave-one-out", help="Also compare with the mean of all other raters, for each rater.")
    ] = False,
    pairs: Annotated[
        bool, typer.Option("--pairs", help="Also report agreement on pairs of models on the same unit.")
    ] = False,
    gaps: Annotated[
        str, typer.Option("--gaps", help="Report the agreement on pairs by score gap; edges such as 50,100,200.")
    ] = "",
    compare: Annotated[
        bool, typer.Option("--compare", help="Test every two judges against each other, with Holm's correction.")
    ] = False,
    missing: Annotated[
        str,
        typer.Option(
            "--missing", help="Battles without a verdict of the judge are left out (exclude) or count as wrong (wrong)."
        ),
    ] = "exclude",
    rounds: UnitRounds = ROUNDS,
    seed: BootstrapSeed = SEED,
    worst: Annotated[
        int, typer.Option("--worst", min=0, help="Also list the N largest disagreements of each judge.")
    ] = 0,
    page: Annotated[
        Path | None,
        typer.Option("--page", metavar="DIR", help="Write the largest disagreements with their images (default 20)."),
    ] = None,
    csv: Csv = None,
    markdown: Markdown = False,
    latex: Latex = False,
) -> None:
    """Compare a judge or a metric with people: correlations and bias, or accuracy on battles."""
    from imarena.agreement import AlignOptions

    if from_file is not None:
        refuse_with_table({"--judge": bool(judge), "--worst": bool(worst), "--page": page is not None})
    files = _tables(from_file, against, session(context).workspace, judge)
    options = AlignOptions(
        by=tuple(by or ()), average=find_recipe(average), lower_is_better=frozenset(lower_is_better or ()),
        score_range=dict(_judge_range(text) for text in score_range or []),
        rating_range=_range(rating_range) if rating_range else None, leave_one_out=leave_one_out,
        pairs=pairs, gaps=_edges(gaps), compare=compare, rounds=rounds, seed=seed,
    )  # fmt: skip
    if files is None:
        shown = ShownWorst(worst or (20 if page is not None else 0), page)
        people = None if against is None or str(against) == "people" else against
        document, tables = _workspace(
            session(context).workspace, judge or [], options, only or [], missing, people, shown
        )
    else:
        document, tables = _files(*files, options, only or [], missing)
    if csv is not None:
        write_csv(tables[0], csv)
    if not session(context).json:
        for warning in document.get("warnings", []):  # verdicts from two tables have none
            warn(warning)
        if "page" in document:
            stderr().print(f"Page: {document['page']}", soft_wrap=True)

    def show(console: Console) -> None:
        if document["conclusion"] and not (markdown or latex):
            console.print(document["conclusion"], soft_wrap=True, markup=False, highlight=False)
        print_tables(console, tables, markdown=markdown, latex=latex)

    emit(context, document, show)
    if is_partial(document):
        raise typer.Exit(Exit.PARTIAL)


def _tables(
    from_file: Path | None, against: Path | None, root: Path, judges: list[str] | None
) -> tuple[Path, Path] | None:
    """Return the two tables; None to use the workspace's judges and people."""
    from imarena.storage import is_workspace

    if from_file is not None and against is not None:
        return from_file, against
    if from_file is None and (judges or is_workspace(root)):
        return None
    raise UserError(
        "`--against` takes `people` or a file; give the judge by `--judge` or `--from`.",
        hint="imarena align --from scores.csv --against ratings.csv; in a workspace: --judge NAME and --against people "
        "or --against ratings.csv",
    )


@dataclass(frozen=True)
class ShownWorst:
    """How many of the largest disagreements to list, and where to write their page."""

    count: int = 0
    page: Path | None = None


def _workspace(
    root: Path,
    judges: list[str],
    options: "AlignOptions",
    only: list[str],
    missing: str,
    people: Path | None,
    worst: ShownWorst,
) -> tuple[dict[str, Any], list[Table]]:
    """Align the workspace's judges with its people or with a file's: scores with ratings, battles with votes."""
    from imarena.reports import disagreement_tables
    from imarena.storage import open_workspace
    from imarena.workflows import studies

    with open_workspace(root) as workspace:
        columns = studies.read_aligned_columns(workspace, judges, options, only=only, people=people)
        alignment = studies.align_columns(columns, options, missing=missing)
        tables = studies.alignment_tables(alignment, options.by)
        document = {**alignment.to_json(), "conclusion": " ".join(studies.alignment_conclusions(alignment))}
        if worst.count:
            found = studies.worst_disagreements(workspace, columns, options, worst.count)
            document["worst"] = found.to_json()
            tables += disagreement_tables(found.items, found.groups)
            if worst.page is not None:
                document["page"] = str(studies.write_disagreements(workspace, found, worst.page))
    return document, tables


def _files(
    from_file: Path, against: Path, options: "AlignOptions", only: list[str], missing: str
) -> tuple[dict[str, Any], list[Table]]:
    """Align two tables: scores with ratings, or a judge's battles with people's."""
    from imarena.agreement import VerdictAlignment
    from imarena.workflows import studies

    alignment = studies.align_files(from_file, against, options, only=only, missing=missing)
    if isinstance(alignment, VerdictAlignment):
        conclusion = studies.verdict_conclusion(alignment)
        return {**alignment.to_json(), "conclusion": conclusion}, studies.verdict_tables(alignment, options.by)
    return {**alignment.to_json(), "conclusion": studies.score_conclusion(alignment)}, studies.score_tables(alignment)


def _range(text: str) -> tuple[float, float]:
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise UserError(f"'{text}' is not a range.", hint="Write LOW,HIGH, such as 0,10.") from None
    if not low < high:
        raise UserError(f"The range '{text}' does not grow.", hint="Write LOW,HIGH, such as 0,10.")
    return low, high


def _judge_range(text: str) -> tuple[str, tuple[float, float]]:
    judge, equals, ends = text.rpartition("=")
    return judge if equals else "", _range(ends)


def _edges(text: str) -> tuple[float, ...]:
    try:
        edges = tuple(float(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise UserError(f"'{text}' are not numbers.", hint="Write edges such as 50,100,200,400.") from None
    if list(edges) != sorted(set(edges)) or any(edge <= 0 for edge in edges):
        raise UserError(f"The edges '{text}' do not grow from above 0.", hint="Write edges such as 50,100,200,400.")
    return edges
