"""Instructions are asked concurrently by the loop of `workflows/questions`, and decided in their order.

What an instruction asks in a round does not depend on other instructions; only whether its pool is full does, because
an earlier instruction may have got one of its images. So each instruction runs rounds until its pool is full beside the
items decided so far. It is then decided beside exactly the items of all earlier ones, from the images of as few rounds
as suffice. Instructions that fall short are asked for another round, concurrently. Any concurrency gives the same items
(docs/design/curation.md).
"""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from imarena import curation
from imarena.core import InvalidImage, Progress, content_id, error_message
from imarena.engine import WorkerTask
from imarena.storage import Workspace
from imarena.workflows.curating.image_memory import BenchmarkImages, ImageAnalysisCache
from imarena.workflows.curating.items import make_item
from imarena.workflows.curating.journal import CurationJournal
from imarena.workflows.curating.report import CurationTally
from imarena.workflows.curating.setup import CurationSetup
from imarena.workflows.questions import Questions, RunOptions, SharedWork, ask

_WAIT_S = 0.05


@dataclass(frozen=True)
class _Instruction:
    """An instruction, its place in the order, and the name and the journal of its steps."""

    place: int
    request: curation.CurationRequest
    steps: str
    journal: CurationJournal


class OrderedRun:
    """One run over all instructions."""

    def __init__(
        self, workspace: Workspace, requests: Sequence[curation.CurationRequest], setup: CurationSetup, attempt: int
    ) -> None:
        self.tally = CurationTally()
        self._workspace = workspace
        self._setup = setup
        self._stop = threading.Event()
        self._claims = workspace.claims()
        self._memory = ImageAnalysisCache(workspace)
        self._benchmark = BenchmarkImages(workspace, setup.dataset, self._memory, setup.settings)
        self._instructions: list[_Instruction] = []
        for place, request in enumerate(requests):
            steps = setup.work(request)
            journal = CurationJournal(workspace, steps, attempt, self._stop)
            self._instructions.append(_Instruction(place, request, steps, journal))
        self._loops: dict[int, curation.CurationLoop] = {}
        """Instructions in progress, by place."""
        self._asked: dict[int, str] = {}
        """Instructions that were asked and are not decided, by place; why they failed, if they did."""

    @property
    def cost_usd(self) -> float:
        """The cost of this run's answers."""
        return sum(instruction.journal.paid_usd for instruction in self._instructions)

    async def ask_all(self, progress: Progress | None = None) -> str:
        """Ask and decide all instructions; return why the run stopped early."""
        setup = self._setup
        run_options = RunOptions("threads", setup.concurrency, opening=setup.opened, progress=progress)
        work, another = self._instructions, False
        with self._claims:
            while work:
                for instruction in work:
                    self._asked.pop(instruction.place, None)
                ended = await ask(self._questions(work, another=another), run_options)
                if ended.stopped:
                    return ended.stopped
                work, another = self._short_of_images(), True
        return ""

    def _questions(
        self, work: Sequence[_Instruction], *, another: bool
    ) -> Questions[_Instruction, curation.CurationLoop, str]:
        shared = SharedWork[_Instruction](
            self._workspace.claims(), lambda instruction: content_id("work", "curation", instruction.steps)
        )
        return Questions(
            work, self._load, WorkerTask(partial(_run_rounds, another=another), _failed), _failed,
            lambda _, error: error, self._decide, shared=shared, flush_s=0.0, on_stop=self._stop.set,
            stage="instructions, another round" if another else "instructions",
        )  # fmt: skip

    def _load(self, instruction: _Instruction) -> curation.CurationLoop:
        """Start or continue with what is stored now: another process may have asked this instruction meanwhile."""
        instruction.journal.refresh()
        if instruction.place not in self._loops:
            setup, request = self._setup, instruction.request
            near = partial(self._benchmark.near, request.key)
            tools = curation.CurationTools(setup.sources, setup.planner, self._memory.look, near)
            brief = curation.read_brief(request)
            self._loops[instruction.place] = curation.CurationLoop(brief, tools, setup.settings, instruction.journal)
        return self._loops[instruction.place]

    def _decide(self, batch: list[tuple[_Instruction, str]]) -> None:
        """Decide instructions in their order, up to the first that was not asked or needs another round."""
        self._asked |= {instruction.place: error for instruction, error in batch}
        while (place := len(self.tally.outcomes)) in self._asked:
            instruction, error = self._instructions[place], self._asked[place]
            if error:
                self.tally.fail(instruction.request.key, error)
            else:
                with self._deciding():
                    if not self._make_items(instruction):
                        return
            self._loops.pop(place, None)
            instruction.journal.refresh()

    @contextmanager
    def _deciding(self) -> Iterator[None]:
        """Another command may collect into the same data set: only one process at a time decides on its images."""
        key = content_id("curated images", self._setup.dataset)
        while self._claims.take([key]):
            time.sleep(_WAIT_S)
        try:
            yield
        finally:
            self._claims.release([key])

    def _make_items(self, instruction: _Instruction) -> bool:
        """Store the items of an instruction; False if it needs another round."""
        self._benchmark.refresh()
        result = self._loops[instruction.place].result()
        if result.more:
            return False
        setup, request = self._setup, instruction.request
        items = [
            make_item(self._workspace, setup.dataset, setup.taxonomy, request, instruction.steps, record)
            for record in result.pool
        ]
        added = self._workspace.store.add(items)
        self._benchmark.refresh()
        self.tally.add(request.key, result, [item.key for item in items], added.new)
        return True

    def _short_of_images(self) -> list[_Instruction]:
        """Return the instructions that need another round if the earlier ones keep the images that they have now."""
        short = []
        with self._benchmark.supposing() as suppose:
            for instruction in self._instructions[len(self.tally.outcomes) :]:
                if self._asked[instruction.place]:
                    continue
                result = self._loops[instruction.place].result()
                if result.more:
                    short.append(instruction)
                for record in result.pool:
                    suppose(instruction.request.key, record.sha256)
        return short


async def _run_rounds(loop: curation.CurationLoop, *, another: bool) -> str:
    """Return why the instruction failed, if it did."""
    try:
        await loop.run(another=another)
    except InvalidImage as error:  # says nothing about other instructions
        return _failed(loop, error)
    return ""


def _failed(_: object, error: Exception) -> str:
    return f"{type(error).__name__}: {error_message(error)}"
