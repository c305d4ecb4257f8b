"""GEditBench v2's three pairwise questions (section 3.2), each a separate judge: left, right or tie.

Instruction following and visual consistency see source and instruction. Visual quality is 'instruction-free' in
the paper, which names text-to-image assessment models for it; this judge sees neither instruction nor source.
"""

from collections.abc import Mapping

from pydantic import JsonValue

from imarena.core import Chat, Verdict
from imarena.core.records import Status
from imarena.judges.chat.judge import ChatJudge, PromptSettings, need_chat, reasons_text
from imarena.judges.chat.prompt import load_prompt
from imarena.judges.options import read_judge_options
from imarena.judges.replies.parse import field, read_choice


def make_instruction_following(options: Mapping[str, JsonValue], chat: Chat | None) -> ChatJudge:
    """A judge of which output follows the instruction better."""
    return _make("geditbench-instruction-following", "instruction_following", options, chat)


def make_visual_quality(options: Mapping[str, JsonValue], chat: Chat | None) -> ChatJudge:
    """A judge of which output is the better image; it never sees the instruction or the source."""
    return _make("geditbench-visual-quality", "visual_quality", options, chat)


def make_visual_consistency(options: Mapping[str, JsonValue], chat: Chat | None) -> ChatJudge:
    """A judge of which output better keeps what should not change. PVC-Judge is a model for this question."""
    return _make("geditbench-visual-consistency", "visual_consistency", options, chat)


def make_pvc_judge(options: Mapping[str, JsonValue], chat: Chat | None) -> ChatJudge:
    """A model fine-tuned by `imarena pvc train`, with the question that it was trained on."""
    return _make("pvc-judge", "visual_consistency", options, chat)


def _make(kind: str, dimension: str, options: Mapping[str, JsonValue], chat: Chat | None) -> ChatJudge:
    settings = read_judge_options(PromptSettings, options, kind)
    return ChatJudge(
        kind=kind,
        prompts={"compare": load_prompt(settings.prompt or kind)},
        read=lambda replies: read_preference(replies["compare"]),
        chat=need_chat(chat, kind),
        settings=settings,
        dimension=dimension,
    )


def read_preference(text: str) -> Verdict:
    """Read a reply as left, right or tie. Raises `Unreadable`."""
    choice = read_choice(text, ties=True)
    reason = field(choice.fields, "reason", "reasons", "reasoning")
    return Verdict(
        status=Status.OK,
        preference=choice.outcome,
        reasons={} if reason is None else {"reason": reasons_text(reason)},
    )
