"""Active Elo on real votes: the policies of CV-Arena table 2 and ours, at equal human budget, for four recorded judges.

    python -m benchmarks.active_elo.recorded_votes --tables docs/design/active-elo-tables.md   # every table of the note
    python -m benchmarks.active_elo.recorded_votes [--seeds 200] [--judges gpt4o,llava] [--seed 0] [--half 1]
        [--task IG] [--brief]

Text-guided editing of ImagenHub (eight editors, 179 items, three raters) with the recorded scores of VIEScore; with
`--task IG` its text-to-image part (four models, 197 items). Half of the items are held out in every seed, one rater
gives a vote, ties cost a vote and count half. The data are looked for in IMARENA_SHARED_DATA, or in ../shared/data.
"""

import argparse
import ast
import csv
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from imarena.workflows.active_elo.simulation.compare import (
    EXTRA_POLICIES,
    POLICIES,
    SENSITIVITY,
    SimulationPlan,
    simulate,
)
from imarena.workflows.active_elo.simulation.worlds import World, simulated_world, world_of

JUDGES = {"gpt4o": "GPT-4o", "gemini": "Gemini", "gpt4v": "GPT-4v", "llava": "LLaVA"}
TASKS = {"IE": ("ImagenHub_Text-Guided_IE", "Text-Guided_IE"), "IG": ("ImagenHub_Text-Guided_IG", "Text-To-Image")}
BUDGETS, FEWER = (50, 100, 200, 400), (25, 50, 100)
BRIEF = ("human-only", "judge-only", "two-gate", "information", "two-gate, corrected", "two-gate, own calibration")
FRESH = 90_000
"""The first seed of the second look: no setting was chosen while looking at it."""


def recorded_world(folder: Path, judge: str, task: str = "IE") -> World:
    """People's O = sqrt(SC * PQ) and a judge's O = sqrt(min SC * min PQ), scaled to 0 .. 1000."""
    name, rated = TASKS[task]
    recorded = json.loads((folder / "viescore" / "judge_scores" / f"{judge}_0shot.json").read_text())[name]
    tables: list[dict[str, dict[str, str]]] = []
    for rater in (1, 2, 3):
        path = folder / "imagenhub" / "human_ratings" / rated / f"{rated}_rater{rater}.tsv"
        with path.open() as file:
            tables.append({row["uid"]: row for row in csv.DictReader(file, delimiter="\t")})
    units = sorted(tables[0])
    models = tuple(sorted(set(recorded) & set(tables[0][units[0]])))
    values = [[[math.sqrt(math.prod(ast.literal_eval(t[u][m]))) for m in models] for u in units] for t in tables]
    scores = [[_score(recorded[m], u) for m in models] for u in units]
    return world_of(models, np.array(scores), np.array(values))


def half_of(world: World, which: int) -> World:
    """One half of the items (1 or 2), split at random once and for all."""
    order = np.random.default_rng(2024).permutation(len(world.scores))
    middle = len(order) // 2
    rows = np.sort(order[:middle] if which == 1 else order[middle:])
    return replace(
        world, scores=world.scores[rows], votes=world.votes[:, rows], truth=world.truth[rows], task=world.task[rows]
    )


def _score(criteria: dict[str, dict[str, Any]], unit: str) -> float:
    semantic, quality = criteria["SC"].get(unit), criteria["PQ"].get(unit)
    if semantic is None or quality is None:
        return math.nan
    low = [float(min(value)) if isinstance(value, list) else float(value) for value in (semantic, quality)]
    return 100.0 * math.sqrt(low[0] * low[1])


