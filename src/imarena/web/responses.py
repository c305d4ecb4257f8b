"""From what workflows give to what goes over the wire."""

from collections.abc import Sequence

from starlette.concurrency import run_in_threadpool

from imarena.core.notices import sentence, sentences
from imarena.core.records import ImageRef, Issue, Item, Output
from imarena.core.records import Ranking as RankingRecord
from imarena.reports import rank_tables
from imarena.routing import TRAINING, Answer, FormQuestion, forms
from imarena.web.arena import ServedWorkspace
from imarena.web.callers import Caller
from imarena.web.wire import Anchor, Ballot, Criterion, IssueIn, Me, Next, Picture, RaterCampaign, TaskOut
from imarena.web.wire_look import BattleOut, BoardOut, Cell, IssueOut, ItemLine, NoticeOut, StandingOut, VoteOut
from imarena.workflows.boards import DuelCounts
from imarena.workflows.rating import HeldTask
from imarena.workflows.serving import (
    TILE,
    BattleView,
    BoardOrReason,
    ShownVote,
    classes_of,
    instruction_of_task,
    objects_of_task,
)
from imarena.workflows.views import instruction_of


def me(arena: ServedWorkspace, caller: Caller) -> Me:
    """Who is asking."""
    from imarena.core import VERSION

    return Me(
        role=caller.role,
        name=caller.name,
        csrf=arena.keys.csrf(caller.session),
        public=arena.settings.public,
        arena=arena.workspace.settings.name,
        can_look=caller.can_look,
        version=VERSION,
    )


# ---------------------------------------------------------------- for raters: nothing that names a model


def picture_out(arena: ServedWorkspace, image: ImageRef | None, url: str) -> Picture | None:
    """A picture under an address; None where there are no pixels."""
    if image is None:
        return None
    shape = arena.pictures.shape(image)
    return Picture(
        url=url,
        tiles_url=f"{url}/tiles",
        width=shape.width,
        height=shape.height,
        tile_size=TILE,
        max_level=shape.max_level,
    )


def task(arena: ServedWorkspace, held: HeldTask) -> TaskOut:
    """A blinded task."""
    assignment, shelves = held.assignment, arena.voting.shelves
    base = f"/api/tasks/{held.address}"
    plan = shelves.last_plan(assignment.campaign_id)
    kind = plan.kind
    rated = kind == "rating"
    sources, references = shelves.sources(assignment), shelves.references(assignment)

    def shown(slot: str, image: ImageRef | None) -> Picture | None:
        return picture_out(arena, image, f"{base}/pictures/{slot}")

    return TaskOut(
        address=held.address,
        campaign_id=assignment.campaign_id,
        kind=kind,
        purpose=assignment.purpose if assignment.purpose in TRAINING else "vote",
        instruction=instruction_of_task(shelves, assignment),
        dimension=plan.dimension,
        question=forms().questions[kind],
        sources=[p for n, image in enumerate(sources) if (p := shown(f"source-{n}", image))],
        references=[p for n, image in enumerate(references) if (p := shown(f"reference-{n}", image))],
        left=shown("left", shelves.picture(assignment, "left")),
        right=shown("right", shelves.picture(assignment, "right")),
        criteria=[_criterion(question) for question in forms().criteria] if rated else [],
        checks=[_criterion(question) for question in forms().checks] if kind == "check" else [],
        stands_under=classes_of(shelves.item(assignment.item_id)) if kind == "check" else "",
        expected_objects=objects_of_task(arena.workspace, shelves, assignment) if rated else [],
        segments_url=f"{base}/segments" if rated else None,
        held_until=held.until,
        done=held.standing.done,
        quota_left=held.standing.quota_left,
        previous=_ballot(held.previous),
    )


async def task_soon(arena: ServedWorkspace, held: HeldTask) -> TaskOut:
    """`task` on the spot where all that it shows is at hand, else on another thread."""
    if arena.voting.shelves.at_hand(held.assignment):
        return task(arena, held)
    return await run_in_threadpool(task, arena, held)


def _criterion(question: FormQuestion) -> Criterion:
    anchors = [Anchor(value=value, text=text) for value, text in sorted(question.anchors.items())]
    return Criterion(
        name=question.name,
        label=question.label,
        question=question.question,
        low=question.low,
        high=question.high,
        anchors=anchors,
    )


def _ballot(answer: Answer | None) -> Ballot | None:
    if answer is None:
        return None
    issues = [IssueIn.model_validate(issue.model_dump()) for issue in answer.issues]
    known = {name: getattr(answer, name) for name in Ballot.model_fields if name not in ("idempotency_key", "issues")}
    return Ballot(idempotency_key="previous", issues=issues, **known)


def answer_of(ballot: Ballot) -> Answer:
    """What a rater sent, for the voting desk."""
    known = {name: getattr(ballot, name) for name in Ballot.model_fields if name not in ("idempotency_key", "issues")}
    return Answer(issues=tuple(Issue(**issue.model_dump()) for issue in ballot.issues), **known)


