"""Decomposition by a vision-language model through the chat port: screen the image, list its objects, ground them."""

import asyncio
import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.clients import StagePrompt, field_text, json_object, stage_prompt
from imarena.core import Chat, ChatAnswer, ChatPrompt, InvalidImage, SceneObject, error_message
from imarena.core.records import JsonDict, Status, Usage
from imarena.images import pixels as decode_image
from imarena.instructions.decomposition import Decomposition, DroppedObject
from imarena.instructions.grounding import Grounder, too_large
from imarena.instructions.phrases import object_name
from imarena.instructions.scene_contents import SceneContents

MOST_OBJECTS = 40
MOST_COUNT = 200
LONGEST_NAME, LONGEST_TEXT, LONGEST_REASON = 48, 60, 200
PEOPLE = frozenset(
    ("person", "people", "man", "men", "woman", "women", "boy", "boys", "girl", "girls", "child", "children", "kid",
     "kids", "baby", "babies", "human", "humans", "face", "hand", "crowd", "player", "worker", "lady", "guy")
)  # fmt: skip
QUESTIONS = ("screen_scene", "list_objects")
"""The prompts of a decomposition, in order. An unsuitable image gets only the first."""
_WORD = re.compile(r"[^\W\d_](?:[\w' -]*\w)?")
_SCREEN_SCHEMA: JsonDict = {
    "type": "object", "additionalProperties": False, "required": ["usable", "reason", "scene", "kind", "lighting"],
    "properties": {
        "usable": {"type": "boolean"}, "reason": {"type": "string"}, "scene": {"type": "string"},
        "kind": {"type": "string"}, "lighting": {"type": "string"},
    },
}  # fmt: skip
_MAYBE_TEXT: JsonDict = {"type": ["string", "null"]}
_LIST_SCHEMA: JsonDict = {
    "type": "object", "additionalProperties": False, "required": ["objects"],
    "properties": {"objects": {"type": "array", "items": {
        "type": "object", "required": ["object", "color", "material", "text", "count", "foreground"],
        "properties": {"object": {"type": "string"}, "color": _MAYBE_TEXT, "material": _MAYBE_TEXT, "text": _MAYBE_TEXT,
                       "count": {"type": "integer"}, "foreground": {"type": "boolean"}},
    }}},
}  # fmt: skip


def prompt_file(name: str) -> StagePrompt:
    """A prompt of this package."""
    return stage_prompt("imarena.instructions", name)


@dataclass(frozen=True)
class ChatDecomposer:
    """Asks a model what an image shows and whether it is usable; a detector checks that each object exists."""

    chat: Chat
    model: str
    ground: Grounder
    detector: str

    @property
    def version(self) -> str:
        return "+".join(f"{prompt_file(name).version}" for name in QUESTIONS)

    @property
    def name(self) -> str:
        return f"{self.model} with {self.detector}"

    async def __call__(self, image: bytes) -> Decomposition:
        try:
            pixels = decode_image(image)
        except InvalidImage as error:
            return Decomposition("failed", Status.INVALID_IMAGE, error_message(error))
        screen = await self._ask("screen_scene", image, _SCREEN_SCHEMA)
        fields = json_object(screen.text) if screen.status is Status.OK else None
        if fields is None or not isinstance(fields.get("usable"), bool):
            return _failure(screen, "the reply does not say whether the image can be used", screen)
        facts: JsonDict = {name: field_text(fields.get(name), LONGEST_NAME) for name in ("scene", "kind", "lighting")}
        if not fields["usable"]:
            reason = field_text(fields.get("reason"), LONGEST_REASON) or "no reason given"
            return Decomposition("unsuitable", reason=reason, facts=facts, usage=screen.usage, raw=(screen.text,))
        listing = await self._ask("list_objects", image, _LIST_SCHEMA)
        reply = json_object(listing.text) if listing.status is Status.OK else None
        entries = reply.get("objects") if reply is not None else None
        if not isinstance(entries, list):
            return _failure(listing, "the reply holds no list of objects", screen, listing)
        objects, dropped = checked_objects(entries)
        draft = Decomposition(
            "no_objects", reason="the model lists no object" if not dropped else "no entry of the list is an object",
            dropped=tuple(dropped), facts=facts, usage=_sum(screen.usage, listing.usage),
            raw=(screen.text, listing.text),
        )  # fmt: skip
        return await asyncio.to_thread(self._grounded, pixels, objects, draft) if objects else draft

    def _grounded(self, pixels: NDArray[np.uint8], objects: list[SceneObject], draft: Decomposition) -> Decomposition:
        """Algorithm 1: keep objects that the detector finds and that leave room."""
        height, width = pixels.shape[:2]
        boxes = self.ground(pixels, [thing.name for thing in objects])
        visible: list[SceneObject] = []
        dropped = list(draft.dropped)
        for thing in objects:
            detections = boxes.get(thing.name, ())
            reason = "the detector does not find it" if not detections else too_large(detections, width, height)
            if reason:
                dropped.append(DroppedObject(thing.name, reason))
            else:
                visible.append(thing.model_copy(update={"boxes": tuple(detection.box for detection in detections)}))
        if not visible:
            why = "the detector finds none of the listed objects that can be edited"
            return replace(draft, outcome="nothing_found", reason=why, dropped=tuple(dropped))
        names = {thing.name for thing in visible}
        contents = SceneContents(
            tuple(visible), width, height, ("person", *(thing.object for thing in objects if thing.name not in names)),
            tuple(thing.text for thing in objects if thing.text), str((draft.facts or {}).get("scene", "")),
        )  # fmt: skip
        return replace(draft, outcome="ok", reason="", contents=contents, dropped=tuple(dropped))

    async def _ask(self, name: str, image: bytes, schema: JsonDict) -> ChatAnswer:
        prompt = prompt_file(name)
        question = prompt.ask.format()
        return await self.chat(ChatPrompt(prompt.system, (image, question), schema=schema, max_tokens=2048))


