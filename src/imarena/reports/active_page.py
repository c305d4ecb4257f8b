"""The Active Elo report as a page: one section per table or figure of CV-Arena, with the settings in words."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from imarena.core import UserError, command_line, counted, grouped
from imarena.reports.active_plots import save_active_plots
from imarena.reports.active_tables import board_parts, boards_table, plain_table, ratings_table, title_of, trial_table
from imarena.reports.page import Page, PageImage, Section, write_html, write_markdown
from imarena.reports.tables import Range, Table

ORIGINS = {
    "given": "a range that was given",
    "judge": "the range that the judge declares",
    "scores": "a range rounded outward from the scores",
}
"""The origin of the range of a judge's scores, in words."""
NEVER_MET = "Groups of models that never met have ratings and ranks of their own."


def active_page(document: dict[str, Any], plots: dict[str, tuple[str, str]] | None = None) -> Page:
    """Make a page from the document of `imarena route report`; `plots` names the image files by figure."""
    files = plots or {}
    sections = [
        _boards(document, files),
        _calibration(document, files),
        _deferral(document),
        *_groups(document),
        *_trials(document, files),
        *_other_sections(document),
    ]
    if document["missing"]:
        missing = tuple(f"{title_of(key)}: {why}" for key, why in document["missing"].items())
        sections.append(Section("Not here, and why", missing))
    scores = document["score_range"]
    lead = f"{document['votes']:,} votes and the scores of {document['judge']}, "
    lead += f"{scores['low']:g} to {scores['high']:g} ({ORIGINS[scores['from']]})."
    return Page(f"Active Elo with {document['judge']}", lead, tuple(sections))


def _picture(files: dict[str, tuple[str, str]], name: str, caption: str) -> tuple[PageImage, ...]:
    if name not in files:
        return ()
    light, dark = files[name]
    return (PageImage(light, caption, dark=dark, scale=2),)


def _boards(document: dict[str, Any], files: dict[str, tuple[str, str]]) -> Section:
    text = [
        "Rank, rating and 95% interval. Human only has the same votes as Active Elo, so that their budgets match.",
        *(describe_settings(name, settings) for name, settings in document["settings"].items()),
    ]
    groups = document.get("groups") or {}
    if groups:
        text.insert(1, f"{NEVER_MET} Win rates are against the ten best of the model's group.")
    plots = _picture(files, "bootstrap", "Bootstrap ratings of the ten best by setting, 95% intervals (figure 4)")
    plots += _picture(files, "wins", "Average win rates against the ten best by setting (figure 3)")
    signed = {
        name: settings["signature"] for name, settings in document["settings"].items() if settings.get("signature")
    }
    notes = tuple(f"{title_of(name)}: {line}" for name, line in signed.items())
    tables = (replace(boards_table(document["boards"], groups), notes=notes), _win_rates(document, groups))
    return Section("Boards side by side", tuple(text), tuple(document["warnings"]), tables=tables, plots=plots)


def _win_rates(document: dict[str, Any], groups: dict[str, Any]) -> Table:
    """The average win rates of the first board's ten best of each group, by setting."""
    rates = document["win_rates"]
    names = [name for name in document["boards"] if rates.get(name)]
    first = next(iter(document["boards"]))
    parts = [part for part in board_parts(document["boards"], groups) if part[0] == first]
    lines = (
        [*([number] if len(parts) > 1 else []), row["model"], *(rates[name].get(row["model"]) for name in names)]
        for number, (_, _, rows) in enumerate(parts, 1)
        for row in rows[:10]
    )
    head = (*(["group"] if len(parts) > 1 else []), "model", *(title_of(name) for name in names))
    return plain_table(head, lines, "Average win rate against the ten best (figure 3)")


