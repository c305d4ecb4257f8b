"""Text edits of rendered scenes, read by the real text reader: at least 95% of them are judged right."""

import asyncio
from dataclasses import replace

import pytest

from imarena.core import Exhibit, PlannedEdit
from imarena.core.records import Mode
from imarena.judges.edival.judge import EdiValJudge
from imarena.judges.edival.settings import EdiValSettings
from imarena.judges.edival.tools import OcrReader
from imarena.studio import SceneEdit, apply_edit, entry_plan
from imarena.studio.entries_edival import WORDS, edival_entries
from imarena.studio.kinds import KINDS
from tests.unit.judges.edival.exact_tools import SceneBook, exact_toolbox


@pytest.mark.slow
def test_texts_are_judged_right_with_the_real_reader() -> None:
    judged: list[tuple[bool, bool | None]] = []
    for entry in edival_entries(99):
        plan = entry_plan(entry)
        for number, step in enumerate(entry.steps):
            if plan is None or step.task != "text_change" or len(judged) >= 32:
                continue
            before, after = entry.scene_after(number), entry.scene_after(number + 1)
            assert before is not None
            assert after is not None
            right = len(judged) % 2 == 0
            if not right and len(judged) % 4 == 1:
                after = before
            elif not right:
                wanted = plan.turns[number].text
                other = next(word for word in WORDS if word != wanted)
                after = apply_edit(after, SceneEdit(op="set", uids=step.edit.uids, values={"text": other}))
            book = SceneBook()
            tools = replace(exact_toolbox(book, tuple(KINDS)), reader=OcrReader())
            judge = EdiValJudge(EdiValSettings(dimension="instruction_following"), toolbox=tools)
            planned = PlannedEdit(plan, number, Mode.SINGLE, (book.draw(before),))
            verdict = asyncio.run(judge.judge(Exhibit(step.instruction, left=book.draw(after), planned=planned)))
            judged.append((right, verdict.success))
    assert len(judged) == 32
    share = sum(said is right for right, said in judged) / len(judged)
    assert share >= 0.95, f"{share:.1%} of {len(judged)}"
