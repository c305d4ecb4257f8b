"""`edival`: object-based scores of edits: instruction following, content consistency and quality.

Each judgment is about one dimension. The tools' results are stored with it as evidence, so that other dimensions,
other thresholds and later runs measure nothing twice.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from pydantic import JsonValue

from imarena.core import Chat, Exhibit, InvalidImage, JudgeTraits, ObjectTurn, Pixels, PlannedEdit, UserError, Verdict
from imarena.core.records import JsonDict, Mode, Status
from imarena.images import BOXES
from imarena.judges.edival.consistency import LIKENESS, content_consistency
from imarena.judges.edival.following import ANSWER, TEXT, EvaluationContext, FollowedEdit, follow_edit
from imarena.judges.edival.measurement_cache import EncodedImage, MeasuredBy, MeasurementCache, encoded_image
from imarena.judges.edival.offline_answers import ColourAnswers
from imarena.judges.edival.settings import EdiValSettings
from imarena.judges.edival.tools import (
    VLM,
    Answerer,
    OcrReader,
    QualityMetric,
    TextReader,
    Toolbox,
    find_comparer,
    find_finder,
    find_metric,
    gpus_of,
    secondary_metrics,
    settle_names,
)
from imarena.judges.edival.vlm_answers import QuestionFailed, VlmAnswers, vlm_metric
from imarena.judges.options import read_judge_options
from imarena.vision import HEAD_NAMES, LUMA, luminance_quantiles

QUALITY = "quality_score"
LUMINANCE = "luminance"


@dataclass(frozen=True)
class EdiValJudge:
    """Scores one output of an item with a plan. The settings must name every tool (no `auto`)."""

    settings: EdiValSettings
    chat: Chat | None = None
    toolbox: Toolbox | None = field(default=None, compare=False)
    """Tools to use instead of those that the settings name."""
    version: str = "1"
    prompt_id: str = ""
    prompt_version: str = ""

    @property
    def name(self) -> str:
        """`edival`, followed by the model that answers questions, if any."""
        return f"edival/{self.settings.model}" if self.settings.model else "edival"

    @cached_property
    def tools(self) -> Toolbox:
        """One tool for each role."""
        return self.toolbox or make_toolbox(self.settings, self.chat)

    @property
    def params(self) -> JsonDict:
        """The settings, and each tool with its version."""
        return {**self.settings.model_dump(mode="json"), "tools": self.tools.names}

    @property
    def traits(self) -> JudgeTraits:
        """The judge needs an item's plan, and computes locally unless a model answers its questions."""
        return JudgeTraits(
            dimension=self.settings.dimension, needs_source=True, needs_plan=True,
            produces_evidence=(BOXES, TEXT, ANSWER, LIKENESS, QUALITY, LUMINANCE), cpu_bound=self.chat is None,
            seconds=1.0, gpus=gpus_of(self.settings),
        )  # fmt: skip

    async def judge(self, exhibit: Exhibit) -> Verdict:
        """Score `exhibit.left`; `refused` with a reason if the tools cannot decide."""
        if exhibit.right is not None:
            raise UserError(
                "edival scores one output and got two.", hint="Boards turn its scores into pairs automatically."
            )
        planned = exhibit.planned
        if planned is None:
            return Verdict(Status.REFUSED, error="The item has no plan of objects and turns.")
        context = EvaluationContext(
            self.tools, MeasurementCache(planned.known), self.settings, encoded_image(planned.chain[0])
        )
        try:
            return await self._verdict(context, planned, encoded_image(exhibit.left))
        except InvalidImage as error:
            return Verdict(Status.INVALID_IMAGE, error=str(error), evidence=context.measurements.fresh)
        except QuestionFailed as error:
            return Verdict(error.status, error=error.error, usage=error.usage, evidence=context.measurements.fresh)

    async def _verdict(self, context: EvaluationContext, planned: PlannedEdit, output: EncodedImage) -> Verdict:
        images = [encoded_image(data) for data in planned.chain]
        turn = planned.plan.turns[planned.turn]
        score: float | None = None
        scores: dict[str, float] = {}
        reasons: JsonDict = {"type": turn.type, "tools": self.tools.names}
        success: bool | None = None
        why = ""
        dimension = self.settings.dimension
        if dimension in ("overall", "instruction_following"):
            edits = await _edits(context, planned, images, output)
            followed = _follow_scores(planned, edits)
            scores |= followed.scores
            reasons |= followed.reasons
            score, success, why = followed.score, followed.success, followed.why
        if dimension in ("overall", "consistency"):
            content = content_consistency(context, planned.plan, planned.turn, images[0], output)
            scores |= _without_none(
                {
                    "consistency": content.score, "background": content.background, "objects": content.objects,
                    "l1": content.l1, "background_l1": content.background_l1, "objects_l1": content.objects_l1,
                }
            )  # fmt: skip
            not_found: list[JsonValue] = list(content.not_found)
            reasons |= {"not_found": not_found, "resized": content.resized}
            missing = "" if content.score is not None else "There is no background and no unchanged object to compare."
            if dimension == "consistency":
                score, why = content.score, missing
            else:
                why = why or missing
                score = None if why or success is None else float(np.sqrt(float(success) * (content.score or 0.0)))
        if dimension == "quality":
            scores |= await _quality(context, images[0], output)
            score = scores["quality"]
        if score is None:
            return Verdict(Status.REFUSED, error=why, evidence=context.measurements.fresh, reasons=reasons)
        return Verdict(
            Status.OK, score=score, scores=scores, success=success, reasons=reasons, evidence=context.measurements.fresh
        )