def describe_settings(name: str, settings: dict[str, Any]) -> str:
    """Describe in one sentence how a board was made."""
    parts = []
    if "q" in settings:
        parts.append(f"the judge's reliability is q = {settings['q']}")
    calibration = settings.get("calibration")
    if calibration:
        parts.append(
            f"calibrated on {calibration['n_pairs']} pairs ({calibration['method']}, group {calibration['group']}, "
            f"{calibration['made_at'][:10]})"
        )
    if settings.get("interval") == "bootstrap":
        parts.append(f"intervals from {settings['rounds']:,} bootstrap rounds over {settings['cluster']}s")
    elif settings.get("interval") == "posterior":
        parts.append("votes correct the judge, no q; intervals of the posterior")
    return f"{title_of(name)}: {'; '.join(parts) or 'no interval'}."


def _calibration(document: dict[str, Any], files: dict[str, tuple[str, str]]) -> Section:
    curves = document["calibration"]
    if not curves:
        return Section(
            "Calibration", (f"{document['judge']} has no calibration: run {command_line('route calibrate')}.",)
        )
    rows = [
        [group, gap, raw, agreement, Range(low, high), q, int(n)]
        for group, curve in curves.items()
        for gap, raw, agreement, low, high, q, n in zip(
            curve["gap"], curve["empirical"], curve["agreement"], curve["low"], curve["high"], curve["q_mixture"],
            curve["n"], strict=True,
        )
    ]  # fmt: skip
    head = ("group", "score gap", "agreement", "fitted a", "95%", "q = max(0, 2a - 1)", "pairs")
    text = "The mixture takes q = max(0, 2a - 1). With --paper-compat, the online update takes q = a, as in the paper."
    all_tasks = curves["all"]
    bands = [
        plain_table(
            ("score gap", "agreement", "pairs", "fraction of pairs"),
            ([_band(row), row["agreement"], row["n"], row["fraction"]] for row in all_tasks[key]),
            caption,
        )
        for key, caption in (("table", "Agreement by score gap (table 5)"), ("fine_table", "The same, finer"))
    ]
    plots = _picture(files, "reliability", "Agreement with people by score gap")
    fitted = plain_table(head, rows, "Fitted curves at equal-count bins")
    return Section("Calibration", (text,), tables=(*bands, fitted), plots=plots)


def _band(row: dict[str, Any]) -> str:
    return f"{row['low']:g} and more" if row["high"] is None else f"{row['low']:g} to below {row['high']:g}"


def _deferral(document: dict[str, Any]) -> Section:
    rows = ([line["family"] or "(none)", line["pairs"], line["routed"], line["rate"]] for line in document["deferral"])
    table = plain_table(("family", "pairs", "routed", "rate"), rows)
    text = f"{_gates_sentence(document)} Only pairs that {document['judge']} scored are counted."
    return Section("Deferral by task family (table 7)", (text,), tables=(table,))


def _gates_sentence(document: dict[str, Any]) -> str:
    """Say which pairs go to people, and what the scale of the judge's scores is."""
    conditions = []
    if document["tau"] is not None:
        conditions.append(f"both scores are at least {_score(document['tau'])}")
    if document["delta"] is not None:
        conditions.append(f"the scores differ by less than {_score(document['delta'])}")
    if not conditions:
        return "Every pair that the judge scored goes to people."
    scores = document["score_range"]
    scale = f"(scores from {scores['low']:g} to {scores['high']:g})"
    return f"A pair goes to people if {' and '.join(conditions)} {scale}."


def _score(value: float) -> str:
    """A score or a difference of scores on any scale: one decimal from 100 on, three significant digits below."""
    return f"{value:,.1f}" if abs(value) >= 100 else f"{value:.3g}"


