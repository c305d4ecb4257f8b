"""Table 11 of CV-Arena on the bundled benchmark: an editor alone, with each stage of CV-Agent, and best of N.

    python -m benchmarks.editors.agent_ablation --editor studio-timid --seeds 3

`--editor one-thing` is `studio-timid` made to do only the first thing that it is asked for, as weak models do with long
instructions. The judge that drives the loop is `builtin`; the truth that ranks is the studio's, which no judge sees.
Best of N makes N edits; it is also given with the agent's own rule for stopping (`best of N, stops`), and cut off after
fewer edits (`best of 2`), so that settings can be compared at equal edits: each row says how many it made on average.
Intervals are 95% percentile bootstraps over items and seeds together (items are drawn, then seeds within them).
"""

import argparse
import asyncio
import contextlib
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from imarena.agent import STAGES, Agent, AgentSettings, BestOf
from imarena.agent.sub_edits import requests_in
from imarena.core.ids import sha256_hex
from imarena.core.protocols import Editor, EditorTraits, EditRequest, EditResult, Exhibit, Judge, JudgeTraits, Verdict
from imarena.core.records import JsonDict, Mode, Status
from imarena.editors.studio.editors import studio_editor
from imarena.judges.catalog import JUDGES
from imarena.studio import DEMO_KEYS, BenchmarkEntry, catalogue, entries, entry_of, render_picture, true_quality
from imarena.studio.entries_edival import TYPES, _chain, edival_entries

DRAWS = 2000
Cell = tuple[float, float]
"""True quality and number of edits."""


@dataclass(frozen=True)
class OneThing:
    """An editor that does the first thing it is asked for and overlooks the rest."""

    editor: Editor
    name: str = "one-thing"
    version: str = "1"
    params: JsonDict = field(default_factory=dict)
    traits: EditorTraits = EditorTraits()

    async def edit(self, request: EditRequest) -> EditResult:
        """Only the first request of the instruction."""
        return await self.editor.edit(replace(request, instruction=requests_in(request.instruction)[0]))


@dataclass
class Remembering:
    """The same order on the same picture with the same seed is carried out once: settings share their first steps."""

    editor: Editor
    made: dict[tuple[str, str, int | None], EditResult] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The editor's own."""
        return self.editor.name

    @property
    def version(self) -> str:
        """The editor's own."""
        return self.editor.version

    @property
    def params(self) -> JsonDict:
        """The editor's own."""
        return self.editor.params

    @property
    def traits(self) -> EditorTraits:
        """None are passed on: every setting is measured with the same ones."""
        return EditorTraits()

    async def edit(self, request: EditRequest) -> EditResult:
        """As the editor does."""
        key = (request.instruction, sha256_hex(b"".join(request.sources)), request.seed)
        if key not in self.made:
            self.made[key] = await self.editor.edit(request)
        return self.made[key]


@dataclass
class RememberingJudge:
    """The same picture is judged once: settings meet the same ones again and again."""

    asked: Judge
    given: dict[tuple[str, str], Verdict] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.name, self.version, self.params = self.asked.name, self.asked.version, self.asked.params
        self.prompt_id, self.prompt_version = self.asked.prompt_id, self.asked.prompt_version
        self.traits = JudgeTraits()

    async def judge(self, exhibit: Exhibit) -> Verdict:
        """As the judge does."""
        key = (exhibit.instruction, sha256_hex(b"|".join((exhibit.left, *exhibit.sources))))
        if key not in self.given:
            self.given[key] = await self.asked.judge(exhibit)
        return self.given[key]


@dataclass
class Bench:
    """What every setting is measured with."""

    editor: Remembering
    judge: RememberingJudge
    steps: int
    success_score: float

    def agents(self) -> dict[str, Agent]:
        """The four settings of table 11, and the loop as the paper has it, with and without going back."""
        names = {"none": "editor only", "understand": "+ stage 1", "plan": "+ stages 1, 2", "full": "full agent"}
        limits = {"steps": self.steps, "success_score": self.success_score}
        made = {
            names[stages]: Agent(
                stages, self.editor, self.judge, settings=AgentSettings.model_validate({"stages": stages, **limits})
            )
            for stages in STAGES
        }
        others = {
            "full, plan in order": {"whole_first": False},
            "full, as the paper": {"whole_first": False, "go_back": False},
        }
        for name, said in others.items():
            settings = AgentSettings.model_validate({"stages": "full", **said, **limits})
            made[name] = Agent(name, self.editor, self.judge, settings=settings)
        return made


