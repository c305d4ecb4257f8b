"""Metrics of an edit against people: Spearman with the mean human rating, for ImagenMuseum's text-guided edits.

python -m benchmarks.judges.perceptual_metrics [--data DIR] [--items 179] [--values FILE.csv]

Distances are negated, so that a positive figure means: people prefer what lies nearer to its source. The LPIPS values
that VIEScore's authors recorded are shown beside (docs/guide/measuring.md). Items are taken in an order
shuffled with seed 0, so that fewer of them are a sample. Values are appended to the file, and those in it are not
computed again.
"""

import argparse
import csv
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from imarena.images import pixels
from imarena.stats import spearman
from imarena.vision.lpips import perceptual_distance
from imarena.vision.ssim import ssim

Pixels = NDArray[np.uint8]
TASK = "Text-Guided_IE"
CRITERIA = ("consistency", "quality", "overall")
METRICS: dict[str, Callable[[Pixels, Pixels], float]] = {
    "ssim": ssim,
    "st_lpips": lambda source, output: -perceptual_distance(output, source),
}
Key = tuple[str, str]


def human_means(folder: Path) -> dict[Key, NDArray[np.float64]]:
    """By uid and editor: the mean over raters of consistency, quality and the root of their product."""
    ratings: dict[Key, list[list[float]]] = {}
    for path in sorted(folder.glob("*.tsv")):
        with path.open(newline="") as lines:
            for row in csv.DictReader(lines, delimiter="\t"):
                for editor, cell in row.items():
                    if editor != "uid":
                        consistency, quality = json.loads(cell)
                        overall = float(np.sqrt(consistency * quality))
                        ratings.setdefault((row["uid"], editor), []).append([consistency, quality, overall])
    return {key: np.asarray(np.round(np.mean(values, axis=0), 9)) for key, values in ratings.items()}


def stored_values(path: Path) -> dict[Key, dict[str, float]]:
    """Values of earlier runs."""
    if not path.exists():
        return {}
    with path.open(newline="") as lines:
        rows = list(csv.reader(lines))
    return {(uid, editor): dict(zip(METRICS, map(float, values), strict=True)) for uid, editor, *values in rows}


def measured(museum: Path, uids: list[str], editors: list[str]) -> Iterator[tuple[Key, dict[str, float]]]:
    """Every metric of every editor's output for the items."""
    for uid in uids:
        source = pixels((museum / "input" / uid).read_bytes())
        for editor in editors:
            output = pixels((museum / editor / uid).read_bytes())
            yield (uid, editor), {name: metric(source, output) for name, metric in METRICS.items()}


def interval(values: NDArray[np.float64], rated: NDArray[np.float64], editors: int) -> str:
    """Spearman, with a 95% percentile interval over 1,000 draws of whole items, whose outputs follow each other."""
    rng = np.random.default_rng(0)
    rows = np.arange(len(values)).reshape(-1, editors)
    draws = [
        spearman(values[drawn], rated[drawn]).value
        for drawn in (rows[rng.integers(len(rows), size=len(rows))].ravel() for _ in range(1000))
    ]
    low, high = np.quantile([draw for draw in draws if draw is not None], [0.025, 0.975])
    return f"{spearman(values, rated).value:.3f} ({low:.3f} to {high:.3f})"


def main() -> None:
    """Measure what is not stored, and print the correlations."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("IMARENA_SHARED_DATA", "../shared/data")))
    parser.add_argument("--items", type=int, default=179)
    parser.add_argument("--values", type=Path, default=Path("perceptual_metrics.csv"))
    chosen = parser.parse_args()
    museum = chosen.data / "imagenmuseum" / TASK
    humans = human_means(chosen.data / "imagenhub" / "human_ratings" / TASK)
    editors = sorted(path.name for path in museum.iterdir() if path.is_dir() and path.name != "input")
    uids = sorted(path.name for path in (museum / "input").iterdir())
    uids = [uids[index] for index in np.random.default_rng(0).permutation(len(uids))][: chosen.items]
    stored = stored_values(chosen.values)
    missing = [uid for uid in uids if any((uid, editor) not in stored for editor in editors)]
    with chosen.values.open("a", newline="") as lines:
        for key, values in measured(museum, missing, editors):
            stored[key] = values
            csv.writer(lines).writerow([*key, *values.values()])
            lines.flush()
    keys = [(uid, editor) for uid in uids for editor in editors if (uid, editor) in humans]
    rated = np.array([humans[key] for key in keys])
    print(f"{len(uids)} items, {len(editors)} editors, {len(keys)} outputs")
    columns = {name: [stored[key][name] for key in keys] for name in METRICS}
    recorded = json.loads((chosen.data / "viescore" / "autometrics.json").read_text(encoding="utf-8"))
    columns["lpips (recorded)"] = [-recorded[f"ImagenHub_{TASK}/{editor}.json"][uid]["LPIPS"] for uid, editor in keys]
    for name, column in columns.items():
        figures = [
            f"{criterion} {interval(np.array(column), rated[:, at], len(editors))}"
            for at, criterion in enumerate(CRITERIA)
        ]
        print(f"{name:18}", "  ".join(figures))


if __name__ == "__main__":
    main()
