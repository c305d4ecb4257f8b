"""curate instructions: variants of instructions, their feasibility on the images, and their balance over tasks."""

import asyncio
import csv
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from imarena import curation
from imarena.core import Chat, UserError
from imarena.core.records import Item, JsonDict
from imarena.datasets import load_taxonomy
from imarena.storage import Workspace
from imarena.workflows.curating.image_memory import ImageMemory


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

    def to_json(self) -> JsonDict:
        """For ``--json``."""
        entries: list[Any] = [entry.to_json() for entry in self.entries]
        return {"instructions": entries, "balance": self.balance.to_json()}


def help_instructions(
    workspace: Workspace,
    requests: Sequence[curation.CurationRequest],
    *,
    dataset: str = "",
    taxonomy: str = "cv_arena",
    chat: Chat | None = None,
    opened: Callable[[], AbstractAsyncContextManager[None]] | None = None,
) -> InstructionReport:
    """Suggest help for the instructions of a table, or for those of a data set with its images."""
    threshold = curation.CurationSettings().threshold
    texts: list[_InstructionCase] = [_InstructionCase(request) for request in requests]
    if dataset:
        texts = [_of_item(workspace, item) for item in workspace.store.records(Item, dataset=dataset)]
    if not texts:
        raise UserError("There are no instructions.", hint="Name a table, or a data set with --dataset.")
    if chat is None or opened is None:
        variants = [curation.suggest_variants(text.request.instruction, text.seen) for text in texts]
    else:
        variants = asyncio.run(_ask_all(chat, opened, texts))
    entries = tuple(
        InstructionHelp(
            text.request,
            words,
            curation.check_feasibility(text.request, text.seen, text.text, threshold, text.shows)
            if text.seen
            else None,
        )
        for text, words in zip(texts, variants, strict=True)
    )
    labels = [(text.request.task, text.request.topic) for text in texts]
    return InstructionReport(
        entries, curation.measure_balance(labels, [task.name for task in load_taxonomy(taxonomy).tasks])
    )


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


@dataclass(frozen=True)
class _InstructionCase:
    """An instruction, and what is known about its image."""

    request: curation.CurationRequest
    seen: curation.Perception | None = None
    text: str = ""
    shows: str = ""


def _of_item(workspace: Workspace, item: Item) -> _InstructionCase:
    request = curation.CurationRequest(item.key, item.instruction, item.task, item.topic)
    perception = ImageMemory(workspace).look(workspace.load(item.sources[0]))[0] if item.sources else None
    text = f"{item.provenance.get('title') or ''} {item.provenance.get('caption') or ''}"
    return _InstructionCase(request, perception, text, str(item.provenance.get("shows") or ""))


async def _ask_all(
    chat: Chat, opened: Callable[[], AbstractAsyncContextManager[None]], texts: Sequence[_InstructionCase]
) -> list[curation.InstructionVariants]:
    async with opened():
        return [
            await curation.ask_variants(
                chat, text.request.instruction, text.text or (curation.make_caption(text.seen) if text.seen else "")
            )
            for text in texts
        ]
