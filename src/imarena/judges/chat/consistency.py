"""Pointwise baselines of visual consistency (GEditBench v2, figure 2), each with one mark on 0 to 10.

`consistency-nc` asks only about the parts that were not edited, after UnicEdit. `consistency-sc` asks EditScore's
question and uses its second mark, which is about changes that nobody asked for.
"""

from functools import partial

from imarena.core import Verdict
from imarena.core.records import Status
from imarena.judges.chat.judge import ask_one_question, reasons_text
from imarena.judges.replies.parse import field, read_marks, read_object

NC_MARKS = ("non_edit_consistency",)
SC_MARKS = ("editing_success", "over_editing")


def read_consistency(text: str, names: tuple[str, ...], highest: float) -> Verdict:
    """Read the marks and scale them to 0 to 10; the last one is the score. Raises `Unreadable`."""
    fields = read_object(text)
    marks = {name: value * 10.0 / highest for name, value in read_marks(fields, names, 0, highest).items()}
    reason = reasons_text(field(fields, "reasoning", "reason", "reasons"))
    return Verdict(Status.OK, score=marks[names[-1]], scores=marks, reasons={"reason": reason})


make_consistency_nc = ask_one_question(
    "consistency-nc", "consistency-nc", partial(read_consistency, names=NC_MARKS, highest=10.0),
    question="rate", dimension="visual_consistency",
)  # fmt: skip
"""A judge of how well the unedited parts were kept."""
make_consistency_sc = ask_one_question(
    "consistency-sc", "editscore-sc", partial(read_consistency, names=SC_MARKS, highest=25.0),
    question="rate", dimension="visual_consistency",
)  # fmt: skip
"""A judge that uses the over-editing mark, one of EditScore's two marks of semantic consistency."""
