"""GenArena's pairwise judge (sections 4.3, A.4, A.5): which of two outputs is better, by how much, how certainly.

One call shows one order. `orders.py` combines the two orders of a battle.
"""

from collections.abc import Mapping
from typing import Literal

from pydantic import JsonValue

from imarena.core import Chat, Verdict
from imarena.core.records import JsonDict, Outcome, Status
from imarena.judges.catalog import CARDS
from imarena.judges.chat.judge import ChatJudge, ChatSettings, need_chat, reasons_text
from imarena.judges.chat.prompt import load_prompt
from imarena.judges.options import read_judge_options
from imarena.judges.replies.parse import (
    check_score_agrees,
    field,
    is_not_applicable,
    read_choice,
    read_number,
    stated_score,
)
from imarena.judges.replies.reply_text import Unreadable

LOWEST, HIGHEST = 1.0, 6.0
"""6 to 4: the first is better, from clearly to barely; 3 to 1: the second is better, from barely to clearly."""

UNSURE = (3.0, 4.0)
"""The two scores that mean 'barely': the only ones compatible with a tie."""

CRITERIA = ("text_faithfulness", "image_faithfulness", "overall_image_quality", "text_rendering")

PRESETS = CARDS["genarena"].presets
"""The paper's judges: 8B for its studies (section 3), 32B in FP8 for its leaderboard (section 5.2)."""


class GenArenaSettings(ChatSettings):
    """`explicit-tie` lets the judge call a tie in a single call, for the study of tie laziness (table 5)."""

    preset: Literal["", "studies", "arena"] = ""
    variant: Literal["forced-choice", "explicit-tie"] = "forced-choice"
    prompt: str = ""


def make(options: Mapping[str, JsonValue], chat: Chat | None) -> ChatJudge:
    """The pairwise judge; `preset` names one of the paper's models, `variant` the kind of choice."""
    kind = "genarena"
    settings = read_judge_options(GenArenaSettings, options, kind)
    if settings.preset:
        settings = read_judge_options(GenArenaSettings, {"model": PRESETS[settings.preset], **options}, kind)
    ties = settings.variant == "explicit-tie"
    return ChatJudge(
        kind=f"{kind}-tie" if ties else kind,
        prompts={"compare": load_prompt(settings.prompt or (f"{kind}-tie" if ties else f"{kind}-pairwise"))},
        read=lambda replies: read_pair(replies["compare"], ties=ties),
        chat=need_chat(chat, kind),
        settings=settings,
    )


def read_pair(text: str, *, ties: bool = False) -> Verdict:
    """Read a reply as a verdict, with left shown first and right second. Raises `Unreadable`.

    The strength goes into ``left.preference`` and ``right.preference``, which add up to 7: with the sides swapped
    a score s becomes 7 - s. A score that contradicts the winner makes the reply unreadable. A score or confidence
    that the reply omits is omitted.
    """
    choice = read_choice(text, ties=ties)
    scores: dict[str, float] = {}
    number = field(choice.fields, "score") if choice.fields else stated_score(text, LOWEST, HIGHEST)
    if number is not None:
        score = read_number(number, LOWEST, HIGHEST, "score", whole=True)
        if choice.outcome is Outcome.TIE and score not in UNSURE:
            raise Unreadable(f"the score {score:g} contradicts the tie")
        check_score_agrees(score, choice.outcome, LOWEST, HIGHEST)
        scores = {"left.preference": score, "right.preference": LOWEST + HIGHEST - score}
    confidence = field(choice.fields, "confidence")
    return Verdict(
        status=Status.OK,
        preference=choice.outcome,
        scores=scores,
        confidence=None if confidence is None else read_number(confidence, 0, 1, "confidence"),
        reasons=_reasons(choice.fields),
    )


def _reasons(fields: JsonDict) -> JsonDict:
    reasons = field(fields, "reasons", "reasoning")
    if not isinstance(reasons, dict):
        return {} if reasons is None else {"summary": reasons_text(reasons)}
    texts: JsonDict = {}
    for name in CRITERIA:
        value = field(reasons, name)
        if value is not None:
            texts[name] = "not applicable" if is_not_applicable(value) else reasons_text(value)
    for name in ("summary", "comparison_summary"):
        if (value := field(reasons, name)) is not None:
            texts["summary"] = reasons_text(value)
    if (why := field(fields, "confidence_reason", "confidence_rationale")) is not None:
        texts["confidence"] = reasons_text(why)
    return texts
