"""Ask a model one yes-or-no question about an edit: baselines of EdiVal-Agent (section 2.5, appendix F).

`vlm-follows` asks whether an edit follows its instruction, without any detector. `style-check` asks whether an image is
in the style that the instruction names; the paper finds that models answer no even where people agree that it is.
"""

from collections.abc import Mapping

from pydantic import JsonValue

from imarena.core import Chat, Verdict
from imarena.core.records import Status
from imarena.judges.chat.judge import ChatJudge, ChatSettings, need_chat, reasons_text
from imarena.judges.chat.prompt import load_prompt
from imarena.judges.options import read_judge_options
from imarena.judges.replies.parse import field, read_object
from imarena.judges.replies.reply_text import Unreadable

STYLE_CHECK = "style-check"
STYLE_DIMENSION = "style"


def make_vlm_follows(options: Mapping[str, JsonValue], chat: Chat | None) -> ChatJudge:
    """Does the edited image follow the instruction? 1 or 0."""
    return _make("vlm-follows", "instruction_following", options, chat)


def make_style_check(options: Mapping[str, JsonValue], chat: Chat | None) -> ChatJudge:
    """Is the image in the style that the instruction names? 1 or 0."""
    return _make(STYLE_CHECK, STYLE_DIMENSION, options, chat)


def _make(kind: str, dimension: str, options: Mapping[str, JsonValue], chat: Chat | None) -> ChatJudge:
    return ChatJudge(
        kind=kind,
        prompts={"ask": load_prompt(kind)},
        read=lambda replies: read_followed(replies["ask"]),
        chat=need_chat(chat, kind),
        settings=read_judge_options(ChatSettings, options, kind),
        dimension=dimension,
    )


def read_followed(text: str) -> Verdict:
    """Read the answer: `yes` is 1, `no` is 0, `no_style` (nothing to check) gives `refused`. Raises `Unreadable`."""
    fields = read_object(text)
    answer = str(field(fields, "answer")).strip().strip(".").lower()
    if answer == "no_style":
        return Verdict(Status.REFUSED, error="The instruction names no style.")
    if answer not in ("yes", "no"):
        raise Unreadable("the reply's answer is neither yes nor no")
    passed = answer == "yes"
    return Verdict(
        Status.OK, score=float(passed), success=passed, reasons={"reason": reasons_text(field(fields, "reasoning"))}
    )
