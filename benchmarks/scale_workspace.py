"""Make a large workspace and the same battles as a Parquet table, for `workspace_scale.py`.

    python benchmarks/scale_workspace.py FOLDER [--battles 100000] [--url postgresql://...]

One judge compares the outputs of 21 editors in both orders, all 210 pairs of each item. Some attempts failed and were
repeated, some failed for good, some replies were read again by a newer parser, and a few thousand votes of people are
beside them. The same number of battles gives the same records, so a run that was interrupted goes on where it stopped.
"""

import argparse
import hashlib
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

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
from imarena.storage import Workspace, init_workspace

JUDGE = "scale-judge"
RUN = "run-scale"
EDITORS = tuple(f"vendor-{n % 7}/editor-{n:02d}" for n in range(21))
PAIRS = tuple(combinations(range(len(EDITORS)), 2))
OUTCOMES = (Outcome.LEFT, Outcome.TIE, Outcome.RIGHT)
BATCH = 5_000
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

    @property
    def combined(self) -> np.ndarray:
        """The outcome of a battle: what both orders say, or else a tie."""
        return np.where(self.first == self.second, self.first, 1)


def verdicts(battles: int) -> Verdicts:
    """Seeded Bradley-Terry outcomes with ties; in a fifth of the battles the second order is drawn anew."""
    rng = np.random.default_rng(battles)
    strength = np.linspace(1.2, -1.2, len(EDITORS))
    sides = np.array([_sides(number) for number in range(2 * len(PAIRS))])
    left, right = sides[np.arange(battles) % len(sides)].T
    chance = 1 / (1 + np.exp(strength[right] - strength[left]))

    def drawn() -> np.ndarray:
        won = np.where(rng.random(battles) < chance, 0, 2)
        return np.where(rng.random(battles) < 0.15, 1, won).astype(np.int8)

    first = drawn()
    second = np.where(rng.random(battles) < 0.8, first, drawn()).astype(np.int8)
    repeated, lost, reread = (rng.random(battles) < share for share in (0.01, 0.002, 0.02))
    return Verdicts(first, second, repeated & ~lost, lost, reread & ~lost)


def _sides(number: int) -> tuple[int, int]:
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


def item_and_outputs(number: int, items: int) -> tuple[Item, list[Output]]:
    """One item and what each editor made for it. Every fortieth item has two turns, given all at once."""
    texts = [f"Replace the cup on table {number} by a green bottle."]
    mode, turn = Mode.SINGLE, 0
    if number % 40 == 39:
        texts.append("Then make it evening.")
        mode, turn = Mode.COMPLEX, 1
    origin = Origin(source="scale", file="items.jsonl", row=str(number))
    item = Item(
        key=f"item-{number:06d}", turns=tuple(Turn(instruction=text) for text in texts), taxonomy="scale",
        origin=origin, created_at=BEGUN, **about(number, items),
    )  # fmt: skip
    outputs = [
        Output(
            item_id=item.item_id, editor=editor, turn=turn, mode=mode, created_at=BEGUN,
            origin=Origin(source="scale", file="outputs.jsonl", row=f"{number}-{place}"),
        )
        for place, editor in enumerate(EDITORS)
    ]  # fmt: skip
    return item, outputs


def _work(*parts: object) -> str:
    return "work_" + hashlib.blake2b(repr(parts).encode(), digest_size=16).hexdigest()


def _moment(battle: int, battles: int) -> datetime:
    return BEGUN + timedelta(seconds=round(DAYS * 86_400 * battle / battles))


def judgments_of(battle: int, battles: int, said: Verdicts, outputs: list[Output]) -> Iterator[Judgment]:
    """All judgments of one battle: both orders, failed attempts, and readings that were replaced."""
    left, right = (outputs[place] for place in _sides(battle))
    common: dict[str, Any] = {
        "judge": JUDGE, "judge_version": "2", "prompt_id": "scale-pairwise", "prompt_version": "3",
        "params": {"model": "a-vision-model", "temperature": 0.0, "max_tokens": 1024}, "item_id": left.item_id,
        "turn": left.turn, "left_id": left.output_id, "right_id": right.output_id, "run_id": RUN,
        "created_at": _moment(battle, battles), "usage": Usage(
            input_tokens=2_400 + battle % 97, output_tokens=180 + battle % 41, cost_usd=0.0031, latency_s=2.7,
            elapsed_s=2.9,
        ),
    }  # fmt: skip
    failed = {"status": Status.API_ERROR, "error": "HTTP 503: the model is overloaded"}
    for order, code in ((Order.LEFT_FIRST, said.first[battle]), (Order.RIGHT_FIRST, said.second[battle])):
        work = {**common, "work_id": _work(battles, battle, order), "order": order}
        here = order is Order.LEFT_FIRST  # what goes wrong goes wrong in the first order
        if here and (said.repeated[battle] or said.lost[battle]):
            yield Judgment(**work, **failed, parser_version="2")
            if said.lost[battle]:
                continue
        attempt = int(here and said.repeated[battle])
        work |= {"attempt": attempt, "confidence": 0.5 + (battle % 50) / 100}
        replaced = None
        if here and said.reread[battle]:
            earlier = _verdict(OUTCOMES[(code + 1) % 3], battle)
            old = Judgment(**work, **earlier, parser_version="1")
            yield old
            replaced = old.judgment_id
        yield Judgment(**work, **_verdict(OUTCOMES[code], battle), parser_version="2", supersedes=replaced)


