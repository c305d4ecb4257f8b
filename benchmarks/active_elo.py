"""Active Elo on real votes: the policies of CV-Arena table 2 and ours, at equal human budget, for four recorded judges.

    python benchmarks/active_elo.py [--seeds 200] [--rounds 20] [--data ../shared/data] [--out figures.json]
    python benchmarks/active_elo.py --seed 5000 --judges gpt4o          # other splits, other raters, other draws
    python benchmarks/active_elo.py --half 1 --budgets 25,50,100        # only one half of the items, chosen at random

Text-guided editing of ImagenHub (eight editors, 179 items, three raters) with the recorded scores of VIEScore. Half of
the items are held out in every seed, one rater gives a vote, ties cost a vote and count half. Then the same on
simulated judges and raters with the agreement of CV-Arena table 5 and 21 models.
"""

import argparse
import ast
import csv
import json
import math
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from imarena.workflows.simulating import EXTRA_POLICIES, POLICIES, SENSITIVITY, Plan, simulate
from imarena.workflows.simulating_worlds import World, simulated_world, world_of

JUDGES = {"gpt4o": "gpt4o_0shot", "gemini": "gemini_0shot", "gpt4v": "gpt4v_0shot", "llava": "llava_0shot"}
TASK = "ImagenHub_Text-Guided_IE"
STATED_BIAS = 0.3


def editing_world(folder: Path, judge: str) -> World:
    """People's O = sqrt(SC * PQ) and a judge's O = sqrt(min SC * min PQ), scaled to 0 .. 1000."""
    recorded = json.loads((folder / "viescore" / "judge_scores" / f"{JUDGES[judge]}.json").read_text())[TASK]
    models = tuple(sorted(recorded))
    tables: list[dict[str, dict[str, str]]] = []
    for rater in (1, 2, 3):
        path = folder / "imagenhub" / "human_ratings" / "Text-Guided_IE" / f"Text-Guided_IE_rater{rater}.tsv"
        with path.open() as file:
            tables.append({row["uid"]: row for row in csv.DictReader(file, delimiter="\t")})
    units = sorted(tables[0])
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


def goals(document: dict[str, Any]) -> list[str]:
    """What the issue asks of one judge, in sentences that say yes or no."""
    found = {(line["policy"], line["budget"]): line["accuracy"]["mean"] for line in document["policies"]}
    told = []
    for budget in document["settings"]["budgets"]:
        best = max(found["human-only", budget], found["judge-only", budget])
        ours = found["information", budget]
        told.append(
            f"{budget} votes: ours {ours:.4f}, better of the two {best:.4f}: "
            + ("within .01" if ours >= best - 0.01 else "NOT within .01")
            + (", above both" if ours > best else "")
        )
    budgets = document["settings"]["budgets"]
    for half in budgets:
        for rule in ("two-gate", "two-gate, corrected", "two-gate, online"):
            if 2 * half in budgets and (rule, 2 * half) in found:
                ours, theirs = found["information", half], found[rule, 2 * half]
                told.append(f"{half} votes of ours {ours:.4f}, {2 * half} of '{rule}' {theirs:.4f}: "
                            + ("reached" if ours >= theirs else "NOT reached"))  # fmt: skip
    return told


def show(name: str, document: dict[str, Any], seconds: float) -> None:
    """A Markdown table and the goals."""
    settings = document["settings"]
    print(f"\n### {name}: tau {settings['tau']}, delta {settings['delta']}, deferral {settings['deferral']:.3f}, "
          f"true order {document['true_order_accuracy']:.4f}, {seconds:.0f} s")  # fmt: skip
    for row in document["agreement_by_gap"]:
        share = "" if row["agreement"] is None else f"{row['agreement']:.3f}"
        print(f"gap {row['low']:g} to {row['high']}: {share} of {row['n']}")
    print("\n| policy | votes | Acc_H | 95 % | Spearman | RankStd |\n|---|---|---|---|---|---|")
    for line in document["policies"]:
        found = line["accuracy"]
        cells = [line["policy"], line["budget"], f"{found['mean']:.4f}", f"{found['low']:.4f} to {found['high']:.4f}"]
        cells += [f"{line['spearman']['mean']:.3f}", f"{line['rank_std']['mean']:.2f}"]
        print("| " + " | ".join(str(cell) for cell in cells) + " |")
    print("\n".join(goals(document)), flush=True)


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=20)
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("IMARENA_SHARED_DATA", beside)))
    parser.add_argument("--judges", default=",".join(JUDGES))
    parser.add_argument("--simulated-seeds", type=int, default=40)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--budgets", default="50,100,200,400")
    parser.add_argument("--half", type=int, choices=(1, 2))
    given = parser.parse_args()
    names = (*POLICIES, *EXTRA_POLICIES)
    budgets = tuple(int(number) for number in given.budgets.split(","))
    documents: dict[str, Any] = {}
    for judge in [name for name in given.judges.split(",") if name]:
        start = time.process_time()
        plan = Plan(seeds=given.seeds, rounds=given.rounds, policies=names, seed=given.seed, budgets=budgets)
        world = editing_world(given.data, judge)
        documents[judge] = simulate(world if given.half is None else half_of(world, given.half), plan)
        show(judge, documents[judge], time.process_time() - start)
    if given.simulated_seeds:
        for bias in (0.0, STATED_BIAS, 0.6):
            start = time.process_time()
            names = (*POLICIES, *SENSITIVITY) if bias == STATED_BIAS else tuple(POLICIES)
            plan = Plan(seeds=given.simulated_seeds, rounds=given.rounds, policies=tuple(dict.fromkeys(names)))
            name = f"simulated, 21 models, bias {bias:g}"
            documents[name] = simulate(simulated_world(bias=bias, n_items=200, seed=1), plan)
            show(name, documents[name], time.process_time() - start)
    if given.out:
        given.out.write_text(json.dumps(documents, indent=1))


if __name__ == "__main__":
    main()
