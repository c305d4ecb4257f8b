"""UnifiedReward's pointwise scores of generated images: alignment, coherence and style on 1 to 5.

A released UnifiedReward model replies with lines such as 'Alignment Score (1-5): 4'; the judge reads these and JSON.
The model's training prompt is not included: give it as a prompt file.
"""

import re
from statistics import fmean

from pydantic import JsonValue

from imarena.core import Verdict
from imarena.core.records import Status
from imarena.judges.chat.judge import PromptSettings, ask_one_question
from imarena.judges.replies.parse import field, is_refusal, read_number
from imarena.judges.replies.reply_text import Unreadable, answer_part, find_object

CRITERIA = ("alignment", "coherence", "style")
LOWEST, HIGHEST = 1.0, 5.0
_LINE = re.compile(
    r"^\W*(alignment|coherence|style|final)\s+score\s*(?:\(1\s*-\s*5\))?\W*[:：]\W*([\d.]+)\s*(?:/\s*5)?\W*$",
    re.IGNORECASE,
)


def read_scales(text: str) -> Verdict:
    """Read a reply as scores on 1 to 5. Raises `Unreadable`, also if a scale has two different values."""
    fields = find_object(text)
    marks = _lines(answer_part(text)) if fields is None else {n: field(fields, n) for n in (*CRITERIA, "final")}
    values = {name: value for name, value in marks.items() if value is not None}
    if "final" in values and not any(name in values for name in CRITERIA):
        final = read_number(values["final"], LOWEST, HIGHEST, "final")
        return Verdict(Status.OK, score=final, scores={"final": final})
    if not values and fields is None and is_refusal(answer_part(text)):
        raise Unreadable("the reply is a refusal", Status.REFUSED)
    scores = {name: read_number(values.get(name), LOWEST, HIGHEST, name) for name in CRITERIA}
    return Verdict(Status.OK, score=fmean(scores.values()), scores=scores)


def _lines(answer: str) -> dict[str, JsonValue]:
    values: dict[str, JsonValue] = {}
    for line in answer.splitlines():
        match = _LINE.match(line)
        if match is not None:
            name = match[1].lower()
            if values.setdefault(name, match[2]) != match[2]:
                raise Unreadable(f"the reply gives {name} twice, with two values")
    return values


make = ask_one_question("unifiedreward", "unifiedreward", read_scales, question="rate", settings=PromptSettings)
"""The score is the mean of the three scales, or the 'Final Score' if the reply has only that."""
