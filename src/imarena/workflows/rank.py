"""Rank: a table of battles (a file, a frame, columns) or a workspace to boards."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from imarena.core.errors import UserError
from imarena.core.notices import notices_from_texts
from imarena.core.plurals import counted, plural
from imarena.core.records import Ranking
from imarena.ranking import Comparison, EloState, Options, compare, coverage, encode, rank_battles


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
    ratings (a whole `Ranking` freezes a board, so that new models are placed on it). `resume` goes on with online Elo
    where an earlier board stopped. `options` holds all settings; one that is named here as well goes before it. Without
    any: Bradley-Terry with ties as half wins, 1,000 rounds, seed 0.
    """
    named: dict[str, Any] = {
        "method": method, "rounds": rounds, "seed": seed, "interval": interval, "cluster": cluster,
        "anchors": None if anchors is None else _anchors(anchors),
    }  # fmt: skip
    chosen = replace(options or Options(), **{key: value for key, value in named.items() if value is not None})
    table = load_battles(data, columns=columns, labels=labels)
    return rank_table(table, chosen, both_bad=both_bad, missing=missing, covariates=covariates, resume=resume, scope={})


def load_battles(
    data: object, *, columns: Mapping[str, str] | None = None, labels: Mapping[str, str] | None = None
) -> Any:
    """Any of the accepted forms as a checked Arrow table."""
    from imarena.datasets.tables import as_table, read_table

    if isinstance(data, (str, Path)):
        return read_table(Path(data), "battles", columns=columns, labels=labels)
    return as_table(data, "battles", columns=columns, labels=labels)


def rank_table(
    table: Any,
    options: Options,
    *,
    both_bad: str = "tie",
    missing: str = "exclude",
    covariates: Sequence[str] = (),
    resume: Ranking | None = None,
    scope: dict[str, str] | None = None,
    known_coverage: Mapping[str, float] | None = None,
) -> Ranking:
    """Rank a checked table. What shaped the reading of it goes into the settings.

    `known_coverage` is each model's share of delivered outputs where the caller knows it; otherwise it is the share of
    the table's items that a model was seen on.
    """
    battles = encode(
        table,
        both_bad=both_bad,
        missing=missing,
        covariates=covariates,
        scores_decide=options.method == "active-elo",
    )
    if known_coverage is None:
        covered = coverage(table, battles.models)
    else:
        shares = [known_coverage.get(model, np.nan) for model in battles.models]
        covered = None if np.isnan(shares).any() else np.array(shares)
    ranking = rank_battles(battles, options, coverage=covered, state=_state(resume, options))
    settings = {**ranking.settings, "both_bad": both_bad, "missing": missing}
    return ranking.model_copy(update={"settings": settings, "scope": scope or {}})


def rank_by(table: Any, by: str, options: Options, **reading: Any) -> Iterator[Ranking]:
    """One board for each value of a column, in the order of their names. A group that cannot be ranked says why."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if by not in table.column_names:
        raise UserError(f"No column '{by}'.", hint=f"The table has: {', '.join(table.column_names)}.")
    keys = table[by].cast(pa.string())
    lost = keys.null_count
    told = f"{counted(lost, 'battle')} {plural('has', lost)} no {by} and {plural('stands', lost)} on no board."
    homeless = (told,) if lost else ()
    for value in sorted(value for value in pc.unique(keys).to_pylist() if value is not None):
        part = table.filter(pc.fill_null(pc.equal(keys, value), False))
        scope = {by: value}
        try:
            board = rank_table(_trimmed(part), options, scope=scope, **reading)
        except UserError as error:
            why = notices_from_texts([str(error)])
            board = Ranking(method=options.method, settings={}, n_battles=0, notices=why, scope=scope)
        yield board.model_copy(update={"notices": (*board.notices, *notices_from_texts(homeless))})


def _trimmed(table: Any) -> Any:
    """Forget names that do not occur in this part."""
    import pyarrow as pa

    for index, column in enumerate(table.column_names):
        if pa.types.is_dictionary(table.schema.field(column).type):
            plain = table[column].cast(pa.string()).dictionary_encode()
            table = table.set_column(index, column, plain)
    return table


def load_board(path: Path) -> tuple[dict[str, float], str | None]:
    """Ratings by model (higher is better) and the board's date, from model and rating or rank, or from our own JSON."""
    if path.suffix.lower() == ".json":
        return _own_board(path)
    from imarena.datasets.tables import read_table

    table = read_table(path, "board")
    models = table["model"].to_pylist()
    if len(set(models)) < len(models):
        double = next(model for model in models if models.count(model) > 1)
        raise UserError(f"{path}: model '{double}' appears twice.", hint="A board has one row a model.")
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
    """Is this a board (model and rating or rank) and not a table of battles?"""
    from imarena.datasets.table_files import column_names

    if path.suffix.lower() == ".json":
        return True
    names = column_names(path)
    return "model" in names and ("rating" in names or "rank" in names) and "left" not in names


