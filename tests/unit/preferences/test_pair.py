"""Preference pairs: identity, sides and files."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from imarena.core import UserError
from imarena.core.records import ImageRef, Outcome
from imarena.preferences import PreferencePair, read_pair_file, write_pair_file


def _ref(letter: str) -> ImageRef:
    return ImageRef(sha256=letter * 64, size_bytes=1, media_type="image/png")


def _pair(left: str = "a", right: str = "b", winner: Outcome = Outcome.LEFT) -> PreferencePair:
    return PreferencePair(
        item="item_1", instruction="remove the cup", task="subject_remove", source=_ref("c"),
        left=_ref(left), right=_ref(right), winner=winner, made_by="metrics",
        provenance={"left": {"editor": "one"}, "right": {"editor": "two"}, "margin": 0.3},
    )  # fmt: skip


def test_mirroring_exchanges_images_winner_and_provenance_and_keeps_the_id() -> None:
    pair = _pair()
    mirrored = pair.mirrored()
    assert (mirrored.left, mirrored.right, mirrored.winner) == (pair.right, pair.left, Outcome.RIGHT)
    assert mirrored.provenance["left"] == {"editor": "two"}
    assert mirrored.provenance["margin"] == 0.3
    assert mirrored.pair_id == pair.pair_id
    assert mirrored.chosen == pair.chosen
    assert mirrored.rejected == pair.rejected
    assert mirrored.mirrored() == pair


@given(st.integers(0, 10_000))
def test_the_arranged_sides_do_not_depend_on_the_given_order(seed: int) -> None:
    assert _pair().arranged(seed) == _pair().mirrored().arranged(seed)


def test_both_arrangements_occur() -> None:
    assert {_pair().arranged(seed).winner for seed in range(40)} == {Outcome.LEFT, Outcome.RIGHT}


@pytest.mark.parametrize(("right", "winner"), [("a", Outcome.LEFT), ("b", Outcome.BOTH_BAD)])
def test_no_winner_among_identical_images_and_no_both_bad(right: str, winner: Outcome) -> None:
    with pytest.raises(ValidationError):
        _pair(right=right, winner=winner)


def test_a_tie_has_no_chosen_image() -> None:
    with pytest.raises(ValueError, match="tie"):
        _ = _pair(winner=Outcome.TIE).chosen


def test_a_file_of_pairs_comes_back_equal(tmp_path: Path) -> None:
    pairs = (_pair(), _pair("d", "e", Outcome.TIE))
    assert write_pair_file(tmp_path / "pairs.jsonl", pairs) == 2
    assert read_pair_file(tmp_path) == pairs


def test_a_bad_line_is_named(tmp_path: Path) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text(_pair().model_dump_json() + '\n{"item": 1}\n')
    with pytest.raises(UserError, match="line 2"):
        read_pair_file(file)
    with pytest.raises(UserError, match="no file of pairs"):
        read_pair_file(tmp_path / "none")
