"""A signature holds every option that changes a number: all fields of all options, by every method."""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pytest

from imarena.core import UserError
from imarena.core.records import Ranking
from imarena.ranking import (
    ActiveEloOptions,
    Battles,
    CodedColumn,
    Options,
    assemble,
    calibrated_board,
    rank,
    rank_battles,
    sign_ranking,
)
from imarena.ranking.boards.board_settings import ELSEWHERE, NOT_IN_NUMBERS, MethodOptions, board_settings
from imarena.ranking.options import METHODS, EloOptions, MixtureOptions
from imarena.stats import ScoreRange

CALIBRATED = "calibrated"
"""The mixture with a calibrated judge, which `route rerank` makes: a method without a name of its own."""
OTHER: dict[tuple[str, str], Any] = {
    ("Options", "method"): "davidson", ("Options", "rounds"): 1500, ("Options", "seed"): 5,
    ("Options", "interval"): "none", ("Options", "cluster"): "battle", ("Options", "level"): 0.8,
    ("Options", "base"): 2.0, ("Options", "scale"): 173.0, ("Options", "centre"): 1500.0,
    ("Options", "anchors"): {"a": 1200.0}, ("Options", "position"): True,
    ("Options", "dimension_weight"): "balanced", ("Options", "fragility"): 2, ("Options", "matrices"): False,
    ("Options", "executor"): "threads", ("Options", "elo"): EloOptions(k=9.0),
    ("Options", "active"): ActiveEloOptions(alpha=0.1), ("Options", "mixture"): MixtureOptions(q_human=0.8),
    ("EloOptions", "k"): 16.0, ("EloOptions", "order"): "shuffled",
    ("ActiveEloOptions", "k_human"): 16.0, ("ActiveEloOptions", "alpha"): 0.25, ("ActiveEloOptions", "q_human"): 0.7,
    ("ActiveEloOptions", "q_judge"): 0.6, ("ActiveEloOptions", "q_by_gap"): ((0.0, 0.5), (9.0, 0.9)),
    ("ActiveEloOptions", "scale_floor"): 900.0, ("ActiveEloOptions", "score_range"): ScoreRange(-50, 50),
    ("ActiveEloOptions", "paper_compat"): True,
    ("MixtureOptions", "reliability"): "source", ("MixtureOptions", "gap_bins"): 2, ("MixtureOptions", "q_human"): 0.8,
}  # fmt: skip
"""Another value than the default, for every field in `ranking/options.py`."""
PARTS: dict[str, type[MethodOptions]] = {
    "elo": EloOptions,
    "active": ActiveEloOptions,
    "mixture": MixtureOptions,
}
FIELDS = [(part, field.name) for part in (Options, *PARTS.values()) for field in fields(part)]


def some_battles(*, scored: bool) -> Battles:
    """Battles of four models by people and a judge, with every column that an option reads."""
    rng, n = np.random.default_rng(1), 240
    left = rng.integers(0, 4, n)
    right = (left + rng.integers(1, 4, n)) % 4
    left_score = np.round(rng.random(n) * 10, 0) + 3 - left
    right_score = np.round(rng.random(n) * 10, 0) + 3 - right
    unscored = np.full(n, np.nan)
    return Battles(
        models=tuple("abcd"),
        left=left.astype(np.int32),
        right=right.astype(np.int32),
        outcome=np.where(left_score == right_score, 1, np.where(left_score > right_score, 0, 2)).astype(np.int8),
        item=CodedColumn((np.arange(n) % 40).astype(np.int32), tuple(f"item {k}" for k in range(40))),
        rater=CodedColumn((np.arange(n) % 7).astype(np.int32), tuple(f"rater {k}" for k in range(7))),
        dimension=CodedColumn((np.arange(n) % 5 > 1).astype(np.int32), ("one", "other")),
        judged=np.arange(n) % 3 > 0,
        score_left=left_score if scored else unscored,
        score_right=right_score if scored else unscored,
    )


def board(method: str, options: Options, *, scored: bool = True) -> Ranking:
    battles = some_battles(scored=scored)
    if method == CALIBRATED:
        options = replace(options, method="mixture")
        made = calibrated_board(battles, lambda gap: np.full(gap.size, 0.7) + gap / 100, options)
        return sign_ranking(assemble(battles, made, options, None), {"source": "table"})
    return sign_ranking(rank_battles(battles, replace(options, method=method)), {"source": "table"})