def load_ranking(path: Path) -> Ranking:
    """A board that `rank --json` printed."""
    try:
        return Ranking.from_json(path.read_bytes())
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: not a board of ours.", hint="Give the file that `rank --json` printed.") from error


@dataclass(frozen=True)
class WorkspaceBattles:
    """Battles of a workspace as a checked table, with what was left out and each editor's coverage."""

    table: Any
    excluded: dict[str, int]
    coverage: dict[str, float]
    warnings: tuple[str, ...]
    verdicts: str
    """Whose: people's, or which judges'."""
    beside: str = ""
    """What else there is to rank by, and the option that shows it."""
    by_scores: int = 0
    """Battles that nobody fought: pairs of scores."""


def _judge_called(workspace: Any, name: str) -> str:
    """The judge of this name, or the only one of this kind (`mood` for `mood/some-model`)."""
    from imarena.workflows.columns_store import check_judges

    fitting = check_judges(workspace, [name])
    if name not in fitting and len(fitting) > 1:
        raise UserError(f"Several judges are called '{name}'.", hint=f"Choose one with --judge: {', '.join(fitting)}.")
    return name if name in fitting else fitting[0]


def workspace_battles(
    folder: Path,
    *,
    source: str = "auto",
    judge: str | None = None,
    dimension: str | None = None,
    pooled: bool = False,
    dimensions: bool = False,
) -> WorkspaceBattles:
    """People's votes and judges' verdicts of a workspace.

    `source` auto: people where they voted, else judges; with `pooled` (methods that weigh sources) all of them.
    Without a `dimension` only verdicts about the whole count, unless `dimensions` asks for all of them together.
    """
    from imarena.storage import open_workspace
    from imarena.workflows import evidence
    from imarena.workflows.battles import about_whole
    from imarena.workflows.independence import driven_by, verdict_warnings
    from imarena.workflows.undelivered import failed_outputs

    asked = evidence.read_source(source)
    with open_workspace(folder) as workspace:
        named = None if judge is None else _judge_called(workspace, judge)
        there = evidence.evidence_of(workspace)
        source, found = _chosen(workspace, asked, named, dimension, there, pooled=pooled)
        about = sorted(set(found.columns["dimension"]))
        if dimension is None and not dimensions:
            found = about_whole(found, asked=judge is not None)
        ranked = {*found.columns["left"], *found.columns["right"]}
        failed = list(failed_outputs(workspace, ranked))
        drivers = {} if source == "human" else driven_by(workspace)
        if not about:
            raise evidence.nothing_to_rank(workspace, source, named)
        warned = evidence.few_votes(there, source, chosen=asked != "auto")
        warned += lacking(workspace, found, source, named, folder, pooled=pooled)
    if not len(found):
        raise UserError(
            f"No verdict of source '{source}' is about the whole; there are some about {', '.join(about)}.",
            hint="Choose one with --dimension; `--method davidson --balanced` ranks by all of them together.",
        )
    used = _with_failed(found, failed)
    judges = sorted({str(name) for name in used.get("judge", []) if name})
    together = (f"Verdicts about {', '.join(about)} are ranked together.",) if dimensions and len(about) > 1 else ()
    about_them = verdict_warnings(judges, drivers, people="human" in used["source"], weighed=pooled)
    return WorkspaceBattles(
        table=load_battles(used),
        excluded=dict(found.excluded),
        coverage=dict(found.coverage),
        warnings=(*warned, *found.warnings, *together, *about_them),
        verdicts=whose(source, judges),
        beside=there.beside(source, named),
        by_scores=evidence.by_scores(found),
    )


