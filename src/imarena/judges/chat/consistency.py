"""Pointwise baselines of visual consistency (GEditBench v2, figure 2), each with one mark on 0 to 10.

`consistency-nc` asks only about the parts that were not edited, after UnicEdit. `consistency-sc` asks EditScore's
question and uses its second mark, which is about changes that nobody asked for.
"""

from collections.abc import Mapping

from pydantic import JsonValue

from imarena.core import Chat, Verdict
from imarena.core.records import Status
from imarena.judges.chat.judge import ChatJudge, ChatSettings, need_chat, reasons_text
from imarena.judges.chat.prompt import load_prompt
from imarena.judges.options import read_judge_options
from imarena.judges.replies.parse import field, read_marks, read_object

NC_MARKS = ("non_edit_consistency",)
SC_MARKS = ("editing_success", "over_editing")


def make_consistency_nc(options: Mapping[str, JsonValue], chat: Chat | None) -> ChatJudge:
    """A judge of how well the unedited parts were kept."""
    return _make("consistency-nc", "consistency-nc", NC_MARKS, 10.0, options, chat)


def make_consistency_sc(options: Mapping[str, JsonValue], chat: Chat | None) -> ChatJudge:
    """A judge that uses the over-editing mark, one of EditScore's two marks of semantic consistency."""
    return _make("consistency-sc", "editscore-sc", SC_MARKS, 25.0, options, chat)


def _make(
    kind: str, prompt: str, names: tuple[str, ...], highest: float, options: Mapping[str, JsonValue], chat: Chat | None
) -> ChatJudge:
    return ChatJudge(
        kind=kind,
        prompts={"rate": load_prompt(prompt)},
        read=lambda replies: read_consistency(replies["rate"], names, highest),
        chat=need_chat(chat, kind),
        settings=read_judge_options(ChatSettings, options, kind),
        dimension="visual_consistency",
    )


def read_consistency(text: str, names: tuple[str, ...], highest: float) -> Verdict:
    """Read the marks and scale them to 0 to 10; the last one is the score. Raises `Unreadable`."""
    fields = read_object(text)
    marks = {name: value * 10.0 / highest for name, value in read_marks(fields, names, 0, highest).items()}
    reason = reasons_text(field(fields, "reasoning", "reason", "reasons"))
    return Verdict(Status.OK, score=marks[names[-1]], scores=marks, reasons={"reason": reason})
