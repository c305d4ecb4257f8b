"""CV-Judge, GenArena's pairwise judge and VIEScore: what they ask, and what they make of a reply."""

import asyncio
import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imarena.core.errors import UserError
from imarena.core.protocols import ChatAnswer, ChatPrompt, Exhibit, Verdict
from imarena.core.records import Judgment, Outcome, Status
from imarena.judges.chat import cv_judge, genarena_pairwise, viescore
from imarena.judges.replies.reply_text import Unreadable
from tests.unit.judges.chats import BLUE, RED, ScriptedChat, always, exhibit, failing

CV_REPLY = {
    "semantic_consistency": 800,
    "editing_success": 900,
    "prompt_following": 700,
    "perceptual_quality": 600,
    "reasons": {},
}


def run(judge: Any, shown: Exhibit) -> Verdict:
    verdict = asyncio.run(judge.judge(shown))
    assert isinstance(verdict, Verdict)
    return verdict


# ---------------------------------------------------------------- CV-Judge


def test_cv_judge_computes_the_score_itself() -> None:
    judge = cv_judge.make_edit({"model": "m"}, always({**CV_REPLY, "score": 1, "total": 3}))
    verdict = run(judge, exhibit())
    assert verdict.status is Status.OK
    assert verdict.score == pytest.approx(0.2 * 800 + 0.3 * 900 + 0.3 * 700 + 0.2 * 600)
    assert verdict.success is True
    assert verdict.scores["editing_success"] == 900
    assert verdict.usage.input_tokens == 10
    assert verdict.model == "tiny-vl"
    assert judge.name == "cv-judge/m"


@pytest.mark.parametrize(
    ("change", "score"),
    [
        ({"editing_success": 299}, 0.2 * 800 + 0.3 * 299 + 0.3 * 700 + 0.2 * 600),
        ({"semantic_consistency": 199}, 400.0),
        ({"perceptual_quality": 0}, 400.0),
    ],
)
def test_cv_judge_caps_and_marks_failure(change: dict[str, int], score: float) -> None:
    verdict = run(cv_judge.make_edit({}, always({**CV_REPLY, **change})), exhibit())
    assert verdict.score == pytest.approx(score)
    assert verdict.success is False
    assert verdict.reasons["caps"]


@pytest.mark.parametrize("bad", [1001, -1, "high", None, True, [500]])
def test_cv_judge_gives_no_score_for_a_bad_number(bad: object) -> None:
    verdict = run(cv_judge.make_edit({}, always({**CV_REPLY, "prompt_following": bad})), exhibit())
    assert verdict.status is Status.UNPARSABLE
    assert verdict.score is None
    assert not verdict.scores
    assert verdict.raw


def test_cv_judge_without_a_source() -> None:
    chat = always(CV_REPLY)
    verdict = run(cv_judge.make_generate({}, chat), exhibit(sources=()))
    assert verdict.status is Status.OK
    assert len([part for part in chat.asked[0].parts if isinstance(part, bytes)]) == 1
    with pytest.raises(UserError):
        run(cv_judge.make_edit({}, chat), exhibit(sources=()))


def test_cv_threshold_and_weights_are_settings_and_identity() -> None:
    strict = cv_judge.make_edit({"success_threshold": 650}, always(CV_REPLY))
    assert run(strict, exhibit()).success is False
    plain = cv_judge.make_edit({}, always(CV_REPLY))
    assert strict.params != plain.params
    with pytest.raises(UserError):
        cv_judge.make_edit({"weights": [1, 1, 1, 1]}, always(CV_REPLY))
    with pytest.raises(UserError, match="success_threshold"):
        cv_judge.make_edit({"sucess_threshold": 650}, always(CV_REPLY))
    with pytest.raises(UserError, match="--base-url"):
        cv_judge.make_edit({}, None)


@pytest.mark.parametrize("status", [s for s in Status if s is not Status.OK])
def test_a_failed_call_is_a_status(status: Status) -> None:
    for judge, shown in (
        (cv_judge.make_edit({}, failing(status, json.dumps(CV_REPLY))), exhibit()),
        (genarena_pairwise.make({}, failing(status, '{"winner": "A"}')), exhibit(BLUE)),
        (viescore.make_edit({}, failing(status)), exhibit()),
    ):
        verdict = run(judge, shown)
        assert verdict.status is status
        assert verdict.score is None
        assert verdict.preference is None
        assert not verdict.scores


# ---------------------------------------------------------------- GenArena

