"""The rendered world: scenes with exact truth, edits as data, and the entries of the bundled benchmark."""

from imarena.studio.catalogue import DEMO_KEYS, entries, entry_of
from imarena.studio.edits import Edit, apply
from imarena.studio.entry import Entry, Step
from imarena.studio.generate import random_scene
from imarena.studio.oracle import Truth, true_quality
from imarena.studio.photos import Photo, photo_of, photos
from imarena.studio.recognise import SHOWN, Asked, alike, asked, asked_by_words
from imarena.studio.render import Rendered, Seen, is_photo, picture, render
from imarena.studio.scene import Effect, Scene, Thing, View

__all__ = [
    "DEMO_KEYS",
    "SHOWN",
    "Asked",
    "Edit",
    "Effect",
    "Entry",
    "Photo",
    "Rendered",
    "Scene",
    "Seen",
    "Step",
    "Thing",
    "Truth",
    "View",
    "alike",
    "apply",
    "asked",
    "asked_by_words",
    "entries",
    "entry_of",
    "is_photo",
    "photo_of",
    "photos",
    "picture",
    "random_scene",
    "render",
    "true_quality",
]
