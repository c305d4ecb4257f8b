"""GEditBench v2's three pairwise questions (section 3.2), each a separate judge: left, right or tie.

Instruction following and visual consistency see source and instruction. Visual quality is 'instruction-free' in
the paper, which names text-to-image assessment models for it; this judge sees neither instruction nor source.
"""

from functools import partial

from imarena.core import Verdict
from imarena.core.records import Status
from imarena.judges.chat.judge import PromptSettings, ask_one_question, reasons_text
from imarena.judges.replies.parse import field, read_choice


def read_preference(text: str) -> Verdict:
    """Read a reply as left, right or tie. Raises `Unreadable`."""
    choice = read_choice(text, ties=True)
    reason = field(choice.fields, "reason", "reasons", "reasoning")
    return Verdict(
        status=Status.OK,
        preference=choice.outcome,
        reasons={} if reason is None else {"reason": reasons_text(reason)},
    )


_pairwise = partial(ask_one_question, read=read_preference, question="compare", settings=PromptSettings)
make_instruction_following = _pairwise(
    "geditbench-instruction-following", "geditbench-instruction-following", dimension="instruction_following"
)
"""A judge of which output follows the instruction better."""
make_visual_quality = _pairwise("geditbench-visual-quality", "geditbench-visual-quality", dimension="visual_quality")
"""A judge of which output is the better image; it never sees the instruction or the source."""
make_visual_consistency = _pairwise(
    "geditbench-visual-consistency", "geditbench-visual-consistency", dimension="visual_consistency"
)
"""A judge of which output better keeps what should not change. PVC-Judge is a model for this question."""
make_pvc_judge = _pairwise("pvc-judge", "pvc-judge", dimension="visual_consistency")
"""A model fine-tuned by `imarena pvc train`, with the question that it was trained on."""
