"""`align` on a workspace: compare judges with people, by scores and ratings, and by battles and votes."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Literal

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
from imarena.core import UserError, counted, fill_in_commands, outcome_of_both, unknown_name
from imarena.core.notices import Notice, sentences
from imarena.core.records import Order, Outcome, Status
from imarena.stats import UNSTATED_TIE
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
from imarena.workflows.studies.people_files import read_people_file
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
    """Compare two tables: a judge's scores with ratings, or a judge's battles with people's."""
    battles = is_battle_file(from_file)
    if is_export_of_scores(from_file):
        return _align_export(from_file, against, options, only, missing)
    if battles != is_battle_file(against):
        raise UserError(
            "One table holds battles and the other does not.",
            hint="Compare scores with ratings, or a judge's battles with people's battles.",
        )
    if not battles:
        return _align_scores(scores_from_file(from_file), _ratings_table(against, only), options)
    verdicts = _judges_verdicts(from_file)
    return _align_votes(verdicts, verdicts_from_file(against, outcomes=HUMAN_OUTCOMES), options, missing)


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


def _align_export(
    from_file: TablePath, against: TablePath, options: AlignOptions, only: Sequence[str], missing: str
) -> Alignment | VerdictAlignment:
    """Align a table of `export scores`: its scores with ratings, or its verdicts on pairs with votes.

    If it holds only verdicts and people gave ratings, pairs of mean ratings serve as votes, as in a workspace.
    """
    if is_battle_file(against):
        votes = verdicts_from_file(against, outcomes=HUMAN_OUTCOMES)
        return _align_votes(exported_verdicts(from_file), votes, options, missing)
    ratings, scores = _ratings_table(against, only), scores_from_file(from_file)
    if len(scores):
        return _align_scores(scores, ratings, options)
    return _align_votes(exported_verdicts(from_file), pairs_of_ratings(ratings), options, missing)


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


def _align_scores(scores: ScoreColumns, ratings: RatingColumns, options: AlignOptions) -> Alignment:
    alignment = align(scores, ratings, options)
    return replace(alignment, notices=(*alignment.notices, *bad_value_notices(ratings)))


def _align_votes(
    verdicts: VerdictColumns, votes: VerdictColumns, options: AlignOptions, missing: str
) -> VerdictAlignment:
    return align_verdicts(verdicts, votes, by=options.by, missing=_missing_rule(missing), compare=options.compare)


def _missing_rule(text: str) -> Literal["exclude", "wrong"]:
    """Parse `--missing`: how to count battles without a verdict of the judge."""
    if text == "wrong":
        return "wrong"
    if text == "exclude":
        return "exclude"
    raise unknown_name("Unknown --missing", text, ("exclude", "wrong"))


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


def is_export_of_scores(path: TablePath) -> bool:
    """Whether `export scores` wrote this table."""
    return frozenset(column_names(path)) >= EXPORTED


@dataclass
class _Battle:
    """A judge's answers about one pair in one repeat."""

    row: dict[str, Any]
    by_order: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, row: dict[str, Any]) -> None:
        """Keep the first successful answer for each order, or else the newest failure."""
        earlier = self.by_order.get(row["order"])
        if earlier is None or earlier["status"] != Status.OK.value:
            self.by_order[row["order"]] = row

    def outcome(self, *, both_needed: bool) -> tuple[str | None, str]:
        """The winner, or None with the reason. If both orders agree, that outcome counts; otherwise it is a tie."""
        rows = list(self.by_order.values())
        failed = next((row["status"] for row in rows if row["status"] != Status.OK.value), "")
        if failed:
            return None, str(failed)
        if both_needed and len(rows) < 2 and Order.BOTH.value not in self.by_order:
            return None, REASONS["one order missing"]
        words = [row["preference"] for row in rows]
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
    battles: dict[tuple[str, ...], _Battle] = {}
    orders: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        if row["kind"] != "verdict" or row.get("not_counted"):
            continue
        judge = row["judge"] if row["dimension"] == WHOLE else f"{row['judge']}, {row['dimension']}"
        key = (judge, row["unit"], row["output_id"] or row["model"], row["other_output_id"] or "", row["repeat"] or "")
        battles.setdefault(key, _Battle(row)).add(row)
        orders[judge].add(row["order"] or "")
    outcomes = [battle.outcome(both_needed=len(orders[key[0]]) > 1) for key, battle in battles.items()]
    battle_rows = [battle.row for battle in battles.values()]
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
    criteria = ratings.labels.get("criterion", [""] * len(ratings))
    counts = Counter(criteria)
    about = WHOLE if WHOLE in counts else next(iter(counts)) if len(counts) == 1 else None
    marks: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row, value in enumerate(ratings.value):
        if criteria[row] == about and isinstance(value, float):
            marks[ratings.unit[row]][ratings.labels["model"][row]].append(value)
    lines = []
    for unit, models in marks.items():
        means = {model: sum(values) / len(values) for model, values in models.items()}
        for left, right in combinations(sorted(means), 2):
            gap = round(means[left] - means[right], 9)
            lines.append((unit, left, right, "tie" if gap == 0 else "left" if gap > 0 else "right"))
    return VerdictColumns(
        [line[0] for line in lines], [line[1] for line in lines], [line[2] for line in lines],
        [line[3] for line in lines], ["people's mean rating"] * len(lines), {},
        f"pairs of mean ratings in {ratings.source}",
    )  # fmt: skip
