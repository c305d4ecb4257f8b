"""Records as they are published: without local facts, without people, under new ids where the content changed."""

import re
import secrets
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from pydantic import JsonValue

from imarena.core import RedistributionLicence, find_licence, records, sha256_hex
from imarena.storage import item_images
from imarena.workflows.publishing.scrub import Scrubber

_PEOPLE = frozenset(
    {
        "annotator", "rater", "worker", "labeler", "labeller", "evaluator", "reviewer", "assessor", "participant",
        "respondent", "voter", "person", "user", "username", "login", "nickname", "email", "mail", "phone", "telephone",
        "expert", "judger", "crowdworker", "turker", "prolific", "prolificpid", "pid", "firstname", "lastname",
        "fullname", "surname", "collector",
    }
)  # fmt: skip
_ABOUT = frozenset(
    {"id", "ids", "uid", "name", "names", "email", "mail", "hash", "code", "key", "number", "no", "address"}
)
"""Words after the person: `worker_id`, `rater_name`. `user_prompt` names nobody."""
_OWN_NAMES = frozenset({"first", "last", "full", "family", "given", "nick", "real"})
_DONE = frozenset(
    {"annotated", "rated", "labeled", "labelled", "evaluated", "reviewed", "voted", "checked", "written", "submitted",
     "collected", "edited", "judged"}
)  # fmt: skip
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def names_people(column: str) -> bool:
    """Does a column hold the names, ids or addresses of people, by its own name?

    Attribution (`author`, `photographer`, `creator`) does not count: licences ask for it.
    """
    words = [word.lower() for word in _WORDS.findall(column)]
    if not words:
        return False
    if words == ["name"] or (len(words) > 1 and words[-1] == "name" and words[-2] in _OWN_NAMES):
        return True
    if len(words) > 1 and words[-1] == "by":
        return words[-2] in _DONE
    while len(words) > 1 and words[-1] in _ABOUT:
        words.pop()
    return words[-1] in _PEOPLE or words[-1].removesuffix("s") in _PEOPLE


class PeoplePseudonyms:
    """Pseudonyms drawn for one publication: the same value has the same one, and none can be computed."""

    def __init__(self) -> None:
        self._drawn: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._drawn)

    def replace(self, value: JsonValue) -> JsonValue:
        """The value with every text and number in it replaced."""
        if isinstance(value, list):
            return [self.replace(entry) for entry in value]
        if isinstance(value, dict):
            return {name: self.replace(entry) for name, entry in value.items()}
        if value is None or isinstance(value, bool) or value == "":
            return value
        return self._drawn.setdefault(str(value), f"person-{secrets.token_hex(8)}")


_RUN = re.compile(r"run_[0-9a-f]+")
NO_LICENCE = "no licence is stated"
OTHER_LICENCE = "the licence does not permit redistribution, or is unknown"
NO_DERIVATIVES = "the licence does not permit sharing outputs made from the image"
GONE = "the image is no longer in the workspace"
LOCAL_TEXT = "the image file holds a local path, a private address or a key that cannot be removed"
FIXED_METADATA = "the metadata cannot be removed without changing the image"
CONTENT_ID = "content_id_before_publishing"
"""The entry of an item's provenance that names its content before a publication changed it, so that outputs made for
the published item are known as outputs for this one."""
_ITEM_TEXTS = ("taxonomy", "task", "family", "topic", "subtopic", "track", "language", "licence")
_TURN_TEXTS = ("instruction", "original_instruction", "task", "expected")


@dataclass(frozen=True)
class PublishedItem:
    """What outputs and verdicts need to know of an item that is published."""

    item_id: str
    dataset: str
    key: str
    licence: RedistributionLicence | None
    stated: bool
    """Does the item name a licence, be it one that is not known?"""


