"""One table type and its five renderers. Cells are data; each target has one escaping rule."""

from imarena.reports.tables.csv import csv_rows, safe_cell, to_csv, whole_number, write_csv
from imarena.reports.tables.html import render_template, to_html
from imarena.reports.tables.latex import escape_latex, to_latex, to_long_latex
from imarena.reports.tables.markdown import escape_markdown, to_markdown
from imarena.reports.tables.streamed import TableForm, streamed_table
from imarena.reports.tables.table import CellValue, Column, Number, Range, Table, printable
from imarena.reports.tables.terminal import show_table

__all__ = [
    "CellValue",
    "Column",
    "Number",
    "Range",
    "Table",
    "TableForm",
    "csv_rows",
    "escape_latex",
    "escape_markdown",
    "printable",
    "render_template",
    "safe_cell",
    "show_table",
    "streamed_table",
    "to_csv",
    "to_html",
    "to_latex",
    "to_long_latex",
    "to_markdown",
    "whole_number",
    "write_csv",
]  # fmt: skip
