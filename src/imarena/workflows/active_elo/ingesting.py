"""Route: read votes from a sheet (CSV or XLSX) into the store. Rejected rows are listed; the rest is stored."""

import csv
import math
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from sqlalchemy import update

from imarena.core import UserError, content_id, moment_text
from imarena.core.records import Assignment, Campaign, Event, EventKind, Outcome, Rater, Record, Vote, now
from imarena.reports import ANSWER_WORDS, FIRST_SHEET_ROW, read_xlsx
from imarena.storage import Workspace, writing
from imarena.storage.schema import leases
from imarena.workflows.rating import RecordCache, offer_adjudications

NEEDED = ("assignment", "winner")
_WORDS = {
    words: Outcome(outcome)
    for outcome, button in ANSWER_WORDS.items()
    for words in (outcome.replace("_", " "), button.lower(), f"{outcome.replace('_', ' ')} better")
}
"""Outcome names and button texts in lower case, with the outcomes."""


@dataclass(frozen=True)
class RefusedRow:
    """A rejected row, and the reason."""

    row: int
    assignment: str
    reason: str


@dataclass(frozen=True)
class IngestReport:
    """Counts of new votes, of known votes and of rows without a winner; and the rejected rows."""

    new: int
    same: int
    waiting: int
    refused: tuple[RefusedRow, ...]


def ingest_votes(workspace: Workspace, path: Path) -> IngestReport:
    """Read the columns assignment, rater, winner and optionally time_spent_s. Rows without a winner have no vote yet.

    A file can be read again: votes that are already stored stay as they are.
    """
    rows = list(_rows(path))
    assignments = _assignments(workspace, (row for _, row in rows))
    stored, first_of = _stored_outcomes(workspace, assignments), _answered_units(workspace, assignments)
    cache = RecordCache(workspace)
    records: list[Record] = []
    refused: list[RefusedRow] = []
    waiting = unchanged = new = 0
    for number, row in rows:
        if not row["winner"]:
            waiting += 1
            continue
        vote = _vote(row, assignments)
        if isinstance(vote, str):
            refused.append(RefusedRow(number, row["assignment"], vote))
            continue
        earlier = stored.get((row["assignment"], vote.rater_id))
        if earlier == vote.preference:
            unchanged += 1
            continue
        if earlier is not None:
            reason = f"rater '{vote.rater_id}' voted {earlier} on this assignment already; a second vote does not count"
            refused.append(RefusedRow(number, row["assignment"], reason))
            continue
        assignment = assignments[row["assignment"]]
        if (
            first_of.setdefault((vote.rater_id, assignment.unit, assignment.purpose), assignment.assignment_id)
            != assignment.assignment_id
        ):
            reason = f"rater '{vote.rater_id}' voted on this battle already; another vote on it is for somebody else"
            refused.append(RefusedRow(number, row["assignment"], reason))
            continue
        if assignment.turn:
            vote = vote.model_copy(update={"first_turn": _first_turn(cache, assignment, row)})
        stored[row["assignment"], vote.rater_id] = vote.preference or Outcome.TIE
        new += 1
        records += [Rater(rater_id=vote.rater_id), vote, _vote_event(vote)]
    added = workspace.store.add(records, durable=True)
    _close(workspace, [record for record in records if isinstance(record, Vote)])
    answered = sorted({assignment.campaign_id for assignment in assignments.values()}) if new else []
    for campaign in workspace.store.records(Campaign, id=answered) if answered else ():
        offer_adjudications(workspace, campaign)
    refused += [
        RefusedRow(0, getattr(conflict.record, "assignment_id", "") or "", conflict.reason)
        for conflict in added.conflicts
    ]
    return IngestReport(new - len(added.conflicts), unchanged, waiting, tuple(refused))


