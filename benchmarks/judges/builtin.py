"""How well `builtin` agrees with people, and what it costs.

Museum: 179 edits by eight editors from ImagenHub (pixels from the ImagenMuseum) against the mean over three raters of
sqrt(SC * PQ), pooled Spearman. What was tuned by looking at these pictures was tuned on the uids whose SHA-256 is even;
the odd half was looked at once a version. Intervals come from drawing whole items.

Studio: the bundled benchmark with editors of known order; Kendall's tau of their mean scores and of their battles won,
and how many battles end as the true quality has it. `--others`: the items that the demo does not use.

    python -m benchmarks.judges.builtin museum [--data DIR] [--items N: a sample of the items]
    python -m benchmarks.judges.builtin studio [--all | --others]

Executors: the same scores and battles answered by threads and by processes; wall and CPU seconds, and whether the
answers are the same. `--group off` gives each question to any worker, so that workers look at the same pictures.

    python -m benchmarks.judges.builtin executors [--count 200] [--kinds threads processes] [--group off]
"""

import argparse
import ast
import asyncio
import csv
import hashlib
import json
import math
import os
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy.stats import kendalltau, rankdata, spearmanr

from imarena.core.protocols import EditRequest, Exhibit, Verdict
from imarena.core.records import Outcome, Status
from imarena.core.settings import ExecutorKind
from imarena.editors.studio.editors import QUALITY_ORDER, studio_editor
from imarena.engine import WorkerTask
from imarena.judges.builtin.judge import BuiltinJudge
from imarena.language import read_instruction
from imarena.studio import DEMO_KEYS, entries, entry_of, render_picture, true_quality
from imarena.workflows.questions import JudgeQuestion, Questions, RunOptions, ask
from imarena.workflows.questions.verdicts import AskJudge, failed_verdict

EDITORS = (
    "CycleDiffusion", "DiffEdit", "InstructPix2Pix", "MagicBrush",
    "Pix2PixZero", "Prompt2prompt", "SDEdit", "Text2Live",
)  # fmt: skip
Cell = tuple[str, str]
Scores = dict[Cell, float]
WON = {Outcome.LEFT: 1.0, Outcome.RIGHT: 0.0, Outcome.TIE: 0.5, Outcome.BOTH_BAD: 0.5}


@dataclass(frozen=True)
class Battle:
    """One pair that people do not call equal: was it decided as they do, and how sure was the judge?"""

    uid: str
    right: float
    confidence: float


def human_scores(folder: Path) -> Scores:
    """The mean over raters of sqrt(SC * PQ), rounded so that the order of addition breaks no tie."""
    given: dict[Cell, list[float]] = defaultdict(list)
    for file in sorted(folder.glob("*.tsv")):
        with file.open(encoding="utf-8") as lines:
            for row in csv.DictReader(lines, delimiter="\t"):
                for editor in EDITORS:
                    sc, pq = ast.literal_eval(row[editor])
                    given[row["uid"], editor].append(math.sqrt(sc * pq))
    return {cell: round(sum(values) / len(values), 9) for cell, values in given.items()}


def is_tuning(uid: str) -> bool:
    """The half that was looked at."""
    return hashlib.sha256(uid.encode()).digest()[-1] % 2 == 0


def recorded_scores(file: Path) -> Scores:
    """A judge's recorded O = sqrt(min SC * min PQ); outputs that it refused are missing."""
    tables = json.loads(file.read_text(encoding="utf-8"))["ImagenHub_Text-Guided_IE"]
    found: Scores = {}
    for editor in EDITORS:
        sc, pq = tables[editor]["SC"], tables[editor]["PQ"]
        for uid in sc.keys() & pq.keys():
            low = [min(v) if isinstance(v, list) else v for v in (sc[uid], pq[uid])]
            if all(isinstance(v, int | float) for v in low):
                found[uid, editor] = math.sqrt(low[0] * low[1])
    return found


def agreement(scores: Scores, humans: Scores, uids: Sequence[str]) -> float:
    """Spearman pooled over the items and editors; an item may come several times, as in a bootstrap draw."""
    pairs = [(scores[u, e], humans[u, e]) for u in uids for e in EDITORS if (u, e) in scores]
    ours, people = (rankdata(side) for side in zip(*pairs, strict=True))
    return float(np.corrcoef(ours, people)[0, 1])


