"""The records of a large workspace, for `fill_workspace.py`.

One judge compares the outputs of 21 editors, all 210 pairs of each item, in both orders or in one. Some attempts failed
and were repeated, some failed for good, some replies were read again by a newer parser, and a few thousand votes of
people are beside them. The same number of battles gives the same records.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import combinations
from typing import Any

import numpy as np

from imarena.core.records import (
    Item,
    Judgment,
    Mode,
    Order,
    Origin,
    Outcome,
    Output,
    Rater,
    Record,
    Run,
    Status,
    Turn,
    Usage,
    Vote,
)

JUDGE = "scale-judge"
RUN = "run-scale"
EDITORS = tuple(f"vendor-{n % 7}/editor-{n:02d}" for n in range(21))
PAIRS = tuple(combinations(range(len(EDITORS)), 2))
OUTCOMES = (Outcome.LEFT, Outcome.TIE, Outcome.RIGHT)
BEGUN = datetime(2026, 1, 1, tzinfo=UTC)
DAYS = 100
"""Verdicts are spread evenly over this many days, so that a filter by day leaves a known share."""
RARE = "a topic of one item"
FAMILIES, TASKS, TOPICS = 8, 16, 24
REASON = (
    "{winner} follows the instruction more closely: the object is changed where it was asked for, the light on it "
    "matches the scene, and its edges are clean. The other picture keeps more of the background, but leaves a faint "
    "outline of what was there before and shifts the colours of the wall behind it (case {number})."
)


@dataclass(frozen=True)
class Verdicts:
    """What the judge says of each battle: outcomes of both orders, and what happened on the way."""

    first: np.ndarray
    second: np.ndarray
    repeated: np.ndarray
    lost: np.ndarray
    reread: np.ndarray
    one_order: bool
    """Only the first order was asked."""

    @property
    def combined(self) -> np.ndarray:
        """The outcome of a battle: what its one order or both say, or else a tie."""
        return self.first if self.one_order else np.where(self.first == self.second, self.first, 1)


def verdicts(battles: int, *, one_order: bool = False) -> Verdicts:
    """Seeded Bradley-Terry outcomes with ties; in a fifth of the battles the second order is drawn anew."""
    rng = np.random.default_rng(battles)
    strength = np.linspace(1.2, -1.2, len(EDITORS))
    sides = np.array([sides_of(number) for number in range(2 * len(PAIRS))])
    left, right = sides[np.arange(battles) % len(sides)].T
    chance = 1 / (1 + np.exp(strength[right] - strength[left]))

    def drawn() -> np.ndarray:
        won = np.where(rng.random(battles) < chance, 0, 2)
        return np.where(rng.random(battles) < 0.15, 1, won).astype(np.int8)

    first = drawn()
    second = np.where(rng.random(battles) < 0.8, first, drawn()).astype(np.int8)
    repeated, lost, reread = (rng.random(battles) < share for share in (0.01, 0.002, 0.02))
    return Verdicts(first, second, repeated & ~lost, lost, reread & ~lost, one_order)


def sides_of(number: int) -> tuple[int, int]:
    """The editors of a battle; the sides are swapped for every other item."""
    item, pair = divmod(number, len(PAIRS))
    left, right = PAIRS[pair]
    return (right, left) if item % 2 else (left, right)


def about(number: int, items: int) -> dict[str, str]:
    """What an item is about."""
    topic = RARE if number == items - 1 else f"topic-{number % TOPICS:02d}"
    return {
        "dataset": "scale-b" if number % 5 == 4 else "scale-a",
        "family": f"family-{number % FAMILIES}",
        "task": f"task-{number % TASKS:02d}",
        "topic": topic,
        "track": "hard" if number % 3 == 2 else "basic",
    }


def item_count(battles: int) -> int:
    """Items that are needed for so many battles."""
    return -(-battles // len(PAIRS))


def item_of(number: int, items: int) -> Item:
    """One item. Every fortieth has two turns, given all at once."""
    texts = [f"Replace the cup on table {number} by a green bottle."]
    if number % 40 == 39:
        texts.append("Then make it evening.")
    origin = Origin(source="scale", file="items.jsonl", row=str(number))
    return Item(
        key=f"item-{number:06d}", turns=tuple(Turn(instruction=text) for text in texts), taxonomy="scale",
        origin=origin, created_at=BEGUN, **about(number, items),
    )  # fmt: skip


def item_and_outputs(number: int, items: int) -> tuple[Item, list[Output]]:
    """One item and what each editor made for it."""
    item = item_of(number, items)
    turn = len(item.turns) - 1
    mode = Mode.COMPLEX if turn else Mode.SINGLE
    outputs = [
        Output(
            item_id=item.item_id, editor=editor, turn=turn, mode=mode, created_at=BEGUN,
            origin=Origin(source="scale", file="outputs.jsonl", row=f"{number}-{place}"),
        )
        for place, editor in enumerate(EDITORS)
    ]  # fmt: skip
    return item, outputs


def work_id(battles: int, battle: int, order: Order) -> str:
    """The identity of one question."""
    return "work_" + hashlib.blake2b(f"{battles} {battle} {order.value}".encode(), digest_size=16).hexdigest()


def moment_of(battle: int, battles: int) -> datetime:
    """When a battle was judged."""
    return BEGUN + timedelta(seconds=round(DAYS * 86_400 * battle / battles))


def tokens_of(battle: int) -> tuple[int, int]:
    """Tokens in and out of one question."""
    return 2_400 + battle % 97, 180 + battle % 41


def confidence_of(battle: int) -> float:
    """How sure the judge says that it is."""
    return 0.5 + (battle % 50) / 100


def made_by(*, one_order: bool) -> dict[str, Any]:
    """What all judgments share."""
    params: dict[str, Any] = {"model": "a-vision-model", "temperature": 0.0, "max_tokens": 1024}
    if one_order:
        params["orders"] = "single"
    return {
        "judge": JUDGE, "judge_version": "2", "prompt_id": "scale-pairwise", "prompt_version": "3", "params": params,
        "run_id": RUN,
    }  # fmt: skip


def usage_of(tokens: tuple[int, int]) -> Usage:
    """What one question consumed."""
    return Usage(input_tokens=tokens[0], output_tokens=tokens[1], cost_usd=0.0031, latency_s=2.7, elapsed_s=2.9)


def judgments_of(battle: int, battles: int, said: Verdicts, outputs: list[Output]) -> Iterator[Judgment]:
    """All judgments of one battle: one order or both, failed attempts, and readings that were replaced."""
    left, right = (outputs[place] for place in sides_of(battle))
    common: dict[str, Any] = {
        **made_by(one_order=said.one_order), "item_id": left.item_id, "turn": left.turn, "left_id": left.output_id,
        "right_id": right.output_id, "created_at": moment_of(battle, battles), "usage": usage_of(tokens_of(battle)),
    }  # fmt: skip
    orders = ((Order.LEFT_FIRST, said.first[battle]), (Order.RIGHT_FIRST, said.second[battle]))
    for order, code in orders[: 1 if said.one_order else 2]:
        work = {**common, "work_id": work_id(battles, battle, order), "order": order}
        here = order is Order.LEFT_FIRST  # what goes wrong goes wrong in the first order
        if here and (said.repeated[battle] or said.lost[battle]):
            yield Judgment(**work, **FAILED, parser_version="2")
            if said.lost[battle]:
                continue
        work |= {"attempt": int(here and said.repeated[battle]), "confidence": confidence_of(battle)}
        replaced = None
        if here and said.reread[battle]:
            old = Judgment(**work, **verdict_fields(OUTCOMES[(code + 1) % 3], battle), parser_version="1")
            yield old
            replaced = old.judgment_id
        yield Judgment(**work, **verdict_fields(OUTCOMES[code], battle), parser_version="2", supersedes=replaced)


FAILED: dict[str, Any] = {"status": Status.API_ERROR, "error": "HTTP 503: the model is overloaded"}


def verdict_fields(outcome: Outcome, battle: int) -> dict[str, Any]:
    """What a judgment says."""
    named = "Neither picture" if outcome is Outcome.TIE else f"The {outcome.value} picture"
    reasons = {"summary": REASON.format(winner=named, number=battle), "confidence": "The difference is visible."}
    return {"preference": outcome, "reasons": reasons}


def votes_of(battles: int) -> Iterator[Record]:
    """People's votes on random pairs: one in fifty was changed by its rater, one in a hundred taken back."""
    rng = np.random.default_rng(battles + 1)
    items, n_raters = item_count(battles), 25
    yield from (Rater(rater_id=f"rater-{n:02d}", created_at=BEGUN) for n in range(n_raters))
    for number in range(min(5_000, battles // 20)):
        item, outputs = item_and_outputs(int(rng.integers(items)), items)
        left, right = (outputs[place] for place in rng.choice(len(outputs), 2, replace=False))
        common: dict[str, Any] = {
            "rater_id": f"rater-{number % n_raters:02d}", "item_id": item.item_id, "turn": left.turn,
            "left_id": left.output_id, "right_id": right.output_id, "time_spent_s": 9.5, "created_at": BEGUN,
        }  # fmt: skip
        vote = Vote(**common, preference=OUTCOMES[rng.integers(3)], idempotency_key=f"vote-{number}")
        yield vote
        common |= {"idempotency_key": f"vote-{number}-again", "supersedes": vote.vote_id}
        if number % 50 == 0:
            yield Vote(**common, preference=Outcome.LEFT)
        elif number % 100 == 1:
            yield Vote(**common, retracted=True)


def run_record() -> Run:
    """The run that asked all questions."""
    return Run(run_id=RUN, command="battle", state="done", created_at=BEGUN, finished_at=BEGUN + timedelta(days=DAYS))


def battles_of(number: int, battles: int) -> range:
    """The battles on one item."""
    return range(number * len(PAIRS), min(battles, (number + 1) * len(PAIRS)))


def records_of(battles: int, *, one_order: bool = False) -> Iterator[Record]:
    """Everything, in an order in which each record comes after what it names."""
    said, items = verdicts(battles, one_order=one_order), item_count(battles)
    yield run_record()
    for number in range(items):
        item, outputs = item_and_outputs(number, items)
        yield item
        yield from outputs
        for battle in battles_of(number, battles):
            yield from judgments_of(battle, battles, said, outputs)
    yield from votes_of(battles)
