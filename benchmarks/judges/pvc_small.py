"""How well `pvc-small` tells damage, how far it agrees with people, and what it costs.

    python -m benchmarks.judges.pvc_small synthetic TEST.npz [--pairs 8] [--kinds blur shift] [--levels 6 8 10]
    python -m benchmarks.judges.pvc_small museum [--data DIR] [--values FILE.csv] [--scores FILE.csv]
    python -m benchmarks.judges.pvc_small speed

Synthetic: pairs of two different edits of one picture, of which one is damaged outside of the edit (damage.yaml);
TEST.npz holds pictures that training never saw (tools/pvc_small/pack.py). Accuracy by kind and level; the kinds that
training never saw apart. SSIM and the mean difference of the whole image stand beside: they do not know the edit.

Museum: ImagenHub's text-guided edits by eight editors; every pair of outputs whose mean human rating differs. Accuracy
beside SSIM, LPIPS (as VIEScore's authors recorded it), shift-tolerant LPIPS and `builtin`, and the difference to each
with a 95% interval from drawing whole items, paired; then the Spearman correlation of each with the overall rating,
pooled and within an editor. `--values` keeps the metrics (as perceptual_metrics.py does) and
`--scores` the scores of the two judges, so that a second run computes nothing again. `--items`: a sample of the items.

Speed: milliseconds of CPU time for a pair at 512 x 512 pixels, one thread, pictures decoded.
"""

import argparse
import asyncio
import csv
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.judges.builtin import EDITORS, agreement, agreement_within, human_scores, interval
from benchmarks.judges.perceptual_metrics import human_means, measured, stored_values
from imarena.core.protocols import Exhibit
from imarena.images import pixels
from imarena.judges.builtin.judge import BuiltinJudge
from imarena.judges.pvc_small import measure_edit_damage
from imarena.vision.ssim import ssim
from tools.pvc_small.synthesis import Dice, Synthesis, load_stock

Cell = tuple[str, str]
RATINGS = ("consistency", "quality", "overall")


def _bytes(images: NDArray[np.float32]) -> NDArray[np.uint8]:
    return np.asarray(np.round(np.clip(images, 0, 1) * 255), np.uint8)


def synthetic(file: Path, pairs: int, kinds: Sequence[str], levels: Sequence[int], seed: int) -> None:
    stock = load_stock(file)
    upper: dict[bool, list[NDArray[np.float64]]] = {False: [], True: []}
    names = ("pvc-small", "SSIM", "colour")
    for held_out in (False, True):
        for kind in stock.kind_names(held_out=held_out):
            if kinds and kind not in kinds:
                continue
            synthesis = Synthesis(stock, Dice(seed + sorted(stock.kinds).index(kind)))
            told = []
            for level in levels:
                right = np.array([_decided(synthesis, kind, level) for _ in range(pairs)])
                told.append(f"{level}: {right[:, 0].mean():.3f}")
                if level >= 6:
                    upper[held_out].append(right)
            print(f"{'held out' if held_out else 'trained':8s} {kind:16s} {'  '.join(told)}", flush=True)
    for held_out, found in upper.items():
        if found:
            rows = np.concatenate(found)
            shares = ", ".join(f"{name} {value:.4f}" for name, value in zip(names, rows.mean(axis=0), strict=True))
            print(f"{'held-out' if held_out else 'trained'} kinds, upper half, {len(rows)} pairs: {shares}")


def _decided(synthesis: Synthesis, kind: str, level: float) -> list[float]:
    """1 where the undamaged edit was preferred, by each of the measures; 0.5 for a tie."""
    sides = synthesis.test_pair(kind, float(level), 1)
    source = _bytes(sides[0].source[0])
    outputs = [_bytes(side.output[0]) for side in sides]
    harm = [measure_edit_damage(source, output).score for output in outputs]
    unlike = [-ssim(source, output) for output in outputs]
    apart = [float(np.abs(output.astype(int) - source).mean()) for output in outputs]
    return [0.5 if a == b else float(a < b) for a, b in (harm, unlike, apart)]


def judge_scores(folder: Path, uids: Sequence[str], kept: Path | None) -> dict[Cell, dict[str, float]]:
    """Damage (negated) and `builtin`'s score of every output."""
    found: dict[Cell, dict[str, float]] = {}
    if kept is not None and kept.exists():
        with kept.open(newline="") as lines:
            rows = list(csv.reader(lines))
        found = {(uid, editor): {"pvc-small": float(a), "builtin": float(b)} for uid, editor, a, b in rows}
    builtin = BuiltinJudge()
    asked = json.loads((folder / "dataset_lookup.json").read_text(encoding="utf-8"))
    for uid, entry in ((uid, asked[uid]) for uid in uids):
        for editor in EDITORS:
            if (uid, editor) in found:
                continue
            source, output = ((folder / part / uid).read_bytes() for part in ("input", editor))
            damage = measure_edit_damage(pixels(source), pixels(output)).score
            verdict = asyncio.run(builtin.judge(Exhibit(entry["instruction"], output, sources=(source,))))
            found[uid, editor] = {"pvc-small": -damage, "builtin": verdict.score or 0.0}
            if kept is not None:
                with kept.open("a", newline="") as lines:
                    csv.writer(lines).writerow([uid, editor, *found[uid, editor].values()])
    return found


