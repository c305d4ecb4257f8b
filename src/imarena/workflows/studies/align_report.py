"""`imarena align`: the alignment of a workspace or of two tables, with its conclusion, tables and warnings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from imarena.agreement import Alignment, AlignOptions, VerdictAlignment
from imarena.core import UserError, command_line
from imarena.core.notices import sentences
from imarena.reports import disagreement_tables
from imarena.reports.tables import Table
from imarena.storage import is_workspace, open_workspace
from imarena.tables import TablePath, rename_columns
from imarena.workflows.studies.agreement_files import has_bad_values
from imarena.workflows.studies.align_conclusion import (
    alignment_conclusions,
    alignment_tables,
    score_conclusion,
    verdict_conclusion,
)
from imarena.workflows.studies.alignment import WorkspaceAlignment, align_columns, align_files, read_aligned_columns
from imarena.workflows.studies.disagreement_items import WorstDisagreements, worst_disagreements, write_disagreements
from imarena.workflows.studies.tables.alignment import score_tables, verdict_tables

PEOPLE = "people"
"""`--against people`: the people of the workspace."""
WORST_ON_PAGE = 20


@dataclass(frozen=True)
class AlignRequest:
    """What is compared with what, and which disagreements are listed."""

    options: AlignOptions
    table: Path | None = None
    """A table of scores or of a judge's battles; None: judges of the workspace."""
    against: Path | None = None
    """`people`, or a table of people's ratings or votes."""
    judges: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    missing: str = "exclude"
    worst: int = 0
    """How many of the largest disagreements of each judge are listed; with a page, at least some are."""
    page: Path | None = None
    """A folder for the page of these disagreements."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """The tables' names of our columns; each table may have some of them."""

    def tables(self) -> list[TablePath]:
        """The given tables, with our names of their columns."""
        people = self.table is None and str(self.against) == PEOPLE
        given = [path for path in (self.table, None if people else self.against) if path is not None]
        if self.columns and not given:
            raise UserError(
                "--columns needs a table.", hint=command_line("align --from scores.csv --against ratings.csv")
            )
        return rename_columns(given, self.columns)


@dataclass(frozen=True)
class AlignReport:
    """An alignment as it is shown."""

    alignment: WorkspaceAlignment | Alignment | VerdictAlignment
    conclusion: str
    tables: tuple[Table, ...]
    worst: WorstDisagreements | None = None
    page: Path | None = None

    @property
    def warnings(self) -> list[str]:
        """Sentences about the data; verdicts from two tables have none."""
        if isinstance(self.alignment, VerdictAlignment):
            return []
        scores = self.alignment.scores if isinstance(self.alignment, WorkspaceAlignment) else None
        return [*sentences(scores.notices if scores else ()), *sentences(self.alignment.notices)]

    @property
    def is_partial(self) -> bool:
        """Whether a part of the input was left out that its author must fix."""
        return not isinstance(self.alignment, VerdictAlignment) and has_bad_values(self.alignment.notices)

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        worst = {} if self.worst is None else {"worst": self.worst.to_json()}
        page = {} if self.page is None else {"page": str(self.page)}
        return {**self.alignment.to_json(), "conclusion": self.conclusion, **worst, **page}


def align_report(folder: Path, request: AlignRequest) -> AlignReport:
    """Compare two tables, or judges of the workspace at `folder` with its people or with a table."""
    if request.table is not None and request.against is not None:
        table, against = request.tables()
        return _of_tables(table, against, request)
    if request.table is None and (request.judges or is_workspace(folder)):
        return _of_workspace(folder, request)
    raise UserError(
        "`--against` takes `people` or a file; give the judge by `--judge` or `--from`.",
        hint=f"{command_line('align --from scores.csv --against ratings.csv')}; in a workspace: --judge NAME and "
        "--against people "
        "or --against ratings.csv",
    )


def _of_workspace(folder: Path, request: AlignRequest) -> AlignReport:
    """Scores with ratings, and battles with votes."""
    options = request.options
    people = next(iter(request.tables()), None)
    count = request.worst or (WORST_ON_PAGE if request.page is not None else 0)
    with open_workspace(folder) as workspace:
        columns = read_aligned_columns(workspace, request.judges, options, only=request.only, people=people)
        alignment = align_columns(columns, options, missing=request.missing)
        tables = alignment_tables(alignment, options.by)
        conclusion = " ".join(alignment_conclusions(alignment))
        if not count:
            return AlignReport(alignment, conclusion, tuple(tables))
        worst = worst_disagreements(workspace, columns, options, count)
        tables += disagreement_tables(worst.items, worst.groups)
        page = None if request.page is None else write_disagreements(workspace, worst, request.page)
    return AlignReport(alignment, conclusion, tuple(tables), worst, page)


def _of_tables(table: TablePath, against: TablePath, request: AlignRequest) -> AlignReport:
    """Scores with ratings, or a judge's battles with people's."""
    alignment = align_files(table, against, request.options, only=request.only, missing=request.missing)
    tables: Sequence[Table]
    if isinstance(alignment, VerdictAlignment):
        conclusion, tables = verdict_conclusion(alignment), verdict_tables(alignment, request.options.by)
    else:
        conclusion, tables = score_conclusion(alignment), score_tables(alignment)
    return AlignReport(alignment, conclusion, tuple(tables))
