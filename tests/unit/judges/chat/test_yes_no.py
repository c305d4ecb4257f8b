"""Yes-or-no baselines: whether an edit follows its instruction, and whether a style is there, by a model alone."""

import asyncio

import pytest

from imarena.core.records import Status
from imarena.judges import JUDGES
from tests.unit.judges.chats import always, exhibit


@pytest.mark.parametrize("name", ["vlm-follows", "style-check"])
@pytest.mark.parametrize(("answer", "score"), [("yes", 1.0), ("No.", 0.0)])
def test_yes_is_one_and_no_is_zero(name: str, answer: str, score: float) -> None:
    judge = JUDGES.get(name)({"model": "m"}, always({"reasoning": "seen", "answer": answer}))
    verdict = asyncio.run(judge.judge(exhibit()))
    assert (verdict.status, verdict.score, verdict.success) == (Status.OK, score, bool(score))
    assert judge.name == f"{name}/m"
    assert judge.traits.dimension == {"vlm-follows": "instruction_following", "style-check": "style"}[name]


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        ({"reasoning": "", "answer": "no_style"}, Status.REFUSED),
        ({"reasoning": "", "answer": "maybe"}, Status.UNPARSABLE),
        ("Yes, it is.", Status.UNPARSABLE),
        ("I'm sorry, but I can't help with that.", Status.REFUSED),
    ],
)
def test_what_is_neither_is_a_status(reply: object, status: Status) -> None:
    judge = JUDGES.get("style-check")({}, always(reply))
    verdict = asyncio.run(judge.judge(exhibit()))
    assert (verdict.status, verdict.score) == (status, None)
