"""What `align` found, in tables and a sentence: which judge agrees best with people, and is its lead significant?"""

from collections.abc import Sequence
from dataclasses import dataclass

from imarena.agreement import Alignment, VerdictAlignment
from imarena.core import counted
from imarena.reports.tables import Table
from imarena.workflows.studies.alignment import WorkspaceAlignment
from imarena.workflows.studies.tables.alignment import score_tables, verdict_tables
from imarena.workflows.views import WHOLE

_LEVEL = 0.05
_TEST = "Add --compare to test whether the difference is significant."


@dataclass(frozen=True)
class _Compared:
    """Two judges that were tested against each other."""

    judges: frozenset[str]
    p_value: float | None
    reason: str
    is_bound: bool = False
    """The p-value is an upper bound."""


def alignment_conclusions(alignment: WorkspaceAlignment) -> list[str]:
    """What was found of the scores and of the verdicts of a workspace, whichever there are."""
    said = [score_conclusion(alignment.scores)] if alignment.scores else []
    said += [verdict_conclusion(alignment.verdicts)] if alignment.verdicts else []
    return [text for text in said if text]


def alignment_tables(alignment: WorkspaceAlignment, by: tuple[str, ...]) -> list[Table]:
    """The tables of both."""
    tables = score_tables(alignment.scores) if alignment.scores else []
    return tables + (verdict_tables(alignment.verdicts, by) if alignment.verdicts else [])


def score_conclusion(alignment: Alignment) -> str:
    """Of the overall scores, or of the only criterion; empty for groups and for several criteria."""
    criteria = {group.criterion for group in alignment.groups}
    criterion = WHOLE if WHOLE in criteria else next(iter(criteria)) if len(criteria) == 1 else ""
    lines = [group for group in alignment.groups if group.criterion == criterion and not group.group]
    if not lines:
        return ""
    if len(lines) == 1:
        (line,) = lines
        if line.spearman is None:
            return f"Not enough data to say how well {line.judge} agrees with people: {line.reason}."
        ends = line.interval.get("spearman")
        known = ends is not None and ends.low is not None and ends.high is not None
        span = f", 95% interval {ends.low:.2f} to {ends.high:.2f}" if ends is not None and known else ""
        text = f"{line.judge}: Spearman correlation with people {line.spearman:.2f}{span}, {counted(line.n, 'output')}."
        if ends is not None and ends.low is not None and ends.high is not None and ends.low <= 0 <= ends.high:
            text += " The interval contains 0: not enough evidence that it agrees with people."
        return text
    tests = [
        _Compared(frozenset((one.left, one.right)), one.p_holm, one.reason or "", one.p_is_bound)
        for one in alignment.comparisons
        if one.criterion == criterion
    ]
    return _best([(line.judge, line.spearman) for line in lines], "Spearman correlation {:.2f}", tests)


def verdict_conclusion(alignment: VerdictAlignment) -> str:
    """Of all votes; empty for groups."""
    lines = [group for group in alignment.groups if not group.group]
    if not lines:
        return ""
    shares = [(line.judge, line.figures.four_way_accuracy.value) for line in lines]
    if len(lines) == 1:
        (judge, share), number = shares[0], counted(lines[0].figures.n, "vote")
        if share is None:
            return f"Not enough data to say how well {judge} agrees with people: {lines[0].reason}."
        return f"{judge} agrees with {share:.0%} of {number} (left, right, tie or both bad)."
    tests = [_Compared(frozenset((one.left, one.right)), one.p_holm, one.reason or "") for one in alignment.comparisons]
    return _best(shares, "{:.0%} of the votes", tests)


def _best(found: Sequence[tuple[str, float | None]], shown: str, tests: Sequence[_Compared]) -> str:
    """The best judge, the next one, and what the test of the two says."""
    ranked = sorted(((value, judge) for judge, value in found if value is not None), reverse=True)
    if len(ranked) < 2:
        return "Not enough data to say which judge agrees best with people."
    (first, best), (second, other) = ranked[:2]
    text = f"{best} agrees best with people ({shown.format(first)}); the next is {other} ({shown.format(second)})."
    test = next((one for one in tests if one.judges == {best, other}), None)
    if test is None:
        return f"{text} {_TEST}"
    if test.p_value is None:
        return f"{text} Not enough data to say whether the difference is significant: {test.reason}."
    sign = "<=" if test.is_bound else "="
    word = "significant" if test.p_value < _LEVEL else "not significant"
    return f"{text} The difference is {word} (p {sign} {test.p_value:.3g} with Holm's correction)."