@dataclass
class RecordRedaction:
    """Makes the published form of records. Items come first, then outputs, then verdicts: each names the earlier.

    `load` gives a picture's bytes without metadata, or the reason why it cannot be published.
    """

    scrub: Scrubber
    load: Callable[[records.ImageRef], bytes | str]
    listed_objects: Callable[[records.Vote], frozenset[str]]
    """Names of objects that a form offers to raters: other names are the rater's own words."""
    licence: RedistributionLicence | None = None
    """Of items that state none."""
    with_comments: bool = False
    items: dict[str, PublishedItem] = field(default_factory=dict)
    """By the id in the workspace."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Pictures, by reason."""
    withheld_items: list[str] = field(default_factory=list)
    """Keys of the items whose pictures are left out."""
    usable_items: int = 0
    """Items that lack no picture: others can make outputs for them."""
    redacted: Counter[str] = field(default_factory=Counter)
    """Texts of items from which something was removed, by field or imported column."""
    pseudonymous: Counter[str] = field(default_factory=Counter)
    """Values of imported columns that named people, by column."""
    changed_images: dict[str, str] = field(default_factory=dict)
    """SHA-256 of the published image to that of the image in the workspace, where metadata was removed."""
    _people: PeoplePseudonyms = field(default_factory=PeoplePseudonyms)
    _output_ids: dict[str, str] = field(default_factory=dict)
    """Only those that changed."""
    _pseudonyms: dict[str, str] = field(default_factory=dict)

    def item(self, item: records.Item) -> tuple[records.Item, list[bytes]]:
        """The published item, and its pictures in the order of `item_images`; none where they may not be shared."""
        licence = find_licence(item.licence) if item.licence else self.licence
        images = item_images(item)
        reason = "" if licence else OTHER_LICENCE if item.licence else NO_LICENCE
        pictures: list[bytes] = []
        published_as: dict[str, records.ImageRef] = {}
        for image in images if not reason else ():
            data = self.load(image)
            if isinstance(data, str):
                reason = data
                break
            published_as[image.sha256] = _published_image(image, data)
            pictures.append(data)
        labels = self._texts(item, _ITEM_TEXTS)
        published = item.model_copy(
            update={
                **labels,
                "turns": tuple(turn.model_copy(update=self._texts(turn, _TURN_TEXTS)) for turn in item.turns),
                "dataset": self.scrub.name(item.dataset),
                "key": self.scrub.name(item.key),
                "absent": tuple(self.scrub.name(name) for name in item.absent),
                "licence": labels.get("licence", item.licence) or (self.licence.id if self.licence else None),
                "provenance": self._columns(item.provenance),
                "origin": self.scrub.origin(item.origin),
            }
        )
        if reason and images:
            self.left_out[reason] += len(images)
            self.withheld_items.append(published.key)
            pictures = []
            published = _without_pictures(published)
        elif images:
            published = _with_pictures(published, published_as)
            self._note_changes(published_as)
        if published.content_id != item.content_id and not reason:
            provenance = {CONTENT_ID: item.content_id, **published.provenance}
            published = published.model_copy(update={"provenance": provenance})
        known = PublishedItem(published.item_id, published.dataset, published.key, licence, bool(item.licence))
        self.items[item.item_id] = known
        self.usable_items += not published.absent
        return published, pictures

    def output(self, output: records.Output) -> tuple[records.Output, bytes | None]:
        """The published output and its picture; None where it has none or it may not be shared."""
        item = self.items[output.item_id]
        picture: bytes | None = None
        image, origin = output.image, self.scrub.origin(output.origin)
        if image is not None:
            data = _output_reason(item) or self.load(image)
            if isinstance(data, str):
                self.left_out[data] += 1
                origin = origin or records.Origin(source="published without pixels", row=f"sha256:{image.sha256}")
                image = None
            else:
                picture, before = data, image.sha256
                image = _published_image(image, data)
                self._note_changes({before: image})
        published = output.model_copy(
            update={
                "item_id": item.item_id,
                "editor": None if output.editor is None else self.scrub.name(output.editor),
                "editor_version": self.scrub.text(output.editor_version),
                "parent_id": self.output_id(output.parent_id),
                "params": self.scrub.entries(output.params),
                "image": image,
                "error": self.scrub.text(output.error),
                "run_id": _opaque(output.run_id),
                "origin": origin,
            }
        )
        if published.output_id != output.output_id:
            self._output_ids[output.output_id] = published.output_id
        return published, picture

    def output_id(self, output_id: str | None) -> str | None:
        """The id under which an output is published."""
        return None if output_id is None else self._output_ids.get(output_id, output_id)

    def judgment(self, judgment: records.Judgment) -> records.Judgment:
        """The published judgment: its raw reply stays here."""
        return judgment.model_copy(
            update={
                "judge": self.scrub.name(judgment.judge),
                "judge_version": self.scrub.text(judgment.judge_version),
                "params": self.scrub.entries(judgment.params),
                "item_id": self.items[judgment.item_id].item_id,
                "left_id": self.output_id(judgment.left_id),
                "right_id": self.output_id(judgment.right_id),
                "reasons": self.scrub.entries(judgment.reasons),
                "error": self.scrub.text(judgment.error),
                "reply_id": None,
                "supersedes": None,
                "run_id": _opaque(judgment.run_id),
                "origin": self.scrub.origin(judgment.origin),
            }
        )

    def vote(self, vote: records.Vote) -> records.Vote:
        """The published vote: under a pseudonym, with the day alone, without the task that it answered."""
        return records.Vote(
            rater_id=self._pseudonym(vote.rater_id),
            created_at=_day(vote.created_at),
            item_id=self.items[vote.item_id].item_id,
            turn=vote.turn,
            left_id=self.output_id(vote.left_id) or "",
            right_id=self.output_id(vote.right_id),
            first_turn=vote.first_turn,
            dimension=vote.dimension,
            preference=vote.preference,
            ratings=vote.ratings,
            scale=vote.scale,
            issues=tuple(self._issue(vote, issue) for issue in vote.issues),
            comment=self.scrub.text(vote.comment) if self.with_comments else "",
            time_spent_s=vote.time_spent_s,
            idempotency_key=secrets.token_hex(16),
        )

    def _note_changes(self, published_as: dict[str, records.ImageRef]) -> None:
        """Remember both hashes of images whose metadata was removed; `published_as` is by the earlier hash."""
        changed = {image.sha256: before for before, image in published_as.items() if image.sha256 != before}
        self.changed_images.update(changed)

    def _texts(self, record: records.Item | records.Turn, names: tuple[str, ...]) -> dict[str, str]:
        """The fields of an item or a turn from which something was removed."""
        texts: dict[str, str] = {}
        for name in names:
            text = getattr(record, name)
            cleaned = self.scrub.benchmark_text(text) if text else text
            if cleaned != text:
                self.redacted[name] += 1
                texts[name] = cleaned
        return texts

    def _columns(self, provenance: records.JsonDict) -> records.JsonDict:
        """Imported columns: without local facts, people under pseudonyms."""
        columns = self.scrub.entries(provenance)
        self.redacted.update(name for name in provenance if name not in columns)
        for name, value in columns.items():
            if value not in (None, "", []) and names_people(name):
                columns[name] = self._people.replace(provenance.get(name, value))
                self.pseudonymous[name] += 1
            elif value != provenance.get(name, value):
                self.redacted[name] += 1
        return columns

    def raters(self) -> list[records.Rater]:
        """The raters of the published votes: pseudonyms and nothing else, in an order that says nothing."""
        today = _day(datetime.now(UTC))
        return [records.Rater(rater_id=name, created_at=today) for name in sorted(self._pseudonyms.values())]

    def _pseudonym(self, rater_id: str) -> str:
        if rater_id not in self._pseudonyms:
            # Drawn, not computed: a rater's id does not lead to the pseudonym, and no two publications share one.
            self._pseudonyms[rater_id] = f"rater-{secrets.token_hex(8)}"
        return self._pseudonyms[rater_id]

    def _issue(self, vote: records.Vote, issue: records.Issue) -> records.Issue:
        if self.with_comments:
            return issue.model_copy(update={"label": self.scrub.text(issue.label), "note": self.scrub.text(issue.note)})
        offered = issue.kind == "none" or (issue.kind == "object" and issue.label in self.listed_objects(vote))
        return issue.model_copy(update={"label": issue.label if offered else "", "note": ""})


