"""A workspace in which every rule about what counts changes a number.

It is the fixture workspace of the present schema with more of everything that a reader could get wrong: two versions of
a judge, two prompts, both directions of scores, repeats, pairs with the sides turned, replies read again, votes that
were changed, taken back or given on tasks that test a rater, raters who are excluded, samples, turns and models without
names.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import combinations
from pathlib import Path
from typing import Any

from imarena.core.records import (
    Assignment,
    Campaign,
    Issue,
    Item,
    Judgment,
    Order,
    Origin,
    Outcome,
    Output,
    Rater,
    Record,
    Status,
    Turn,
    Vote,
)  # fmt: skip
from imarena.storage import init_workspace
from tests.fixtures import workspace_records
from tests.fixtures.make_workspace import fill

LEFT, RIGHT, TIE, BAD = Outcome.LEFT, Outcome.RIGHT, Outcome.TIE, Outcome.BOTH_BAD
WORDS = (LEFT, RIGHT, LEFT, TIE, RIGHT, LEFT, BAD)
GONE, LATER = "rater_gone", "rater_later"
"""Excluded with all votes, and from one moment on."""
ONE, TWO, THREE = workspace_records.RATERS
MORE, MORE_MARKS = "camp_more", "camp_more_marks"
FORM = {"prompt_id": "p", "parser_version": "1"}
when = workspace_records.when


def build(root: Path) -> Path:
    """Make it."""
    workspace_records._DICE.seed(12)  # the same records, whatever ran before in this process
    with init_workspace(root) as workspace:
        fill(workspace)
        made = list(workspace.store.records(Output))
        more = (*people(), *judgments(made), *votes(made), *fresh(made))
        for record in more:  # one by one: links between records lead back
            added = workspace.store.add([record])
            assert not added.conflicts, added.conflicts
    with closing(sqlite3.connect(root / "arena.db")) as database, database:
        (moment,) = database.execute("SELECT created_at FROM votes WHERE body LIKE '%from here on%'").fetchone()
        for rater, since, lifted in ((GONE, None, None), (LATER, moment, None), (THREE, None, moment)):
            database.execute(
                "INSERT INTO exclusions (rater_id, since, reason, created_at, lifted_at) VALUES (?, ?, 'fast', ?, ?)",
                (rater, since, moment, lifted),
            )
    return root


def people() -> list[Record]:
    """Two raters more, and two campaigns whose answers came on a sheet."""
    raters = [Rater(rater_id=name, name=name, created_at=when()) for name in (GONE, LATER)]
    more = Campaign(campaign_id=MORE, name="more", kind="preference", open=False, created_at=when())
    marks = Campaign(campaign_id=MORE_MARKS, name="more marks", kind="rating", open=False, created_at=when())
    return [*raters, more, marks]


def fresh(made: Sequence[Output]) -> list[Record]:
    """An item that nobody was asked about."""
    item = Item(dataset="fixture", key="fresh", turns=(Turn(instruction="new"),), task="add", family="local",
                created_at=when())  # fmt: skip
    first = {one.editor: one for one in made if one.image and not one.sample}
    outputs = [
        Output(item_id=item.item_id, editor=name, image=one.image, created_at=when())
        for name, one in sorted(first.items()) if name
    ]  # fmt: skip
    return [item, *outputs]


def pairs_of(made: Sequence[Output]) -> list[tuple[Output, Output]]:
    """Every two first samples of named models on one item, turn and mode."""
    named = [one for one in made if one.editor and one.status is Status.OK and not one.sample]
    place = {one.output_id: (one.item_id, one.turn, one.mode) for one in named}
    return [pair for pair in combinations(named, 2) if place[pair[0].output_id] == place[pair[1].output_id]]


def odd_pairs(made: Sequence[Output]) -> list[tuple[Output, Output]]:
    """Two samples of one model, and two outputs of models without names: on no board, but people compared them."""
    second = next(one for one in made if one.sample)
    first = next(one for one in made if (one.item_id, one.editor, one.sample) == (second.item_id, second.editor, 0))
    unnamed = [one for one in made if one.editor is None]
    return [(first, second), (unnamed[0], unnamed[1])]


# ---------------------------------------------------------------- judges


def said(judge: str, left: Output, right: Output | None, **values: Any) -> Judgment:
    """A judgment made here, or imported where `run_id` is None."""
    told: dict[str, Any] = {"run_id": workspace_records.RUN, **FORM, **values}
    if told["run_id"] is None and "origin" not in told:
        told["origin"] = Origin(source="log", file="log", file_sha256="9" * 64, row="1")
    version = [str(told.get(name, "")) for name in ("judge_version", "prompt_version", "repeat", "dimension", "params")]
    work = ":".join([judge, *version, left.output_id[7:17], right.output_id[7:17] if right else ""])
    return Judgment(
        work_id=work, judge=judge, item_id=left.item_id, turn=left.turn, left_id=left.output_id,
        right_id=right.output_id if right else None, created_at=when(), **told,
    )  # fmt: skip


def judgments(made: Sequence[Output]) -> Iterator[Judgment]:
    """Verdicts of judges that changed, repeated themselves, or measure the other way round."""
    pairs, named = pairs_of(made), [one for one in made if one.editor and one.status is Status.OK]
    yield from _two_versions(pairs, odd_pairs(made))
    yield from _more_scores(named)
    yield from _turned_scores(named)
    yield from _logged(pairs)
    yield from _both_ways(named, pairs)


def _two_versions(pairs: Sequence[tuple[Output, Output]], odd: Sequence[tuple[Output, Output]]) -> Iterator[Judgment]:
    """twice-judge: the first version says the contrary on more pairs. The second was asked twice about some."""
    for version, shown in (("1", pairs), ("2", [*pairs[:9], *odd])):
        for n, (left, right) in enumerate(shown):
            verdict = WORDS[n % 7] if version == "2" else WORDS[n % 7].mirrored()
            sides = (right, left) if n % 3 == 2 else (left, right)
            for repeat in (0, 1) if version == "2" and n < 4 else (0,):
                for order in (Order.LEFT_FIRST, Order.RIGHT_FIRST):
                    turned = (n, repeat, order) in ((1, 1, Order.LEFT_FIRST), (5, 0, Order.RIGHT_FIRST))
                    told = {"judge_version": version, "order": order, "repeat": repeat, "params": {"t": 0}}
                    yield from _answers(n, sides, verdict.mirrored() if turned else verdict, told)


def _answers(n: int, sides: tuple[Output, Output], verdict: Outcome, told: dict[str, Any]) -> Iterator[Judgment]:
    """One answer; of the newer version one that failed, one that failed and came, one read again, one given twice."""
    base = said("twice-judge", *sides, preference=verdict, **told)
    newer = (told["judge_version"], told["order"], told["repeat"]) == ("2", Order.RIGHT_FIRST, 0)
    if newer and n in (6, 7):
        yield said("twice-judge", *sides, status=Status.TIMEOUT, error="late", **told)
        base = base.model_copy(update={"attempt": 1})
        if n == 6:
            return
    yield base
    if newer and n in (3, 8):
        again = {**told, "parser_version": "2"} | ({"supersedes": base.judgment_id} if n == 3 else {})
        yield said("twice-judge", *sides, preference=verdict.mirrored(), **again)


def _more_scores(named: Sequence[Output]) -> Iterator[Judgment]:
    """score-judge by its newer prompt: second runs, one score read again, one given twice, one that failed."""
    form = {"judge_version": "2026-01", "prompt_id": "scores", "prompt_version": "2"}
    for n, output in enumerate(named[:7]):
        yield said("score-judge", output, None, score=9.0 - n, scores={"SC": 9.0 - n}, repeat=1, **form)
    first = said("score-judge", named[0], None, score=1.0, scores={"SC": 1.0}, repeat=2, **form)
    yield first
    again = {"parser_version": "2", "supersedes": first.judgment_id, "repeat": 2, **form}
    yield said("score-judge", named[0], None, score=8.0, scores={"SC": 8.0}, **again)
    yield said("score-judge", named[1], None, score=3.0, scores={"SC": 3.0}, repeat=2, **form)
    twice = {"parser_version": "3", "repeat": 1, **form}
    yield said("score-judge", named[1], None, score=0.5, scores={"SC": 0.5}, **twice)
    yield said("score-judge", named[2], None, status=Status.REFUSED, error="no", repeat=3, **form)
    for n, output in enumerate(named[:5]):
        yield said("score-judge", output, None, score=float(n), dimension="visual_consistency", **form)


def _turned_scores(named: Sequence[Output]) -> Iterator[Judgment]:
    """turned-judge: low was good in its first version, high is in the second; near-judge: low is good."""
    for version, higher in (("1", False), ("2", True)):
        for n, output in enumerate(named if version == "1" else named[:11]):
            params = {"higher_is_better": higher}
            yield said("turned-judge", output, None, score=float(n * 5 % 7), judge_version=version, params=params)
    for n, output in enumerate(named[:13]):
        yield said("near-judge", output, None, score=float(n * 3 % 5), params={"higher_is_better": False})


def _logged(pairs: Sequence[tuple[Output, Output]]) -> Iterator[Judgment]:
    """log-judge, imported: without a version in one order and in two; a version and one that took its place."""
    both = (Order.LEFT_FIRST, Order.RIGHT_FIRST)
    for n, orders in enumerate((both, both, both[:1], (Order.BOTH,))):
        for order in orders:
            verdict = RIGHT if (n, order) == (1, Order.RIGHT_FIRST) else LEFT
            told: dict[str, Any] = (
                {"preference": TIE, "reasons": {"tie": "unstated"}} if n == 3 else {"preference": verdict}
            )
            none: dict[str, Any] = {"run_id": None, "prompt_id": "", "parser_version": ""}
            left, right = pairs[n]
            yield said("log-judge", left, right, order=order, **told, **none)
    for version, verdict in (("a", LEFT), ("b", RIGHT)):
        for pair in pairs[4:8] if version == "a" else [*pairs[4:7], pairs[5][::-1]]:  # one pair both ways round
            yield said("log-judge", *pair, order=Order.BOTH, preference=verdict, run_id=None, judge_version=version)


def _both_ways(named: Sequence[Output], pairs: Sequence[tuple[Output, Output]]) -> Iterator[Judgment]:
    """both-judge compares two pairs and scores outputs: a pair that it compared counts by that."""
    for n, output in enumerate(named[:6]):
        yield said("both-judge", output, None, score=float(n % 4))
    for left, right in pairs[:2]:
        yield said("both-judge", left, right, order=Order.BOTH, preference=RIGHT)


# ---------------------------------------------------------------- people


def cast(rater: str, left: Output, right: Output | None, key: str, **values: Any) -> Vote:
    """A vote."""
    return Vote(
        rater_id=rater, item_id=left.item_id, turn=left.turn, left_id=left.output_id,
        right_id=right.output_id if right else None, idempotency_key=key, created_at=when(), **values,
    )  # fmt: skip


def task(left: Output, right: Output | None, unit: str, **values: Any) -> Assignment:
    """A task that was sent out on a sheet."""
    return Assignment(
        campaign_id=MORE if right else MORE_MARKS, item_id=left.item_id, turn=left.turn, left_id=left.output_id,
        right_id=right.output_id if right else None, unit=unit, created_at=when(),
        kind="preference" if right else "rating", **values,
    )  # fmt: skip


def votes(made: Sequence[Output]) -> Iterator[Record]:
    """Votes and ratings that count, and for every reason some that do not."""
    pairs, named = pairs_of(made), [one for one in made if one.editor and one.status is Status.OK]
    yield from _changed(pairs)
    yield from _checks(pairs, named)
    for n, (left, right) in enumerate(odd_pairs(made)):
        for rater, word in ((TWO, LEFT), (THREE, TIE), (GONE, RIGHT)):
            yield cast(rater, left, right, f"odd-{n}", preference=word)
    for n, (left, right) in enumerate(pairs[:6]):  # the same pairs with the sides turned, and about one dimension
        yield cast(THREE, right, left, f"turned-{n}", preference=WORDS[n].mirrored())
        yield cast(TWO, right, left, f"about-{n}", preference=WORDS[n], dimension="visual_consistency")
    for n, (left, right) in enumerate(pairs[:10] * 3):  # a calibration needs 40 that people and the judge decided
        yield cast(ONE, left, right, f"free-{n}", preference=(LEFT, RIGHT, LEFT)[n % 7 % 3])
    yield from _excluded(pairs, named)
    yield from _marks(named)


def _changed(pairs: Sequence[tuple[Output, Output]]) -> Iterator[Record]:
    """Changed twice; taken back; taken back and then given again."""
    for n, words in enumerate(((LEFT, RIGHT, TIE), (LEFT, None), (RIGHT, None, LEFT))):
        given = task(*pairs[n], f"changed-{n}", probability=0.5)
        yield given
        before = None
        for step, word in enumerate(words):
            told: dict[str, Any] = {"retracted": True} if word is None else {"preference": word}
            vote = cast(TWO, *pairs[n], f"c-{n}-{step}", assignment_id=given.assignment_id, supersedes=before, **told)
            yield vote
            before = vote.vote_id


def _checks(pairs: Sequence[tuple[Output, Output]], named: Sequence[Output]) -> Iterator[Record]:
    for n, purpose in enumerate(("gold", "repeat", "practice", "practice", "qualification")):
        for left, right in (pairs[n], (named[n], None)):
            given = task(left, right, f"check-{n}", purpose=purpose, rater_id=TWO)
            said: dict[str, Any] = {"preference": RIGHT} if right else {"ratings": {"SC": 0.0, "PQ": 0.0}}
            scale = None if right else (0.0, 1.0)
            yield given
            key = f"check-{n}-{'pair' if right else 'mark'}"
            yield cast(TWO, left, right, key, assignment_id=given.assignment_id, scale=scale, **said)


def _excluded(pairs: Sequence[tuple[Output, Output]], named: Sequence[Output]) -> Iterator[Record]:
    """All votes of one rater, and those of another from a moment on."""
    for rater in (GONE, LATER):
        for n, (left, right) in enumerate(pairs[:8]):
            given = task(left, right, f"out-{n}", rater_id=rater)
            told = {"comment": "from here on"} if (rater, n) == (LATER, 5) else {}
            yield given
            yield cast(
                rater, left, right, f"out-{n}", assignment_id=given.assignment_id, preference=WORDS[(n + 3) % 7], **told
            )  # fmt: skip
        yield cast(rater, *pairs[8], "about", preference=RIGHT, dimension="visual_consistency")
        wrong = (Issue(kind="object", label="hat"), Issue(kind="new_image"))
        yield cast(rater, named[0], None, "mark", ratings={"SC": 0.0, "PQ": 0.5}, scale=(0.0, 1.0), issues=wrong)


def _marks(named: Sequence[Output]) -> Iterator[Record]:
    """Marks on another scale, given twice (the last counts), changed and taken back; of a second sample too."""
    second = next(one for one in named if one.sample)
    for n, output in enumerate((*named[:5], second)):
        given = task(output, None, f"mark-{n}", rater_id=THREE)
        yield given
        told: dict[str, Any] = {"assignment_id": given.assignment_id, "scale": (1.0, 5.0)}
        marks = {"SC": float(1 + n % 5), "PQ": float(5 - n % 3)}
        first = cast(THREE, output, None, f"m-{n}", ratings=marks, issues=(Issue(kind="returned_input"),), **told)
        yield first
        if n == 1:
            yield cast(THREE, output, None, "m-again", ratings={"SC": 5.0, "PQ": 2.0}, scale=(1.0, 5.0))
        if n == 2:
            changed = {"SC": 4.0, "PQ": 4.0}
            yield cast(THREE, output, None, "m-new", ratings=changed, supersedes=first.vote_id, **told)
        if n == 3:
            yield cast(THREE, output, None, "m-gone", retracted=True, supersedes=first.vote_id,
                       assignment_id=given.assignment_id)  # fmt: skip