def agreement_within(scores: Scores, humans: Scores, uids: Sequence[str]) -> float:
    """Spearman within each editor's outputs, the mean over editors: blind to which editor is the better one."""
    found = []
    for editor in EDITORS:
        pairs = [(scores[u, editor], humans[u, editor]) for u in uids if (u, editor) in scores]
        ours, people = (rankdata(side) for side in zip(*pairs, strict=True))
        if np.ptp(ours) > 0 and np.ptp(people) > 0:
            found.append(float(np.corrcoef(ours, people)[0, 1]))
    return sum(found) / len(found)


def interval(statistic: Callable[..., float], *samples: Sequence[str]) -> str:
    """A 95% percentile interval over 1,000 draws of whole items."""
    rng = np.random.default_rng(0)
    draws = [statistic(*(list(rng.choice(s, len(s))) for s in samples)) for _ in range(1000)]
    low, high = np.quantile(draws, [0.025, 0.975])
    return f"{statistic(*samples):+.3f} ({low:+.3f} to {high:+.3f})"


def tell_agreement(ours: Scores, humans: Scores, gemini: Scores, uids: list[str]) -> None:
    """The figures with their intervals: each half, their difference, and builtin minus Gemini."""
    tuned, held = [u for u in uids if is_tuning(u)], [u for u in uids if not is_tuning(u)]
    for name, part in (("tuning half", tuned), ("held-out half", held), ("pooled", uids)):
        print(f"{name:15s} {len(part)} items   Spearman {interval(lambda us: agreement(ours, humans, us), part)}")
        print(f"{'':15s} mean within an editor {interval(lambda us: agreement_within(ours, humans, us), part)}")
        minus = interval(lambda us: agreement(ours, humans, us) - agreement(gemini, humans, us), part)
        print(f"{'':15s} minus Gemini's {minus}")
    apart = interval(lambda a, b: agreement(ours, humans, a) - agreement(ours, humans, b), tuned, held)
    print(f"tuning minus held-out half: {apart}")


def tell_groups(ours: Scores, humans: Scores, kinds: dict[str, str], uids: list[str]) -> None:
    """Where it agrees with people: by editor and by kind of instruction, each half apart."""
    groups = {e: [(u, e) for u in uids] for e in EDITORS}
    for kind in sorted(set(kinds.values())):
        groups[kind] = [(u, e) for u in uids for e in EDITORS if kinds[u] == kind]
    for name, cells in groups.items():
        told = []
        for half in (True, False):
            part = [c for c in cells if is_tuning(c[0]) is half]
            if len(part) < 40:
                told.append(f"{'-':>6s} of {len(part):3d}")
                continue
            rho = spearmanr([ours[c] for c in part], [humans[c] for c in part]).statistic
            told.append(f"{rho:6.3f} of {len(part):3d}")
        print(f"  {name:16s} tuning {told[0]}   held-out {told[1]}")


def tell_coverage(battles: list[Battle]) -> None:
    """Accuracy on the pairs that people do not call equal, on the most confident part of them; ties count half."""
    for name, half in (("tuning half", True), ("held-out half", False)):
        part = sorted((b for b in battles if is_tuning(b.uid) is half), key=lambda b: -b.confidence)
        shares = [(s, part[: max(1, round(len(part) * s))]) for s in (0.1, 0.25, 0.5, 0.75, 1.0)]
        told = ", ".join(f"{share:.0%}: {sum(b.right for b in kept) / len(kept):.3f}" for share, kept in shares)
        print(f"battles of the {name} ({len(part)}) decided as people do, most confident first: {told}")


def battles_of(judge: BuiltinJudge, uid: str, shown: dict[str, Exhibit], humans: Scores) -> list[Battle]:
    """All pairs of the editors' outputs for one item."""
    found = []
    for ours, theirs in combinations(shown, 2):
        if humans[uid, ours] == humans[uid, theirs]:
            continue
        verdict = asyncio.run(judge.judge(replace(shown[ours], right=shown[theirs].left)))
        if verdict.preference is not None:
            won = WON[verdict.preference]
            right = won if humans[uid, ours] > humans[uid, theirs] else 1.0 - won
            found.append(Battle(uid, right, verdict.confidence or 0.0))
    return found


