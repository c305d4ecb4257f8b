"""The bundled benchmark as items: rendered scenes and photographs, without downloads.

Items contain images and text, and those with several turns the plan of their objects (`core/scene_plans.py`). The
exact results are only in `imarena.studio`, for the oracle and the built-in editors; judges and detectors see only
pixels.
"""

from collections.abc import Callable, Iterable, Iterator

from imarena.core import plan_provenance
from imarena.core.records import ImageRef, Item, JsonDict, Turn
from imarena.studio import (
    DEMO_KEYS,
    LICENCE_ADDRESSES,
    BenchmarkEntry,
    Scene,
    entries,
    entry_of,
    entry_plan,
    is_photo,
    photo_of,
    render_picture,
)

DATASET = "studio"
Keep = Callable[[bytes, str], ImageRef]


def studio_items(keep: Keep, keys: Iterable[str] | None = None) -> Iterator[Item]:
    """The benchmark's items, in a fixed order. IDs are the same for the same versions of NumPy, OpenCV and Pillow.

    `keep` stores encoded bytes under a name and returns the reference. `keys` selects entries, for example
    `DEMO_KEYS`; the default is all.
    """
    selection = entries() if keys is None else tuple(entry_of(key) for key in keys)
    for entry in selection:
        yield _item(entry, keep)


def _item(entry: BenchmarkEntry, keep: Keep) -> Item:
    sources = () if entry.scene is None else (_save(entry.scene, f"{entry.key}-source", keep),)
    references = tuple(_save(scene, f"{entry.key}-reference-{i + 1}", keep) for i, scene in enumerate(entry.references))
    turns = tuple(
        Turn(
            instruction=step.instruction,
            task=step.task if len(entry.steps) > 1 or step.task != entry.task else None,
            expected=step.expected or None,
        )
        for step in entry.steps
    )
    return Item(
        dataset=DATASET, key=entry.key, turns=turns, sources=sources, references=references, taxonomy=entry.taxonomy,
        task=entry.task, family=entry.family, topic=entry.topic or None, subtopic=entry.subtopic or None,
        track=entry.track or None, licence=_licence(entry), provenance=_provenance(entry),
    )  # fmt: skip


def _save(scene: Scene, name: str, keep: Keep) -> ImageRef:
    return keep(render_picture(scene), f"{name}.{'jpg' if is_photo(scene) else 'png'}")


def _licence(entry: BenchmarkEntry) -> str:
    return photo_of(entry.scene.backdrop).licence if entry.scene is not None and is_photo(entry.scene) else "CC0-1.0"


def _provenance(entry: BenchmarkEntry) -> JsonDict:
    if entry.scene is None or not is_photo(entry.scene):
        plan = entry_plan(entry) if len(entry.steps) > 1 else None
        return {
            "made_by": "imarena.studio",
            "attribution": "Rendered by imarena; CC0, no attribution needed.",
            **({} if plan is None else plan_provenance(plan)),
        }
    photo = photo_of(entry.scene.backdrop)
    changed = "scaled and compressed again" + (" and degraded or cropped for the task" if entry.scene.effects else "")
    return {
        "attribution": f'"{photo.title}" by {photo.author}, {photo.licence}; {changed}.',
        "author": photo.author,
        "title": photo.title,
        "licence_address": LICENCE_ADDRESSES[photo.licence],
        "package": photo.package,
        "original_file": photo.original,
        "address": photo.address,
    }


__all__ = ["DATASET", "DEMO_KEYS", "Keep", "studio_items"]
