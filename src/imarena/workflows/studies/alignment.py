"""`align` on a workspace: compare judges with people, by scores and ratings, and by battles and votes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, get_args

from pydantic import JsonValue

from imarena.agreement import (
    EXPORTED,
    HUMAN_OUTCOMES,
    JUDGE_OUTCOMES,
    Alignment,
    AlignOptions,
    RatingColumns,
    ScoreColumns,
    VerdictAlignment,
    VerdictColumns,
    align,
    align_verdicts,
    filter_rows,
    is_battle_file,
    ratings_from_file,
    scores_from_file,
    verdicts_from_file,
)
from imarena.core import UserError, counted, fill_in_commands, grouped, known_name, outcome_of_both
from imarena.core.notices import Notice, sentences
from imarena.core.records import Order, Outcome, Status
from imarena.stats import UNSTATED_TIE, MissingVerdicts
from imarena.storage import Workspace, reading
from imarena.tables import TablePath, column_names, read_file
from imarena.workflows.studies.agreement_files import (
    bad_value_notices,
    is_written_here,
    plain_ratings,
    ratings_of_file,
)
from imarena.workflows.studies.columns import check_judges, ratings_from_store, scores_from_store
from imarena.workflows.studies.pair_columns import (
    REASONS,
    exclude_judges,
    verdicts_from_store,
    votes_from_ratings,
    votes_from_store,
)
from imarena.workflows.studies.people_files import higher_side, mean_marks, read_people_file
from imarena.workflows.views import WHOLE, View, count_live

_NEEDS = "Scores (`judge`) are compared with ratings and votes, battles (`battle`) with votes."
_PEOPLE = (
    "Collect ratings or votes in a campaign (`{imarena} campaign create NAME`), or import them "
    "(`{imarena} import FORMAT PATH`)."
)


@dataclass(frozen=True, slots=True)
class WorkspaceAlignment:
    """How judges of a workspace agree with people: by scores and ratings, by verdicts and votes, or by both."""

    judges: tuple[str, ...]
    scores: Alignment | None
    verdicts: VerdictAlignment | None
    notices: tuple[Notice, ...]
    """Notices about the verdicts and the file of people's answers; `scores` has its own."""

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON, without parts that the workspace has no data for."""
        parts = {"scores": self.scores, "verdicts": self.verdicts}
        documents = {name: part.to_json() for name, part in parts.items() if part is not None}
        return {
            "kind": "workspace", "judges": list(self.judges),
            "warnings": [*sentences(self.scores.notices if self.scores else ()), *sentences(self.notices)],
            "notices": [notice.model_dump() for notice in self.notices], **documents,
        }  # fmt: skip


@dataclass(frozen=True)
class AlignedColumns:
    """The answers of judges and people in a workspace, before they are compared."""

    judges: tuple[str, ...]
    ratings: RatingColumns
    scores: ScoreColumns
    votes: VerdictColumns
    verdicts: VerdictColumns
    by_scores: tuple[str, ...] = ()
    """Judges that compared no pair directly: their verdicts come from pairs of scores."""
    only_rated: bool = False
    """Whether the votes come from pairs of people's mean ratings."""
    notices: tuple[Notice, ...] = ()


def read_aligned_columns(
    workspace: Workspace,
    judges: Sequence[str],
    options: AlignOptions,
    *,
    only: Sequence[str] = (),
    people: TablePath | None = None,
) -> AlignedColumns:
    """Read the data that can be compared. Raises `UserError` if there is none, and reports what is missing.

    `only`: conditions on the ratings (`filter_rows`). `people`: a file of ratings or votes; None: the workspace's.
    """
    names = check_judges(workspace, judges)
    written = read_people_file(View(workspace), people) if people is not None else None
    ratings = filter_rows(ratings_from_store(workspace, options.by) if written is None else written.ratings, only)
    votes = votes_from_store(workspace, options.by) if written is None else written.votes
    only_rated = not len(votes) and (written is not None or WHOLE in ratings.labels["criterion"])
    if only_rated:
        votes = votes_from_ratings(workspace, by=options.by) if written is None else written.pairs or votes
    verdicts, by_scores = verdicts_from_store(workspace, names, votes, by=options.by)
    if only_rated:  # compare a judge that scores with the ratings themselves
        verdicts = exclude_judges(verdicts, by_scores)
        by_scores = ()
    scores = ScoreColumns([], [], [])
    if len(ratings) or not (len(votes) and len(verdicts)):  # skipped if scores have nothing to be compared with
        criteria = sorted(set(ratings.labels.get("criterion", ())))
        scores = scores_from_store(workspace, names, criteria, options.by)
    if not (len(ratings) and len(scores)) and not (len(votes) and len(verdicts)):
        available = f"{counted(len(ratings), 'rating')} and {counted(len(votes), 'vote')} by people"
        judged = f"{counted(len(scores), 'score')} and {counted(len(verdicts), 'battle')} by judges"
        raise UserError(
            f"No verdict of a judge can be compared with people: {available}; {judged}.",
            hint=_NEEDS if len(ratings) or len(votes) else fill_in_commands(f"{_NEEDS} {_PEOPLE}"),
        )
    notices = (*(written.notices if written is not None else ()), *_earlier_scores(workspace, names))
    return AlignedColumns(tuple(names), ratings, scores, votes, verdicts, by_scores, only_rated, notices)