PAIR_REPLY = {
    "reasons": {"text_faithfulness": "A follows.", "image_faithfulness": "same", "overall_image_quality": "same",
                "text_rendering": "Not applicable.", "summary": "A."},
    "score": 5, "winner": "A", "confidence": 0.7, "confidence_reason": "clear",
}  # fmt: skip


def test_genarena_reads_winner_score_and_confidence() -> None:
    chat = always(PAIR_REPLY)
    verdict = run(genarena_pairwise.make({"preset": "arena"}, chat), exhibit(BLUE))
    assert verdict.preference is Outcome.LEFT
    assert dict(verdict.scores) == {"left.preference": 5.0, "right.preference": 2.0}
    assert verdict.confidence == 0.7
    assert verdict.reasons["text_rendering"] == "not applicable"
    pictures = [part for part in chat.asked[0].parts if isinstance(part, bytes)]
    assert pictures[-2:] == [exhibit().left, BLUE]
    assert chat.asked[0].schema is not None


def test_genarena_presets_name_the_papers_models() -> None:
    assert "8B" in genarena_pairwise.make({"preset": "studies"}, always("")).name
    assert "32B-Instruct-FP8" in genarena_pairwise.make({"preset": "arena"}, always("")).name
    assert genarena_pairwise.make({"preset": "arena", "model": "mine"}, always("")).name == "genarena/mine"


@pytest.mark.parametrize(
    "change",
    [{"score": 2}, {"score": 3}, {"winner": "B"}, {"score": 7}, {"score": 0}, {"score": 4.5}, {"confidence": 1.2},
     {"confidence": "sure"}, {"winner": "tie"}, {"winner": None}],
)  # fmt: skip
def test_genarena_contradictions_are_unparsable(change: dict[str, object]) -> None:
    verdict = run(genarena_pairwise.make({}, always({**PAIR_REPLY, **change})), exhibit(BLUE))
    assert verdict.status is Status.UNPARSABLE
    assert verdict.preference is None


def test_genarena_leaves_out_what_the_reply_leaves_out() -> None:
    verdict = run(genarena_pairwise.make({}, always("Image B")), exhibit(BLUE))
    assert verdict.preference is Outcome.RIGHT
    assert verdict.confidence is None
    assert not verdict.scores


def test_genarena_explicit_tie_is_another_judge() -> None:
    tie = genarena_pairwise.make({"variant": "explicit-tie"}, always({**PAIR_REPLY, "winner": "tie", "score": None}))
    assert run(tie, exhibit(BLUE)).preference is Outcome.TIE
    loud = genarena_pairwise.make({"variant": "explicit-tie"}, always({**PAIR_REPLY, "winner": "tie", "score": 6}))
    assert run(loud, exhibit(BLUE)).status is Status.UNPARSABLE
    forced = genarena_pairwise.make({}, always({**PAIR_REPLY, "winner": "tie", "score": None}))
    assert run(forced, exhibit(BLUE)).status is Status.UNPARSABLE
    assert tie.name != forced.name
    assert tie.prompt_id != forced.prompt_id


@given(st.integers(1, 6))
def test_genarena_scores_add_to_seven(score: int) -> None:
    verdict = genarena_pairwise.read_pair(json.dumps({"winner": "A" if score > 3 else "B", "score": score}))
    assert sum(verdict.scores.values()) == 7
    assert verdict.preference is (Outcome.LEFT if score > 3 else Outcome.RIGHT)


ODD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(alphabet=st.characters(categories=None), max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)


@given(ODD, ODD)
def test_whatever_the_reasons_are_a_record_can_hold_them(reasons: Any, confidence: Any) -> None:
    """Half characters, NUL, infinities, deep nests: the verdict is read or not, and the record goes to JSON and back."""
    text = json.dumps({"winner": "A", "score": 5, "reasons": reasons, "confidence_reason": confidence})
    verdict = run(genarena_pairwise.make({}, always(text)), exhibit(BLUE))
    record = Judgment(
        work_id="w", judge="j", item_id="i", left_id="l", right_id="r", status=verdict.status, preference=verdict.preference,
        scores=dict(verdict.scores), reasons=dict(verdict.reasons), error=verdict.error,
    )  # fmt: skip
    assert Judgment.from_json(record.to_json()).same_fact(record)
    assert "\x00" not in str(record.reasons)


# ---------------------------------------------------------------- VIEScore


