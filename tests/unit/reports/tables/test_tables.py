"""One table in five forms: cells stay data, and each form prints text as it is."""

import csv
import io
import math
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from rich.console import Console

from imarena.core.errors import UserError
from imarena.reports.tables import (
    CellValue,
    Column,
    Number,
    Range,
    Table,
    escape_latex,
    escape_markdown,
    printable,
    show_table,
    to_csv,
    to_html,
    to_latex,
    to_markdown,
    write_csv,
)
from imarena.reports.tables.csv import FORMULA_STARTS
from imarena.reports.tables.table import columns, count_cell, interval

HOSTILE = [
    "<script>alert(1)</script>", "a|b", "two\nlines", "cr\rhere", "`code` *bold* _x_ [l](u) ![i](u) <b> ~~s~~ $x$",
    r"\input{x} 100% & co #1 ~ ^ {}", "[1ex] at the start", "*starred", "--dash--", "``quotes''", "=1+1", "@x", "&lt;",
    "\x1b[31mred\u202e", "|", "\\", "\\|", " lead", "trail\\", "a_b", "_", "https://example.org/?a=1&b=2",
]  # fmt: skip
TEXT = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=20))


def table_of(
    *rows: tuple[CellValue, ...], head: tuple[str | Column, ...] = ("name", "value"), title: str = ""
) -> Table:
    return Table(columns(*head), rows, title)


def on_screen(table: Table, width: int | None = None) -> str:
    out = io.StringIO()
    show_table(table, Console(file=out, width=width or 300, force_terminal=width is not None, color_system=None))
    return out.getvalue()


def markdown_cells(text: str) -> list[list[str]]:
    """The cells as a Markdown reader shows them."""
    rows: list[list[str]] = []
    inside = False
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text):
        if token.type == "tr_open":
            rows.append([])
        inside = inside or token.type in ("th_open", "td_open")
        if token.type == "inline" and inside:
            children = token.children or []
            assert {child.type for child in children} <= {"text", "text_special"}, f"more than text: {text}"
            rows[-1].append("".join(child.content for child in children))
            inside = False
    return rows


