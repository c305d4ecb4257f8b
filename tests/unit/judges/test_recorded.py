"""Recorded verdicts as a judge."""

import asyncio
import json
from pathlib import Path

import pytest

from imarena.core.errors import UserError
from imarena.core.ids import sha256_hex
from imarena.core.records import Outcome, Status
from imarena.judges.orders import ask_both_orders
from imarena.judges.recorded import RecordedRow, judge_from_rows, make
from tests.unit.judges.chats import BLUE, GREEN, RED, exhibit

LEFT, RIGHT = sha256_hex(GREEN), sha256_hex(BLUE)


def test_a_recorded_score_is_found_by_pixels_and_instruction() -> None:
    judge = judge_from_rows(
        [
            RecordedRow(left_sha256=LEFT, instruction="Make it green.", score=0.7, scores={"SC": 0.5}),
            RecordedRow(left_sha256=LEFT, score=0.1),
        ]
    )
    assert asyncio.run(judge.judge(exhibit())).score == 0.7
    assert asyncio.run(judge.judge(exhibit(instruction="Other"))).score == 0.1
    assert asyncio.run(judge.judge(exhibit(RED))).status is Status.API_ERROR


def test_a_recorded_battle_is_the_same_in_both_orders() -> None:
    row = RecordedRow(
        left_sha256=LEFT, right_sha256=RIGHT, preference=Outcome.LEFT, scores={"left.x": 1.0, "right.x": 0.0}
    )
    combined = asyncio.run(ask_both_orders(judge_from_rows([row]), exhibit(BLUE)))
    assert (combined.preference, combined.consistent) == (Outcome.LEFT, True)
    assert combined.scores == {"left.x": 1.0, "right.x": 0.0}


def test_a_recorded_failure_stays_one() -> None:
    judge = judge_from_rows([RecordedRow(left_sha256=LEFT, status=Status.REFUSED, error="declined")])
    verdict = asyncio.run(judge.judge(exhibit()))
    assert (verdict.status, verdict.score) == (Status.REFUSED, None)


def test_files_are_read_strictly(tmp_path: Path) -> None:
    lines = tmp_path / "scores.jsonl"
    lines.write_text(json.dumps({"left_sha256": LEFT, "score": 3}) + "\n\n")
    table = tmp_path / "scores.csv"
    table.write_text(f"left_sha256,right_sha256,preference,score\n{LEFT},{RIGHT},tie,\n{LEFT},,,4\n")
    assert asyncio.run(make({"path": str(lines)}, None).judge(exhibit())).score == 3
    from_table = make({"path": str(table), "name": "people"}, None)
    assert from_table.name == "people"
    assert asyncio.run(from_table.judge(exhibit())).score == 4
    assert asyncio.run(from_table.judge(exhibit(BLUE))).preference is Outcome.TIE
    assert make({"path": str(lines)}, None).version != from_table.version
    table.write_text(f"left_sha256,score\n{LEFT},4\n{LEFT},high\n")
    with pytest.raises(UserError, match="row 3"):
        make({"path": str(table)}, None)
    with pytest.raises(UserError, match="no file"):
        make({"path": str(tmp_path / "none.csv")}, None)


@pytest.mark.parametrize(
    "row",
    [
        {"left_sha256": LEFT},
        {"left_sha256": LEFT, "status": "refused", "score": 1},
        {"left_sha256": LEFT, "preference": "left"},
        {"left_sha256": "abc", "score": 1},
        {"left_sha256": LEFT, "score": float("nan")},
    ],
)
def test_rows_that_make_no_sense_are_refused(row: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        RecordedRow.model_validate(row)


def test_contradictions_are_refused() -> None:
    with pytest.raises(UserError, match="contradict"):
        judge_from_rows([RecordedRow(left_sha256=LEFT, score=1), RecordedRow(left_sha256=LEFT, score=2)])
