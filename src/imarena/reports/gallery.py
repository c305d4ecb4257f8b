"""The gallery of a report: items with every editor's image, the judges' scores, and the true quality if known."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from imarena.core import content_id, counted, grouped
from imarena.core.records import ImageRef, Item, Mode, Output, Status
from imarena.reports.page import GalleryItem, PageImage, Section

CLEAR = 0.2
"""Outputs whose true qualities (0 to 1) differ by at least this are clearly different."""


class ScoringJudge(NamedTuple):
    """A judge's displayed name, and the direction of its scores."""

    name: str
    higher_is_better: bool


ScoresByOutput = Mapping[str, Mapping[ScoringJudge, float]]
"""Original scores, by output and judge."""


@dataclass(frozen=True)
class _Pair:
    """Two outputs of which one is clearly better, and a judge's scores for them."""

    better: Output
    worse: Output
    scores: tuple[float, float]
    truths: tuple[float, float]
    higher_is_better: bool = True

    @property
    def turned(self) -> float:
        """By how much the judge prefers the worse output; 0 if it is right."""
        gap = self.scores[1] - self.scores[0]
        return max(0.0, gap if self.higher_is_better else -gap)


def gallery_section(
    chosen: Sequence[Item],
    of: int,
    outputs: Mapping[str, Sequence[Output]],
    scores: ScoresByOutput,
    truth: Mapping[str, float],
    picture: Callable[[ImageRef], str],
) -> Section:
    """Build the gallery of `chosen` items out of `of`. `outputs` by item; `truth`: known quality (0..1) by output ID.

    If it is known, it is shown with each image, the best outputs come first, and every item lists the judges' errors;
    items with the most errors come last. `picture` returns the file of an image, or ''.
    """
    pairs = {item.item_id: _clear_pairs(last_outputs(item, outputs[item.item_id]), scores, truth) for item in chosen}
    ordered = sorted(chosen, key=lambda item: _wrong(pairs[item.item_id]))
    exhibits = tuple(
        _exhibit(item, outputs[item.item_id], scores, truth, pairs[item.item_id], picture) for item in ordered
    )
    return Section("Gallery", tuple(_notes(of, ordered, pairs)), exhibits=exhibits)


def _notes(of: int, items: list[Item], pairs: Mapping[str, Mapping[str, list[_Pair]]]) -> Iterator[str]:
    note = f"{len(items)} of {counted(of, 'item')}; the number after a judge's name is its score."
    yield note + (
        " For items with several turns, the outputs of the last turn are shown, and all turns of one editor."
        if any(len(item.turns) > 1 for item in items)
        else ""
    )
    together = grouped(
        (judge, pair) for by_judge in pairs.values() for judge, group in by_judge.items() for pair in group
    )
    for judge, group in sorted(together.items()):
        yield (
            f"True quality is from 0 to 1. Of {counted(len(group), 'clearly different pair')} (true quality differs by "
            f"{CLEAR} or more), {judge} {_tally(group)}. Each item lists its errors; items with the most errors come "
            "last."
        )


def _tally(pairs: list[_Pair]) -> str:
    wrong = sum(pair.turned > 0 for pair in pairs)
    equal = sum(pair.scores[0] == pair.scores[1] for pair in pairs)
    if not wrong and not equal:
        return "orders all correctly"
    ties = f", and gives equal scores to {counted(equal, 'pair')}" if equal else ""
    return f"orders {len(pairs) - wrong - equal:,} correctly and {wrong or 'none'} wrongly{ties}"


def spread_items(items: Sequence[Item], count: int) -> list[Item]:
    """Draw items from as many tasks as possible, depending only on the items; one has several turns if possible."""
    ordered = sorted(items, key=lambda item: content_id("gallery", item.item_id))
    by_task = grouped((item.task or "", item) for item in ordered)
    selection: list[Item] = []
    while by_task and len(selection) < count:
        for task in sorted(by_task):
            selection.append(by_task[task].pop(0))
            if not by_task[task]:
                del by_task[task]
    selection = selection[:count]
    chains = [item for item in items if len(item.turns) > 1]
    if count > 1 and chains and not any(len(item.turns) > 1 for item in selection):
        selection[-1] = min(chains, key=lambda item: content_id("gallery", item.item_id))
    return selection


def last_outputs(item: Item, outputs: Iterable[Output]) -> list[Output]:
    """The outputs for an item's last turn, sorted by editor; multi-turn outputs come before all turns at once."""
    last = [output for output in outputs if output.turn == len(item.turns) - 1]
    return sorted(last, key=lambda o: (o.editor or "", o.mode is Mode.COMPLEX, o.sample))


