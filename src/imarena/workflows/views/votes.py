"""Votes as columns, each with the reason why it does not count, if there is one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, Select, case, exists, func, literal, select, true

from imarena.core import TESTS_OF_RATERS, CodeArray, IntArray, moment_text
from imarena.storage.schema import assignments, campaigns, exclusions, votes
from imarena.workflows.views import codes
from imarena.workflows.views.chains import ONE_SIDE, asked_of_one_turn, one_sided_votes
from imarena.workflows.views.fetch import counted_before, fetch_columns


class Reason(StrEnum):
    """Why a vote does not count."""

    COUNTS = ""
    SUPERSEDED = "superseded"
    RETRACTED = "retracted"
    PRACTICE = "practice"
    TEST = "test"
    GOLD = "gold"
    REPEAT = "repeat"
    RATER_EXCLUDED = "rater excluded"
    ONE_SIDE = ONE_SIDE


REASONS = tuple(Reason)
PURPOSES: Mapping[str, Reason] = {purpose: Reason(why) for purpose, why in TESTS_OF_RATERS.items()}
"""Purposes of assignments whose votes measure the rater, not the models."""


@dataclass(frozen=True)
class VoteColumns(codes.ColumnTable):
    """n records of votes, including those that do not count. `left` and `right` are positions of outputs (-1: none).

    `reason` (n,) points into `REASONS`; 0 counts. `probability` of having been routed is NaN if unknown.
    """

    seq: IntArray
    rater: codes.Names
    left: CodeArray
    right: CodeArray
    preference: codes.ByteArray
    dimension: codes.Names
    purpose: codes.Names
    campaign: codes.Names
    probability: NDArray[np.float64]
    created_us: IntArray
    reason: codes.ByteArray

    def __len__(self) -> int:
        return int(self.seq.size)

    @property
    def counts(self) -> NDArray[np.bool_]:
        """(n,) which votes count."""
        return np.asarray(self.reason == 0)

    @property
    def in_force(self) -> NDArray[np.bool_]:
        """(n,) whether the rater neither replaced nor undid the vote; includes votes on tasks that test the rater."""
        undone = [REASONS.index(reason) for reason in (Reason.SUPERSEDED, Reason.RETRACTED)]
        return np.isin(self.reason, undone, invert=True)

    @property
    def excluded(self) -> dict[str, int]:
        """Number of votes that do not count, by reason."""
        numbers = np.bincount(self.reason, minlength=len(REASONS)).tolist()
        return {reason.value: number for reason, number in zip(REASONS, numbers, strict=True) if reason and number}


def read_votes(
    connection: Connection,
    at: Callable[[IntArray], CodeArray],
    before_us: int | None = None,
    *,
    later_turns: bool = True,
) -> VoteColumns:
    """Read all votes, and decide which count. `at` returns the positions of outputs by their `seq`.

    Without outputs of later turns (`later_turns`), no vote body is read. With `before_us`, only votes cast before this
    moment are read, and those that counted then count.
    """
    condition: Any = true() if before_us is None else votes.c.created_us < before_us
    superseded: Any = votes.c.superseded
    if before_us is not None:
        superseded = case((counted_before(votes, before_us), 0), else_=1)
    columns = fetch_columns(
        connection,
        select(
            votes.c.seq,
            votes.c.rater_id,
            func.coalesce(votes.c.left_seq, 0),
            func.coalesce(votes.c.right_seq, 0),
            codes.code_column(votes.c.preference, codes.PREFERENCES),
            votes.c.dimension,
            assignments.c.purpose,
            assignments.c.campaign_id,
            assignments.c.probability,
            votes.c.created_us,
            votes.c.retracted,
            superseded,
            votes.c.created_at,
            case((asked_of_one_turn(votes), 1), else_=0) if later_turns else literal(0),
        )
        .select_from(votes.outerjoin(assignments, assignments.c.id == votes.c.assignment_id))
        .where(condition)
        .order_by(votes.c.seq),
    )
    seq, rater, left, right, preference, dimension, purpose, campaign, probability, created = columns[:10]
    all_votes = VoteColumns(
        seq=np.array(seq, np.int64),
        rater=codes.encode_names(rater),
        left=at(np.array(left, np.int64)),
        right=at(np.array(right, np.int64)),
        preference=np.array(preference, np.int8),
        dimension=codes.encode_names(dimension),
        purpose=codes.encode_names(purpose),
        campaign=codes.encode_names(campaign),
        probability=np.array(probability, np.float64),
        created_us=np.array(created, np.int64),
        reason=np.zeros(len(seq), np.int8),
    )
    one_sided = one_sided_votes(connection, all_votes.seq[np.array(columns[13], bool)].tolist())
    all_votes.reason[np.isin(all_votes.seq, one_sided)] = REASONS.index(Reason.ONE_SIDE)
    return replace(
        all_votes,
        reason=_reasons(all_votes, columns[10], columns[11], columns[12], _exclusions(connection, before_us)),
    )


def _reasons(
    all_votes: VoteColumns, retracted: list[int], superseded: list[int], created_at: list[str], excluded: dict[str, str]
) -> codes.ByteArray:
    reason = all_votes.reason.copy()
    if excluded:
        since = np.array([excluded.get(name, "~") for name in all_votes.rater.names] or ["~"])
        reason[np.array(created_at, np.str_) >= since[all_votes.rater.of]] = REASONS.index(Reason.RATER_EXCLUDED)
    for purpose, why in PURPOSES.items():
        if purpose in all_votes.purpose.names:
            reason[all_votes.purpose.of == all_votes.purpose.names.index(purpose)] = REASONS.index(why)
    reason[np.array(superseded, bool)] = REASONS.index(Reason.SUPERSEDED)
    reason[np.array(retracted, bool)] = REASONS.index(Reason.RETRACTED)
    return reason


def _exclusions(connection: Connection, before_us: int | None) -> dict[str, str]:
    """Raters excluded now, or at a given time, with the start of the exclusion ("" for all votes)."""
    query = select(exclusions.c.rater_id, func.min(func.coalesce(exclusions.c.since, "")))
    excluded: Any = exclusions.c.lifted_at.is_(None)
    if before_us is not None:
        moment = moment_text(datetime.fromtimestamp(before_us // 1_000_000, UTC))
        excluded = (exclusions.c.created_at < moment) & (excluded | (exclusions.c.lifted_at >= moment))
    return dict(connection.execute(query.where(excluded).group_by(exclusions.c.rater_id)).tuples().all())


def votes_in_force(query: Select[Any]) -> Select[Any]:
    """Restrict a query on votes to those that their rater neither replaced nor undid."""
    return query.where(votes.c.retracted == 0, votes.c.superseded == 0)


def without_excluded_raters(query: Select[Any]) -> Select[Any]:
    """Restrict a query on votes to those of raters who are not excluded."""
    return query.where(~vote_is_excluded())


def vote_is_excluded() -> ColumnElement[bool]:
    """SQL condition in a query on votes: the vote's rater is excluded."""
    return exists().where(
        exclusions.c.rater_id == votes.c.rater_id,
        exclusions.c.lifted_at.is_(None),
        func.coalesce(exclusions.c.since, "") <= votes.c.created_at,
    )


def rater_is_excluded(rater_id: ColumnElement[str]) -> ColumnElement[bool]:
    """SQL condition: votes that this rater gives now do not count."""
    return exists().where(exclusions.c.rater_id == rater_id, exclusions.c.lifted_at.is_(None))


def open_campaigns(connection: Connection) -> frozenset[str]:
    """Ids of open campaigns: their raters must not see a board change."""
    return frozenset(connection.execute(select(campaigns.c.id).where(campaigns.c.open == 1)).scalars())
