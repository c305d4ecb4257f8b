"""Filters of quality and content. Damage is refused unless the task is about it; people and sensitive content are
flagged for review by a person.
"""

import re
from functools import cache

from imarena.core import FrozenModel, package_yaml
from imarena.curation.checks import Refused
from imarena.curation.conditions import overlay_text
from imarena.curation.perception import Perception
from imarena.curation.scoring import stated_words
from imarena.curation.settings import CurationSettings
from imarena.curation.task_needs import TaskNeeds
from imarena.vision import TextLine, find_injections, kinds_in_phrase


class SensitiveWords(FrozenModel):
    """The content of the data file `sensitive.yaml`."""

    version: int
    groups: dict[str, tuple[str, ...]]
    things: dict[str, tuple[str, ...]]
    personal_text: str


@cache
def sensitive_words() -> SensitiveWords:
    """Read the data file."""
    return SensitiveWords.model_validate(package_yaml("imarena.curation", "sensitive.yaml"))


def refuse_damage(perception: Perception, settings: CurationSettings, needs: TaskNeeds) -> None:
    """Raise `Refused` for compression artefacts, blur or a watermark, unless the task allows them."""
    if perception.blocking > settings.max_blocking and "blocking" not in needs.allows:
        raise Refused("compression", f"{perception.blocking:.2f}: compression blocks above {settings.max_blocking:g}")
    if perception.blur > settings.max_blur and "blurry" not in needs.allows:
        raise Refused("blur", f"{perception.blur:.2f}: blur above {settings.max_blur:g}")
    overlay = overlay_text(perception)
    if overlay and "overlay" not in needs.allows:
        raise Refused("watermark", f"a watermark or overlay reads '{overlay[:60]}'")


def review_flags(perception: Perception, text: str) -> tuple[str, ...]:
    """Reasons for a review: people, sensitive words or things, personal data, text that addresses a model."""
    flags = []
    person = kinds_in_phrase("person")
    if perception.faces or any(person & kinds_in_phrase(thing.label) for thing in perception.things):
        flags.append("people")
    sensitive = sensitive_words()
    text_in_image = " ".join(line.text for line in perception.words)
    words, plain = stated_words(f"{text} {text_in_image}"), f"{text} {text_in_image}".casefold()
    for group, group_words in sensitive.groups.items():
        if any(word in words if " " not in word else word in plain for word in group_words):
            flags.append(f"sensitive:{group}")
    for group, things in sensitive.things.items():
        if any(thing.label in things for thing in perception.things):
            flags.append(f"sensitive:{group}")
    if re.search(sensitive.personal_text, text_in_image):
        flags.append("personal_data")
    lines = [TextLine(line.text, line.confidence, line.box) for line in perception.words]
    if find_injections([*lines, TextLine(text, 1.0, (0.0, 0.0, 1.0, 1.0))]):
        flags.append("addresses_model")
    return tuple(dict.fromkeys(flags))
