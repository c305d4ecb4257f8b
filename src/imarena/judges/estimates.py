"""Estimate a judging run from counts and sizes: tokens, dollars and time, with the basis of each figure."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any, Protocol

from imarena.clients import Endpoint
from imarena.core import Exhibit, JudgeTraits, PromptPreview, counted
from imarena.core.records import ImageRef, Usage
from imarena.judges.compute_time import ComputeTime

CHARACTERS_PER_TOKEN = 4
PIXELS_PER_TOKEN = 28 * 28
"""One token per patch of 28 x 28 pixels, as in Qwen's encoder, the densest of the common ones."""
UNKNOWN_PIXELS = 1024 * 1024
OUTPUT_TOKENS = 350
"""Assumed length of a reply to one question, including reasons."""
LATENCY_S = 8.0
COMPUTED_S = 1.0
"""Assumed seconds per output and core for a judge that computes locally."""


class ModelToEstimate(Protocol):
    """Who is asked: a judge, or a model that answers other questions, and the endpoint that it uses."""

    @property
    def name(self) -> str:
        """The name of the judge or the model."""
        ...

    @property
    def traits(self) -> JudgeTraits:
        """What the estimate depends on: prompts, passes, the length of replies, seconds."""
        ...

    @property
    def endpoint(self) -> Endpoint | None:
        """The endpoint, or None if the judge uses none."""
        ...

    @property
    def runs_here(self) -> bool:
        """Does the model run in this process?"""
        ...

    @property
    def concurrency(self) -> int:
        """Number of parallel questions that keeps the endpoint busy."""
        ...


@dataclass(frozen=True)
class Estimate:
    """What a run will take; None for unknown figures."""

    judge: str
    new: int
    """Questions to ask; a battle in both orders counts as two."""
    done_before: int
    unfit: dict[str, int]
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    seconds: float | None
    basis: tuple[str, ...]
    """What was measured and what is assumed, in words."""
    at_most: bool = False
    """The figures are upper bounds, because an adaptive run may stop earlier."""

    @property
    def spends(self) -> bool:
        """Can the run cost money? False if the prices are 0; True if they are unknown."""
        return self.new > 0 and self.input_tokens is not None and self.cost_usd != 0

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {**self.__dict__, "basis": list(self.basis)}


@dataclass(frozen=True)
class Size:
    """The size of a case: tokens of its text, tokens of its images by their pixels, number of images."""

    text_tokens: float
    image_tokens: float
    pictures: int
    questions: int | None = None
    """How many of the judge's questions are asked; None: all."""


@dataclass(frozen=True)
class _Measured:
    """Tokens of earlier questions. Endpoints count images by pixels or at a fixed rate; the better fit is used."""

    ratio: float
    """Measured input tokens divided by those estimated from text and pixels, if images count by pixels."""
    per_picture: float | None
    """Input tokens per image, if each counts the same; None if counting by pixels fits better."""
    output_tokens: float
    n: int

    def input_tokens(self, size: Size) -> float:
        if self.per_picture is not None:
            return size.text_tokens + self.per_picture * size.pictures
        return self.ratio * (size.text_tokens + size.image_tokens)


def estimate_computed(
    asked: ModelToEstimate,
    time: ComputeTime,
    questions: Sequence[Sequence[str | None]],
    done_before: int,
    *,
    unfit: dict[str, int],
    at_most: bool = False,
) -> Estimate:
    """Estimate for a judge that only computes, from the images to process. `questions`: the outputs of each one."""
    lanes, assumed_s = os.cpu_count() or 1, _assumed_s(asked)
    return Estimate(
        asked.name, len(questions), done_before, unfit, None, None, 0.0,
        seconds=time.seconds(questions, assumed_s) / lanes, at_most=at_most,
        basis=_free_basis(time.basis(assumed_s), lanes),
    )  # fmt: skip


def _free_basis(time: str, lanes: int) -> tuple[str, ...]:
    """The basis of an estimate for a judge without an endpoint."""
    return (f"{time[:1].upper()}{time[1:]}, {lanes} at a time. No endpoint is used, so there is no cost.",)


