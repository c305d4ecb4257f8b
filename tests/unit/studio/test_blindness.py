"""Judges, detectors and all that ranks see pixels only: none of them can reach the rendered world or its oracle."""

from pathlib import Path

import grimp
import pytest

import imarena

BLIND = ("judges", "vision", "language", "images", "stats", "ranking", "routing", "preferences", "clients", "agent")


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("imarena", cache_dir=None)


@pytest.mark.parametrize("room", BLIND)
def test_no_chain_of_imports_leads_to_the_studio(graph: grimp.ImportGraph, room: str) -> None:
    if not (Path(imarena.__file__).parent / room).is_dir():
        pytest.skip(f"there is no room called {room}")
    name = f"imarena.{room}"
    assert name in graph.modules
    chains = graph.find_shortest_chains(importer=name, imported="imarena.studio")
    assert not chains, sorted(chains)


def test_the_check_can_fail(graph: grimp.ImportGraph) -> None:
    assert graph.find_shortest_chains(importer="imarena.datasets", imported="imarena.studio")


def test_only_reports_and_the_demo_ask_the_oracle(graph: grimp.ImportGraph) -> None:
    asking = graph.find_modules_that_directly_import("imarena.studio.oracle")
    assert {name.split(".")[1] for name in asking} <= {"studio", "reports", "workflows"}, asking
