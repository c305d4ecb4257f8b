"""Reports as one self-contained HTML page, alone or in a folder with other formats."""

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from imarena.core import VERSION
from imarena.core.records import now
from imarena.reports.charts import Chart
from imarena.reports.tables import Table, escape_latex, render_template, to_csv, to_long_latex

LAST_LATIN = 0x24F
OTHER_SCRIPTS = "% Names in other scripts than Latin: compile with XeLaTeX or LuaLaTeX, and set a font that has them."
PREAMBLE = r"""% Compile it twice: the columns of long tables then have one width on all pages.
\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage[margin=2cm,a3paper,landscape]{geometry}
\usepackage{array,booktabs,longtable}
\setlength\LTleft{0pt}
\setlength\LTpre{0pt}
% A title stays with what follows it: it goes to the next page where fewer lines are left.
\newcommand\keeplines[1]{\par\ifdim\pagegoal<\maxdimen\ifdim\dimexpr\pagegoal-\pagetotal\relax<#1\baselineskip
  \newpage\fi\fi}
\newcommand\tabletitle[1]{\keeplines{10}\medskip\noindent\textbf{#1}\par\smallskip}
\begin{document}"""


@dataclass(frozen=True)
class PageImage:
    """An image file below the report's folder, and its caption."""

    file: str
    caption: str
    note: str = ""
    dark: str = ""
    """The file for dark pages; without one, a plot is shown on a light card there."""
    scale: int = 1
    """Pixels of the file per pixel of the page."""


@dataclass(frozen=True)
class GalleryItem:
    """One item with its source and every editor's output, side by side."""

    title: str
    instruction: str
    pictures: tuple[PageImage, ...]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Section:
    """A heading and its content, in this order."""

    title: str
    text: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    plots: tuple[PageImage, ...] = ()
    charts: tuple[Chart, ...] = ()
    points: tuple[str, ...] = ()
    """Short statements, shown as a list below the text."""
    exhibits: tuple[GalleryItem, ...] = ()
    folded: bool = False
    """On the HTML page, only the title is shown until a reader opens it."""
    chapter: str = ""
    """The heading that sections share; on the HTML page, they are behind it, folded."""


@dataclass(frozen=True)
class Page:
    """A whole report."""

    title: str
    lead: str
    sections: tuple[Section, ...]
    next_steps: tuple[str, ...] = field(default=())
    facts: str = ""
    """What the report is made from, shown below the lead."""
    reading: str = ""
    """Explanation of the terms and figures of the lead, shown below the facts."""

    @property
    def chapters(self) -> list[tuple[str, list[tuple[int, Section]]]]:
        """The numbered sections, in runs of one chapter; most have none."""
        numbered = enumerate(self.sections, 1)
        return [(chapter, [*part]) for chapter, part in groupby(numbered, key=lambda pair: pair[1].chapter)]


def write_html(page: Page, folder: Path) -> Path:
    """Write ``index.html``. All data are escaped."""
    return write_html_file(page, folder / "index.html")


def write_html_file(page: Page, path: Path) -> Path:
    """Write the page to this file. Charts are embedded; images are where their `file` points, such as data URIs."""
    made_at = now().strftime("%Y-%m-%d %H:%M UTC")
    return save_text(path, render_template("report.html.j2", page=page, version=VERSION, made_at=made_at))


def write_folder(page: Page, folder: Path) -> Path:
    """Write ``index.html``, plus Markdown, LaTeX, one CSV file per table, and charts as PNG and SVG."""
    write_markdown(page, folder)
    tables = [(section, table) for section in page.sections for table in section.tables]
    save_text(folder / "report.tex", latex(page))
    names: Counter[str] = Counter()
    for section, table in tables:
        name = _file_name(section.title, table.title)
        names[name] += 1
        save_text(folder / "tables" / f"{name}{f'-{names[name]}' if names[name] > 1 else ''}.csv", to_csv(table))
    for section in page.sections:
        for chart in section.charts:
            chart.save(folder / "plots")
    return write_html(page, folder)


def _file_name(*titles: str) -> str:
    """Plain letters and digits from the titles of a section and of a table, so that a file's name tells its content."""
    parts = (re.findall(r"[a-z0-9]+", title.lower()) for title in titles)
    return "--".join("-".join(part)[:60].strip("-") for part in parts if part) or "table"


def latex(page: Page) -> str:
    """The conclusion, texts and tables of a report as a LaTeX document, for use in a paper."""
    parts = [PREAMBLE, escape_latex(page.lead)] if page.lead else [PREAMBLE]
    for section in page.sections:
        if section.text or section.points or section.tables:
            title = rf"\keeplines{{14}}\subsection*{{{escape_latex(section.title)}}}"
            parts += [title, *map(escape_latex, section.text)]
            if section.points:
                points = "\n".join(rf"\item {{}}{escape_latex(point)}" for point in section.points)
                parts.append(f"\\begin{{itemize}}\n{points}\n\\end{{itemize}}")
            for table in section.tables:
                heading = [rf"\tabletitle{{{escape_latex(table.title)}}}"] if table.title else []
                parts.append("\n".join([*heading, to_long_latex(table).rstrip("\n")]))
    text = "\n\n".join([*parts, r"\end{document}"]) + "\n"
    return f"{OTHER_SCRIPTS}\n{text}" if any(ord(letter) > LAST_LATIN and letter.isalpha() for letter in text) else text


def markdown(page: Page) -> str:
    """The tables and plots of a report as Markdown."""
    return render_template("report.md.j2", page=page)


def write_markdown(page: Page, folder: Path) -> Path:
    """Write ``report.md`` with the tables and plots of the same report."""
    return save_text(folder / "report.md", markdown(page))


def save_text(path: Path, text: str) -> Path:
    """Write a text file, with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
