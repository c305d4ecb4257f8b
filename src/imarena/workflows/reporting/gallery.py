"""The report's gallery: items with every editor's picture, what judges say of it, and the truth where it is known."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from imarena.core import ImarenaError, content_id
from imarena.core.records import ImageRef, Item, Mode, Output, Status
from imarena.images import preview
from imarena.reports import GalleryItem, PageImage, Section
from imarena.storage import Workspace
from imarena.workflows.reporting.known_truth import true_qualities
from imarena.workflows.views import WHOLE, View

THUMBNAIL_PX = 320
CLEAR = 0.2
"""True qualities (0..1) at least so far apart are told from each other at a glance."""
Scores = Mapping[str, Mapping["_Judge", float]]
"""Scores as they were given, by output and judge."""


class _Judge(NamedTuple):
    """A judge by the name that is shown, and the direction of its scores."""

    name: str
    higher_is_better: bool


@dataclass(frozen=True)
class _Pair:
    """Two outputs of which one is clearly better, and what a judge gives them."""

    better: Output
    worse: Output
    scores: tuple[float, float]
    truths: tuple[float, float]
    higher_is_better: bool = True

    @property
    def turned(self) -> float:
        """How far the judge has it the wrong way round; 0 where it is right."""
        gap = self.scores[1] - self.scores[0]
        return max(0.0, gap if self.higher_is_better else -gap)


def gallery_section(
    workspace: Workspace, folder: Path, count: int, truth: Mapping[str, float] | None = None
) -> Section | None:
    """Some items, chosen by a fixed draw over the tasks. `truth` is the known quality (0..1) of outputs by id.

    Without it, that of items of the bundled benchmark is worked out. Where it is known, each editor's picture says it,
    the best stand first, and every item says where a judge errs; the items with the most errors come last.
    """
    outputs: dict[str, list[Output]] = defaultdict(list)
    for output in workspace.store.records(Output):
        outputs[output.item_id].append(output)
    items = [item for item in workspace.store.records(Item) if item.item_id in outputs]
    chosen = _spread(items, count)
    if not chosen:
        return None
    scores = _scores(workspace)
    made = (output for item in chosen for output in _last(item, outputs[item.item_id]))
    known = truth if truth is not None else true_qualities(workspace, chosen, made)
    pairs = {item.item_id: _clear_pairs(_last(item, outputs[item.item_id]), scores, known) for item in chosen}
    chosen.sort(key=lambda item: _wrong(pairs[item.item_id]))
    exhibits = tuple(
        _exhibit(workspace, item, outputs[item.item_id], scores, known, pairs[item.item_id], folder / "images")
        for item in chosen
    )
    return Section("Gallery", tuple(_notes(len(items), chosen, pairs)), exhibits=exhibits)


def _notes(of: int, chosen: list[Item], pairs: Mapping[str, Mapping[str, list[_Pair]]]) -> Iterator[str]:
    note = f"{len(chosen)} of {of} items; the figure beside a judge's name is its own score."
    yield note + (" Of several turns the last is shown." if any(len(item.turns) > 1 for item in chosen) else "")
    together: dict[str, list[_Pair]] = defaultdict(list)
    for pair in pairs.values():
        for judge, some in pair.items():
            together[judge] += some
    for judge, some in sorted(together.items()):
        yield (
            f"True quality runs from 0 to 1. Of {len(some):,} pairs here that are {CLEAR} or more apart in it, {judge}"
            f" has {_tally(some)}. Each item says where it errs; those with the most errors come last."
        )


def _tally(pairs: list[_Pair]) -> str:
    wrong = sum(pair.turned > 0 for pair in pairs)
    alike = sum(pair.scores[0] == pair.scores[1] for pair in pairs)
    same = f", {alike:,} alike" if alike else ""
    return f"{len(pairs) - wrong - alike:,} the right way round{same} and {wrong:,} the wrong way round"


def _scores(workspace: Workspace) -> Scores:
    """The scores that count, as the judges gave them."""
    view = View(workspace)
    scores: dict[str, dict[_Judge, float]] = defaultdict(dict)
    for form in view.forms.counting(pairwise=False):
        judgments = view.judgments([form])
        name = form.judge if form.dimension == WHOLE else f"{form.judge}, {form.dimension}"
        rows = np.flatnonzero(judgments.ok & np.isfinite(judgments.score))
        for position, score in zip(judgments.left[rows].tolist(), judgments.raw_score[rows].tolist(), strict=True):
            scores[view.entries.id_of(position)][_Judge(name, form.higher_is_better)] = score
    return scores


def _spread(items: list[Item], count: int) -> list[Item]:
    """Items from as many tasks as possible, by a draw that depends on nothing but the items."""
    by_task: dict[str, list[Item]] = defaultdict(list)
    for item in sorted(items, key=lambda item: content_id("gallery", item.item_id)):
        by_task[item.task or ""].append(item)
    chosen: list[Item] = []
    while by_task and len(chosen) < count:
        for task in sorted(by_task):
            chosen.append(by_task[task].pop(0))
            if not by_task[task]:
                del by_task[task]
    return chosen[:count]


def _last(item: Item, outputs: Iterable[Output]) -> list[Output]:
    """What answers an item's last turn, by editor, those of several turns before those of all turns at once."""
    last = [output for output in outputs if output.turn == len(item.turns) - 1]
    return sorted(last, key=lambda o: (o.editor or "", o.mode is Mode.COMPLEX, o.sample))


