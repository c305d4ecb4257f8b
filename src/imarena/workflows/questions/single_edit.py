"""One edit without a workspace: judge its images and instruction, or compute every metric of its two images."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TypeAlias

from imarena import vision
from imarena.core import (
    Exhibit,
    InvalidImage,
    Mask,
    Pixels,
    Settings,
    UserError,
    Verdict,
    command_line,
    first_line,
    load_settings,
)
from imarena.core.records import JsonDict, Status
from imarena.images import check_image, check_mask, mask_from_image, pixels, read_image_file
from imarena.judges import CARDS
from imarena.storage import is_workspace
from imarena.workflows.questions.verdicts import AskJudge, JudgeQuestion, failed_verdict
from imarena.workflows.wiring import WiredJudge, check_judge_shape, wire_judge

ImageInput: TypeAlias = str | PathLike[str] | bytes
"""A file, or the bytes of an encoded image."""


@dataclass(frozen=True, slots=True)
class EditScore:
    """A judge's verdict on one output. There is no score unless `status` is ok."""

    output: str
    judge: str
    status: Status
    score: float | None
    scale: tuple[float, float] | None
    """Lowest and highest score of this judge; None if it has no bounds."""
    dimensions: dict[str, float]
    success: bool | None
    success_above: float | None
    """A success needs more than this on every dimension; None if the judge has another rule."""
    confidence: float | None
    reasons: JsonDict
    cannot_judge: tuple[str, ...]
    """Limitations: what this judge cannot judge."""
    error: str
    cost_usd: float | None


def score_edit(source: ImageInput | None, output: ImageInput, instruction: str, judge: str = "builtin") -> EditScore:
    """Score one edit. Without a source, the output is judged as a generated image.

    Raises `UserError` if an image cannot be read. If the judge gives no verdict, the result has a status and no score.
    """
    return score_outputs(wire_judge(Settings(), judge), source, [output], instruction)[0]


def settings_at(folder: Path) -> Settings:
    """Return the settings of the named workspace or of the one in the current folder; otherwise the defaults."""
    if is_workspace(folder):
        return load_settings(folder / "imarena.toml")
    if folder != Path():
        raise UserError(f"{folder} is not a workspace.", hint="`score` needs none: leave out --workspace.")
    return Settings()


def score_outputs(
    wired: WiredJudge, source: ImageInput | None, outputs: Sequence[ImageInput], instruction: str
) -> tuple[EditScore, ...]:
    """Score outputs of the same source one by one. If there are several, an unreadable one gets a status."""
    check_judge_shape(wired, "pointwise", "score")
    sources = () if source is None else (read_image_input(source),)
    images = [_read_or_reason(output, alone=len(outputs) == 1) for output in outputs]
    exhibits = [
        image if isinstance(image, Verdict) else Exhibit(instruction, image, sources=sources) for image in images
    ]
    readable = [exhibit for exhibit in exhibits if isinstance(exhibit, Exhibit)]
    if readable:
        _check_fit(wired, readable[0])
    verdicts = _run(lambda: asyncio.run(_ask_all(wired, exhibits)))
    return tuple(
        _edit_score(wired, _name(output, number), verdict)
        for number, (output, verdict) in enumerate(zip(outputs, verdicts, strict=True), start=1)
    )


def _check_fit(wired: WiredJudge, exhibit: Exhibit) -> None:
    judge = wired.judge
    if judge.traits.needs_source and not exhibit.sources:
        raise UserError(f"The judge '{judge.name}' compares with a source image.", hint="Add --source FILE.")
    if judge.traits.evidence:
        kinds = " or ".join(judge.traits.evidence)
        raise UserError(
            f"The judge '{judge.name}' needs evidence of the kind {kinds}.",
            hint=f"Only a workspace holds evidence: import the outputs there and use `{command_line('judge')}`.",
        )
    for prompt in judge.traits.prompts.values():
        prompt.check(exhibit)


async def _ask_all(wired: WiredJudge, exhibits: Sequence[Exhibit | Verdict]) -> list[Verdict]:
    async with AsyncExitStack() as stack:
        if wired.client is not None:
            await stack.enter_async_context(wired.client.opened())
        return [
            exhibit if isinstance(exhibit, Verdict) else await _ask(AskJudge(wired.judge), exhibit)
            for exhibit in exhibits
        ]


async def _ask(ask: AskJudge, exhibit: Exhibit) -> Verdict:
    try:
        return await ask(JudgeQuestion(exhibit))
    except UserError:
        raise
    except Exception as error:  # noqa: BLE001 - a judge's failure is a status, as in a run
        return failed_verdict(exhibit, error)


