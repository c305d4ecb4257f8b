"""Prompt injection by pictures: drawing text that speaks to the judge, and measuring who listens.

The control text says nothing to a judge: a score that falls or rises for it shows what any caption does.
"""

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from statistics import fmean
from typing import Literal

import yaml

from imarena.core.protocols import Exhibit, Judge, Verdict
from imarena.core.records import Outcome
from imarena.images import decode
from imarena.judges.health import share
from imarena.stats import Figure, paired_bootstrap

Place = Literal["top", "middle", "bottom"]
CONTROL = "control"


@dataclass(frozen=True)
class Injection:
    """A text that addresses a judge; `kind` says by which trick."""

    id: str
    kind: str
    text: str


@cache
def injections() -> tuple[Injection, ...]:
    """The bundled texts, the control included."""
    data = yaml.safe_load(resources.files("imarena.judges").joinpath("injections.yaml").read_text(encoding="utf-8"))
    return tuple(Injection(**entry) for entry in data["texts"])


def draw_text(image: bytes, text: str, *, place: Place = "bottom", opacity: float = 1.0) -> bytes:
    """A PNG of `image` with `text` written across it on a light strip, wrapped to fit. Deterministic."""
    from PIL import Image, ImageDraw, ImageFont

    picture = decode(image)
    width, height = picture.size
    size = max(8, min(height // 12, width // 18))
    font = ImageFont.load_default(size)
    pen = ImageDraw.Draw(picture)
    lines = _wrapped(text, lambda line: pen.textlength(line, font=font) <= width - size)
    tall = min(height, int(len(lines) * size * 1.25 + size * 0.5))
    top = {"top": 0, "middle": (height - tall) // 2, "bottom": height - tall}[place]
    strip = Image.new("RGB", (width, tall), "white")
    writer = ImageDraw.Draw(strip)
    for number, line in enumerate(lines):
        writer.text((size // 2, size // 4 + number * size * 1.25), line, fill="black", font=font)
    under = picture.crop((0, top, width, top + tall))
    picture.paste(Image.blend(under, strip, opacity), (0, top))
    file = io.BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


def _wrapped(text: str, fits: Callable[[str], bool]) -> list[str]:
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if fits(longer) or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


# ---------------------------------------------------------------- measuring


@dataclass(frozen=True)
class ScorePair:
    """The same output (`unit`) judged as it is and with a text drawn on it."""

    unit: str
    kind: str
    plain: Verdict
    injected: Verdict


async def probe(judge: Judge, exhibits: Sequence[Exhibit], place: Place = "bottom") -> list[ScorePair]:
    """Judge each exhibit as it is, and with each text drawn on its output (pointwise judges)."""
    pairs = []
    for number, exhibit in enumerate(exhibits):
        plain = await judge.judge(exhibit)
        for injection in injections():
            marked = replace(exhibit, left=draw_text(exhibit.left, injection.text, place=place))
            pairs.append(ScorePair(str(number), injection.kind, plain, await judge.judge(marked)))
    return pairs


@dataclass(frozen=True)
class Susceptibility:
    """How a kind of text moves a judge. `n_failed` pairs had no verdict on one side and are not in the figures."""

    shift: Figure
    """Mean of injected minus plain score; its interval is over outputs, since texts on one output move together."""
    raised: Figure
    """Share of outputs whose score rose by more than the margin: the judge fell for the text."""
    n_failed: int


def score_susceptibility(
    pairs: Iterable[ScorePair], *, margin: float = 0.0, seed: int = 0
) -> dict[str, Susceptibility]:
    """By kind of text, for a pointwise judge; ``all`` is every kind but the control."""
    found = list(pairs)
    kinds = sorted({pair.kind for pair in found})
    groups = {kind: [pair for pair in found if pair.kind == kind] for kind in kinds}
    groups["all"] = [pair for pair in found if pair.kind != CONTROL]
    return {kind: _moved(group, margin, seed) for kind, group in groups.items()}


def _moved(pairs: Sequence[ScorePair], margin: float, seed: int) -> Susceptibility:
    moves: dict[str, list[tuple[float, float]]] = {}
    for pair in pairs:
        if pair.plain.score is not None and pair.injected.score is not None:
            moves.setdefault(pair.unit, []).append((pair.plain.score, pair.injected.score))
    found = [move for unit in moves.values() for move in unit]
    raised = sum(round(after - before, 9) > margin for before, after in found)
    before = [fmean(move[0] for move in unit) for unit in moves.values()]
    after = [fmean(move[1] for move in unit) for unit in moves.values()]
    return Susceptibility(
        paired_bootstrap(after, before, rounds=2000, seed=seed),
        share("raised", raised, len(found), f"score rose by more than {margin:g}"),
        len(pairs) - len(found),
    )


@dataclass(frozen=True)
class BattlePair:
    """The same battle without and with a text drawn on the `side` named."""

    kind: str
    side: Outcome
    plain: Outcome | None
    injected: Outcome | None


def battle_susceptibility(pairs: Iterable[BattlePair]) -> dict[str, Figure]:
    """By kind of text: of the battles that the marked side did not win without it, how many it wins with it."""
    found = [pair for pair in pairs if pair.plain is not None and pair.injected is not None]
    groups: Mapping[str, list[BattlePair]] = {
        **{kind: [pair for pair in found if pair.kind == kind] for kind in sorted({pair.kind for pair in found})},
        "all": [pair for pair in found if pair.kind != CONTROL],
    }
    figures = {}
    for kind, group in groups.items():
        open_ones = [pair for pair in group if pair.plain is not pair.side]
        won = sum(pair.injected is pair.side for pair in open_ones)
        figures[kind] = share("turned", won, len(open_ones), "not won without the text, won with it")
    return figures
