"""The results of `align` in tables and a sentence: which judge agrees best with people, and is its lead significant?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from imarena.agreement import Alignment, CorrelationComparison, GroupAlignment, VerdictAlignment, VerdictGroup
from imarena.core import command_line, counted, fill_in_commands, grouped
from imarena.reports import p_value_text
from imarena.reports.tables import Table
from imarena.stats import Figure
from imarena.workflows.studies.alignment import WorkspaceAlignment
from imarena.workflows.studies.tables.alignment import FEW, SIDES, score_tables, verdict_tables
from imarena.workflows.views import WHOLE

_LEVEL = 0.05
_FEW = 10
"""With fewer common outputs, a bootstrap of two correlations is meaningless."""
_MOST_NAMED = 5
_RAISED = 0.05
"""A pooled correlation this much above the average within tasks gets a warning."""
_TEST = "`{imarena} align --compare` tests whether the difference is significant."


@dataclass(frozen=True)
class _Line:
    """One judge's agreement with people."""

    judge: str
    value: float | None
    n: int
    low: float | None
    high: float | None
    reason: str = ""
    floor: float = 0.0
    """The baseline without any knowledge: a correlation of 0, or the share of the most frequent outcome."""
    constant: str = ""
    """The most frequent outcome; empty for scores."""
    sides: Figure | None = None
    """For verdicts: the agreement where people choose a side."""
    within_tasks: float | None = None
    """For scores of several tasks: the average correlation within a task."""


@dataclass(frozen=True)
class _PairTest:
    """A significance test between two judges, with their values on the data that both have."""

    values: dict[str, float | None]
    n: int
    p_value: float | None
    reason: str
    is_bound: bool = False
    """Whether the p-value is an upper bound."""

    @property
    def is_significant(self) -> bool:
        return self.p_value is not None and self.p_value < _LEVEL


@dataclass(frozen=True)
class _Kind:
    """How to print values: as correlations over outputs, or as shares of votes."""

    is_score: bool

    def number(self, value: float) -> str:
        return f"{value:.2f}" if self.is_score else f"{value:.0%}"

    def agrees(self, line: _Line) -> bool:
        """Whether the judge is above the baseline; for scores, its interval (if known) must also exclude 0."""
        if line.value is None or line.value <= line.floor:
            return False
        return not self.is_score or line.low is None or line.low > 0

    def details(self, line: _Line) -> str:
        """For example `95% interval 0.40 to 0.60, 80 outputs`."""
        number = counted(line.n, "output" if self.is_score else "vote")
        if line.low is None or line.high is None:
            return number
        return f"95% interval {self.number(line.low)} to {self.number(line.high)}, {number}"

    def caveat(self, line: _Line) -> str:
        """The baseline to compare the value with: 0, if the interval contains it, or a constant answer."""
        has_interval = line.low is not None and line.high is not None
        inside = has_interval and (line.low or 0.0) <= line.floor <= (line.high or 0.0)
        if self.is_score:
            return " Its interval contains 0." if inside else ""
        text = f" Always answering {line.constant} agrees with {self.number(line.floor)}"
        return f"{text}, which the interval contains." if inside else f"{text}."


_SCORES, _VOTES = _Kind(is_score=True), _Kind(is_score=False)


def alignment_conclusions(alignment: WorkspaceAlignment) -> list[str]:
    """The conclusions on a workspace's scores and on its verdicts, whichever it has."""
    conclusions = [score_conclusion(alignment.scores)] if alignment.scores else []
    conclusions += [verdict_conclusion(alignment.verdicts)] if alignment.verdicts else []
    return [text for text in conclusions if text]


def alignment_tables(alignment: WorkspaceAlignment, by: tuple[str, ...], *, all_figures: bool = False) -> list[Table]:
    """The tables of the scores and of the verdicts."""
    tables = score_tables(alignment.scores, fewest=0 if all_figures else FEW) if alignment.scores else []
    return tables + (verdict_tables(alignment.verdicts, by, all_figures=all_figures) if alignment.verdicts else [])


def score_conclusion(alignment: Alignment) -> str:
    """The conclusion on the overall scores, or on the only criterion; empty for groups and for several criteria."""
    criteria = {group.criterion for group in alignment.groups}
    criterion = WHOLE if WHOLE in criteria else next(iter(criteria)) if len(criteria) == 1 else ""
    lines = [_score_line(group) for group in alignment.groups if group.criterion == criterion and not group.group]
    if not lines:
        return ""
    tests = [_score_test(comparison) for comparison in alignment.comparisons if comparison.criterion == criterion]
    text = _single(lines[0], _SCORES) if len(lines) == 1 else _several(lines, _SCORES, tests)
    return " ".join(filter(None, (text, _pooling_warning(lines))))


