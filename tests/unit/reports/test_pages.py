"""Pages and sections from plain values."""

import re
from dataclasses import replace
from pathlib import Path
from shutil import which
from subprocess import run

import pytest

from imarena.core import sha256_hex
from imarena.core.records import ImageRef, Item, Output, Status, Turn
from imarena.reports.charts import chart_of
from imarena.reports.comparison_page import ComparedItem, ComparisonFigures, build_comparison_page
from imarena.reports.gallery import ScoringJudge, gallery_section, spread_items
from imarena.reports.page import GalleryItem, Page, PageImage, Section, latex, write_folder
from imarena.reports.tables import Column, Table
from imarena.reports.tables.markdown import escape_paragraph
from imarena.reports.workspace_sections import issues_section, overview_section, report_lead
from imarena.stats import compare_points

HOSTILE_WORDS = r"\input{x} 100% & co #1 ~ ^ {} [1] _ <b> |"


class BarChart:
    """A chart of one bar with this name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def to_dict(self) -> dict[str, object]:
        axes = {"x": {"field": "x", "type": "quantitative"}, "y": {"field": "y", "type": "nominal"}}
        return {"mark": "bar", "data": {"values": [{"x": 1, "y": self.name}]}, "encoding": axes}


def item(key: str, task: str = "add") -> Item:
    return Item(dataset="d", key=key, task=task, turns=(Turn(instruction=f"do {key}"),))


def output(about: Item, editor: str, status: Status = Status.OK) -> Output:
    image = (
        ImageRef(sha256=sha256_hex(editor.encode()), size_bytes=1, media_type="image/png")
        if status is Status.OK
        else None
    )
    return Output(item_id=about.item_id, editor=editor, status=status, image=image)


def test_a_comparison_shows_who_is_ahead_where() -> None:
    one, two = item("one"), item("two")
    figures = ComparisonFigures("old", "new", "some-judge", compare_points([1.0, 0.0], "old", "new"), {}, ())
    items = [
        ComparedItem(one, output(one, "old"), output(one, "new"), 1.0, 12.4),
        ComparedItem(two, output(two, "old"), output(two, "new"), 0.0, None),
    ]
    page = build_comparison_page(figures, items, lambda image: f"{image.sha256[:4]}.jpg")
    assert [section.title for section in page.sections] == ["Result", "Where new is ahead", "Where old is ahead"]
    (first,) = page.sections[1].exhibits
    assert [(picture.caption, picture.note) for picture in first.pictures] == [
        ("old", ""),
        ("new", "better, ahead by 12"),
    ]
    (second,) = page.sections[2].exhibits
    assert [picture.note for picture in second.pictures] == ["better", ""]
    assert build_comparison_page(figures, [], lambda _: "").sections[1:] == ()


def test_a_gallery_says_where_a_judge_errs_and_what_is_missing() -> None:
    about = item("one")
    good, bad = output(about, "good"), output(about, "bad")
    judge = ScoringJudge("some-judge", higher_is_better=True)
    scores = {good.output_id: {judge: 3.0}, bad.output_id: {judge: 5.0}}
    outputs = {about.item_id: [bad, good, output(about, "none", Status.REFUSED)]}
    truth = {good.output_id: 0.9, bad.output_id: 0.2}
    section = gallery_section([about], 7, outputs, scores, truth, lambda _: "file.jpg")
    (shown,) = section.exhibits
    assert [picture.caption for picture in shown.pictures] == ["good", "bad"], "the best stand first"
    assert any(
        remark.startswith(
            "some-judge makes an error here: it gives bad (true quality 0.20) a score of 5 and good (true quality 0.90) a"
            " score of 3"
        )
        for remark in shown.remarks
    )
    assert "No image from none (refused)." in shown.remarks
    assert section.text[0].startswith("1 of 7 items")


def test_a_gallery_takes_from_every_task() -> None:
    items = [item(f"a{n}") for n in range(9)] + [item("b", task="remove")]
    chosen = spread_items(items, 3)
    assert {one.task for one in chosen} == {"add", "remove"}
    assert chosen == spread_items(items[::-1], 3)
    assert len(spread_items(items, 99)) == 10
    chain = items[0].model_copy(update={"key": "chain", "turns": items[0].turns * 3})
    assert any(len(item.turns) == 3 for item in spread_items([*items, chain], 3)), "a chain is always among them"


def test_an_overview_counts_failures_beside_what_was_made() -> None:
    outputs, judgments = {"e": {"ok": 3, "refused": 1}}, {"j": {"ok": 2, "timeout": 1}}
    for votes, ratings, text in ((1, 0, "1 vote"), (0, 2, "2 ratings"), (3, 1, "3 votes, 1 rating"), (0, 0, "0 votes")):
        assert report_lead(outputs, judgments, {"item": 4, "output": 3, "vote": votes, "rating": ratings}) == (
            f"4 items, 1 editor, 3 outputs of 4 asked for, 2 judgments, {text}."
        )
    made, judged = overview_section(outputs, judgments, {"e": "75% (3 of 4)"}, {"e": 6}).tables
    assert made.rows == (("e", 3, 1, 4, "75% (3 of 4)", 6, None, None),)
    assert judged.rows == (("j", 2, 1),)
    assert overview_section({}, {}, {}, {}).text == ("No output was made or imported yet, and no judge was asked.",)


def test_commands_are_code_in_markdown_and_names_are_not() -> None:
    text = "Run `imarena rank --by task` or `--missing loss` for a|b`c`*d*."
    assert escape_paragraph(text) == "Run `imarena rank --by task` or `--missing loss` for a\\|b\\`c\\`\\*d\\*."


def test_issues_are_listed_only_where_somebody_marked_one() -> None:
    assert issues_section(("box", "other"), {"e": {}}, {"e": 3}) is None
    section = issues_section(("box", "other"), {"e": {"box": 2}}, {"e": 3})
    assert section is not None
    assert section.tables[0].rows == (("e", 3, 2, 0),)


def test_no_form_of_a_report_obeys_marks_in_a_name(tmp_path: Path) -> None:
    bad = "\u202egnp\x1b[31m\u2066"
    table = Table((Column(bad),), ((bad,),), bad, (bad,), bad)
    picture = PageImage("a.png", bad, bad)
    chart = chart_of("c", bad, BarChart(bad))
    shown = GalleryItem(bad, f"two\nlines {bad}", (picture,), (bad,))
    section = Section(bad, (bad,), (bad,), (table,), (picture,), (chart,), (bad,), (shown,))
    write_folder(Page(bad, bad, (section,), (bad,), bad, bad), tmp_path)
    files = [file for file in tmp_path.rglob("*") if file.suffix in (".html", ".md", ".tex", ".csv")]
    assert len(files) == 4
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert not set("\u202e\u2066\x1b") & set(text), file.name
        assert "u202e" in text
    assert "two lines" in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_latex_has_the_texts_of_the_report_and_names_what_other_scripts_need(tmp_path: Path) -> None:
    table = Table((Column("editor"),), (("a_b",),), "Boards")
    methods = Section("Methods & more", ("We evaluated 2 editors: 50% of 100_000.",), points=("a_b is [not] better.",))
    page = Page("t", "a_b is the best.", (methods, Section("Board", tables=(table,)), Section("Gallery")))
    write_folder(page, tmp_path)
    made = (tmp_path / "report.tex").read_text()
    expected = r"""a\_b is the best.

