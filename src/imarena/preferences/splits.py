"""Splits by item, never by pair: all images of an item are in the same part."""

from collections.abc import Sequence

from imarena.core import UserError, sha256_hex
from imarena.preferences.pair import PreferencePair

PARTS = ("train", "validation", "test")


def parse_shares(text: str) -> tuple[float, float, float]:
    """Parse three shares such as `0.8,0.1,0.1` (train, validation, test) that add up to 1."""
    try:
        shares = tuple(float(part) for part in text.split(","))
    except ValueError:
        shares = ()
    if len(shares) != 3 or min(shares, default=-1.0) < 0 or abs(sum(shares) - 1.0) > 1e-9:
        raise UserError(f"'{text}' is not a split.", hint="Give three shares that add up to 1, such as 0.8,0.1,0.1.")
    return shares[0], shares[1], shares[2]


def part_of(group: str, shares: Sequence[float], seed: int) -> str:
    """The part of an item. It depends only on the item and the seed, so that adding items does not move others."""
    at = int(sha256_hex(f"{seed}\n{group}".encode())[:13], 16) / 16**13
    total = 0.0
    for name, share in zip(PARTS, shares, strict=True):
        total += share
        if at < total:
            return name
    return PARTS[-1]


def split_pairs(
    pairs: Sequence[PreferencePair], shares: Sequence[float], seed: int
) -> dict[str, tuple[PreferencePair, ...]]:
    """The pairs of each part. Items that share a source image are in the same part too."""
    parts: dict[str, list[PreferencePair]] = {name: [] for name in PARTS}
    leaders = _leaders(pairs)
    for pair in pairs:
        parts[part_of(leaders[f"item {pair.item}"], shares, seed)].append(pair)
    return {name: tuple(members) for name, members in parts.items()}


def _leaders(pairs: Sequence[PreferencePair]) -> dict[str, str]:
    """For each item and source, the largest source hash that it is connected with."""
    leader: dict[str, str] = {}

    def find(name: str) -> str:
        while leader.setdefault(name, name) != name:
            name = leader[name]
        return name

    for pair in pairs:
        first, second = sorted((find(f"item {pair.item}"), find(f"source {pair.source.sha256}")), reverse=True)
        leader[second] = first
    return {name: find(name) for name in list(leader)}
