"""ImagenWorld's judge (sections 4 and A.8): four criteria on 1 to 5, each (x - 1) / 4, overall their mean.

And its expected-object list: what a result should show, for raters to tick off.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from imarena.core.protocols import Chat, ChatPrompt, Exhibit, Verdict
from imarena.core.records import Status, Usage
from imarena.judges.chat_judge import ChatJudge, ChatSettings, need_chat
from imarena.judges.options import read_options
from imarena.judges.parse import Unreadable, field, read_number, read_object
from imarena.judges.prompt import load_prompt, render

CRITERIA = ("prompt_relevance", "aesthetic_quality", "content_coherence", "artifacts")
LOWEST, HIGHEST = 1.0, 5.0
MAX_OBJECTS = 10
REMOVED = "(should not be present)"


class ImagenWorldSettings(ChatSettings):
    """`prompt`: a prompt file of your own with the same four fields in its reply."""

    prompt: str = ""


def make(options: Mapping[str, JsonValue], chat: Chat | None) -> ChatJudge:
    """For edits and generated images alike; sources and references are shown where there are any."""
    settings = read_options(ImagenWorldSettings, options, "imagenworld")
    return ChatJudge(
        kind="imagenworld",
        prompts={"rate": load_prompt(settings.prompt or "imagenworld")},
        read=lambda replies: read_ratings(replies["rate"]),
        chat=need_chat(chat, "imagenworld"),
        settings=settings,
    )


def rescaled(rating: float) -> float:
    """1 to 5 onto 0 to 1."""
    return (rating - LOWEST) / (HIGHEST - LOWEST)


def read_ratings(text: str) -> Verdict:
    """A reply as four scores on 0 to 1 and their mean; `reasons` keeps the marks as given. Raises `Unreadable`."""
    fields = read_object(text)
    ratings = {name: read_number(field(fields, name), LOWEST, HIGHEST, name, whole=True) for name in CRITERIA}
    scores = {name: rescaled(rating) for name, rating in ratings.items()}
    marks: dict[str, JsonValue] = dict(ratings)
    return Verdict(
        status=Status.OK, score=sum(scores.values()) / len(scores), scores=scores, reasons={"ratings": marks}
    )


# ---------------------------------------------------------------- expected objects


@dataclass(frozen=True)
class ExpectedObject:
    """Something that the result should show, or should no longer show."""

    name: str
    present: bool = True

    def __str__(self) -> str:
        return self.name if self.present else f"{self.name} {REMOVED}"


@dataclass(frozen=True)
class ObjectList:
    """The checklist, or the status that says why there is none."""

    status: Status
    objects: tuple[ExpectedObject, ...] = ()
    error: str = ""
    raw: str = ""
    usage: Usage = Usage()


async def expected_objects(
    chat: Chat, instruction: str, sources: tuple[bytes, ...] = (), references: tuple[bytes, ...] = ()
) -> ObjectList:
    """Ask for the objects that a result of `instruction` should show: ten at most, removed ones marked."""
    prompt = load_prompt("imagenworld-objects")
    rendered = render(prompt, Exhibit(instruction=instruction, left=b"", sources=sources, references=references))
    answer = await chat(ChatPrompt(rendered.system, rendered.parts, prompt.output, max_tokens=1024))
    if answer.status is not Status.OK:
        return ObjectList(answer.status, error=answer.error, raw=answer.text, usage=answer.usage)
    try:
        return ObjectList(Status.OK, read_objects(answer.text), raw=answer.text, usage=answer.usage)
    except Unreadable as why:
        return ObjectList(why.status, error=str(why), raw=answer.text, usage=answer.usage)


def read_objects(text: str) -> tuple[ExpectedObject, ...]:
    """A reply as a checklist without repeats. More than ten, none, or an entry without a name is unreadable."""
    listed = field(read_object(text), "objects")
    if not isinstance(listed, list) or not 1 <= len(listed) <= MAX_OBJECTS:
        raise Unreadable(f"the reply does not list 1 to {MAX_OBJECTS} objects")
    objects: dict[str, ExpectedObject] = {}
    for entry in listed:
        expected = _expected(entry)
        if objects.setdefault(expected.name.casefold(), expected).present is not expected.present:
            raise Unreadable(f"'{expected.name}' is listed both as present and as removed")
    return tuple(objects.values())


def _expected(entry: JsonValue) -> ExpectedObject:
    """An object with its mark, or a plain name, which may carry the paper's suffix."""
    name = entry if isinstance(entry, str) else field(entry, "name") if isinstance(entry, dict) else None
    present = field(entry, "present") if isinstance(entry, dict) else True
    if not isinstance(name, str) or not name.strip() or len(name) > 200 or not isinstance(present, bool):
        raise Unreadable("an entry of the list has no name, or no mark")
    name = " ".join(name.split())
    if name.casefold().endswith(REMOVED):
        return ExpectedObject(name[: -len(REMOVED)].strip(), present=False)
    return ExpectedObject(name, present)
