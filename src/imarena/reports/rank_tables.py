"""A board as a table: on screen, CSV, LaTeX, Markdown. Names are data and may be hostile: each form escapes them."""

import csv
import io
from collections.abc import Callable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from imarena.core.plurals import counted, plural
from imarena.core.records import Ranking
from imarena.core.records.ranking import Standing

CSV_COLUMNS = (
    "model", "rating", "low", "high", "rank", "rank_low", "rank_high", "battles", "wins", "losses", "ties", "coverage",
)  # fmt: skip
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
}  # fmt: skip
MARKDOWN = "\\`*_{}[]()#+-.!|<>~"
PAGE_WIDTH = 140
"""For a file or a pipe, where there is no terminal to fit."""
DROPPED = ("battles", "coverage", "w/l/t")
"""What a narrow terminal does without, the first first: names and intervals stay whole as long as they can."""
HEADER = ("rank", "model", "rating", "interval", "ranks", "battles", "w/l/t", "coverage")


def show_board(ranking: Ranking, console: Console) -> None:
    """Print a board with its warnings and how it was made."""
    title = " ".join(f"{key} {value}" for key, value in ranking.scope.items())
    table = Table(title=Text(title) if title else None, box=None, pad_edge=False, header_style="bold")
    if not console.is_terminal:
        console.width = max(PAGE_WIDTH, console.width)
    rows = [tuple(_printable(cell) for cell in _cells(standing)) for standing in ranking.models]
    kept = _fitting(rows, console.width)
    for place in kept:
        named = HEADER[place] == "model"
        table.add_column(HEADER[place], justify="left" if named else "right", overflow="fold", no_wrap=not named)
    for row in rows:
        table.add_row(*(Text(row[place]) for place in kept))
    console.print(table)
    console.print(Text(made_by(ranking), style="dim"))
    if ranking.settings.get("beside"):
        console.print(
            Text(f"Made from the verdicts of {ranking.settings['verdicts']}; also here: {ranking.settings['beside']}.")
        )