def _clear_pairs(outputs: list[Output], scores: Scores, truth: Mapping[str, float]) -> dict[str, list[_Pair]]:
    """Pairs of clearly different true quality that answer the same question, by the judge that scored both."""
    pairs: dict[str, list[_Pair]] = defaultdict(list)
    known = [output for output in outputs if output.output_id in truth and output.output_id in scores]
    for pair in combinations(known, 2):
        better, worse = sorted(pair, key=lambda output: -truth[output.output_id])
        truths = truth[better.output_id], truth[worse.output_id]
        if better.mode is not worse.mode or truths[0] - truths[1] < CLEAR:
            continue
        for judge in sorted(scores[better.output_id].keys() & scores[worse.output_id].keys()):
            both = scores[better.output_id][judge], scores[worse.output_id][judge]
            pairs[judge.name].append(_Pair(better, worse, both, truths, judge.higher_is_better))
    return pairs


def _wrong(pairs: Mapping[str, list[_Pair]]) -> float:
    every = [pair for some in pairs.values() for pair in some]
    return sum(pair.turned > 0 for pair in every) / max(1, len(every))


def _exhibit(
    workspace: Workspace, item: Item, outputs: list[Output], scores: Scores, truth: Mapping[str, float],
    pairs: Mapping[str, list[_Pair]], folder: Path,
) -> GalleryItem:  # fmt: skip
    shown = [PageImage(_thumbnail(workspace, image, folder), "source") for image in item.sources]
    shown += [PageImage(_thumbnail(workspace, image, folder), "reference") for image in item.references]
    for output in sorted(_last(item, outputs), key=lambda o: -truth.get(o.output_id, 0.0)):
        if output.image is not None:
            captions = [f"{judge.name} {_shown(score)}" for judge, score in scores.get(output.output_id, {}).items()]
            captions += [f"true {truth[output.output_id]:.2f}"] if output.output_id in truth else []
            shown.append(
                PageImage(_thumbnail(workspace, output.image, folder), _name(item, output), ", ".join(captions))
            )
    instruction = " / ".join(turn.instruction for turn in item.turns)
    title = " · ".join(part for part in (item.key, item.task, item.topic) if part)
    remarks = (*(_verdict(item, judge, some) for judge, some in pairs.items()), *_lacking(item, outputs))
    return GalleryItem(title, instruction, tuple(shown), remarks)


def _shown(score: float) -> str:
    """A score of 0 to 1000 without decimals, a small one with three digits."""
    return f"{score:.0f}" if abs(score) >= 100 or score == round(score) else f"{score:.3g}"


def _name(item: Item, output: Output) -> str:
    name = output.editor or "(not named)"
    if len(item.turns) == 1:
        return name
    return f"{name}, all at once" if output.mode is Mode.COMPLEX else f"{name}, turn by turn"


def _verdict(item: Item, judge: str, pairs: list[_Pair]) -> str:
    wrong = [pair for pair in pairs if pair.turned]
    of = f"of {len(pairs)} clearly different pairs it has {_tally(pairs)}"
    if not wrong:
        return f"{judge} does not err here: {of}."
    worst = max(wrong, key=lambda pair: pair.truths[0] - pair.truths[1])
    return (
        f"{judge} errs here: it gives {_name(item, worst.worse)} {_shown(worst.scores[1])} and"
        f" {_name(item, worst.better)} {_shown(worst.scores[0])}, whose true quality is {worst.truths[1]:.2f} and"
        f" {worst.truths[0]:.2f}; {of}."
    )


def _lacking(item: Item, outputs: list[Output]) -> Iterator[str]:
    """Editors that gave nothing: a failure is shown, not left out."""
    every = [output for output in outputs if output.turn < len(item.turns)]
    delivered = {(output.editor, output.mode, output.turn) for output in every if output.status is Status.OK}
    failed = {
        (output.editor or "(not named)", output.status.value.replace("_", " "))
        for output in every
        if (output.editor, output.mode, output.turn) not in delivered
    }
    if failed:
        yield "No picture by " + ", ".join(f"{editor} ({status})" for editor, status in sorted(failed)) + "."


def _thumbnail(workspace: Workspace, image: ImageRef, folder: Path) -> str:
    file = folder / f"{image.sha256[:20]}.jpg"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        try:
            file.write_bytes(preview(workspace.load(image), THUMBNAIL_PX).data)
        except ImarenaError:
            return ""  # withdrawn or missing: `verify` tells
    return f"{folder.name}/{file.name}"
