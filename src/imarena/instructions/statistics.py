"""Statistics of a set of images (EdiVal-Agent, appendix A): object categories, scenes, lighting, types per turn."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from imarena.core import ObjectPlan
from imarena.core.records import JsonDict
from imarena.instructions.turn_drafts import EDIT_TYPES
from imarena.instructions.vocabulary import vocabulary

NOT_STATED = "not stated"


@dataclass(frozen=True)
class SceneStatistics:
    """Counts over the images of a benchmark."""

    images: int = 0
    objects: int = 0
    distinct_objects: int = 0
    """Number of different nouns."""
    categories: dict[str, int] = field(default_factory=dict)
    scenes: dict[str, int] = field(default_factory=dict)
    lighting: dict[str, int] = field(default_factory=dict)
    types: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Instructions of each type per turn (table 2)."""
    fall_backs: int = 0


def scene_statistics(plans: Sequence[ObjectPlan], facts: Iterable[JsonDict]) -> SceneStatistics:
    """Statistics of the images that became items, with scene and lighting from their decompositions."""
    nouns = Counter(thing.object for plan in plans for thing in plan.objects)
    categories: Counter[str] = Counter()
    for noun, number in nouns.items():
        categories[vocabulary().category_of(noun)] += number
    scenes: Counter[str] = Counter()
    lighting: Counter[str] = Counter()
    for fact in facts:
        scenes[str(fact.get("kind") or ("people" if fact.get("people") else NOT_STATED))] += 1
        lighting[str(fact.get("lighting") or NOT_STATED)] += 1
    longest = max((len(plan.turns) for plan in plans), default=0)
    columns = [[plan.turns[turn].type for plan in plans if turn < len(plan.turns)] for turn in range(longest)]
    types: dict[str, tuple[int, ...]] = {kind: tuple(column.count(kind) for column in columns) for kind in EDIT_TYPES}
    return SceneStatistics(
        len(plans), sum(nouns.values()), len(nouns), dict(categories.most_common()), dict(scenes.most_common()),
        dict(lighting.most_common()), types,
        sum(turn.instead_of is not None for plan in plans for turn in plan.turns),
    )  # fmt: skip
