"""Near-duplicates: known copies are found, other images are not, and the table agrees with a plain search."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.vision.near_duplicates import KINDS, changed, photo_parts
from imarena.curation import DuplicateIndex, HashTable, make_fingerprint, read_fingerprint
from imarena.curation.near_duplicates import caption_similarity


def test_copies_are_found_and_others_are_not() -> None:
    rng = np.random.default_rng(3)
    index = DuplicateIndex()
    originals = list(photo_parts(None, rng, 24))
    for at, source in enumerate(originals):
        assert not index.search(make_fingerprint(source)), "no two sources are alike"
        index.add(str(at), make_fingerprint(source))
    missed = []
    for at, source in enumerate(originals):
        for kind in KINDS:
            near = index.search(make_fingerprint(changed(source, kind, rng)))
            missed += [] if [each.key for each in near] == [str(at)] else [(at, kind, near)]
    assert len(missed) <= 0.02 * len(originals) * len(KINDS), missed


def test_a_fingerprint_is_read_back() -> None:
    rng = np.random.default_rng(0)
    made = make_fingerprint(rng.integers(0, 255, (90, 120, 3), dtype=np.uint8))
    back = read_fingerprint(made.to_json())
    assert (back.hashes == made.hashes).all()
    assert (back.thumb == made.thumb).all()


@given(st.integers(0, 11), st.integers(0, 2**32 - 1))
def test_the_table_finds_what_a_plain_search_finds(distance: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    stored = rng.integers(0, 2**64, (40, 3), dtype=np.uint64)
    query = stored[int(rng.integers(0, 40))].copy()
    for bit in rng.choice(64, int(rng.integers(0, 12)), replace=False):
        query ^= np.uint64(1 << int(bit))
    plain = {
        (at, variant, False) for at in range(40) for variant in range(3)
        if int(stored[at, 0] ^ query[variant]).bit_count() <= distance
    } | {
        (at, variant, True) for at in range(40) for variant in range(1, 3)
        if int(stored[at, variant] ^ query[0]).bit_count() <= distance
    }  # fmt: skip
    found = HashTable(stored).search(query, distance)
    assert {(at, variant, reverse) for at, variant, reverse, _ in found} == plain


def test_a_flat_image_has_a_fingerprint() -> None:
    flat = make_fingerprint(np.full((64, 64, 3), 128, np.uint8))
    index = DuplicateIndex()
    index.add("flat", flat)
    assert index.search(flat) == [], "a flat image has nothing to compare"


def test_a_distance_that_the_table_cannot_find_raises() -> None:
    with pytest.raises(ValueError, match="0 to 11"):
        DuplicateIndex(12)


def test_captions() -> None:
    assert caption_similarity("a red car", "A red car") == 1.0
    assert caption_similarity("a red car", "two dogs") == 0.0
    assert caption_similarity("", "") == 0.0
