"""Caption and score the image of one repair, by the loop of `workflows/questions`."""

import asyncio
from dataclasses import dataclass

from imarena import curation
from imarena.core import SourceFailure, content_id, error_message
from imarena.core.records import Item, JsonDict, Run
from imarena.engine import WorkerTask
from imarena.images import describe_image
from imarena.judges import Estimate
from imarena.storage import Workspace
from imarena.workflows.curating.estimating import estimate_ratings
from imarena.workflows.curating.journal import CurationJournal
from imarena.workflows.curating.sources import CurationChat
from imarena.workflows.questions import Questions, RunOptions, SharedWork, ask
from imarena.workflows.wiring import record_run

COMMAND = "curate repair"


@dataclass(frozen=True)
class Rating:
    """An image to caption and score, where the answers are stored, and what it takes."""

    item: str
    steps: str
    """The name of the steps: a hash of the item, the instruction and the planner."""
    chosen: CurationChat
    settings: curation.CurationSettings
    brief: curation.ImageBrief
    candidate: curation.Candidate
    record: curation.CandidateRecord
    journal: CurationJournal
    estimates: list[Estimate]


@dataclass(frozen=True)
class Rated:
    """The record with a score, or why there is none; and the cost of new answers."""

    record: curation.CandidateRecord | None
    stopped: str
    cost_usd: float


def plan_rating(
    workspace: Workspace,
    item: Item,
    chosen: CurationChat,
    settings: curation.CurationSettings,
    brief: curation.ImageBrief,
    candidate: curation.Candidate,
    record: curation.CandidateRecord,
) -> Rating:
    """Find the stored answers, also those of the item's run if the instruction is the same, and estimate the rest."""
    steps = content_id("repair", item.item_id, brief.request.to_json(), chosen.planner.name)
    also = [str(item.provenance["curation"])] if brief.request.instruction == item.instruction else []
    attempt = sum(workspace.store.count(Run, command=COMMAND).values())
    journal = CurationJournal(workspace, steps, attempt, also=also)
    prompts = curation.open_questions(chosen.planner, journal, candidate, record.sha256)
    estimates = estimate_ratings(chosen, prompts, describe_image(candidate.data))
    return Rating(item.key, steps, chosen, settings, brief, candidate, record, journal, estimates)


def rate(workspace: Workspace, rating: Rating) -> Rated:
    """Ask what is missing; raise `SourceFailure` without a score. Each answer is stored before the next question."""
    answers: list[curation.CandidateRecord | SourceFailure] = []
    chosen = rating.chosen
    shared = SharedWork[Rating](workspace.claims(), lambda rating: content_id("work", rating.steps))
    questions = Questions(
        [rating], _load, WorkerTask(_ask, _failed), _failed, lambda _, answer: answer,
        lambda batch: answers.extend(answer for _, answer in batch), shared=shared, stage="images",
        on_stop=rating.journal.stop.set,
    )  # fmt: skip
    run_options = RunOptions("threads", chosen.concurrency, opening=chosen.opened)
    noted: JsonDict = {"item": rating.item, "mind": chosen.planner.name}
    with record_run(workspace, COMMAND, noted) as run:
        run.plan(1)
        try:
            stopped = asyncio.run(ask(questions, run_options)).stopped
        finally:
            run.cost_usd = rating.journal.paid_usd
            run.counts = {"images": sum(isinstance(answer, curation.CandidateRecord) for answer in answers)}
            run.partial = not run.counts["images"]
    for answer in answers:
        if isinstance(answer, SourceFailure):
            raise answer
        return Rated(curation.flag_score(rating.brief, answer, chosen.planner, rating.settings), "", run.cost_usd)
    return Rated(None, stopped, run.cost_usd)


def _load(rating: Rating) -> Rating:
    rating.journal.refresh()  # another process may have asked meanwhile
    return rating


async def _ask(rating: Rating) -> curation.CandidateRecord | SourceFailure:
    steps = curation.CurationSteps(rating.journal)
    try:
        record, _ = await curation.rate_image(
            rating.chosen.planner, steps, rating.brief, rating.candidate, rating.record
        )
    except SourceFailure as error:
        return error
    return record


def _failed(_: Rating, error: Exception) -> SourceFailure:
    return SourceFailure(f"{type(error).__name__}: {error_message(error)}", hint="Run the same command again.")
