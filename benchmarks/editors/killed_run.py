"""Editing at scale against the fake image server: kill -9, resume, what was asked twice, and the cost estimate.

    python -m benchmarks.editors.killed_run --items 1000 --editors 8

Prints, as JSON: requests and seconds of the interrupted and the resumed run, requests for work that was already
stored (must be 0), requests repeated because their results were lost with the process, estimate against spending.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from imarena.core.records import Output, Status
from imarena.storage import open_workspace
from tests.servers.fake_pictures_server import TABLES, add_editors, filled, pictures_server

KINDS = ("openai", "gemini", "chat")


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=1000)
    parser.add_argument("--editors", type=int, default=8)
    parser.add_argument(
        "--kill-at", type=float, default=0.4, help="share of the work after which the process is killed"
    )
    parser.add_argument("--refusals", type=float, default=0.03)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measure(Path(folder), options), indent=2))


def measure(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """One interrupted and one resumed run."""
    root = filled(folder / "w", options.items)
    names = [f"{KINDS[n % len(KINDS)]}-{n}" for n in range(options.editors)]
    tables = {name: {**TABLES[name.split("-")[0]], "model": name} for name in names}
    total = options.items * options.editors
    with pictures_server("--fault", f"refusal={options.refusals}", "--fault", "rate_limited=0.02") as server:
        add_editors(root, server.root, tables)
        command = [sys.executable, "-m", "imarena", "-w", str(root), "--json", "edit", "--concurrency", "32"]
        command += [word for name in names for word in ("-e", name)]
        at_first = _estimated(command)
        started = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and server.counts()["made"] < options.kill_at * total:
            time.sleep(0.1)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        first_s = time.monotonic() - started
        stored = _stored(root)
        first = server.counts()
        estimate = _estimated(command)
        started = time.monotonic()
        ended = subprocess.run(command, capture_output=True, check=False)
        report = json.loads(ended.stdout)["report"]
        after = server.counts()
    return {
        "items": options.items,
        "editors": options.editors,
        "edits": total,
        "killed_after_s": round(first_s, 1),
        "made_before_kill": first["made"],
        "stored_before_kill": stored,
        "resumed_s": round(time.monotonic() - started, 1),
        "edits_per_second": round(sum(report["outputs"].values()) / max(report["seconds"], 1e-9), 1),
        "resumed_outputs": report["outputs"],
        "done_before": report["done_before"],
        "made_by_the_resumed_run": after["made"] - first["made"],
        "asked_again_though_stored": after["made"] - first["made"] - (total - stored) + _refused(report),
        "lost_with_the_process": first["made"] - stored,
        "estimate_before_all_usd": round(at_first, 4),
        "stored_costs_usd": round(_spent(root), 4),
        "estimate_usd": round(estimate, 4),
        "spent_usd": round(report["cost_usd"], 4),
        "estimate_error": round(estimate / report["cost_usd"] - 1, 4),
    }


def _estimated(command: list[str]) -> float:
    planned = json.loads(subprocess.run([*command, "--dry-run"], capture_output=True, check=True).stdout)
    return float(sum(found["cost_usd"] for found in planned["estimates"]))


def _spent(root: Path) -> float:
    with open_workspace(root) as workspace:
        return sum(output.cost_usd or 0.0 for output in workspace.store.records(Output))


def _stored(root: Path) -> int:
    with open_workspace(root) as workspace:
        return sum(workspace.store.count(Output, status=Status.OK.value).values())


def _refused(report: dict[str, Any]) -> int:
    return sum(number for status, number in report["outputs"].items() if status != "ok")


if __name__ == "__main__":
    main()