\keeplines{14}\subsection*{Methods \& more}

We evaluated 2 editors: 50\% of 100\_000.

\begin{itemize}
\item {}a\_b is {[}not{]} better.
\end{itemize}

\keeplines{14}\subsection*{Board}

\tabletitle{Boards}
% Needs \usepackage{array,booktabs,longtable}.
% Boards
{\footnotesize
\begin{longtable}{l}
\toprule
editor \\
\midrule
\endhead
a\_b \\
\bottomrule
\end{longtable}}

\end{document}
"""
    assert expected in made
    assert "\n\\documentclass{article}" in made
    assert made.rstrip().endswith("\\end{document}")
    assert "Gallery" not in made
    write_folder(replace(page, lead="模型 is the best."), tmp_path)
    assert (tmp_path / "report.tex").read_text().startswith("% Names in other scripts than Latin: compile with XeLaTeX")


def test_long_texts_fold_in_the_document() -> None:
    long = "a=1,b=2 " * 60
    head = (Column("editor"), Column("settings"), Column("battles"), Column("note"))
    made = latex(Page("t", "", (Section("s", tables=(Table(head, (("a_b", long, 3, long[:40]),)),)),)))
    (shape,) = re.findall(r"\\begin\{longtable\}\{(.*)\}", made)
    widths = [float(width) for width in re.findall(r"p\{([0-9.]+)\\linewidth\}", shape)]
    assert shape.startswith("l>{")
    assert len(widths) == 2
    assert widths[0] > widths[1] > 0
    assert sum(widths) < 1
    assert r"a=\allowbreak{}1,\allowbreak{}b=\allowbreak{}2 a=" in made
    assert "tabular}" not in made


@pytest.mark.skipif(which("pdflatex") is None, reason="LaTeX is not installed")
def test_the_document_compiles_within_its_pages(tmp_path: Path) -> None:
    rows = tuple((HOSTILE_WORDS, "x_y,z=1|" * 80, number) for number in range(150))
    table = Table((Column("editor"), Column("settings"), Column("n")), rows, "Boards", signature="a|b_c" * 40)
    tasks = Table(tuple(Column(f"long_name of_task_{number}") for number in range(20)), (tuple(range(20)),), "Tasks")
    write_folder(Page("t", HOSTILE_WORDS, (Section("s", tables=(table, tasks)),)), tmp_path)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "report.tex"]
    made = run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False)
    assert made.returncode == 0, made.stdout[-2000:]
    assert "Overfull \\hbox" not in made.stdout
