"""Make boards from tables of battles (a file, a frame, columns), and read boards from files."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from imarena.core import FloatArray, UserError, canonical_json, error_line, sha256_hex, suggestion
from imarena.core.notices import Notice
from imarena.core.records import JsonDict, Ranking
from imarena.ranking.battle_files import BattleFile
from imarena.ranking.battles import Battles
from imarena.ranking.boards.battle_ranking import rank_battles
from imarena.ranking.compare import OutsideComparison, compare_ratings
from imarena.ranking.elo import EloState
from imarena.ranking.encode import coverage, encode_battles
from imarena.ranking.options import Options
from imarena.ranking.signature import sign_ranking, table_data


@dataclass(frozen=True)
class TableReading:
    """How the battles of a table are read."""

    both_bad: str = "tie"
    missing: str = "exclude"
    covariates: tuple[str, ...] = ()
    resume: Ranking | None = None
    """An earlier Elo board to continue from."""
    all_votes: bool = False
    """See `encode_battles`."""


AS_WRITTEN = TableReading()


def rank(
    data: object,
    *,
    method: str | None = None,
    rounds: int | None = None,
    seed: int | None = None,
    interval: str | None = None,
    cluster: str | None = None,
    both_bad: str = "tie",
    missing: str = "exclude",
    covariates: Sequence[str] = (),
    anchors: Mapping[str, float] | Ranking | None = None,
    columns: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    resume: Ranking | None = None,
    options: Options | None = None,
) -> Ranking:
    """Rank models from a table of battles with columns left, right and winner (left, right, tie, both_bad).

    `data` is a path (CSV, TSV, JSON Lines, Parquet), a pandas or polars frame, an Arrow table, a mapping of columns or
    a list of rows. `columns` maps our column names to yours, `labels` your outcome labels to ours. `anchors` fixes
    ratings (a whole `Ranking` freezes a board, so that new models are placed on it). `resume` continues online Elo
    from an earlier board. `options` contains all settings; arguments of this function override it. The default is
    Bradley-Terry with ties as half wins, 1,000 rounds, seed 0.
    """
    arguments: dict[str, Any] = {
        "method": method, "rounds": rounds, "seed": seed, "interval": interval, "cluster": cluster,
        "anchors": None if anchors is None else _ratings(anchors),
    }  # fmt: skip
    settings = replace(options or Options(), **{key: value for key, value in arguments.items() if value is not None})
    table = _load_flat(data, columns, labels, covariates)
    ranking = rank_table(table, settings, TableReading(both_bad, missing, tuple(covariates), resume))
    return sign_ranking(ranking, {"source": "table", **table_data(table)})


def load_battles(
    data: object, *, columns: Mapping[str, str] | None = None, labels: Mapping[str, str] | None = None
) -> Any:
    """Load any of the accepted forms as a checked Arrow table."""
    from imarena.tables import as_table, need_rows, read_table

    if isinstance(data, (str, Path)):
        return need_rows(read_table(Path(data), "battles", columns=columns, labels=labels), Path(data))
    return as_table(data, "battles", columns=columns, labels=labels)


def _load_flat(
    data: object, columns: Mapping[str, str] | None, labels: Mapping[str, str] | None, covariates: Sequence[str]
) -> Any:
    """Load a table; columns of a file stay on disk unless covariates, which a fit needs in memory, are given."""
    import pyarrow as pa

    from imarena.tables import read_table_batches

    if isinstance(data, (str, Path)) and not covariates:
        try:
            table = BattleFile(read_table_batches(Path(data), "battles", columns=columns, labels=labels))
            if table.num_rows:
                return table
        except (UserError, pa.ArrowException, OSError, UnicodeDecodeError):
            pass  # loading the whole table names the wrong row, and handles columns whose type shows late
    return load_battles(data, columns=columns, labels=labels)


def rank_table(
    table: Any,
    options: Options,
    reading: TableReading = AS_WRITTEN,
    *,
    scope: dict[str, str] | None = None,
    known_coverage: Mapping[str, float] | None = None,
) -> Ranking:
    """Rank a checked table. The options for reading it are recorded in the settings.

    `known_coverage` is each model's share of existing outputs, if the caller knows it; by default, it comes from the
    table's statuses, if it has any.
    """
    return _rank_prepared(_prepare(table, options, reading, known_coverage), options, scope)


@dataclass(frozen=True)
class _Prepared:
    """Everything that a board needs from a table, so that the table's memory can be freed before ranking."""

    battles: Battles
    coverage: FloatArray | None
    resume: Ranking | None
    reading: JsonDict
    """Options with which the table was read, for the settings."""
    losses_possible: bool
    """Missing outputs could be counted as losses."""


