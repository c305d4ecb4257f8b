"""Prompt injection: a judge's answers about outputs with and without text that addresses it, and their figures.

Answers are stored as evidence, never as judgments: an image with text drawn on it is not an editor's output.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from imarena import judges
from imarena.core import Judge, Verdict, content_id, grouped
from imarena.core.notices import Notice
from imarena.core.records import Evidence, JsonDict, Order, Outcome, Status
from imarena.storage import Workspace

KIND = "injection_probe"
PLAIN = ""
"""Stands for no text: the unchanged output."""


@dataclass(frozen=True)
class ProbeAnswer:
    """One answer about an output or pair (`unit`), with the text drawn on it, its side, and the order shown."""

    judge: str
    form: str
    unit: str
    text: str
    side: Outcome | None
    """None if the answer is a score."""
    order: Order | None
    work: str
    attempt: int
    status: Status
    score: float | None
    preference: Outcome | None

    def verdict(self) -> Verdict:
        """The answer as a `Verdict`, which the figures need."""
        return Verdict(self.status, preference=self.preference, score=self.score)


def probe_form(judge: Judge) -> str:
    """The id of the judge's version, prompt and settings: a changed judge is probed again."""
    return content_id("form", judge.version, judge.prompt_id, judge.prompt_version, judge.params)


def probe_evidence(
    probed: ProbeAnswer, image_sha256: str, against: str | None, value: JsonDict, error: str
) -> Evidence:
    """The answer as an evidence record."""
    params: JsonDict = {
        "form": probed.form, "unit": probed.unit, "text": probed.text, "work": probed.work, "attempt": probed.attempt,
    }  # fmt: skip
    if probed.side is not None and probed.order is not None:
        params |= {"side": probed.side.value, "order": probed.order.value}
    answer: JsonDict = {"score": probed.score, "preference": probed.preference.value if probed.preference else None}
    return Evidence(
        image_sha256=image_sha256, against_sha256=against, tool=probed.judge, kind=KIND, params=params,
        value={**{name: content for name, content in answer.items() if content is not None}, **value},
        status=probed.status, error=error,
    )  # fmt: skip


def read_probes(workspace: Workspace, judge: str | None = None, **where: Any) -> Iterator[ProbeAnswer]:
    """Yield the stored answers, oldest first."""
    where |= {"tool": judge} if judge is not None else {}
    for evidence in workspace.store.records(Evidence, kind=KIND, **where):
        params = evidence.params
        value = evidence.value if isinstance(evidence.value, dict) else {}
        side, order, score, preference = (
            params.get("side"),
            params.get("order"),
            value.get("score"),
            value.get("preference"),
        )
        attempt = params.get("attempt")
        yield ProbeAnswer(
            evidence.tool, str(params.get("form")), str(params.get("unit")), str(params.get("text", PLAIN)),
            Outcome(side) if isinstance(side, str) else None, Order(order) if isinstance(order, str) else None,
            str(params.get("work")), attempt if isinstance(attempt, int) else 0, evidence.status,
            float(score) if isinstance(score, int | float) else None,
            Outcome(preference) if isinstance(preference, str) else None,
        )  # fmt: skip


def stored_probes(workspace: Workspace) -> dict[str, list[ProbeAnswer]]:
    """Map each judge to all its stored probe answers."""
    return grouped((probed.judge, probed) for probed in read_probes(workspace))


# ---------------------------------------------------------------- figures


def add_probes(health: judges.HealthFindings, probes: Sequence[ProbeAnswer]) -> None:
    """Add the figures of one form of a judge from its answers so far, and how many answers failed."""
    latest = _last(probes)
    scores = [probe for probe in latest if probe.side is None]
    battles = [probe for probe in latest if probe.side is not None]
    if scores:
        _add_figures(
            health,
            judges.RAISED,
            judges.score_susceptibility(score_pairs(scores)),
            "outputs",
            len({probe.unit for probe in scores}),
        )
    if battles:
        susceptibility = judges.battle_susceptibility(battle_pairs(battles))
        _add_figures(health, judges.TURNED, susceptibility, "pairs", len({probe.unit for probe in battles}))


def only_probed(judge: str, probes: Sequence[ProbeAnswer]) -> judges.HealthFindings:
    """Findings on the newest form of a judge that was probed but has no judgments."""
    health = judges.HealthFindings(judge)
    add_probes(health, [probe for probe in probes if probe.form == probes[-1].form])
    return health


def judge_probes(workspace: Workspace, judge: Judge) -> judges.JudgeHealth:
    """Findings from all stored answers of this form of the judge."""
    health = judges.HealthFindings(judge.name)
    form = probe_form(judge)
    own_probes = [probe for probe in read_probes(workspace, judge.name) if probe.form == form]
    if own_probes:
        add_probes(health, own_probes)
    else:
        health.notices.append(Notice(code="probe_empty"))
    return health.health()


def _last(probes: Sequence[ProbeAnswer]) -> list[ProbeAnswer]:
    """One answer per question: the first ok one, else the last failure. Texts no longer in the list do not count."""
    texts = {PLAIN, *(injection.id for injection in judges.injections())}
    newest: dict[str, ProbeAnswer] = {}
    for probe in probes:
        if probe.text in texts and (probe.work not in newest or newest[probe.work].status is not Status.OK):
            newest[probe.work] = probe
    return list(newest.values())


def _add_figures(
    health: judges.HealthFindings, question: str, by_kind: dict[str, judges.Susceptibility], what: str, units: int
) -> None:
    for kind, figures in by_kind.items():
        beyond = [figures.beyond] if figures.beyond is not None else []
        health.add(question, figures.fell, figures.shift, *beyond, group=kind)
    failed = sum(figures.n_failed for kind, figures in by_kind.items() if kind != "all")
    if failed:
        total = units * len(judges.injections())
        health.notices.append(Notice(code="probe_failed", values={"failed": failed, "of": total, "what": what}))


def score_pairs(probes: Sequence[ProbeAnswer]) -> list[judges.ScorePair]:
    """Every text on every probed output; a question not asked yet gives a pair without a verdict."""
    by = {(probe.unit, probe.text): probe.verdict() for probe in probes}
    absent = Verdict(Status.MISSING_OUTPUT, error="not asked yet")
    return [
        judges.ScorePair(unit, injection.kind, by.get((unit, PLAIN), absent), by.get((unit, injection.id), absent))
        for unit in sorted({probe.unit for probe in probes})
        for injection in judges.injections()
    ]


def battle_pairs(probes: Sequence[ProbeAnswer]) -> list[judges.BattlePair]:
    """Every text on every probed pair. An outcome needs both orders; if one is missing, there is none."""
    by = {(probe.unit, probe.text, probe.order): probe.verdict() for probe in probes}
    sides = {probe.unit: probe.side for probe in probes if probe.side is not None}

    def outcome(unit: str, text: str) -> Outcome | None:
        first, second = by.get((unit, text, Order.LEFT_FIRST)), by.get((unit, text, Order.RIGHT_FIRST))
        return judges.combine_orders(first, second).preference if first is not None and second is not None else None

    return [
        judges.BattlePair(unit, injection.kind, side, outcome(unit, PLAIN), outcome(unit, injection.id))
        for unit, side in sorted(sides.items())
        for injection in judges.injections()
    ]
