"""Convert results of workflows to wire types."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import cast

from starlette.concurrency import run_in_threadpool

from imarena import routing
from imarena.core import moment_text
from imarena.core.notices import Notice, left_out_texts, sentence, sentences
from imarena.core.records import Assignment, ImageRef, Issue, Item, Judgment, Output, Vote, now
from imarena.reports import rank_tables
from imarena.web import wire
from imarena.web.arena import ServedWorkspace
from imarena.web.callers import Caller
from imarena.web.wire_lead import RaterOut
from imarena.web.wire_look import BattleOut, BoardOut, ItemLine, VoteOut
from imarena.workflows import serving
from imarena.workflows.rating import HeldTask, RaterWork, other_answers, seconds_to_wait


def me_out(arena: ServedWorkspace, caller: Caller, rating_as: str | None = None) -> wire.Me:
    """The current user; `rating_as`: the rater whose session the browser has too."""
    from imarena.core import VERSION

    return wire.Me(
        role=caller.role,
        name=caller.name,
        csrf=arena.keys.csrf(caller.session),
        public=arena.settings.public,
        arena=arena.workspace.settings.name,
        can_look=caller.can_look,
        version=VERSION,
        rating_as=rating_as,
    )


# ---------------------------------------------------------------- for raters: nothing that names a model


def picture_out(arena: ServedWorkspace, image: ImageRef | None, url: str) -> wire.Picture | None:
    """A picture at a URL; None if there is no image."""
    if image is None:
        return None
    shape = arena.pictures.shape(image)
    return wire.Picture(
        url=url,
        tiles_url=f"{url}/tiles",
        width=shape.width,
        height=shape.height,
        tile_size=serving.TILE,
        max_level=shape.max_level,
    )


def task_out(arena: ServedWorkspace, task: HeldTask) -> wire.TaskOut:
    """A blinded task."""
    assignment, records = task.assignment, arena.voting.records
    base = f"/api/tasks/{task.address}"
    plan = records.last_plan(assignment.campaign_id)
    kind = plan.kind
    rated = kind == "rating"
    sources, references = records.sources(assignment), records.references(assignment)

    def picture_at(slot: str, image: ImageRef | None) -> wire.Picture | None:
        return picture_out(arena, image, f"{base}/pictures/{slot}")

    return wire.TaskOut.of(
        plan,
        address=task.address,
        campaign_id=assignment.campaign_id,
        purpose=_purpose(assignment),
        instruction=serving.instruction_of_task(records, assignment),
        question=routing.forms().question(kind, plan.dimension),
        sources=[p for n, image in enumerate(sources) if (p := picture_at(f"source-{n}", image))],
        references=[p for n, image in enumerate(references) if (p := picture_at(f"reference-{n}", image))],
        left=picture_at("left", records.picture(assignment, "left")),
        right=picture_at("right", records.picture(assignment, "right")),
        criteria=[_criterion(question) for question in routing.forms().criteria] if rated else [],
        checks=[_criterion(question) for question in routing.forms().checks] if kind == "check" else [],
        stands_under=serving.classes_of(records.item(assignment.item_id)) if kind == "check" else "",
        expected_objects=serving.objects_of_task(arena.workspace, records, assignment) if rated else [],
        region=_region(serving.region_of_task(arena.workspace, records, assignment)) if plan.show_region else None,
        segments_url=f"{base}/segments" if rated else None,
        held_until=task.until,
        done=task.standing.done,
        quota_left=task.standing.quota_left,
        previous=_ballot(task.previous),
        wait_s=seconds_to_wait(task.handed_at, plan.min_seconds, moment_text(now())),
        can_undo=task.can_undo,
        other_answers=[wire.OtherAnswer.of(answer) for answer in other_answers(arena.workspace, assignment)],
    )


def _region(boxes: Sequence[tuple[float, float, float, float]]) -> list[wire.RegionBox]:
    names = tuple(wire.RegionBox.model_fields)
    return [wire.RegionBox(**dict(zip(names, box, strict=True))) for box in boxes]


def _purpose(assignment: Assignment) -> wire.Purpose:
    """The purpose as shown to a rater: an adjudication that hides other answers looks like any other task."""
    if assignment.purpose in routing.TRAINING:
        return cast(wire.Purpose, assignment.purpose)
    answers_shown = assignment.purpose == "adjudication" and assignment.params.get("answers") == "shown"
    return "adjudication" if answers_shown else "vote"


async def task_out_soon(arena: ServedWorkspace, task: HeldTask) -> wire.TaskOut:
    """Run `task_out` directly if all its data is in memory, else on another thread."""
    if arena.voting.records.is_cached(task.assignment):
        return task_out(arena, task)
    return await run_in_threadpool(task_out, arena, task)


def _criterion(question: routing.FormQuestion) -> wire.Criterion:
    anchors = [wire.Anchor(value=value, text=text) for value, text in sorted(question.anchors.items())]
    return wire.Criterion.of(question, anchors=anchors)


def _ballot(answer: routing.Answer | None) -> wire.Ballot | None:
    if answer is None:
        return None
    return wire.Ballot.of(answer, idempotency_key="previous")


def answer_of(ballot: wire.Ballot) -> routing.Answer:
    """Convert a rater's ballot for the voting desk."""
    fields = {name: value for name, value in ballot if name not in ("idempotency_key", "issues")}
    return routing.Answer(issues=tuple(Issue(**dict(issue)) for issue in ballot.issues), **fields)