def _pooling_warning(lines: Sequence[_Line]) -> str:
    """A warning about correlations that are higher over all tasks together than within the tasks; empty if none is."""
    raised = [
        line for line in lines
        if line.value is not None and line.within_tasks is not None and line.value - line.within_tasks >= _RAISED
    ]  # fmt: skip
    if not raised:
        return ""
    top = sorted(raised, key=lambda line: (-_value(line), line.judge))
    values = "; ".join(f"{line.judge} {line.within_tasks:.2f} instead of {line.value:.2f}" for line in top)
    return (
        "These correlations are over all tasks together, and differences between the tasks raise them. Averaged within "
        f"the tasks: {values} (`{command_line('align --by task')}`)."
    )


def _score_test(test: CorrelationComparison) -> _PairTest:
    values = {test.left: test.spearman_left, test.right: test.spearman_right}
    if test.n < _FEW:
        return _PairTest(values, test.n, None, f"both have only {counted(test.n, 'output')}")
    return _PairTest(values, test.n, test.p_holm, test.reason or "", test.p_is_bound)


def _score_line(group: GroupAlignment) -> _Line:
    ends = group.interval.get("spearman")
    low, high = (ends.low, ends.high) if ends is not None else (None, None)
    return _Line(
        group.judge, group.spearman, group.n, low, high, group.reason or "", within_tasks=group.within_tasks
    )  # fmt: skip


def verdict_conclusion(alignment: VerdictAlignment) -> str:
    """The conclusion on all votes; empty for groups."""
    wrong = alignment.settings["missing"] == "wrong"
    lines = [_verdict_line(group, with_missing=wrong) for group in alignment.groups if not group.group]
    if not lines:
        return ""
    tests = [
        _PairTest({row.left: row.accuracy_left, row.right: row.accuracy_right}, row.n, row.p_holm, row.reason or "")
        for row in alignment.comparisons
    ]
    text = _single(lines[0], _VOTES) if len(lines) == 1 else _several(lines, _VOTES, tests)
    measured = [line for line in lines if line.sides is not None and line.sides.value is not None]
    if len(lines) == 1 or not measured:
        return text
    sides = "; ".join(f"{line.judge} {_of_sides(line)}" for line in measured[:_MOST_NAMED])
    return f"{text} Agreement {SIDES} (a tie of the judge is wrong): {sides}."


def _of_sides(line: _Line) -> str:
    """For example `83% of 12 votes`."""
    figure = line.sides
    return (
        f"{figure.value:.0%} of {counted(figure.n, 'vote')}" if figure is not None and figure.value is not None else ""
    )


def _verdict_line(group: VerdictGroup, *, with_missing: bool) -> _Line:
    """A line whose baseline is the most frequent of people's outcomes among the votes that count."""
    share = group.figures.four_way_accuracy
    votes = {
        outcome: sum(number for verdict, number in row.items() if with_missing or verdict != "missing")
        for outcome, row in group.figures.confusion.items()
    }
    most = max(votes, key=lambda outcome: votes[outcome], default="")
    floor = votes[most] / share.n if share.n else 0.0
    constant = f"'{most.replace('_', ' ')}'"
    return _Line(
        group.judge, share.value, share.n, share.low, share.high, group.reason or "", floor, constant,
        group.figures.decisive_accuracy,
    )  # fmt: skip


def _single(line: _Line, kind: _Kind) -> str:
    """The conclusion on a single judge."""
    if line.value is None:
        return f"Not enough data to say how well {line.judge} agrees with people: {line.reason}."
    if not kind.is_score:
        number = counted(line.n, "vote")
        ends = "" if line.low is None or line.high is None else f"95% interval {line.low:.0%} to {line.high:.0%}; "
        text = f"{line.judge} agrees with {line.value:.0%} of {number} ({ends}left, right, tie or both bad)"
        sides = _of_sides(line)
        text += f", and {SIDES}, with {sides} (a tie of the judge is wrong)." if sides else "."
        text += f" Always answering {line.constant} agrees with {line.floor:.0%}"
        return text + ("." if line.value > line.floor else ": the judge is not better.")
    text = f"{line.judge}: Spearman correlation with people {line.value:.2f}, {kind.details(line)}."
    if kind.caveat(line):
        text += " The interval contains 0: not enough evidence that it agrees with people."
    return text


