"""LaTeX tables for a paper: booktabs, decimals below each other, minus signs, no empty columns.

Only booktabs is needed. A column of numbers has one format, so that `r` aligns its decimals; where formats differ,
invisible digits fill the gap. A range takes two columns, with " to " between them.
"""

import re

from imarena.reports.tables.table import Cell, Number, Range, Table, number_text, printable

SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", "`": r"\textasciigrave{}", "[": "{[}", "]": "{]}", "*": "{*}", "–": "--", "—": "---",
    "…": r"\ldots{}", "·": r"\textperiodcentered{}", "\u00a0": "~", "\u2212": "$-$",
}  # fmt: skip
"""Brackets and stars too: at the start of a row they would belong to the line break before it."""
PACKAGES = r"% Needs \usepackage{booktabs}."
_LIGATURES = re.compile(r"(?<=[-',!?])(?=[-',`])")


def to_latex(table: Table) -> str:
    """A `tabular`; title, notes and signature stand above it as comments, the signature also below in small type."""
    shown = table.filled
    columns = range(len(shown.columns))
    ranged = [any(isinstance(row[column], Range) for row in shown.rows) for column in columns]
    decimals = [_decimals(shown, column) for column in columns]
    shape = "".join("r@{ to }r" if ranged[column] else "r" if shown.numeric(column) else "l" for column in columns)
    head = [_head(shown, column, pair) for column, pair in zip(columns, ranged, strict=True)]
    lines = [PACKAGES, *(f"% {printable(line)}" for line in (shown.title, *shown.notes, shown.signature) if line)]
    lines += [rf"\begin{{tabular}}{{{shape}}}", r"\toprule", _row(head), r"\midrule"]
    for row in shown.rows:
        lines.append(_row([_cell(shown, row, column, ranged[column], decimals[column]) for column in columns]))
    lines += [r"\bottomrule", r"\end{tabular}"]
    if shown.signature:
        lines.append(rf"\par\smallskip{{\footnotesize {breakable(shown.signature)}\par}}")
    return "\n".join(lines) + "\n"


def escape_latex(text: str) -> str:
    """Text that LaTeX prints as it is."""
    apart = _LIGATURES.sub("\0", printable(text))
    return "".join("{}" if letter == "\0" else SPECIAL.get(letter, letter) for letter in apart)


def latex_number(text: str) -> str:
    """A formatted number with mathematical signs instead of a hyphen."""
    if text in ("inf", "-inf"):
        return r"$\infty$" if text == "inf" else r"$-\infty$"
    return escape_latex(text).replace("-", "$-$").replace("+", "$+$")


def _head(table: Table, column: int, pair: bool) -> str:
    title = escape_latex(table.columns[column].title)
    if pair:
        return rf"\multicolumn{{2}}{{c}}{{{title}}}"
    return rf"\multicolumn{{1}}{{c}}{{{title}}}" if table.numeric(column) else title


def _cell(table: Table, row: tuple[Cell, ...], column: int, pair: bool, decimals: int) -> str:
    cell, text = row[column], table.text(row, column)
    if pair:
        if isinstance(cell, Range) and " to " in text:
            spec = cell.spec or table.columns[column].spec
            return " & ".join(latex_number(number_text(end, spec)) for end in (cell.low, cell.high))
        return rf"\multicolumn{{2}}{{c}}{{{escape_latex(text)}}}"
    if not _is_number(cell) or text == table.columns[column].absent:
        return (
            rf"\multicolumn{{1}}{{c}}{{{escape_latex(text)}}}" if text and table.numeric(column) else escape_latex(text)
        )
    return latex_number(text) + _padding(text, decimals)


def _decimals(table: Table, column: int) -> int:
    texts = (table.text(row, column) for row in table.rows if _is_number(row[column]))
    return max((_places(text) for text in texts), default=0)


def _places(text: str) -> int:
    """Digits after the point."""
    match = re.fullmatch(r"-?[\d,]*\.(\d+)%?", text)
    return len(match[1]) if match else 0


def _padding(text: str, decimals: int) -> str:
    """Invisible digits that bring the point to the place where the column has it."""
    own = _places(text)
    if own == decimals or not re.fullmatch(r"-?[\d,]+(?:\.\d+)?", text):
        return ""
    return rf"\phantom{{{'' if own else '.'}{'0' * (decimals - own)}}}"


def _is_number(cell: Cell) -> bool:
    return isinstance(cell, int | float | Number)


def _row(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def breakable(signature: str) -> str:
    """A signature that a line may break after every part of."""
    return r" \textbar{} ".join(escape_latex(part) for part in signature.split("|"))
