"""Ask a model one yes-or-no question about an edit: baselines of EdiVal-Agent (section 2.5, appendix F).

`vlm-follows` asks whether an edit follows its instruction, without any detector. `style-check` asks whether an image is
in the style that the instruction names; the paper finds that models answer no even where people agree that it is.
"""

from imarena.core import Verdict
from imarena.core.records import Status
from imarena.judges.chat.judge import ask_one_question, reasons_text
from imarena.judges.replies.parse import field, read_object
from imarena.judges.replies.reply_text import Unreadable

STYLE_CHECK = "style-check"
STYLE_DIMENSION = "style"


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


make_vlm_follows = ask_one_question(
    "vlm-follows", "vlm-follows", read_followed, question="ask", dimension="instruction_following"
)
"""Does the edited image follow the instruction? 1 or 0."""
make_style_check = ask_one_question(STYLE_CHECK, STYLE_CHECK, read_followed, question="ask", dimension=STYLE_DIMENSION)
"""Is the image in the style that the instruction names? 1 or 0."""
