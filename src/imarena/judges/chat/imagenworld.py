"""ImagenWorld's judge (sections 4 and A.8): four criteria on 1 to 5, each (x - 1) / 4, overall their mean.

Also its expected-object list: what a result should show, for raters to tick off.
"""

from collections.abc import Mapping

from pydantic import Field, JsonValue

from imarena.core import Chat, UserError, Verdict
from imarena.core.records import Status
from imarena.judges.chat.judge import ChatJudge, PromptSettings, need_chat
from imarena.judges.chat.prompt import load_prompt
from imarena.judges.expected_objects import MAX_OBJECTS, REMOVED, ExpectedObject, reasons_from_objects
from imarena.judges.options import read_judge_options
from imarena.judges.replies.parse import field, read_marks, read_object
from imarena.judges.replies.reply_text import Unreadable

CRITERIA = ("prompt_relevance", "aesthetic_quality", "content_coherence", "artifacts")
LOWEST, HIGHEST = 1.0, 5.0


class ListerSettings(PromptSettings):
    """Allows longer replies: a list is longer than a verdict."""

    max_tokens: int = Field(default=1024, ge=1)


def make(options: Mapping[str, JsonValue], chat: Chat | None) -> ChatJudge:
    """For edits and generated images; sources and references are shown if the item has them.

    With `objects=true` the judge also sees the expected-object list: a different prompt, so separate judgments.
    """
    own_options = dict(options)
    objects_shown = own_options.pop("objects", False)
    if not isinstance(objects_shown, bool):
        raise UserError(f"objects is {objects_shown!r}.", hint="Write objects=true or objects=false.")
    settings = read_judge_options(PromptSettings, own_options, "imagenworld")
    return ChatJudge(
        kind="imagenworld",
        prompts={"rate": load_prompt(settings.prompt or ("imagenworld-listed" if objects_shown else "imagenworld"))},
        read=lambda replies: read_four_scores(replies["rate"]),
        chat=need_chat(chat, "imagenworld"),
        settings=settings,
    )


def rescale_rating(rating: float) -> float:
    """Map a rating from 1 to 5 to 0 to 1."""
    return (rating - LOWEST) / (HIGHEST - LOWEST)


def read_four_scores(text: str) -> Verdict:
    """Read a reply as four scores on 0 to 1 and their mean; `reasons` keeps the 1-to-5 marks. Raises `Unreadable`."""
    ratings = read_marks(read_object(text), CRITERIA, LOWEST, HIGHEST, whole=True)
    scores = {name: rescale_rating(rating) for name, rating in ratings.items()}
    marks: dict[str, JsonValue] = dict(ratings)
    return Verdict(
        status=Status.OK, score=sum(scores.values()) / len(scores), scores=scores, reasons={"ratings": marks}
    )


# ---------------------------------------------------------------- expected objects


def make_lister(options: Mapping[str, JsonValue], chat: Chat | None) -> ChatJudge:
    """Asks for at most ten objects that a result should show, with removed ones marked. It sees no output.

    It has a judge's interface. Its verdict is ok without a score; `objects_from_reasons` reads the list from it.
    """
    settings = read_judge_options(ListerSettings, options, "expected objects")
    return ChatJudge(
        kind="objects",
        prompts={"objects": load_prompt(settings.prompt or "imagenworld-objects")},
        read=lambda replies: Verdict(Status.OK, reasons=reasons_from_objects(read_objects(replies["objects"]))),
        chat=need_chat(chat, "expected objects"),
        settings=settings,
    )


def read_objects(text: str) -> tuple[ExpectedObject, ...]:
    """Read a reply as a list without repeats. Raises `Unreadable` for none, more than ten, or one without a name."""
    entries = field(read_object(text), "objects")
    if not isinstance(entries, list) or not 1 <= len(entries) <= MAX_OBJECTS:
        raise Unreadable(f"the reply does not list 1 to {MAX_OBJECTS} objects")
    objects: dict[str, ExpectedObject] = {}
    for entry in entries:
        expected = _expected(entry)
        if objects.setdefault(expected.name.casefold(), expected).present is not expected.present:
            raise Unreadable(f"'{expected.name}' is listed both as present and as removed")
    return tuple(objects.values())


def _expected(entry: JsonValue) -> ExpectedObject:
    """Read one entry: an object with its mark, or a plain name, possibly with the paper's suffix."""
    name = entry if isinstance(entry, str) else field(entry, "name") if isinstance(entry, dict) else None
    present = field(entry, "present") if isinstance(entry, dict) else True
    if not isinstance(name, str) or not name.strip() or len(name) > 200 or not isinstance(present, bool):
        raise Unreadable("an entry of the list has no name, or no mark")
    name = " ".join(name.split())
    if name.casefold().endswith(REMOVED):
        return ExpectedObject(name[: -len(REMOVED)].strip(), present=False)
    return ExpectedObject(name, present)