def _prepare(
    table: Any,
    options: Options,
    reading: TableReading,
    known_coverage: Mapping[str, float] | None = None,
) -> _Prepared:
    battles = encode_battles(
        table,
        both_bad=reading.both_bad,
        missing=reading.missing,
        covariates=reading.covariates,
        scores_decide=options.method == "active-elo",
        all_votes=reading.all_votes,
    )
    if known_coverage is None:
        covered = coverage(table, battles.models)
    else:
        shares = [known_coverage.get(model, np.nan) for model in battles.models]
        covered = None if np.isnan(shares).any() else np.array(shares)
    settings: JsonDict = {"both_bad": reading.both_bad, "missing": reading.missing}
    settings |= {"all_votes": True} if reading.all_votes else {}
    settings |= {"covariates": list(reading.covariates)} if reading.covariates else {}
    return _Prepared(
        battles, covered, reading.resume, settings, reading.missing != "loss" and "status_left" in table.column_names
    )


def _rank_prepared(prepared: _Prepared, options: Options, scope: dict[str, str] | None = None) -> Ranking:
    resume = prepared.resume
    ranking = rank_battles(prepared.battles, options, coverage=prepared.coverage, state=_state(resume, options))
    settings = {**ranking.settings, **prepared.reading}
    if resume is not None:
        resumed = [_ratings(resume), resume.details.get("state")]
        settings["resumed_from"] = sha256_hex(canonical_json(resumed).encode())[:12]
    if not prepared.losses_possible:
        ranking = ranking.model_copy(update={"notices": tuple(map(_without_advice, ranking.notices))})
    return ranking.model_copy(update={"settings": settings, "scope": scope or {}})


def _without_advice(notice: Notice) -> Notice:
    if notice.code != "coverage_differs":
        return notice
    return notice.model_copy(update={"values": {**notice.values, "losses_possible": False}})


def rank_file(
    path: Path,
    options: Options,
    *,
    columns: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    by: str | None = None,
    reading: TableReading = AS_WRITTEN,
) -> list[Ranking]:
    """The board of a file of battles, or one per value of the column `by`. Nothing is stored."""
    if by:
        table = load_battles(path, columns=columns, labels=labels)
        return list(rank_by(table, by, options, reading))
    table = _load_flat(path, columns, labels, reading.covariates)
    data = {"source": "table", **table_data(table)}
    if not isinstance(table, BattleFile):
        table = _without_unused(table, reading.covariates)
    prepared = _prepare(table, options, reading)
    del table  # the largest object in memory
    _release_memory()
    return [sign_ranking(_rank_prepared(prepared, options), data)]


def _without_unused(table: Any, covariates: Sequence[str]) -> Any:
    """The table without the columns that no board needs."""
    from imarena.tables import TABLE_KINDS

    kind = TABLE_KINDS["battles"]
    sided = [f"{name}_{side}" for name in covariates for side in ("left", "right")]
    columns = kind.known_text | kind.known_numbers | {*covariates, *sided}
    return table.select([name for name in table.column_names if name in columns])


def _release_memory() -> None:
    """Return the memory of tables to the system; Arrow keeps it for later tables."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()


def rank_by(table: Any, by: str, options: Options, reading: TableReading = AS_WRITTEN) -> Iterator[Ranking]:
    """Make one board per value of a column, sorted. A group that cannot be ranked gets a notice with the reason."""
    if by not in table.column_names:
        hint = suggestion(by, table.column_names, f"The table has: {', '.join(table.column_names)}.")
        raise UserError(f"No column '{by}'.", hint=hint)
    groups = split_rows(table, by)
    for value in groups.values:
        scope = {by: value}
        try:
            part = _trimmed(table.filter(groups.rows(value)))
            ranking = _rank_prepared(_prepare(part, options, reading), options, scope)
            board = sign_ranking(ranking, {"source": "table", **table_data(part)})
        except UserError as error:
            board = empty_board(options.method, error, scope)
        yield board.model_copy(update={"notices": (*board.notices, *groups.notices)})


@dataclass(frozen=True, slots=True)
class RowGroups:
    """The rows of a table by the values of a column."""

    keys: Any
    """The column as text."""
    values: tuple[str, ...]
    """Each value once, sorted."""
    notices: tuple[Notice, ...]
    """A notice about rows without a value, which are in no group."""

    def rows(self, value: str) -> Any:
        """An Arrow mask over all rows: those with this value."""
        import pyarrow.compute as pc

        return pc.fill_null(pc.equal(self.keys, value), False)


def split_rows(table: Any, by: str) -> RowGroups:
    """Split the rows by the values of the column `by`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    keys = table[by].cast(pa.string())
    values = tuple(sorted(value for value in pc.unique(keys).to_pylist() if value is not None))
    lost = keys.null_count
    notices = (Notice(code="unnamed_group", values={"by": by, "battles": lost}),) if lost else ()
    return RowGroups(keys, values, notices)


