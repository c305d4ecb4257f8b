"""The limit that follows refusals, on a simulated clock."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imarena.clients.adaptive_limit import AdaptiveLimit
from tests.unit.clients.simulated_server import Accept, Simulation, at_most, at_random, token_bucket

FREE_PER_S = 64 / 0.51


def test_without_refusals_nothing_is_held_back() -> None:
    simulation = Simulation(at_random(0.0))
    per_s, _ = simulation.run(30)
    assert per_s > 0.95 * FREE_PER_S
    assert simulation.limit.limit == 64


@pytest.mark.parametrize(("share", "after_s"), [(0.02, 1.0), (0.1, 0.05), (0.1, 1.0), (0.2, 1.0)])
def test_random_refusals_cost_little_more_than_the_requests_they_hit(share: float, after_s: float) -> None:
    """Each refusal also makes its own worker wait."""
    simulation = Simulation(at_random(share, seed=3), after_s=after_s)
    per_s, _ = simulation.run(60)
    waiting_s = share / (1 - share) * (after_s * 1.05 + 0.01)
    assert per_s > 0.7 * 64 / (0.51 + waiting_s)


@pytest.mark.parametrize(
    ("burst", "after_s", "workers"), [(20, 1.0, 64), (20, 0.05, 1000), (5, 1.0, 64), (5, 0.05, 64)]
)
def test_a_token_bucket_is_found_and_held(burst: int, after_s: float, workers: int) -> None:
    simulation = Simulation(token_bucket(20, burst), after_s=after_s, workers=workers)
    simulation.run(20)
    per_s, wasted = simulation.run(60)
    assert per_s >= 0.95 * 20
    assert wasted <= 0.1


def test_a_bound_on_requests_at_once_is_found_and_held() -> None:
    simulation = Simulation(at_most(16))
    simulation.run(10)
    per_s, wasted = simulation.run(60)
    assert per_s >= 0.9 * 16 / 0.51
    assert wasted <= 0.1


def test_a_larger_bucket_is_noticed() -> None:
    simulation = Simulation(token_bucket(20))
    simulation.run(30)
    simulation.accept = token_bucket(80)
    simulation.run(20)
    per_s, _ = simulation.run(30)
    assert per_s >= 0.9 * 80


def test_a_smaller_bucket_is_noticed() -> None:
    simulation = Simulation(token_bucket(80))
    simulation.run(30)
    simulation.accept = token_bucket(20)
    simulation.run(20)
    per_s, wasted = simulation.run(60)
    assert per_s >= 0.9 * 20
    assert wasted <= 0.12


def test_the_route_recovers_after_everything_was_refused() -> None:
    simulation = Simulation(at_random(0.0))
    simulation.run(10)
    simulation.accept = at_random(1.0)
    simulation.run(5)
    assert simulation.limit.limit < 32
    simulation.accept = at_random(0.0)
    simulation.run(45)
    per_s, _ = simulation.run(10)
    assert per_s > 0.9 * FREE_PER_S


def test_one_refusal_does_not_pause_the_route() -> None:
    limit = AdaptiveLimit(16)
    limit.sent(0.0)
    limit.accepted(0.5, 0.5)
    limit.sent(1.0)
    limit.refused(1.01, 30.0)
    assert limit.wait_s(1.01, 0) < 1.0


def test_half_of_a_window_refused_pauses_the_route_for_as_long_as_the_endpoint_asks() -> None:
    limit = AdaptiveLimit(16)
    for _ in range(16):
        limit.sent(0.0)
    for _ in range(7):
        limit.refused(0.1, 30.0)
    assert limit.wait_s(0.5, 0) < 1.0
    limit.refused(0.1, 30.0)
    assert limit.wait_s(0.5, 0) == pytest.approx(29.6)
    limit.refused(20.0, 30.0)  # was out before the pause: it does not prolong it
    assert limit.wait_s(30.1, 0) == 0.0
    limit.sent(30.1)
    assert limit.limit == pytest.approx(16 / 4)


SERVERS: st.SearchStrategy[Accept] = st.one_of(
    st.builds(at_random, st.floats(0, 1), st.integers(0, 100)),
    st.builds(token_bucket, st.floats(0.5, 200), st.floats(1, 50)),
    st.builds(at_most, st.integers(1, 100)),
)


@settings(max_examples=8, deadline=None)
@given(
    phases=st.lists(SERVERS, min_size=1, max_size=3),
    maximum=st.integers(1, 32),
    reply_s=st.floats(0.2, 2),
    after_s=st.floats(0, 5),
)
def test_whatever_the_server_does_the_limit_stays_in_bounds_and_comes_back(
    phases: list[Accept], maximum: int, reply_s: float, after_s: float
) -> None:
    """Never above the maximum, never stuck: once the server accepts everything, the route is fast again."""
    simulation = Simulation(phases[0], maximum=maximum, reply_s=reply_s, after_s=after_s)
    for accept in phases:
        simulation.accept = accept
        simulation.run(5)
        assert 1 <= simulation.limit.limit <= maximum
        assert math.isfinite(simulation.limit.share)
        assert 0 <= simulation.limit.background <= 1
    assert simulation.most_in_flight <= maximum
    simulation.accept = at_random(0.0)
    simulation.run(max(60.0, 120 * reply_s))
    rounds = 20 * reply_s
    per_s, _ = simulation.run(rounds)
    assert per_s >= 0.8 * maximum / (reply_s + 0.01) - 2 / rounds