def usual(method: str) -> Options:
    """Options with which each field has something to change: bins need a reliability by gap."""
    mixture = MixtureOptions(reliability="gap" if method == CALIBRATED else "rater")
    return Options(mixture=mixture)


def with_other(options: Options, part: type[Any], name: str) -> Options:
    value = OTHER[part.__name__, name]
    if part is Options:
        return replace(options, **{name: value})
    own = next(own for own, kind in PARTS.items() if kind is part)
    return replace(options, **{own: replace(getattr(options, own), **{name: value})})


def numbers(made: Ranking) -> object:
    return made.models


def test_every_option_has_another_value_to_test() -> None:
    """A new option: add a value here; if it changes no number, also list it in `NOT_IN_NUMBERS`."""
    assert {(part.__name__, name) for part, name in FIELDS} == set(OTHER)
    assert {name for _, name in FIELDS} >= NOT_IN_NUMBERS | ELSEWHERE
    assert all(getattr(part(), name) != OTHER[part.__name__, name] for part, name in FIELDS)


@pytest.mark.parametrize(("part", "name"), [(part, name) for part, name in FIELDS if name not in ELSEWHERE], ids=str)
def test_an_option_that_changes_numbers_changes_the_signature(part: type[Any], name: str) -> None:
    recorded = False
    for method in (*METHODS, CALIBRATED):
        settings = [usual(method)]
        settings += [replace(settings[0], mixture=MixtureOptions(reliability="gap"))] if part is MixtureOptions else []
        settings += [replace(settings[0], interval="sandwich")] if method in ("bt", "mixture") else []
        for options in settings:
            for scored in (True, False) if method == "active-elo" else (True,):
                try:
                    changed = board(method, with_other(options, part, name), scored=scored)
                except UserError:  # this method does not take the option
                    continue
                before = board(method, options, scored=scored)
                line = before.settings["signature"]
                if numbers(changed) != numbers(before):
                    assert changed.settings["signature"] != line, (method, name)
                recorded |= changed.settings["signature"] != line
    assert recorded is (name not in NOT_IN_NUMBERS)


@dataclass(frozen=True)
class MoreOptions(Options):
    """Options with one more field, added as ARCHITECTURE.md describes, and used by a method that does not record it."""

    prior: float = 0.5
    steps: tuple[int, ...] = ()


@dataclass(frozen=True)
class MoreElo(EloOptions):
    """As `MoreOptions`, for one method."""

    decay: float = 0.0


@pytest.mark.parametrize("method", [*METHODS, CALIBRATED])
def test_a_new_option_is_recorded_by_every_method(method: str) -> None:
    options = MoreOptions(rounds=20)
    plain = board(method, Options(rounds=20))
    assert board(method, options).settings == plain.settings, "at its default, a new option changes no signature"
    made = board(method, replace(options, prior=0.7, steps=(1, 2)))
    assert made.settings["prior"] == 0.7
    assert made.settings["steps"] == [1, 2]
    assert "|prior:0.7|" in str(made.settings["signature"])


def test_a_new_option_of_a_method_is_recorded() -> None:
    made = board("elo", Options(rounds=20, elo=MoreElo(decay=0.1)))
    assert made.settings["decay"] == 0.1
    assert "decay" not in board("bt", Options(rounds=20, elo=MoreElo(decay=0.1))).settings


def test_what_a_method_writes_is_not_written_again() -> None:
    made = board_settings(Options(cluster="item", rounds=50), {"cluster": "battle"}, unused={"rounds"})
    assert made["cluster"] == "battle"
    assert "rounds" not in made


def test_the_chosen_covariates_are_in_the_signature() -> None:
    rows = [
        {"left": "ab"[k % 2], "right": "ba"[k % 2], "winner": ("left", "right", "tie")[k % 3], "x": k % 5, "y": k % 7}
        for k in range(60)
    ]
    lines = {str(rank(rows, covariates=chosen).settings["signature"]) for chosen in ([], ["x"], ["y"], ["x", "y"])}
    assert len(lines) == 4
