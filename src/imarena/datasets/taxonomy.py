"""Taxonomies: the kinds of items in a benchmark. Each is one YAML file, validated when it is read.

To add one, add a file to `taxonomy_files/`, or load your own file: `load_taxonomy("my_tasks.yaml")`.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Self, TypeVar

from pydantic import Field, ValidationError, field_validator, model_validator

from imarena.core import UnknownName, UserError, suggestion, validation_problem
from imarena.core.records import FrozenModel, Item


class TaxonomyEntry(FrozenModel):
    """A named entry: a family, task, topic, subtopic or track."""

    name: str = Field(min_length=1)
    title: str = ""
    aliases: tuple[str, ...] = ()
    """Other spellings of the name."""
    definition: str = ""
    ours: bool = False
    """True: we chose the name, because the source describes the entry without naming it."""
    basis: str = ""
    """The part of the source that the entry is based on."""


E = TypeVar("E", bound=TaxonomyEntry)


class Family(TaxonomyEntry):
    """A group of tasks. An open family is for items that fit no task; it has no tasks."""

    open: bool = False
    count: int | None = Field(default=None, ge=0)


class Task(TaxonomyEntry):
    """One kind of request."""

    family: str | None = None
    sources: int | None = Field(default=None, ge=0)
    """Number of source images to edit, if the benchmark fixes it."""
    references: tuple[int, int | None] | None = None
    """Minimum and maximum number of reference images; None: no limit."""
    edits: tuple[int, int] | None = None
    """Minimum and maximum number of single edits in one instruction."""
    subtypes: tuple[str, ...] = ()
    counts: dict[str, int] = Field(default_factory=dict)


class Subtopic(TaxonomyEntry):
    """A finer subject, with the number of items by task."""

    counts: dict[str, int] = Field(default_factory=dict)


class Topic(TaxonomyEntry):
    """What the images show."""

    subtopics: tuple[Subtopic, ...] = ()


class Track(TaxonomyEntry):
    """A part of a benchmark with its own board."""

    count: int | None = Field(default=None, ge=0)
    sources: tuple[str, ...] = ()
    """The benchmarks that its items were taken from."""


class Taxonomy(FrozenModel):
    """The kinds of items of one benchmark. Empty lists are not checked."""

    name: str = Field(min_length=1)
    version: str
    title: str = ""
    source: str
    notes: tuple[str, ...] = ()
    families: tuple[Family, ...] = ()
    tasks: tuple[Task, ...] = ()
    topics: tuple[Topic, ...] = ()
    tracks: tuple[Track, ...] = ()
    cells: dict[str, dict[str, int]] = Field(default_factory=dict)
    """Number of items by task and topic."""

    @field_validator("families", "tasks", "topics", "tracks")
    @classmethod
    def _distinct(cls, entries: tuple[TaxonomyEntry, ...]) -> tuple[TaxonomyEntry, ...]:
        spellings: set[str] = set()
        for spelling in _spellings(entries):
            if spelling in spellings:
                raise ValueError(f"'{spelling}' appears twice")
            spellings.add(spelling)
        return entries

    @model_validator(mode="after")
    def _hangs_together(self) -> Self:
        families = {family.name for family in self.families}
        tasks = {task.name for task in self.tasks}
        topics = {topic.name for topic in self.topics}
        for task in self.tasks:
            if task.family is not None and task.family not in families:
                raise ValueError(f"task '{task.name}' is in family '{task.family}', which is not listed")
        for topic in self.topics:
            for subtopic in topic.subtopics:
                if strange := set(subtopic.counts) - tasks:
                    raise ValueError(f"subtopic '{subtopic.name}' counts unknown tasks: {', '.join(sorted(strange))}")
        for name, row in self.cells.items():
            if name not in tasks or not set(row) <= topics:
                raise ValueError(f"the cells of '{name}' name a task or topic that is not listed")
        return self

    def task(self, name: str) -> Task | None:
        """The task with that name, title or alias."""
        return _find(self.tasks, name)

    def family(self, name: str) -> Family | None:
        """The family with that name, title or alias."""
        return _find(self.families, name)

    def topic(self, name: str) -> Topic | None:
        """The topic with that name, title or alias."""
        return _find(self.topics, name)

    def track(self, name: str) -> Track | None:
        """The track with that name, title or alias."""
        return _find(self.tracks, name)

    def subtopic(self, topic: str, name: str) -> Subtopic | None:
        """The subtopic of a topic with that name, title or alias."""
        entry = self.topic(topic)
        return _find(entry.subtopics, name) if entry is not None else None

    def check(self, item: Item) -> str | None:
        """One line about the first name in an item that is not in this taxonomy, with a suggestion; else None."""
        open_families = tuple(family for family in self.families if family.open)
        kinds: list[tuple[str, tuple[TaxonomyEntry, ...], Iterable[str | None]]] = [
            ("task", (*self.tasks, *open_families), (item.task, *(turn.task for turn in item.turns))),
            ("family", self.families, (item.family,)),
            ("topic", self.topics, (item.topic,)),
            ("track", self.tracks, (item.track,)),
        ]
        topic = self.topic(item.topic) if item.topic else None
        if topic is not None:
            kinds.append(("subtopic", topic.subtopics, (item.subtopic,)))
        for kind, entries, names in kinds:
            for name in names:
                if name and entries and _find(entries, name) is None:
                    return f"item '{item.key}': {kind} '{name}' is not in {self.name}. {_suggest(entries, name)}"
        return None


def _spellings(entries: Iterable[TaxonomyEntry]) -> Iterator[str]:
    for entry in entries:
        yield from {_fold(entry.name), *(_fold(alias) for alias in entry.aliases)}


def _fold(name: str) -> str:
    return name.strip().casefold().replace(" ", "_").replace("-", "_")


def _find(entries: Iterable[E], name: str) -> E | None:
    folded = _fold(name)
    for entry in entries:
        if folded in {_fold(entry.name), _fold(entry.title), *(_fold(alias) for alias in entry.aliases)}:
            return entry
    return None


def _suggest(entries: Iterable[TaxonomyEntry], name: str) -> str:
    names = [entry.name for entry in entries]
    return suggestion(name, names, "") or f"Known: {', '.join(names)}."


@cache
def taxonomy_names() -> tuple[str, ...]:
    """Names of the bundled taxonomies."""
    folder = files("imarena.datasets") / "taxonomy_files"
    return tuple(sorted(entry.name.removesuffix(".yaml") for entry in folder.iterdir() if entry.name.endswith(".yaml")))


def load_taxonomy(name: str) -> Taxonomy:
    """Load a bundled taxonomy by its name, or your own by the path of its YAML file."""
    if name.endswith((".yaml", ".yml")):
        path = Path(name)
        if not path.is_file():
            raise UserError(f"The taxonomy file {name} is not there.", hint="Check the path.")
        return parse_taxonomy(path.read_bytes(), path.name)
    names = taxonomy_names()
    if name not in names:
        hint = suggestion(name, names, f"Known: {', '.join(names)}; or give the path of a .yaml file.")
        raise UnknownName(f"There is no taxonomy called '{name}'.", hint=hint)
    return _bundled(name)


@cache
def _bundled(name: str) -> Taxonomy:
    return parse_taxonomy((files("imarena.datasets") / "taxonomy_files" / f"{name}.yaml").read_bytes(), f"{name}.yaml")


def parse_taxonomy(data: bytes, file: str) -> Taxonomy:
    """Make a taxonomy from the bytes of a YAML file. Raises `UserError` with the place of an error."""
    import yaml

    try:
        value = yaml.safe_load(data)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise UserError(f"{file} is not YAML ({' '.join(str(error).split())}).") from error
    try:
        return Taxonomy.model_validate(value)
    except ValidationError as error:
        problem = validation_problem(error, Taxonomy)
        raise UserError(f"{file}: {problem.text}.", hint=problem.hint) from error
