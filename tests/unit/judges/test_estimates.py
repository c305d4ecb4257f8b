"""Tokens, dollars and seconds of a run from counts and sizes."""

import os
from dataclasses import dataclass

import pytest

from imarena.clients import Endpoint
from imarena.core import ChatAnswer, ChatPrompt, Judge, JudgeTraits
from imarena.core.records import ImageRef, Usage
from imarena.judges import JUDGES
from imarena.judges.compute_time import ComputeTime, count_new, measure_compute_time
from imarena.judges.estimates import (
    OUTPUT_TOKENS,
    PIXELS_PER_TOKEN,
    UNKNOWN_PIXELS,
    Size,
    endpoint_tokens,
    estimate_computed,
    estimate_sizes,
)


@dataclass(frozen=True)
class Asked:
    """A judge at an endpoint, as plain values."""

    judge: Judge
    endpoint: Endpoint | None
    runs_here: bool = False
    concurrency: int = 4

    @property
    def name(self) -> str:
        return self.judge.name

    @property
    def traits(self) -> JudgeTraits:
        return self.judge.traits


async def silent(prompt: ChatPrompt) -> ChatAnswer:
    """An estimate asks nobody."""
    raise AssertionError(prompt)


def priced() -> Asked:
    endpoint = Endpoint(
        base_url="http://localhost:1/v1", model="some-vlm", input_usd_per_million=1.0, output_usd_per_million=2.0
    )
    return Asked(JUDGES.get("cv-judge")({"model": "some-vlm"}, silent), endpoint)


def test_without_earlier_replies_tokens_are_assumed_from_the_sizes() -> None:
    found = estimate_sizes(priced(), [Size(100, 400, 2)] * 10, [], 3, concurrency=2)
    assert (found.new, found.done_before, found.input_tokens) == (10, 3, 5000)
    questions = priced().judge.traits.questions
    assert found.output_tokens == 10 * questions * OUTPUT_TOKENS
    assert found.cost_usd == pytest.approx((5000 + 2 * found.output_tokens) / 1e6)
    assert found.spends
    assert "2 at a time" in found.basis


def test_earlier_replies_say_how_an_endpoint_counts_pictures() -> None:
    """Here each picture counts 300 tokens, whatever its pixels are."""
    sizes = [Size(100, 50, 1), Size(100, 5000, 1), Size(100, 900, 2)]
    past = [(size, Usage(input_tokens=100 + 300 * size.pictures, output_tokens=40)) for size in sizes]
    found = estimate_sizes(priced(), [Size(10, 7000, 3)], past, 0, concurrency=1)
    assert found.input_tokens == 10 + 3 * 300
    assert found.output_tokens == 40
    assert any("300 per image" in line for line in found.basis)


def test_a_picture_counts_as_it_is_sent() -> None:
    image = ImageRef(sha256="0" * 64, size_bytes=1, media_type="image/png", width=2048, height=1024)
    plain = Endpoint(base_url="http://localhost:1/v1", model="m", max_image_side=None, max_image_pixels=10**9)
    assert endpoint_tokens(plain, image) == pytest.approx(2048 * 1024 / PIXELS_PER_TOKEN)
    small = Endpoint(base_url="http://localhost:1/v1", model="m", max_image_side=512)
    assert endpoint_tokens(small, image) == pytest.approx(512 * 256 / PIXELS_PER_TOKEN)
    assert endpoint_tokens(None, image) == UNKNOWN_PIXELS / PIXELS_PER_TOKEN


def test_a_judge_that_computes_takes_its_time_at_first_sight() -> None:
    measured = measure_compute_time([(2, 4.01), (0, 0.01), (1, 2.01), (0, 0.01)])
    assert measured.n_first == 3
    assert measured.again_s == pytest.approx(0.01)
    assert measured.first_s == pytest.approx(6.02 / 3)
    assert measure_compute_time([(0, 1.0)]) == ComputeTime(), "without a look nothing is known"
    questions = [("a", "b"), ("b", "a"), ("a", None)]
    assert ComputeTime(2.0, 3, 0.5).seconds(questions, 9.0) == pytest.approx(2 * 2.0 + 2 * 0.5)
    assert ComputeTime().seconds(questions, 9.0) == pytest.approx(18.0), "two pictures, by what is assumed"
    builtin = Asked(JUDGES.get("builtin")({}, None), None)
    found = estimate_computed(builtin, ComputeTime(2.0, 3, 0.5), questions, 1, unfit={})
    assert found.seconds == pytest.approx(5.0 / (os.cpu_count() or 1))
    assert (found.new, found.done_before, found.cost_usd, found.spends) == (3, 1, 0.0, False)
    (basis,) = found.basis
    assert basis.startswith(
        "2 s per new image (mean of 3 earlier images), 0.5 s per question about images seen before, "
    )
    (basis,) = estimate_computed(builtin, ComputeTime(), questions, 1, unfit={}).basis
    assert basis.startswith("Assumes ")
    assert basis.endswith(" at a time. No endpoint is used, so there is no cost.")


def test_a_picture_is_new_once() -> None:
    seen: set[str] = set()
    assert [count_new(outputs, seen) for outputs in (("a", "b"), ("b", None), ("c", "c"))] == [2, 0, 1]
