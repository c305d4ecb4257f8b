"""Pairs of a later turn whose outputs were made from different images, and verdicts on them that do not count.

Older versions showed such a pair with the image that its left output was made from. A question that shows what both
have in common has work of the kind `TURNS_WORK`, and a vote on it names its first turn; older verdicts have neither.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, Connection, Table, and_, select

from imarena.core import IntArray
from imarena.core.records import Mode, Output
from imarena.storage import from_row
from imarena.storage.schema import judgments, outputs, votes
from imarena.workflows.views.fetch import fetch_columns

TURNS_WORK = "work-turns"
"""The kind of work that asks about several turns together; work about one turn is of the kind `work`."""
ONE_SIDE = "shown with the source of the left output only"
"""Why a verdict does not count although nothing replaced it."""
PAGE = 500


def common_turn(left: Output, right: Output, parents: Mapping[str, Output]) -> int:
    """The latest turn at which the chains of two outputs started from the same image: usually their own turn.

    0: the item's own sources, which all chains share.
    """
    turn = left.turn
    same_parent = left.parent_id is not None and left.parent_id == right.parent_id
    if left.mode is not Mode.MULTI_TURN or same_parent:
        return turn
    for at in range(turn, 0, -1):
        first, second = parents.get(left.parent_id or ""), parents.get(right.parent_id or "")
        if first is None or second is None:
            return 0
        if first.image is not None and second.image is not None and first.image.sha256 == second.image.sha256:
            return at
        left, right = first, second
    return 0


def asked_of_one_turn(table: Table) -> ColumnElement[bool]:
    """SQL condition on judgments or votes: made here, on a pair of a later turn, and asked only about that turn.

    Imported verdicts were shown what their source showed. A body contains the number of a turn unless it is 0.
    """
    if table is judgments:
        made_here = and_(table.c.run_id.is_not(None), table.c.work_id.not_like(f"{TURNS_WORK}%"))
    else:
        made_here = and_(table.c.assignment_id.is_not(None), ~table.c.body.contains('"first_turn":'))
    return and_(table.c.right_id.is_not(None), made_here, table.c.body.contains('"turn":'))


def one_sided_judgments(connection: Connection, after: int, until_seq: int) -> IntArray:
    """(n,) sorted `seq` of judgments that were shown the source of only one side."""
    later = select(outputs.c.id).where(outputs.c.mode == Mode.MULTI_TURN.value, outputs.c.turn > 0)
    query = select(judgments.c.seq, judgments.c.left_id, judgments.c.right_id).where(
        judgments.c.left_id.in_(later),
        asked_of_one_turn(judgments),
        judgments.c.seq > after,
        judgments.c.seq <= until_seq,
    )
    return _one_sided(connection, fetch_columns(connection, query.order_by(judgments.c.seq)))


def one_sided_votes(connection: Connection, seqs: Collection[int]) -> IntArray:
    """(n,) sorted `seq` of those votes that were shown the source of only one side."""
    condition = asked_of_one_turn(votes)
    columns: list[list[Any]] = [[], [], []]
    for page in pages(sorted(seqs)):
        query = select(votes.c.seq, votes.c.left_id, votes.c.right_id).where(votes.c.seq.in_(page), condition)
        for column, values in zip(columns, fetch_columns(connection, query.order_by(votes.c.seq)), strict=True):
            column.extend(values)
    return _one_sided(connection, columns)


def _one_sided(connection: Connection, columns: list[list[Any]]) -> IntArray:
    seqs, *sides = columns
    pairs = list(zip(*sides, strict=True))
    apart = pairs_of_different_images(connection, set(pairs))
    return np.array([seq for seq, pair in zip(seqs, pairs, strict=True) if pair in apart], np.int64)


def pairs_of_different_images(connection: Connection, pairs: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
    """Those of these pairs of outputs that were made from different images."""
    chain: dict[str, Output] = {}
    ids = {side for pair in pairs for side in pair}
    while ids:
        page_outputs: dict[str, Output] = {}
        for page in pages(sorted(ids)):
            rows = connection.execute(select(outputs).where(outputs.c.id.in_(page))).mappings()
            page_outputs |= {row["id"]: from_row(Output, row) for row in rows}
        chain |= page_outputs
        ids = {output.parent_id for output in page_outputs.values() if output.parent_id is not None} - chain.keys()
    return {(left, right) for left, right in pairs if common_turn(chain[left], chain[right], chain) < chain[left].turn}


def pages(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Yield pages of values that fit into one query."""
    for start in range(0, len(values), PAGE):
        yield values[start : start + PAGE]
