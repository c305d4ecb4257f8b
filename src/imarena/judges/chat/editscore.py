"""EditScore: VIEScore's questions on 0 to 25, asked several times; the overall scores are averaged.

The released EditScore models are language-model judges that reply in this form; serve one and name it as the model.
EditScore's training prompt is not included: give it as a prompt file to match the training exactly.
"""

from collections.abc import Mapping
from statistics import fmean

from pydantic import Field, JsonValue

from imarena.core import Chat, UserError, Verdict
from imarena.core.records import Status
from imarena.judges.chat.judge import ChatJudge, ChatSettings, need_chat, pass_name
from imarena.judges.chat.prompt import load_prompt
from imarena.judges.chat.viescore import SEMANTIC, read_viescore, reply_checker
from imarena.judges.options import read_judge_options

HIGHEST = 25.0


class EditScoreSettings(ChatSettings):
    """`passes`: ask both questions this many times (self-ensemble). The passes differ in their seed."""

    temperature: float | None = Field(default=0.7, ge=0)
    seed: int | None = 0
    passes: int = Field(default=1, ge=1, le=32)
    semantic_prompt: str = "editscore-sc"
    quality_prompt: str = "editscore-pq"


def make(options: Mapping[str, JsonValue], chat: Chat | None) -> ChatJudge:
    """The mean over `passes` of sqrt(min SC * min PQ), on 0 to 10."""
    settings = read_judge_options(EditScoreSettings, options, "editscore")
    if settings.passes > 1 and settings.temperature == 0:
        raise UserError(
            "At temperature 0 every pass gives the same reply.", hint="Set temperature above 0, or passes to 1."
        )
    return ChatJudge(
        kind="editscore",
        prompts={
            "semantic": load_prompt(settings.semantic_prompt),
            "quality": load_prompt(settings.quality_prompt),
        },
        read=lambda replies: read_passes(replies, settings.passes),
        chat=need_chat(chat, "editscore"),
        settings=settings,
        passes=settings.passes,
        check=reply_checker(SEMANTIC, HIGHEST),
    )


def read_passes(replies: Mapping[str, str], passes: int) -> Verdict:
    """Average all passes into one verdict. Raises `Unreadable` if any pass is unreadable."""
    verdicts = [
        read_viescore(replies[pass_name("semantic", number)], replies[pass_name("quality", number)], highest=HIGHEST)
        for number in range(passes)
    ]
    scores = [verdict.score for verdict in verdicts if verdict.score is not None]
    pass_scores: list[JsonValue] = list(scores)
    return Verdict(
        status=Status.OK,
        score=fmean(scores),
        scores={name: fmean(verdict.scores[name] for verdict in verdicts) for name in verdicts[0].scores},
        reasons={
            "passes": pass_scores,
            "semantic": verdicts[0].reasons["semantic"],
            "quality": verdicts[0].reasons["quality"],
        },
    )