def checked_objects(entries: list[Any]) -> tuple[list[SceneObject], list[DroppedObject]]:
    """The objects of a model's list, validated: no persons, no overlong names, no duplicates."""
    objects: dict[str, SceneObject] = {}
    dropped: list[DroppedObject] = []
    for entry in entries[:MOST_OBJECTS]:
        noun = _name(entry.get("object")) if isinstance(entry, dict) else ""
        if not noun:
            dropped.append(DroppedObject(field_text(str(entry), LONGEST_NAME), "not the name of an object"))
            continue
        if PEOPLE & set(noun.split()):
            dropped.append(DroppedObject(noun, "a person"))
            continue
        color, material = _name(entry.get("color")) or None, _name(entry.get("material")) or None
        name = object_name(noun, color, material)
        count = entry.get("count")
        has_count = isinstance(count, int) and not isinstance(count, bool) and 1 <= count <= MOST_COUNT
        if name in objects:
            dropped.append(DroppedObject(name, "listed twice"))
            continue
        text = field_text(entry.get("text"), LONGEST_TEXT).replace("'", "")
        objects[name] = SceneObject(
            name=name, object=noun, color=color, material=material, text=text or None, count=count if has_count else 1,
            foreground=entry.get("foreground") is True,
        )  # fmt: skip
    dropped += [DroppedObject("", "over the limit of entries")] * max(0, len(entries) - MOST_OBJECTS)
    return list(objects.values()), dropped


def _failure(answer: ChatAnswer, why: str, *answers: ChatAnswer) -> Decomposition:
    """The status of an answer; an ok answer that cannot be used is unparsable."""
    ok = answer.status is Status.OK
    return Decomposition(
        "failed", Status.UNPARSABLE if ok else answer.status, why if ok else answer.error or answer.status.value,
        usage=_sum(*(part.usage for part in answers)), raw=tuple(part.text for part in answers if part.text),
    )  # fmt: skip


def _name(value: Any) -> str:
    """A name in lower case; empty if it is not a name, such as `null`, a sentence or markup."""
    name = field_text(value, LONGEST_NAME + 1).lower()
    unnamed = name in ("null", "none", "unknown", "n/a", "")
    return "" if unnamed or len(name) > LONGEST_NAME or not _WORD.fullmatch(name) or len(name.split()) > 4 else name


def _sum(*usages: Usage) -> Usage:
    costs = [usage.cost_usd for usage in usages if usage.cost_usd is not None]
    return Usage(
        input_tokens=sum(usage.input_tokens or 0 for usage in usages) or None,
        output_tokens=sum(usage.output_tokens or 0 for usage in usages) or None,
        cost_usd=sum(costs) if costs else None,
        latency_s=sum(usage.latency_s or 0.0 for usage in usages) or None,
    )
