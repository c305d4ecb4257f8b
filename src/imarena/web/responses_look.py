"""Convert results of workflows to wire types for viewers of runs, judges, battles and items."""

import json
from collections.abc import Sequence

from imarena.core.notices import Notice
from imarena.core.records import JsonDict, Output, Run, never_met_groups
from imarena.web import wire_look
from imarena.web.arena import ServedWorkspace
from imarena.web.responses import item_line, output_picture, picture_out, shown_preference
from imarena.web.wire_models import ExampleOut, ModelOut
from imarena.workflows import serving

_LONGEST = 4000


def history_out(history: Sequence[serving.BoardSnapshot], method: str) -> wire_look.RatingHistory:
    """Ratings over time, with the groups of the newest board."""
    groups = history[-1].ranking.groups if history else []
    points = [wire_look.BoardSnapshotOut.of(past, ratings=past.ranking.models) for past in history]
    return wire_look.RatingHistory(method=method, points=points, groups=[list(group) for group in groups])


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
        results,
        method=board.method,
        n_battles=board.n_battles,
        verdicts=board.verdicts,
        standing=standing,
        models=len(board.standings) if of is None else len(groups[of - 1]),
        group=of if len(groups) > 1 else None,
        reason="" if standing is not None else board.reason,
        best=[_example(arena, example) for example in results.best],
        worst=[_example(arena, example) for example in results.worst],
        some_hidden=some_hidden,
    )


def _example(arena: ServedWorkspace, example: serving.ResultExample) -> ExampleOut:
    records = arena.voting.records
    line, output = item_line(records.item(example.item_id), 0), records.output(example.output_id)
    return ExampleOut.of(
        line,
        source=line.picture,
        picture=f"/api/outputs/{example.output_id}/picture" if output.image is not None else None,
        counts=example.counts,
    )


def run_out(run: Run) -> wire_look.RunOut:
    """A run in a list."""
    return wire_look.RunOut.of(
        run,
        created_at=run.created_at.isoformat(),
        finished_at=run.finished_at.isoformat() if run.finished_at is not None else None,
    )


def judge_health_out(behaviour: serving.JudgeBehaviour, *, costs: bool) -> wire_look.JudgeHealthOut:
    """The figures of a judge's behaviour."""
    return wire_look.JudgeHealthOut.of(
        behaviour,
        with_people=behaviour.people_share,
        cost_usd=behaviour.cost_usd if costs else None,
    )


def judgment_out(view: serving.ShownJudgment, *, mirrored: bool) -> wire_look.JudgmentOut:
    """A judge's verdict with its raw reply."""
    judgment = view.judgment
    return wire_look.JudgmentOut.of(
        judgment,
        preference=shown_preference(judgment, mirrored=mirrored),
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
    issues = [issue for vote in votes for issue in vote.issues]
    trace = view.traces.get(output.output_id)
    steps = trace.steps if trace is not None else ()
    return wire_look.OutputOut.of(
        output,
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