def nothing_left(arena: ServedWorkspace, campaign_id: str, standing: routing.RaterStanding) -> wire.Next:
    """Why there is no task, and what the rater can do next."""
    plan = arena.voting.records.plan(campaign_id)
    outcome = routing.participation_outcome(plan, standing)
    code, url = routing.completion_code(plan, outcome), routing.completion_address(plan, outcome)
    return wire.Next.of(standing, task=None, outcome=outcome, completion_code=code, completion_url=url)


def rater_campaign(
    arena: ServedWorkspace, campaign_id: str, rater_id: str, *, leads: bool
) -> wire.RaterCampaign | None:
    """A campaign as seen by one of its raters; leads may take part without an invitation."""
    plan = arena.voting.records.plan(campaign_id)
    standing, ahead = arena.voting.forecast(campaign_id, rater_id, leads=leads)
    if standing.stage == "not_invited":
        return None
    return wire.RaterCampaign.of(
        plan,
        **asdict(standing),
        campaign_id=campaign_id,
        waiting=ahead.waiting,
        more_waiting=ahead.more,
        can_undo=ahead.can_undo,
        outcome=routing.participation_outcome(plan, standing),
    )


# ---------------------------------------------------------------- for viewers


def notices_out(notices: Iterable[Notice]) -> list[wire.NoticeOut]:
    """Notices with their texts."""
    return [wire.NoticeOut(code=notice.code, values=notice.values, text=sentence(notice, "page")) for notice in notices]


def rater_out(work: RaterWork) -> RaterOut:
    """A rater's work, with the reasons for a closer look in words."""
    return RaterOut.of(work, notices=notices_out(work.notices))


def board_out(board: serving.BoardOrReason, method: str) -> BoardOut:
    """A leaderboard."""
    return BoardOut.of(
        board,
        method=method,
        warnings=sentences(board.notices, "page"),
        left_out=left_out_texts(board.excluded),
        standings=board.ranking.models if board.ranking is not None else [],
        resampled=rank_tables.resampling_text(board.ranking) if board.ranking is not None else "",
        notices=notices_out(board.notices),
    )


def battles_out(arena: ServedWorkspace, pairs: Sequence[serving.BattleView]) -> list[BattleOut]:
    """Battles in a list; two queries read everything that they show."""
    sides = {side for pair in pairs for side in (pair.left_id, pair.right_id)}
    arena.voting.records.read({pair.item_id for pair in pairs}, sides)
    return [battle_out(arena, pair) for pair in pairs]


def battle_out(arena: ServedWorkspace, pair: serving.BattleView) -> BattleOut:
    """A battle in a list."""
    records = arena.voting.records
    item, left, right = records.item(pair.item_id), records.output(pair.left_id), records.output(pair.right_id)
    return BattleOut.of(
        pair,
        instruction=records.question_about(pair.item_id, pair.left_id, pair.right_id).instruction,
        task=item.task,
        left=left.editor or "(not named)",
        right=right.editor or "(not named)",
    )


def shown_preference(verdict: Vote | Judgment, *, mirrored: bool) -> str | None:
    """The preference of a vote or a judgment as seen from the left output of the page."""
    preference = verdict.preference
    return preference.mirrored() if preference is not None and mirrored else preference


def vote_out(cast: serving.ShownVote, number: int, *, mirrored: bool) -> VoteOut:
    """A vote; the rater is a number that is valid on this page only."""
    return VoteOut.of(
        cast.vote,
        rater=f"rater {number}",
        created_at=cast.vote.created_at.isoformat(),
        preference=shown_preference(cast.vote, mirrored=mirrored),
        live=cast.live,
        counts=not cast.reason,
        reason=cast.reason.value,
    )


def item_line(item: Item, outputs: int) -> ItemLine:
    """An item in a list; an item made from references alone shows its first reference."""
    name = "source-0" if item.sources else "reference-0" if item.references else ""
    picture = f"/api/items/{item.item_id}/pictures/{name}" if name else None
    return ItemLine.of(item, outputs=outputs, picture=picture)


def output_picture(arena: ServedWorkspace, output: Output) -> wire.Picture | None:
    """The output of an editor."""
    return picture_out(arena, output.image, f"/api/outputs/{output.output_id}/picture")


def battle_sources(arena: ServedWorkspace, pair: serving.BattleView) -> list[wire.Picture]:
    """The images with which both outputs of a battle are compared, as judges and raters see them."""
    question = arena.voting.records.question_about(pair.item_id, pair.left_id, pair.right_id)
    if question.before is None:
        return item_pictures(arena, pair.item_id, "source", question.sources)
    before = output_picture(arena, arena.voting.records.output(question.before))
    return [] if before is None else [before]


def item_pictures(arena: ServedWorkspace, item_id: str, kind: str, images: tuple[ImageRef, ...]) -> list[wire.Picture]:
    """The pictures of an item itself."""
    pictures = (
        picture_out(arena, image, f"/api/items/{item_id}/pictures/{kind}-{n}") for n, image in enumerate(images)
    )
    return [picture for picture in pictures if picture is not None]