def _fitting(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Places in the header that fit a width (two letters stand between columns)."""
    wide = [max([len(name), *(len(row[place]) for row in rows)]) + 2 for place, name in enumerate(HEADER)]
    kept = list(range(len(HEADER)))
    for name in DROPPED:
        if sum(wide[place] for place in kept) - 2 <= width:
            break
        kept.remove(HEADER.index(name))
    return kept


def made_by(ranking: Ranking) -> str:
    """One line: method, number of battles, kind of interval, seed, and what was left out."""
    settings = ranking.settings
    parts = [ranking.method, _battles(ranking)]
    if settings.get("verdicts"):  # of a workspace, where people may have voted or not
        parts.append(f"verdicts of {settings['verdicts']}")
    if resampled(ranking):
        parts.append(resampled(ranking))
    left_out = [f"{number:,} {reason}" for reason, number in ranking.excluded.items() if number]
    if left_out:
        parts.append(f"left out: {'; '.join(left_out)}")
    return " · ".join(parts)


def resampled(ranking: Ranking) -> str:
    """What the intervals are made from; empty where there are none."""
    settings = ranking.settings
    if settings.get("interval") == "bootstrap":
        return f"{settings['rounds']} rounds over {plural(str(settings['cluster']), 2)}, seed {settings['seed']}"
    return f"sandwich interval over {settings['cluster']}s" if settings.get("interval") == "sandwich" else ""


def _battles(ranking: Ranking) -> str:
    """How many there are, and how many of them were two scores: a list of battles that were fought has fewer."""
    number, scored = ranking.n_battles, ranking.settings.get("by_scores")
    some = isinstance(scored, int) and scored > 0 and not ranking.scope  # of one board of many nothing is known
    every = "all" if scored == number else f"{scored:,}" if some else ""
    return counted(number, "battle") + (f" ({every} by scores)" if some else "")


def show_comparison(compared: dict[str, Any], console: Console) -> None:
    """Print how a board agrees with an outside one."""
    dated = f" of {compared['date']}" if compared["date"] else ""
    console.print(Text(f"against {compared['board']}{dated}, {compared['n']} common models"))
    for name in ("spearman", "kendall", "pearson"):
        value = compared[name]
        told = f"undefined: {compared['reason']}" if value is None else f"{value:.4f}"
        console.print(Text(f"  {name:<9} {told}"))


def show_neighbours(ranking: Ranking, console: Console) -> None:
    """Print how sure the order of every two neighbours is, and how many battles would settle it."""
    table = Table(title=Text("Neighbours: direct battles that find the difference 4 times in 5 (5 % level)"), box=None)
    columns = ("above", "below", "difference", "sure", "met", "battles needed")
    for place, column in enumerate(columns):
        table.add_column(column, justify="left" if place < 2 else "right", overflow="fold")
    lines: Any = ranking.details.get("neighbours") or []
    for line in lines:
        sure, needed = line["probability_above"], line["battles_to_separate"]
        table.add_row(
            Text(_printable(line["above"])),
            Text(_printable(line["below"])),
            f"{line['difference']:.1f}",
            "–" if sure is None else f"{sure:.1%}",
            f"{line['battles_met']:g}",
            "–" if needed is None else str(needed),
        )
    console.print(table)


def board_csv(rankings: Sequence[Ranking]) -> str:
    """One row a model; with several boards their scope stands in the first columns."""
    scopes = sorted({key for ranking in rankings for key in ranking.scope})
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*scopes, *CSV_COLUMNS])
    for ranking in rankings:
        for standing in ranking.models:
            row = standing.model_dump()
            scope = [_no_formula(ranking.scope.get(key, "")) for key in scopes]
            writer.writerow([*scope, _no_formula(standing.model), *(_number(row[name]) for name in CSV_COLUMNS[1:])])
    return out.getvalue()


def board_latex(rankings: Sequence[Ranking]) -> str:
    """A booktabs table for each board."""
    return "\n\n".join(_latex(ranking) for ranking in rankings) + "\n"


def board_markdown(rankings: Sequence[Ranking]) -> str:
    """A table for each board, with its warnings."""
    return "\n\n".join(_markdown(ranking) for ranking in rankings) + "\n"


def escape_latex(text: str) -> str:
    """Text that LaTeX prints as it is."""
    return "".join(LATEX.get(letter, letter) for letter in _printable(text))


def escape_markdown(text: str) -> str:
    """Text that Markdown prints as it is, HTML included."""
    return "".join(f"\\{letter}" if letter in MARKDOWN else letter for letter in _printable(text)).replace("&", "&amp;")


def _latex(ranking: Ranking) -> str:
    head = r"\begin{tabular}{rlrrrrrr}" + "\n\\toprule\n"
    lines = [_row(HEADER, str, " & ", r" \\"), r"\midrule"]
    lines += [_row(_cells(standing), escape_latex, " & ", r" \\") for standing in ranking.models]
    comment = "".join(f"% {line}\n" for line in (made_by(ranking), *ranking.warnings) for line in line.splitlines())
    return comment + head + "\n".join(lines) + "\n\\bottomrule\n\\end{tabular}"


def _markdown(ranking: Ranking) -> str:
    title = ", ".join(f"{key} {value}" for key, value in ranking.scope.items())
    lines = [f"### {escape_markdown(title)}", ""] if title else []
    lines += ["| " + " | ".join(HEADER) + " |", "|" + "|".join("---" if c == "model" else "--:" for c in HEADER) + "|"]
    lines += [f"| {_row(_cells(standing), escape_markdown, ' | ', ' |')}" for standing in ranking.models]
    lines += ["", escape_markdown(made_by(ranking))]
    lines += [f"- {escape_markdown(warning)}" for warning in ranking.warnings]
    return "\n".join(lines)


def _row(cells: Sequence[str], escape: Callable[[str], str], between: str, end: str) -> str:
    return between.join(escape(cell) for cell in cells) + end


def _cells(standing: Standing) -> tuple[str, ...]:
    low, high = standing.low, standing.high
    return (
        str(standing.rank),
        standing.model,
        f"{standing.rating:.1f}",
        "–" if low is None or high is None else f"{low:.0f} to {high:.0f}",
        "–" if standing.rank_low is None else f"{standing.rank_low}–{standing.rank_high}",
        f"{standing.battles:g}",
        f"{standing.wins:g}/{standing.losses:g}/{standing.ties:g}",
        "–" if standing.coverage is None else f"{standing.coverage:.1%}",
    )


def _printable(text: str) -> str:
    """Control characters (terminal escapes, line breaks, direction marks) are shown, not obeyed."""
    return "".join(letter if letter.isprintable() else f"\\u{ord(letter):04x}" for letter in text)


def _no_formula(text: str) -> str:
    """A spreadsheet runs a cell that starts like a formula: a leading apostrophe makes it text.

    A bare carriage return would end the row, and what follows would start a cell: `csv` quotes line feeds only.
    """
    one_row = text.replace("\r\n", "\n").replace("\r", "\n")
    return f"'{one_row}" if one_row.startswith(FORMULA_STARTS) else one_row


def _number(value: object) -> str:
    return "" if value is None else repr(value) if isinstance(value, float) else str(value)
