"""The direction of known metrics: whether a high value is good, by metric name (`lower_is_better.yaml`)."""

import re
from functools import cache

from imarena.core.package_data import package_yaml

_SEPARATORS = re.compile(r"[\s_\-.]+")


@cache
def _lower() -> frozenset[str]:
    groups: dict[str, list[str]] = package_yaml("imarena.core", "lower_is_better.yaml")
    return frozenset(_plain(name) for names in groups.values() for name in names)


def _plain(name: str) -> str:
    return _SEPARATORS.sub(" ", name.strip().lower())


def higher_is_better(metric: str) -> bool:
    """Return False for a metric whose low values are good; True for everything else."""
    words = _plain(metric).split(" ")
    return not any(" ".join(words[:number]) in _lower() for number in range(1, len(words) + 1))
