"""Table 11 of CV-Arena on the bundled benchmark: an editor alone, with each stage of CV-Agent, and best of N.

    python benchmarks/agent_ablation.py --editor studio-timid --seeds 5

The judge that drives the loop is `builtin`; the truth that ranks is the studio's own, which no judge sees.
Intervals are 95 % percentile bootstraps over items and seeds together (items are drawn, then seeds within them).
"""

import argparse
import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from imarena.agent import STAGES, Agent, AgentSettings, BestOf
from imarena.core.protocols import Editor, EditRequest
from imarena.core.records import Mode, Status
from imarena.editors.studio import studio_editor
from imarena.judges.catalog import JUDGES
from imarena.studio import DEMO_KEYS, Entry, entries, entry_of, picture, true_quality

DRAWS = 2000


def main() -> None:
    """Run it and print JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--editor", default="timid", help="a studio editor's habit")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--success-score", type=float, default=950.0)
    parser.add_argument("--all-items", action="store_true", help="the whole benchmark, not the demo's sample")
    options = parser.parse_args()
    habit = options.editor.removeprefix("studio-")
    chosen = [entry.key for entry in entries()] if options.all_items else list(DEMO_KEYS)
    keys = [key for key in chosen if entry_of(key).scene is not None and key != "photo-mountains"]
    started = time.monotonic()
    contenders = configurations(habit, options.steps, options.success_score)
    scores = {
        name: np.array([[quality(editor, key, seed) for seed in range(options.seeds)] for key in keys])
        for name, editor in contenders.items()
    }
    document = {
        "editor": habit, "driven_by": "builtin", "ranked_by": "the studio's truth", "items": len(keys),
        "seeds": options.seeds, "steps": options.steps, "success_score": options.success_score,
        "seconds": round(time.monotonic() - started), "settings": table(scores),
    }  # fmt: skip
    print(json.dumps(document, indent=2))


def configurations(habit: str, steps: int, success_score: float) -> dict[str, Editor]:
    """The four settings of table 11, and the baseline with as many edits."""
    judge = JUDGES.get("builtin")({}, None)
    names = {"none": "editor only", "understand": "+ stage 1", "plan": "+ stages 1, 2", "full": "full agent"}
    made: dict[str, Editor] = {
        names[stages]: Agent(
            stages,
            studio_editor(habit),
            judge,
            settings=AgentSettings(stages=stages, steps=steps, success_score=success_score),
        )
        for stages in STAGES
    }
    made[f"best of {steps}"] = BestOf("best", studio_editor(habit), judge, steps)
    return made


def quality(editor: Editor, key: str, seed: int) -> float:
    """True quality of one edit; a failure is no picture and counts as the source returned."""
    entry = entry_of(key)
    request = request_for(entry)
    result = asyncio.run(editor.edit(replace(request, seed=seed)))
    many = len(entry.steps) > 1
    shown = result.image if result.status is Status.OK and result.image is not None else request.sources[0]
    return true_quality(key, shown, complex_mode=many).score


def request_for(entry: Entry) -> EditRequest:
    """All turns of an entry in one instruction."""
    words = ". ".join(step.instruction.strip().rstrip(".") for step in entry.steps) + "."
    sources = () if entry.scene is None else (picture(entry.scene),)
    references = tuple(picture(scene) for scene in entry.references)
    return EditRequest(words, sources, references, mode=Mode.COMPLEX if len(entry.steps) > 1 else Mode.SINGLE)


def table(scores: dict[str, npt.NDArray[np.float64]]) -> list[dict[str, object]]:
    """Mean quality with its interval, and the gain over the editor alone with its own."""
    base = scores["editor only"]
    rows: list[dict[str, object]] = []
    for name, found in scores.items():
        gain = found - base
        better, worse = int((gain > 0.005).sum()), int((gain < -0.005).sum())
        rows.append(
            {
                "setting": name,
                "quality": round(float(found.mean()), 4),
                "interval": interval(found),
                "gain": round(float(gain.mean()), 4),
                "gain_interval": interval(gain),
                "better_worse_same": [better, worse, gain.size - better - worse],
            }
        )
    return rows


def interval(values: npt.NDArray[np.float64], draws: int = DRAWS) -> Sequence[float]:
    """95 % percentile interval of the mean; rows (items) are drawn, then columns (seeds) within each."""
    rng = np.random.default_rng(0)
    rows, columns = values.shape
    items = rng.integers(rows, size=(draws, rows))
    seeds = rng.integers(columns, size=(draws, rows, columns))
    means = np.take_along_axis(values[items], seeds, axis=2).mean(axis=(1, 2))
    low, high = np.percentile(means, [2.5, 97.5])
    return [round(float(low), 4), round(float(high), 4)]


if __name__ == "__main__":
    main()