def _groups(document: dict[str, Any]) -> list[Section]:
    boards_by_title = {f"Boards by {label}": groups for label, groups in document["by"].items()}
    if document["dimension_boards"]:
        boards_by_title["Boards by dimension"] = document["dimension_boards"]
    sections = []
    for title, groups in boards_by_title.items():
        settings = dict.fromkeys(name for group in groups.values() for name in group["boards"])
        tables = [ratings_table(groups, name, title_of(name)) for name in settings]
        text = [
            f"{name or '(none)'}: {counted(group['items'], 'item')}, {counted(group['votes'], 'vote')}"
            for name, group in groups.items()
        ]
        absent = grouped(
            ((title_of(setting), why), name or "(none)")
            for name, group in groups.items()
            for setting, why in group["missing"].items()
        )
        missing = (f"{setting} is missing for {', '.join(names)}: {why}" for (setting, why), names in absent.items())
        paragraphs = ("; ".join(text) + ".", *sorted(missing))
        sections.append(Section(title, paragraphs, tables=tuple(table for table in tables if table)))
    return sections


def _trials(document: dict[str, Any], files: dict[str, tuple[str, str]]) -> list[Section]:
    sections = []
    for key, title, what in (
        ("policies", "Policies on the votes so far (table 2)", None),
        ("thresholds", "Thresholds loosened and tightened by {shift:g} (table 9)", None),
        ("weights", "Dimension weights (table 10)", "weights"),
        ("judges", "Each judge (appendix I)", "judge"),
    ):
        trial = document[key]
        if not trial:
            continue
        settings = trial["settings"]
        text = (
            f"{settings['seeds']} times, half of the {settings['items']} items with votes was held out; votes on the "
            "others were revealed only when asked for. Acc_H is the share of held-out votes that the board orders as "
            "people do; 95% intervals over the repetitions.",
        )
        tables = [trial_table(trial, "", what=what)]
        if trial.get("boards"):
            lines = ([b["weights"], str(b["values"]), b["spearman"], ", ".join(b["top"])] for b in trial["boards"])
            head = ("weights", "semantic, editing, prompt, perceptual", "Spearman with the default board", "best")
            tables.append(plain_table(head, lines, "The corrected board on all votes"))
        plots = _picture(files, "policies", "Acc_H by policy, 95% intervals") if key == "policies" else ()
        sections.append(Section(title.format(shift=settings["shift"]), text, tables=tuple(tables), plots=plots))
    return sections


def _other_sections(document: dict[str, Any]) -> list[Section]:
    sections = []
    if document["dimension_means"]:
        rows = document["dimension_means"]
        table = plain_table(tuple(rows[0]), (list(row.values()) for row in rows))
        text = (
            f"Scores of {document['judge']}; n: outputs with a score on any dimension; each mean is over the outputs "
            "that have this dimension."
        )
        sections.append(Section("Mean scores of the best by dimension (table 6)", (text,), tables=(table,)))
    if document["metrics"]:
        lines = (
            [m["metric"], m["spearman"], m["kendall"], f"{m['significant_pairs']} of {len(m['pairs'])}", m["reversals"]]
            for m in document["metrics"]
        )
        head = ("metric", "Spearman with the board", "Kendall", "significant pairs", "of these against the board")
        text = (
            f"The board is the one of {document['judge']}. Pairs of the five best; paired bootstrap over items, Holm's "
            "correction."
        )
        if any(notice["code"] == "groups_never_met" for notice in document["notices"]):
            text += " Only models of groups that met are compared; correlations are means over the groups."
        sections.append(Section("Other judges and metrics (table 8)", (text,), tables=(plain_table(head, lines),)))
    return sections


def write_active_report(document: dict[str, Any], folder: Path) -> Path:
    """Write the document as a folder that opens in a browser: index.html, report.md and the plots."""
    if folder.suffix.lower() in (".md", ".html", ".htm") or folder.is_file():
        raise UserError(f"'{folder}' is no folder.", hint="The report is a folder: name one, such as --out active.")
    try:
        files = save_active_plots(document, folder)
        page = active_page(document, files)
        write_markdown(page, folder)
        return write_html(page, folder)
    except OSError as error:
        raise UserError(f"Cannot write into {folder}: {error.strerror}.") from error
