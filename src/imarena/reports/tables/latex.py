"""LaTeX tables for a paper: booktabs, aligned decimals, minus signs, no empty columns.

Only booktabs is needed. A column of numbers has one format, so that `r` aligns its decimals; if formats differ,
invisible digits fill the gap. A range takes two columns, with " to " between them.
"""

import re

from imarena.reports.tables.table import CellValue, Number, Range, Table, number_text, printable

SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", "`": r"\textasciigrave{}", "[": "{[}", "]": "{]}", "*": "{*}", "–": "--", "—": "---",
    "…": r"\ldots{}", "·": r"\textperiodcentered{}", "\u00a0": "~", "\u2212": "$-$",
}  # fmt: skip
"""Includes brackets and stars, which at the start of a row would be arguments of the line break before it."""
PACKAGES = r"% Needs \usepackage{booktabs}."
LONG_PACKAGES = r"% Needs \usepackage{array,booktabs,longtable}."
PAGE_LETTERS = 230
"""Characters in small type per line of a document's page (A3, landscape)."""
GAP_LETTERS = 3
LONG_TEXT = 24
"""Columns with longer text than this may fold."""
_SEPARATORS = re.compile(r"(?<=[,|/:;_=])(?! )|(?<=[a-z0-9]-)")
_STACKED = re.compile(r" |(?<=_)(?=.)")
_LIGATURES = re.compile(r"(?<=[-',!?])(?=[-',`])")


def to_latex(table: Table) -> str:
    """A `tabular` with title, notes and signature above it as comments, and the signature below it in small type."""
    filled = table.filled
    shape, head, body = _parts(filled, fitted=False)
    lines = [PACKAGES, *_comments(filled), rf"\begin{{tabular}}{{{shape}}}", r"\toprule", head, r"\midrule"]
    return "\n".join([*lines, *body, r"\bottomrule", r"\end{tabular}", *_signature(filled)]) + "\n"


def to_long_latex(table: Table) -> str:
    """A `longtable` in small type for a document: it breaks across pages, and long text folds to the page's width."""
    filled = table.filled
    shape, head, body = _parts(filled, fitted=True)
    lines = [LONG_PACKAGES, *_comments(filled), r"{\footnotesize", rf"\begin{{longtable}}{{{shape}}}"]
    lines += [r"\toprule", head, r"\midrule", r"\endhead", *body, r"\bottomrule", r"\end{longtable}}"]
    return "\n".join([*lines, *_signature(filled)]) + "\n"


def _comments(table: Table) -> list[str]:
    return [f"% {printable(line)}" for line in (table.title, *table.notes, table.signature) if line]


def _signature(table: Table) -> list[str]:
    return [rf"\par\smallskip{{\footnotesize {breakable(table.signature)}\par}}"] if table.signature else []


def _parts(table: Table, *, fitted: bool) -> tuple[str, str, list[str]]:
    """The column specification, the row of headings, and the other rows."""
    columns = range(len(table.columns))
    ranged = [any(isinstance(row[column], Range) for row in table.rows) for column in columns]
    decimals = [_decimals(table, column) for column in columns]
    wide = fitted and sum(_sizes(table, stacked=False)) > _room(ranged)
    folded = _folded(table, ranged) if wide else {}
    shape = "".join(
        "r@{ to }r" if ranged[column] else "r" if table.numeric(column) else folded.get(column, "l")
        for column in columns
    )
    head = [_head(table, column, pair, stacked=wide) for column, pair in zip(columns, ranged, strict=True)]
    body = [
        _row(
            [
                _foldable(table.text(row, column))
                if column in folded
                else _cell(table, row, column, ranged[column], decimals[column])
                for column in columns
            ]
        )
        for row in table.rows
    ]
    return shape, _row(head), body


def _folded(table: Table, ranged: list[bool]) -> dict[int, str]:
    """The columns that must fold so that the table fits the page; those with long text share the remaining width."""
    sizes = _sizes(table, stacked=True)
    long = [
        column
        for column, size in enumerate(sizes)
        if size > LONG_TEXT and not (table.numeric(column) or ranged[column])
    ]
    if sum(sizes) <= _room(ranged):
        return {}
    left = max(
        _room(ranged) - sum(size for column, size in enumerate(sizes) if column not in long), LONG_TEXT * len(long)
    )
    weights = {column: sizes[column] ** 0.5 for column in long}
    widths = {column: left * weight / sum(weights.values()) / PAGE_LETTERS for column, weight in weights.items()}
    return {column: rf">{{\raggedright\arraybackslash}}p{{{width:.3f}\linewidth}}" for column, width in widths.items()}


def _sizes(table: Table, *, stacked: bool) -> list[int]:
    """Width of each column in characters; with stacked headings, the longest line of a heading counts."""
    heads = [_STACKED.split(column.title) if stacked else [column.title] for column in table.columns]
    return [
        max(map(len, [*head, *(table.text(row, column) for row in table.rows)])) for column, head in enumerate(heads)
    ]


def _room(ranged: list[bool]) -> int:
    """Characters per line that remain between the gaps of columns."""
    return PAGE_LETTERS - sum(GAP_LETTERS * (2 if pair else 1) for pair in ranged)


def _foldable(text: str) -> str:
    """Text that may also break after separators in settings, signatures and paths."""
    return r"\allowbreak{}".join(escape_latex(part) for part in _SEPARATORS.split(text))


def escape_latex(text: str) -> str:
    """Escape text so that LaTeX prints it literally."""
    apart = _LIGATURES.sub("\0", printable(text))
    return "".join("{}" if letter == "\0" else SPECIAL.get(letter, letter) for letter in apart)


def latex_number(text: str) -> str:
    """A formatted number with mathematical signs instead of hyphens."""
    if text in ("inf", "-inf"):
        return r"$\infty$" if text == "inf" else r"$-\infty$"
    return escape_latex(text).replace("-", "$-$").replace("+", "$+$")


def _head(table: Table, column: int, pair: bool, *, stacked: bool) -> str:
    title = escape_latex(table.columns[column].title)
    if stacked and table.numeric(column):
        lines = r" \\ ".join(map(escape_latex, _STACKED.split(table.columns[column].title)))
        title = rf"\shortstack{{{lines}}}"
    if pair:
        return rf"\multicolumn{{2}}{{c}}{{{title}}}"
    return rf"\multicolumn{{1}}{{c}}{{{title}}}" if table.numeric(column) else title


def _cell(table: Table, row: tuple[CellValue, ...], column: int, pair: bool, decimals: int) -> str:
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
    """Number of digits after the decimal point."""
    match = re.fullmatch(r"-?[\d,]*\.(\d+)%?", text)
    return len(match[1]) if match else 0


def _padding(text: str, decimals: int) -> str:
    """Invisible digits that align the decimal point with the column's."""
    own = _places(text)
    if own == decimals or not re.fullmatch(r"-?[\d,]+(?:\.\d+)?", text):
        return ""
    return rf"\phantom{{{'' if own else '.'}{'0' * (decimals - own)}}}"


def _is_number(cell: CellValue) -> bool:
    return isinstance(cell, int | float | Number)


def _row(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def breakable(signature: str) -> str:
    """A signature that may break after every part."""
    return r" \textbar{} ".join(escape_latex(part) for part in signature.split("|"))