def _assumed_s(job: ModelToEstimate) -> float:
    if job.endpoint is not None:
        return LATENCY_S
    declared = job.traits.seconds
    return COMPUTED_S if declared is None else declared


def estimate_sizes(
    asked: ModelToEstimate,
    sizes: Sequence[Size],
    past: Sequence[tuple[Size | None, Usage]],
    done_before: int,
    *,
    concurrency: int,
    unfit: dict[str, int] | None = None,
    at_most: bool = False,
) -> Estimate:
    """Estimate for questions of known sizes. `past`: the usage of earlier questions, with their sizes if known."""
    common: dict[str, Any] = {
        "judge": asked.name, "new": len(sizes), "done_before": done_before, "unfit": unfit or {},
        "at_most": at_most,
    }  # fmt: skip
    latency, latency_basis = _latency([usage for _, usage in past], _assumed_s(asked), waiting=not asked.runs_here)
    if asked.endpoint is None:
        lanes = (os.cpu_count() or 1) if asked.traits.cpu_bound else 1
        return Estimate(
            **common, input_tokens=None, output_tokens=None, cost_usd=0.0,
            seconds=latency * len(sizes) / lanes, basis=_free_basis(latency_basis, lanes),
        )  # fmt: skip
    measured = _measured(past)
    per_verdict = asked.traits.questions
    questions = sum(per_verdict if size.questions is None else size.questions for size in sizes)
    input_tokens = round(sum(measured.input_tokens(s) if measured else s.text_tokens + s.image_tokens for s in sizes))
    reply_tokens = measured.output_tokens / per_verdict if measured else _reply_tokens(asked)
    output_tokens = round(questions * reply_tokens)
    cost = asked.endpoint.cost_usd(Usage(input_tokens=input_tokens, output_tokens=output_tokens))
    lanes = 1 if asked.runs_here else min(concurrency, asked.concurrency)
    turns = questions if asked.runs_here else len(sizes)  # a local model answers a verdict's questions one by one
    seconds = latency * turns / max(1, min(lanes, len(sizes) or 1))
    least, limit_basis = _limited(asked, questions)
    return Estimate(
        **common, input_tokens=input_tokens, output_tokens=output_tokens, cost_usd=0.0 if asked.runs_here else cost,
        seconds=max(seconds, least),
        basis=(*_basis(asked, measured, questions), latency_basis, f"{lanes} at a time", *limit_basis),
    )  # fmt: skip


def question_size(prompts: Iterable[PromptPreview], exhibit: Exhibit, tokens: Callable[[bytes], float]) -> Size:
    """The total size of one question per prompt; `tokens` gives the number of tokens of an image."""
    text_tokens = pixels = 0.0
    pictures = 0
    for prompt in prompts:
        parts = prompt.preview(exhibit)
        text_tokens += sum(len(part) for part in parts if isinstance(part, str)) / CHARACTERS_PER_TOKEN
        images = [part for part in parts if isinstance(part, bytes)]
        pixels += sum(tokens(part) for part in images)
        pictures += len(images)
    return Size(text_tokens, pixels, pictures)


def endpoint_tokens(endpoint: Endpoint | None, image: ImageRef) -> float:
    """How many tokens an image counts at an endpoint, by its prepared size; a default if the size is unknown."""
    if image.width is None or image.height is None or endpoint is None:
        return UNKNOWN_PIXELS / PIXELS_PER_TOKEN
    width, height = float(image.width), float(image.height)
    if endpoint.max_image_side:
        shrink = min(1.0, endpoint.max_image_side / max(width, height))
        width, height = width * shrink, height * shrink
    pixels = width * height
    if endpoint.max_image_pixels:
        pixels = min(pixels, endpoint.max_image_pixels)
    return pixels / PIXELS_PER_TOKEN


