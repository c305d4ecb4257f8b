"""The paper's rule with a calibration from its own votes: it must not see a vote that nobody asked for."""

from dataclasses import replace

import numpy as np
import pytest

from imarena.workflows.active_elo.simulation.boards import simulated_boards
from imarena.workflows.active_elo.simulation.campaigns import default_gates, make_campaigns, run_campaigns
from imarena.workflows.active_elo.simulation.worlds import simulated_world


@pytest.mark.parametrize("votes", [12, 150])
def test_what_was_not_asked_does_not_matter(votes: int) -> None:
    """Every verdict that was not asked is turned round: only the rule with a calibration for free notices."""
    world = simulated_world(n_models=6, n_items=60, seed=3)
    fleet = make_campaigns(world, 3, seed=1)
    asked = run_campaigns(fleet, "random", (votes,), default_gates(world, deferral=0.337))
    turned = replace(fleet, world=replace(world, truth=-world.truth, votes=1 - world.votes))
    for aggregation, same in (("mixture-own", True), ("mixture", False)):
        here, there = (simulated_boards(one, asked, aggregation, 2).theta for one in (fleet, turned))
        assert np.allclose(here, there) is same
