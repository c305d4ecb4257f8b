"""A policy is one entry of the table in `routing`: assignments, simulations and the command line all offer it."""

import subprocess
import sys
from pathlib import Path

import pytest

from imarena.routing import POLICIES
from imarena.workflows.active_elo.simulation.campaigns import MOVED
from imarena.workflows.active_elo.simulation.compare import ALL_POLICIES
from tests.command import ROOT, Imarena

WITH_FIRST = """
import sys
import numpy as np
from imarena.routing import policies
from imarena.cli import main

def first_items(pool, _):
    return np.broadcast_to((np.arange(pool.n_items) < pool.n_items // 2)[:, None] + 1e-9, pool.asked.shape)

policies.POLICIES["first"] = policies.Policy(lambda inputs: [first_items])
sys.argv[0] = "imarena"
main()
"""


def with_first(folder: Path, *words: object) -> str:
    """What a command prints where the table has one more policy."""
    command = [sys.executable, "-c", WITH_FIRST, *map(str, words)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=None)
    assert ended.returncode == 0, (ended.stderr, folder)
    return ended.stdout


def test_a_policy_of_the_table_is_offered_everywhere(arena: Path) -> None:
    assert "first" in with_first(arena, "route", "assign", "--help").split("Which pairs")[0]
    words = ("-w", arena, "--json", "route", "assign", "--budget", 4, "--policy", "first", "--gold", 0)
    assert '"policy": "first"' in with_first(arena, *words)
    small = ("--models", 4, "--items", 20, "--seeds", 2, "--rounds", 2, "--budgets", 9)
    assert '"selection": "first"' in with_first(arena, "--json", "simulate", *small, "--policies", "first")


def test_simulations_offer_what_can_be_simulated() -> None:
    selections = {selection for selection, _ in ALL_POLICIES.values()}
    assert selections == {*MOVED, *(name for name, policy in POLICIES.items() if policy.simulated)}


@pytest.mark.parametrize("name", POLICIES)
def test_the_help_lists_every_policy(name: str, imarena: Imarena) -> None:
    assert name in imarena("route", "assign", "--help").out