def _published_image(image: records.ImageRef, data: bytes) -> records.ImageRef:
    """The reference to an image as it is published."""
    digest = sha256_hex(data)
    return image if digest == image.sha256 else image.model_copy(update={"sha256": digest, "size_bytes": len(data)})


def original_content_id(item: records.Item) -> str:
    """The content id that an item had before a publication removed metadata or local facts; else its own."""
    original = item.provenance.get(CONTENT_ID)
    return original if isinstance(original, str) else item.content_id


def _with_pictures(item: records.Item, images: dict[str, records.ImageRef]) -> records.Item:
    """The item with its images as they are published."""

    def of(refs: tuple[records.ImageRef, ...]) -> tuple[records.ImageRef, ...]:
        return tuple(images[ref.sha256] for ref in refs)

    turns = tuple(
        turn.model_copy(update={"references": of(turn.references), "masks": of(turn.masks)}) for turn in item.turns
    )
    update: dict[str, object] = {name: of(getattr(item, name)) for name in ("sources", "references", "masks")}
    return item.model_copy(update={**update, "turns": turns})


def _without_pictures(item: records.Item) -> records.Item:
    """The item without its pictures, which are named by their hashes: who has them can tell that they are the same."""
    turns = tuple(turn.model_copy(update={"references": (), "masks": ()}) for turn in item.turns)
    names = tuple(f"sha256:{image.sha256}" for image in item_images(item))
    update: dict[str, object] = {"sources": (), "references": (), "masks": (), "turns": turns}
    return item.model_copy(update={**update, "absent": (*item.absent, *names)})


def _output_reason(item: PublishedItem) -> str:
    """Why an output's picture is left out; empty where it is not. It is made from the item's: that licence rules."""
    if item.licence is None:
        return OTHER_LICENCE if item.stated else NO_LICENCE
    return "" if item.licence.derivatives else NO_DERIVATIVES


def _opaque(run_id: str | None) -> str | None:
    """A run's id is drawn by chance and says nothing; one of another kind is replaced."""
    return run_id if run_id is None or _RUN.fullmatch(run_id) else "run_0"


def _day(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