@dataclass(frozen=True)
class _Followed:
    score: float | None
    success: bool | None
    scores: dict[str, float]
    reasons: JsonDict
    why: str


async def _edits(
    context: EvaluationContext, planned: PlannedEdit, images: list[EncodedImage], output: EncodedImage
) -> list[FollowedEdit]:
    """Check the edits of the output. Multi-turn: each turn against the one before; else against the base image."""
    turns: list[tuple[ObjectTurn, EncodedImage, EncodedImage]]
    steps = planned.plan.turns[: planned.turn + 1]
    if planned.mode is Mode.MULTI_TURN:
        states = [*images, output]
        turns = [(step, states[at], states[at + 1]) for at, step in enumerate(steps)]
    elif planned.mode is Mode.COMPLEX:
        turns = [(step, images[0], output) for step in steps]
    else:
        turns = [(steps[-1], images[0], output)]
    return [await follow_edit(context, planned.plan, turn, before, after) for turn, before, after in turns]


def _follow_scores(planned: PlannedEdit, edits: list[FollowedEdit]) -> _Followed:
    """Score the turn's own edit (complex mode: the share of its edits that passed), and whether all edits passed."""
    passed = [edit.decision.passed for edit in edits]
    success = False if False in passed else (None if None in passed else True)
    edit_reasons: list[Any] = [
        {
            "type": edit.turn.type, "passed": edit.decision.passed, "reason": edit.decision.reason,
            **({"replace_rules": edit.replace_rules} if edit.replace_rules else {}),
        }
        for edit in edits
    ]  # fmt: skip
    marginal = passed[-1]
    score = None if marginal is None else float(marginal)
    if planned.mode is Mode.COMPLEX:
        score = None if None in passed else float(np.mean([bool(result) for result in passed]))
    undecided = [edit for edit in edits if not edit.decision.decided]
    why = "" if not undecided else f"{undecided[0].turn.type}: {undecided[0].decision.reason}"
    scores = _without_none(
        {
            "instruction_following": None if marginal is None else float(marginal),
            "image_success": None if success is None else float(success),
        }
    )
    return _Followed(score, success, scores, {"edits": edit_reasons}, why)


async def _quality(context: EvaluationContext, base: EncodedImage, output: EncodedImage) -> dict[str, float]:
    """Measure the quality and luminance of the output and of the base image, with every quality measure."""
    light = MeasuredBy("luminance", "1", LUMINANCE)
    scores: dict[str, float] = {}
    for prefix, image in (("", output), ("base_", base)):

        def lit(of: EncodedImage = image) -> JsonDict:
            return _luminance(of.pixels)

        scores[f"{prefix}quality"] = await _grade(context, context.tools.metric, image)
        for metric in context.tools.also:
            scores[f"{prefix}{quality_name(metric.name)}"] = await _grade(context, metric, image)
        bright = context.measurements.measure(light, image, {}, lit)
        scores |= {f"{prefix}{name}": number for name, number in bright.items()}
    return scores


def quality_name(metric: str) -> str:
    """The score name of an additional quality measure: `vlm_quality`, `plausibility`, `aesthetics`."""
    return metric if metric in HEAD_NAMES else f"{metric}_quality"


async def _grade(context: EvaluationContext, metric: QualityMetric, image: EncodedImage) -> float:
    evidence, stored = context.measurements.find(MeasuredBy(metric.name, metric.version, QUALITY), image, {})
    if not stored:
        evidence = context.measurements.note(evidence, {"value": round(await metric.grade(image.pixels), 5)})
    value: Any = evidence.value
    return float(value["value"])


def _luminance(pixels: Pixels) -> JsonDict:
    mean = float((pixels.reshape(-1, 3) @ LUMA).mean())
    quantiles = {name: round(value, 4) for name, value in luminance_quantiles(pixels).items()}
    return {"luminance_mean": round(mean, 4), **quantiles}


def _without_none(figures: Mapping[str, float | None]) -> dict[str, float]:
    return {name: figure for name, figure in figures.items() if figure is not None}


def make_toolbox(settings: EdiValSettings, chat: Chat | None) -> Toolbox:
    """Create the tools that the settings name."""
    asks = None if chat is None else VlmAnswers(chat, settings.model)
    answers: Answerer
    reader: TextReader
    if VLM in (settings.answers, settings.reader, settings.quality, *secondary_metrics(settings)) and asks is None:
        raise UserError("The tool 'vlm' asks a model.", hint="Add --endpoint NAME of imarena.toml, or --base-url URL.")
    answers = asks if settings.answers == VLM and asks is not None else ColourAnswers()
    reader = asks if settings.reader == VLM and asks is not None else OcrReader()
    return Toolbox(
        find_finder(settings.detector), answers, reader, find_comparer(settings.features),
        _meter(settings.quality, settings, chat),
        tuple(_meter(name, settings, chat) for name in secondary_metrics(settings)),
    )  # fmt: skip


def _meter(name: str, settings: EdiValSettings, chat: Chat | None) -> QualityMetric:
    if name == VLM and chat is not None:
        return vlm_metric(chat, settings.model)
    return find_metric(name)


def make(options: Mapping[str, JsonValue], chat: Chat | None) -> EdiValJudge:
    """The judge from a table of options."""
    settings = read_judge_options(EdiValSettings, options, "edival")
    return EdiValJudge(settle_names(settings, chat=chat is not None), chat)