def count_unread_rows(workspace: Workspace, path: Path) -> int:
    """Count rows of a sheet with a winner that `ingest` would accept but has not read yet."""
    rows = [row for _, row in _rows(path) if row["winner"]]
    assignments = _assignments(workspace, rows)
    stored = _stored_outcomes(workspace, assignments)
    votes = [vote for row in rows if isinstance(vote := _vote(row, assignments), Vote)]
    return sum((vote.assignment_id or "", vote.rater_id) not in stored for vote in votes)


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield rows with the numbers that a spreadsheet shows: the header is row 1."""
    if path.suffix.lower() == ".xlsx":
        yield from _xlsx_rows(path)
        return
    text = _text(path)
    # Spreadsheets use semicolons or tabs where a comma is the decimal mark; the header has no such character.
    delimiter = max(",;\t", key=text.partition("\n")[0].count)
    # StringIO, not splitlines, which also splits at characters that text may contain.
    reader = csv.DictReader(StringIO(text, newline=""), delimiter=delimiter)
    try:
        reader.fieldnames = _names(path, reader.fieldnames or ())
        for number, row in enumerate(reader, start=FIRST_SHEET_ROW):
            yield (
                number,
                {name: (value or "").strip() for name, value in row.items() if name and isinstance(value, str)},
            )
    except csv.Error as error:
        raise UserError(
            f"{path}: line {reader.line_num} is no CSV ({error}).",
            hint="Nothing was read. Correct that line (a quote that is not closed?) and read the sheet again.",
        ) from error


def _xlsx_rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    if not path.is_file():
        raise UserError(f"Cannot read {path}.", hint="Give the sheet that `route assign --out` wrote.")
    rows = read_xlsx(path)
    names = _names(path, next(rows, []))
    for number, cells in enumerate(rows, start=FIRST_SHEET_ROW):
        row = {name: cell.strip() for name, cell in zip(names, cells, strict=False) if name}
        if any(row.values()):
            yield number, {**dict.fromkeys(NEEDED, ""), **row}


def _names(path: Path, columns: Sequence[str]) -> list[str]:
    """Return the column names in lower case; each required one must occur exactly once."""
    names = [name.strip().lower() for name in columns]
    for name in NEEDED:
        if names.count(name) != 1:
            problem = f"no column '{name}'" if name not in names else f"more than one column '{name}'"
            raise UserError(f"{path}: {problem}.", hint="Columns: assignment, rater, winner, time_spent_s.")
    return names


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"Cannot read {path}.", hint="Give the CSV that `route assign --out` wrote.") from error
    try:
        # a spreadsheet's "Unicode text" is UTF-16 with a byte order mark
        return data.decode("utf-16" if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(
            f"{path} is not UTF-8.", hint="Save it from the spreadsheet once more, as 'CSV UTF-8'; nothing was read."
        ) from error


def _batches(ids: Iterable[str]) -> Iterator[list[str]]:
    """Yield the different ids in sorted lists that fit into a query."""
    ordered = sorted({*ids})
    for start in range(0, len(ordered), 500):
        yield ordered[start : start + 500]


def _assignments(workspace: Workspace, rows: Iterable[dict[str, str]]) -> dict[str, Assignment]:
    """Return the assignments that these rows name, by id."""
    batches = _batches(row["assignment"] for row in rows)
    found = (record for batch in batches for record in workspace.store.records(Assignment, id=batch))
    return {assignment.assignment_id: assignment for assignment in found}


def _stored_outcomes(workspace: Workspace, assignments: dict[str, Assignment]) -> dict[tuple[str, str], Outcome]:
    outcomes: dict[tuple[str, str], Outcome] = {}
    for batch in _batches(assignments):
        for vote in workspace.store.records(Vote, assignment_id=batch):
            if vote.assignment_id is not None and vote.preference is not None:
                outcomes[vote.assignment_id, vote.rater_id] = vote.preference
    return outcomes


def _answered_units(workspace: Workspace, assignments: dict[str, Assignment]) -> dict[tuple[str, str, str], str]:
    """Map rater, unit and purpose to the assignment with which a rater voted on an open unit.

    A repeat has another purpose: the rater is meant to see that battle twice.
    """
    first_of: dict[tuple[str, str, str], str] = {}
    for units in _batches(entry.unit for entry in assignments.values() if entry.rater_id is None):
        rows = {row["id"]: row for row in workspace.store.rows(Assignment, unit=units)}
        for vote in workspace.store.rows(Vote, assignment_id=sorted(rows)) if rows else ():
            row = rows[vote["assignment_id"]]
            first_of[vote["rater_id"], row["unit"], row["purpose"]] = row["id"]
    return first_of


def _vote(row: dict[str, str], assignments: dict[str, Assignment]) -> Vote | str:
    """Return the vote, or the reason why there is none."""
    assignment = assignments.get(row["assignment"])
    if assignment is None:
        return "no such assignment in this workspace"
    # spreadsheets capitalize words; button texts are accepted too
    winner = _WORDS.get(" ".join(row["winner"].lower().replace("_", " ").split()))
    if winner is None:
        buttons = ", ".join(ANSWER_WORDS.values())
        return f"{row['winner'][:40]!r} is no outcome: left, right, tie, both_bad (or {buttons})"  # no control codes
    rater = row.get("rater") or assignment.rater_id
    if not rater:
        return "no rater is named, and the assignment names none"
    if assignment.rater_id is not None and rater != assignment.rater_id:
        return f"this assignment is for rater '{assignment.rater_id}', not '{rater}'"
    try:
        spent = float(row["time_spent_s"]) if row.get("time_spent_s") else None
    except ValueError:
        spent = math.nan
    if spent is not None and not 0 <= spent < math.inf:
        return f"'{row['time_spent_s']}' is no number of seconds"
    return Vote(
        rater_id=rater,
        item_id=assignment.item_id,
        turn=assignment.turn,
        left_id=assignment.left_id,
        right_id=assignment.right_id,
        assignment_id=assignment.assignment_id,
        preference=winner,
        time_spent_s=spent,
        unseen=True,
        idempotency_key=content_id("csv", assignment.assignment_id, rater),
    )


def _first_turn(cache: RecordCache, assignment: Assignment, row: dict[str, str]) -> int | None:
    """Return the first of several turns that the sheet asked about together; None if its words ask about one turn."""
    edit = cache.question_of(assignment)
    words = row.get("instruction", "").split()
    return edit.first_turn if not words or words == edit.instruction.split() else None


def _close(workspace: Workspace, cast: list[Vote]) -> None:
    """Stop offering tasks in the web application that were voted on elsewhere."""
    with writing(workspace.store.engine) as connection:
        for vote in cast:
            connection.execute(
                update(leases)
                .where(leases.c.assignment_id == vote.assignment_id, leases.c.state == "free")
                .values(state="done", rater_id=vote.rater_id, vote_id=vote.vote_id, done_at=moment_text(now()))
            )


def _vote_event(vote: Vote) -> Event:
    return Event(
        event_id=content_id("event", "voted", vote.assignment_id, vote.rater_id),
        assignment_id=vote.assignment_id or "",
        kind=EventKind.VOTED,
        rater_id=vote.rater_id,
    )