def _verdict(outcome: Outcome, battle: int) -> dict[str, Any]:
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


def records_of(battles: int) -> Iterator[Record]:
    """Everything, in an order in which each record comes after what it names."""
    said, items = verdicts(battles), item_count(battles)
    yield Run(run_id=RUN, command="battle", state="done", created_at=BEGUN, finished_at=BEGUN + timedelta(days=DAYS))
    for number in range(items):
        item, outputs = item_and_outputs(number, items)
        yield item
        yield from outputs
        for battle in range(number * len(PAIRS), min(battles, (number + 1) * len(PAIRS))):
            yield from judgments_of(battle, battles, said, outputs)
    yield from votes_of(battles)


def fill(workspace: Workspace, battles: int) -> int:
    """Add everything in batches, with a line of progress every few seconds; returns the number of records."""
    begun = told = time.perf_counter()
    total, batch = 0, list[Record]()

    def add() -> None:
        nonlocal total
        outcome = workspace.store.add(batch)
        if outcome.conflicts:
            raise RuntimeError(f"{len(outcome.conflicts)} records were refused: {outcome.conflicts[0].reason}")
        total += len(batch)
        batch.clear()

    for record in records_of(battles):
        batch.append(record)
        if len(batch) == BATCH:
            add()
            if time.perf_counter() - told > 10:
                told = time.perf_counter()
                print(f"  {total:,} records, {total / (told - begun):,.0f} per second", flush=True)
    add()
    print(f"  {total:,} records in {time.perf_counter() - begun:.0f} s", flush=True)
    return total


def write_table(path: Path, battles: int) -> int:
    """The battles that count as a Parquet table; returns how many there are."""
    said, items = verdicts(battles), item_count(battles)
    kept = np.flatnonzero(~said.lost)
    item = kept // len(PAIRS)
    sides = np.array([_sides(number) for number in range(2 * len(PAIRS))])[kept % (2 * len(PAIRS))]
    told = [about(number, items) for number in range(items)]
    ids = [item_and_outputs(number, items)[0].item_id for number in range(items)]
    names, one = pa.array(EDITORS), np.zeros(len(kept), np.int8)
    columns = {
        "left": names.take(pa.array(sides[:, 0])),
        "right": names.take(pa.array(sides[:, 1])),
        "winner": pa.array([outcome.value for outcome in OUTCOMES]).take(pa.array(said.combined[kept])),
        "item": pa.array(ids).take(pa.array(item)),
        "source": pa.array(["judge"]).take(pa.array(one)),
        "judge": pa.array([JUDGE]).take(pa.array(one)),
    }
    for name in ("task", "family", "topic"):
        columns[name] = pa.array([one[name] for one in told]).take(pa.array(item))
    part = path.with_suffix(".part")
    parquet.write_table(pa.table(columns), part)
    part.replace(path)
    return len(kept)


def main() -> None:
    """Make both, or what is missing of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the workspace goes to FOLDER/arena, the table beside it")
    parser.add_argument("--battles", type=int, default=100_000)
    parser.add_argument("--url", default="", help="a PostgreSQL address; empty: SQLite")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    begun = time.perf_counter()
    kept = write_table(given.folder / "battles.parquet", given.battles)
    with init_workspace(given.folder / "arena", url=given.url) as workspace:
        records = fill(workspace, given.battles)
    made = {"battles": given.battles, "counted": kept, "records": records, "seconds": time.perf_counter() - begun}
    (given.folder / "made.json").write_text(json.dumps(made), encoding="utf-8")


if __name__ == "__main__":
    main()
