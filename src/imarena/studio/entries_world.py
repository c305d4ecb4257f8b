"""Entries for the six ImagenWorld tasks on its six topics (section 3): generation and editing."""

from collections.abc import Iterator
from dataclasses import dataclass

from imarena.studio.edits import SceneEdit, apply_edit
from imarena.studio.entries_cv import app_window
from imarena.studio.entry import BenchmarkEntry, Step
from imarena.studio.generate import describe_thing, free_x, join_words, new_thing, random_scene
from imarena.studio.kinds import article, object_kind
from imarena.studio.scene import Scene, Thing


@dataclass(frozen=True)
class TopicScenes:
    """What one topic's six entries are made of."""

    name: str
    subtopic: str
    medium: str
    """How the picture is announced: ``An oil painting of a green meadow``."""
    setting: str
    """The same without the things that belong to it: ``An empty chart``."""
    scene: Scene
    target: str
    """The uid of the thing that edits are about."""
    change: str
    """The text-guided edit, in words."""
    values: dict[str, str | float | bool]
    guests: tuple[Thing, Thing]
    """Two things that reference pictures show."""


def _flat(uid: str, kind: str, x: float, y: float, size: float, colour: str, text: str = "") -> Thing:
    return Thing(uid=uid, kind=kind, x=x, y=y, size=size, colour=colour, material=object_kind(kind).material, text=text)


def _chart() -> Scene:
    bars = (("2021", 0.22, "blue"), ("2022", 0.34, "teal"), ("2023", 0.28, "orange"), ("2024", 0.48, "purple"))
    things = [
        _flat(f"bar-{name}", "bar", 0.22 + 0.17 * i, 0.84, size, tint, name)
        for i, (name, size, tint) in enumerate(bars)
    ]
    things = [t.model_copy(update={"stretch": round(0.3 / (t.size * 0.34) * 0.34, 3)}) for t in things]
    heading = _flat("title", "title", 0.5, 0.14, 0.08, "black", "Apples sold per year")
    return Scene(width=640, height=512, seed=401, backdrop="chart", things=(*things, heading))


def _poster() -> Scene:
    return Scene(
        width=512, height=640, seed=402, backdrop="poster", mood="cool",
        things=(_flat("title", "title", 0.5, 0.2, 0.1, "blue", "JAZZ NIGHT"), _flat("moon", "moon", 0.5, 0.62, 0.34,
                      "yellow"),
                _flat("star", "star", 0.2, 0.42, 0.1, "orange"), _flat("banner", "banner", 0.5, 0.86, 0.12, "red",
                              "FRIDAY 8 PM")),
    )  # fmt: skip


def _space() -> Scene:
    return Scene(
        width=512, height=512, seed=403, backdrop="space",
        things=(_flat("moon", "moon", 0.78, 0.36, 0.24, "yellow"), _flat("rocket", "rocket", 0.36, 0.78, 0.5, "red"),
                _flat("star", "star", 0.16, 0.24, 0.1, "yellow")),
    )  # fmt: skip


def _topics() -> tuple[TopicScenes, ...]:
    art, photo = (
        random_scene(411, "painting", 3, must=("house", "tree")),
        random_scene(412, "table", 3, must=("mug", "book")),
    )
    app = app_window(404, "My Music", ("Rock", "Piano", "Choir"))
    return (
        TopicScenes("A", "Oil painting", "An oil painting of a meadow", "An oil painting of a meadow", art, "house",
                      "Paint the house blue.", {"colour": "blue"},
              (new_thing(art, "umbrella", "pink", "guest-1"), new_thing(art, "cat", "grey", "guest-2"))),
        TopicScenes("P", "Photography", "A photo of a wooden table", "A photo of a wooden table", photo, "book",
                      "Change the title of the book to 'POEMS'.", {"text": "POEMS"},
              (new_thing(photo, "teapot", "purple", "guest-1"), new_thing(photo, "pear", "green", "guest-2"))),
        TopicScenes("I", "Diagrams, charts, and graphs", "A bar chart", "An empty chart", _chart(), "title",
                      "Change the heading to 'Pears sold per year'.",
              {"text": "Pears sold per year"}, (_flat("guest-1", "apple", 0.88, 0.3, 0.14, "red"), _flat("guest-2",
                            "pear", 0.16, 0.32, 0.16, "green"))),
        TopicScenes("T", "Posters", "A poster", "A poster", _poster(), "banner",
                      "Change the red banner to read 'SUNDAY 5 PM'.", {"text": "SUNDAY 5 PM"},
              (_flat("guest-1", "heart", 0.8, 0.46, 0.12, "red"), _flat("guest-2", "bird", 0.2, 0.74, 0.16, "purple"))),
        TopicScenes("CG", "Game assets", "A game scene in outer space", "A game scene in outer space", _space(),
                      "rocket",
                      "Recolor the rocket to teal.", {"colour": "teal"},
              (_flat("guest-1", "balloon", 0.76, 0.8, 0.34, "orange"), _flat("guest-2", "cat", 0.62, 0.94, 0.22,
                   "orange"))),
        TopicScenes("S", "Software interfaces", "A screenshot of a music program",
                      "A screenshot of an empty program window", app, "button",
                                    "Change the button to read 'Delete' and make it red.",
              {"text": "Delete", "colour": "red"}, (_flat("guest-1", "heart", 0.78, 0.235, 0.07, "red"),
                            _flat("guest-2", "star", 0.86, 0.84, 0.1, "yellow"))),
    )  # fmt: skip