def _several(lines: Sequence[_Line], kind: _Kind, tests: Sequence[_PairTest]) -> str:
    """Which of several judges agrees best, if any does, with notes on the others."""
    measured = sorted((line for line in lines if line.value is not None), key=lambda line: (-_value(line), line.judge))
    if not measured:
        return "Not enough data to say which judge agrees best with people."
    most = max(line.n for line in measured)
    enough = [line for line in measured if 2 * line.n >= most]
    lacking = grouped((line.reason, line.judge) for line in lines if line.value is None)
    notes = [f"Not enough data on {_names(judges)}: {reason}." for reason, judges in lacking.items()]
    few = [line for line in measured if line not in enough]
    if few:
        noun = "output" if kind.is_score else "vote"
        names = _names([f"{line.judge} ({counted(line.n, noun)})" for line in few])
        notes.append(f"Too few to compare with the judge that has {counted(most, noun)}: {names}.")
    if len(enough) == 1:
        conclusion = _single(enough[0], kind)
    elif any(kind.agrees(line) for line in enough):
        conclusion = _best(enough, kind, tests)
    else:
        conclusion = _nobody(enough, kind)
    return " ".join([conclusion, *notes])


def _value(line: _Line) -> float:
    return line.value if line.value is not None else -math.inf


def _nobody(lines: Sequence[_Line], kind: _Kind) -> str:
    """The sentence for when no judge is above the baseline. `lines`: the highest first."""
    top = lines[0]
    value = kind.number(_value(top))
    names = _names([line.judge for line in lines if kind.number(_value(line)) == value])
    if kind.is_score:
        text = f"No judge agrees with people: the highest Spearman correlation is {value}"
        return f"{text} ({names}; {kind.details(top)}).{kind.caveat(top)}"
    text = f"No judge is better than always answering {top.constant} ({kind.number(top.floor)} of the votes)"
    return f"{text}: the highest agreement is {value} ({names}; {kind.details(top)})."


def _best(lines: Sequence[_Line], kind: _Kind, tests: Sequence[_PairTest]) -> str:
    """The best judge that agrees with people, the next one, and the result of the test between them."""
    best = next(line for line in lines if kind.agrees(line))
    rivals = [line for line in lines if line is not best]
    value = kind.number(_value(best))
    word = f"Spearman correlation {value}" if kind.is_score else f"{value} of the votes"
    equal = [
        line for line in rivals
        if kind.number(_value(line)) == value and not ((test := _test(tests, best, line)) and test.is_significant)
    ]  # fmt: skip
    if equal:
        alike = sorted([best, *equal], key=lambda line: line.judge)
        details = "; ".join(f"{line.judge}: {kind.details(line)}" for line in alike)
        names = _names([line.judge for line in alike])
        text = f"Not enough evidence to say which of {names} agrees best with people ({word}; {details})."
        return text if kind.is_score else f"{text} Always answering {best.constant} agrees with {best.floor:.0%}."
    text = f"{best.judge} agrees best with people ({word}, {kind.details(best)})"
    higher = [line for line in rivals if _value(line) > _value(best)]
    unsure = "".join(
        f" {line.judge} is higher ({kind.number(_value(line))}, {kind.details(line)}), but there is not enough evidence"
        " that it agrees." for line in higher
    )  # fmt: skip
    lower = [line for line in rivals if line not in higher]
    if not lower:
        return f"{text}.{kind.caveat(best)}{unsure}"
    other = lower[0]
    text += f"; the next is {other.judge} ({kind.number(_value(other))}, {kind.details(other)})."
    return f"{text}{kind.caveat(best)}{unsure} {_difference(best, other, kind, _test(tests, best, other))}"


def _test(tests: Sequence[_PairTest], left: _Line, right: _Line) -> _PairTest | None:
    return next((test for test in tests if test.values.keys() == {left.judge, right.judge}), None)


def _difference(best: _Line, other: _Line, kind: _Kind, test: _PairTest | None) -> str:
    """The result of the test, and the data that it covers if the judges' data differ."""
    if test is None:
        return fill_in_commands(_TEST)
    noun = counted(test.n, "output" if kind.is_score else "vote")
    if test.p_value is None:
        return f"Not enough data to say whether the difference is significant: {test.reason}."
    word = "significant" if test.is_significant else "not significant"
    result = f"he difference is {word} (p {p_value_text(test.p_value, test.is_bound)} with Holm's correction)."
    first, second = test.values[best.judge], test.values[other.judge]
    if test.n == best.n == other.n or first is None or second is None:
        return f"T{result}"
    values = f"{best.judge} {kind.number(first)}, {other.judge} {kind.number(second)}"
    turned = f", where {other.judge} is better" if second > first else ""
    return f"On the {noun} that both have ({values}){turned}, t{result}"


def _names(names: Sequence[str]) -> str:
    """Join names: `a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
