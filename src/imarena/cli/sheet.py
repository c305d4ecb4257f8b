"""A small table of results: on screen, and as CSV, Markdown or LaTeX."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

Cell = str | int | float | None


@dataclass(frozen=True)
class Sheet:
    """A title, column names and rows. None is a figure that does not exist, and is never shown as a number."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    decimals: int = 4

    def show(self, console: Console) -> None:
        """Print it, without columns that are empty throughout; on a narrow terminal in parts, one below the other."""
        # A file or a pipe has no width: lines stay whole there.
        wide = console if console.is_terminal else Console(file=console.file, width=240, highlight=False)
        wide.print(f"[bold]{escape(self.title)}[/]")
        for part in self._parts(wide.width):
            table = Table(box=None, pad_edge=False)
            for place in part:
                table.add_column(
                    escape(self.columns[place]), justify="right" if self._numbers(place) else "left", overflow="fold"
                )
            for row in self.rows:
                table.add_row(*(escape(self._text(row[place])) for place in part))
            wide.print(table)
        wide.print()

    def _parts(self, width: int) -> list[list[int]]:
        """Columns by part: each as wide as fits, and each begins with the words that name its rows."""
        used = [place for place in range(len(self.columns)) if any(row[place] != "" for row in self.rows)]
        first = next((n for n, place in enumerate(used) if self._numbers(place)), len(used))
        names, rest = used[:first], used[first:]
        room = width - sum(self._width(place) for place in names)
        parts: list[list[int]] = [[]]
        for place in rest:
            taken = sum(self._width(other) for other in parts[-1])
            if parts[-1] and taken + self._width(place) > room:
                parts.append([])
            parts[-1].append(place)
        return [[*names, *part] for part in parts]

    def _numbers(self, place: int) -> bool:
        return all(not isinstance(row[place], str) or row[place] == "" for row in self.rows)

    def _width(self, place: int) -> int:
        """Of a column with its gap."""
        return max(len(text) for text in (self.columns[place], *(self._text(row[place]) for row in self.rows))) + 2

    def write_csv(self, path: Path) -> None:
        """All digits; an empty cell where a figure is undefined."""
        from imarena.workflows.campaign_quality import safe_cell

        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(self.columns)
            writer.writerows(["" if cell is None else safe_cell(cell) for cell in row] for row in self.rows)

    def markdown(self) -> str:
        """A Markdown table."""
        lines = [self.columns, tuple("---" for _ in self.columns)]
        lines += [tuple(self._text(cell).replace("|", "\\|") for cell in row) for row in self.rows]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"

    def latex(self) -> str:
        """A LaTeX tabular (booktabs)."""
        head = " & ".join(_latex(name) for name in self.columns)
        body = [" & ".join(_latex(self._text(cell)) for cell in row) for row in self.rows]
        shape = "l" * len(self.columns)
        lines = [rf"\begin{{tabular}}{{{shape}}}", r"\toprule", rf"{head} \\", r"\midrule"]
        return "\n".join([*lines, *(rf"{line} \\" for line in body), r"\bottomrule", r"\end{tabular}"]) + "\n"

    def _text(self, cell: Cell) -> str:
        if cell is None:
            return "undefined"
        return f"{cell:.{self.decimals}f}" if isinstance(cell, float) else str(cell)


def show_sheets(console: Console, sheets: Sequence[Sheet], *, markdown: bool, latex: bool) -> None:
    """Print sheets in the form asked for; Markdown and LaTeX come out as they are, ready for a file."""
    for sheet in sheets:
        if markdown or latex:
            console.print(sheet.markdown() if markdown else sheet.latex(), markup=False, soft_wrap=True)
        else:
            sheet.show(console)


LATEX = {"\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{",
         "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}  # fmt: skip


def _latex(text: str) -> str:
    return "".join(LATEX.get(letter, letter) for letter in text)
