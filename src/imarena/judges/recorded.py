"""Recorded scores as a judge: looked up by pixels and instruction, never computed."""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field, JsonValue, ValidationError, model_validator

from imarena.core import Chat, Exhibit, JudgeTraits, UserError, Verdict, content_id, sha256_hex, validation_problem
from imarena.core import higher_is_better as metric_direction
from imarena.core.records import FrozenModel, JsonDict, Outcome, Status
from imarena.judges.options import read_judge_options
from imarena.judges.orders import mirror_scores

_RowKey = tuple[str, str | None, str | None]
"""SHA-256 of the left and the right image, and the instruction; None if the record has none."""


class RecordedRow(FrozenModel):
    """One recorded verdict. Without `instruction` it applies to any instruction about these images."""

    left_sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    right_sha256: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")
    instruction: str | None = None
    status: Status = Status.OK
    preference: Outcome | None = None
    score: float | None = None
    scores: dict[str, float] = Field(default_factory=dict)
    error: str = ""

    @model_validator(mode="after")
    def _status_is_not_a_verdict(self) -> "RecordedRow":
        verdict = self.preference is not None or self.score is not None or bool(self.scores)
        if verdict != (self.status is Status.OK):
            raise ValueError("a row has a verdict exactly when its status is ok")
        if self.preference is not None and self.right_sha256 is None:
            raise ValueError("a preference needs two images")
        return self


class RecordedSettings(FrozenModel):
    """`path`: a JSON Lines or CSV file of rows; `name`: the judge's name on boards.

    `higher_is_better`: false if low scores are good; by default, the name decides (`LPIPS`, `FID`, ...).
    """

    path: str
    name: str = "recorded"
    higher_is_better: bool | None = None


@dataclass(frozen=True)
class RecordedJudge:
    """A judge that looks verdicts up. For an exhibit without a record, the status is `api_error`."""

    name: str
    rows: Mapping[_RowKey, RecordedRow]
    version: str
    prompt_id: str = "recorded"
    prompt_version: str = "1"
    higher_is_better: bool = True
    traits: JudgeTraits = JudgeTraits()

    @property
    def params(self) -> JsonDict:
        return {"rows": len(self.rows), **({} if self.higher_is_better else {"higher_is_better": False})}

    async def judge(self, exhibit: Exhibit) -> Verdict:
        """Look the exhibit up; the verdict on a pair recorded the other way round is mirrored."""
        left = sha256_hex(exhibit.left)
        right = None if exhibit.right is None else sha256_hex(exhibit.right)
        for instruction in (exhibit.instruction, None):
            row = self.rows.get((left, right, instruction))
            if row is not None:
                return _verdict(row)
            row = self.rows.get((right, left, instruction)) if right is not None else None
            if row is not None:
                return _verdict(row, mirrored=True)
        return Verdict(Status.API_ERROR, error="no recorded verdict for these images and this instruction")


def _verdict(row: RecordedRow, *, mirrored: bool = False) -> Verdict:
    preference = row.preference.mirrored() if mirrored and row.preference is not None else row.preference
    return Verdict(
        status=row.status,
        preference=preference,
        score=row.score,
        scores=mirror_scores(row.scores) if mirrored else row.scores,
        error=row.error,
    )


def judge_from_rows(
    rows: Iterable[RecordedRow], name: str = "recorded", *, higher_is_better: bool | None = None
) -> RecordedJudge:
    """Make a judge from rows; raises if two rows contradict each other about the same exhibit.

    `higher_is_better` None: the name decides.
    """
    table: dict[_RowKey, RecordedRow] = {}
    for row in rows:
        key = (row.left_sha256, row.right_sha256, row.instruction)
        if table.setdefault(key, row) != row:
            raise UserError(
                f"Two recorded verdicts contradict each other about the image {row.left_sha256[:12]}.",
                hint="Give the instruction in each row, or keep one of the two.",
            )
    contents = sorted(content_id("row", row.model_dump(mode="json")) for row in table.values())
    upward = metric_direction(name) if higher_is_better is None else higher_is_better
    return RecordedJudge(name, table, version=content_id("rows", contents)[5:17], higher_is_better=upward)


def make(options: Mapping[str, JsonValue], chat: Chat | None) -> RecordedJudge:  # noqa: ARG001
    """A judge from a file of recorded verdicts."""
    settings = read_judge_options(RecordedSettings, options, "recorded")
    rows = read_score_rows(Path(settings.path))
    return judge_from_rows(rows, settings.name, higher_is_better=settings.higher_is_better)


def read_score_rows(path: Path) -> list[RecordedRow]:
    """Read the rows of a JSON Lines or CSV file; an error names the line."""
    if not path.is_file():
        raise UserError(f"There is no file {path}.", hint="Give a JSON Lines or CSV file of recorded verdicts.")
    with path.open(encoding="utf-8", newline="") as file:
        if path.suffix.lower() == ".csv":
            return [
                _row({name: value for name, value in values.items() if value}, path.name, number)
                for number, values in enumerate(csv.DictReader(file), start=2)
            ]
        return [_row(line, path.name, number) for number, line in enumerate(file, start=1) if line.strip()]


def _row(row: str | dict[str, str], file: str, number: int) -> RecordedRow:
    try:
        if isinstance(row, str):
            return RecordedRow.model_validate_json(row)
        return RecordedRow.model_validate(row)
    except ValidationError as error:
        raise UserError(
            f"{file}, row {number}: {validation_problem(error).text}.",
            hint="A row has left_sha256, for a pair right_sha256 too, and then preference, score or scores.",
        ) from error
