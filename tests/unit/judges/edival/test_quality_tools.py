"""Measures of quality: a model asked zero-shot, and which ones stand beside the main one."""

import asyncio

import pytest

from imarena.core import Exhibit, PlannedEdit
from imarena.core.errors import UnknownName, UserError
from imarena.core.records import Mode, Status
from imarena.judges.edival.judge import make
from imarena.judges.edival.vlm_answers import QUALITY_QUESTION, QuestionFailed, vlm_metric
from imarena.studio import encode_pixels
from tests.unit.judges.edival.test_answers import Says, color_edit, plain

OFFLINE = {"detector": "efficientdet", "features": "st-lpips", "quality": "brisque", "dimension": "quality"}


@pytest.mark.parametrize(
    ("reply", "score"),
    [("73", 73.0), ("Score: 88.5", 88.5), ("0", 0.0), ("100", 100.0), ("64/100", 64.0), ("I would say 50.", 50.0)],
)
def test_a_reply_is_read_as_a_number(reply: str, score: float) -> None:
    chat = Says(reply)
    metric = vlm_metric(chat, "model")
    assert asyncio.run(metric.grade(plain())) == score
    (prompt,) = chat.asked
    assert [part for part in prompt.parts if isinstance(part, str)] == [QUALITY_QUESTION]
    assert sum(isinstance(part, bytes) for part in prompt.parts) == 1, "the image alone, without its source"
    assert metric.version.startswith("model+")


@pytest.mark.parametrize("reply", ["It is lovely.", "101", "between 40 and 60", "", "-5"])
def test_a_reply_that_is_no_score_is_a_status(reply: str) -> None:
    with pytest.raises(QuestionFailed) as failed:
        asyncio.run(vlm_metric(Says(reply), "model").grade(plain()))
    assert failed.value.status is Status.UNPARSABLE


def test_a_model_stands_beside_the_main_measure_and_nothing_is_asked_twice() -> None:
    chat = Says("62")
    judge = make({**OFFLINE, "model": "m"}, chat)
    assert judge.settings.also_quality == "vlm"
    assert str(judge.tools.names["quality: vlm"]).startswith("vlm@m+")
    before, after = encode_pixels(plain()), encode_pixels(plain(inside=(30, 40, 210)))
    planned = PlannedEdit(color_edit("blue"), 0, Mode.SINGLE, (before,))
    verdict = asyncio.run(judge.judge(Exhibit("", left=after, planned=planned)))
    assert verdict.status is Status.OK
    assert (verdict.scores["vlm_quality"], verdict.scores["base_vlm_quality"]) == (62.0, 62.0)
    assert verdict.score == verdict.scores["quality"] != 62.0, "the headline stays the main measure"
    assert len(chat.asked) == 2
    known = PlannedEdit(color_edit("blue"), 0, Mode.SINGLE, (before,), known=verdict.evidence)
    again = asyncio.run(judge.judge(Exhibit("", left=after, planned=known)))
    assert len(chat.asked) == 2
    assert again.scores == verdict.scores


def test_a_model_that_fails_leaves_a_status_and_keeps_what_was_measured() -> None:
    judge = make({**OFFLINE, "model": "slow"}, Says("", Status.TIMEOUT))
    planned = PlannedEdit(color_edit("blue"), 0, Mode.SINGLE, (encode_pixels(plain()),))
    verdict = asyncio.run(judge.judge(Exhibit("", left=encode_pixels(plain()), planned=planned)))
    assert verdict.status is Status.TIMEOUT
    assert {evidence.tool for evidence in verdict.evidence} == {"brisque"}, "asked again without measuring again"


def test_measures_are_chosen_by_name() -> None:
    assert make(OFFLINE, None).settings.also_quality == "none", "no heads and no endpoint"
    assert make({**OFFLINE, "also_quality": "none"}, Says("1")).tools.also == ()
    only = make({**OFFLINE, "quality": "vlm", "model": "other"}, Says("41"))
    assert only.settings.also_quality == "none", "the main measure does not stand beside itself"
    planned = PlannedEdit(color_edit("blue"), 0, Mode.SINGLE, (encode_pixels(plain()),))
    assert asyncio.run(only.judge(Exhibit("", left=encode_pixels(plain()), planned=planned))).score == 41.0
    with pytest.raises(UnknownName, match="no tool called 'beauty' for also_quality"):
        make({**OFFLINE, "also_quality": "vlm, beauty"}, Says("1"))
    for options in ({"also_quality": "vlm"}, {"quality": "vlm"}):
        with pytest.raises(UserError, match="asks a model"):
            _ = make({**OFFLINE, **options}, None).tools
