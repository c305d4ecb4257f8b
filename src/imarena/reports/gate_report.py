"""Gates as sentences, as a table, as JUnit XML for a build server, and as Markdown for a pull request."""

from collections.abc import Sequence
from xml.etree import ElementTree

from imarena.core.notices import sentence, sentences
from imarena.reports.tables import CellValue, Column, Range, Table, printable, to_markdown
from imarena.reports.tables.markdown import escape_markdown, escape_paragraph
from imarena.reports.tables.table import columns
from imarena.stats import GateReport, GateResult

DATA_COMPLETE = "data complete"
"""The test case that fails if calls failed or files are missing."""
END_DECIMALS = 6
"""An end and an estimate that agree to this many decimals are equal."""
OUTCOMES = {"passed": "passed", "failed": "failed", "undecided": "not decided", "incomplete": "not decided"}


def gate_text(gate: GateResult, *, complete: bool = True) -> str:
    """One gate as a sentence: the rule, the outcome, and the difference with its interval or the reason."""
    scope = "".join(f" ({key} {value})" for key, value in gate.scope.items())
    text = f"Gate '{gate.rule}'{scope}: {OUTCOMES[gate.outcome]}."
    if not complete and gate.reason is None:
        verb = "pass" if gate.outcome == "passed" else "fail"
        text = f"Gate '{gate.rule}'{scope}: not decided. With the data so far it would {verb}."
    if gate.reason is not None:
        return f"{text} {sentence(gate.reason)}"
    return f"{text} {gate.model} - {gate.other}: {_difference_text(gate)}."


def _difference_text(gate: GateResult) -> str:
    point = "" if gate.difference is None else f"{gate.difference:+.0f} {gate.unit}"
    if gate.low is not None and gate.high is not None:
        return f"{point} ({_level(gate)} interval {gate.low:+.0f} to {gate.high:+.0f}{_at_end(gate)})"
    if gate.low is not None:
        return f"at least {gate.low:+.0f} {gate.unit} ({_level(gate)} interval without an upper bound)"
    if gate.high is not None:
        return f"at most {gate.high:+.0f} {gate.unit} ({_level(gate)} interval without a lower bound)"
    return "no upper bound"


def _at_end(gate: GateResult) -> str:
    """Explain an interval that ends at the estimate."""
    if gate.difference is None or gate.low is None or gate.high is None:
        return ""
    ends = {round(gate.low, END_DECIMALS): "smaller", round(gate.high, END_DECIMALS): "larger"}
    side = ends.get(round(gate.difference, END_DECIMALS))
    return f"; it ends at the estimate because no resampled board has a {side} difference" if side else ""


def _level(gate: GateResult) -> str:
    return f"{gate.level * 100:g}%"


def gate_lines(report: GateReport) -> list[str]:
    """Every gate as a sentence; if the data are incomplete, first what is missing."""
    lines = [gate_text(gate, complete=not report.incomplete) for gate in report.gates]
    if not report.incomplete:
        return lines
    reasons = " ".join(sentences(report.incomplete))
    return [f"The gate is not decided, because the data are incomplete: {reasons}", *lines]


def gate_table(report: GateReport) -> Table:
    """One row per gate."""
    rows: list[tuple[CellValue, ...]] = []
    for gate in report.gates:
        scope = ", ".join(f"{key} {value}" for key, value in gate.scope.items())
        ends: CellValue = None
        if gate.low is not None and gate.high is not None:
            ends = Range(gate.low, gate.high)
        elif gate.reason is None:
            ends = _difference_text(gate)
        note = sentence(gate.reason, "report") if gate.reason else ""
        outcome = OUTCOMES["incomplete" if report.incomplete else gate.outcome]
        rows.append((gate.rule, scope, outcome, gate.difference, ends, _level(gate), note))
    unit = report.gates[0].unit if report.gates else "points"
    head = columns(
        "gate", "board", "outcome", Column(f"difference, {unit}", "+.0f", absent="–"),
        Column("interval", "+.0f", absent="–"), "level", Column("note", wrap=True),
    )  # fmt: skip
    return Table(head, tuple(rows))


def gate_junit(report: GateReport, suite: str) -> str:
    """The gates as one JUnit test suite. A failed gate is a failure, an undecided one an error."""
    root = ElementTree.Element("testsuites", name="imarena")
    outcomes = ["undecided" if report.incomplete else gate.outcome for gate in report.gates]
    undecided = outcomes.count("undecided")
    counts = {
        "tests": len(report.gates) + 1,
        "failures": outcomes.count("failed"),
        "errors": undecided + bool(report.incomplete),
        "skipped": 0,
    }
    names = {key: str(number) for key, number in counts.items()}
    parent = ElementTree.SubElement(root, "testsuite", {"name": printable(suite), **names})
    data = ElementTree.SubElement(parent, "testcase", classname=printable(suite), name=DATA_COMPLETE)
    if report.incomplete:
        lines = sentences(report.incomplete, "report")
        error = ElementTree.SubElement(data, "error", message=printable(lines[0]), type="incomplete")
        error.text = "\n".join(map(printable, lines))
    for gate, outcome in zip(report.gates, outcomes, strict=True):
        scope = "".join(f" ({key} {value})" for key, value in gate.scope.items())
        case = ElementTree.SubElement(parent, "testcase", classname=printable(suite), name=printable(gate.rule + scope))
        text = printable(gate_text(gate, complete=not report.incomplete))
        kind = {"failed": "failure", "undecided": "error"}.get(outcome)
        child = ElementTree.SubElement(case, kind, message=text, type=outcome) if kind else None
        (ElementTree.SubElement(case, "system-out") if child is None else child).text = text
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def gate_markdown(
    title: str, report: GateReport | None, paragraphs: Sequence[str], tables: Sequence[Table], notes: Sequence[str] = ()
) -> str:
    """A summary for a pull request: the gates, then the result. Names are escaped to be printed literally."""
    outcome = f": gate {OUTCOMES[report.outcome]}" if report is not None else ""
    parts = [f"### {escape_markdown(title)}{outcome}"]
    if report is not None:
        parts += [to_markdown(gate_table(report)).rstrip()]
        parts += [f"**Incomplete:** {escape_markdown(line)}" for line in sentences(report.incomplete, "report")]
    parts += [escape_paragraph(text) for text in paragraphs if text]
    parts += [to_markdown(table).rstrip() for table in tables]
    parts += [f"> {escape_paragraph(text)}" for text in notes]
    return "\n\n".join(parts) + "\n"
