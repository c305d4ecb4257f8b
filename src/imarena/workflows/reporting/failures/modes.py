"""Find the failure modes of outputs by measurement, judge or rater; ``modes.yaml`` defines the modes."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from imarena.core import package_yaml
from imarena.core.records import Evidence, Issue, Output
from imarena.storage import JudgeVariant
from imarena.workflows.studies import VerdictText, verdict_texts
from imarena.workflows.views import NONE, View, live_judgments, vote_issues

NOT_DONE = "not done"
MEASURED, JUDGED, LUMINANCE, RATED = "measurement", "builtin judge", "EdiVal luminance", "raters' tags"


@dataclass(frozen=True)
class FailureMode:
    """A failure mode and the evidence that detects it; every field but the first two may be empty."""

    name: str
    place: str
    flags: tuple[str, ...] = ()
    fact: str = ""
    shift: Mapping[str, float] = field(default_factory=dict)
    checks: tuple[str, ...] = ()
    several: bool = False
    unless: tuple[str, ...] = ()
    brighter: Mapping[str, float] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    @property
    def judged(self) -> bool:
        """Whether the builtin judge can find this mode."""
        return bool(self.fact or self.shift or self.checks or self.several)

    @property
    def pattern(self) -> re.Pattern[str]:
        """Matches a rater's text about this mode."""
        return re.compile(rf"\b(?:{'|'.join(map(re.escape, self.words))})\b", re.IGNORECASE)


@dataclass(frozen=True)
class FoundBy:
    """Findings of one source: ids of outputs with the failure, and ids of all outputs that it checked."""

    source: str
    failed: frozenset[str]
    checked: frozenset[str]


@cache
def failure_modes() -> tuple[FailureMode, ...]:
    """All modes, in the order of the file."""
    lists = ("flags", "checks", "unless", "tags", "words")
    modes: list[dict[str, Any]] = package_yaml("imarena.workflows.reporting.failures", "modes.yaml")["modes"]
    return tuple(FailureMode(**mode | {name: tuple(mode.get(name, ())) for name in lists}) for mode in modes)


def find_failures(view: View) -> dict[str, list[FoundBy]]:
    """Findings of each source by mode; sources that checked nothing are left out."""
    findings: dict[str, list[FoundBy]] = {mode.name: [] for mode in failure_modes()}
    flags = _flags(view)
    builtin = view.variants.counting(("builtin",), pairwise=False)
    judged = [(output, stored.reasons) for output, stored in _verdicts(view, builtin, '"facts"')]
    quality = [v for v in view.variants.counting(dimension="quality", pairwise=False) if v.judge == "edival"]
    lights = {output: stored.scores for output, stored in _verdicts(view, quality, '"luminance')}
    rated, issues = _issues(view)
    for mode in failure_modes():
        if mode.flags and flags:
            failed = {output for output, names in flags.items() if names & set(mode.flags)}
            findings[mode.name].append(FoundBy(MEASURED, frozenset(failed), frozenset(flags)))
        if mode.judged and judged:
            checked = {output for output, reasons in judged if _applies(mode, reasons)}
            failed = {output for output, reasons in judged if output in checked and _fails(mode, reasons)}
            findings[mode.name].append(FoundBy(JUDGED, frozenset(failed), frozenset(checked)))
        if mode.brighter and lights:
            failed = {output for output, scores in lights.items() if _brighter(mode, scores)}
            findings[mode.name].append(FoundBy(LUMINANCE, frozenset(failed), frozenset(lights)))
        if rated:
            failed = {output for output, issue in issues if _matches(mode, issue)}
            findings[mode.name].append(FoundBy(RATED, frozenset(failed), frozenset(rated)))
    return findings


