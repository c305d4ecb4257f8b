"""Prompt injection: what a judge said about outputs with and without texts that address it, and the figures from it.

Answers are kept as evidence, never as judgments: a picture with a text drawn on it is nobody's output.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from imarena import judges
from imarena.core import Judge, Verdict, content_id
from imarena.core.notices import Notice
from imarena.core.records import Evidence, JsonDict, Order, Outcome, Status
from imarena.storage import Workspace

KIND = "injection_probe"
PLAIN = ""
"""The text of an output as it is."""
RAISED = "Does a text in the image that addresses the judge raise its score?"
TURNED = "Does a text on one side that addresses the judge turn the battle to that side?"


@dataclass(frozen=True)
class ProbeAnswer:
    """One answer: about which output or pair (`unit`), with which text on which side, shown in which order."""

    judge: str
    form: str
    unit: str
    text: str
    side: Outcome | None
    """None: a score."""
    order: Order | None
    work: str
    attempt: int
    status: Status
    score: float | None
    preference: Outcome | None

    def verdict(self) -> Verdict:
        """As the figures need it."""
        return Verdict(self.status, preference=self.preference, score=self.score)


def probe_form(judge: Judge) -> str:
    """Version, prompt and settings: another form of a judge is probed anew."""
    return content_id("form", judge.version, judge.prompt_id, judge.prompt_version, judge.params)


def probe_evidence(
    probed: ProbeAnswer, image_sha256: str, against: str | None, value: JsonDict, error: str
) -> Evidence:
    """An answer as it is stored."""
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
    """Stored answers, oldest first."""
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
    """Judge to all that it was asked in probes."""
    answers: dict[str, list[ProbeAnswer]] = defaultdict(list)
    for probed in read_probes(workspace):
        answers[probed.judge].append(probed)
    return dict(answers)


# ---------------------------------------------------------------- figures


def add_probes(health: judges.HealthFindings, probes: Sequence[ProbeAnswer]) -> None:
    """Figures of one form of a judge, from what there is, and how much is missing."""
    known = _last(probes)
    scores = [probe for probe in known if probe.side is None]
    battles = [probe for probe in known if probe.side is not None]
    if scores:
        _add_figures(
            health,
            RAISED,
            judges.score_susceptibility(score_pairs(scores)),
            "outputs",
            len({probe.unit for probe in scores}),
        )
    if battles:
        susceptibility = judges.battle_susceptibility(battle_pairs(battles))
        _add_figures(health, TURNED, susceptibility, "pairs", len({probe.unit for probe in battles}))


def only_probed(judge: str, probes: Sequence[ProbeAnswer]) -> judges.HealthFindings:
    """A judge that was probed and has no judgments: its newest form."""
    health = judges.HealthFindings(judge)
    add_probes(health, [probe for probe in probes if probe.form == probes[-1].form])
    return health


def judge_probes(workspace: Workspace, judge: Judge) -> judges.JudgeHealth:
    """All that the stored answers of this form of the judge say."""
    health = judges.HealthFindings(judge.name)
    form = probe_form(judge)
    mine = [probe for probe in read_probes(workspace, judge.name) if probe.form == form]
    if mine:
        add_probes(health, mine)
    else:
        health.notices.append(Notice(code="probe_empty"))
    return health.health()


def _last(probes: Sequence[ProbeAnswer]) -> list[ProbeAnswer]:
    """One answer a question: an ok one, else the last failure. Texts that are not in the list any more do not count."""
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
        whole = units * len(judges.injections())
        health.notices.append(Notice(code="probe_failed", values={"failed": failed, "of": whole, "what": what}))


def score_pairs(probes: Sequence[ProbeAnswer]) -> list[judges.ScorePair]:
    """Every text on every output that was probed; what was not asked yet is a pair without a verdict."""
    by = {(probe.unit, probe.text): probe.verdict() for probe in probes}
    absent = Verdict(Status.MISSING_OUTPUT, error="not asked yet")
    return [
        judges.ScorePair(unit, injection.kind, by.get((unit, PLAIN), absent), by.get((unit, injection.id), absent))
        for unit in sorted({probe.unit for probe in probes})
        for injection in judges.injections()
    ]


def battle_pairs(probes: Sequence[ProbeAnswer]) -> list[judges.BattlePair]:
    """Every text on every pair that was probed. Both orders make an outcome; where one is missing there is none."""
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