def tell_editors(ours: Scores, humans: Scores, uids: list[str]) -> None:
    """The order of the editors by their means."""
    by_human = {e: sum(humans[u, e] for u in uids) / len(uids) for e in EDITORS}
    by_judge = {e: sum(ours[u, e] for u in uids) / len(uids) for e in EDITORS}
    tau = kendalltau([by_human[e] for e in EDITORS], [by_judge[e] for e in EDITORS]).statistic
    print(f"order of the eight editors: Kendall tau {tau:.3f}")
    for editor in sorted(EDITORS, key=lambda e: -by_human[e]):
        print(f"  {editor:16s} people {by_human[editor]:.3f}   builtin {by_judge[editor]:4.0f}")


def museum(data: Path, items: int | None) -> None:
    folder = data / "imagenmuseum" / "Text-Guided_IE"
    humans = human_scores(data / "imagenhub" / "human_ratings" / "Text-Guided_IE")
    gemini = recorded_scores(data / "viescore" / "judge_scores" / "gemini_0shot.json")
    asked = json.loads((folder / "dataset_lookup.json").read_text(encoding="utf-8"))
    names = sorted(asked)
    asked = {names[at]: asked[names[at]] for at in np.random.default_rng(0).permutation(len(names))[:items]}
    judge = BuiltinJudge()
    ours: Scores = {}
    battles: list[Battle] = []
    spent = 0.0
    for uid, entry in asked.items():
        source = (folder / "input" / uid).read_bytes()
        shown = {e: Exhibit(entry["instruction"], (folder / e / uid).read_bytes(), sources=(source,)) for e in EDITORS}
        start = time.process_time()
        for editor, exhibit in shown.items():
            verdict = asyncio.run(judge.judge(exhibit))
            if verdict.status is Status.OK and verdict.score is not None:
                ours[uid, editor] = verdict.score
        spent += time.process_time() - start
        battles += battles_of(judge, uid, shown, humans)
    uids = list(asked)
    readings = {uid: read_instruction(entry["instruction"]) for uid, entry in asked.items()}
    print(f"{len(ours)} of {len(asked) * len(EDITORS)} outputs judged")
    tell_agreement(ours, humans, gemini, uids)
    tell_groups(ours, humans, {u: str(r.edits[0].kind) if r.edits else "none" for u, r in readings.items()}, uids)
    tell_coverage(battles)
    tell_editors(ours, humans, uids)
    print(f"{spent / len(ours):.3f} CPU seconds an output, text reading included")


def exhibits_of(key: str) -> dict[str, Exhibit]:
    """The outputs of the editors of known quality for one studio item, each as a judge sees it."""
    entry = entry_of(key)
    sources = () if entry.scene is None else (render_picture(entry.scene),)
    references = tuple(render_picture(scene) for scene in entry.references)
    step = entry.steps[0]
    request = EditRequest(step.instruction, sources=sources, references=references, task=step.task, seed=0)
    shown = {}
    for habit in QUALITY_ORDER:
        made = asyncio.run(studio_editor(habit).edit(request))
        if made.image is not None:
            shown[habit] = Exhibit(step.instruction, made.image, sources=sources, references=references)
    return shown


def studio(keys: tuple[str, ...]) -> None:
    judge = BuiltinJudge()
    totals: dict[str, list[float]] = defaultdict(list)
    wins: dict[str, float] = defaultdict(float)
    right = decided = 0.0
    start, judged = time.process_time(), 0
    for key in keys:
        shown = exhibits_of(key)
        truth = {habit: true_quality(key, exhibit.left).score for habit, exhibit in shown.items()}
        for habit, exhibit in shown.items():
            verdict = asyncio.run(judge.judge(exhibit))
            judged += 1
            if verdict.score is not None:
                totals[habit].append(verdict.score)
        for ours, theirs in combinations(shown, 2):
            verdict = asyncio.run(judge.judge(replace(shown[ours], right=shown[theirs].left)))
            if verdict.preference is None:
                continue
            won = WON[verdict.preference]
            wins[ours] += won
            wins[theirs] += 1.0 - won
            if abs(truth[ours] - truth[theirs]) > 0.02:
                decided += 1
                right += won if truth[ours] > truth[theirs] else 1.0 - won
    means = {habit: sum(values) / len(values) for habit, values in totals.items()}
    ranks = [-QUALITY_ORDER.index(habit) for habit in QUALITY_ORDER]
    spent = (time.process_time() - start) / max(judged, 1)
    print(f"{len(keys)} items, {spent:.2f} CPU seconds an output with editing, battles and truth")
    for habit in QUALITY_ORDER:
        print(f"  {habit:14s} mean {means[habit]:4.0f}   battles won {wins[habit]:.1f}")
    print(f"pointwise: Kendall tau {kendalltau([means[h] for h in QUALITY_ORDER], ranks).statistic:.3f}")
    print(f"pairwise:  Kendall tau {kendalltau([wins[h] for h in QUALITY_ORDER], ranks).statistic:.3f}")
    print(f"battles decided as the truth has it (ties count half): {right / decided:.3f} of {decided:.0f}")