def main() -> None:
    """Run it and print JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--editor", default="timid", help="a studio editor's habit, or one-thing")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--success-score", type=float, default=950.0)
    parser.add_argument(
        "--all-items", action="store_true", help="the whole benchmark, not the demo's sample and chains"
    )
    parser.add_argument("--fresh", action="store_true", help="23 chains that nothing was tuned on, in their place")
    options = parser.parse_args()
    if options.fresh:  # before anything asks the catalogue
        vars(catalogue)["edival_entries"] = lambda: (*edival_entries(), *fresh_chains())
    habit = options.editor.removeprefix("studio-")
    editor: Editor = OneThing(studio_editor("timid")) if habit == "one-thing" else studio_editor(habit)
    judge = RememberingJudge(JUDGES.get("builtin")({}, None))
    bench = Bench(Remembering(editor), judge, options.steps, options.success_score)
    keys = [entry.key for entry in fresh_chains()] if options.fresh else item_keys(options.all_items)
    started = time.monotonic()
    cells: dict[str, list[list[Cell]]] = {}
    for key in keys:
        rows = [dict(settings_of(bench, key, seed)) for seed in range(options.seeds)]
        for name in rows[0]:
            cells.setdefault(name, []).append([row[name] for row in rows])
        print(f"{key}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    found = {name: np.array(values) for name, values in cells.items()}
    many = np.array([len(entry_of(key).steps) > 1 for key in keys])
    document = {
        "editor": habit, "driven_by": "builtin", "ranked_by": "the studio's truth", "items": len(keys),
        "complex_items": int(many.sum()), "seeds": options.seeds, "steps": options.steps,
        "success_score": options.success_score, "seconds": round(time.monotonic() - started),
        "settings": table(found), "complex": table({name: values[many] for name, values in found.items()}),
    }  # fmt: skip
    print(json.dumps(document, indent=2))


def fresh_chains(last: int = 60) -> Iterator[BenchmarkEntry]:
    """Chains by the bundled benchmark's writer under numbers that it does not reach, where the scene has room."""
    for number in range(36, last):
        types = tuple(TYPES[(number + 2 * turn + turn * (number // 9)) % 9] for turn in range(3))
        if len(set(types)) == len(types):
            with contextlib.suppress(ValueError):
                yield _chain(number, types)


def item_keys(whole: bool) -> list[str]:
    """Items with a source: the demo's sample and all chains of turns, or everything."""
    chosen = [entry.key for entry in entries() if whole or entry.key in DEMO_KEYS or len(entry.steps) > 1]
    return [key for key in chosen if entry_of(key).scene is not None and key != "photo-mountains"]


def settings_of(bench: Bench, key: str, seed: int) -> Iterator[tuple[str, Cell]]:
    """Every setting on one item with one seed."""
    entry = entry_of(key)
    request = replace(request_for(entry), seed=seed)
    for name, agent in bench.agents().items():
        result = asyncio.run(agent.edit(request))
        edits = sum(1 for step in result.steps if step["stage"] == "edit")
        yield name, (quality(entry, request, result.image if result.status is Status.OK else None), edits)
    yield from best_of(bench, entry, request)
    bench.editor.made.clear()
    bench.judge.given.clear()


def best_of(bench: Bench, entry: BenchmarkEntry, request: EditRequest) -> Iterator[tuple[str, Cell]]:
    """Best of N, of fewer, and of N with the agent's rule for stopping, all from the same N tries."""
    result = asyncio.run(BestOf("best", bench.editor, bench.judge, bench.steps).edit(request))
    tries = [step for step in result.steps if step["stage"] == "edit"]
    given = [step.get("score") for step in tries]
    scores = [float(score) if isinstance(score, float | int) else -1.0 for score in given]
    kept = {sha256_hex(made.image): made.image for made in bench.editor.made.values() if made.image is not None}
    truths = [quality(entry, request, kept.get(str(step.get("image_sha256")))) for step in tries]
    for many in range(2, bench.steps + 1):
        best = max(range(many), key=lambda i: (scores[i], -i))
        yield f"best of {many}", (truths[best], many)
    stop = next((i + 1 for i, score in enumerate(scores) if score >= bench.success_score), bench.steps)
    best = max(range(stop), key=lambda i: (scores[i], -i))
    yield f"best of {bench.steps}, stops", (truths[best], stop)


def quality(entry: BenchmarkEntry, request: EditRequest, image: bytes | None) -> float:
    """True quality of one edit; a failure is no picture and counts as the source returned."""
    shown = image if image is not None else request.sources[0]
    return true_quality(entry.key, shown, complex_mode=len(entry.steps) > 1).score


def request_for(entry: BenchmarkEntry) -> EditRequest:
    """All turns of an entry in one instruction."""
    words = ". ".join(step.instruction.strip().rstrip(".") for step in entry.steps) + "."
    sources = () if entry.scene is None else (render_picture(entry.scene),)
    references = tuple(render_picture(scene) for scene in entry.references)
    return EditRequest(words, sources, references, mode=Mode.COMPLEX if len(entry.steps) > 1 else Mode.SINGLE)


def table(cells: dict[str, npt.NDArray[np.float64]]) -> list[dict[str, object]]:
    """Mean quality with its interval, edits made, and the gain over the editor alone with its own interval."""
    base = cells["editor only"][..., 0]
    rows: list[dict[str, object]] = []
    for name, found in cells.items():
        gain = found[..., 0] - base
        better, worse = int((gain > 0.005).sum()), int((gain < -0.005).sum())
        rows.append(
            {
                "setting": name,
                "quality": round(float(found[..., 0].mean()), 4),
                "interval": interval(found[..., 0]),
                "edits": round(float(found[..., 1].mean()), 2),
                "gain": round(float(gain.mean()), 4),
                "gain_interval": interval(gain),
                "better_worse_same": [better, worse, gain.size - better - worse],
            }
        )
    return rows


def interval(values: npt.NDArray[np.float64], draws: int = DRAWS) -> Sequence[float]:
    """95% percentile interval of the mean; rows (items) are drawn, then columns (seeds) within each."""
    rng = np.random.default_rng(0)
    rows, columns = values.shape
    items = rng.integers(rows, size=(draws, rows))
    seeds = rng.integers(columns, size=(draws, rows, columns))
    means = np.take_along_axis(values[items], seeds, axis=2).mean(axis=(1, 2))
    low, high = np.percentile(means, [2.5, 97.5])
    return [round(float(low), 4), round(float(high), 4)]


if __name__ == "__main__":
    main()