def portrait(thing: Thing) -> Scene:
    """A reference picture: one thing alone in a plain photo studio."""
    size = min(0.62, 0.8 / object_kind(thing.kind).aspect)
    alone = thing.model_copy(update={"x": 0.5, "y": 0.84, "size": size, "layer": 0})
    return Scene(width=384, height=384, seed=9, backdrop="studio", things=(alone,))


def _settled(scene: Scene, guest: Thing) -> Thing:
    """A guest where there is room for it, if it stands on the ground; layouts have fixed places."""
    if scene.backdrop in {"painting", "table"}:
        return guest.model_copy(update={"x": free_x(scene, guest.kind, guest.size)})
    return guest


def _prompt(topic: TopicScenes) -> str:
    ordered = sorted(topic.scene.things, key=lambda thing: thing.x)
    return f"{topic.medium} with " + join_words([describe_thing(thing) for thing in ordered]) + ", from left to right."


def _six(topic: TopicScenes) -> Iterator[tuple[str, Scene | None, tuple[Scene, ...], str, SceneEdit]]:
    first, second = topic.guests
    target = topic.scene.thing(topic.target)
    without = apply_edit(topic.scene, SceneEdit(op="remove", uids=(topic.target,)))
    first, refs = _settled(topic.scene, first), (portrait(topic.guests[0]), portrait(topic.guests[1]))
    yield "TIG", None, (), _prompt(topic), SceneEdit(op="whole", scene=topic.scene)
    yield "TIE", topic.scene, (), topic.change, SceneEdit(op="set", uids=(topic.target,), values=dict(topic.values))
    alone = without.with_things((first,))
    instruction = f"{topic.setting} that shows only the {first.name} of image 1."
    yield "SRIG", None, refs[:1], instruction, SceneEdit(op="whole", scene=alone)
    instruction = f"Add the {first.name} of image 2 to image 1 and leave everything else as it is."
    yield "SRIE", topic.scene, refs[:1], instruction, SceneEdit(op="add", things=(first,))
    both = alone.with_things((first, _settled(alone, second)))
    instruction = (
        f"{topic.setting} with the {first.name} of image 1 and the {second.name} of image 2, and nothing else."
    )
    yield "MRIG", None, refs, instruction, SceneEdit(op="whole", scene=both)
    grown = topic.scene.with_things((*topic.scene.things, first))
    two = SceneEdit(op="add", things=(first, _settled(grown, second)))
    instruction = (
        f"Add {article(first.kind)} {first.kind} like the one in image 2 and {article(second.kind)} {second.kind} "
        f"like the one in image 3 to image 1. Keep the {target.name}."
    )
    yield "MRIE", topic.scene, refs, instruction, two


def world_entries() -> Iterator[BenchmarkEntry]:
    """Thirty-six entries: six tasks by six topics."""
    for topic in _topics():
        for task, scene, references, instruction, edit in _six(topic):
            yield BenchmarkEntry(
                key=f"world-{task.lower()}-{topic.name.lower()}", taxonomy="imagenworld", task=task,
                family="editing" if task.endswith("E") else "generation", topic=topic.name, subtopic=topic.subtopic,
                track="references" if references else "basic", scene=scene, references=references,
                steps=(Step(instruction=instruction, task=task, edit=edit),),
            )  # fmt: skip