def _run(work: Callable[[], list[Verdict]]) -> list[Verdict]:
    """Run `work`, in its own thread if an event loop is already running (in a notebook)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


def image_bytes(image: ImageInput) -> bytes:
    """Return the unchecked bytes of an image. Raises `UserError` or `InvalidImage` if a file cannot be read."""
    if isinstance(image, bytes):
        return image
    try:
        return read_image_file(Path(image))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UserError(f"{image} cannot be read: {reason}.") from error


def read_image_input(image: ImageInput) -> bytes:
    """Return the bytes of an image after a full check; raise `UserError` with the reason if it is invalid."""
    name = "The image" if isinstance(image, bytes) else str(image)
    try:
        data = image_bytes(image)
        check_image(data)
    except InvalidImage as error:
        reason = first_line(error).rstrip(".")
        raise UserError(f"{name} is not an image that can be judged: {reason}.") from error
    return data


def _read_or_reason(image: ImageInput, *, alone: bool) -> bytes | Verdict:
    try:
        return read_image_input(image)
    except UserError as error:
        if alone:
            raise
        missing = isinstance(error.__cause__, OSError)
        return Verdict(Status.MISSING_OUTPUT if missing else Status.INVALID_IMAGE, error=first_line(error))


def _name(image: ImageInput, number: int) -> str:
    return f"output {number}" if isinstance(image, bytes) else str(image)


def _threshold(wired: WiredJudge) -> float | None:
    value = wired.judge.params.get("success_threshold")
    return float(value) if isinstance(value, int | float) else None


def _edit_score(wired: WiredJudge, name: str, verdict: Verdict) -> EditScore:
    card = CARDS.get(wired.kind)
    reasons: JsonDict = dict(verdict.reasons)
    limits = reasons.pop("cannot_judge", None)
    own_limits = tuple(str(limit) for limit in limits) if isinstance(limits, list) else ()
    return EditScore(
        output=name,
        judge=wired.judge.name,
        status=verdict.status,
        score=verdict.score if verdict.status is Status.OK else None,
        scale=None if card is None else card.scale,
        dimensions=dict(verdict.scores),
        success=verdict.success,
        success_above=_threshold(wired) if verdict.success is not None else None,
        confidence=verdict.confidence,
        reasons=reasons,
        cannot_judge=own_limits or (() if card is None else card.cannot_judge),
        error=verdict.error,
        cost_usd=verdict.usage.cost_usd,
    )


Distance = Callable[[Pixels, Pixels], float | None]


def measure_edit(source: ImageInput, output: ImageInput, mask: ImageInput | None = None) -> vision.ImageComparison:
    """Compare an output with its source. A mask is white where the edit was requested, black elsewhere, and
    has the size of the source.

    Images are paths or bytes. Raises `UserError` if one cannot be read. `lpips` is measured if the weights
    `lpips-alex` are installed.
    """
    before, after = pixels(read_image_input(source)), pixels(read_image_input(output))
    size = before.shape[1], before.shape[0]
    region = None if mask is None else _read_mask(mask, size)
    compared = vision.compare_images(before, after, region)
    measures: dict[str, Distance] = {"st_lpips": vision.shift_tolerant_lpips}
    if vision.lpips_available():
        measures["lpips"] = vision.lpips_distance
    networks = {name: _distances(measure, before, after, region) for name, measure in measures.items()}
    networks["face_likeness"] = _likeness(before, after, region)
    return replace(compared, metrics={**compared.metrics, **networks})


def _likeness(before: Pixels, after: Pixels, region: Mask | None) -> vision.RegionValues:
    value = vision.face_likeness(before, after)
    if region is None:
        return vision.RegionValues(value)
    return vision.RegionValues(value, *(vision.face_likeness(before, after, part) for part in (region, ~region)))


def _distances(measure: Distance, before: Pixels, after: Pixels, region: Mask | None) -> vision.RegionValues:
    value = measure(before, after)
    if region is None:
        return vision.RegionValues(value)
    return vision.RegionValues(value, *(vision.distance_in(measure, before, after, part) for part in (region, ~region)))


def _read_mask(mask: ImageInput, size: tuple[int, int]) -> Mask:
    data = read_image_input(mask)
    try:
        check_mask(data, size)
    except InvalidImage as error:
        message, _, hint = str(error).partition("\n")
        name = "The image" if isinstance(mask, bytes) else str(mask)
        raise UserError(f"{name} is not a mask: {message}.", hint=hint) from error
    return mask_from_image(data)
