"""Records in published form: without local facts and people, with new ids where the content changed."""

import re
import secrets
from collections import Counter
from collections.abc import Callable, Mapping
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
"""Suffixes after the word for a person: `worker_id`, `rater_name`. `user_prompt` does not name a person."""
_OWN_NAMES = frozenset({"first", "last", "full", "family", "given", "nick", "real"})
_DONE = frozenset(
    {"annotated", "rated", "labeled", "labelled", "evaluated", "reviewed", "voted", "checked", "written", "submitted",
     "collected", "edited", "judged"}
)  # fmt: skip
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def names_people(column: str) -> bool:
    """Return whether a column, judging by its name, holds the names, ids or addresses of people.

    Attribution (`author`, `photographer`, `creator`) does not count: licences require it.
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
    """Random pseudonyms for one publication: equal values have equal pseudonyms, and none can be derived."""

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._ids)

    def replace(self, value: JsonValue) -> JsonValue:
        """Replace every text and number in a value."""
        if isinstance(value, list):
            return [self.replace(entry) for entry in value]
        if isinstance(value, dict):
            return {name: self.replace(entry) for name, entry in value.items()}
        if value is None or isinstance(value, bool) or value == "":
            return value
        return self._ids.setdefault(str(value), f"person-{secrets.token_hex(8)}")


_RUN = re.compile(r"run_[0-9a-f]+")
NO_LICENCE = "no licence is stated"
OTHER_LICENCE = "the licence does not permit redistribution, or is unknown"
NO_DERIVATIVES = "the licence does not permit sharing outputs made from the image"
GONE = "the image is no longer in the workspace"
LOCAL_TEXT = "the image file holds a local path, a private address or a key that cannot be removed"
FIXED_METADATA = "the metadata cannot be removed without changing the image"
CONTENT_ID = "content_id_before_publishing"
"""The provenance entry with the item's content id from before publication. It links outputs for the published item to
this one."""
_ITEM_TEXTS = ("taxonomy", "task", "family", "topic", "subtopic", "track", "language", "licence")
_TURN_TEXTS = ("instruction", "original_instruction", "task", "expected")


@dataclass(frozen=True)
class PublishedItem:
    """The facts about a published item that its outputs and verdicts need."""

    item_id: str
    dataset: str
    key: str
    licence: RedistributionLicence | None
    stated: bool
    """Whether the item states a licence, even an unknown one."""


@dataclass
class RecordRedaction:
    """Converts records to their published form: items, then outputs, then verdicts, which refer to earlier ones.

    `load` returns an image's bytes without metadata, or the reason why it cannot be published.
    """

    scrub: Scrubber
    load: Callable[[records.ImageRef], bytes | str]
    listed_objects: Callable[[records.Vote], frozenset[str]]
    """Object names that a form offers to raters; other names are the rater's own words."""
    licence: RedistributionLicence | None = None
    """Licence of items that state none."""
    with_comments: bool = False
    items: dict[str, PublishedItem] = field(default_factory=dict)
    """Published items by their id in the workspace."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Number of images left out, by reason."""
    withheld_items: list[str] = field(default_factory=list)
    """Keys of the items whose images are left out."""
    usable_items: int = 0
    """Number of items with all images: others can make outputs for them."""
    redacted: Counter[str] = field(default_factory=Counter)
    """Number of item texts that lost something, by field or imported column."""
    pseudonymous: Counter[str] = field(default_factory=Counter)
    """Number of imported values that named people, by column."""
    changed_images: dict[str, str] = field(default_factory=dict)
    """SHA-256 of each published image whose metadata was removed, to that of the image in the workspace."""
    _people: PeoplePseudonyms = field(default_factory=PeoplePseudonyms)
    _output_ids: dict[str, str] = field(default_factory=dict)
    """Only changed ids."""
    _pseudonyms: dict[str, str] = field(default_factory=dict)

    def item(self, item: records.Item) -> tuple[records.Item, list[bytes]]:
        """Return the published item, and its images in the order of `item_images`; none if they may not be shared."""
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
        entry = PublishedItem(published.item_id, published.dataset, published.key, licence, bool(item.licence))
        self.items[item.item_id] = entry
        self.usable_items += not published.absent
        return published, pictures

    def output(self, output: records.Output) -> tuple[records.Output, bytes | None]:
        """Return the published output and its image; None if it has none or it may not be shared."""
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
        """Return the id under which an output is published."""
        return None if output_id is None else self._output_ids.get(output_id, output_id)

    def judgment(self, judgment: records.Judgment) -> records.Judgment:
        """Return the published judgment, without its raw reply."""
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
        """Return the published vote: under a pseudonym, with the date only, without its assignment."""
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
        """Record both hashes of images whose metadata was removed; keys of `published_as` are the earlier hashes."""
        changed = {image.sha256: before for before, image in published_as.items() if image.sha256 != before}
        self.changed_images.update(changed)

    def _texts(self, record: records.Item | records.Turn, names: tuple[str, ...]) -> dict[str, str]:
        """Return the changed fields of an item or a turn: those from which something was removed."""
        texts: dict[str, str] = {}
        for name in names:
            text = getattr(record, name)
            cleaned = self.scrub.benchmark_text(text) if text else text
            if cleaned != text:
                self.redacted[name] += 1
                texts[name] = cleaned
        return texts

    def _columns(self, provenance: records.JsonDict) -> records.JsonDict:
        """Return the imported columns without local facts, and with pseudonyms for people."""
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
        """Return the raters of the published votes: only pseudonyms, in an order without information."""
        today = _day(datetime.now(UTC))
        return [records.Rater(rater_id=name, created_at=today) for name in sorted(self._pseudonyms.values())]

    def _pseudonym(self, rater_id: str) -> str:
        if rater_id not in self._pseudonyms:
            # Random: a rater's id does not lead to the pseudonym, and no two publications share one.
            self._pseudonyms[rater_id] = f"rater-{secrets.token_hex(8)}"
        return self._pseudonyms[rater_id]

    def _issue(self, vote: records.Vote, issue: records.Issue) -> records.Issue:
        if self.with_comments:
            return issue.model_copy(update={"label": self.scrub.text(issue.label), "note": self.scrub.text(issue.note)})
        offered = issue.kind == "none" or (issue.kind == "object" and issue.label in self.listed_objects(vote))
        return issue.model_copy(update={"label": issue.label if offered else "", "note": ""})


