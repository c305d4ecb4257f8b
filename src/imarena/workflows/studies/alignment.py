"""align on a workspace: its judges against its people, by scores and ratings, and by battles and votes."""

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import JsonValue

from imarena.agreement import AlignOptions, VerdictColumns, align, align_verdicts, filter_rows
from imarena.core import UserError, counted
from imarena.core.notices import Notice, sentences
from imarena.storage import Workspace
from imarena.workflows.studies.columns import check_judges, ratings_from_store, scores_from_store
from imarena.workflows.studies.pair_columns import (
    exclude_judges,
    verdicts_from_store,
    votes_from_ratings,
    votes_from_store,
)
from imarena.workflows.views import WHOLE

_MEET = "Scores meet ratings and votes (`imarena judge`), battles meet votes (`imarena battle`)."
_PEOPLE = "People's come by `imarena import` or a campaign (`imarena campaign`)."


def align_workspace(
    workspace: Workspace, judges: Sequence[str], options: dict[str, Any], missing: str = "exclude"
) -> dict[str, Any]:
    """Whatever the data allow; where they allow nothing it raises and says what is missing."""
    options = dict(options)
    if missing not in ("exclude", "wrong"):
        raise UserError(f"Unknown --missing '{missing}'.", hint="Known: exclude, wrong.")
    chosen = check_judges(workspace, judges)
    conditions = options.pop("only", ())
    ratings = filter_rows(ratings_from_store(workspace), conditions)
    scores = scores_from_store(workspace, chosen, sorted(set(ratings.labels["criterion"])))
    votes = votes_from_store(workspace)
    only_rated = not len(votes) and WHOLE in ratings.labels["criterion"]
    if only_rated:
        votes = votes_from_ratings(workspace)
    by = tuple(options.get("by", ()))
    verdicts, by_scores = verdicts_from_store(workspace, chosen, votes, by=by)
    if only_rated:  # a judge that scores meets the ratings themselves
        verdicts = exclude_judges(verdicts, by_scores)
        by_scores = ()
    document: dict[str, Any] = {"kind": "workspace", "judges": chosen, "warnings": [], "notices": []}
    if len(ratings) and len(scores):
        compared = align(scores, ratings, AlignOptions(**options)).to_json()
        document["scores"] = compared
        document["warnings"] += compared["warnings"]
    if len(votes) and len(verdicts):
        found = align_verdicts(
            verdicts,
            votes,
            by=by,
            missing="wrong" if missing == "wrong" else "exclude",
            compare=bool(options.get("compare")),
        )
        document["verdicts"] = found.to_json()
        notices = list(_notices(verdicts, by_scores))
        if only_rated:
            values: dict[str, JsonValue] = {"pairs": len(votes), "overall": ratings.rule}
            notices.append(Notice(code="pairs_from_ratings", values=values))
        document["notices"] += [notice.model_dump() for notice in notices]
        document["warnings"] += sentences(notices)
    if "scores" not in document and "verdicts" not in document:
        have = ", ".join((
            counted(len(ratings), "rating"), counted(len(votes), "vote"), counted(len(scores), "score"),
            counted(len(verdicts), "battle"),
        ))  # fmt: skip
        raise UserError(
            f"Nothing of a judge meets anything of people here: {have}.",
            hint=_MEET if len(ratings) or len(votes) else f"{_MEET} {_PEOPLE}",
        )
    return document


def _notices(verdicts: VerdictColumns, by_scores: Sequence[str]) -> Iterator[Notice]:
    """What to know about the verdicts that were compared with votes."""
    if by_scores:
        yield Notice(code="judges_by_scores", values={"judges": list(by_scores)})
    about = dict(zip(verdicts.rater, verdicts.labels["dimension"], strict=True))
    for judge, dimension in sorted(about.items()):
        others = sorted(verdicts.covers.get(judge, frozenset()) - {dimension})
        if others:
            values: dict[str, JsonValue] = {"judge": judge, "dimension": dimension, "votes": list(others)}
            yield Notice(code="votes_about_other_dimension", values=values)