def _clear_pairs(outputs: list[Output], scores: ScoresByOutput, truth: Mapping[str, float]) -> dict[str, list[_Pair]]:
    """Pairs in the same mode with clearly different true quality, by the judge that scored both."""
    pairs: dict[str, list[_Pair]] = defaultdict(list)
    scored = [output for output in outputs if output.output_id in truth and output.output_id in scores]
    for pair in combinations(scored, 2):
        better, worse = sorted(pair, key=lambda output: -truth[output.output_id])
        truths = truth[better.output_id], truth[worse.output_id]
        if better.mode is not worse.mode or truths[0] - truths[1] < CLEAR:
            continue
        for judge in sorted(scores[better.output_id].keys() & scores[worse.output_id].keys()):
            pair_scores = scores[better.output_id][judge], scores[worse.output_id][judge]
            pairs[judge.name].append(_Pair(better, worse, pair_scores, truths, judge.higher_is_better))
    return pairs


def _wrong(pairs: Mapping[str, list[_Pair]]) -> float:
    every = [pair for of_judge in pairs.values() for pair in of_judge]
    return sum(pair.turned > 0 for pair in every) / max(1, len(every))


def _exhibit(
    item: Item, outputs: Sequence[Output], scores: ScoresByOutput, truth: Mapping[str, float],
    pairs: Mapping[str, list[_Pair]], picture: Callable[[ImageRef], str],
) -> GalleryItem:  # fmt: skip
    images = [PageImage(picture(image), "source") for image in item.sources]
    images += [PageImage(picture(image), "reference") for image in item.references]
    ordered = sorted(last_outputs(item, outputs), key=lambda o: -truth.get(o.output_id, 0.0))
    images += [
        PageImage(picture(image), f"{output.editor}, turn {output.turn + 1} of {len(item.turns)}")
        for output in _earlier_turns(ordered, outputs)
        if (image := output.image) is not None
    ]
    for output in ordered:
        if output.image is not None:
            notes = [f"{judge.name} {_score_text(score)}" for judge, score in scores.get(output.output_id, {}).items()]
            notes += [f"true {truth[output.output_id]:.2f}"] if output.output_id in truth else []
            images.append(PageImage(picture(output.image), _name(item, output), ", ".join(notes)))
    instruction = " / ".join(turn.instruction for turn in item.turns)
    title = " · ".join(part for part in (item.key, item.task, item.topic) if part)
    remarks = (*(_verdict(item, judge, of_judge) for judge, of_judge in pairs.items()), *_lacking(item, outputs))
    return GalleryItem(title, instruction, tuple(images), remarks)


def _earlier_turns(last: Sequence[Output], outputs: Sequence[Output]) -> list[Output]:
    """The earlier turns of the first editor that edited turn by turn."""
    by_id = {output.output_id: output for output in outputs}
    for output in last:
        chain: list[Output] = []
        parent = by_id.get(output.parent_id or "") if output.mode is Mode.MULTI_TURN else None
        while parent is not None:
            chain.insert(0, parent)
            parent = by_id.get(parent.parent_id or "")
        if chain:
            return chain
    return []


def _score_text(score: float) -> str:
    """A score on 0 to 1000 without decimals, a small score with three digits."""
    return f"{score:.0f}" if abs(score) >= 100 or score == round(score) else f"{score:.3g}"


def output_name(item: Item, output: Output) -> str:
    """The editor; for an item with several turns also the turn, or that all turns were done at once."""
    name = output.editor or "(not named)"
    if len(item.turns) == 1:
        return name
    if output.mode is Mode.COMPLEX:
        return f"{name}, all turns at once"
    return f"{name}, turn {output.turn + 1} of {len(item.turns)}"


def _name(item: Item, output: Output) -> str:
    name = output.editor or "(not named)"
    if len(item.turns) == 1:
        return name
    return f"{name}, all at once" if output.mode is Mode.COMPLEX else f"{name}, turn by turn"


def _verdict(item: Item, judge: str, pairs: list[_Pair]) -> str:
    wrong = [pair for pair in pairs if pair.turned]
    of = f"of {counted(len(pairs), 'clearly different pair')}, it {_tally(pairs)}"
    if not wrong:
        return f"{judge} makes no error here: {of}."
    worst = max(wrong, key=lambda pair: pair.truths[0] - pair.truths[1])
    return (
        f"{judge} makes an error here: it gives {_name(item, worst.worse)} (true quality {worst.truths[1]:.2f}) a score"
        f" of {_score_text(worst.scores[1])} and {_name(item, worst.better)} (true quality {worst.truths[0]:.2f}) a"
        f" score of {_score_text(worst.scores[0])}; {of}."
    )


def _lacking(item: Item, outputs: Sequence[Output]) -> Iterator[str]:
    """List the editors without an output, so that failures are not hidden."""
    every = [output for output in outputs if output.turn < len(item.turns)]
    delivered = {(output.editor, output.mode, output.turn) for output in every if output.status is Status.OK}
    failed = {
        (_name(item, output), output.status.value.replace("_", " "))
        for output in every
        if (output.editor, output.mode, output.turn) not in delivered
    }
    if failed:
        yield "No image from " + ", ".join(f"{editor} ({status})" for editor, status in sorted(failed)) + "."
