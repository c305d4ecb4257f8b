"""From what workflows give to what goes over the wire to people who look at runs, judges, battles and items."""

import json

from imarena.core.records import JsonDict, Output
from imarena.web import responses as showing
from imarena.web.arena import ServedWorkspace
from imarena.web.wire_look import (
    BoardThen,
    EditorIssues,
    HeatMap,
    IssueOut,
    JudgeHealthOut,
    JudgmentOut,
    OutputOut,
    RatingThen,
    RunOut,
    StepOut,
)
from imarena.workflows.serving import (
    GRID,
    IssueHeatMap,
    ItemView,
    JudgeBehaviour,
    MonitoredRun,
    PastBoard,
    ShownJudgment,
    step_image,
    without_keys,
)

_LONGEST = 4000


def past_board(past: PastBoard) -> BoardThen:
    """A board as it stood at a moment."""
    ratings = [RatingThen(model=one.model, rating=one.rating, rank=one.rank) for one in past.ranking.models]
    return BoardThen(moment=past.moment, n_battles=past.n_battles, ratings=ratings)


def run_line(seen: MonitoredRun) -> RunOut:
    """A run in a list."""
    run = seen.run
    return RunOut(
        run_id=run.run_id,
        command=run.command,
        state=run.state,
        created_at=run.created_at.isoformat(),
        finished_at=run.finished_at.isoformat() if run.finished_at is not None else None,
        counts=seen.counts,
        cost_usd=seen.cost_usd,
    )


def judge_health_out(found: JudgeBehaviour, *, costs: bool) -> JudgeHealthOut:
    """How a judge behaves."""
    return JudgeHealthOut(
        judge=found.judge,
        dimension=found.dimension,
        ok=found.ok,
        failed=dict(found.failed),
        both_orders=found.both_orders,
        order_agreement=found.order_agreement,
        first_share=found.first_share,
        tie_share=found.tie_share,
        with_people=found.people_share,
        people_pairs=found.people_pairs,
        cost_usd=found.cost_usd if costs else None,
    )


def judgment(said: ShownJudgment, *, mirrored: bool) -> JudgmentOut:
    """A judge's verdict with its raw reply."""
    told = said.judgment
    preference = told.preference
    if preference is not None and mirrored:
        preference = preference.mirrored()
    return JudgmentOut(
        judge=told.judge,
        dimension=told.dimension,
        order=told.order.value if told.order is not None else None,
        status=told.status.value,
        preference=preference.value if preference is not None else None,
        score=told.score,
        scores=told.scores,
        reply=without_keys(said.reply) if said.reply is not None else None,
        error=without_keys(told.error),
        created_at=told.created_at.isoformat(),
        counts=not said.reason,
        reason=said.reason,
    )


def heat_map(found: IssueHeatMap, editor: str | None) -> HeatMap:
    """Where raters found something wrong, and how often what."""
    return HeatMap(
        editor=editor,
        rows=GRID,
        columns=GRID,
        boxes=found.boxes,
        cells=found.cells.tolist(),
        labels=dict(found.labels.most_common(100)),
        editors=editor_issues(found),
    )


def editor_issues(found: IssueHeatMap) -> list[EditorIssues]:
    """What was found wrong with each editor's outputs."""
    return [
        EditorIssues(
            editor=name,
            ratings=found.rated[name],
            objects=counts["object"],
            segments=counts["segment"],
            boxes=counts["box"],
            new_image=counts["new_image"],
            returned_input=counts["returned_input"],
            other=counts["other"],
        )
        for name, counts in found.by_editor.items()
    ]


def output(arena: ServedWorkspace, made: Output, shown: ItemView, *, words: bool) -> OutputOut:
    """What an editor made; `words`: with what raters wrote."""
    votes = shown.votes.get(made.output_id, [])
    issues = [showing.issue(issue) for vote in votes for issue in vote.issues]
    trace = shown.traces.get(made.output_id)
    steps = trace.steps if trace is not None else ()
    return OutputOut(
        output_id=made.output_id,
        editor=made.editor,
        turn=made.turn,
        mode=made.mode.value,
        sample=made.sample,
        status=made.status.value,
        picture=showing.output_picture(arena, made),
        scores=shown.scores.get(made.output_id, {}),
        ratings=shown.ratings.get(made.output_id, {}),
        issues=issues if words else [_wordless(issue) for issue in issues],
        steps=[_step(arena, made.output_id, number, step) for number, step in enumerate(steps)],
    )


def _wordless(issue: IssueOut) -> IssueOut:
    return issue.model_copy(update={"note": ""})


_SHOWN = ("stage", "by", "instruction", "status", "score", "image_sha256", "from_sha256", "cost_usd")


def _step(arena: ServedWorkspace, output_id: str, number: int, step: JsonDict) -> StepOut:
    image = step_image(arena.looking, output_id, number)
    score, status = step.get("score"), step.get("status")
    rest = {name: value for name, value in step.items() if name not in _SHOWN and value not in (None, "", [], {})}
    return StepOut(
        stage=str(step.get("stage", ""))[:100],
        by=str(step.get("by", ""))[:200],
        text=without_keys(str(step.get("instruction", "")))[:_LONGEST],
        status=str(status) if status is not None else None,
        score=float(score) if isinstance(score, int | float) and not isinstance(score, bool) else None,
        picture=showing.picture_out(arena, image, f"/api/outputs/{output_id}/steps/{number}/picture"),
        details={name: _text(value) for name, value in rest.items()},
    )


def _text(value: object) -> str:
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        value = " · ".join(value)
    told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return without_keys(told)[:_LONGEST]
