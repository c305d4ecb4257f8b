"""A workspace to look at in a browser: items, editors and an agent, two judges, and what three people said."""

from datetime import timedelta
from itertools import combinations
from pathlib import Path

from imarena.core.records import (
    Issue,
    Judgment,
    Order,
    Outcome,
    Output,
    Rater,
    Reply,
    Run,
    Status,
    Trace,
    Usage,
    Vote,
    now,
)
from imarena.storage import Workspace, open_workspace
from tests.small_data.small_arena import battle_all, make_arena
from tests.web.browser.stage import HABITS

CRITERIA = ("prompt_relevance", "artifacts")
AGENT = "studio:wrong-target"
SKILL = {"exact": 4.8, "timid": 3.4, "wrong-target": 2.4, "artefacts": 1.6}
HOSTILE = "<img src=x onerror=\"document.title='taken'\">"


def fill(root: Path) -> None:
    """Judged by the built-in judge in both orders; a second judge has said nonsense; people voted and rated."""
    make_arena(root, items=6, habits=HABITS)
    with open_workspace(root) as workspace:
        board = battle_all(workspace)
        workspace.store.add([Rater(rater_id=f"rater_{n}", name=HOSTILE) for n in range(3)])
        for number, ((item_id, _, _), outputs) in enumerate(sorted(board.slots.items())):
            _said(workspace, number, item_id, sorted(outputs, key=lambda output: output.editor or ""))
        workspace.store.put(Run(run_id="run_" + "1" * 32, command="battle", counts={"planned": 8}))


def skill(output: Output) -> float:
    """How good an editor's pictures are said to be."""
    return next(value for name, value in SKILL.items() if name in str(output.editor))


def _said(workspace: Workspace, number: int, item_id: str, outputs: list[Output]) -> None:
    moment = now() - timedelta(days=20 - 2 * number)
    for place, (left, right) in enumerate(combinations(outputs, 2)):
        pair = {"item_id": item_id, "left_id": left.output_id, "right_id": right.output_id, "created_at": moment}
        better = Outcome.LEFT if skill(left) > skill(right) else Outcome.RIGHT
        verdicts = [better, better.mirrored() if (place + number) % 5 == 0 else better, Outcome.TIE]
        workspace.store.add(
            [
                Vote(
                    rater_id=f"rater_{n}", preference=verdict, idempotency_key=f"{n} {item_id} {place}", comment=HOSTILE,
                    dimension="overall" if n < 2 else "beauty", **pair,
                )
                for n, verdict in enumerate(verdicts)
            ]
        )  # fmt: skip
        reply = Reply(work_id=f"odd {item_id} {place}", raw=f"{HOSTILE} I prefer the first one.")
        workspace.store.add([reply])
        failed = (place + number) % 3 == 0
        verdict = {"status": Status.UNPARSABLE, "error": "no verdict"} if failed else {"preference": Outcome.LEFT}
        workspace.store.add(
            [
                Judgment(
                    work_id=reply.work_id, judge="always-left", order=Order.LEFT_FIRST, reply_id=reply.reply_id,
                    usage=Usage(cost_usd=0.002), **verdict, **pair,
                )
            ]
        )  # fmt: skip
    for output in outputs:
        _rated(workspace, item_id, output, moment)
    agent = next(output for output in outputs if "wrong-target" in str(output.editor))
    note = HOSTILE if number == 0 else "Keep the shadow."
    workspace.store.add([Trace(output_id=agent.output_id, steps=_steps(outputs, agent, note))])


def _rated(workspace: Workspace, item_id: str, output: Output, moment: object) -> None:
    width, height = (output.image.width or 1, output.image.height or 1) if output.image else (1, 1)
    box = (0.3 * width, 0.35 * height, 0.7 * width, 0.8 * height)
    issues = (
        Issue(kind="box", box=box, criterion="artifacts", note=HOSTILE),
        Issue(kind="object", label="the shadow" if skill(output) < 2 else "the tail"),
    )
    flawed = skill(output) < 4
    workspace.store.add(
        [
            Vote.model_validate(
                {
                    "rater_id": f"rater_{n}", "item_id": item_id, "left_id": output.output_id, "created_at": moment,
                    "ratings": {name: max(1.0, min(5.0, round(skill(output)) + n - 1)) for name in CRITERIA},
                    "scale": (1.0, 5.0), "issues": issues if flawed else (), "idempotency_key": f"r{n} {output.output_id}",
                }
            )
            for n in range(2)
        ]
    )  # fmt: skip


def _steps(outputs: list[Output], agent: Output, note: str) -> tuple[dict[str, object], ...]:
    tried = [output.image.sha256 for output in (outputs[0], agent) if output.image is not None]
    return (
        {"stage": "understand", "by": "rules", "instruction": "Make it green.", "changes": ["the colour"], "note": note},
        {"stage": "plan", "by": "rules", "steps": ["Find the object.", "Change its colour."], "budget": 3},
        {"stage": "edit", "step": 1, "by": "painter", "instruction": "Change its colour.", "status": "ok",
         "image_sha256": tried[0], "verdict": "ok", "score": 4.5, "success": False},
        {"stage": "edit", "step": 2, "by": "painter", "instruction": "Change only its colour.", "status": "ok",
         "image_sha256": tried[-1], "verdict": "ok", "score": 7.0, "success": True},
        {"stage": "choose", "image_sha256": tried[-1], "score": 7.0, "edits": 2},
    )  # fmt: skip
