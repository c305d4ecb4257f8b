"""On the bundled benchmark the judge finds the known order of the built-in editors, from pixels and words alone."""

import asyncio
from collections import defaultdict
from dataclasses import replace
from itertools import combinations

import pytest
from scipy.stats import kendalltau

from imarena.core.protocols import EditRequest, Exhibit
from imarena.core.records import Outcome
from imarena.editors.studio.editors import QUALITY_ORDER, studio_editor
from imarena.judges.builtin.judge import BuiltinJudge
from imarena.studio import DEMO_KEYS, entries, entry_of, render_picture

WON = {Outcome.LEFT: 1.0, Outcome.RIGHT: 0.0, Outcome.TIE: 0.5, Outcome.BOTH_BAD: 0.5}
OTHERS = tuple(entry.key for entry in entries() if entry.key not in DEMO_KEYS)[::4]
"""Every fourth item outside the demo, whose order `tests/workflow/test_demo.py` checks."""


def exhibits_of(key: str) -> dict[str, Exhibit]:
    entry = entry_of(key)
    sources = () if entry.scene is None else (render_picture(entry.scene),)
    references = tuple(render_picture(scene) for scene in entry.references)
    asked = entry.steps[0].instruction
    found = {}
    for habit in QUALITY_ORDER:
        made = asyncio.run(
            studio_editor(habit).edit(EditRequest(asked, sources=sources, references=references, seed=0))
        )
        assert made.image is not None
        found[habit] = Exhibit(asked, made.image, sources=sources, references=references)
    return found


@pytest.mark.slow
def test_the_known_order_of_the_editors_is_found() -> None:
    judge = BuiltinJudge()
    totals: dict[str, float] = defaultdict(float)
    wins: dict[str, float] = defaultdict(float)
    for key in OTHERS:
        shown = exhibits_of(key)
        for habit, exhibit in shown.items():
            score = asyncio.run(judge.judge(exhibit)).score
            assert score is not None
            totals[habit] += score
        for ours, theirs in combinations(shown, 2):
            preference = asyncio.run(judge.judge(replace(shown[ours], right=shown[theirs].left))).preference
            assert preference is not None
            wins[ours] += WON[preference]
            wins[theirs] += 1.0 - WON[preference]
    truth = [-place for place in range(len(QUALITY_ORDER))]
    assert kendalltau([totals[h] for h in QUALITY_ORDER], truth).statistic >= 0.8
    assert kendalltau([wins[h] for h in QUALITY_ORDER], truth).statistic >= 0.8
