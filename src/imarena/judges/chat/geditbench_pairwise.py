"""GEditBench v2's three pairwise questions (section 3.2), each a judge of its own: left, right or tie.

Instruction following and visual consistency see source and instruction. Visual quality is 'instruction-free' in
the paper, which names text-to-image assessment models for it: ours sees neither instruction nor source.
"""

from collections.abc import Mapping

from pydantic import JsonValue

from imarena.core import Chat, Verdict
from imarena.core.records import Status
from imarena.judges.chat.judge import ChatJudge, ChatSettings, need_chat, reasons_text
from imarena.judges.chat.prompt import load_prompt
from imarena.judges.options import read_judge_options
from imarena.judges.replies.parse import field, read_choice


class GEditSettings(ChatSettings):
    """`prompt`: a prompt file of your own, for instance the one that a fine-tuned PVC-Judge was trained with."""

    prompt: str = ""


def make_instruction_following(options: Mapping[str, JsonValue], chat: Chat | None) -> ChatJudge:
    """Which output does more of what was asked."""
    return _make("instruction-following", options, chat)


def make_visual_quality(options: Mapping[str, JsonValue], chat: Chat | None) -> ChatJudge:
    """Which output is the better picture; never sees the instruction or the source."""
    return _make("visual-quality", options, chat)


def make_visual_consistency(options: Mapping[str, JsonValue], chat: Chat | None) -> ChatJudge:
    """Which output better keeps what was not to change. PVC-Judge is a model served for this question."""
    return _make("visual-consistency", options, chat)


def make_pvc_judge(options: Mapping[str, JsonValue], chat: Chat | None) -> ChatJudge:
    """A model that `imarena pvc train` fine-tuned, asked with the question that it was trained on."""
    settings = read_judge_options(GEditSettings, options, "pvc-judge")
    return ChatJudge(
        kind="pvc-judge",
        prompts={"compare": load_prompt(settings.prompt or "pvc-judge")},
        read=lambda replies: read_preference(replies["compare"]),
        chat=need_chat(chat, "pvc-judge"),
        settings=settings,
        dimension="visual_consistency",
    )


def _make(dimension: str, options: Mapping[str, JsonValue], chat: Chat | None) -> ChatJudge:
    kind = f"geditbench-{dimension}"
    settings = read_judge_options(GEditSettings, options, kind)
    return ChatJudge(
        kind=kind,
        prompts={"compare": load_prompt(settings.prompt or kind)},
        read=lambda replies: read_preference(replies["compare"]),
        chat=need_chat(chat, kind),
        settings=settings,
        dimension=dimension.replace("-", "_"),
    )


def read_preference(text: str) -> Verdict:
    """A reply as left, right or tie. Raises `Unreadable`."""
    choice = read_choice(text, ties=True)
    reason = field(choice.fields, "reason", "reasons", "reasoning")
    return Verdict(
        status=Status.OK,
        preference=choice.outcome,
        reasons={} if reason is None else {"reason": reasons_text(reason)},
    )