def empty_board(method: str, error: UserError, scope: dict[str, str]) -> Ranking:
    """The board of a group that cannot be ranked, with the reason."""
    why = Notice(code="group_not_ranked", values={"reason": error_line(error)})
    return Ranking(method=method, settings={}, n_battles=0, notices=(why,), scope=scope)


def _trimmed(table: Any) -> Any:
    """Drop dictionary entries that do not occur in this part."""
    import pyarrow as pa

    for index, column in enumerate(table.column_names):
        if pa.types.is_dictionary(table.schema.field(column).type):
            plain = table[column].cast(pa.string()).dictionary_encode()
            table = table.set_column(index, column, plain)
    return table


def load_outside_board(path: Path) -> tuple[dict[str, float], str | None]:
    """Read ratings by model (higher is better) and the date, from columns model and rating or rank, or our JSON."""
    if path.suffix.lower() == ".json":
        return _own_board(path)
    from imarena.tables import read_table

    table = read_table(path, "board")
    models = table["model"].to_pylist()
    if len(set(models)) < len(models):
        double = next(model for model in models if models.count(model) > 1)
        raise UserError(f"{path}: model '{double}' appears twice.", hint="A board has one row per model.")
    column = next((name for name in ("rating", "rank") if name in table.column_names), None)
    if column is None:
        raise UserError(f"{path}: neither a column 'rating' nor 'rank'.", hint="A board has model and one of them.")
    sign = 1.0 if column == "rating" else -1.0
    ratings = {
        model: sign * value for model, value in zip(models, table[column].to_pylist(), strict=True) if value is not None
    }
    dates = set(table["date"].to_pylist()) - {None} if "date" in table.column_names else set()
    if len(dates) > 1:
        raise UserError(f"{path}: {len(dates)} dates on one board.", hint="Give one board of one date.")
    return ratings, next(iter(dates), None)


def _own_board(path: Path) -> tuple[dict[str, float], str | None]:
    import json

    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        ratings = {str(row["model"]): float(row["rating"]) for row in document["models"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path}: not a board.", hint="Give what `rank --json` printed, or a table.") from error
    date = document.get("created_at")
    return ratings, str(date)[:10] if date else None


def is_board(path: Path) -> bool:
    """Is this file a board (model and rating or rank) rather than a table of battles?"""
    from imarena.tables import column_names

    if path.suffix.lower() == ".json":
        return True
    names = column_names(path)
    return "model" in names and ("rating" in names or "rank" in names) and "left" not in names


def load_ranking(path: Path) -> Ranking:
    """Load a board that `rank --json` printed."""
    try:
        return Ranking.from_json(path.read_bytes())
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: not a board of ours.", hint="Give the file that `rank --json` printed.") from error


def compare_boards(
    ours: Mapping[str, float] | Ranking, path: Path, names: Mapping[str, str] | None = None
) -> OutsideComparison:
    """Correlation of a board, or of ratings by model, with the leaderboard in a file. `names` maps ours to theirs."""
    theirs, date = load_outside_board(path)
    return OutsideComparison(path.name, date, compare_ratings(_ratings(ours), theirs, names=names))


def _ratings(board: Mapping[str, float] | Ranking) -> dict[str, float]:
    if isinstance(board, Ranking):
        return {standing.model: standing.rating for standing in board.models}
    return dict(board)


def _state(resume: Ranking | None, options: Options) -> EloState:
    if resume is None:
        return EloState({})
    if resume.method != options.method or options.method not in ("elo", "active-elo"):
        raise UserError(
            f"A {resume.method} board cannot be resumed by {options.method}.", hint="Only online Elo boards resume."
        )
    ratings = _ratings(resume)
    state = resume.details.get("state")
    if isinstance(state, dict) and isinstance(state.get("ratings"), dict):
        ratings = {str(model): float(value) for model, value in state["ratings"].items()}  # type: ignore[union-attr,arg-type]
    before = state.get("battles") if isinstance(state, dict) else None
    groups: Any = state.get("groups") if isinstance(state, dict) else None
    apart = tuple(tuple(str(model) for model in group) for group in groups or ())
    return EloState(ratings, int(before) if isinstance(before, int) else resume.n_battles, apart)