def _metric_values(folder: Path, uids: Sequence[str], file: Path | None) -> dict[Cell, dict[str, float]]:
    values = stored_values(file) if file is not None else {}
    missing = [uid for uid in uids if any((uid, editor) not in values for editor in EDITORS)]
    for key, row in measured(folder, missing, list(EDITORS)):
        values[key] = row
        if file is not None and key not in stored_values(file):
            with file.open("a", newline="") as lines:
                csv.writer(lines).writerow([*key, *row.values()])
    return values


def _pairs(uids: Sequence[str], people: dict[Cell, float]) -> Iterator[tuple[str, Cell, Cell]]:
    """Pairs of outputs that people do not rate the same, the better one first."""
    for uid in uids:
        for ours, theirs in combinations(EDITORS, 2):
            left, right = (uid, ours), (uid, theirs)
            if people[left] != people[right]:
                yield (uid, left, right) if people[left] > people[right] else (uid, right, left)


def museum(data: Path, items: int, values: Path | None, scores: Path | None) -> None:
    folder = data / "imagenmuseum" / "Text-Guided_IE"
    ratings = human_means(data / "imagenhub" / "human_ratings" / "Text-Guided_IE")
    recorded = json.loads((data / "viescore" / "autometrics.json").read_text(encoding="utf-8"))
    uids = sorted(path.name for path in (folder / "input").iterdir())
    uids = [uids[index] for index in np.random.default_rng(0).permutation(len(uids))][:items]
    judged, metrics = judge_scores(folder, uids, scores), _metric_values(folder, uids, values)
    measures: dict[str, Callable[[Cell], float]] = {
        "pvc-small": lambda c: judged[c]["pvc-small"],
        "SSIM": lambda c: metrics[c]["ssim"],
        "LPIPS": lambda c: -recorded[f"ImagenHub_Text-Guided_IE/{c[1]}.json"][c[0]]["LPIPS"],
        "st-LPIPS": lambda c: metrics[c]["st_lpips"],
        "builtin": lambda c: judged[c]["builtin"],
    }
    for number, rating in enumerate(RATINGS):
        people = {cell: float(mean[number]) for cell, mean in ratings.items()}
        pairs = list(_pairs(uids, people))
        item = np.array([uids.index(uid) for uid, _, _ in pairs])
        print(f"{rating}: {len(pairs)} pairs of {len(uids)} items that people do not rate the same")
        right = {}
        for name, value in measures.items():
            apart = np.array([value(better) - value(worse) for _, better, worse in pairs])
            right[name] = np.where(apart == 0, 0.5, (apart > 0).astype(float))
        for name, ours in right.items():
            print(f"  {name:10s} {_interval(ours, item, len(uids))}", end="")
            minus = _interval(right["pvc-small"] - ours, item, len(uids))
            print("" if name == "pvc-small" else f"   pvc-small minus it {minus}")
    humans = human_scores(data / "imagenhub" / "human_ratings" / "Text-Guided_IE")
    print("Spearman with the overall rating, pooled; mean within an editor")
    for name, value in measures.items():
        given = {cell: value(cell) for cell in judged if cell[0] in uids}
        pooled = interval(partial(agreement, given, humans), uids)
        print(f"  {name:10s} {pooled}   {interval(partial(agreement_within, given, humans), uids)}")


def _interval(values: NDArray[np.float64], item: NDArray[np.int_], items: int) -> str:
    """The mean with a 95% percentile interval over 2,000 draws of whole items."""
    sums = np.bincount(item, values, items)
    counts = np.bincount(item, minlength=items)
    draws = np.random.default_rng(0).integers(0, items, (2000, items))
    low, high = np.quantile(sums[draws].sum(axis=1) / counts[draws].sum(axis=1), [0.025, 0.975])
    return f"{values.mean():+.3f} ({low:+.3f} to {high:+.3f})"


def speed() -> None:
    rng = np.random.default_rng(0)
    source, left, right = (rng.integers(0, 255, (512, 512, 3)).astype(np.uint8) for _ in range(3))
    taken = []
    for _ in range(30):
        start = time.process_time()
        measure_edit_damage(source, left)
        measure_edit_damage(source, right)
        taken.append(1e3 * (time.process_time() - start))
    print(f"{np.median(taken[3:]):.1f} ms of CPU time for a pair (smallest {min(taken):.1f}), one thread")


def main() -> None:
    """Read the options and run one of the three."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["synthetic", "museum", "speed"])
    parser.add_argument("file", type=Path, nargs="?", help="the packed file of test pictures")
    parser.add_argument("--pairs", type=int, default=8, help="for each kind and level")
    parser.add_argument("--kinds", nargs="*", default=[])
    parser.add_argument("--levels", nargs="*", type=int, default=list(range(1, 11)))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--items", type=int, default=179)
    parser.add_argument("--values", type=Path)
    parser.add_argument("--scores", type=Path)
    options = parser.parse_args()
    if options.what == "speed":
        speed()
    elif options.what == "synthetic":
        if options.file is None:
            raise SystemExit("Give the packed file of test pictures: tools/pvc_small/pack.py makes it.")
        synthetic(options.file, options.pairs, options.kinds, options.levels, options.seed)
    else:
        beside = Path(__file__).resolve().parents[3] / "shared" / "data"
        data = options.data or Path(os.environ.get("IMARENA_SHARED_DATA", beside))
        if not data.is_dir():
            raise SystemExit(f"No data at {data}: give --data or set IMARENA_SHARED_DATA.")
        museum(data, options.items, options.values, options.scores)


if __name__ == "__main__":
    main()
