"""Entries on the bundled photographs. The exact result is a classical operation with parameters known to be good."""

from collections.abc import Iterator

from imarena.studio.edits import SceneEdit
from imarena.studio.entry import BenchmarkEntry, Step
from imarena.studio.render import photo_scene
from imarena.studio.scene import Effect, Scene, Thing, Viewport

RESTORED: tuple[tuple[str, str, str, tuple[Effect, ...]], ...] = (
    ("dandelion", "exposure_correction", "The dandelion photo is far too dark. Correct its exposure.",
         (Effect(kind="low_light", amount=0.7, seed=1),)),
    ("mountains", "dehazing", "Remove the haze in front of the mountains.", (Effect(kind="haze", amount=0.85),)),
    ("dogs", "deblurring", "The dogs are smeared by camera shake. Make the photo sharp.",
         (Effect(kind="motion_blur"),)),
    ("cat", "super_resolution", "Upscale the cat photo and bring back the fine detail of the fur.",
         (Effect(kind="low_resolution", amount=0.6),)),
    ("rocket", "low_light_enhancement", "Remove the heavy noise from this night photo of a rocket.",
         (Effect(kind="noise", amount=1.1, seed=3),)),
    ("astronaut", "watermark_and_graphic_removal", "Remove the watermark from the portrait of the astronaut.",
         (Effect(kind="watermark", text="SAMPLE"),)),
)  # fmt: skip

ADDED: tuple[tuple[str, str, str, str, str, Effect], ...] = (
    ("fig", "cv_arena", "photography", "depth_of_field", "Blur everything around the red bowl like a fast lens would.",
     Effect(kind="background_blur", amount=1.3)),
    ("flower", "edival", "attribute", "color_alter", "Change the color of the orange flower to pink.",
         Effect(kind="recolour", text="pink", seed=20)),
    ("pavilion", "imagenworld", "editing", "TIE", "Turn the photo of the pavilion into black and white.",
         Effect(kind="black_and_white")),
    ("wall-clock", "imagenworld", "editing", "TIE", "Give the wall clock photo a warm sepia tone.",
         Effect(kind="sepia")),
    ("coffee", "imagenworld", "editing", "TIE", "Bathe the cup of coffee in golden evening light.",
         Effect(kind="golden_hour")),
)  # fmt: skip

FAMILIES = {"watermark_and_graphic_removal": "typography", "depth_of_field": "photography"}


def photo_entries() -> Iterator[BenchmarkEntry]:
    """Fourteen entries on twelve photographs."""
    for name, task, instruction, effects in RESTORED:
        scene = photo_scene(name).model_copy(update={"effects": effects})
        yield _entry(
            name, "cv_arena", FAMILIES.get(task, "restoration"), task, scene, instruction, SceneEdit(op="effects")
        )
    for name, taxonomy, family, task, instruction, effect in ADDED:
        yield _entry(
            name, taxonomy, family, task, photo_scene(name), instruction, SceneEdit(op="effects", effects=(effect,))
        )
    tilted = photo_scene("sunset").model_copy(update={"effects": (Effect(kind="tilt", amount=0.8),)})
    instruction = "Level the tilted horizon of the sunset."
    yield _entry("sunset", "cv_arena", "geometry", "viewpoint_change", tilted, instruction, SceneEdit(op="effects"))
    part = photo_scene("coffee").model_copy(update={"view": Viewport(right=0.72)})
    instruction = "Extend the coffee photo to the right so that the whole saucer and the spoon can be seen."
    yield _entry("coffee-wide", "cv_arena", "photography", "outpainting", part, instruction, SceneEdit(op="view"))
    heading = Thing(
        uid="title", kind="title", x=0.5, y=0.97, size=0.13, colour="white", material="paper", text="SUMMER PALACE"
    )
    instruction = "Write 'SUMMER PALACE' in white letters along the bottom of the photo."
    edit = SceneEdit(op="add", things=(heading,))
    yield _entry("pavilion-title", "imagenworld", "editing", "TIE", photo_scene("pavilion"), instruction, edit, "T")


def _entry(
    key: str, taxonomy: str, family: str, task: str, scene: Scene, instruction: str, edit: SceneEdit, topic: str = "P"
) -> BenchmarkEntry:
    world = taxonomy == "imagenworld"
    return BenchmarkEntry(
        key=f"photo-{key}", taxonomy=taxonomy, task=task, family=family, topic=topic if world else "",
        subtopic={"P": "Photography", "T": "Posters"}[topic] if world else "", track="photographs", scene=scene,
        steps=(Step(instruction=instruction, task=task, edit=edit),),
    )  # fmt: skip