def questions_of(keys: Sequence[str], count: int, *, battles: bool) -> list[tuple[str, JudgeQuestion]]:
    """Scores of single outputs, or all pairs on each item, with the item that they are about."""
    found: list[tuple[str, JudgeQuestion]] = []
    for key in keys:
        shown = list(exhibits_of(key).values())
        if battles:
            shown = [replace(left, right=right.left) for left, right in combinations(shown, 2)]
        found += [(key, JudgeQuestion(exhibit)) for exhibit in shown]
        if len(found) >= count:
            return found[:count]
    return found


def answered(kind: ExecutorKind, work: list[tuple[str, JudgeQuestion]], *, group: bool) -> list[object]:
    """Ask in one place; prints what it took. Answers come in the order of the questions."""
    answers: dict[int, object] = {}

    def on_answer(number: int, verdict: Verdict) -> Verdict:
        answers[number] = (verdict.status, verdict.score, verdict.preference, verdict.raw)
        return verdict

    questions = Questions(
        range(len(work)), lambda number: work[number][1], WorkerTask(AskJudge(BuiltinJudge()), failed_verdict),
        failed_verdict, on_answer, lambda _: None, group=(lambda number: work[number][0]) if group else None,
    )  # fmt: skip
    wall, before = time.monotonic(), os.times()
    asyncio.run(ask(questions, RunOptions(kind, computes=True)))
    after = os.times()
    cpu = [sum(after[part] - before[part] for part in parts) for parts in ((0, 1), (2, 3))]
    print(f"  {kind:10s} {time.monotonic() - wall:6.1f} s wall, {cpu[0] + cpu[1]:6.1f} s CPU ({cpu[1]:.1f} in workers)")
    return [answers[number] for number in sorted(answers)]


def executors(count: int, kinds: Sequence[ExecutorKind], *, group: bool) -> None:
    for name, battles in (("scores", False), ("battles", True)):
        work = questions_of([entry.key for entry in entries()], count, battles=battles)
        print(f"{len(work)} {name}, {os.cpu_count()} cores")
        found = [answered(kind, work, group=group) for kind in kinds]
        print(f"  the same answers: {all(one == found[0] for one in found)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["museum", "studio", "executors"])
    parser.add_argument("--data", type=Path, default=None)
    parser.add_argument("--items", type=int, default=None, help="museum: a random sample of N items")
    parser.add_argument("--all", action="store_true", help="every studio item, not the demo's sample")
    parser.add_argument("--others", action="store_true", help="the studio items outside of the demo's sample")
    parser.add_argument("--count", type=int, default=200, help="questions to each executor")
    parser.add_argument("--kinds", nargs="+", default=["threads", "processes"], help="threads, processes, ray")
    parser.add_argument("--group", choices=["on", "off"], default="on", help="one item to one worker")
    options = parser.parse_args()
    if options.what == "executors":
        executors(options.count, options.kinds, group=options.group == "on")
        return
    if options.what == "studio":
        every = tuple(entry.key for entry in entries())
        others = tuple(key for key in every if key not in DEMO_KEYS)
        studio(every if options.all else others if options.others else DEMO_KEYS)
        return
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    data = options.data or Path(os.environ.get("IMARENA_SHARED_DATA", beside))
    if not data.is_dir():
        raise SystemExit(f"No data at {data}: give --data or set IMARENA_SHARED_DATA.")
    museum(data, options.items)


if __name__ == "__main__":
    main()
