"""Judges and editors of the user's own, as two modules: some are right, and each of the others has one mistake."""

JUDGES = """
import random
import sys
import time

import numpy as np

from imarena.core.protocols import JudgeTraits, Verdict
from imarena.core.records import Outcome, Status
from imarena.images import decode


class Judge:
    version = "1"

    def __init__(self, name, answer, **attributes):
        self.name, self.answer = name, answer
        for key, value in attributes.items():
            setattr(self, key, value)

    async def judge(self, exhibit):
        return self.answer(exhibit)


def mean(data):
    return float(np.asarray(decode(data)).mean()) / 255


def fine(options, chat):
    return Judge("fine", lambda exhibit: Verdict(Status.OK, score=mean(exhibit.left)), params={"scale": [0, 1]})


def comparing(options, chat):
    def answer(exhibit):
        first = mean(exhibit.left) > mean(exhibit.right)
        return Verdict(Status.OK, preference=Outcome.LEFT if first else Outcome.RIGHT)

    return Judge("comparing", answer)


def wrong_field(options, chat):
    return Judge("wrong-field", lambda exhibit: Verdict(Status.OK, score="0.7", confidence=85))


def wrong_preference(options, chat):
    return Judge("wrong-preference", lambda exhibit: Verdict(Status.OK, preference="left"))


def a_dictionary(options, chat):
    return Judge("a-dictionary", lambda exhibit: {"score": 1})


def misspelt(options, chat):
    return Judge("misspelt", lambda exhibit: Verdict(Status.OK, scor=1))


def too_high(options, chat):
    return Judge("too-high", lambda exhibit: Verdict(Status.OK, score=7), params={"scale": [0, 1]})


def text_scale(options, chat):
    return Judge("text-scale", lambda exhibit: Verdict(Status.OK, score=1), params={"scale": "0-1"})


def turned_scale(options, chat):
    return Judge("turned-scale", lambda exhibit: Verdict(Status.OK, score=1), params={"scale": [1, 0]})


def wrong_traits(options, chat):
    return Judge("wrong-traits", lambda exhibit: Verdict(Status.OK, score=1), traits={"cpu_bound": True})


def wrong_attribute(options, chat):
    return Judge("wrong-attribute", lambda exhibit: Verdict(Status.OK, score=mean(exhibit.output)))


def leaving(options, chat):
    return Judge("leaving", lambda exhibit: sys.exit("no licence"))


def leaving_early(options, chat):
    sys.exit(3)


def constant(options, chat):
    return Judge("constant", lambda exhibit: Verdict(Status.OK, score=0.5))


def first_wins(options, chat):
    return Judge("first-wins", lambda exhibit: Verdict(Status.OK, preference=Outcome.LEFT if exhibit.right else None))


def by_chance(options, chat):
    answer = lambda exhibit: Verdict(Status.OK, score=random.random())
    return Judge("by-chance", answer, traits=JudgeTraits(cpu_bound=True))


def blocking(options, chat):
    def answer(exhibit):
        time.sleep(1.05)
        return Verdict(Status.OK, score=mean(exhibit.left))

    return Judge("blocking", answer)


def endless(options, chat):
    return Judge("endless", lambda exhibit: time.sleep(30))


def empty(options, chat):
    return object()


class Plain:
    def judge(self, exhibit):
        return Verdict(Status.OK, score=1)


def plain(options, chat):
    return Plain()


class Wordless(Exception):
    def __str__(self):
        raise KeyError("no words")


def wordless(options, chat):
    def answer(exhibit):
        raise Wordless

    return Judge("wordless", answer)


def printing(options, chat):
    print("loading")

    def answer(exhibit):
        print("judging")
        return Verdict(Status.OK, score=mean(exhibit.left))

    return Judge("printing", answer, params={"scale": [0, 1]})


async def asynchronous(options, chat):
    return fine(options, chat)
"""
EDITORS = """
import numpy as np
from PIL import Image

from imarena.core.protocols import EditorTraits, EditResult
from imarena.core.records import Status
from imarena.images import decode, encode_image


def fine(request):
    if not request.sources:
        return EditResult(Status.REFUSED, error="it needs a source")
    return Image.eval(decode(request.sources[0]).convert("RGB"), lambda value: 255 - value)


def needs_source(request):
    return decode(request.sources[0])


def text(request):
    return "picture.png"


class Noise:
    name, version, params = "noise", "1", {}
    traits = EditorTraits(deterministic=True)

    async def edit(self, request):
        pixels = np.random.default_rng().integers(0, 255, (8, 8, 3), dtype=np.uint8)
        return EditResult(Status.OK, encode_image(Image.fromarray(pixels)))


def make_noise(name, options, ports):
    return Noise()


class Broken:
    async def edit(self, request):
        return EditResult("ok", b"no image")


def make_broken(name, options, ports):
    return Broken()


def misspelt(request):
    return EditResult(Status.OK, imag=request.sources)


class Wordless(Exception):
    def __str__(self):
        raise KeyError("no words")


def wordless(request):
    raise Wordless


def printing(request):
    print("editing")
    return fine(request)


async def asynchronous(name, options, ports):
    return Noise()


def earning(request):
    return EditResult(Status.OK, encode_image(Image.new("RGB", (8, 8))), cost_usd=-3.0, latency_s=float("nan"))
"""
