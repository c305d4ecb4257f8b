"""From what workflows give to what goes over the wire."""

from collections.abc import Sequence

from starlette.concurrency import run_in_threadpool

from imarena.core.notices import sentence, sentences
from imarena.core.records import Assignment, ImageRef, Issue, Item, Output
from imarena.core.records import Ranking as RankingRecord
from imarena.reports import rank_tables
from imarena.routing import Answer, FormQuestion, forms
from imarena.web.arena import ServedWorkspace
from imarena.web.callers import Caller
from imarena.web.wire import Anchor, Ballot, Criterion, IssueIn, Me, Next, Picture, RaterCampaign, Task
from imarena.web.wire_look import Battle, Board, Cell, IssueOut, ItemLine, NoticeOut, Standing, VoteOut
from imarena.workflows.boards import DuelCounts
from imarena.workflows.questions import expected_objects
from imarena.workflows.rating import TRAINING, HeldTask
from imarena.workflows.serving import TILE, BattleView, BoardOrReason, ShownVote
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


def picture(arena: ServedWorkspace, image: ImageRef | None, url: str) -> Picture | None:
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


def task(arena: ServedWorkspace, held: HeldTask) -> Task:
    """A blinded task."""
    assignment, shelves = held.assignment, arena.voting.shelves
    base = f"/api/tasks/{held.address}"
    plan = shelves.last_plan(assignment.campaign_id)
    kind = plan.kind
    rated = kind == "rating"
    sources, references = shelves.sources(assignment), shelves.references(assignment)

    def shown(slot: str, image: ImageRef | None) -> Picture | None:
        return picture(arena, image, f"{base}/pictures/{slot}")

    return Task(
        address=held.address,
        campaign_id=assignment.campaign_id,
        kind=kind,
        purpose=assignment.purpose if assignment.purpose in TRAINING else "vote",
        instruction=_instruction(arena, assignment),
        dimension=plan.dimension,
        question=forms().questions[kind],
        sources=[p for n, image in enumerate(sources) if (p := shown(f"source-{n}", image))],
        references=[p for n, image in enumerate(references) if (p := shown(f"reference-{n}", image))],
        left=shown("left", shelves.picture(assignment, "left")),
        right=shown("right", shelves.picture(assignment, "right")),
        criteria=[_criterion(question) for question in forms().criteria] if rated else [],
        checks=[_criterion(question) for question in forms().checks] if kind == "check" else [],
        stands_under=_stands_under(arena, assignment) if kind == "check" else "",
        expected_objects=_expected(arena, assignment) if rated else [],
        segments_url=f"{base}/segments" if rated else None,
        held_until=held.until,
        done=held.standing.done,
        quota_left=held.standing.quota_left,
        previous=_ballot(held.previous),
    )


async def task_soon(arena: ServedWorkspace, held: HeldTask) -> Task:
    """`task` on the spot where all that it shows is at hand, else on another thread."""
    if arena.voting.shelves.at_hand(held.assignment):
        return task(arena, held)
    return await run_in_threadpool(task, arena, held)


def _instruction(arena: ServedWorkspace, assignment: Assignment) -> str:
    item = arena.voting.shelves.item(assignment.item_id)
    if assignment.left_id is None:
        return item.turns[assignment.turn].instruction
    output = arena.voting.shelves.output(assignment.left_id)
    return instruction_of(item, output.turn, output.mode)


def _stands_under(arena: ServedWorkspace, assignment: Assignment) -> str:
    item = arena.voting.shelves.item(assignment.item_id)
    return " · ".join(name for name in (item.family, item.task, item.topic) if name)


def _expected(arena: ServedWorkspace, assignment: Assignment) -> list[str]:
    """Objects that a result should show: the item's own list, a model's, or what the instruction names."""
    shelves = arena.voting.shelves
    item = shelves.item(assignment.item_id)
    if assignment.left_id is None:
        return list(expected_objects(arena.workspace, item, assignment.turn))
    output = shelves.output(assignment.left_id)
    return list(expected_objects(arena.workspace, item, output.turn, output.mode))


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


def standings(ranking: RankingRecord | None) -> list[Standing]:
    """A ranking's rows."""
    return [Standing(**standing.model_dump()) for standing in ranking.models] if ranking is not None else []


def cell(found: DuelCounts) -> Cell:
    """One pair of the win matrix."""
    return Cell(**found.__dict__)


def board(made: BoardOrReason, method: str) -> Board:
    """A leaderboard."""
    return Board(
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


def battles(arena: ServedWorkspace, pairs: Sequence[BattleView]) -> list[Battle]:
    """Battles in a list; all that they show is read in two queries."""
    sides = {side for pair in pairs for side in (pair.left_id, pair.right_id)}
    arena.voting.shelves.read({pair.item_id for pair in pairs}, sides)
    return [battle(arena, pair) for pair in pairs]


def battle(arena: ServedWorkspace, pair: BattleView) -> Battle:
    """A battle in a list."""
    shelves = arena.voting.shelves
    item, left, right = shelves.item(pair.item_id), shelves.output(pair.left_id), shelves.output(pair.right_id)
    return Battle(
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
    return picture(arena, output.image, f"/api/outputs/{output.output_id}/picture")


def item_pictures(arena: ServedWorkspace, item_id: str, kind: str, images: tuple[ImageRef, ...]) -> list[Picture]:
    """An item's own pictures."""
    found = (picture(arena, image, f"/api/items/{item_id}/pictures/{kind}-{n}") for n, image in enumerate(images))
    return [one for one in found if one is not None]
