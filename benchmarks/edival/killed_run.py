"""EdiVal's scores at scale: 572 items x 3 turns x 13 editors at 128 pixels, planned, killed, resumed.

python -m benchmarks.edival.killed_run WORKSPACE [--items 572] [--editors 13] [--kill-after 60] [--kills 1]
    [--seconds 0]

Makes a workspace of rendered chains, plans the scores, starts `imarena edival score`, ends it with ``kill -9`` after
`--kill-after` seconds, `--kills` times, and starts it once more. `--seconds` ends the last run too (0: it goes to its
end). Run the same command again to continue, also where the workspace is half made. Every measurement is logged by
identity: the benchmark fails where a run measures something that was stored when it started.
"""

import argparse
import os
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

from imarena.core import UserError, plan_provenance
from imarena.core.records import Evidence, ImageRef, Item, Judgment, Mode, Output, Status, Turn
from imarena.storage import Workspace, init_workspace, open_workspace
from imarena.studio import COLOURS, Scene, SceneEdit, apply_edit, encode_pixels, entry_plan, render_scene
from imarena.studio.entries_edival import edival_entries
from imarena.workflows.exchange.importing import WorkspaceIntake
from imarena.workflows.questions import plan_edival

SIDE = 128
LOG = "EDIVAL_MEASURED"


def habits(count: int) -> dict[str, Callable[[Scene, SceneEdit, np.random.Generator], Scene]]:
    """Editors of scenes: the n-th carries out an edit with a chance that falls with n, else recolours something."""

    def editor(chance: float) -> Callable[[Scene, SceneEdit, np.random.Generator], Scene]:
        def apply(scene: Scene, edit: SceneEdit, rng: np.random.Generator) -> Scene:
            try:
                if rng.random() < chance:
                    return apply_edit(scene, edit)
            except UserError:  # an earlier turn took the thing away
                pass
            if not scene.things:
                return scene
            victim = scene.things[int(rng.integers(len(scene.things)))]
            colour = str(rng.choice(list(COLOURS)))
            return apply_edit(scene, SceneEdit(op="set", uids=(victim.uid,), values={"colour": colour}))

        return apply

    return {f"scene-editor-{n + 1:02d}": editor(1.0 - n / max(1, count)) for n in range(count)}


def make_workspace(folder: Path, items: int, editors: int) -> None:
    """Items with plans, and three turns by every editor. Items that are complete are left alone."""
    if not (folder / "arena.db").exists():
        init_workspace(folder)
    with open_workspace(folder) as workspace:
        intake = WorkspaceIntake(workspace)
        complete = {key[0]: number for key, number in workspace.store.count(Output, "item_id").items()}
        made_before = {row["key"]: complete.get(row["id"], 0) for row in workspace.store.rows(Item)}
        for number, entry in enumerate(edival_entries(items)):
            if entry.scene is None or made_before.get(f"{number:04d}", 0) == editors * len(entry.steps):
                continue
            small = entry.model_copy(update={"scene": entry.scene.model_copy(update={"width": SIDE, "height": SIDE})})
            plan = entry_plan(small)
            if small.scene is None or plan is None:
                continue
            turns = tuple(Turn(instruction=step.instruction, task=step.task) for step in small.steps)
            base = _kept(intake, small.scene, f"{small.key}-{number}")
            item = Item(
                dataset="edival-run", key=f"{number:04d}", turns=turns, sources=(base,), task=small.task,
                provenance=plan_provenance(plan),
            )  # fmt: skip
            intake.flush()
            workspace.store.add([item])
            for name, apply in habits(editors).items():
                scene, parent = small.scene, None
                rng = np.random.default_rng([number, *name.encode()])
                made = []
                for turn, step in enumerate(small.steps):
                    scene = apply(scene, step.edit, rng)
                    output = Output(
                        item_id=item.item_id, editor=name, turn=turn, mode=Mode.MULTI_TURN, parent_id=parent,
                        image=_kept(intake, scene, f"{number}-{name}-{turn}"),
                    )  # fmt: skip
                    made.append(output)
                    parent = output.output_id
                intake.flush()
                for output in made:  # each one names the one before
                    workspace.store.add([output])


