"""An agent that is killed, or stopped at a cost limit, goes on from the steps that it has paid for."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from imarena.core.records import Evidence, Output, Trace
from imarena.storage import open_workspace
from tests.command import Imarena
from tests.servers.fake_pictures_server import TABLES, add_editors, filled, pictures_server

FOREVER = ("-o", "success_score=100000", "-o", "go_back=false")
"""No picture of the fake server reaches that score: every output takes all steps."""


@pytest.mark.slow
@pytest.mark.parametrize(("editor", "in_each"), [("agent:openai", 1), ("agent:best-of-2:openai", 2)])
def test_a_killed_agent_asks_again_only_for_what_was_under_way(
    imarena: Imarena, tmp_path: Path, editor: str, in_each: int
) -> None:
    root = filled(tmp_path / "w", 1, instruction="Make the picture {n} brighter.")
    edits = 8 * in_each
    with pictures_server("--reply-s", "0.3") as server:
        add_editors(root, server.root, {"openai": TABLES["openai"]})
        words = ["-w", str(root), "--json", "edit", "-e", editor, "-o", "steps=8", *FOREVER]
        running = subprocess.Popen(
            [sys.executable, "-m", "imarena", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while running.poll() is None and server.counts()["made"] < 2 * in_each + 1:
            time.sleep(0.02)
        os.kill(running.pid, signal.SIGKILL)
        running.wait()
        time.sleep(0.6)  # replies that were under way
        before = server.counts()["made"]
        with open_workspace(root) as workspace:
            kept = sum(1 for step in workspace.store.records(Evidence, kind="agent_step") if _is_edit(step))
            assert workspace.store.count(Output) == {(): 0}, "it was to be killed before its last step"
        assert before - in_each <= kept <= before  # all but what was under way
        report = imarena(*words).json["report"]
        after = server.counts()["made"]
    assert report["outputs"] == {"ok": 1}
    assert after == before + edits - kept
    assert report["cost_usd"] == pytest.approx(0.04 * (edits - kept))  # this run's own
    with open_workspace(root) as workspace:
        (output,) = workspace.store.records(Output)
        (trace,) = workspace.store.records(Trace)
    assert output.cost_usd == pytest.approx(0.04 * edits)  # the whole price
    assert [step["step"] for step in trace.steps if step["stage"] == "edit"] == list(range(1, 9))
    assert imarena("-w", root, "--json", "verify", "--deep").json["clean"] is True


def _is_edit(step: Evidence) -> bool:
    answer = step.value["answer"] if isinstance(step.value, dict) else None
    return isinstance(answer, dict) and "latency_s" in answer


def test_at_a_cost_limit_nothing_that_was_paid_is_lost(imarena: Imarena, tmp_path: Path) -> None:
    root = filled(tmp_path / "w", 3, instruction="Make the picture {n} brighter.")
    words = ("-w", root, "--json", "edit", "-e", "agent:openai", "-o", "steps=4", *FOREVER, "--concurrency", 2)
    spent: list[float] = []
    with pictures_server() as server:
        add_editors(root, server.root, {"openai": TABLES["openai"]})
        for limit in (0.20, 0.20, 0.20):  # five of the twelve steps each
            planned = imarena(*words, "--dry-run").json["estimates"][0]
            assert planned["cost_usd"] == pytest.approx(12 * 0.04 - sum(spent))  # what is paid for is not to be paid
            assert ("steps that are paid for" in planned["basis"]) == bool(spent)
            done = imarena(*words, "--max-cost-usd", limit, code=None).json["report"]
            spent.append(done["cost_usd"])
            assert done["cost_usd"] <= limit + 1e-9
        made = server.counts()["made"]
    assert made == 12
    assert spent == pytest.approx([0.20, 0.20, 0.08])
    with open_workspace(root) as workspace:
        assert [round(output.cost_usd or 0, 6) for output in workspace.store.records(Output)] == [0.16] * 3