class Page(HTMLParser):
    """Tags and the text of table cells."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.cells: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        if tag == "wbr":  # a place for a line break inside a cell
            return
        self.tags.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_data(self, data: str) -> None:
        if self.cells and self.tags[-1] in ("td", "th") and data.strip("\n"):
            self.cells[-1] += data


# ---------------------------------------------------------------- values


def test_values_keep_their_format_and_absent_ones_are_no_number() -> None:
    head = ("name", Column("a", ".2f", absent="–"), Column("b", ",", absent="undefined"))
    made = table_of(("x", 1.239, 1200), ("y", None, None), ("z", math.nan, Number(0.5, ".0%")), head=head)
    assert made.texts() == [["x", "1.24", "1,200"], ["y", "–", "undefined"], ["z", "–", "50%"]]
    assert [made.numeric(place) for place in range(3)] == [False, True, True]


@pytest.mark.parametrize(
    ("cell", "spec", "shown"),
    [(-0.0001, ".2f", "0.00"), (-0.0, ".0%", "0%"), (-0.05, ".1f", "-0.1"), (math.inf, ".2f", "inf"),
     (-math.inf, "", "-inf"), (3, "", "3"), (2.0, "", "2"), (1 / 3, "", "0.333333")],
)  # fmt: skip
def test_numbers(cell: float, spec: str, shown: str) -> None:
    assert table_of((cell,), head=(Column("x", spec),)).texts() == [[shown]]


def test_an_interval_without_width_is_none() -> None:
    assert interval(1.0, 1.0) is None
    assert interval(None, 1.0) is None
    assert interval(0.0, 1.0) == Range(0.0, 1.0)
    assert count_cell(1_000_000.0) == 1_000_000
    assert table_of((count_cell(12.345),), head=(Column("n", ","),)).texts() == [["12.35"]]


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="1 cells and the table 2 columns"):
        table_of(("x",))


@pytest.mark.parametrize("write", [to_latex, to_markdown, to_html, on_screen])
def test_a_column_without_any_value_is_not_shown(write: object) -> None:
    head = ("name", Column("hollow", absent="–"), Column("blank"), Column("asked", absent="undefined"))
    shown = write(table_of(("x", None, "", None), ("y", math.nan, None, None), head=head))  # type: ignore[operator]
    assert "hollow" not in shown
    assert "blank" not in shown
    assert shown.count("undefined") == 2


# ---------------------------------------------------------------- CSV


@given(st.lists(st.tuples(TEXT, st.floats(allow_nan=False) | st.integers() | st.none()), min_size=1, max_size=5))
@example([("a\r\nb", 1.5), ('"quoted", and a comma', -2)])
def test_csv_reads_back(rows: list[tuple[str, float | None]]) -> None:
    read = list(csv.reader(io.StringIO(to_csv(table_of(*rows)), newline=""), strict=True))
    assert read[0] == ["name", "value"]
    assert len(read) == len(rows) + 1
    for (name, value), (text, number) in zip(rows, read[1:], strict=True):
        plain = "\n".join(map(printable, name.replace("\r\n", "\n").replace("\r", "\n").split("\n")))
        assert text == (f"'{plain}" if plain.startswith(FORMULA_STARTS) else plain)
        assert number == "" if value is None else type(value)(number) == value


def test_csv_gives_a_range_two_columns_and_has_all_digits(tmp_path: Path) -> None:
    head = ("name", Column("rating", ".1f"), Column("95%", ".0f", key="rating 95%"))
    rows = (("x", 1 / 3, Range(0.1, 0.7)), ("y", math.nan, None), ("z", 1e-7, "fixed"))
    path = tmp_path / "t.csv"
    write_csv(Table(columns(*head), rows, "A title", ("A note",), "sig"), path)
    assert path.read_bytes().decode() == (
        "name,rating,rating 95% low,rating 95% high\nx,0.3333333333333333,0.1,0.7\ny,,,\nz,1e-07,fixed,\n"
    )
    with pytest.raises(UserError, match="Cannot write"):
        write_csv(Table(columns("a"), ()), tmp_path / "none" / "t.csv")


# ---------------------------------------------------------------- Markdown


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=4))
def test_markdown_prints_text_as_it_is(rows: list[tuple[str, str]]) -> None:
    rows = [("kept", "kept"), *rows]  # a column of nothing is left out
    found = markdown_cells(to_markdown(table_of(*rows)))
    expected = [("name", "value"), *rows]
    assert [[cell.strip() for cell in row] for row in found] == [
        [printable(c).strip() for c in row] for row in expected
    ]


@given(TEXT)
def test_markdown_notes_are_paragraphs(text: str) -> None:
    made = to_markdown(Table(columns("a"), (("x",),), notes=(f"n{text}", text)))
    allowed = {"table", "thead", "tbody", "tr", "th", "td", "paragraph"}
    kinds = {token.type.rsplit("_", 1)[0] for token in MarkdownIt("commonmark").enable("table").parse(made)}
    assert kinds - {"inline"} <= allowed


def test_markdown_aligns_numbers_and_leaves_plain_names_alone() -> None:
    made = to_markdown(table_of(("model_a-1.5 (x)", -1.25), head=("name", Column("v", ".1f")), title="A *title*"))
    assert made == "**A \\*title\\***\n\n| name | v |\n|---|--:|\n| model_a-1.5 (x) | -1.2 |\n"
    assert escape_markdown("<b>&amp;") == r"\<b\>&amp;amp;"


# ---------------------------------------------------------------- LaTeX

PLAIN = re.compile(r"\\(?:[&%$#_{}]|text[a-z]+\{\}|ldots\{\})|\{[\[\]*]\}|\{\}|\$-\$")


@given(TEXT)
def test_latex_has_no_special_character_left(text: str) -> None:
    made = escape_latex(text)
    rest = PLAIN.sub("", made)
    assert not set("\\&%$#_{}^<>|`[]*\n\r") & set(rest)
    assert "--" not in made or "–" in text or "—" in text
    assert "''" not in made
    assert "~" not in rest or "\u00a0" in text


@given(st.lists(st.tuples(TEXT, st.floats() | st.none() | TEXT), min_size=1, max_size=4))
def test_latex_rows_have_all_their_columns(rows: list[tuple[str, CellValue]]) -> None:
    rows = [("kept", 1.5), *rows]
    made = to_latex(table_of(*rows, title="A title\nof two lines"))
    lines = made.splitlines()
    assert lines[0] == r"% Needs \usepackage{booktabs}."
    body = lines[lines.index(r"\midrule") + 1 : lines.index(r"\bottomrule")]
    assert len(body) == len(rows)
    assert all(line.endswith(r" \\") and len(re.findall(r"(?<!\\)&", line)) == 1 for line in body)
    assert not any(re.match(r"\s*[\[*]", line) for line in body)


def test_latex_is_ready_for_a_paper() -> None:
    head = ("model", Column("gain", "+.1f"), Column("n"), Column("95%", ".1f", absent="–"), Column("note"))
    rows = (
        ("a_b", 10.0, 1.5, Range(-2.0, 12.25), ""),
        ("c", -3.25, 12, None, ""),
        ("d", None, Number(1234, ","), "fixed", None),
    )
    made = to_latex(Table(columns(*head), rows, "Gains", ("bt · 3 battles",), "sig_1|x"))
    assert made.splitlines() == [
        r"% Needs \usepackage{booktabs}.",
        "% Gains",
        "% bt · 3 battles",
        "% sig_1|x",
        r"\begin{tabular}{lrrr@{ to }r}",
        r"\toprule",
        r"model & \multicolumn{1}{c}{gain} & \multicolumn{1}{c}{n} & \multicolumn{2}{c}{95\%} \\",
        r"\midrule",
        r"a\_b & $+$10.0 & 1.5 & $-$2.0 & 12.2 \\",
        r"c & $-$3.2 & 12\phantom{.0} & \multicolumn{2}{c}{--} \\",
        r"d &  & 1,234\phantom{.0} & \multicolumn{2}{c}{fixed} \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\par\smallskip{\footnotesize sig\_1 \textbar{} x\par}",
    ]
    assert r"$\infty$" in to_latex(table_of(("x", math.inf)))


# ---------------------------------------------------------------- HTML


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=4))
def test_html_takes_nothing_for_markup(rows: list[tuple[str, str]]) -> None:
    rows = [("kept", "kept"), *rows]
    page = Page()
    page.feed(to_html(Table(columns("name", "value"), tuple(rows), "<script>", ("<i>note</i>",), "<sig>")))
    known = {"div", "table", "caption", "thead", "tbody", "tr", "th", "td", "p", "code", "details", "summary"}
    assert set(page.tags) == known
    assert page.cells == ["name", "value", *(printable(cell) for row in rows for cell in row)]


def test_html_marks_numbers() -> None:
    made = to_html(table_of((1, "x", 2.5), head=("rank", "model", Column("rating", ".1f"))))
    assert '<td class="number">1</td><td class="text name">x</td><td class="number">2.5</td>' in made


def test_a_name_may_break_after_underscores_and_a_note_shows_code() -> None:
    table = Table((Column("task"),), (("low_light_enhancement",), ("<_x",)), notes=("Run `imarena edit <b>` now.",))
    made = to_html(table)
    assert "low_<wbr>light_<wbr>enhancement" in made
    assert "&lt;_<wbr>x" in made
    assert "Run <code>imarena edit &lt;b&gt;</code> now." in made
    assert "`" not in made


def test_the_signature_is_folded_in_html() -> None:
    made = to_html(Table((Column("model"),), (("ash",),), signature="imarena:0|x"))
    assert "<summary>Signature of this board</summary>" in made


def test_a_reason_in_a_column_of_numbers_may_wrap() -> None:
    table = Table((Column("model"), Column("interval")), (("ash", 1.5), ("elm", "lost every battle")))
    assert '<td class="number words">lost every battle</td>' in to_html(table)


# ---------------------------------------------------------------- terminal


@given(TEXT)
def test_the_screen_obeys_no_control_character(text: str) -> None:
    shown = on_screen(table_of((text, 1)))
    assert all(letter.isprintable() or letter == "\n" or letter.isspace() for letter in shown)
    assert "\x1b" not in shown
    assert len(shown.splitlines()) == 2


def test_a_narrow_terminal_folds_long_text_before_it_splits() -> None:
    long = "word " * 40
    head = ("name", Column("n"), Column("told", wrap=True))
    shown = on_screen(table_of(("x", 1, long), head=head), 80).splitlines()
    assert all(len(line.rstrip()) <= 80 for line in shown)
    assert " ".join(shown).split().count("word") == 40
    assert shown[0].split() == ["name", "n", "told"]
