"""CV-Judge (CV-Arena, section 4.2): a model gives four dimensions on 0 to 1000, code computes the score."""

from collections.abc import Mapping

from pydantic import Field, JsonValue

from imarena.core import Chat, Verdict
from imarena.core.records import Status
from imarena.judges.chat.judge import ChatJudge, ChatSettings, need_chat, reasons_text
from imarena.judges.chat.prompt import load_prompt
from imarena.judges.cv_score import DIMENSIONS, SCALE, SUCCESS_THRESHOLD, WEIGHTS, combine_dimensions
from imarena.judges.options import read_judge_options
from imarena.judges.replies.parse import field, read_marks, read_object


class CVSettings(ChatSettings):
    """Weights in the order semantic, editing, prompt, perceptual; the success threshold is ours, not the paper's."""

    weights: tuple[float, float, float, float] = WEIGHTS
    success_threshold: float = Field(default=SUCCESS_THRESHOLD, ge=0, le=SCALE)
    prompt: str = ""


def make_edit(options: Mapping[str, JsonValue], chat: Chat | None) -> ChatJudge:
    """CV-Judge for edits: needs at least one source image."""
    return _make("cv-judge", "cv-judge-edit", options, chat)


def make_generate(options: Mapping[str, JsonValue], chat: Chat | None) -> ChatJudge:
    """CV-Judge for generated images: no source; coherence replaces preservation."""
    return _make("cv-judge-generate", "cv-judge-generate", options, chat)


def _make(kind: str, prompt: str, options: Mapping[str, JsonValue], chat: Chat | None) -> ChatJudge:
    settings = read_judge_options(CVSettings, options, kind)
    combine_dimensions(
        0, 0, 0, 0, settings.weights, settings.success_threshold
    )  # fail on wrong weights before the first call
    return ChatJudge(
        kind=kind,
        prompts={"score": load_prompt(settings.prompt or prompt)},
        read=lambda replies: read_cv(replies["score"], settings.weights, settings.success_threshold),
        chat=need_chat(chat, kind),
        settings=settings,
    )


def read_cv(
    text: str,
    weights: tuple[float, float, float, float] = WEIGHTS,
    success_threshold: float = SUCCESS_THRESHOLD,
) -> Verdict:
    """Read a reply as a verdict: the four dimensions as stated, score and success by `combine_dimensions`.

    A total in the reply is ignored. Raises `Unreadable`.
    """
    fields = read_object(text)
    sem, edit, inst, perc = read_marks(fields, DIMENSIONS, 0, SCALE).values()
    result = combine_dimensions(sem, edit, inst, perc, weights, success_threshold)
    return Verdict(
        status=Status.OK,
        score=result.score,
        scores=result.dimensions,
        success=result.success,
        reasons={
            "reasons": reasons_text(field(fields, "reasons", "reasoning", "reason")),
            "initial": result.initial,
            "caps": list(result.caps),
        },
    )
