"""curate instructions: variants of instructions, their feasibility on the images, and their balance over tasks."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from imarena import curation
from imarena.core import Progress, UserError
from imarena.core.records import Item, JsonDict, Status
from imarena.datasets import load_taxonomy
from imarena.judges import Estimate
from imarena.storage import Workspace
from imarena.workflows.curating.image_memory import ImageAnalysisCache
from imarena.workflows.curating.variants import (
    AnsweredVariants,
    VariantsJob,
    VariantsQuestion,
    ask_all_variants,
    plan_variants,
)
from imarena.workflows.wiring import JudgeChat


@dataclass(frozen=True)
class InstructionHelp:
    """The suggestions for one instruction."""

    request: curation.CurationRequest
    variants: curation.InstructionVariants
    feasibility: curation.Feasibility | None
    """None without an image."""

    def to_json(self) -> JsonDict:
        """For ``--json``."""
        result = self.feasibility
        return {
            "key": self.request.key, "instruction": self.request.instruction, "task": self.request.task,
            "paraphrases": list(self.variants.paraphrases), "easier": self.variants.easier or None,
            "harder": self.variants.harder or None, "note": self.variants.note or None,
            "feasible": result.feasible if result else None, "score": result.score if result else None,
            "missing": list(result.missing) if result else None,
        }  # fmt: skip


@dataclass(frozen=True)
class InstructionReport:
    """Help for all instructions, and their balance over tasks."""

    entries: tuple[InstructionHelp, ...]
    balance: curation.Balance
    missing: int = 0
    """Number of questions to the model without a usable answer: the same command asks them again."""
    stopped: str = ""
    cost_usd: float = 0.0

    def to_json(self) -> JsonDict:
        """For ``--json``."""
        entries: list[Any] = [entry.to_json() for entry in self.entries]
        return {
            "instructions": entries, "balance": self.balance.to_json(), "missing": self.missing,
            "stopped": self.stopped, "cost_usd": self.cost_usd,
        }  # fmt: skip


@dataclass(frozen=True)
class InstructionCase:
    """An instruction, and what is known about its image."""

    request: curation.CurationRequest
    seen: curation.Perception | None = None
    text: str = ""
    shows: str = ""

    @property
    def question(self) -> VariantsQuestion:
        """The question about it, for a model."""
        caption = self.text.strip() or (curation.make_caption(self.seen) if self.seen else "")
        return VariantsQuestion(self.request.instruction, caption)


@dataclass(frozen=True)
class InstructionsJob:
    """The instructions, and the questions to a model, if one was named."""

    cases: tuple[InstructionCase, ...]
    variants: VariantsJob | None

    @property
    def estimates(self) -> list[Estimate]:
        """What the questions will take."""
        return [] if self.variants is None else [self.variants.estimate]


def plan_instructions(
    workspace: Workspace,
    requests: Sequence[curation.CurationRequest],
    *,
    dataset: str = "",
    chat: JudgeChat | None = None,
    dry_run: bool = False,
) -> InstructionsJob:
    """Read the instructions of a table, or those of a data set with its images; plan the questions to a model."""
    cases = tuple(InstructionCase(request) for request in requests)
    if dataset:
        memory = ImageAnalysisCache(workspace, stores=not dry_run)
        cases = tuple(_of_item(workspace, memory, item) for item in workspace.store.records(Item, dataset=dataset))
    if not cases:
        raise UserError("There are no instructions.", hint="Name a table, or a data set with --dataset.")
    questions = [case.question for case in cases]
    return InstructionsJob(cases, None if chat is None else plan_variants(workspace, chat, questions))


def help_instructions(
    workspace: Workspace, job: InstructionsJob, *, taxonomy: str = "cv_arena", progress: Progress | None = None
) -> InstructionReport:
    """Suggest variants, check feasibility, and measure the balance over tasks."""
    threshold = curation.CurationSettings().threshold
    asked = (
        AnsweredVariants({}) if job.variants is None else ask_all_variants(workspace, job.variants, progress=progress)
    )
    entries = tuple(
        InstructionHelp(
            case.request,
            asked.answers[case.question].variants
            if case.question in asked.answers
            else curation.suggest_variants(case.request.instruction, case.seen),
            curation.check_feasibility(case.request, case.seen, case.text, threshold, case.shows)
            if case.seen
            else None,
        )
        for case in job.cases
    )
    labels = [(case.request.task, case.request.topic) for case in job.cases]
    balance = curation.measure_balance(labels, [task.name for task in load_taxonomy(taxonomy).tasks])
    missing = sum(answer.status is not Status.OK for answer in asked.answers.values())
    return InstructionReport(entries, balance, missing, asked.stopped, asked.cost_usd)


def write_variants(report: InstructionReport, path: Path) -> int:
    """Write a table of all suggestions, which `curate run` reads; return the number of rows."""
    rows = 0
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(("key", "instruction", "task", "topic"))
        for entry in report.entries:
            variants = [(f"p{at + 1}", text) for at, text in enumerate(entry.variants.paraphrases)]
            variants += [("easier", entry.variants.easier), ("harder", entry.variants.harder)]
            for name, text in variants:
                if text:
                    request = replace(entry.request, key=f"{entry.request.key}-{name}")
                    table.writerow((request.key, text, request.task or "", request.topic or ""))
                    rows += 1
    return rows


def _of_item(workspace: Workspace, memory: ImageAnalysisCache, item: Item) -> InstructionCase:
    request = curation.CurationRequest(item.key, item.instruction, item.task, item.topic)
    perception = memory.look(workspace.load(item.sources[0]))[0] if item.sources else None
    text = f"{item.provenance.get('title') or ''} {item.provenance.get('caption') or ''}"
    return InstructionCase(request, perception, text, str(item.provenance.get("shows") or ""))
