"""``imarena agree``."""

from pathlib import Path
from typing import Annotated

import typer

from imarena.cli.console import Exit, emit, fail, print_tables, session, warn
from imarena.cli.options import (
    AllVotes,
    BootstrapSeed,
    ColumnsOption,
    Csv,
    Latex,
    Markdown,
    Only,
    UnitRounds,
    parse_renames,
)
from imarena.core import ROUNDS, SEED, command_line, known_name
from imarena.core.notices import sentences
from imarena.reports.tables import write_csv


# Over 60 lines for its options alone: each is one line of the contract.
def command(
    context: typer.Context,
    from_file: Annotated[
        Path | None,
        typer.Option(
            "--from", help="Ratings: unit, rater, value; votes: item, left, right, winner, rater; or an exported table."
        ),
    ] = None,
    what: Annotated[
        str,
        typer.Option("--what", metavar="<ratings|votes|all>", help="Which answers of a workspace; votes are on pairs."),
    ] = "all",
    by: Annotated[list[str] | None, typer.Option("--by", help="Group by a column, such as model; repeatable.")] = None,
    only: Only = None,
    order: Annotated[str, typer.Option("--order", help="Words from worst to best: bad,fair,good.")] = "",
    leave_one_out: Annotated[
        bool, typer.Option("--leave-one-out", help="Compare each rater with the mean of the others.")
    ] = False,
    average: Annotated[
        str, typer.Option("--average", metavar="<fisher|plain|paper-compat>", help="How correlations are averaged.")
    ] = "fisher",
    rater_pairs: Annotated[bool, typer.Option("--rater-pairs", help="Cohen's kappa of every two raters.")] = False,
    rounds: UnitRounds = ROUNDS,
    seed: BootstrapSeed = SEED,
    csv: Csv = None,
    markdown: Markdown = False,
    latex: Latex = False,
    all_votes: AllVotes = False,
    columns: ColumnsOption = None,
) -> None:
    """Measure agreement among raters: Krippendorff's alpha, kappa and raw agreement, per criterion and group."""
    from imarena.stats import CORRELATION_RECIPES
    from imarena.workflows.studies import (
        agree_on_each,
        agreement_tables,
        has_bad_values,
        rater_labels,
        ratings_in_folder,
        ratings_of_file,
        with_rater_names,
    )

    if from_file is not None:
        from imarena.tables import rename_columns
        from imarena.workflows.boards import refuse_with_table

        refuse_with_table({"--what": what != "all"})
    elif all_votes:
        fail("--all-votes needs a table.", hint=command_line("agree --from votes.csv --all-votes"))
    elif columns:
        fail("--columns needs a table.", hint=command_line("agree --from votes.csv --columns rater=annotator"))
    words = tuple(word.strip() for word in order.split(",") if word.strip())
    how = known_name("Unknown average", average, CORRELATION_RECIPES)
    root = session(context).workspace
    ratings = (
        [ratings_of_file(rename_columns([from_file], parse_renames(columns))[0], all_votes=all_votes)]
        if from_file is not None
        else ratings_in_folder(root, what, by or ())
    )
    agreements = agree_on_each(
        ratings, by or (), only or (), words,
        rounds=rounds, seed=seed, leave_one_out=leave_one_out, recipe=how, pairs=rater_pairs,
    )  # fmt: skip
    documents = [agreement.to_json() for agreement in agreements]
    people = rater_labels(root) if from_file is None else {}
    tables = [table for agreement in agreements for table in agreement_tables(agreement)]
    named_tables = [table for agreement in agreements for table in agreement_tables(agreement, people)]
    document = documents[0] | ({"votes": documents[1]} if documents[1:] else {})
    if csv is not None:
        write_csv(tables[0], csv)
    if not session(context).json:
        notices = [notice for agreement in agreements for notice in agreement.notices]
        for warning in sentences(with_rater_names(notices, people)):
            warn(warning)
    printed = tables if markdown or latex else named_tables  # tables for a paper have no names of people
    emit(context, document, lambda console: print_tables(console, printed, markdown=markdown, latex=latex))
    if any(has_bad_values(agreement.notices) for agreement in agreements):
        raise typer.Exit(Exit.PARTIAL)
