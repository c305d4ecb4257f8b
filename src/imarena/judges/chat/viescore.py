"""VIEScore: semantic consistency and perceptual quality on 0 to 10, overall = sqrt(min SC * min PQ).

The usual pointwise baseline. Two questions: the first shows the source and the instruction, the second only the
result. A reply that cannot be read gets a status; some other implementations give it a random score.
"""

import math
from collections.abc import Mapping

from pydantic import JsonValue

from imarena.core import Chat, Verdict
from imarena.core.records import Status
from imarena.judges.chat.judge import ChatJudge, ChatSettings, ReplyCheck, need_chat, reasons_text, reply_question
from imarena.judges.chat.prompt import load_prompt
from imarena.judges.options import read_judge_options
from imarena.judges.replies.parse import field, read_marks, read_object
from imarena.judges.replies.reply_text import Unreadable

SEMANTIC = ("editing_success", "over_editing")
SEMANTIC_GENERATE = ("prompt_match",)
QUALITY = ("naturalness", "artifacts")
HIGHEST = 10.0


def make_edit(options: Mapping[str, JsonValue], chat: Chat | None) -> ChatJudge:
    """VIEScore for edits: SC is the lower of success and restraint."""
    return _make("viescore", "viescore-sc-edit", SEMANTIC, options, chat)


def make_generate(options: Mapping[str, JsonValue], chat: Chat | None) -> ChatJudge:
    """VIEScore for generated images: SC is the match with the prompt."""
    return _make("viescore-generate", "viescore-sc-generate", SEMANTIC_GENERATE, options, chat)


def _make(
    kind: str, semantic: str, criteria: tuple[str, ...], options: Mapping[str, JsonValue], chat: Chat | None
) -> ChatJudge:
    settings = read_judge_options(ChatSettings, options, kind)
    return ChatJudge(
        kind=kind,
        prompts={"semantic": load_prompt(semantic), "quality": load_prompt("viescore-pq")},
        read=lambda replies: read_viescore(replies["semantic"], replies["quality"], criteria),
        chat=need_chat(chat, kind),
        settings=settings,
        check=reply_checker(criteria, HIGHEST),
    )


def reply_checker(criteria: tuple[str, ...], highest: float) -> ReplyCheck:
    """Make a check of single replies: replies to `semantic`, in any pass, must have `criteria`."""

    def check(name: str, text: str) -> object:
        return _scores(text, criteria if reply_question(name) == "semantic" else QUALITY, highest)

    return check


def read_viescore(
    semantic: str, quality: str, criteria: tuple[str, ...] = SEMANTIC, *, highest: float = HIGHEST
) -> Verdict:
    """Combine both replies, on 0 to `highest`, into one verdict on 0 to 10. Raises `Unreadable`."""
    sc, sc_reason = _scores(semantic, criteria, highest)
    pq, pq_reason = _scores(quality, QUALITY, highest)
    unit = HIGHEST / highest
    lowest_sc, lowest_pq = min(sc.values()) * unit, min(pq.values()) * unit
    return Verdict(
        status=Status.OK,
        score=viescore_overall(lowest_sc, lowest_pq),
        scores={"SC": lowest_sc, "PQ": lowest_pq, **{name: value * unit for name, value in (sc | pq).items()}},
        reasons={"semantic": sc_reason, "quality": pq_reason},
    )


def viescore_overall(sc: float, pq: float) -> float:
    """O = sqrt(SC * PQ), with SC and PQ the lowest of their sub-scores."""
    return math.sqrt(sc * pq)


def _scores(text: str, names: tuple[str, ...], highest: float) -> tuple[dict[str, float], JsonValue]:
    """Sub-scores by name: from separate fields, or from a list under `score` in the prompt's order, as in VIEScore."""
    fields = read_object(text)
    marks = field(fields, "score", "scores")
    reason = reasons_text(field(fields, "reasons", "reasoning", "reason"))
    if isinstance(marks, list):
        if len(marks) != len(names):
            raise Unreadable(f"the reply gives {len(marks)} scores, not {len(names)}")
        fields = dict(zip(names, marks, strict=True))
    return read_marks(fields, names, 0, highest), reason