def _published_image(image: records.ImageRef, data: bytes) -> records.ImageRef:
    """Return the reference to an image in its published form."""
    digest = sha256_hex(data)
    return image if digest == image.sha256 else image.model_copy(update={"sha256": digest, "size_bytes": len(data)})


def original_content_id(item: records.Item) -> str:
    """Return the item's content id from before a publication removed metadata or local facts; else its own."""
    original = item.provenance.get(CONTENT_ID)
    return original if isinstance(original, str) else item.content_id


def _with_pictures(item: records.Item, images: Mapping[str, records.ImageRef]) -> records.Item:
    """Return the item with its published images, by the earlier hash; images without one are left out."""

    def of(record: records.Item | records.Turn, *names: str) -> dict[str, object]:
        refs = {name: getattr(record, name) for name in names}
        return {name: tuple(images[ref.sha256] for ref in some if ref.sha256 in images) for name, some in refs.items()}

    turns = tuple(turn.model_copy(update=of(turn, "references", "masks")) for turn in item.turns)
    return item.model_copy(update={**of(item, "sources", "references", "masks"), "turns": turns})


def _without_pictures(item: records.Item) -> records.Item:
    """Return the item without its images, but with their hashes, so that owners of the images can match them."""
    names = tuple(f"sha256:{image.sha256}" for image in item_images(item))
    return _with_pictures(item, {}).model_copy(update={"absent": (*item.absent, *names)})


def _output_reason(item: PublishedItem) -> str:
    """Return why an output's image is left out, or "". The licence of the item's images rules derived outputs."""
    if item.licence is None:
        return OTHER_LICENCE if item.stated else NO_LICENCE
    return "" if item.licence.derivatives else NO_DERIVATIVES


def _opaque(run_id: str | None) -> str | None:
    """Keep a run's id if it is random and reveals nothing; replace an id of another kind."""
    return run_id if run_id is None or _RUN.fullmatch(run_id) else "run_0"


def _day(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
