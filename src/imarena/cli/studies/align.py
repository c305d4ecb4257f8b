"""``imarena align``."""

from pathlib import Path
from typing import Annotated, Any

import typer

from imarena.cli.console import emit, print_tables, session, warn
from imarena.cli.options import refuse_with_table
from imarena.cli.studies.agree import find_recipe
from imarena.cli.studies.align_tables import score_tables, verdict_tables
from imarena.core import ROUNDS, SEED, UserError
from imarena.reports.tables import Table, write_csv


def command(
    context: typer.Context,
    from_file: Annotated[
        Path | None, typer.Option("--from", help="Scores (unit, model, judge, score), or a judge's battles.")
    ] = None,
    against: Annotated[
        Path | None, typer.Option("--against", help="Ratings (unit, rater, value), or people's battles.")
    ] = None,
    judge: Annotated[
        list[str] | None,
        typer.Option("--judge", "-j", help="A judge of the workspace, or NAME@VERSION; repeatable."),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option("--by", help="Group by a column, such as model, or by rater (votes); repeatable."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", help="COLUMN=VALUE: only ratings that fit, such as criterion=overall; repeatable."),
    ] = None,
    average: Annotated[
        str, typer.Option("--average", help="Average correlations: fisher, plain or paper-compat.")
    ] = "fisher",
    lower_is_better: Annotated[
        list[str] | None, typer.Option("--lower-is-better", help="A judge whose low scores are good; repeatable.")
    ] = None,
    score_range: Annotated[
        list[str] | None, typer.Option("--score-range", help="LOW,HIGH of all scores, or JUDGE=LOW,HIGH; repeatable.")
    ] = None,
    rating_range: Annotated[str, typer.Option("--rating-range", help="LOW,HIGH of the ratings.")] = "",
    leave_one_out: Annotated[
        bool, typer.Option("--leave-one-out", help="Also against the mean of all raters but one.")
    ] = False,
    pairs: Annotated[bool, typer.Option("--pairs", help="Also pairs of models on the same unit.")] = False,
    gaps: Annotated[str, typer.Option("--gaps", help="Pair agreement by score gap: edges, such as 50,100,200.")] = "",
    compare: Annotated[
        bool, typer.Option("--compare", help="Test every two judges against each other, with Holm's correction.")
    ] = False,
    missing: Annotated[
        str, typer.Option("--missing", help="Battles without a verdict of the judge: exclude, or wrong.")
    ] = "exclude",
    rounds: Annotated[int, typer.Option("--rounds", min=0, help="Bootstrap rounds over units; 0 for none.")] = ROUNDS,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the bootstrap.")] = SEED,
    csv: Annotated[Path | None, typer.Option("--csv", help="Also write the table to this file.")] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    latex: Annotated[bool, typer.Option("--latex", help="Print LaTeX.")] = False,
) -> None:
    """A judge or a metric against people: correlations and bias, or accuracy on battles."""
    groups = tuple(by or ())
    if from_file is not None:
        refuse_with_table({"--judge": bool(judge)})
    given = _tables(from_file, against, session(context).workspace, judge)
    if given is not None and _both_battles(*given):
        document = _verdicts(*given, groups, missing, compare)
        tables = verdict_tables(document, groups)
    else:
        options = {
            "by": groups, "average": find_recipe(average), "lower_is_better": frozenset(lower_is_better or ()),
            "score_range": dict(_judge_range(text) for text in score_range or []),
            "rating_range": _range(rating_range) if rating_range else None, "leave_one_out": leave_one_out,
            "pairs": pairs, "gaps": _edges(gaps), "compare": compare, "rounds": rounds, "seed": seed,
            "only": tuple(only or ()),
        }  # fmt: skip
        if given is None:
            document, tables = _workspace(session(context).workspace, judge or [], options, missing)
        else:
            document = _scores(*given, options)
            tables = score_tables(document)
    if csv is not None:
        write_csv(tables[0], csv)
    if not session(context).json:
        for warning in document.get("warnings", []):
            warn(warning)
    emit(context, document, lambda console: print_tables(console, tables, markdown=markdown, latex=latex))


def _tables(
    from_file: Path | None, against: Path | None, root: Path, judges: list[str] | None
) -> tuple[Path, Path] | None:
    """The two tables; None where the workspace's judges and people are meant."""
    from imarena.storage import is_workspace

    if from_file is not None and against is not None:
        return from_file, against
    if from_file is None and (against is None or str(against) == "people") and (judges or is_workspace(root)):
        return None
    raise UserError(
        "Name two tables.",
        hint="imarena align --from scores.csv --against ratings.csv, or --judge NAME --against people in a workspace",
    )


def _workspace(
    root: Path, judges: list[str], options: dict[str, Any], missing: str
) -> tuple[dict[str, Any], list[Table]]:
    """The workspace's judges against its people: scores with ratings, battles with votes, whichever there are."""
    from imarena.storage import open_workspace
    from imarena.workflows.studies import align_workspace

    with open_workspace(root) as workspace:
        document = align_workspace(workspace, judges, options, missing)
    made = score_tables(document["scores"]) if "scores" in document else []
    if "verdicts" in document:
        made += verdict_tables(document["verdicts"], tuple(options["by"]))
    return document, made


def _both_battles(from_file: Path, against: Path) -> bool:
    from imarena.agreement import is_battle_file

    judge, people = is_battle_file(from_file), is_battle_file(against)
    if judge != people:
        raise UserError(
            "One table holds battles and the other does not.",
            hint="Compare scores with ratings, or a judge's battles with people's battles.",
        )
    return judge


def _scores(from_file: Path, against: Path, options: dict[str, Any]) -> dict[str, Any]:
    from imarena.agreement import AlignOptions, align, filter_rows, ratings_from_file, scores_from_file

    ratings = filter_rows(ratings_from_file(against), options.pop("only"))
    return align(scores_from_file(from_file), ratings, AlignOptions(**options)).to_json()


def _verdicts(from_file: Path, against: Path, by: tuple[str, ...], missing: str, compare: bool) -> dict[str, Any]:
    from imarena.agreement import HUMAN_WORDS, JUDGE_WORDS, align_verdicts, verdicts_from_file

    verdicts = verdicts_from_file(from_file, words=JUDGE_WORDS)
    votes = verdicts_from_file(against, words=HUMAN_WORDS)
    if missing == "wrong":
        return align_verdicts(verdicts, votes, by=by, missing="wrong", compare=compare).to_json()
    if missing == "exclude":
        return align_verdicts(verdicts, votes, by=by, missing="exclude", compare=compare).to_json()
    raise UserError(f"Unknown --missing '{missing}'.", hint="Known: exclude, wrong.")


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