def full_table(name: str, document: dict[str, Any]) -> Iterator[str]:
    """A line for each policy, a column for each budget."""
    settings, budgets = document["settings"], document["settings"]["budgets"]
    bands = ", ".join(
        f"{row['agreement']:.3f} of {row['n']}" for row in document["agreement_by_gap"] if row["agreement"] is not None
    )
    yield f"**{name}** (tau {settings['tau']:.0f}, Delta {settings['delta']:.0f}, deferral {settings['deferral']:.1%};"
    yield f"the order of all votes gives {document['true_order_accuracy']:.4f})."
    yield f"Agreement by gap, edges 50, 100, 200, 400: {bands}."
    yield ""
    middle = budgets[-2]
    yield f"| Acc_H | {' | '.join(f'{n} votes' for n in budgets)} | 95% at {middle} | Spearman, RankStd at {middle} |"
    yield "|---" * (len(budgets) + 3) + "|"
    lines: dict[str, dict[int, Any]] = {}
    for line in document["policies"]:
        lines.setdefault(line["policy"], {})[line["budget"]] = line
    for policy, by in lines.items():
        at = by[middle]
        cells = [policy, *(f"{by[n]['accuracy']['mean']:.4f}" for n in budgets)]
        cells += [f"{at['accuracy']['low']:.4f} to {at['accuracy']['high']:.4f}"]
        cells += [f"{at['spearman']['mean']:.3f}, {at['rank_std']['mean']:.2f}"]
        yield "| " + " | ".join(cells) + " |"
    yield ""


GOAL_HEAD = (
    "| judge | votes | people alone | judge alone | ours | ours less the better | 2 x votes, two-gate | "
    "2 x votes, two-gate, own calibration | 2 x votes, two-gate, corrected |"
)
RULES = {
    "two-gate": "its mixture",
    "two-gate, own calibration": "its mixture, calibrated on its own votes only",
    "two-gate, corrected": "our board",
}


def goal_rows(name: str, document: dict[str, Any]) -> Iterator[tuple[str, list[bool], dict[str, str]]]:
    """A line for each budget; does it hold (within .01, above both); and are half of each rule's votes enough?"""
    found = {(line["policy"], line["budget"]): line["accuracy"] for line in document["policies"]}
    for budget in document["settings"]["budgets"]:
        people, judge, ours = (found[policy, budget]["mean"] for policy in ("human-only", "judge-only", "information"))
        off = ours - max(people, judge)
        cells = [name, str(budget), f"{people:.4f}", f"{judge:.4f}", f"{ours:.4f}", f"{off:+.4f}"]
        told: dict[str, str] = {}
        for rule in RULES:
            theirs = found.get((rule, 2 * budget))
            if theirs is not None:
                told[rule] = _enough(found["information", budget], theirs)
            cells.append("" if theirs is None else f"{theirs['mean']:.4f}, {told[rule]}")
        yield "| " + " | ".join(cells) + " |", [off >= -0.01, off > 0], told


def _enough(ours: dict[str, float], theirs: dict[str, float]) -> str:
    """Reached, or not; "within chance" where 95% intervals over seeds cannot tell that it was not."""
    short = theirs["mean"] - ours["mean"]
    if short <= 0:
        return "reached"
    return (
        "within chance" if short < math.hypot(ours["high"] - ours["mean"], theirs["high"] - theirs["mean"]) else "not"
    )


def goal_table(documents: dict[str, dict[str, Any]]) -> Iterator[str]:
    """The issue's goals for several judges, and their sum in a sentence."""
    yield GOAL_HEAD
    yield "|---" * 9 + "|"
    held: list[list[bool]] = []
    halves: list[dict[str, str]] = []
    for name, document in documents.items():
        for line, holds, told in goal_rows(name, document):
            yield line
            held.append(holds)
            halves += [told] if told else []
    yield ""
    yield (
        f"Within .01 of the better one in {sum(h[0] for h in held)} of {len(held)}, above both in "
        f"{sum(h[1] for h in held)}. Half of the two-gate rule's votes, of {len(halves)}:"
    )
    for rule, words in RULES.items():
        counts = [sum(told[rule] == verdict for told in halves) for verdict in ("reached", "within chance", "not")]
        yield f"{words}: {counts[0]} reached, {counts[1]} within chance, {counts[2]} not;"
    yield ""


def measured(world: World, plan: SimulationPlan, name: str) -> dict[str, Any]:
    """Simulate, and say on the screen how long it took."""
    start = time.process_time()
    document = asdict(simulate(world, plan))
    print(f"{name}: {time.process_time() - start:.0f} s of CPU", flush=True)
    return document


