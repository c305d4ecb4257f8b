"""Every judge by name: where it lives, what it needs, what it gives. Adding one is a line here and a file."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue

from imarena.core import Chat, Judge, Registry, adapt_judge

MakeJudge = Callable[[Mapping[str, JsonValue], Chat | None], Judge]
"""Options and, for judges that ask a model, a chat in; a judge out."""

Shape = Literal["pointwise", "pairwise", "both"]
Need = Literal["nothing", "chat", "optional_chat", "vision", "records"]


@dataclass(frozen=True)
class JudgeCard:
    """What a user has to know to choose a judge."""

    path: str
    shape: Shape
    needs: Need
    scale: tuple[float, float] | None
    """Lowest and highest headline score; None for a preference or a score without bounds."""
    about: str
    dimension: str = "overall"
    """What a verdict is about. Only `overall` enters a board that nobody asked for by its dimension."""
    cannot_judge: tuple[str, ...] = ()
    """What it does not see: a board by its verdicts says so."""
    presets: Mapping[str, str] = field(default_factory=dict)
    """The option `preset` to the model that it names."""
    default_model: str = ""
    """The model that is asked for where an address is given without one."""


EDIVAL_MODEL = "Qwen/Qwen2.5-VL-7B-Instruct"
"""The vision-language model of EdiVal-Agent."""
BUILTIN_LIMITS = (
    "objects beyond 80 everyday kinds",
    "faces and expressions",
    "styles and beauty",
    "physics",
    "likeness to reference images",
)
"""What pixels and words do not show (docs/guide/builtin-judge.md)."""

_GEDIT = "imarena.judges.chat.geditbench_pairwise"

CARDS: Mapping[str, JudgeCard] = {
    "builtin": JudgeCard(
        "imarena.judges.builtin.judge:make",
        "both",
        "nothing",
        (0, 1000),
        "Pixels and words, no model: an honest baseline.",
        cannot_judge=BUILTIN_LIMITS,
    ),
    "builtin-clip": JudgeCard(
        "imarena.judges.local.builtin_clip:make",
        "both",
        "vision",
        (0, 1000),
        "The judge builtin with CLIP's likeness of image and words.",
        cannot_judge=("faces and expressions", "physics", "likeness to reference images"),
    ),
    "cv-judge": JudgeCard(
        "imarena.judges.chat.cv_judge:make_edit",
        "pointwise",
        "chat",
        (0, 1000),
        "CV-Arena's four dimensions of an edit.",
    ),
    "cv-judge-generate": JudgeCard(
        "imarena.judges.chat.cv_judge:make_generate",
        "pointwise",
        "chat",
        (0, 1000),
        "CV-Judge without a source.",
    ),
    "genarena": JudgeCard(
        "imarena.judges.chat.genarena_pairwise:make",
        "pairwise",
        "chat",
        None,
        "Forced choice, 1 to 6 (GenArena).",
        presets={"studies": "Qwen/Qwen3-VL-8B-Instruct", "arena": "Qwen/Qwen3-VL-32B-Instruct-FP8"},
    ),
    "viescore": JudgeCard(
        "imarena.judges.chat.viescore:make_edit", "pointwise", "chat", (0, 10), "VIEScore of an edit."
    ),
    "viescore-generate": JudgeCard(
        "imarena.judges.chat.viescore:make_generate", "pointwise", "chat", (0, 10), "VIEScore of a generated picture."
    ),
    "editscore": JudgeCard(
        "imarena.judges.chat.editscore:make",
        "pointwise",
        "chat",
        (0, 10),
        "VIEScore's questions on 0 to 25, several times.",
    ),
    "imagenworld": JudgeCard(
        "imarena.judges.chat.imagenworld:make", "pointwise", "chat", (0, 1), "ImagenWorld's four criteria, each 1 to 5."
    ),
    "geditbench-instruction-following": JudgeCard(
        f"{_GEDIT}:make_instruction_following",
        "pairwise",
        "chat",
        None,
        "Which does more of what was asked.",
        "instruction_following",
    ),
    "geditbench-visual-quality": JudgeCard(
        f"{_GEDIT}:make_visual_quality",
        "pairwise",
        "chat",
        None,
        "Which is the better picture; sees no instruction.",
        "visual_quality",
    ),
    "geditbench-visual-consistency": JudgeCard(
        f"{_GEDIT}:make_visual_consistency",
        "pairwise",
        "chat",
        None,
        "Which keeps more of what was not to change.",
        "visual_consistency",
    ),
    "pvc-judge": JudgeCard(
        f"{_GEDIT}:make_pvc_judge",
        "pairwise",
        "chat",
        None,
        "Which keeps more of what was not to change: a model fine-tuned by `imarena pvc train`.",
        "visual_consistency",
    ),
    "consistency-nc": JudgeCard(
        "imarena.judges.chat.consistency:make_consistency_nc",
        "pointwise",
        "chat",
        (0, 10),
        "How far what is not edited stayed as it was: one mark.",
        "visual_consistency",
    ),
    "consistency-sc": JudgeCard(
        "imarena.judges.chat.consistency:make_consistency_sc",
        "pointwise",
        "chat",
        (0, 10),
        "EditScore's mark for restraint.",
        "visual_consistency",
    ),
    "ssim": JudgeCard(
        "imarena.judges.image_metrics:make_ssim",
        "pointwise",
        "nothing",
        None,
        "SSIM with the source: highest where nothing was changed.",
        "visual_consistency",
    ),
    "st-lpips": JudgeCard(
        "imarena.judges.image_metrics:make_st_lpips",
        "pointwise",
        "nothing",
        None,
        "Minus the shift-tolerant LPIPS to the source: highest where nothing was changed.",
        "visual_consistency",
    ),
    "unifiedreward": JudgeCard(
        "imarena.judges.chat.unifiedreward:make",
        "pointwise",
        "chat",
        (1, 5),
        "UnifiedReward's three scales of a picture.",
    ),
    "checklist": JudgeCard(
        "imarena.judges.chat.checklist:make", "pointwise", "chat", None, "Weighted yes-or-no questions from a file."
    ),
    "visionreward": JudgeCard(
        "imarena.judges.chat.visionreward:make",
        "pointwise",
        "chat",
        None,
        "VisionReward's questions and weights, from its files.",
    ),
    "vlm-follows": JudgeCard(
        "imarena.judges.chat.yes_no:make_vlm_follows",
        "pointwise",
        "chat",
        (0, 1),
        "Yes or no by a model alone: does the edit follow its instruction (EdiVal's VLM-only baseline)?",
        "instruction_following",
        default_model=EDIVAL_MODEL,
    ),
    "style-check": JudgeCard(
        "imarena.judges.chat.yes_no:make_style_check",
        "pointwise",
        "chat",
        (0, 1),
        "Yes or no by a model alone: is the image in the style that the instruction names (EdiVal, appendix F)?",
        "style",
    ),
    "clipscore": JudgeCard(
        "imarena.judges.local.embeddings:make_clipscore",
        "pointwise",
        "vision",
        None,
        "CLIP likeness of output and words.",
        "instruction_following",
    ),
    "clip-i": JudgeCard(
        "imarena.judges.local.embeddings:make_clip_i",
        "pointwise",
        "vision",
        (-1, 1),
        "CLIP likeness of source and output: highest where nothing was changed.",
        "visual_consistency",
    ),
    "clip-dir": JudgeCard(
        "imarena.judges.local.clip_direction:make",
        "pointwise",
        "vision",
        (-1, 1),
        "CLIP_dir: whether the image moved the way in which the words did; items with a plan (EdiVal's baseline).",
        "instruction_following",
    ),
    "dino": JudgeCard(
        "imarena.judges.local.embeddings:make_dino",
        "pointwise",
        "vision",
        (-1, 1),
        "DINO likeness of source and output: highest where nothing was changed.",
        "visual_consistency",
    ),
    "editreward": JudgeCard(
        "imarena.judges.local.reward_head:make_editreward",
        "pointwise",
        "vision",
        None,
        "Reward heads on source and output.",
    ),
    "hpsv3": JudgeCard(
        "imarena.judges.local.reward_head:make_hpsv3",
        "pointwise",
        "vision",
        None,
        "A reward head on output and caption.",
    ),
    "inside-boxes": JudgeCard(
        "imarena.judges.inside_boxes:make",
        "pointwise",
        "nothing",
        (0, 1),
        "Whether the change stays inside the edit's boxes (stored evidence): highest where nothing was changed.",
        "visual_consistency",
    ),
    "pvc-small": JudgeCard(
        "imarena.judges.pvc_small:make",
        "both",
        "nothing",
        None,
        "Which edit damaged less of what was to stay: a small bundled network, no instruction needed.",
        "visual_consistency",
        cannot_judge=("whether the edit was made", "whether it is what was asked for"),
    ),
    "edival": JudgeCard(
        "imarena.judges.edival.judge:make",
        "pointwise",
        "optional_chat",
        None,
        "EdiVal's scores of object-centric edits, by looking at objects; `-o dimension=` one of overall, "
        "instruction_following, consistency, quality.",
        cannot_judge=("items without a plan of objects and turns",),
        default_model=EDIVAL_MODEL,
    ),
    "recorded": JudgeCard(
        "imarena.judges.recorded:make", "both", "records", None, "Verdicts from a file, single or pairwise."
    ),
}


def adapt_judge_maker(name: str, make: MakeJudge) -> MakeJudge:
    """The maker of a judge whose products have the whole port, whatever a plug-in returns."""

    def made(options: Mapping[str, JsonValue], chat: Chat | None) -> Judge:
        return adapt_judge(make(options, chat), name)

    return made


JUDGES: Registry[MakeJudge] = Registry("judge", {name: card.path for name, card in CARDS.items()}, adapt_judge_maker)
