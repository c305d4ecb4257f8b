"""What `imarena rank` is asked for: which options go together, and the boards of a workspace or of a table."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from imarena import ranking
from imarena.core import UserError, command_line
from imarena.core.records import Ranking
from imarena.ranking import OutsideComparison, TableReading, check_below_rules
from imarena.workflows.boards.query import BoardQuery

ONLINE = ("elo", "active-elo")
"""Methods whose rounds an executor can compute elsewhere."""


@dataclass(frozen=True)
class RankRequest:
    """Which boards to make, what to compare them with, and the rules that they must pass."""

    query: BoardQuery
    table: Path | None = None
    """A table of battles; None: the workspace."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """The table's names of our columns."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Our names of the table's outcomes."""
    all_votes: bool = False
    """Also count the table's votes that do not count, such as practice."""
    against: Path | None = None
    """An outside leaderboard."""
    names: Mapping[str, str] = field(default_factory=dict)
    """The outside leaderboard's names of our models."""
    rules: tuple[str, ...] = ()
    """The gates: `MODEL below OTHER`."""
    summary: bool = False
    """A summary for a pull request is wanted."""

    @property
    def only_compares(self) -> bool:
        """Whether the table is a finished board, which is compared with an outside one and not ranked."""
        return self.table is not None and self.against is not None and ranking.is_board(self.table)


@dataclass(frozen=True)
class RankedBoards:
    """The boards of a request, and the comparison of the first one with an outside board."""

    boards: tuple[Ranking, ...]
    compared: OutsideComparison | None
    date: str | None = None
    """The date of a finished board that was only compared."""


def check_rank_request(request: RankRequest) -> None:
    """Raise `UserError` if options do not go together."""
    query, options = request.query, request.query.options
    check_below_rules(request.rules)
    if request.rules and (options.interval == "none" or options.rounds == 0):
        raise UserError("--fail-if needs intervals.", hint="Leave out --interval none and --rounds 0.")
    if options.executor in ("processes", "ray") and options.method not in ONLINE:
        raise UserError(
            f"--executor {options.executor} is for elo and active-elo; {options.method} computes its rounds here, "
            "in seconds.",
            hint="Leave out --executor.",
        )
    if request.table is None and request.all_votes:
        raise UserError("--all-votes needs a table.", hint=command_line("rank --from votes.csv --all-votes"))
    if request.table is not None:
        refuse_with_table(
            {
                "--source": query.source != "auto",
                "--judge": query.judge is not None,
                "--dimension": query.dimension is not None,
                "--kind": query.kind is not None,
                "--editors": bool(query.editors),
                "--samples": query.samples == "always" and query.success is None,
                "--success": query.success is not None,
            }
        )
    if request.only_compares and (request.rules or request.summary):
        raise UserError("A board without battles has no gate.", hint="Give a table of battles, or leave it out.")
    if request.against is not None and query.by and not request.only_compares:
        raise UserError("--against takes one board.", hint="Leave out --by.")


def refuse_with_table(options: Mapping[str, bool]) -> None:
    """Raise if --from comes with an option that chooses from a workspace. `options`: name to whether it is given."""
    for name, is_set in options.items():
        if is_set:
            raise UserError(
                f"{name} chooses from a workspace and has no meaning with --from.",
                hint=f"Leave out {name}, or leave out --from and name the workspace with --workspace DIR.",
            )


def rank_requested(folder: Path, request: RankRequest) -> RankedBoards:
    """Make the boards of a request. `folder`: the workspace, which is opened only if no table is given."""
    check_rank_request(request)
    if request.table is not None and request.against is not None and request.only_compares:
        ours, date = ranking.load_outside_board(request.table)
        return RankedBoards((), ranking.compare_boards(ours, request.against, request.names), date)
    query = request.query
    if request.table is None:
        from imarena.workflows.boards.ranking import rank_workspace  # a table needs no database

        boards = rank_workspace(folder, query)
    else:
        reading = TableReading(query.both_bad, query.missing, query.covariates, query.resume, request.all_votes)
        boards = ranking.rank_file(
            request.table, query.options, columns=request.columns, labels=request.labels, by=query.by, reading=reading
        )
    if request.against is None:
        return RankedBoards(tuple(boards), None)
    return RankedBoards(tuple(boards), ranking.compare_boards(boards[0], request.against, request.names))