def nothing_left(arena: ServedWorkspace, campaign_id: str, stage: str) -> Next:
    """Why there is no task, and where to go from here."""
    ended = stage in ("done", "quota", "not_qualified")
    url = arena.voting.shelves.plan(campaign_id).completion_url if ended else None
    return Next.model_validate({"stage": stage, "task": None, "completion_url": url})


def rater_campaign(arena: ServedWorkspace, campaign_id: str, rater_id: str, *, leads: bool) -> RaterCampaign | None:
    """A campaign as one of its raters sees it; leads may take part without an invitation."""
    campaign = arena.voting.shelves.campaign(campaign_id)
    plan = arena.voting.shelves.plan(campaign_id)
    place, ahead = arena.voting.prospect(campaign_id, rater_id, leads=leads)
    if place.stage == "not_invited":
        return None
    return RaterCampaign(
        campaign_id=campaign_id,
        name=campaign.name,
        kind=plan.kind,
        stage=place.stage,
        consent=plan.consent,
        guidelines=plan.guidelines,
        done=place.done,
        quota=place.quota,
        quota_left=place.quota_left,
        waiting=ahead.waiting,
        more_waiting=ahead.more,
        can_undo=place.done + place.practised + place.examined > 0,
    )


# ---------------------------------------------------------------- for people who look


def standings(ranking: RankingRecord | None) -> list[StandingOut]:
    """A ranking's rows."""
    return [StandingOut(**standing.model_dump()) for standing in ranking.models] if ranking is not None else []


def cell(found: DuelCounts) -> Cell:
    """One pair of the win matrix."""
    return Cell(**found.__dict__)


def board_out(made: BoardOrReason, method: str) -> BoardOut:
    """A leaderboard."""
    return BoardOut(
        method=method,
        n_battles=made.n_battles,
        excluded=made.excluded,
        warnings=sentences(made.notices, "page"),
        standings=standings(made.ranking),
        matrix=[cell(found) for found in made.matrix],
        reason=made.reason,
        source=made.source,
        judge=made.judge,
        verdicts=made.verdicts,
        beside=made.beside,
        by_scores=made.by_scores,
        resampled=rank_tables.resampling_text(made.ranking) if made.ranking is not None else "",
        notices=[NoticeOut(code=one.code, values=one.values, text=sentence(one, "page")) for one in made.notices],
        signature=made.signature,
    )


def battles(arena: ServedWorkspace, pairs: Sequence[BattleView]) -> list[BattleOut]:
    """Battles in a list; all that they show is read in two queries."""
    sides = {side for pair in pairs for side in (pair.left_id, pair.right_id)}
    arena.voting.shelves.read({pair.item_id for pair in pairs}, sides)
    return [battle(arena, pair) for pair in pairs]


def battle(arena: ServedWorkspace, pair: BattleView) -> BattleOut:
    """A battle in a list."""
    shelves = arena.voting.shelves
    item, left, right = shelves.item(pair.item_id), shelves.output(pair.left_id), shelves.output(pair.right_id)
    return BattleOut(
        battle_id=pair.battle_id,
        item_id=pair.item_id,
        instruction=instruction_of(item, left.turn, left.mode),
        task=item.task,
        left=left.editor or "(not named)",
        right=right.editor or "(not named)",
        left_id=pair.left_id,
        right_id=pair.right_id,
        votes=dict(pair.votes),
        judgments=dict(pair.judgments),
    )


def vote(cast: ShownVote, number: int, *, mirrored: bool) -> VoteOut:
    """A vote; who gave it is a number on this page."""
    found = cast.vote
    preference = found.preference
    if preference is not None and mirrored:
        preference = preference.mirrored()
    return VoteOut(
        rater=f"rater {number}",
        created_at=found.created_at.isoformat(),
        dimension=found.dimension,
        preference=preference.value if preference is not None else None,
        ratings=found.ratings,
        comment=found.comment,
        live=cast.live,
        counts=not cast.reason,
        reason=cast.reason.value,
    )


def item_line(item: Item, outputs: int) -> ItemLine:
    """An item in a list; one that is made from references alone shows the first of them."""
    shown = "source-0" if item.sources else "reference-0" if item.references else ""
    return ItemLine(
        item_id=item.item_id,
        dataset=item.dataset,
        key=item.key,
        task=item.task,
        family=item.family,
        topic=item.topic,
        track=item.track,
        instruction=item.instruction,
        outputs=outputs,
        picture=f"/api/items/{item.item_id}/pictures/{shown}" if shown else None,
    )


def issue(found: Issue) -> IssueOut:
    """Something that a rater found wrong."""
    return IssueOut(**found.model_dump())


def output_picture(arena: ServedWorkspace, output: Output) -> Picture | None:
    """What an editor made."""
    return picture_out(arena, output.image, f"/api/outputs/{output.output_id}/picture")


def item_pictures(arena: ServedWorkspace, item_id: str, kind: str, images: tuple[ImageRef, ...]) -> list[Picture]:
    """An item's own pictures."""
    found = (picture_out(arena, image, f"/api/items/{item_id}/pictures/{kind}-{n}") for n, image in enumerate(images))
    return [one for one in found if one is not None]
