"""On the bundled benchmark the judge finds the known order of the built-in editors, from pixels and words alone."""

import asyncio
from collections import defaultdict
from itertools import permutations

import pytest
from scipy.stats import kendalltau

from imarena.core.protocols import EditRequest, Exhibit
from imarena.editors.studio import QUALITY_ORDER, studio_editor
from imarena.judges.builtin import BuiltinJudge
from imarena.studio import DEMO_KEYS, entry_of, picture


def scores_of(key: str, judge: BuiltinJudge) -> dict[str, float]:
    entry = entry_of(key)
    sources = () if entry.scene is None else (picture(entry.scene),)
    references = tuple(picture(scene) for scene in entry.references)
    asked = entry.steps[0].instruction
    found = {}
    for habit in QUALITY_ORDER:
        made = asyncio.run(
            studio_editor(habit).edit(EditRequest(asked, sources=sources, references=references, seed=0))
        )
        assert made.image is not None
        verdict = asyncio.run(judge.judge(Exhibit(asked, made.image, sources=sources, references=references)))
        assert verdict.score is not None
        found[habit] = verdict.score
    return found


@pytest.mark.slow
def test_the_known_order_of_the_editors_is_found() -> None:
    judge = BuiltinJudge()
    totals: dict[str, float] = defaultdict(float)
    wins: dict[str, float] = defaultdict(float)
    for key in DEMO_KEYS:
        scores = scores_of(key, judge)
        for habit, value in scores.items():
            totals[habit] += value
        for (left, ours), (_, theirs) in permutations(scores.items(), 2):
            gap = round(ours - theirs, 6)
            wins[left] += 0.5 if abs(gap) <= judge.settings.margin else float(gap > 0)
    truth = [-place for place in range(len(QUALITY_ORDER))]
    assert kendalltau([totals[h] for h in QUALITY_ORDER], truth).statistic >= 0.8
    assert kendalltau([wins[h] for h in QUALITY_ORDER], truth).statistic >= 0.8