def _earlier_scores(workspace: Workspace, judges: Sequence[str]) -> Iterator[Notice]:
    """Notices about verdicts of these judges by an older version, prompt or setting, which are not compared here."""
    variants = View(workspace).variants
    for judge in judges:
        earlier = [variant.form_id for variant in variants.chosen([judge]) if variant.form_id in variants.earlier]
        with reading(workspace.store.engine) as connection:
            number = count_live(connection, earlier, ok=True).total()
        if number:
            yield Notice(code="earlier_scores", values={"judge": judge, "scores": number})


def align_columns(columns: AlignedColumns, options: AlignOptions, *, missing: str = "exclude") -> WorkspaceAlignment:
    """Compare scores with ratings, and verdicts with votes, whichever there are."""
    without_verdict = _missing_rule(missing)
    scores, ratings, votes, verdicts = columns.scores, columns.ratings, columns.votes, columns.verdicts
    by_ratings = align(scores, ratings, options) if len(ratings) and len(scores) else None
    if not (len(votes) and len(verdicts)):
        return WorkspaceAlignment(columns.judges, by_ratings, None, columns.notices)
    by_votes = align_verdicts(verdicts, votes, by=options.by, missing=without_verdict, compare=options.compare)
    notices = [*columns.notices, *_notices(verdicts, columns.by_scores)]
    if columns.only_rated:
        values: dict[str, JsonValue] = {"pairs": len(votes), "overall": ratings.rule}
        notices.append(Notice(code="pairs_from_ratings", values=values))
    return WorkspaceAlignment(columns.judges, by_ratings, by_votes, tuple(notices))


def align_files(
    from_file: TablePath,
    against: TablePath,
    options: AlignOptions,
    *,
    only: Sequence[str] = (),
    missing: str = "exclude",
) -> Alignment | VerdictAlignment:
    """Compare two tables: a judge's scores with ratings, or a judge's battles with people's.

    If a table of `export scores` holds only verdicts and people gave ratings, pairs of mean ratings serve as votes, as
    in a workspace.
    """
    exported = frozenset(column_names(from_file)) >= EXPORTED
    voted = is_battle_file(against)
    if not exported and is_battle_file(from_file) != voted:
        raise UserError(
            "One table holds battles and the other does not.",
            hint="Compare scores with ratings, or a judge's battles with people's battles.",
        )
    if voted:
        verdicts = exported_verdicts(from_file) if exported else _judges_verdicts(from_file)
        votes = verdicts_from_file(against, outcomes=HUMAN_OUTCOMES)
    else:
        scores, ratings = scores_from_file(from_file), _ratings_table(against, only)
        if len(scores) or not exported:
            alignment = align(scores, ratings, options)
            return replace(alignment, notices=(*alignment.notices, *bad_value_notices(ratings)))
        verdicts, votes = exported_verdicts(from_file), pairs_of_ratings(ratings)
    return align_verdicts(verdicts, votes, by=options.by, missing=_missing_rule(missing), compare=options.compare)


def _judges_verdicts(path: TablePath) -> VerdictColumns:
    """Read the battles of one judge, or of several if there is a column `judge`."""
    verdicts = verdicts_from_file(path, outcomes=JUDGE_OUTCOMES)
    judges = verdicts.labels.get("judge", [])
    if len(set(judges)) < 2:
        return verdicts
    if "rater" in column_names(path):
        raise UserError(
            f"{path}: the columns 'judge' and 'rater' both say who gave a verdict.",
            hint="Keep the one that names the judges.",
        )
    if "" in judges:
        raise UserError(f"{path}, row {judges.index('') + 1}: column 'judge' is empty.", hint="Every row needs one.")
    return replace(verdicts, rater=judges)