def _latency(past: Sequence[Usage], assumed_s: float, *, waiting: bool) -> tuple[float, str]:
    elapsed = [usage.elapsed_s for usage in past if usage.elapsed_s is not None]
    if elapsed and waiting:  # the mean, because a question that waits long blocks its slot for as long
        mean = fmean(elapsed)
        return (
            mean,
            f"{mean:.1f} s per question with retries and waiting: mean of {counted(len(elapsed), 'earlier question')}",
        )
    latencies = [usage.latency_s for usage in past if usage.latency_s is not None]
    if latencies:
        middle = median(latencies)
        return middle, f"{middle:.1f} s per question: median of {len(latencies)} earlier ones"
    return assumed_s, f"assumes {assumed_s:g} s per question"


def _limited(job: ModelToEstimate, requests: int) -> tuple[float, tuple[str, ...]]:
    """The minimum seconds under the endpoint's rate limit, and the limit in words."""
    endpoint = job.endpoint
    if endpoint is None or endpoint.requests_per_minute is None:
        return 0.0, ()
    per_minute = endpoint.requests_per_minute * len(endpoint.pairs)
    return 60.0 * (requests - len(endpoint.pairs)) / per_minute, (f"at most {per_minute:g} requests a minute",)


def _measured(past: Sequence[tuple[Size | None, Usage]]) -> _Measured | None:
    """Compare the tokens of earlier questions with their sizes."""
    sizes: list[Size] = []
    tokens: list[int] = []
    output_tokens = 0
    for size, usage in past:
        if size is not None and usage.input_tokens is not None and usage.output_tokens is not None:
            sizes.append(size)
            tokens.append(usage.input_tokens)
            output_tokens += usage.output_tokens
    return _fitted(sizes, tokens, output_tokens) if sizes else None


def _fitted(sizes: Sequence[Size], input_tokens: Sequence[int], output_tokens: int) -> _Measured:
    n = len(sizes)
    tokens = sum(size.text_tokens + size.image_tokens for size in sizes)
    pictures = sum(size.pictures for size in sizes)
    by_pixels = _Measured(sum(input_tokens) / tokens if tokens else 1.0, None, output_tokens / n, n)
    if not pictures:
        return by_pixels
    per_picture = max(0.0, (sum(input_tokens) - sum(size.text_tokens for size in sizes)) / pictures)
    by_count = _Measured(by_pixels.ratio, per_picture, output_tokens / n, n)

    def misfit(model: _Measured) -> float:
        return sum((model.input_tokens(size) - tokens) ** 2 for size, tokens in zip(sizes, input_tokens, strict=True))

    return min(by_pixels, by_count, key=misfit)


def _reply_tokens(job: ModelToEstimate) -> int:
    """Assumed tokens of a reply: at most what the judge lets the model write."""
    most = job.traits.max_reply_tokens
    return OUTPUT_TOKENS if most is None else min(OUTPUT_TOKENS, most)


def _basis(job: ModelToEstimate, measured: _Measured | None, questions: int) -> tuple[str, ...]:
    endpoint = job.endpoint
    requests = counted(questions, "request")
    if measured:
        image_tokens = f"{measured.per_picture:.0f} per image" if measured.per_picture is not None else (
            f"{measured.ratio:.2f} for every {PIXELS_PER_TOKEN} pixels"
        )  # fmt: skip
        tokens = f"tokens as in {measured.n} earlier replies: {image_tokens}, {measured.output_tokens:.0f} per verdict"
    else:
        tokens = (
            f"assumed: one token per {CHARACTERS_PER_TOKEN} characters and per {PIXELS_PER_TOKEN} pixels, "
            f"{_reply_tokens(job)} tokens per reply; a small first run replaces them by measured values"
        )
    if job.runs_here:
        return requests, tokens, "the model runs here: no cost"
    if endpoint is None or not endpoint.priced:
        return requests, tokens, "prices are not known: set input_usd_per_million and output_usd_per_million"
    prices = f"{endpoint.input_usd_per_million:g} / {endpoint.output_usd_per_million:g} USD per million tokens in / out"
    return requests, tokens, prices