def vie(prompt: ChatPrompt) -> str:
    semantic = "over_editing" in str(prompt.schema)
    return json.dumps(
        {"reasoning": "r", "editing_success": 8, "over_editing": 6} if semantic else {"score": [9, 4], "reasoning": "q"}
    )


def test_viescore_is_the_root_of_the_lowest() -> None:
    chat = ScriptedChat(vie)
    verdict = run(viescore.make_edit({}, chat), exhibit())
    assert verdict.score == pytest.approx(math.sqrt(6 * 4))
    assert dict(verdict.scores) == {
        "SC": 6,
        "PQ": 4,
        "editing_success": 8,
        "over_editing": 6,
        "naturalness": 9,
        "artifacts": 4,
    }
    assert verdict.usage.input_tokens == 20
    assert verdict.usage.latency_s == 0.5
    quality = next(p for p in chat.asked if "over_editing" not in str(p.schema))
    assert quality.parts.count(RED) == 0, "the quality question sees only the result"
    assert "Make it green." not in str(quality.parts)


def test_viescore_rereads_what_was_stored() -> None:
    judge = viescore.make_edit({}, ScriptedChat(vie))
    verdict = run(judge, exhibit())
    again = judge.reread(verdict.raw)
    assert (again.score, dict(again.scores)) == (verdict.score, dict(verdict.scores))
    assert judge.reread("not json").status is Status.UNPARSABLE
    assert judge.reread('{"semantic": "{}"}').status is Status.UNPARSABLE


def test_viescore_half_a_reply_is_no_reply() -> None:
    def half(prompt: ChatPrompt) -> str | ChatAnswer:
        return vie(prompt) if "over_editing" in str(prompt.schema) else ChatAnswer(Status.TIMEOUT, error="slow")

    verdict = run(viescore.make_edit({}, ScriptedChat(half)), exhibit())
    assert verdict.status is Status.TIMEOUT
    assert verdict.score is None
    assert "quality" in verdict.error


def test_viescore_generate_asks_for_the_match_alone() -> None:
    chat = ScriptedChat(lambda p: '{"prompt_match": 9}' if "prompt_match" in str(p.schema) else '{"score": [4, 5]}')
    assert run(viescore.make_generate({}, chat), exhibit(sources=())).score == pytest.approx(6.0)


@pytest.mark.parametrize("listed", ["[8]", "[8, 6, 4]", "[8, 11]", "[8, null]", '"8"', "8"])
def test_viescore_needs_each_score_in_range(listed: str) -> None:
    with pytest.raises(Unreadable):
        viescore.read_viescore(f'{{"score": {listed}}}', '{"score": [5, 5]}')


MARKS = '"semantic_consistency": {}, "editing_success": {}, "prompt_following": {}, "perceptual_quality": {}'


@pytest.mark.parametrize(
    "reply",
    [
        '{"scores": {' + MARKS.format(850, 700, 720, 910) + "}}",
        "{" + MARKS.format('{"score": 850, "reason": "."}', 700, 720, '{"score": 910}') + "}",
        "{" + MARKS.format(850, 700, 720, 910).replace('"', "") + "}",
    ],
)
def test_marks_are_found_where_models_put_them(reply: str) -> None:
    assert list(cv_judge.read_cv(reply).scores.values()) == [850, 700, 720, 910]


@pytest.mark.parametrize(
    "reply",
    [
        "{" + MARKS.format(0.85, 0.7, 0.72, 0.91) + "}",
        "{" + MARKS.format(8.5, 7, 7, 9) + "}",
        "{" + MARKS.format(850, 700, 720, 910) + "}\nOn second thought, editing_success should be 200.",
    ],
)
def test_marks_on_another_scale_or_taken_back_are_not_read(reply: str) -> None:
    with pytest.raises(Unreadable):
        cv_judge.read_cv(reply)


@pytest.mark.parametrize("reply", ["Winner: A\nScore: 2", "**Score:** 2\n**Winner:** A", '{winner: "A", score: 2}'])
def test_a_score_beside_a_plain_winner_may_contradict_it_too(reply: str) -> None:
    with pytest.raises(Unreadable, match="contradicts"):
        genarena_pairwise.read_pair(reply)
    agreeing = genarena_pairwise.read_pair(reply.replace("2", "5"))
    assert (agreeing.preference, agreeing.scores["left.preference"]) == (Outcome.LEFT, 5)
    both = genarena_pairwise.read_pair("A\nScore: 6\nB\nScore: 2\nWinner: A")
    assert both.scores == {}