def _kept(intake: WorkspaceIntake, scene: Scene, name: str) -> ImageRef:
    return intake.keep(encode_pixels(render_scene(scene).pixels), name=f"{name}.png")


def score(folder: Path, dimension: str) -> None:
    """`imarena edival score` in this process, with every measurement logged."""
    from imarena.cli.app import main
    from imarena.judges.edival.measurement_cache import MeasurementCache

    noted, log = MeasurementCache.note, Path(os.environ[LOG])

    def note(self: MeasurementCache, empty: Evidence, value: object) -> Evidence:
        with log.open("a", encoding="utf-8") as file:
            file.write(f"{empty.evidence_id}\n")
        return noted(self, empty, value)

    MeasurementCache.note = note  # type: ignore[method-assign]
    options = ["-o", f"dimension={dimension}"] if dimension else []
    sys.argv = ["imarena", "-w", str(folder), "edival", "score", "--executor", "threads", *options]
    main()


def _start(folder: Path, log: Path, dimension: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "benchmarks.edival.killed_run", str(folder), "--score", "--dimension", dimension]
    return subprocess.Popen(command, env={**os.environ, LOG: str(log)}, stderr=subprocess.DEVNULL)


def _stop(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Wait for a run; end it with ``kill -9`` after so many seconds (0: never). True where it was killed."""
    try:
        process.wait(seconds or None)
    except subprocess.TimeoutExpired:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        return True
    return False


def run_once(folder: Path, dimension: str, seconds: float) -> int:
    """One run, killed after `seconds`. Gives how many measurements it made that were stored when it started."""
    with open_workspace(folder) as workspace:
        stored = {row["id"] for row in workspace.store.rows(Evidence)}
    log = folder / f"measured-{len(list(folder.glob('measured-*.txt'))) + 1}.txt"
    log.touch()
    wall, cpu = time.monotonic(), _child_seconds()
    killed = _stop(_start(folder, log, dimension), seconds)
    measured = Counter(log.read_text(encoding="utf-8").split())
    repeated = stored & set(measured)
    with open_workspace(folder) as workspace:
        now = sum(workspace.store.count(Evidence).values())
        print(
            f"{'killed' if killed else 'ended'} after {time.monotonic() - wall:.0f} s ({_child_seconds() - cpu:.0f} s "
            f"of CPU): {len(stored):,} measurements were stored, {sum(measured.values()):,} made ("
            f"{sum(measured.values()) - len(measured):,} of them twice at the same time), {now:,} stored; "
            f"{_judged(workspace):,} judgments; measured though stored: {len(repeated)}",
            flush=True,
        )
    return len(repeated)


def _child_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Make, plan, score, kill, resume, check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workspace", type=Path)
    parser.add_argument("--items", type=int, default=572)
    parser.add_argument("--editors", type=int, default=13)
    parser.add_argument("--kill-after", type=float, default=60)
    parser.add_argument("--kills", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--dimension", default="")
    parser.add_argument("--score", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.score:
        score(chosen.workspace, chosen.dimension)
        return
    started = time.process_time()
    make_workspace(chosen.workspace, chosen.items, chosen.editors)
    print(f"made in {time.process_time() - started:.0f} s of CPU", flush=True)
    started = time.process_time()
    with open_workspace(chosen.workspace) as workspace:
        jobs = plan_edival(workspace, None)
        counts = [f"{job.wired.dimension} {job.estimate.new:,} to ask" for job in jobs]
        print(f"planned in {time.process_time() - started:.1f} s of CPU: {', '.join(counts)}", flush=True)
    repeated = sum(run_once(chosen.workspace, chosen.dimension, chosen.kill_after) for _ in range(chosen.kills))
    repeated += run_once(chosen.workspace, chosen.dimension, chosen.seconds)
    if repeated:
        raise SystemExit(1)


def _judged(workspace: Workspace) -> int:
    return sum(workspace.store.count(Judgment, "status", status=Status.OK.value).values())


if __name__ == "__main__":
    main()
