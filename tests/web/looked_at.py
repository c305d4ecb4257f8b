"""A workspace with something to look at: people's votes and ratings, two judges, two families, an agent's trace."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from fastapi import FastAPI

from imarena.core.records import (
    Issue,
    Item,
    Judgment,
    Order,
    Outcome,
    Output,
    Rater,
    Reply,
    Run,
    Status,
    Trace,
    Turn,
    Usage,
    Vote,
)
from imarena.storage import Workspace, init_workspace
from imarena.web.app import create_app
from tests.web.people import picture, settings_of

EDITORS = ("ash", "birch", "cedar")
START = datetime(2026, 1, 1, tzinfo=UTC)
CRITERION = "artifacts"


def item(workspace: Workspace, number: int) -> Item:
    """Even and odd items differ in everything that can be filtered by."""
    kind = "even" if number % 2 == 0 else "odd"
    return Item(
        dataset=f"{kind}-set",
        key=f"entry-{number}",
        turns=(Turn(instruction=f"change {number}"),),
        sources=(picture(workspace, 500 + number, "camera"),),
        task=f"{kind}-task",
        family=f"{kind}-family",
        topic=f"{kind}-topic",
        track=f"{kind}-track",
    )


def fill(workspace: Workspace, *, items: int = 4) -> None:
    """On even items the first editor wins, on odd ones the last; judges and people say so day by day."""
    store = workspace.store
    store.add([Rater(rater_id=f"rater_{n}", name=f"Name {n}") for n in range(2)])
    for number in range(items):
        entry = item(workspace, number)
        outputs = [
            Output(item_id=entry.item_id, editor=editor, image=picture(workspace, 10 * number + place, editor))
            for place, editor in enumerate(EDITORS)
        ]
        store.add([entry])
        store.add(outputs)
        ranked = outputs if number % 2 == 0 else outputs[::-1]
        moment = START + timedelta(days=number)
        for better, worse in ((0, 1), (0, 2), (1, 2)):
            _verdicts(workspace, entry, ranked[better], ranked[worse], moment)
        for place, output in enumerate(ranked):
            _ratings(workspace, entry, output, 5.0 - place, moment)
        store.add([Trace(output_id=outputs[0].output_id, steps=_steps(outputs[1]))])
    store.put(Run(run_id="run_" + "1" * 32, command="battle", state="done", counts={"ok": 6}, cost_usd=0.5))


def _verdicts(workspace: Workspace, entry: Item, better: Output, worse: Output, moment: datetime) -> None:
    shared = {"item_id": entry.item_id, "created_at": moment}
    pair = {"left_id": better.output_id, "right_id": worse.output_id}
    votes = [
        Vote(
            rater_id=f"rater_{n}", preference=outcome, idempotency_key=f"{n}{better.output_id}{worse.output_id}",
            dimension=dimension, comment="a private word", **shared, **pair,
        )
        for n, (outcome, dimension) in enumerate(((Outcome.LEFT, "overall"), (Outcome.TIE, "beauty")))
    ]  # fmt: skip
    workspace.store.add(votes)
    for judge, outcome in (("oak", Outcome.LEFT), ("elm", Outcome.RIGHT)):
        work = f"{judge}{better.output_id}{worse.output_id}"
        reply = Reply(work_id=work, attempt=0, raw="I say so. sk-abcdefghijklmnopqrstuvwx", created_at=moment)
        workspace.store.add([reply])
        workspace.store.add(
            [
                Judgment(
                    work_id=work, attempt=0, judge=judge, dimension="overall", order=Order.BOTH, status=Status.OK,
                    preference=outcome, reply_id=reply.reply_id, usage=Usage(cost_usd=0.01), **shared, **pair,
                )
            ]
        )  # fmt: skip


def _ratings(workspace: Workspace, entry: Item, output: Output, value: float, moment: datetime) -> None:
    issues = (
        Issue(kind="box", box=(0.0, 0.0, 16.0, 12.0), criterion=CRITERION, note="a private note"),
        Issue(kind="object", label=f"the {output.editor}"),
    )
    workspace.store.add(
        [
            Vote(
                rater_id="rater_0", item_id=entry.item_id, left_id=output.output_id, ratings={CRITERION: value},
                scale=(1.0, 5.0), issues=issues, idempotency_key=f"rated {output.output_id}", created_at=moment,
            )
        ]
    )  # fmt: skip


def _steps(tried: Output) -> tuple[dict[str, object], ...]:
    sha = tried.image.sha256 if tried.image is not None else None
    return (
        {"stage": "plan", "by": "rules", "steps": ["first", "second"], "budget": 3, "note": ""},
        {"stage": "edit", "step": 1, "by": "birch", "instruction": "<b>try</b>", "status": "ok", "image_sha256": sha},
        {"stage": "edit", "step": 2, "by": "birch", "instruction": "again", "status": "timeout", "error": "too slow"},
    )


def looked_at(root: Path, *, url: str = "", **more: object) -> FastAPI:
    """An application over it."""
    with init_workspace(root, url=url) as workspace:
        fill(workspace)
    return create_app(settings_of(root, **more))
