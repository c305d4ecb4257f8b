"""All entries of the bundled benchmark, by key, and the fixed sample that the demo runs."""

from functools import cache

from pydantic import TypeAdapter

from imarena.core import UnknownName, package_yaml
from imarena.studio.edits import BenchmarkEntry
from imarena.studio.entries_edival import edival_entries

DEMO_KEYS = (
    "edival-03", "edival-06", "edival-09",
    "cv-exposure-correction-1", "cv-dehazing-2", "cv-depth-of-field-1", "cv-object-insertion-1",
    "cv-multi-object-composition-2", "cv-functional-state-change-1", "cv-viewpoint-change-1", "cv-text-recovery-2",
    "world-tig-t", "world-tie-p", "world-srig-a", "world-srie-cg", "world-mrig-i", "world-mrie-s",
    "photo-coffee", "photo-flower", "photo-rocket",
)  # fmt: skip
"""Twenty entries: every CV-Arena family, ImagenWorld task and topic, EdiVal type, and three photographs.

Small images only, so that the demo stays under a minute and a gigabyte.
"""


@cache
def entries() -> tuple[BenchmarkEntry, ...]:
    """The whole benchmark, always in the same order. Nothing is rendered here."""
    raw = [
        entry
        for name in ("cv_arena", "imagenworld", "photographs")
        for entry in package_yaml("imarena.studio", "entries", f"{name}.yaml")
    ]
    return (*edival_entries(), *TypeAdapter(list[BenchmarkEntry]).validate_python(raw))


@cache
def _by_key() -> dict[str, BenchmarkEntry]:
    return {entry.key: entry for entry in entries()}


def entry_of(key: str) -> BenchmarkEntry:
    """The entry called `key`."""
    entry = _by_key().get(key)
    if entry is None:
        raise UnknownName(
            f"The studio benchmark has no entry '{key}'.", hint="List them with imarena.studio.entries()."
        )
    return entry