def _ratings_table(path: TablePath, only: Sequence[str]) -> RatingColumns:
    """Read a table of ratings in either form: by item and editor, or by unit and model."""
    names = frozenset(column_names(path))
    if is_written_here(names):
        ratings = ratings_of_file(path)
    elif names >= {"unit", "rater", "value"} and "editor" not in names:
        ratings = ratings_from_file(path, skip_bad=True)
    else:
        ratings = plain_ratings(path, names)
    return filter_rows(ratings, only)


def _missing_rule(text: str) -> MissingVerdicts:
    """Parse `--missing`: how to count battles without a verdict of the judge."""
    return known_name("Unknown --missing", text, get_args(MissingVerdicts))


def _notices(verdicts: VerdictColumns, by_scores: Sequence[str]) -> Iterator[Notice]:
    """Notices about the verdicts that were compared with votes."""
    if by_scores:
        yield Notice(code="judges_by_scores", values={"judges": list(by_scores)})
    about = dict(zip(verdicts.rater, verdicts.labels["dimension"], strict=True))
    for judge, dimension in sorted(about.items()):
        other_dimensions = sorted(verdicts.covers.get(judge, frozenset()) - {dimension})
        if other_dimensions:
            values: dict[str, JsonValue] = {"judge": judge, "dimension": dimension, "votes": list(other_dimensions)}
            yield Notice(code="votes_about_other_dimension", values=values)


def _outcome(rows: Sequence[dict[str, Any]], *, both_needed: bool) -> tuple[str | None, str]:
    """The winner by a judge's answers about one pair in one repeat, or None with the reason.

    For each order, the first successful answer counts, or else the newest failure. If both orders agree, that outcome
    counts; otherwise it is a tie.
    """
    by_order: dict[str, dict[str, Any]] = {}
    for row in rows:
        earlier = by_order.get(row["order"])
        if earlier is None or earlier["status"] != Status.OK.value:
            by_order[row["order"]] = row
    failed = next((row["status"] for row in by_order.values() if row["status"] != Status.OK.value), "")
    if failed:
        return None, str(failed)
    if both_needed and len(by_order) < 2 and Order.BOTH.value not in by_order:
        return None, REASONS["one order missing"]
    words = [row["preference"] for row in by_order.values()]
    if not all(words):
        return None, REASONS["no preference"]
    if len(set(words)) == 1:
        return words[0], ""
    if UNSTATED_TIE in words:
        return Outcome.TIE.value, ""
    return outcome_of_both(Outcome(words[0]), Outcome(words[1])).value, ""


def exported_verdicts(path: TablePath) -> VerdictColumns:
    """Read the verdicts that count, by item and the two models; empty if the table holds only scores."""
    rows: list[dict[str, Any]] = read_file(path, text=frozenset(column_names(path)), wanted=None).to_pylist()
    verdicts = [row for row in rows if row["kind"] == "verdict" and not row.get("not_counted")]
    names = [row["judge"] if row["dimension"] == WHOLE else f"{row['judge']}, {row['dimension']}" for row in verdicts]
    orders = grouped((name, row["order"] or "") for name, row in zip(names, verdicts, strict=True))
    battles = grouped(
        (
            (name, row["unit"], row["output_id"] or row["model"], row["other_output_id"] or "", row["repeat"] or ""),
            row,
        )
        for name, row in zip(names, verdicts, strict=True)
    )
    both_asked = {name for name, asked in orders.items() if len({*asked}) > 1}
    outcomes = [_outcome(answers, both_needed=key[0] in both_asked) for key, answers in battles.items()]
    battle_rows = [answers[0] for answers in battles.values()]
    several = {row["dimension"] for row in battle_rows} != {WHOLE}
    return VerdictColumns(
        [row["unit"] for row in battle_rows], [row["model"] for row in battle_rows],
        [row["other_model"] for row in battle_rows],
        [winner for winner, _ in outcomes], [key[0] for key in battles],
        {"dimension": [row["dimension"] for row in battle_rows]} if several else {}, str(path),
        reason=[reason for _, reason in outcomes],
    )  # fmt: skip


def pairs_of_ratings(ratings: RatingColumns) -> VerdictColumns:
    """Turn mean ratings into votes: of two models on one unit, the higher mean wins, and equal means are a tie.

    Uses the overall rating, or the table's only criterion; without an overall, several criteria give no votes.
    """
    means = mean_marks(ratings)
    lines = [
        (unit, left, right, higher_side(means[unit, left], means[unit, right]))
        for unit, models in grouped(means).items()
        for left, right in combinations(sorted(models), 2)
    ]
    return VerdictColumns(
        [line[0] for line in lines], [line[1] for line in lines], [line[2] for line in lines],
        [line[3] for line in lines], ["people's mean rating"] * len(lines), {},
        f"pairs of mean ratings in {ratings.source}",
    )  # fmt: skip
