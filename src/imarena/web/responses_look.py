"""Convert results of workflows to wire types for viewers of runs, judges, battles and items."""

import json
from collections.abc import Sequence

from imarena.core.notices import Notice
from imarena.core.records import JsonDict, Output, never_met_groups
from imarena.web import wire_look
from imarena.web.arena import ServedWorkspace
from imarena.web.responses import item_line, output_picture, picture_out
from imarena.web.wire_models import ExampleOut, GroupOut, ModelOut
from imarena.workflows import serving

_LONGEST = 4000


def past_board_out(past: serving.BoardSnapshot) -> wire_look.BoardSnapshotOut:
    """A board at an earlier time."""
    return wire_look.BoardSnapshotOut.of(
        past, ratings=[wire_look.RatingSnapshot.of(standing) for standing in past.ranking.models]
    )


def history_out(history: Sequence[serving.BoardSnapshot], method: str) -> wire_look.RatingHistory:
    """Ratings over time, with the groups of the newest board."""
    groups = history[-1].ranking.groups if history else []
    return wire_look.RatingHistory(
        method=method, points=[past_board_out(past) for past in history], groups=[list(group) for group in groups]
    )


def model_out(
    arena: ServedWorkspace, board: wire_look.BoardOut, results: serving.ModelResults, *, some_hidden: bool
) -> ModelOut:
    """One model, with its place on a board."""
    examples = (*results.best, *results.worst)
    arena.voting.records.read({example.item_id for example in examples}, {example.output_id for example in examples})
    standing = next((standing for standing in board.standings if standing.model == results.model), None)
    notices = [Notice(code=entry.code, values=entry.values) for entry in board.notices]
    groups = never_met_groups(notices, [entry.model for entry in board.standings])
    of = next((number for number, group in enumerate(groups, 1) if results.model in group), None)
    return ModelOut.of(
        board,
        model=results.model,
        standing=standing,
        models=len(board.standings) if of is None else len(groups[of - 1]),
        group=of if len(groups) > 1 else None,
        reason="" if standing is not None else board.reason,
        total=wire_look.Cell.model_validate(results.total),
        opponents=[wire_look.Cell.model_validate(duel) for duel in results.opponents],
        groups=[
            GroupOut(by=group.by, value=group.value, counts=wire_look.Cell.model_validate(group.counts))
            for group in results.groups
        ],
        best=[_example(arena, example) for example in results.best],
        worst=[_example(arena, example) for example in results.worst],
        some_hidden=some_hidden,
    )


def _example(arena: ServedWorkspace, example: serving.ResultExample) -> ExampleOut:
    records = arena.voting.records
    line, output = item_line(records.item(example.item_id), 0), records.output(example.output_id)
    return ExampleOut(
        item_id=example.item_id,
        instruction=line.instruction,
        task=line.task,
        source=line.picture,
        picture=f"/api/outputs/{example.output_id}/picture" if output.image is not None else None,
        counts=wire_look.Cell.model_validate(example.counts),
    )


def run_out(monitored: serving.MonitoredRun) -> wire_look.RunOut:
    """A run in a list."""
    run = monitored.run
    return wire_look.RunOut(
        run_id=run.run_id,
        command=run.command,
        state=run.state,
        created_at=run.created_at.isoformat(),
        finished_at=run.finished_at.isoformat() if run.finished_at is not None else None,
        counts=monitored.counts,
        cost_usd=monitored.cost_usd,
    )


def judge_health_out(behaviour: serving.JudgeBehaviour, *, costs: bool) -> wire_look.JudgeHealthOut:
    """The figures of a judge's behaviour."""
    return wire_look.JudgeHealthOut.of(
        behaviour,
        failed=dict(behaviour.failed),
        with_people=behaviour.people_share,
        cost_usd=behaviour.cost_usd if costs else None,
    )


def judgment_out(view: serving.ShownJudgment, *, mirrored: bool) -> wire_look.JudgmentOut:
    """A judge's verdict with its raw reply."""
    judgment = view.judgment
    preference = judgment.preference
    if preference is not None and mirrored:
        preference = preference.mirrored()
    return wire_look.JudgmentOut(
        judge=judgment.judge,
        dimension=judgment.dimension,
        order=judgment.order.value if judgment.order is not None else None,
        status=judgment.status.value,
        preference=preference.value if preference is not None else None,
        score=judgment.score,
        scores=judgment.scores,
        reply=serving.without_keys(view.reply) if view.reply is not None else None,
        error=serving.without_keys(judgment.error),
        created_at=judgment.created_at.isoformat(),
        counts=not view.reason,
        reason=view.reason,
    )


def heat_map_out(issues: serving.IssueHeatMap, editor: str | None) -> wire_look.HeatMap:
    """Where raters found issues, and how often each occurred."""
    return wire_look.HeatMap(
        editor=editor,
        rows=serving.ISSUE_GRID,
        columns=serving.ISSUE_GRID,
        boxes=issues.boxes,
        cells=issues.cells.tolist(),
        labels=dict(issues.labels.most_common(100)),
        editors=editor_issues(issues),
    )


def editor_issues(issues: serving.IssueHeatMap) -> list[wire_look.EditorIssues]:
    """The issues found in each editor's outputs."""
    return [
        wire_look.EditorIssues(
            editor=name,
            ratings=issues.rated[name],
            objects=counts["object"],
            segments=counts["segment"],
            boxes=counts["box"],
            new_image=counts["new_image"],
            returned_input=counts["returned_input"],
            other=counts["other"],
        )
        for name, counts in issues.by_editor.items()
    ]


def output_out(
    arena: ServedWorkspace, output: Output, view: serving.ItemView, *, with_notes: bool
) -> wire_look.OutputOut:
    """An editor's output; `with_notes`: including the raters' comments."""
    votes = view.votes.get(output.output_id, [])
    issues = [wire_look.IssueOut.model_validate(issue) for vote in votes for issue in vote.issues]
    trace = view.traces.get(output.output_id)
    steps = trace.steps if trace is not None else ()
    return wire_look.OutputOut(
        output_id=output.output_id,
        editor=output.editor,
        turn=output.turn,
        mode=output.mode.value,
        sample=output.sample,
        status=output.status.value,
        picture=output_picture(arena, output),
        scores=view.scores.get(output.output_id, {}),
        ratings=view.ratings.get(output.output_id, {}),
        issues=issues if with_notes else [issue.model_copy(update={"note": ""}) for issue in issues],
        steps=[_step(arena, output.output_id, number, step) for number, step in enumerate(steps)],
    )


_FIELDS = ("stage", "by", "instruction", "status", "score", "image_sha256", "from_sha256", "cost_usd")


def _step(arena: ServedWorkspace, output_id: str, number: int, step: JsonDict) -> wire_look.StepOut:
    image = serving.step_image(arena.leaderboards, output_id, number)
    score, status = step.get("score"), step.get("status")
    details = {name: value for name, value in step.items() if name not in _FIELDS and value not in (None, "", [], {})}
    return wire_look.StepOut(
        stage=str(step.get("stage", ""))[:100],
        by=str(step.get("by", ""))[:200],
        text=serving.without_keys(str(step.get("instruction", "")))[:_LONGEST],
        status=str(status) if status is not None else None,
        score=float(score) if isinstance(score, int | float) and not isinstance(score, bool) else None,
        picture=picture_out(arena, image, f"/api/outputs/{output_id}/steps/{number}/picture"),
        details={name: _text(value) for name, value in details.items()},
    )


def _text(value: object) -> str:
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        value = " · ".join(value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return serving.without_keys(text)[:_LONGEST]