def _flags(view: View) -> dict[str, set[str]]:
    """The flags of all measured outputs; an output may have none."""
    by_image: dict[str, set[str]] = defaultdict(set)
    for kind in ("failure_modes.edit", "failure_modes.reference"):
        for row in view.workspace.store.rows(Evidence, kind=kind):
            by_image[row["image_sha256"]] |= set((json.loads(row["body"]).get("value") or {}).get("flags", ()))
    flags: dict[str, set[str]] = {}
    if by_image:
        for row in view.workspace.store.rows(Output, status="ok"):
            if row["image_sha256"] in by_image:
                flags[row["id"]] = by_image[row["image_sha256"]]
    return flags


def _verdicts(view: View, variants: Sequence[JudgeVariant], holding: str) -> Iterator[tuple[str, VerdictText]]:
    """The stored verdicts of these variants that contain a text, by output."""
    if variants:
        judgments = live_judgments(view, variants)
        left = dict(zip(judgments.seq.tolist(), judgments.left.tolist(), strict=True))
        for stored in verdict_texts(view, judgments, holding):
            yield view.entries.id_of(left[stored.seq]), stored


def _applies(mode: FailureMode, reasons: Mapping[str, Any]) -> bool:
    """Whether the judge can find this mode in this output."""
    kinds = [edit["kind"] for edit in reasons.get("asked", ())]
    if mode.checks:
        return any(kind in mode.checks for kind in kinds)
    if any(kind in mode.unless for kind in kinds):
        return False
    return len(kinds) > 1 if mode.several else True


def _fails(mode: FailureMode, reasons: Mapping[str, Any]) -> bool:
    facts = reasons.get("facts", {})
    if mode.fact:
        return bool(facts.get(mode.fact))
    if mode.shift:
        return any(abs(facts.get(name) or 0.0) >= limit for name, limit in mode.shift.items())
    checks = list(zip(reasons.get("asked", ()), reasons.get("checks", ()), strict=False))
    missed = [edit["kind"] for edit, check in checks if check.get("finding") == NOT_DONE]
    if mode.several:
        return 0 < len(missed) < len(checks)
    return any(kind in mode.checks for kind in missed)


def _brighter(mode: FailureMode, scores: Mapping[str, float]) -> bool:
    return any(
        name in scores and f"base_{name}" in scores and scores[name] - scores[f"base_{name}"] >= limit
        for name, limit in mode.brighter.items()
    )


def _issues(view: View) -> tuple[set[str], list[tuple[str, Issue]]]:
    """Outputs that people rated singly and could tag, and every issue with its output.

    Ratings without any issue in their campaign or, if imported, in their data set had no tags: they check nothing.
    """
    cast, entries = view.votes, view.entries
    marked = [(row, issues) for row, issues in vote_issues(view) if issues]  # "none" is an issue too
    alone = np.flatnonzero(cast.counts & (cast.right < 0) & (cast.preference == NONE))
    dataset = entries.labels["dataset"].of[entries.item[cast.left]].astype(np.int64)
    group = (cast.campaign.of.astype(np.int64) + 1) * (dataset.max(initial=0) + 1) + dataset
    tagged = alone[np.isin(group[alone], np.unique(group[[row for row, _ in marked]]))] if marked else alone[:0]
    rated = {entries.id_of(index) for index in np.unique(cast.left[tagged]).tolist()}
    findings = [
        (entries.id_of(int(cast.left[row])), issue) for row, issues in marked if cast.counts[row] for issue in issues
    ]
    return rated, findings


def _matches(mode: FailureMode, issue: Issue) -> bool:
    if issue.kind in mode.tags:
        return True
    text = f"{issue.label} {issue.note}"
    return bool(mode.words and issue.kind != "none" and text.strip() and mode.pattern.search(text))


def by_editor(view: View, outputs: Sequence[str] | frozenset[str]) -> dict[str, int]:
    """Number of these outputs by editor."""
    places = [view.entries.index_of[output] for output in outputs if output in view.entries.index_of]
    names = view.entries.editor.list(np.array(places, np.int64)) if places else []
    counts: dict[str, int] = defaultdict(int)
    for name in names:
        counts[name or "(not named)"] += 1
    return dict(sorted(counts.items()))