def lacking(
    workspace: Any, found: Any, source: str, judge: str | None, folder: Path, *, pooled: bool = False
) -> tuple[str, ...]:
    """What a board of all these battles has to say of models that are not on it, or stand on it by less than others."""
    from imarena.workflows import evidence
    from imarena.workflows.uneven import uneven

    ranked = {*found.columns["left"], *found.columns["right"]}
    warned = evidence.absent(workspace, ranked, source, judge, folder)
    warned += () if pooled else evidence.scored_only(workspace, found, judge, folder)
    return warned + uneven(workspace, found, {str(name) for name in found.columns["judge"] if name})


def _with_failed(found: Any, failed: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The columns that hold something, and what editors failed to deliver: --missing leaves it out or counts it."""
    used = {name: column for name, column in found.columns.items() if any(value is not None for value in column)}
    if failed:
        used.setdefault("item", [None] * len(found))
        used = {name: [*column, *(row.get(name) for row in failed)] for name, column in used.items()}
        used["status_left"] = [*[None] * len(found), *(row["status_left"] for row in failed)]
    return used


def _chosen(
    workspace: Any, source: str, judge: str | None, dimension: str | None, there: Any, *, pooled: bool
) -> tuple[str, Any]:
    """The source that counts, and its battles."""
    from imarena.workflows.battles import battles

    if source == "auto":
        source, judge = ("all", judge) if pooled else automatic(workspace, judge, dimension, there)
    return source, battles(workspace, source=source, judge=judge, dimension=dimension, once=True)  # type: ignore[arg-type]


def automatic(workspace: Any, judge: str | None, dimension: str | None, there: Any) -> tuple[str, str | None]:
    """Source and judge of the board where nobody chose a source: people where they voted, else judges.

    The command line and the web application choose by this alone, so that both show the same board.
    """
    from imarena.workflows.battles import battles

    if judge is None and dimension is not None:  # people may have rated this criterion without choosing between two
        rated = battles(workspace, source="human", dimension=dimension, once=True)
        return ("human" if len(rated) else "judge"), None
    return ("human" if there.votes and judge is None else "judge"), judge


def whose(source: str, judges: list[str]) -> str:
    """Whose verdicts a board rests on, in words."""
    if source == "human" or not judges:
        return "people"
    return ("people, " if source == "all" else "") + (
        f"judge {judges[0]}" if len(judges) == 1 else f"{len(judges)} judges"
    )


def with_workspace(ranking: Ranking, found: WorkspaceBattles) -> Ranking:
    """Put the workspace's own exclusions and warnings on a board, and whose verdicts it rests on."""
    excluded = {**ranking.excluded, **found.excluded}
    settings = {**ranking.settings, "verdicts": found.verdicts, "by_scores": found.by_scores}
    settings |= {"beside": found.beside} if found.beside else {}
    notices = (*notices_from_texts(found.warnings), *ranking.notices)
    return ranking.model_copy(update={"excluded": excluded, "notices": notices, "settings": settings})


def compare_boards(ours: Mapping[str, float], path: Path, names: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Correlation with an outside leaderboard, as a document."""
    theirs, date = load_board(path)
    found: Comparison = compare(ours, theirs, names=names)
    return {
        "board": path.name,
        "date": date,
        "n": found.n,
        "spearman": found.spearman,
        "kendall": found.kendall,
        "pearson": found.pearson,
        "footrule": found.footrule,
        "reason": found.reason,
        "common": [
            {"model": model, "their_model": other, "rating": mine, "their_rating": yours}
            for model, other, mine, yours in found.common
        ],
        "only_ours": list(found.only_ours),
        "only_theirs": list(found.only_theirs),
    }


def _anchors(anchors: Mapping[str, float] | Ranking) -> dict[str, float]:
    if isinstance(anchors, Ranking):
        return {standing.model: standing.rating for standing in anchors.models}
    return dict(anchors)


def _state(resume: Ranking | None, options: Options) -> EloState:
    if resume is None:
        return EloState({})
    if resume.method != options.method or options.method not in ("elo", "active-elo"):
        raise UserError(
            f"A {resume.method} board cannot be resumed by {options.method}.", hint="Only online Elo boards resume."
        )
    ratings = {standing.model: standing.rating for standing in resume.models}
    state = resume.details.get("state")
    if isinstance(state, dict) and isinstance(state.get("ratings"), dict):
        ratings = {str(model): float(value) for model, value in state["ratings"].items()}  # type: ignore[union-attr,arg-type]
    before = state.get("battles") if isinstance(state, dict) else None
    return EloState(ratings, int(before) if isinstance(before, int) else resume.n_battles)