def tables(folder: Path, seeds: int) -> Iterator[str]:
    """Every table of the design note, part by part."""
    yield "# Active Elo: the tables"
    yield ""
    command = "python -m benchmarks.active_elo.recorded_votes --tables docs/design/active-elo-tables.md"
    yield f"Made by `{command}`; do not edit."
    yield "[active-elo.md](active-elo.md) explains them."
    yield ""
    worlds = {name: recorded_world(folder, key) for key, name in JUDGES.items()}
    full = (*POLICIES, *EXTRA_POLICIES)
    whole = {n: measured(w, SimulationPlan(BUDGETS, seeds, full), n) for n, w in worlds.items()}
    yield f"## Text-guided editing, {seeds} seeds\n"
    for name, document in whole.items():
        yield from full_table(name, document)
    yield from goal_table(whole)
    others = {n: measured(w, SimulationPlan(BUDGETS, 2 * seeds, BRIEF, 2, seed=FRESH), n) for n, w in worlds.items()}
    yield f"## Other splits, raters and draws ({2 * seeds} seeds from {FRESH})\n"
    yield from goal_table(others)
    for half in (1, 2):
        part = {
            n: measured(half_of(w, half), SimulationPlan(FEWER, seeds, BRIEF, 2, seed=FRESH), n)
            for n, w in worlds.items()
        }
        yield f"## Half {half} of the items\n"
        yield from goal_table(part)
    images = {name: recorded_world(folder, key, "IG") for key, name in JUDGES.items()}
    yield "## Another task: text to image (four models, 197 items)\n"
    yield from goal_table(
        {n: measured(w, SimulationPlan(FEWER, 2 * seeds, BRIEF, 2, seed=FRESH), n) for n, w in images.items()}
    )
    yield "## Thresholds moved by 50 (table 9), 90 votes\n"
    yield from threshold_table(worlds, seeds // 2)
    yield "## Simulated judges, 21 models\n"
    for bias in (0.0, 0.3, 0.6):
        name = f"bias {bias:g}"
        found = measured(simulated_world(bias=bias, n_items=200, seed=1), SimulationPlan(seeds=40), name)
        yield from full_table(name, found)
    yield _printed("bound", "--data", str(folder.absolute()), "--seeds", str(seeds))
    yield _printed("simulated_votes")
    yield _printed("plans")


def _printed(module: str, *arguments: str) -> str:
    """The tables of another module of this package."""
    words = [sys.executable, "-m", f"benchmarks.active_elo.{module}", *arguments]
    root = Path(__file__).resolve().parents[2]
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True, cwd=root).stdout


def threshold_table(worlds: dict[str, World], seeds: int) -> Iterator[str]:
    """Acc_H with loose and tight gates, where both can be moved by that much."""
    yield "| Acc_H with its 95% interval | as they are | loose | tight |"
    yield "|---|---|---|---|"
    for name in ("GPT-4o", "LLaVA"):
        document = measured(worlds[name], SimulationPlan((90,), seeds, tuple(SENSITIVITY), 2), f"{name}, thresholds")
        found = [line["accuracy"] for line in document["policies"]]
        gates = f"{name} (tau {document['settings']['tau']:.0f}, Delta {document['settings']['delta']:.0f})"
        yield f"| {gates} | " + " | ".join(f"{a['mean']:.4f} ({a['low']:.4f} to {a['high']:.4f})" for a in found) + " |"
    yield ""


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=20)
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("IMARENA_SHARED_DATA", beside)))
    parser.add_argument("--tables", type=Path, help="write every table of the design note here")
    parser.add_argument("--judges", default=",".join(JUDGES))
    parser.add_argument("--task", choices=tuple(TASKS), default="IE")
    parser.add_argument("--brief", action="store_true", help="only the goals")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--budgets", default=",".join(map(str, BUDGETS)))
    parser.add_argument("--half", type=int, choices=(1, 2))
    given = parser.parse_args()
    if given.tables:
        given.tables.write_text("\n".join(tables(given.data, given.seeds)).rstrip() + "\n", encoding="utf-8")
        return
    budgets = tuple(int(number) for number in given.budgets.split(","))
    names = BRIEF if given.brief else (*POLICIES, *EXTRA_POLICIES)
    documents: dict[str, Any] = {}
    for judge in given.judges.split(","):
        world = recorded_world(given.data, judge, given.task)
        world = world if given.half is None else half_of(world, given.half)
        name = JUDGES[judge]
        documents[name] = measured(
            world, SimulationPlan(budgets, given.seeds, names, given.rounds, seed=given.seed), name
        )
        if not given.brief:
            print("\n".join(full_table(name, documents[name])))
    print("\n".join(goal_table(documents)))


if __name__ == "__main__":
    main()
