"""Suggestions by a vision-language model for a draft's open field; words that the draft refuses are not used."""

from collections.abc import Mapping

from imarena.clients import json_object
from imarena.core import ChatAnswer, ChatPrompt
from imarena.core.records import JsonDict, Status
from imarena.instructions.chain_state import ChainState
from imarena.instructions.turn_drafts import TurnDraft
from imarena.instructions.vlm import prompt_file
from imarena.instructions.vocabulary import TextLanguage, vocabulary

_PLACES = {"left": "to the left of", "right": "to the right of", "above": "above", "below": "below"}
_SCHEMA: JsonDict = {
    "type": "object", "additionalProperties": False, "required": ["word"], "properties": {"word": {"type": "string"}},
}  # fmt: skip


def suggestion_prompt(image: bytes, state: ChainState, draft: TurnDraft, language: TextLanguage) -> ChatPrompt:
    """The question for a draft's open field, with the base image; it describes the changes of the turns in words."""
    prompt = prompt_file("suggest_word")
    objects = ", ".join(f"{thing.count} {thing.name}" for thing in state.objects) or "none"
    question = prompt.ask.format(objects=objects, task=_task(prompt.tasks, state, draft, language))
    return ChatPrompt(prompt.system, (image, question), schema=_SCHEMA, max_tokens=256)


def _task(tasks: Mapping[str, str], state: ChainState, draft: TurnDraft, language: TextLanguage) -> str:
    turn = draft.turn
    if draft.field == "new_object":
        if turn.object is not None:
            return tasks["replacement"].format(object=turn.object)
        if turn.reference is None or turn.position is None:
            return tasks["new_object"]
        return tasks["new_object_beside"].format(position=_PLACES[turn.position], reference=turn.reference)
    if draft.field == "text":
        phrase = f" in place of '{turn.old_text}' on the {turn.object}" if turn.object is not None else ""
        chinese = ", or better four Chinese characters at most" if language == "zh" else ""
        return tasks["text"].format(place=phrase, chinese=chinese)
    if draft.field == "background":
        return tasks["background"].format(background=state.background or state.contents.scene or "not known")
    choices = ", ".join(draft.options if draft.field == "color" else vocabulary().materials)
    return tasks["color" if draft.field == "color" else "material"].format(object=turn.object, choices=choices)


def read_suggestion(answer: ChatAnswer, draft: TurnDraft) -> tuple[str | None, str]:
    """The word in a reply if the draft accepts it; else None and the reason."""
    if answer.status is not Status.OK:
        return None, f"{answer.status.value}: {answer.error}"
    word = (json_object(answer.text) or {}).get("word")
    if not isinstance(word, str) or not word.strip():
        return None, "unparsable: the reply holds no word"
    word = " ".join(word.split())
    word = word if draft.field == "text" else word.lower().strip(" .")
    refused = draft.refused(word) if draft.refused is not None else ""
    return (None, f"refused: {refused}") if refused else (word, "")
