"""Choosing candidates, splitting pairs, and pairs from votes and judgments."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imarena.core import UserError
from imarena.core.records import ImageRef, Outcome
from imarena.preferences import (
    AgreementFilter,
    JudgedPair,
    PreferencePair,
    hashed_words,
    joint_features,
    k_center,
    pairs_from_verdicts,
    parse_shares,
    split_pairs,
)


def _ref(number: int) -> ImageRef:
    return ImageRef(sha256=f"{number:064x}", size_bytes=1, media_type="image/png")


def test_k_center_takes_one_of_each_cluster_first() -> None:
    rng = np.random.default_rng(0)
    middles = np.eye(4, 16, dtype=np.float32)
    rows = np.concatenate([middle + rng.normal(0, 0.02, (20, 16)) for middle in middles]).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    chosen, radius = k_center(rows, [f"{at:03d}" for at in range(80)], 4)
    assert {at // 20 for at in chosen} == {0, 1, 2, 3}
    assert radius < 0.1
    everything, left = k_center(rows, [f"{at:03d}" for at in range(80)], 500)
    assert sorted(everything) == list(range(80))
    assert left == 0.0


@given(st.integers(2, 12), st.integers(0, 1000))
def test_the_order_of_the_rows_changes_no_choice(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(count, 5)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    keys = [f"key {at}" for at in range(count)]
    order = rng.permutation(count)
    first, _ = k_center(rows, keys, 3)
    second, _ = k_center(rows[order], [keys[at] for at in order], 3)
    assert [keys[at] for at in first] == [keys[order[at]] for at in second]


def test_text_features_tell_instructions_apart() -> None:
    rows = hashed_words(["remove the red cup", "remove the red mug", "turn it into a painting"])
    assert rows[0] @ rows[1] > rows[0] @ rows[2]
    joint = joint_features(np.ones((3, 4), np.float32), rows)
    assert np.allclose(np.linalg.norm(joint, axis=1), 1.0, atol=1e-5)


def _pair(item: int, source: int, number: int) -> PreferencePair:
    return PreferencePair(
        item=f"item {item}", instruction="x", task="t", source=_ref(source), left=_ref(number), right=_ref(number + 1),
        winner=Outcome.LEFT, made_by="metrics",
    )  # fmt: skip


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=1, max_size=30), st.integers(0, 99))
def test_neither_an_item_nor_a_source_is_in_two_parts(links: list[tuple[int, int]], seed: int) -> None:
    pairs = [_pair(item, 100 + source, 1000 + 2 * at) for at, (item, source) in enumerate(links)]
    parts = split_pairs(pairs, (0.5, 0.25, 0.25), seed)
    assert sum(len(part) for part in parts.values()) == len(pairs)
    for field in ("item", "source"):
        values = [{str(getattr(pair, field)) for pair in part} for part in parts.values()]
        assert len(set.union(*values)) == sum(len(each) for each in values)
    assert parts == split_pairs(pairs, (0.5, 0.25, 0.25), seed)


@pytest.mark.parametrize("text", ["", "1", "0.5,0.5", "0.5,0.6,0.1", "a,b,c", "1.2,-0.1,-0.1"])
def test_a_split_is_three_shares_of_one(text: str) -> None:
    with pytest.raises(UserError, match="split"):
        parse_shares(text)


def _judged(outcomes: str, consistent: bool | None = None, right: int = 3) -> JudgedPair:
    names = {"l": Outcome.LEFT, "r": Outcome.RIGHT, "t": Outcome.TIE, "b": Outcome.BOTH_BAD}
    said = tuple(names[letter] for letter in outcomes)
    return JudgedPair("item", "do it", "t", _ref(1), _ref(2), _ref(right), said, consistent)


def test_votes_need_agreement() -> None:
    rule = AgreementFilter(min_votes=2, min_share=0.6)
    judged = [_judged("llr"), _judged("lr"), _judged("l"), _judged("tbt"), _judged("rrr", right=4)]
    made = pairs_from_verdicts(judged, rule, "votes", "visual_consistency", 3)
    assert sorted(pair.chosen.sha256[-1] for pair in made.pairs) == ["2", "4"]
    assert len(made.ties) == 1
    assert made.skipped == {"raters_disagree": 1, "too_few_votes": 1}


def test_one_half_is_no_majority() -> None:
    made = pairs_from_verdicts([_judged("lr")], AgreementFilter(), "votes", "visual_consistency", 3)
    assert made.skipped == {"raters_disagree": 1}


def test_judgments_count_in_both_orders_only() -> None:
    judged = [_judged("l", True), _judged("t", False), _judged("r", None)]
    made = pairs_from_verdicts(judged, AgreementFilter(), "judgments", "visual_consistency", 3)
    assert len(made.pairs) == 1
    assert made.skipped == {"orders_disagree": 1, "one_order_only": 1}
    loose = pairs_from_verdicts(judged, AgreementFilter(both_orders=False), "judgments", "visual_consistency", 3)
    assert (len(loose.pairs), len(loose.ties)) == (2, 1)
